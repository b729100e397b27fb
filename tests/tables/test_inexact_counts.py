"""Files of cells with weighted counts, or with counts that were rounded."""

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.errors import AdditivityError, InputError
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job

BY = {"region": None}
#: Three regions of a survey: persons weighted to the population, and who was asked.
SURVEY = pa.table(
    {
        "region": ["N", "S", "W", "Total"],
        "persons": [1200.4, 310.5, 2250.1, 3761.0],
        "asked": [12, 2, 20, 34],
    }
)


def rounded(cells, base):
    return (cells + base // 2) // base * base


def test_a_weighted_count_is_judged_by_the_unweighted_one_beside_it():
    table = dk.Table.from_cells(SURVEY, by=BY, value="persons", count="asked", decimals=1)
    rule = dk.rules.MinimumFrequency(3)
    assert rule(table).unsafe.tolist() == [False, False, True, False]  # Total first
    public = dk.suppress(table, rule).public.to_pydict()
    assert public["persons"][2] is None and public["persons"].count(None) == 2


def test_a_weighted_count_alone_is_named_in_value():
    with pytest.raises(
        InputError, match=r"'persons' (is|are) not whole, the first in row 1: 1200\.4.*"
    ):
        dk.Table.from_cells(SURVEY, by=BY, count="persons")
    with pytest.raises(InputError, match="not numbers"):
        dk.Table.from_cells(pa.table({"region": ["N"], "n": ["x"]}), by=BY, count="n")
    table = dk.Table.from_cells(SURVEY, by=BY, value="persons", decimals=1)
    with pytest.raises(InputError, match="does not know its records; give count="):
        dk.rules.MinimumFrequency(3)(table)


def test_rounded_counts_judge_by_the_least_that_they_can_be():
    """5 rounded to the nearest 5 is 3 to 7; a 0 beside a value is one contributor or two."""
    cells = pa.table(
        {"region": ["a", "b", "c", "d", "e"], "sales": [9, 8, 7, 5, 0], "n": [5, 10, 0, 15, 0]}
    )
    options = {"by": BY, "value": "sales", "count": "n"}
    table = dk.Table.from_cells(cells, count_within=2, **options)
    # Total, a … e: the total is the sum of what its parts are at least
    assert table.count.tolist() == [3 + 8 + 1 + 13, 3, 8, 1, 13, 0]
    assert dk.rules.MinimumFrequency(4)(table).unsafe.tolist() == [
        False, True, False, True, False, False,
    ]  # fmt: skip
    assert table.empty.tolist() == [False] * 5 + [True]
    at_random = dk.Table.from_cells(cells, count_within=4, **options)
    assert at_random.count.tolist()[1:] == [1, 6, 1, 11, 0]


def test_totals_of_rounded_counts_may_miss_the_sum_of_their_parts():
    cells = pd.DataFrame(
        {"region": ["a", "b", "c", "Total"], "sales": [1, 2, 3, 6], "n": [5, 5, 5, 20]}
    )
    options = {"by": BY, "value": "sales", "count": "n"}
    with pytest.raises(AdditivityError, match=r"multiples of 5.*count_within=2 if to the nearest"):
        dk.Table.from_cells(cells, **options)
    table = dk.Table.from_cells(cells, count_within=2, **options)
    assert table.count.tolist()[0] == 18
    cells.loc[3, "n"] = 25  # three parts and the total off by 2 each: 8 at most, not 10
    with pytest.raises(AdditivityError):
        dk.Table.from_cells(cells, count_within=2, **options)


@examples(60)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=6),
    st.sampled_from([3, 5, 10]),
)
def test_no_count_is_taken_for_more_than_it_is(pairs, base):
    """Rounded here, read there: what is judged is never more than the truth."""
    true = {"region": [], "size": [], "n": []}
    for i, pair in enumerate([*pairs, tuple(map(sum, zip(*pairs, strict=True)))]):
        for size, n in zip("xyT", (*pair, sum(pair)), strict=True):
            true["region"].append("T" if i == len(pairs) else f"r{i}")
            true["size"].append(size)
            true["n"].append(n)
    frame = pd.DataFrame(true)
    frame["sales"] = frame["n"] * 7
    frame["rounded"] = rounded(frame["n"], base)
    options = {"by": {"region": None, "size": None}, "value": "sales", "total": "T"}
    exact = dk.Table.from_cells(frame, count="n", **options)
    found = dk.Table.from_cells(frame, count="rounded", count_within=base // 2, **options)
    assert found.count is not None and exact.count is not None
    assert ((found.count > 0) == (exact.count > 0)).all()
    assert (found.count <= exact.count).all()
    rule = dk.rules.MinimumFrequency(4)
    assert (rule(found).unsafe >= rule(exact).unsafe).all()


def test_what_rounded_counts_cannot_do_is_refused():
    cells = pa.table({"region": ["a", "b"], "sales": [9, 9], "n": [5, 10]})
    with pytest.raises(InputError, match="protected by its rounding"):
        dk.Table.from_cells(cells, by=BY, count="n", count_within=2)
    with pytest.raises(InputError, match="name it with count="):
        dk.Table.from_cells(cells, by=BY, value="sales", count_within=2)
    for wrong in (-1, 2.5, True):
        with pytest.raises(InputError, match="count_within= must be a whole number"):
            dk.Table.from_cells(cells, by=BY, value="sales", count="n", count_within=wrong)
    table = dk.Table.from_cells(cells, by=BY, value="sales", count="n", count_within=2)
    with pytest.raises(InputError, match="no table of their own"):
        table["count"]
    with pytest.raises(InputError, match="what may be wrong adds up"):
        table.recode("region", {"ab": ["a", "b"]})
    for rule in (dk.rules.MarginalValue(), dk.rules.GroupDisclosure(90)):
        with pytest.raises(InputError, match="known to within 2 only"):
            rule(table)


def test_an_audit_of_rounded_counts_knows_no_more_than_the_rounding_says():
    """5 + x = 20, all rounded to 5: 3 … 7 and 18 … 22, so x is 11 to 19."""
    cells = pa.table({"region": ["a", "b", "Total"], "n": ["5", ".", "20"]})
    report = dk.audit(cells, BY, "n", frequency=True, rounding=5)
    assert report.frame.to_pylist() == [{"region": "b", "lower": 11, "upper": 19}]
    with pytest.raises(InputError, match="whole numbers of at least 2"):
        dk.audit(cells, BY, "n", frequency=True, rounding=0.5)


JOB = """\
[[tables]]
by = { region = "flat" }
value = "sales"
cells = { file = "cells.csv", count = "n"WITHIN }
rules = { minimum_frequency = { n = 4 } }
[output]
formats = ["csv"]
"""


@pytest.mark.parametrize(("within", "unsafe"), [(", count_within = 2", 2), ("", 0)])
def test_a_job_judges_rounded_counts_by_the_least_they_can_be(tmp_path, within, unsafe):
    """5 to the nearest 5 may be 3. Only the office's certificate says how it was counted."""
    lines = ["region,sales,n", "a,90,5", "b,80,10", "c,70,5", "d,60,15", "Total,300,35"]
    (tmp_path / "cells.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "job.toml").write_text(JOB.replace("WITHIN", within))
    folder, (result,) = run_job(read_job(tmp_path / "job.toml"), keys=tmp_path / "keys")
    rows = result.public.to_pylist()
    assert [row["region"] for row in rows if row["sales"] is None] == ["a", "c"][:unsafe]
    public = "".join(
        path.read_text() for path in folder.iterdir() if path.suffix in {".csv", ".json"}
    )
    inside = (folder / "internal" / "sales.certificate.json").read_text()
    assert "count_within" not in public and ("count_within" in inside) == bool(within)
