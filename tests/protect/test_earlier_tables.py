"""New tables protected beside what was published before."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from earlier_releases import Before, as_published
from sealing import reseal

import diskret as dk
from diskret.attack import Requirements, examine
from diskret.errors import InputError, ProofError, ProtectionError, VerificationError
from diskret.ledger.refusals import attack_again
from diskret.publish.verify.folder import verify
from diskret.suppression import Pattern
from diskret.tables import Earlier, Perturbed, Publication
from diskret.tables.perturbed import stands_for

RULE = dk.rules.MinimumFrequency(3)
KEYS = dk.SecretKeys(bytes(range(32)))
NO_LEVELS = Requirements(*(np.zeros(0, dtype=np.int64) for _ in range(4)))


def by_age(*values, vintage=""):
    cells = pa.table({"age": list("abcd"[: len(values)]), "n": list(values)})
    return dk.Table.from_cells(cells, by={"age": None}, count="n", vintage=vintage)


@pytest.fixture
def fine():
    return by_age(2, 4, 8, 30)


@pytest.fixture
def first(fine):
    """Hides the 2, and the 4 beside it."""
    result = dk.suppress(fine, RULE, name="ages")
    assert result.public["count"].to_pylist() == [44, None, None, 8, 30]
    return result


def coarse(table, new):
    return table.recode("age", {new: list(new)})


def shown(result):
    public = result.public.to_pydict()
    return dict(zip(public["age"], public["count"], strict=True))


def interval(results, cell):
    """What an attacker knows of a cell of the first of several tables."""
    found = examine(Publication(tuple(r.published for r in results)))
    at = list(found.cell).index(cell)
    return found.lower[at], found.upper[at]


def test_the_third_table_would_reveal_what_the_first_hides(fine, first):
    """Each table alone is safe: 2 + 4 = 6, and neither 6 nor 2 + 8 = 10 is unsafe."""
    second = dk.suppress(coarse(fine, "ab"), RULE, name="second")
    third = dk.suppress(coarse(fine, "ac"), RULE, name="third")
    assert interval([first, second], 1) == (0, 6)
    assert interval([first, second, third], 1) == (2, 2)

    before = Before(as_published("2024", first))
    second = dk.suppress(coarse(fine, "ab"), RULE, name="second", ledger=before)
    before.publish("2025", second)
    third = dk.suppress(coarse(fine, "ac"), RULE, name="third", ledger=before)
    assert shown(third)["ac"] is None
    low, high = interval([first, second, third], 1)
    assert low <= 1 and high >= 3


def test_what_was_hidden_before_is_hidden_in_the_next_table(fine, first):
    again = dk.suppress(fine, RULE, name="again", ledger=Before(as_published("2024", first)))
    assert np.array_equal(again.published.suppressed, first.published.suppressed)


def test_a_cell_that_was_published_before_cannot_become_unsafe(fine, first):
    before = Before(as_published("2024", first))
    stricter = dk.rules.MinimumFrequency(9)
    with pytest.raises(ProtectionError) as told:
        dk.suppress(fine, stricter, ledger=before)
    assert "1 unsafe cell was published before" in str(told.value)
    assert "age=c (release '2024', table 'ages')" in str(told.value)
    waived = {"age": ["c"], "status": ["safe"], "reason": ["public since 2024"], "who": ["A"]}
    waiver = dk.rules.Apriori(pa.table({**waived, "date": ["2025-01-01"]}))
    result = dk.suppress(fine, stricter | waiver, ledger=before)
    assert shown(result)["c"] == 8


def test_a_secondary_of_before_may_be_published_where_nothing_needs_it(fine):
    def all_but_the_largest(problem):
        hidden = ~problem.frozen & (problem.system.value < 30)
        return Pattern(hidden | np.isin(np.arange(len(hidden)), problem.requirements.cell), "all")

    generous = dk.suppress(fine, RULE, name="ages", method=all_but_the_largest)
    assert shown(generous)["c"] is None
    before = Before(as_published("2024", generous))
    keep = pa.table({"age": ["c"]})
    result = dk.suppress(fine, RULE, ledger=before, frozen=keep)
    assert shown(result)["c"] == 8
    with pytest.raises(ProtectionError, match="cannot be protected"):
        dk.suppress(fine, RULE, ledger=before, frozen=pa.table({"age": ["b", "c"]}))


def test_an_impossible_future_names_what_stands_in_the_way(fine, first):
    before = Before(as_published("2024", first))
    table = coarse(fine, "ac")
    with pytest.raises(ProtectionError) as told:
        dk.suppress(
            table, RULE, name="new", ledger=before, frozen=pa.table({"age": ["ac", "Total", "d"]})
        )
    assert set(told.value.blamed_in) == {"new", "2024/ages"}
    where = dict(zip(told.value.blamed_in, told.value.blamed, strict=True))
    assert table.dimensions[0].hierarchy.codes[where["new"]] == "ac"


def test_another_vintage_is_another_cell(fine, first):
    revised = by_age(3, 4, 8, 30, vintage="revised")
    before = Before(as_published("2024", first))
    result = dk.suppress(revised, RULE, ledger=before)
    assert not result.certificate.proof.publication.beside
    assert not result.published.suppressed.any()
    with pytest.raises(InputError, match=r"(?s)'ages' of release '2024' contradicts.*vintage="):
        dk.suppress(by_age(2, 5, 8, 30), RULE, ledger=before)


def test_values_of_a_release_from_elsewhere_need_not_be_known(fine, first):
    known = as_published("2024", first)
    stranger = replace(known, original=None, requirements=NO_LEVELS)
    result = dk.suppress(coarse(fine, "ac"), RULE, name="new", ledger=Before(stranger))
    # the 2 is no primary there, but its exact value would be known
    assert shown(result)["ac"] is None
    lied = replace(stranger, published=replace(first.published, value=first.published.value + 1))
    with pytest.raises(InputError, match="'ages' of release '2024' contradicts the new tables"):
        dk.suppress(fine, RULE, name="new", ledger=Before(lied))


def test_rounded_counts_are_known_as_intervals(fine):
    rounded = replace(
        dk.suppress(fine, dk.rules.MinimumFrequency(2), name="ages").published,
        value=np.array([45, 0, 5, 10, 30]),
    )
    seen = stands_for(rounded, Perturbed("random", base=5))
    before = Before(Earlier("2024", seen, None, NO_LEVELS))
    result = dk.suppress(fine, RULE, name="new", ledger=before)
    assert shown(result)["a"] is None
    [low, high] = interval([result], 1)
    found = result.certificate.examination
    narrow = found.lower[0], found.upper[0]
    assert (low, high) == (0, 6) and narrow == (0, 4)  # 0 to 4 by rounding to 0
    assert not attack_again([result], before.entries)
    exact = stands_for(rounded, Perturbed("deterministic", base=5))
    impossible = Before(Earlier("2024", exact, None, NO_LEVELS))
    with pytest.raises(InputError, match="release '2024' contradicts"):
        dk.suppress(by_age(2, 4, 8, 60), RULE, name="new", ledger=impossible)


def test_an_earlier_table_that_was_left_out_is_noticed(fine, first):
    before = [as_published("2024", first)]
    blind = dk.suppress(coarse(fine, "ac"), RULE, name="new")
    with pytest.raises(ProofError, match=r"1 cell would no longer .*: age=a in ages of 2024"):
        attack_again([blind], before)
    seeing = dk.suppress(coarse(fine, "ac"), RULE, name="new", ledger=Before(*before))
    attack_again([seeing], before)
    assert seeing.position == "1" and blind.position is None


def test_sums_of_measures_tie_releases():
    firms = pa.table(
        {
            "region": ["N", "N", "N", "S", "S", "S"],
            "revenue": [60, 50, 40, 500, 6, 4],
            "domestic": [30, 25, 20, 10, 5, 3],
            "export": [30, 25, 20, 490, 1, 1],
        }
    )
    table = dk.tabulate(firms, by={"region": None}, value=["revenue", "domestic", "export"])
    rule, sums = dk.rules.PPercent(10), ["revenue = domestic + export"]
    both = dk.suppress([table["revenue"], table["export"]], rule, name=["revenue", "export"])
    assert both[0].public["revenue"].to_pylist() == [660, None, None]
    before = Before(*(as_published("2024", result) for result in both))
    alone = dk.suppress(table["domestic"], rule)
    assert not alone.published.suppressed.any()
    before.entries = [
        replace(e, sums=tuple(map(dk.tables.MeasureSum.read, sums))) for e in before.entries
    ]
    result = dk.suppress(table["domestic"], rule, ledger=before)
    beside = result.certificate.proof.publication.beside
    assert beside == (("2024", "revenue"), ("2024", "export"))


@pytest.fixture
def released(fine, first, tmp_path):
    ledger = dk.Ledger.create(tmp_path / "releases.db", keys=KEYS)
    ledger.publish(first, tmp_path / "first", formats=["csv"])
    second = dk.suppress(coarse(fine, "ac"), RULE, name="second", ledger=ledger)
    ledger.publish(second, tmp_path / "second", formats=["csv", "html"], intervals=True)
    return tmp_path


def test_a_release_is_verified_with_the_ones_before(released):
    lines = verify(released / "second", keys=KEYS, releases=[released / "first"]).lines
    assert "attacked together with first/ages" in lines[0]
    assert "proven again" in lines[1]
    lines = verify(released / "second", keys=KEYS).lines
    assert "intervals not confirmed" in lines[0] and "first/ages" in lines[0]
    assert "not proven again without the earlier releases" in lines[1]


def test_the_certificate_names_what_it_was_attacked_with(released):
    path = released / "second" / "public" / "second.certificate.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    [named] = content["beside"]
    assert (named["release"], named["table"]) == ("first", "ages")
    assert any(
        "earlier releases that this certificate names (1)" in t for t in content["claimed"]["en"]
    )
    changed = {**content, "beside": [{**named, "digest": "0" * 64}]}
    path.write_text(json.dumps(changed), encoding="utf-8")
    reseal(released / "second", KEYS)
    report = verify(released / "second", keys=KEYS, releases=[released / "first"])
    assert "intervals not confirmed" in report.lines[0]
    changed = {key: value for key, value in content.items() if key != "beside"}
    path.write_text(json.dumps(changed), encoding="utf-8")
    reseal(released / "second", KEYS)
    with pytest.raises(VerificationError):
        verify(released / "second", keys=KEYS, releases=[released / "first"])


def test_published_intervals_are_safe_beside_earlier_releases(released, first):
    second = dk.Published.read(released / "second" / "public", "second")
    assert second.lower is not None
    found = examine(Publication((first.published, second)))
    at = list(found.cell).index(1)
    assert found.lower[at] <= 1 and found.upper[at] >= 3
