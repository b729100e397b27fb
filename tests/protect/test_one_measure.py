"""One measure under two names, in another currency or unit: what one hides the other shows."""

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk

KEYS = dk.SecretKeys(bytes(range(32)))
RULE = dk.rules.MinimumFrequency(3)
REGIONS = [*"NNNNNNSSWWWWWEEEE"]
TURNOVER = [10 + i for i in range(len(REGIONS))]
REFUSED = "one measure under two names"


def records(values=TURNOVER, times=1000, plus=0):
    """Firms with turnover, and with the same `times` as much; `plus`: the last firm has more."""
    other = [times * v for v in values]
    other[-1] += plus
    return pa.table(
        {"region": REGIONS, "firm": range(len(REGIONS)), "turnover": values, "umsatz": other}
    )


def tables(frame):
    """Turnover of all regions, and the other column of all but S, where two firms are."""
    options = {"by": {"region": None}, "unit": "firm"}
    return (
        dk.tabulate(frame, value="turnover", **options),
        dk.tabulate(frame, value="umsatz", where={"region": [*"NWE"]}, **options),
    )


def told(results, times):
    """What a reader computes of the two firms in S, who knows what the currencies are worth."""
    everything, others = (result.published for result in results)
    if everything.suppressed[0] or others.suppressed[0]:
        return None
    return int(everything.value[0]) - Fraction(int(others.value[0]), times)


@pytest.mark.parametrize("times", [1, 1000, 119])
def test_without_the_refusal_the_secret_would_be_out(monkeypatch, times):
    pair = tables(records(times=times))
    with pytest.raises(dk.errors.InputError, match=REFUSED):
        dk.suppress([*pair], RULE, name=["a", "b"])
    monkeypatch.setattr("diskret.protect.linked.refuse_one_measure_twice", lambda *_, **__: None)
    secret = sum(v for r, v in zip(REGIONS, TURNOVER, strict=True) if r == "S")
    assert told(dk.suppress([*pair], RULE, name=["a", "b"]), times) == secret


def test_a_folder_and_a_later_release_are_refused(tmp_path):
    pair = tables(records())
    one, other = (dk.suppress(t, RULE, name=n) for t, n in zip(pair, "ab", strict=True))
    with pytest.raises(dk.errors.InputError, match=REFUSED):
        dk.write([one, other], tmp_path / "both", ["csv"], keys=KEYS)
    ledger = dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    ledger.publish(one, tmp_path / "1", ["csv"])
    for beside in (other, dk.round_table(pair[1], 10, "random", keys=KEYS, name="b")):
        with pytest.raises(dk.errors.InputError, match=REFUSED):
            ledger.publish(beside, tmp_path / "2", ["csv"])
    late = replace(pair[1], vintage="2026")  # other periods have other values
    ledger.publish(dk.suppress(late, RULE, name="late"), tmp_path / "3", ["csv"])
    assert [release.name for release in ledger.releases()] == ["1", "3"]


def test_what_was_published_elsewhere_counts(tmp_path):
    pair = tables(records([1000 * v for v in TURNOVER]))
    first, second = (dk.suppress(t, RULE) for t in pair)
    ledger = dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    ledger.record(first.published, "yearbook")
    with pytest.raises(dk.errors.InputError, match=REFUSED):
        ledger.publish(second, tmp_path / "2", ["csv"])


def test_a_sum_ties_what_is_equal(tmp_path):
    pair = tables(records(times=1))
    results = dk.suppress([*pair], RULE, name=["a", "b"], sums=["umsatz = turnover"])
    assert told(results, 1) is None
    dk.write(results, tmp_path / "out", ["csv"], keys=KEYS)


def test_proportional_measures_share_their_noise_and_may_stand_together(tmp_path):
    frame = dk.record_keys(records(), id="firm", keys=KEYS)
    noise = dk.MagnitudeNoise(
        dk.PerturbationTable.for_magnitudes(max_noise=2, variance=1), scale=0.25, shares=(1, 0.5)
    )
    table = dk.tabulate(
        frame,
        by={"region": None},
        value=["turnover", "umsatz"],
        unit="firm",
        record_key="record_key",
    )
    changed = [dk.perturb(table[name], noise, name=name) for name in ("turnover", "umsatz")]
    dk.write(changed, tmp_path / "out", ["csv"], keys=KEYS)
    exact = dk.suppress(table["umsatz"], RULE, name="exact")
    with pytest.raises(dk.errors.InputError, match=REFUSED):
        dk.write([changed[0], exact], tmp_path / "noise", ["csv"], keys=KEYS)


@given(
    st.lists(st.integers(0, 300), min_size=len(REGIONS), max_size=len(REGIONS)),
    st.sampled_from([1, 2, 1000]),
    st.integers(0, 2),
)
@examples(40)
def test_what_goes_through_is_no_other_measure_or_too_little_to_tell(values, times, plus):
    pair = tables(records(values, times, plus))
    sums = {r: sum(v for own, v in zip(REGIONS, values, strict=True) if own == r) for r in "NWE"}
    there = sorted(v for v in sums.values() if v)
    enough = len(there) > 1 and (1 + there[0]) * (1 + there[1] if there[2:] else 1) > 1000
    try:
        dk.suppress([*pair], RULE, name=["a", "b"])
        refused = False
    except dk.errors.InputError as error:
        refused = REFUSED in str(error)
    changed = bool(plus) and sum(v > 0 for v in sums.values()) > 1
    assert refused == (enough and not changed)


# ── one measure of two periods ────────────────────────────────────────────────────────


def periods(frame, first="", second="2025"):
    """Turnover of all regions, and of all but S, said to be of other periods."""
    options = {"by": {"region": None}, "unit": "firm", "value": "turnover"}
    return (
        dk.tabulate(frame, vintage=first, **options),
        dk.tabulate(frame, vintage=second, where={"region": [*"NWE"]}, **options),
    )


def test_records_of_two_periods_are_refused_in_one_call():
    with pytest.raises(dk.errors.InputError, match="from the same records"):
        dk.suppress([*periods(records())], RULE, name=["a", "b"])


SAME = "has the same value in all 3 finest cells"


@pytest.mark.parametrize("vintages", [("", "2025"), ("2025", "2026")])
def test_tables_with_the_same_values_are_of_one_period(tmp_path, monkeypatch, vintages):
    one, _ = periods(records(), *vintages)
    _, other = periods(records(), *vintages)  # another frame of the same records
    with pytest.raises(dk.errors.InputError, match=SAME):
        dk.suppress([one, other], RULE, name=["a", "b"])
    first, second = (dk.suppress(t, RULE, name=n) for t, n in zip((one, other), "ab", strict=True))
    with pytest.raises(dk.errors.InputError, match=SAME):
        dk.write([first, second], tmp_path / "both", ["csv"], keys=KEYS)
    ledger = dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    ledger.publish(first, tmp_path / "1", ["csv"])
    with pytest.raises(dk.errors.InputError, match=SAME):
        ledger.publish(second, tmp_path / "2", ["csv"])
    cents = dk.tabulate(
        records(), by={"region": None}, unit="firm", value="turnover", decimals=2,
        vintage="in cents", where={"region": [*"NWE"]},
    )  # fmt: skip
    with pytest.raises(dk.errors.InputError, match=SAME):
        ledger.publish(dk.suppress(cents, RULE, name="b"), tmp_path / "cents", ["csv"])
    third = dk.suppress(periods(records(), "", "third")[1], RULE, name="b")
    with pytest.warns(UserWarning, match=SAME):
        ledger.record(third.published, "elsewhere")
    revision = dk.suppress(periods(records(), "", "2025 revised")[1], RULE, name="b")
    ledger.publish(revision, tmp_path / "revision", ["csv"], revises={*vintages, "third"})
    _, changed = periods(records([v + 1 for v in TURNOVER]), *vintages)
    ledger.publish(dk.suppress(changed, RULE, name="b"), tmp_path / "3", ["csv"])
    monkeypatch.setattr("diskret.protect.linked.refuse_one_measure_twice", lambda *_, **__: None)
    secret = sum(v for r, v in zip(REGIONS, TURNOVER, strict=True) if r == "S")
    assert told(dk.suppress([one, other], RULE, name=["a", "b"]), 1) == secret


def test_two_periods_may_have_the_same_values_where_the_same_cells_are_hidden(tmp_path):
    regions = [*"NNNNNNSSWWWWWEEEE"]
    frame = pa.table({"region": regions, "firm": range(17), "turnover": TURNOVER})
    ledger = dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    options = {"by": {"region": None}, "unit": "firm", "value": "turnover"}
    first = dk.suppress(dk.tabulate(frame, vintage="2025", **options), RULE, name="a")
    ledger.publish(first, tmp_path / "1", ["csv"])
    later = dk.tabulate(pa.table(frame.to_pydict()), vintage="2026", **options)
    cost = [0, *range(9, 5, -1)]  # by which W is hidden beside S, and not E
    other = dk.suppress(later, RULE, name="b", cost=lambda _: np.array(cost))
    hidden = [one.published.suppressed.tolist() for one in (first, other)]
    assert hidden[0] != hidden[1]
    with pytest.raises(dk.errors.InputError, match=SAME.replace("3", "4")):
        ledger.publish(other, tmp_path / "2", ["csv"])
    alike = dk.suppress(later, RULE, name="b", previous=first)
    ledger.publish(alike, tmp_path / "2", ["csv"])


def test_values_that_are_mostly_those_of_another_period_are_told(tmp_path):
    """Whoever takes W for unchanged has S from the total of before; the office says what it is."""
    ledger = dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    options = {"by": {"region": None}, "unit": "firm", "value": "turnover"}
    first = dk.suppress(dk.tabulate(records(), vintage="2025", **options), RULE, name="a")
    ledger.publish(first, tmp_path / "1", ["csv"])
    more = records([1 + TURNOVER[0], *TURNOVER[1:]])
    later = dk.tabulate(more, vintage="2025 again", **options)
    costs = [99, 9, 8, 7, 6]
    other = dk.suppress(later, RULE, name="b", cost=lambda _: np.array(costs))
    assert first.published.suppressed.tolist() != other.published.suppressed.tolist()
    with pytest.warns(UserWarning, match="3 of 4 values of 'turnover' are those of release '1'"):
        ledger.publish(other, tmp_path / "2", ["csv"])
    hidden = first.published.suppressed | other.published.suppressed
    table = dk.tabulate(records([2 + TURNOVER[0], *TURNOVER[1:]]), vintage="third", **options)
    third = dk.suppress(table, RULE, name="c", cost=lambda _: np.where(hidden, 9, 1))
    with pytest.warns(UserWarning, match="of another vintage") as said:
        ledger.publish(third, tmp_path / "3", ["csv"])
    assert len(said) == 1  # of two releases that have as much in common
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alike = dk.suppress(later, RULE, name="b", previous=first)
        for number, (result, said) in enumerate([(other, ()), (alike, None)]):
            ledger_ = dk.Ledger.create(tmp_path / f"{number}.db", keys=KEYS)
            ledger_.publish(first, tmp_path / f"{number} 1", ["csv"])
            ledger_.publish(result, tmp_path / f"{number} 2", ["csv"], revises=said)


def test_tables_that_share_no_finest_cell_of_either_are_compared_where_they_meet():
    frame = records()
    for name, codes in ("size", "SML"), ("form", "PQ"):
        frame = frame.append_column(name, pa.array([codes[i % len(codes)] for i in range(17)]))
    options = {"unit": "firm", "contributions": True}
    tables = [
        dk.tabulate(frame, by={"region": None, name: None}, value=value, **options)
        for name, value in (("size", "turnover"), ("form", "umsatz"))
    ]
    with pytest.raises(dk.errors.InputError, match=f"{REFUSED}.*all 4 finest"):
        dk.suppress(tables, RULE, name=["a", "b"])
