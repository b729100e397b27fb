"""Measures that add up where nobody said so: what one hides the others must not show."""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.errors import InputError

KEYS = dk.SecretKeys(bytes(range(32)))
RULE = dk.rules.PPercent(10)
NAMES = ["domestic", "export", "revenue"]
REGIONS = [*"NNNNSSSSWWWWEEEE"]
DOMESTIC = [300, 250, 200, 310, 100, 50, 30, 70, 200, 210, 220, 230, 110, 120, 130, 140]
EXPORT = [300, 250, 200, 330, 120, 1, 1, 2, 80, 90, 70, 90, 120, 140, 130, 110]
REFUSED = "'revenue = domestic \\+ export' holds in all 4 finest cells"
UNCHECKED = "diskret.protect.linked.refuse_undeclared_sums"


def records(domestic=DOMESTIC, export=EXPORT, plus=0, times=(1, 1)):
    """Firms with three measures; the last firm's revenue is `plus` too high."""
    revenue = [times[0] * d + times[1] * e for d, e in zip(domestic, export, strict=True)]
    revenue[-1] += plus
    columns = {"domestic": domestic, "export": export, "revenue": revenue}
    return pa.table({"region": REGIONS, "firm": range(len(REGIONS)), **columns})


def of(frame, name, by=("region",), **options):
    return dk.tabulate(frame, by=dict.fromkeys(by), value=name, unit="firm", **options)


def protected(frame, **options):
    rules = [dk.rules.Dominance(1, 98, quiet=True), RULE, dk.rules.Dominance(1, 98, quiet=True)]
    return dk.suppress([of(frame, name) for name in NAMES], rules, name=NAMES, **options)


def told(results):
    """What a reader who adds up computes of hidden cells, by region."""
    shown = {
        name: np.where(r.published.suppressed, -1, r.published.value)
        for name, r in zip(NAMES, results, strict=True)
    }
    codes = results[0].published.dimensions[0].hierarchy.codes
    rows = zip(codes, *shown.values(), strict=True)
    return {
        code: int(revenue - domestic)
        for code, domestic, export, revenue in rows
        if export < 0 <= min(domestic, revenue)
    }


def test_without_the_refusal_the_secret_would_be_out(monkeypatch):
    with pytest.raises(InputError, match=REFUSED):
        protected(records())
    monkeypatch.setattr(UNCHECKED, lambda *_, **__: None)
    exports = {r: sum(e for o, e in zip(REGIONS, EXPORT, strict=True) if o == r) for r in "SW"}
    assert told(protected(records())).items() >= {"S": exports["S"]}.items()


def test_a_sum_that_is_said_ties_them(tmp_path):
    results = protected(records(), sums=["revenue = domestic + export"])
    assert told(results) == {}
    dk.write(results, tmp_path / "out", ["csv"], keys=KEYS)


def test_a_folder_and_a_later_release_are_refused(tmp_path):
    frame = records()
    results = [dk.suppress(of(frame, name), RULE, name=name) for name in NAMES]
    with pytest.raises(InputError, match=REFUSED):
        dk.write(results, tmp_path / "both", ["csv"], keys=KEYS)
    ledger = dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    for one in results[:2]:
        ledger.publish(one, tmp_path / one.name, ["csv"])
    with pytest.raises(InputError, match=REFUSED):
        ledger.publish(results[2], tmp_path / "revenue", ["csv"])
    tables = [of(frame, name) for name in NAMES]
    sums = ["revenue = domestic + export"]
    together = dk.suppress(tables, RULE, name=NAMES, sums=sums, ledger=ledger)
    ledger.publish(together, tmp_path / "together", ["csv"])


def test_tables_of_other_variables_are_compared_where_they_meet():
    frame = records()
    for name, codes in ("size", "SML"), ("form", "PQ"):
        frame = frame.append_column(name, pa.array([codes[i % len(codes)] for i in range(16)]))
    variables = {"domestic": ("region", "size"), "export": ("form", "region")}
    tables = [of(frame, name, variables.get(name, ("region",))) for name in NAMES]
    with pytest.raises(InputError, match=REFUSED):
        dk.suppress(tables, RULE, name=NAMES)


def test_a_count_follows_from_columns_of_ones():
    sexes = [*"fmfmfmfmffmmfmffmmfmfmfmmmffffmm" * 8, "f", "f"]
    places = [*"NNNNSSSSWWWWEEEE" * 16, "Q", "Q"]
    columns = {sex: [int(own == sex) for own in sexes] for sex in "fm"}
    frame = pa.table({"place": places, "firm": range(len(places)), **columns})
    tables = [dk.tabulate(frame, by={"place": None})] + [of(frame, sex, ("place",)) for sex in "fm"]
    with pytest.raises(InputError, match="'count = f \\+ m' holds in all 5"):
        dk.suppress(tables, dk.rules.MinimumFrequency(3), name=["all", "f", "m"])


def test_what_hides_nothing_may_add_up():
    frame = records(export=DOMESTIC[::-1])
    dk.suppress([of(frame, name) for name in NAMES], dk.rules.MinimumFrequency(3), name=NAMES)


def test_measures_in_other_decimals_add_up_as_well():
    frame = records()
    tables = [of(frame, name, decimals=i) for i, name in enumerate(NAMES)]
    with pytest.raises(InputError, match=REFUSED):
        dk.suppress(tables, RULE, name=NAMES)


@pytest.mark.parametrize("times", [(2, 3), (1, 100)])
def test_factors_are_found_and_named(times):
    with pytest.raises(InputError, match="'domestic', 'export', 'revenue' each follows"):
        protected(records(times=times))


def test_a_difference_of_sums_is_found_among_more_measures_than_cells():
    frame = records()
    drawn = np.random.default_rng(1)
    for name in "abcd":
        frame = frame.append_column(name, pa.array(drawn.integers(50, 500, len(REGIONS))))
    with pytest.raises(InputError, match=REFUSED):
        dk.suppress([of(frame, n) for n in (*"abcd", *NAMES)], RULE, name=[*"abcd", *NAMES])


@pytest.mark.long
@given(st.lists(st.integers(0, 60), min_size=32, max_size=32), st.integers(0, 1))
@examples(15)
def test_nothing_that_a_reader_adds_up_goes_through(values, plus):
    frame = records(values[:16], values[16:], plus)
    sums = {n: [sum(frame[n].to_pylist()[i : i + 4]) for i in range(0, 16, 4)] for n in NAMES}
    try:
        results = protected(frame)
    except InputError as error:
        assert "revenue = domestic + export" in str(error)
        assert not plus or "holds but for rounding" in str(error)
        return
    hidden = any(result.published.suppressed.any() for result in results)
    if not plus and hidden:  # so small that it may be chance, or one is another
        pairs = combinations(sums.values(), 2)
        single = any(np.linalg.matrix_rank(pair) < 2 for pair in map(np.array, pairs))
        least = [min((v for v in row if v), default=0) for row in zip(*sums.values(), strict=True)]
        assert single or np.prod([1.0 + own for own in least]) <= 4000


def test_a_count_is_told_to_be_summed(tmp_path):
    """Counts and sums are never attacked together, so no `sums=` may hold a count."""
    full = [1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1]
    many = {"region": REGIONS * 99, "full": full * 99, "part": [1 - f for f in full] * 99}
    frame = pa.table(many | {"all": [1] * len(full) * 99})
    by, rule = {"region": None}, dk.rules.MinimumFrequency(397)
    sums = [dk.tabulate(frame, by=by, value=name) for name in ("full", "part", "all")]
    own = dk.suppress(sums[:2], rule, name=["full", "part"])
    counted = dk.suppress(dk.tabulate(frame, by=by), dk.rules.MinimumFrequency(3), name="count")
    with pytest.raises(InputError, match="sum a column of ones where 'count' counts, and protect"):
        dk.write([*own, counted], tmp_path / "out", ["csv"], keys=KEYS)
    dk.suppress(sums, rule, sums=["all = full + part"], name=["full", "part", "all"])


# ── but for rounding ────────────────────────────────────────────────────────────────


def in_thousands(how, plus=0):
    """Firms whose revenue is in thousands, rounded as `how` says; the last one has more."""
    frame = records([1000 * d + 137 * i for i, d in enumerate(DOMESTIC)], [999 * e for e in EXPORT])
    exact = frame["revenue"].to_numpy().copy()
    exact[-1] += plus
    rounded = (exact + 500) // 1000
    revenue = {"thousands": rounded, "euros": 1000 * rounded, "exact": exact}[how]
    return frame.set_column(frame.column_names.index("revenue"), "revenue", pa.array(revenue))


@pytest.mark.parametrize(("how", "said"), [("thousands", "1,000 × revenue"), ("euros", "revenue")])
def test_measures_that_add_up_but_for_rounding_are_refused(tmp_path, how, said, monkeypatch):
    said = f"'{said} = domestic \\+ export' holds but for rounding in all 4 finest cells"
    frame = in_thousands(how)
    with pytest.raises(InputError, match=said):
        protected(frame)
    ledger = dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    one, two, last = (dk.suppress(of(frame, name), RULE, name=name) for name in NAMES)
    for result in (one, two):
        ledger.publish(result, tmp_path / result.name, ["csv"])
    with pytest.raises(InputError, match="holds but for rounding"):
        ledger.publish(last, tmp_path / "revenue", ["csv"])
    protected(in_thousands(how, plus=3_000_000))  # one firm to the contrary
    # without the refusal a reader has what is hidden, within half a thousand for each firm
    monkeypatch.setattr("diskret.protect.linked.refuse_sums_but_for_rounding", lambda *_, **__: 0)
    results = protected(frame)
    domestic, export, revenue = (result.published for result in results)
    hidden = export.suppressed & ~domestic.suppressed & ~revenue.suppressed
    guess = (1000 if how == "thousands" else 1) * revenue.value - domestic.value
    made = results[1].table
    assert hidden.any()
    assert (np.abs(guess - made.measure.sum) <= 500 * np.asarray(made.count))[hidden].all()


def test_one_measure_in_thousands_is_that_measure():
    frame = in_thousands("thousands").append_column("all", in_thousands("exact")["revenue"])
    tables = [of(frame, name) for name in ("all", "revenue")]
    with pytest.raises(InputError, match="'all = 1,000 × revenue' holds but for rounding"):
        dk.suppress(tables, RULE | dk.rules.Dominance(1, 40, quiet=True), name=["a", "b"])


def test_a_sum_that_is_said_holds_of_exact_values_that_are_published_rounded():
    frame = in_thousands("exact")
    tables = [of(frame, name) for name in NAMES]
    tables[2] = tables[2].rounded(1000)
    results = dk.suppress(tables, RULE, name=NAMES, sums=["revenue = domestic + export"])
    assert told(results) == {}


@given(st.lists(st.integers(0, 400), min_size=16, max_size=16), st.integers(0, 3))
@examples(20)
def test_of_small_values_that_nearly_add_up_no_rounding_is_said(values, seed):
    draw = np.random.default_rng(seed)
    frame = records(values, draw.integers(0, 400, 16).tolist())
    other = pa.array(np.add(frame["revenue"].to_numpy(), draw.integers(0, 9, 16)))
    protected(frame.set_column(frame.column_names.index("revenue"), "revenue", other))
