"""Rules look at one variable, the values of another are published and protected."""

from dataclasses import replace
from fractions import Fraction
from math import ceil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.errors import InputError, JobError
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job
from diskret.protect.result import Result
from diskret.rules import (
    Apriori,
    Dominance,
    GroupDisclosure,
    MinimumFrequency,
    MissingSafe,
    PPercent,
    Request,
    Shadow,
    ZeroCells,
)
from diskret.rules.shadow import more_decimals, share_of

FIRMS = pa.table(
    {
        "region": ["N", "N", "N", "S", "S", "S", "W", "W", "W", "W"],
        "employees": [80, 15, 5, 30, 30, 30, 6, 6, 9, 9],
        "investment": [1, 9, 690, 100, 200, 300, 50, 50, 200, 300],
        "firm": list("abcdefghij"),
        "group": [None, *"xx", *"yy", None, *"zzzz"],
        "asked": [True] + [False] * 9,
        "consents": [True, *[False] * 9],
    }
)
BOTH = ["investment", "employees"]


def tabulated(published="investment", **options):
    return dk.tabulate(FIRMS, by={"region": None}, value=BOTH, **options)[published]


def at(array):
    return dict(zip(["Total", "N", "S", "W"], np.asarray(array).tolist(), strict=True))


def test_the_level_is_the_same_share_of_what_is_published():
    # N: 10 % of 80 is 8, the others hold 100 − 80 − 15 = 5 employees; 3 of 100, so 21 of 700
    found = Shadow(PPercent(10), "employees")(tabulated())
    assert at(found.unsafe) == {"Total": False, "N": True, "S": False, "W": False}
    assert (at(found.lower)["N"], at(found.upper)["N"]) == (21, 21)
    # on its own contributions N is unsafe because of the third firm: 69 − (700 − 690 − 9)
    assert at(PPercent(10)(tabulated()).upper)["N"] == 68


def test_levels_are_rounded_up_only_once():
    # 0.3 of 3 employees is 1 of 10, not the whole unit of employees that 0.3 would be by itself
    cells = pa.table({"r": ["a"], "v": [1001], "e": [3], "x1": [3], "x2": [0]})
    table = dk.Table.from_cells(cells, by={"r": None}, value="v", shadow="e", largest=["x1", "x2"])
    assert Shadow(PPercent(10), "e")(table).upper.tolist() == [101, 101]


@st.composite
def shadowed(draw):
    amount = st.integers(-(10**6), 10**6)
    pairs = draw(st.lists(st.tuples(amount, amount), min_size=1, max_size=6))
    return [a for a, _ in pairs], [b for _, b in pairs]


@given(shadowed(), st.integers(1, 99), st.integers(1, 3), st.integers(20, 99))
def test_shares_are_exact_whatever_the_signs(case, p, n, k):
    response, shadow = case
    table = dk.tabulate(
        pa.table({"r": ["a"] * len(shadow), "v": response, "e": shadow}),
        by={"r": None},
        value=["v", "e"],
    )["v"]
    x = [*sorted(map(abs, shadow), reverse=True), 0, 0, 0]
    size = sum(map(abs, response))
    needs = {
        PPercent(p): Fraction(p, 100) * x[0] - (sum(x) - x[0] - x[1]),
        Dominance(3, k): Fraction(100, k) * sum(x[:3]) - sum(x),
    }
    for rule, need in needs.items():
        found = Shadow(rule, "e")(table)
        assert found.unsafe[1] == (need > 0)
        if need <= 0:
            assert found.upper[1] == found.lower[1] == 0
            continue
        exact = need / sum(x) * size
        # levels of shares that are no decimal fraction are rounded up in a millionth first
        assert max(ceil(exact), 1) <= found.upper[1] <= max(exact + Fraction(size, 10**6) + 1, 1)
        if isinstance(rule, PPercent):
            assert found.upper[1] == max(ceil(exact), 1)
        lower = found.upper[1]
        if min(response) >= 0:
            lower = min(lower, size)
        assert found.lower[1] == lower


def test_a_variable_is_its_own_shadow():
    table = tabulated()
    for rule in (PPercent(10), MinimumFrequency(4), Dominance(3, 80), GroupDisclosure(90)):
        own, found = rule(table), Shadow(rule, "investment")(table)
        for name in ("unsafe", "lower", "upper", "sliding", "reason"):
            assert getattr(own, name).tolist() == getattr(found, name).tolist(), (rule, name)


def test_huge_values_leave_no_64_bits():
    cells = pa.table({"r": ["a"], "v": [4 * 10**18], "e": [10**15], "x1": [10**15], "x2": [0]})
    table = dk.Table.from_cells(cells, by={"r": None}, value="v", shadow="e", largest=["x1", "x2"])
    assert Shadow(PPercent(10), "e")(table).upper[1] == 4 * 10**17


def cell(v, e):
    """Cells with one value each, published and of the shadow, which one contributor has."""
    rows = {"r": [str(i) for i in range(len(v))], "v": v, "e": e, "x1": e, "n": [1] * len(v)}
    return dk.Table.from_cells(
        pa.table(rows), by={"r": None}, value="v", shadow="e", largest=["x1"], count="n"
    )


def test_levels_that_no_value_can_have_are_refused():
    for times in (3, 30):  # within 64 bits, and beyond them
        with pytest.raises(InputError, match="protection levels become larger than any value"):
            Shadow(MinimumFrequency(3, range=times * 100), "e")(cell([2 * 10**18], [1]))
    assert Shadow(MinimumFrequency(3, range=200), "e")(cell([2 * 10**18], [1])).upper[1] == 4e18


def test_parameters_in_units_are_those_of_the_shadow():
    frame = pa.table({"r": ["a"] * 2, "v": [700, 0], "e": [100, 0]})
    table = dk.tabulate(frame, by={"r": None}, value=["v", "e"])["v"]
    assert Shadow(PPercent(10, minimum_level=50), "e")(table).upper[1] == 350, "50 of 100"


def test_losses_of_the_published_variable_leave_its_level_whole():
    frame = pa.table({"r": ["a"] * 2, "v": [3, -2], "e": [1, 1]})
    table = dk.tabulate(frame, by={"r": None}, value=["v", "e"])["v"]
    found = Shadow(MinimumFrequency(3, range=200), "e")(table)
    assert (found.lower[1], found.upper[1]) == (10, 10), "200 % of 3 + 2"


def test_a_shadow_without_more_decimals_is_exact():
    """So large that 64 bits have no room for more: the second cell has 1, of which 2 are 200 %."""
    found = Shadow(MinimumFrequency(3, range=200), "e")(cell([5, 7], [2**55, 1]))
    assert found.upper[1:].tolist() == [10, 14]


@pytest.mark.parametrize(
    ("largest", "more"),
    [(0, 6), (3 * 10**10, 6), (10**11, 5), (10**15, 1), (2**55 - 1, 0), (2**55, 0), (2**61, 0)],
)
def test_levels_are_as_fine_as_64_bits_allow(largest, more):
    assert more_decimals(np.array([1, largest])) == more


def test_shares_are_exact_in_64_bits_and_beyond():
    level, of, size = np.array([10**9, 1, 0]), np.array([10**10, 3, 5]), np.array([10**12, 10, 7])
    assert share_of(level, of, size).tolist() == [10**11, 4, 0]
    assert share_of(level[1:], of[1:], size[1:]).tolist() == [4, 0]
    one = np.array([1])
    assert share_of(one, one, np.array([2**62 - 1])).tolist() == [2**62 - 1]
    with pytest.raises(InputError, match="larger than any value"):
        share_of(2 * one, one, np.array([2**61]))


def test_a_rule_of_ones_own_sees_the_shadow_as_if_it_were_published_exactly():
    seen = []

    def own(table):
        seen.append(table)
        one = np.array([0, 1])
        found = MinimumFrequency(3)(table)
        return replace(found, upper=one, lower=one, sliding=2 * one, below=None)

    table = cell([10**7], [1])
    found = Shadow(own, "e")(table.rounded(10))
    (shadow,) = seen
    assert shadow.rounding == 1 and shadow.shown is None
    assert shadow.measure.sum.tolist() == [10**6, 10**6] and shadow.measure.decimals == 6
    # 1 and 2 of the shadow's millionths, of which there are a million in all
    assert found.upper.tolist() == [0, 10] and found.sliding.tolist() == [1, 20]
    usual = Shadow(MinimumFrequency(3), "e")(table)
    assert usual.sliding.tolist() == [1, 1], "any width at all"


def test_a_shadow_stands_where_its_first_rule_does():
    assert Shadow(MinimumFrequency(3) | PPercent(10), "e").rank == PPercent(10).rank
    joined = Shadow(MinimumFrequency(4) | PPercent(10), "employees") | Request(99)
    found = joined(tabulated(unit="firm", request="asked"))
    assert found.reasons == ("p_percent", "minimum_frequency", "request")


def test_where_the_shadow_is_nothing_all_of_the_value_is_the_level():
    cells = pa.table({"r": ["a", "b"], "v": [70, 0], "e": [0, 0], "n": [4, 4]})
    table = dk.Table.from_cells(cells, by={"r": None}, value="v", shadow="e", count="n")
    found = Shadow(ZeroCells(5), "e")(table)
    assert found.unsafe.tolist() == [True, True, True]
    assert found.upper.tolist() == [70, 70, 1]
    large = Shadow(ZeroCells(5000), "e")(cell([2**61], [0]))
    assert large.upper[1] == 2**61, "of nothing, no share is computed that could be too large"


def test_rules_with_one_level_keep_the_other_at_0():
    found = Shadow(GroupDisclosure(30), "employees")(tabulated())
    assert found.unsafe[1]
    assert found.upper.tolist() == [0, 0, 0, 0]
    assert found.zeros_may_hide


def test_joined_inside_and_outside():
    table = tabulated(unit="firm")
    rule = Shadow(PPercent(10) | MinimumFrequency(3), "employees") | MinimumFrequency(4)
    assert rule.largest == 2
    found = rule(table)
    assert at(found.unsafe) == {"Total": False, "N": True, "S": True, "W": False}
    reason = {code: found.reasons[i] if i >= 0 else "" for code, i in at(found.reason).items()}
    assert reason == {"Total": "", "N": "p_percent", "S": "minimum_frequency", "W": ""}
    # the largest level: 10 % of 700 from the minimum frequency, 3 % from the shadow
    assert at(found.upper)["N"] == 70


def test_what_is_declared_safe_stays_safe():
    rule = Shadow(PPercent(10) | MissingSafe({"region": ["N"]}), "employees")
    assert not rule(tabulated()).unsafe.any()
    entries = pa.table({"region": ["N"], "status": ["safe"], "reason": ["consent"],
                        "who": ["A"], "date": ["2025-01-01"]})  # fmt: skip
    assert not (Shadow(PPercent(10), "employees") | Apriori(entries))(tabulated()).unsafe.any()


def test_holdings_requests_and_waivers_are_those_of_the_shadow():
    grouped = tabulated(unit="firm", holding="group")
    # N: the holding x has 20, so X − x1 − x2 = 0: 8 of 100
    assert at(Shadow(PPercent(10), "employees")(grouped).upper)["N"] == 56
    asked = tabulated(unit="firm", request="asked")
    assert at(Shadow(Request(70), "employees")(asked).unsafe)["N"]
    assert not at(Request(70)(asked).unsafe)["N"]
    waived = tabulated(unit="firm", waiver="consents")
    # a has waived, so b with 15 is to be protected, from a: 1.5 − (100 − 15 − 80) < 0
    assert not at(Shadow(PPercent(10), "employees")(waived).unsafe)["N"]


@pytest.mark.parametrize("method", ["sequential", "optimal"])
def test_the_levels_are_proven(method):
    frame = FIRMS.append_column("size", pa.array(list("1122112212")))
    table = dk.tabulate(frame, by={"region": None, "size": None}, value=BOTH)["investment"]
    rule = Shadow(PPercent(20), "employees")
    result = dk.suppress(table, rule, method=method)
    found, claimed = rule(table), result.certificate.requirements
    assert found.unsafe.any()
    assert claimed.upper.tolist() == found.upper[found.unsafe].tolist()
    assert result.name == "investment"
    assert "employees" not in result.published.measure
    assert result.settings["rule"].endswith("variable='employees')")


def test_a_file_gives_the_contributions_of_the_shadow():
    cells = pa.table({"r": ["a", "b"], "v": [-700, 90], "e": [100, 90], "n": [3, 3],
                      "x1": [80, 30], "x2": [15, 30]})  # fmt: skip
    table = dk.Table.from_cells(
        cells, by={"r": None}, value="v", shadow="e", largest=["x1", "x2"], count="n"
    )
    found = Shadow(PPercent(10), "e")(table)
    assert (found.lower[1], found.upper[1]) == (21, 21)
    with pytest.raises(InputError, match="looks at the largest.*use largest=2"):
        PPercent(10)(table)
    with pytest.raises(InputError, match="another variable than 'v'"):
        dk.Table.from_cells(cells, by={"r": None}, value="v", shadow="v")
    with pytest.raises(InputError, match="shadow= is for sums"):
        dk.Table.from_cells(cells, by={"r": None}, count="n", shadow="e")


def test_what_cannot_be_a_shadow_is_told():
    with pytest.raises(InputError, match=r"'wages' is no measure .* 'investment', 'employees'"):
        Shadow(PPercent(10), "wages")(tabulated())
    with pytest.raises(InputError, match="takes a rule"):
        Shadow(PPercent, "employees")
    with pytest.raises(InputError, match="name of a measure"):
        Shadow(PPercent(10), 3)
    with pytest.raises(InputError, match="stays outside"):
        Shadow(PPercent(10) | Apriori(pa.table({"region": ["N"], "cost": [1]})), "employees")


JOB = """\
[records]
path = "firms.parquet"
[[tables]]
by = { region = "flat" }
value = "investment"
unit = "firm"
shadow = "employees"
cost = "employees"
[tables.rules]
p_percent = { p = 10 }
minimum_frequency = { n = 3, range = 1 }
[output]
formats = ["csv"]
"""


def job(tmp_path, text):
    pq.write_table(FIRMS, tmp_path / "firms.parquet")
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    return read_job(tmp_path / "job.toml")


def test_a_job_has_a_shadow(tmp_path):
    read = job(tmp_path, JOB)
    rule = Shadow(PPercent(10), "employees") | MinimumFrequency(3, range=1)
    assert read.tables[0].rule == rule
    _, [result] = run_job(read, keys=tmp_path / "keys")
    assert isinstance(result, Result)
    found = rule(tabulated(unit="firm"))
    assert result.sensitivity.upper.tolist() == found.upper.tolist()
    public = (tmp_path / "out" / "public" / "investment.csv").read_text("utf-8")
    assert "employees" not in public


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('"employees"\ncost', '"region"\ncost', 7, "'shadow' is a column of 'by'"),
        ('value = "investment"\n', "", 6, "'shadow' needs a 'value'"),
        ("p_percent = { p = 10 }\n", "", 9, "needs a rule that looks at contributions"),
    ],
)
def test_shadows_that_make_no_sense_have_a_line(tmp_path, old, new, line, said):
    with pytest.raises(JobError, match=said) as error:
        job(tmp_path, JOB.replace(old, new))
    assert f"line {line}" in str(error.value)
