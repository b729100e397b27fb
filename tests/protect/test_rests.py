"""What is left of a cell beside a filter: counts, sums, earlier releases, files of cells."""

import warnings
from dataclasses import replace
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest
from earlier_releases import Before

import diskret as dk
from diskret.attack import revealed_rests
from diskret.errors import ProofError, ProtectionError, VerificationError
from diskret.ledger.refusals import attack_again
from diskret.population import Population
from diskret.protect.safe_intervals import with_intervals
from diskret.publish.verify.folder import verify
from diskret.tables.rests import beyond_whole, rest_table

KEYS = dk.SecretKeys(bytes(range(32)))
RULE = dk.rules.MinimumFrequency(3)
BY = {"region": None}


def persons(men_in_n=1):
    rows = [("N", "f")] * 20 + [("N", "m")] * men_in_n + [("S", "f")] * 30 + [("S", "m")] * 12
    region, sex = zip(*rows, strict=True)
    return pa.table({"region": region, "sex": sex, "pay": list(range(1, len(rows) + 1))})


def everybody_and_women(men_in_n=1):
    frame = persons(men_in_n)
    return [dk.tabulate(frame, by=BY), dk.tabulate(frame, by=BY, where={"sex": "f"})]


def values(result, name="count"):
    return result.public[name].to_pylist()


def said(result, key):
    return " ".join(result.certificate.public()[key]["en"])


def test_the_one_man_of_a_region_is_not_told():
    results = dk.suppress(everybody_and_women(), RULE, name=["all", "women"])
    everybody, women = map(values, results)
    assert None in (everybody[1], women[1])
    left = revealed_rests(results[0].certificate.proof.publication)
    assert all((rests.value >= 3).all() for rests in left)
    assert "without the same cell of a filter" in said(results[0], "claimed")
    results = dk.suppress(everybody_and_women(3), RULE, name=["all", "women"])
    assert None not in values(results[0]) + values(results[1])


def test_a_category_of_a_filtered_table_is_a_filter():
    """Of 6 persons 4 live in r; how many in q and r together is hidden, as 1 lives in q, 1 in p."""
    frame = pa.table({"place": list("rrrrqp"), "age": list("wuuuwv")})
    two = dk.Hierarchy.flat(["q", "r"])
    tables = [
        dk.tabulate(frame, by={"age": None, "place": two}, where={"place": ["q", "r"]}),
        dk.tabulate(frame, by={"age": None}),
    ]
    results = dk.suppress(tables, dk.rules.MinimumFrequency(4), name=["qr", "all"])
    (_, r), everybody = _row(results[0], "place", "r"), values(results[1])[0]
    assert None in (r, everybody)


@pytest.mark.parametrize("turned", [False, True])
def test_a_total_alone_is_a_whole_for_filters_by_its_own_variable(turned):
    """Of 33 women and men 32 live in N or S: the one in W is told where both totals are shown."""
    frame = pa.table({"region": ["N"] * 20 + ["S"] * 12 + ["W"], "sex": ["f", "m"] * 16 + ["f"]})
    tables = [
        dk.tabulate(frame, by=BY).recode("region", level=0),
        dk.tabulate(frame, by={"sex": None}, where={"region": ["N", "S"]}),
    ]
    tables = tables[::-1] if turned else tables
    results = dk.suppress(tables, RULE, name=["a", "b"])
    total, within = [values(one)[0] for one in (results[::-1] if turned else results)]
    assert None in (total, within)


def _row(result, name, code):
    """The column of a code of one variable, the other one at its total."""
    rows = result.public.to_pylist()
    return next((one["age"], one["count"]) for one in rows if one[name] == code)


def test_released_files_are_checked_for_what_they_leave_beside_filters(tmp_path, monkeypatch):
    results = dk.suppress(everybody_and_women(3), RULE, name=["all", "women"])
    dk.write(results, tmp_path / "out", keys=KEYS)
    assert verify(tmp_path / "out", keys=KEYS)
    assert results[0].certificate.internal()["rests_judged"] == 3
    monkeypatch.setattr(import_module("diskret.protect.parts"), "rests_judge", lambda *_: None)
    unjudged = dk.suppress(everybody_and_women(3), RULE, name=["all", "women"])
    dk.write(unjudged, tmp_path / "bad", keys=KEYS)
    with pytest.raises(VerificationError, match="leaves 3 cells beside filters, and 0 were judged"):
        verify(tmp_path / "bad", keys=KEYS)


def test_women_after_everybody_are_judged_with_what_was_published():
    everybody, women = everybody_and_women()
    ledger = Before()
    ledger.publish("January", dk.suppress(everybody, RULE, name="all"))
    result = dk.suppress(women, RULE, name="women", ledger=ledger)
    assert values(result)[1] is None
    with pytest.raises(ProtectionError, match=r"region=N without .*region=N"):
        dk.suppress(
            women, RULE, name="women", ledger=ledger, frozen=pa.table({"region": ["N", "S"]})
        )
    late = dk.suppress(women, RULE, name="women")
    with pytest.raises(ProofError, match="left beside a filter.*January/all: region=N without"):
        attack_again([late], ledger.entries)


def test_everybody_after_women_too():
    everybody, women = everybody_and_women()
    ledger = Before()
    ledger.publish("January", dk.suppress(women, RULE, name="women"))
    assert values(dk.suppress(everybody, RULE, name="all", ledger=ledger))[1] is None


def test_what_earlier_releases_leave_by_themselves_is_no_reason_to_refuse():
    everybody, women = everybody_and_women()
    ledger = Before()
    ledger.publish("2023", dk.suppress(everybody, RULE, name="all"))
    ledger.publish("2024", dk.suppress(women, RULE, name="women"))
    total = dk.tabulate(persons(), by={"sex": None})
    assert None not in values(dk.suppress(total, dk.rules.MinimumFrequency(2), ledger=ledger))


# ── sums ────────────────────────────────────────────────────────────────────────────


def firms():
    """Firm 0 works in both kinds: most of what is left beside kind a is its own."""
    rows = [(0, "N", "a", 50), (0, "N", "b", 400)]
    rows += [(i, "N", "a", 60) for i in range(1, 9)] + [(i, "N", "b", 3) for i in range(9, 12)]
    rows += [(i, "S", kind, 40) for i in range(12, 24) for kind in "ab"]
    firm, region, kind, sales = zip(*rows, strict=True)
    return pa.table({"firm": firm, "region": region, "kind": kind, "sales": sales})


ASKED = {"by": BY, "value": "sales", "unit": "firm", "largest": 2, "contributions": True}


def both(**options):
    asked = ASKED | options
    return [dk.tabulate(firms(), **asked), dk.tabulate(firms(), where={"kind": "a"}, **asked)]


def test_a_firm_in_both_tables_is_in_the_rest_with_what_is_left_of_it():
    whole, part = both()
    rest = rest_table(whole, [whole, part], np.array([[1, 1], [2, 2]]))
    of_b = dk.tabulate(firms(), where={"kind": "b"}, **ASKED)
    for name in ("sum", "magnitude", "largest"):
        got, expected = (getattr(t.measure, name)[1:] for t in (rest, of_b))
        assert got.tolist() == expected.tolist()
    assert rest.units[1:].tolist() == of_b.units[1:].tolist() == [4, 12]
    assert rest.count[1:].tolist() == of_b.count[1:].tolist()


def test_the_rest_of_a_sum_is_judged_by_those_who_contribute():
    rule = dk.rules.PPercent(10)
    results = dk.suppress(both(), rule, name=["all", "a"])
    assert None in values(results[0], "sales") + values(results[1], "sales")
    assert results[0].certificate.internal()["rests_not_judged"] == 0
    # each table alone publishes everything
    assert all(None not in values(dk.suppress(t, rule), "sales") for t in both())


def with_idle(firms_of_b):
    """Beside kind a, some firms of region N have a sum of 0."""
    rows = [(i, region, "a", 40) for i in range(8) for region in "NS"]
    rows += [(20 + i, "N", "b", 0) for i in range(firms_of_b)]
    rows += [(30 + i, "S", "b", 7) for i in range(5)]
    firm, region, kind, sales = zip(*rows, strict=True)
    frame = pa.table({"firm": firm, "region": region, "kind": kind, "sales": sales})
    return [dk.tabulate(frame, **ASKED), dk.tabulate(frame, where={"kind": "a"}, **ASKED)]


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_a_rest_of_nothing_is_that_of_somebody(number):
    # 0 < c < n is unsafe, whatever the value; nobody at all is safe, and nothing to be judged
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = dk.suppress(with_idle(number), RULE, name=["all", "a"])
    shown = values(results[0], "sales") + values(results[1], "sales")
    assert (None in shown) == (0 < number < 3)
    assert results[0].certificate.internal()["rests_not_judged"] == 0


def test_a_real_ledger_compares_contributors(tmp_path):
    whole, part = both()
    ledger = dk.Ledger.create(tmp_path / "releases.db", keys=KEYS)
    rule = dk.rules.PPercent(10)
    first = dk.suppress(whole, rule, name="all", attacker=dk.Attacker(contributor=True))
    ledger.publish(first, tmp_path / "one", name="January")
    result = dk.suppress(part, rule, name="a", ledger=ledger)
    assert None in values(result, "sales")
    assert result.certificate.internal()["rests_not_judged"] == 0
    ledger.publish(result, tmp_path / "two", name="February")
    assert verify(tmp_path / "two", keys=KEYS, releases=[tmp_path / "one"])


def test_without_contributions_a_warning_and_no_claim(tmp_path):
    with pytest.warns(UserWarning, match="nothing is claimed of what is left beside"):
        results = dk.suppress(both(contributions=False), dk.rules.PPercent(10), name=["all", "a"])
    assert results[0].certificate.internal()["rests_not_judged"] > 0
    folder = dk.write(results, tmp_path / "out", ["csv"], keys=KEYS)
    assert verify(folder, keys=KEYS).checked_internal
    assert "without the same cell of a filter" not in said(results[0], "claimed")
    assert "without the same cell of a filter" in said(results[0], "not_claimed")


def cells(small):
    whole = pa.table({"region": ["N", "S"], "firms": [21, 42], "sales": [900, 800]})
    part = pa.table({"region": ["N", "S"], "firms": [small, 30], "sales": [800, 500]})
    made = [
        dk.Table.from_cells(frame, by=BY, value="sales", count="firms") for frame in (whole, part)
    ]
    return [made[0], replace(made[1], where=Population.of({"sex": "f"}))]


def test_files_of_cells_tell_how_many_are_left():
    with pytest.warns(UserWarning, match="nothing is claimed"):
        results = dk.suppress(cells(20), RULE, name=["all", "women"])
    assert None in values(results[0], "sales") + values(results[1], "sales")
    with pytest.warns(UserWarning, match="nothing is claimed"):
        results = dk.suppress(cells(18), RULE, name=["all", "women"])
    assert None not in values(results[0], "sales") + values(results[1], "sales")
    with pytest.raises(ProtectionError, match="left beside a filter"):
        frozen = pa.table({"region": ["Total", "N", "S"]})
        dk.suppress(cells(20), RULE, name=["all", "women"], frozen=[frozen, frozen])


def test_records_that_are_contributors_themselves_are_counted():
    asked = {"by": BY, "value": "pay"}
    tables = [
        dk.tabulate(persons(), **asked),
        dk.tabulate(persons(), where={"sex": "f"}, **asked),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = dk.suppress(tables, RULE, name=["all", "women"])
    assert None in values(results[0], "pay") + values(results[1], "pay")
    assert results[0].certificate.internal()["rests_not_judged"] == 0


def test_intervals_leave_no_rest_that_nobody_judged():
    results = dk.suppress(everybody_and_women(), RULE, name=["all", "women"])
    proven = with_intervals(results, KEYS)
    assert proven[0].certificate.proof.rests is not None


# ── filters with open ends ──────────────────────────────────────────────────────────


def staffed(of_5, of_0):
    """Eight firms with staff 1 to 4, and so many more with 5 and with none."""
    staff = [1, 2, 3, 4] * 2 + [5] * of_5 + [0] * of_0
    rows = {"firm": list(range(len(staff))), "staff": staff, "sales": [40] * len(staff)}
    return pa.table(rows | {"region": ["N"] * len(staff)})


SALES, COUNTS = {"value": "sales", "unit": "firm", "contributions": True}, {}


@pytest.mark.parametrize(
    "more", [SALES, pytest.param(COUNTS, marks=pytest.mark.long)], ids=["sales", "counts"]
)
@pytest.mark.parametrize(
    ("whole", "part"),
    [
        ({"min": 1, "max": 5}, {"max": 4}),
        ({"max": 5}, {"max": 4}),
        ({"min": 1}, {"max": 4}),
        ({"min": 1, "max": 5, "year": 1}, {"max": 4, "year": 1}),
    ],
)
def test_staff_up_to_4_is_a_part_of_staff_1_to_5(whole, part, more):
    def table(asked, of_5):
        frame = staffed(of_5, 0).append_column("year", pa.array([1] * (8 + of_5)))
        year = {"year": 1} if "year" in asked else {}
        bounds = {name: end for name, end in asked.items() if name != "year"}
        return dk.tabulate(frame, by=BY, where={"staff": bounds} | year, **more)

    def shown(of_5):
        results = dk.suppress([table(whole, of_5), table(part, of_5)], RULE, name=["all", "small"])
        name = "sales" if more else "count"
        return [own for result in results for own in values(result, name)]

    assert None in shown(2)
    assert None not in shown(3)


def test_where_somebody_has_no_staff_the_difference_is_no_rest():
    asked = {"by": BY} | SALES
    tables = [
        dk.tabulate(staffed(2, 1), where={"staff": {"min": 1, "max": 5}}, **asked),
        dk.tabulate(staffed(2, 1), where={"staff": {"max": 4}}, **asked),
    ]
    assert beyond_whole(tables, np.array([[0, 0], [1, 1]])).all()
    with pytest.warns(UserWarning, match="filter by staff 1 to 4 in place of staff ≤ 4") as told:
        results = dk.suppress(tables, RULE, name=["all", "small"])
    assert len(told) == 1
    assert None not in values(results[0], "sales") + values(results[1], "sales")
    assert results[0].certificate.internal()["rests_not_judged"] == 0


@pytest.mark.parametrize("single", [1, 6])
def test_codes_that_a_filter_lacks_stay_codes_of_the_whole(single):
    # an axis of the filtered table, with the code that nobody there has, is like that of the whole
    rows = {("s0", "l0"): 5, ("s0", "l1"): 12, ("s1", "l0"): 4, ("s1", "l1"): 9}
    rows[("s2", "l1")] = single
    codes, lands = zip(*(key for key, number in rows.items() for _ in range(number)), strict=True)
    frame = pa.table({"code": codes, "land": lands})
    pair = [
        dk.tabulate(frame, by={"code": None}, where={"land": "l0"}),
        dk.tabulate(frame, by={"code": None}),
    ]
    rule = dk.rules.MinimumFrequency(3)
    for order in (pair, pair[::-1]):
        part, whole = dk.suppress(order, rule, name=["a", "b"])[:: 1 if order is pair else -1]
        assert part.public["count"].to_pylist() == [9, 5, 4]
        shown = [30 + single, 17, 13, single]
        assert whole.public["count"].to_pylist() == (
            [shown[0], 17, None, None] if single < 3 else shown
        )
