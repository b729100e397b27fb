"""Parts of categories that nobody published, but that published cells reveal by subtraction."""

import json

import pyarrow as pa
import pytest
from earlier_releases import Before

import diskret as dk
from diskret.attack import revealed_parts
from diskret.errors import ProofError, ProtectionError
from diskret.ledger.refusals import attack_again
from diskret.protect.safe_intervals import with_intervals
from diskret.publish.verify.folder import verify

RULE = dk.rules.MinimumFrequency(3)
CLAIM = "Parts of overlapping categories that nobody published meet"
NO_CLAIM = "Nothing is claimed about parts of overlapping categories"


def ages(**numbers):
    rows = ["0-14"] * 30 + ["15-17"] * numbers.get("between", 2) + ["18-64"] * 60 + ["65+"] * 20
    return dk.tabulate(pa.table({"age": rows}), by={"age": None})


def two(fine):
    return [
        fine.recode("age", {"0-17": ["0-14", "15-17"]}),
        fine.recode("age", {"15-64": ["15-17", "18-64"]}),
    ]


def protected(tables, rule=RULE, **options):
    return dk.suppress(tables, rule, name=["minors", "working"], **options)


def shown(results):
    return [result.public["count"].to_pylist() for result in results]


def said(result, key):
    return result.certificate.public()[key]["en"]


def test_two_persons_between_two_groupings_stay_hidden():
    results = protected(two(ages()))
    assert shown(results) == [[112, None, None, 20], [112, 30, 62, 20]]
    assert any(CLAIM in line for line in said(results[0], "claimed"))


def test_enough_persons_between_them_may_be_computed():
    results = protected(two(ages(between=3)))
    assert None not in shown(results)[0] + shown(results)[1]
    internal = results[0].certificate.internal()
    assert internal["parts_judged"] == 1 and internal["parts_not_judged"] == 0


def test_a_total_without_a_filter_for_a_part_of_a_group():
    """In b 3 of 5 are u, and v is hidden in H with them: 2 are v or w."""
    rows = pa.table({"job": list("cbcbcbbcbc"), "age": list("wwuuuuvvuu")})
    table = dk.tabulate(rows, by={"age": None, "job": None}).recode("age", {"H": ["u", "v"]})
    young = dk.tabulate(rows, by={"job": None}, where={"age": ["u"]})
    results = protected([table, young], attacker=dk.Attacker())
    everybody, ours = (
        {row["job"]: row["count"] for row in result.public.to_pylist()[:3]} for result in results
    )
    for job in "bc":
        assert None in (everybody[job], ours[job])


def test_the_rules_of_all_tables_count():
    for rules in ([RULE, dk.rules.MinimumFrequency(2)], [dk.rules.MinimumFrequency(2), RULE]):
        results = protected(two(ages()), rules)
        assert any(result.published.suppressed.any() for result in results)


def test_a_sensitivity_judges_no_parts():
    tables = two(ages())
    results = protected(tables, [RULE(table) for table in tables])
    assert None not in shown(results)[0]
    assert results[0].certificate.internal()["parts_not_judged"] == 1
    assert any(NO_CLAIM in line for line in said(results[0], "not_claimed"))
    assert not any(CLAIM in line for line in said(results[0], "claimed"))


def test_tables_without_overlaps_say_nothing_of_parts():
    fine = ages()
    results = dk.suppress([fine, fine.recode("age", {"0-64": ["0-14", "15-17", "18-64"]})], RULE)
    certificate = results[0].certificate
    assert "parts_judged" not in certificate.internal()
    assert not any("overlapping" in line for line in certificate.public()["claimed"]["en"])


def test_public_files_are_verified(tmp_path):
    keys = dk.SecretKeys(bytes(range(32)))
    for rule in (RULE, [RULE(table) for table in two(ages())]):
        results = protected(two(ages()), rule)
        folder = dk.write(results, tmp_path / str(type(rule)), ["csv"], keys=keys)
        assert verify(folder, keys=keys).lines
        internal = json.loads((folder / "internal" / "minors.certificate.json").read_text())
        assert "parts_judged" in internal


def test_a_part_that_must_be_revealed_is_named():
    stay = [pa.table({"age": ["0-17"]}), pa.table({"age": ["0-14"]})]
    words = r"age=15-17 \(minors: age=0-17 without working: age=0-14\); frozen in minors, working"
    with pytest.raises(ProtectionError, match=words):
        protected(two(ages()), frozen=stay)


def test_intervals_reveal_no_part():
    results = protected(two(ages()))
    keys = dk.SecretKeys(bytes(range(32)))
    published = with_intervals(results, keys)[0].certificate.proof.publication
    assert published.tables[0].lower is not None
    assert not len(revealed_parts(published))


# ── beside earlier releases ─────────────────────────────────────────────────────────


def test_an_earlier_release_and_a_new_table_reveal_no_part():
    minors, working = two(ages())
    ledger = Before()
    ledger.publish("2024", dk.suppress(minors, RULE, name="minors"))
    result = dk.suppress(working, RULE, name="working", ledger=ledger)
    assert result.public["count"].to_pylist()[1] is None
    assert any("unless earlier releases alone" in line for line in said(result, "claimed"))


def test_what_has_to_stay_beside_an_earlier_release_is_named():
    minors, working = two(ages())
    ledger = Before()
    ledger.publish("2024", dk.suppress(minors, RULE, name="minors"))
    words = r"age=15-17 \(working: age=15-64 without 2024/minors: age=18-64\)"
    with pytest.raises(ProtectionError, match=words):
        dk.suppress(
            working, RULE, name="working", ledger=ledger, frozen=pa.table({"age": ["0-14"]})
        )


def test_what_earlier_releases_reveal_by_themselves_is_no_reason_to_refuse():
    minors, working = two(ages())
    ledger = Before()
    ledger.publish("2023", dk.suppress(minors, RULE, name="minors"))
    ledger.publish("2024", dk.suppress(working, RULE, name="working"))
    result = dk.suppress(
        ages().recode("age", {"15+": ["15-17", "18-64", "65+"]}), RULE, ledger=ledger
    )
    assert None not in result.public["count"].to_pylist()


def test_a_release_that_came_between_reveals_no_part():
    minors, working = two(ages())
    late = dk.suppress(working, RULE, name="working")
    ledger = Before()
    attack_again([late], ledger.entries)
    ledger.publish("2024", dk.suppress(minors, RULE, name="minors"))
    with pytest.raises(ProofError, match=r"age=15-17 \(working: age=15-64 without 2024/minors"):
        attack_again([late], ledger.entries)


# ── sums ────────────────────────────────────────────────────────────────────────────


def firms(contributions):
    """Between the groupings one firm stands for all that is there."""
    rows = [("a", f"a{i}", 10) for i in range(6)] + [("b", "b0", 90), ("b", "b1", 1)]
    rows += [("c", f"c{i}", 40) for i in range(9)] + [("d", f"d{i}", 20) for i in range(9)]
    group, firm, sales = zip(*rows, strict=True)
    frame = pa.table({"group": group, "firm": firm, "sales": sales})
    fine = dk.tabulate(
        frame,
        by={"group": None},
        value="sales",
        unit="firm",
        largest=2,
        contributions=contributions,
    )
    return [
        fine.recode("group", {"ab": ["a", "b"]}),
        fine.recode("group", {"bc": ["b", "c"]}),
    ]


def test_parts_of_sums_are_judged_by_those_who_contribute():
    results = protected(firms(True), dk.rules.PPercent(10))
    assert any(result.published.suppressed.any() for result in results)
    publication = results[0].certificate.proof.publication
    assert not len(revealed_parts(publication))
    assert any(CLAIM in line for line in said(results[0], "claimed"))


@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_part_of_nothing_is_that_of_somebody(number):
    rows = [(code, f"{code}{i}", 10) for code in "acd" for i in range(6)]
    rows += [("b", f"b{i}", 0) for i in range(number)]
    group, firm, sales = zip(*rows, strict=True)
    frame = pa.table({"group": group, "firm": firm, "sales": sales})
    by = {"group": dk.Hierarchy.flat("abcd"[i] for i in range(4))}
    fine = dk.tabulate(frame, by=by, value="sales", unit="firm", contributions=True)
    tables = [
        fine.recode("group", {"ab": ["a", "b"]}),
        fine.recode("group", {"bcd": ["b", "c", "d"]}),
    ]
    results = protected(tables, dk.rules.MinimumFrequency(3))
    hidden = any(result.published.suppressed.any() for result in results)
    assert hidden == (0 < number < 3)
    assert results[0].certificate.internal()["parts_not_judged"] == 0


def test_without_contributions_nothing_is_claimed_of_parts_of_sums():
    results = protected(firms(False), dk.rules.PPercent(10))
    assert results[0].certificate.internal()["parts_not_judged"] == 1
    assert any(NO_CLAIM in line for line in said(results[0], "not_claimed"))
