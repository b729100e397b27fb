"""Somebody has kept last period's release, and knows how much values change."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import diskret as dk
from diskret.errors import InputError, JobError, ProtectionError
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job
from diskret.protect.result import Result
from diskret.publish.verify.folder import verify
from diskret.tables import Publication

KEYS = dk.SecretKeys(bytes(range(32)))


def line(decimals=0, name="sales", **parts):
    cells = pa.table({"region": list(parts), name: list(parts.values())})
    return dk.Table.from_cells(cells, by={"region": None}, value=name, decimals=decimals)


def unsafe(level, *codes):
    """A rule that finds these regions unsafe."""
    row = {"status": "unsafe", "lower": level, "upper": level, "reason": "x", "who": "y",
           "date": "2025-01-01"}  # fmt: skip
    return dk.rules.Apriori(pa.Table.from_pylist([{"region": code, **row} for code in codes]))


def nothing(table):
    """No cell is unsafe."""
    zero = np.zeros(table.shape, dtype=np.int64)
    reason = np.full(table.shape, -1, dtype=np.int8)
    return dk.Sensitivity(zero.astype(bool), zero, zero, zero, reason, ())


def known(attacker, table):
    """Bounds by region, as the attacker has them in published units."""
    published = dk.suppress(table, nothing(table)).published
    found = {}
    for side in ("lower", "upper"):
        bound = getattr(attacker, side)(published)
        codes = table.dimensions[0].hierarchy.codes
        found[side] = {c: None if np.isnan(b) else float(b) for c, b in zip(codes, bound,
                       strict=True)}  # fmt: skip
    return {code: (found["lower"][code], found["upper"][code]) for code in found["lower"]}


NOW = {"N": 110, "S": 44, "W": 41, "E": 9, "new": 5, "zero": 3}


def before():
    """N was 100, S and W were hidden and add up to 80, E was 10, some were not there."""
    then = line(N=100, S=45, W=35, E=10, zero=0, closed=7)
    return dk.suppress(then, unsafe(5, "S", "W"))


def test_values_that_were_hidden_are_known_by_their_interval():
    now = line(**NOW)
    found = known(dk.Attacker.around(before(), 20), now)
    assert found == {
        "Total": (pytest.approx(157.6), pytest.approx(236.4)),  # it was 197
        "N": (80.0, 120.0),
        "S": (0.0, 96.0),  # 0 to 80 last period
        "W": (0.0, 96.0),
        "E": (8.0, 12.0),
        "new": (None, None),
        "zero": (None, None),  # no percentage of nothing
    }


def test_results_published_tables_and_frames_say_the_same(tmp_path):
    result = before()
    folder = result.write(tmp_path / "then", ["csv"], keys=KEYS)
    hidden = dk.attack.intervals(result.published).to_pylist()
    assert {(row["lower"], row["upper"]) for row in hidden} == {(0, 80)}
    now = line(**NOW)
    expected = known(dk.Attacker.around(result, 20), now)
    assert known(dk.Attacker.around(dk.Published.read(folder), 20), now) == expected
    frame = pd.DataFrame(result.public.to_pandas())
    found = known(dk.Attacker.around(frame, 20, value="sales"), now)
    assert found == expected | {"S": (None, None), "W": (None, None)}


def test_bounds_are_exact_for_negative_values_and_beyond_100_percent():
    then = pa.table({"region": ["N", "S", "W"], "sales": [-50, 50, None]})
    now = line(N=-40, S=70, W=9)
    assert known(dk.Attacker.around(then, 20, value="sales"), now)["N"] == (-60.0, -40.0)
    found = known(dk.Attacker.around(then, 150, value="sales"), now)
    assert (found["N"], found["S"]) == ((-125.0, 25.0), (-25.0, 125.0))
    hidden = dk.suppress(line(N=20, S=30, W=51), unsafe(2, "N"))
    low, high = zip(
        *(known(dk.Attacker.around(hidden, p, ), now)["N"] for p in (100, 150)), strict=True
    )  # fmt: skip
    assert low == (0.0, -25.0)  # of 0 to 50, 50 can fall by 75
    assert high == (100.0, 125.0)


def test_rounded_values_are_known_to_half_a_unit():
    then = line(N=1_240, S=700, W=300).rounded(100)
    found = known(dk.Attacker.around(dk.suppress(then, nothing(then)), 10), line(N=1_200, S=1, W=2))
    assert found["N"] == (1_150 * 0.9, 1_250 * 1.1)


def test_tables_attacked_together_are_known_together():
    """Alone the margin says nothing of a; beside the other table it does."""
    rows = pa.table({"r": list("aabbc"), "s": list("xyxyx"), "v": [5, 20, 30, 40, 7]})
    tables = [
        dk.tabulate(rows, by={"r": None}, value="v"),
        dk.tabulate(rows, by={"r": None, "s": None}, value="v"),
    ]
    results = dk.suppress(
        tables, [nothing(tables[0]), dk.rules.PPercent(5)], name=["margin", "table"]
    )
    publication = results[1].certificate.proof.publication
    both = dk.Attacker.around(publication, 20)
    assert set(both.lower) == {"margin", "table"}
    each = dk.Attacker.around({"margin": results[0], "table": results[1]}, 20)
    for name, result in zip(("margin", "table"), results, strict=True):
        for side in ("lower", "upper"):
            one, other = (getattr(a, side)[name](result.published) for a in (both, each))
            np.testing.assert_array_equal(one, other)
    assert isinstance(publication, Publication)
    rules = [nothing(tables[0]), dk.rules.PPercent(5)]
    again = dk.suppress(tables, rules, name=["margin", "table"], attacker=each)
    assert again[1].certificate.attacker.kind == "informed"


def no_method(problem):
    raise AssertionError("nothing should be searched")


def test_wrong_bounds_are_named_before_any_work():
    now = line(N=130, S=44, W=41, E=9)
    attacker = dk.Attacker.around(before(), 20)
    with pytest.raises(InputError) as error:
        dk.suppress(now, unsafe(2, "S"), attacker=attacker, method=no_method)
    told = str(error.value)
    assert "exclude the true value of 1 cell of 'sales'" in told
    assert "region=N is known to lie in 80 to 120, but is 130" in told
    assert "mistaken='drop'" in told


def test_wrong_bounds_are_dropped_where_this_is_said():
    now = line(N=130, S=44, W=41, E=9)
    attacker = dk.Attacker.around(before(), 20, mistaken="drop")
    result = dk.suppress(now, unsafe(20, "N"), attacker=attacker)
    found = result.certificate.examination
    n = now.dimensions[0].hierarchy.position["N"]
    at = np.searchsorted(found.cell, n)
    assert found.lower[at] <= 110
    assert found.upper[at] >= 150
    with pytest.raises(InputError, match="only the office"):
        dk.attack.intervals(result.published, attacker)
    shown = dk.attack.intervals(result.published, attacker, original=now.measure.sum)
    assert "N" in shown["region"].to_pylist()


def test_explanations_and_intervals_heed_what_is_dropped():
    now = line(N=130, S=44, W=41, E=9)
    attacker = dk.Attacker.around(before(), 20, mistaken="drop")
    result = dk.suppress(now, unsafe(20, "N"), attacker=attacker)
    explained = result.explain().to_pylist()
    hidden = set(result.published.suppressed.nonzero()[0].tolist())
    assert len(explained) == len(hidden) - 1
    assert {row["kind"] for row in explained} <= {"protects", "hides", "together"}
    intervals = {row["region"]: row for row in result.safe_intervals(KEYS).to_pylist()}
    assert intervals["N"]["lower"] <= 110
    assert intervals["N"]["upper"] >= 150


def test_bounds_closer_than_the_level_are_named_before_any_work():
    now = line(decimals=1, N="100.0", S="44.5", W="41.0", E="9.0")
    then = pa.table({"region": ["N", "S"], "sales": [95.0, 44.5]})
    attacker = dk.Attacker.around(then, 20, value="sales")
    with pytest.raises(ProtectionError) as error:
        dk.suppress(now, unsafe(20, "N", "S"), attacker=attacker, method=no_method)
    told = str(error.value)
    assert "2 unsafe cells of 'sales' cannot be protected against this attacker" in told
    assert "region=N is known to lie in 76.0 to 114.0, and 80.0 to 120.0 must stay possible" in told
    assert "combine categories" in told
    relative = dk.Attacker(relative=10)
    with pytest.raises(ProtectionError, match=r"region=N is known to lie in 90\.0 to 110\.0"):
        dk.suppress(now, unsafe(20, "N"), attacker=relative, method=no_method)


def test_callables_and_frames_as_bounds_are_checked_alike():
    now = line(N=100, S=44, W=41)
    frame = pa.table({"region": ["S"], "upper": [40]})
    for bound in (frame, lambda published: np.array([np.nan, np.nan, 40, np.nan])):
        with pytest.raises(InputError, match="region=S is known to lie in 0 to 40, but is 44"):
            dk.suppress(now, unsafe(1, "N"), attacker=dk.Attacker(upper=bound), method=no_method)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: dk.Attacker.around(before(), 0), "percentage above 0, not 0"),
        (lambda: dk.Attacker.around(before(), "20"), "percentage above 0"),
        (lambda: dk.Attacker(mistaken="ignore"), "'refuse' or 'drop'"),
        (lambda: dk.Attacker.around(before().public, 20), "value= must name the column"),
        (
            lambda: dk.Attacker.around(pa.table({"region": ["N"], "sales": ["."]}), 20,
                                       value="sales"),
            "not all numbers",
        ),
        (
            lambda: protected(dk.Attacker.around(pa.table({"nace": ["N"], "sales": [9]}), 20,
                                                 value="sales")),
            "no column 'region'",
        ),
        (
            lambda: protected(dk.Attacker.around(pa.table({"region": ["N", "N "], "v": [9, 9]}),
                                                 20, value="v")),
            "1 row of last period's values names a cell",
        ),
        (
            lambda: protected(dk.Attacker.around({"other": before()}, 20)),
            "1 tables that are not there: 'other'; the tables are 'sales'",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_told(make, said):
    with pytest.raises(InputError, match=said):
        make()


def protected(attacker):
    return dk.suppress(line(N=9, S=8, W=7), unsafe(1, "N"), attacker=attacker)


def test_another_breakdown_is_told():
    by_size = dk.Table.from_cells(
        pa.table({"size": ["1", "2"], "sales": [4, 5]}), by={"size": None}, value="sales"
    )
    then = dk.suppress(by_size, dk.rules.MissingSafe({"size": ["1"]}))
    with pytest.raises(InputError, match="broken down by size, the table by region"):
        protected(dk.Attacker.around(then, 20))


def test_the_public_part_tells_nothing_of_what_was_assumed(tmp_path):
    now = line(N=110, S=44, W=41, E=9)
    rule = unsafe(8, "S")
    then = pa.table({"region": ["N", "S"], "sales": [100, 40]})
    attacker = dk.Attacker.around(then, 37.5, value="sales")
    informed = dk.suppress(now, rule, attacker=attacker)
    plain = dk.suppress(now, rule)
    folder = informed.write(tmp_path / "out", ["csv", "parquet", "xlsx", "html"], keys=KEYS)
    certificate = json.loads((folder / "public" / "sales.certificate.json").read_text("utf-8"))
    assert certificate["attacker"] == "informed"
    outsider = dk.attack.intervals(informed.published).to_pydict()
    assert certificate["intervals"] == outsider
    own = dk.attack.intervals(informed.published, attacker).to_pydict()
    assert own != outsider
    names = {path.name for path in (folder / "public").iterdir()}
    other = plain.write(tmp_path / "plain", ["csv", "parquet", "xlsx", "html"], keys=KEYS)
    assert names == {path.name for path in (other / "public").iterdir()}
    twin = json.loads((other / "public" / "sales.certificate.json").read_text("utf-8"))
    assert certificate.keys() == twin.keys()
    for path in (folder / "public").iterdir():
        if path.suffix in (".json", ".html", ".csv"):
            text = path.read_text("utf-8")
            for secret in ("37.5", "37,5", "last period", "Vorperiode", "mistaken", "previous"):
                assert secret not in text, (path.name, secret)
    inside = json.loads((folder / "internal" / "sales.certificate.json").read_text("utf-8"))
    assert inside["attacker"]["last_period_within"] == 37.5
    assert "none changed by more than 37.5 %" in informed.certificate.summary()[1]
    assert verify(folder, keys=KEYS)


JOB = """\
[records]
path = "firms.parquet"
[[tables]]
by = { region = "flat" }
value = "sales"
unit = "firm"
previous = "then"
[tables.rules]
minimum_frequency = { n = 3, range = 10 }
[attacker]
previous_within = 30
[output]
formats = ["csv"]
"""
FIRMS = pa.table(
    {
        "region": ["N", "S", "S", "W", "W", "W", "E", "E", "E"],
        "sales": [100, 30, 40, 10, 20, 30, 20, 30, 40],
        "firm": list("abcdefghi"),
    }
)


def job(tmp_path, text=JOB):
    pq.write_table(FIRMS, tmp_path / "firms.parquet")
    if not (tmp_path / "then").exists():
        then = dk.tabulate(FIRMS.slice(1), by={"region": None}, value="sales", unit="firm")
        rule = dk.rules.MinimumFrequency(3, range=10)
        dk.suppress(then, rule).write(tmp_path / "then", ["csv"], keys=KEYS)
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    return read_job(tmp_path / "job.toml")


def test_a_job_knows_last_periods_release(tmp_path):
    text = JOB.replace("previous_within = 30", 'previous_within = 30\nmistaken = "drop"')
    read = job(tmp_path, text)
    assert read.previous_within == 30
    _, [result] = run_job(read, keys=KEYS)
    assert isinstance(result, Result)
    described = result.certificate.attacker.describe()
    assert (described["last_period_within"], described["mistaken"]) == (30, "drop")
    published = dk.Published.read(tmp_path / "then")
    expected = dk.Attacker.around(published, 30)
    for side in ("lower", "upper"):
        own = getattr(result.certificate.attacker.about("sales"), side)(result.published)
        np.testing.assert_array_equal(own, getattr(expected, side)(result.published))


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('previous = "then"\n', "", 10, "'previous_within' needs last period's release"),
        ("previous_within = 30", 'mistaken = "drop"', 11, "'mistaken' is for bounds"),
        ("within = 30", "within = 0", 11, "above 0"),
    ],
)
def test_jobs_that_make_no_sense_have_a_line(tmp_path, old, new, line, said):
    with pytest.raises(JobError, match=said) as error:
        job(tmp_path, JOB.replace(old, new))
    assert f"line {line}" in str(error.value)


def test_last_period_that_says_nothing_of_a_table_is_refused():
    """Else somebody who knows nothing would be withstood in the name of one who knows much."""
    then, now = before(), line(**NOW)
    foreign = pa.table({"region": ["01", "02"], "sales": [100, 45]})
    attacker = dk.Attacker.around(foreign, 20, value="sales")
    with pytest.raises(InputError, match="name no cell of table 'sales'"):
        dk.suppress(now, unsafe(5, "S"), attacker=attacker)
    with pytest.raises(InputError, match="names no table"):
        dk.Attacker.around({}, 20)
    both = Publication((then.published,))
    for several in ({"sales": both}, {"sales": {"sales": then}}):
        with pytest.raises(InputError, match="names several tables where one"):
            dk.Attacker.around(several, 20)


def test_of_tables_read_beside_earlier_ones_only_last_periods_own_are_known():
    then = before().published
    with_older = Publication((then, replace(then, name="r/sales")), (), (("r", "sales"),))
    attacker = dk.Attacker.around(with_older, 20)
    assert [*attacker.lower] == [*attacker.upper] == [then.name]
