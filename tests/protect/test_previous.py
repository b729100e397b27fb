"""Patterns that stay: ties are broken towards last period, or its cells are cheaper."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.errors import InputError, JobError
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job
from diskret.protect.last_period import suppressed_before

RULE = dk.rules.MinimumFrequency(3)
KEYS = dk.SecretKeys(bytes(range(32)))


def line(**parts):
    cells = pa.table({"r": list(parts), "n": list(parts.values())})
    return dk.Table.from_cells(cells, by={"r": None}, count="n")


def hidden(result):
    codes = result.table.dimensions[0].hierarchy.codes
    return {codes[i] for i in np.flatnonzero(result.published.suppressed)}


def crossed(order=("r", "c"), codes="xy"):
    r, c = zip(*((a, b) for a in "ab" for b in codes), strict=True)
    cells = pa.table({"r": r, "c": c, "n": [1, 5, 7, 9, 8, 6][: len(r)]})
    return dk.Table.from_cells(cells, by=dict.fromkeys(order), count="n")


@pytest.mark.parametrize("method", ["sequential", "optimal"])
@pytest.mark.parametrize("before", ["b", "c", "d"])
def test_of_equal_costs_the_cell_of_last_period_is_hidden(method, before):
    table = line(a=2, b=5, c=5, d=5, e=9)
    result = dk.suppress(table, RULE, method=method, previous=pa.table({"r": ["a", before]}))
    assert hidden(result) == {"a", before}


def test_a_dearer_cell_of_last_period_is_hidden_at_a_discount_only():
    table, before = line(a=2, b=5, c=6), pa.table({"r": ["c"]})
    assert hidden(dk.suppress(table, RULE, previous=before)) == {"a", "b"}
    cheaper = dk.suppress(table, RULE, previous=before, previous_discount=20)
    assert hidden(cheaper) == {"a", "c"}
    hardly = dk.suppress(table, RULE, previous=before, previous_discount=10)
    assert hidden(hardly) == {"a", "b"}


def test_no_total_is_hidden_for_the_sake_of_last_period():
    table, before = line(a=2, b=5, c=5), pa.table({"r": ["Total"]})
    result = dk.suppress(table, RULE, cost="cells", previous=before)
    assert "Total" not in hidden(result)


def test_results_published_tables_and_frames_say_the_same():
    table = crossed()
    result = dk.suppress(crossed(order=("c", "r")), RULE)
    truth = result.published.suppressed.T
    public, office = result.public, result.cells
    only = public.filter(pa.compute.equal(public["status"], "suppressed")).select(["c", "r"])
    for before in (result, result.published, public, office, only, only.to_pandas()):
        assert (suppressed_before(table, before) == truth).all()
    assert truth.any()


def test_codes_of_one_period_only_match_nothing():
    old = dk.suppress(crossed(codes="xyz"), RULE)
    new = crossed(codes="wxy")
    mask = suppressed_before(new, old)
    codes = new.dimensions[1].hierarchy.codes
    assert not mask[:, codes.index("w")].any()
    assert (mask[:, codes.index("x")] == old.published.suppressed[:, 1]).all()
    assert suppressed_before(line(p=1, q=5), pa.table({"r": ["z"]})).sum() == 0


@examples(30)
@given(st.lists(st.sampled_from([1, 4, 4, 9]), min_size=3, max_size=6), st.randoms())
def test_a_pattern_is_found_again(parts, random):
    table = line(**{f"c{i}": n for i, n in enumerate(parts)})
    try:
        first = dk.suppress(table, RULE, previous=pa.table({"r": [f"c{random.randrange(3)}"]}))
    except dk.DiskretError:
        return
    assert hidden(dk.suppress(table, RULE, previous=first)) == hidden(first)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"previous": pa.table({"region": ["a"]})}, "no column 'r'; it needs the codes of r"),
        ({"previous": pa.table({"r": ["a", "b", "a"]})}, "1 row names a cell of r"),
        ({"previous_discount": 10}, "previous= does not say which"),
        ({"previous": pa.table({"r": ["a"]}), "previous_discount": 100}, "below 100 percent"),
        ({"previous": pa.table({"r": ["a"]}), "previous_discount": "10"}, "number of percent"),
    ],
)
def test_what_cannot_be_used_is_told(options, told):
    with pytest.raises(InputError, match=told):
        dk.suppress(line(a=2, b=5, c=5), RULE, **options)


def test_another_breakdown_is_refused():
    with pytest.raises(InputError, match="broken down by r, c, this one by r; give"):
        dk.suppress(line(a=2, b=5), RULE, previous=dk.suppress(crossed(), RULE))


def test_each_of_several_tables_has_its_own_period_before():
    tables = [line(a=2, b=5, c=5), line(a=2, b=5, c=5)]
    tables = [tables[0], dk.suppress(tables[1], RULE).table]
    before = [pa.table({"r": ["c"]}), None]
    results = dk.suppress(tables, RULE, previous=before, name=["one", "two"])
    assert [hidden(result) for result in results] == [{"a", "c"}] * 2


def test_nothing_of_it_is_public(tmp_path):
    table = line(a=2, b=5, c=6)
    plain = dk.suppress(table, RULE)
    told = dk.suppress(table, RULE, previous=plain, previous_discount=7)
    assert told.settings["suppressed_last_period"] == 2
    for name, result in {"plain": plain, "told": told}.items():
        result.write(tmp_path / name, formats=["csv", "html"], keys=KEYS)
    files = sorted(p.name for p in (tmp_path / "plain/public").iterdir())
    assert files == sorted(p.name for p in (tmp_path / "told/public").iterdir())
    for name in files:
        one, other = (tmp_path / place / "public" / name for place in ("plain", "told"))
        assert one.read_bytes() == other.read_bytes()


JOB = """
[records]
path = "firms.csv"
[[tables]]
name = "firms"
by = { r = "flat" }
rules = { minimum_frequency = { n = 3 } }
previous = "old"
previous_discount = 30
[output]
folder = "new"
formats = ["csv"]
"""


def test_a_job_names_the_folder_of_last_period(tmp_path):
    records = pd.DataFrame({"r": [*"aa", *"bbbbb", *"cccccc"]})
    pa_csv.write_csv(pa.Table.from_pandas(records), tmp_path / "firms.csv")
    before = dk.suppress(line(a=2, b=9, c=5), RULE, name="firms")
    assert hidden(before) == {"a", "c"}
    before.write(tmp_path / "old", formats=["csv"], keys=KEYS)
    path = tmp_path / "job.toml"
    path.write_text(JOB, encoding="utf-8")
    assert hidden(run_job(read_job(path), keys=KEYS)[1][0]) == {"a", "c"}
    path.write_text(JOB.replace("previous_discount = 30\n", ""), encoding="utf-8")
    assert hidden(run_job(read_job(path), keys=KEYS)[1][0]) == {"a", "b"}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"old"', '"gone"', "line 8.*the folder .*gone does not exist"),
        ("= 30", "= 100", "line 9.*below 100"),
        ('previous = "old"\n', "", "line 8.*needs a 'previous'"),
    ],
)
def test_what_is_wrong_in_a_job_has_a_line(tmp_path, old, new, told):
    (tmp_path / "firms.csv").write_text("r\na\n", encoding="utf-8")
    (tmp_path / "old").mkdir()
    path = tmp_path / "job.toml"
    path.write_text(JOB.replace(old, new), encoding="utf-8")
    with pytest.raises(JobError, match=told):
        read_job(path)


def test_a_release_without_the_table_is_told_with_the_table_of_the_job(tmp_path):
    (tmp_path / "firms.csv").write_text("r\na\nb\n", encoding="utf-8")
    (tmp_path / "old").mkdir()
    path = tmp_path / "job.toml"
    path.write_text(JOB, encoding="utf-8")
    with pytest.raises(InputError, match=r"job.toml, table 'firms': .*firms"):
        run_job(read_job(path), keys=KEYS)
