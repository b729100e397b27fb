"""Sums with noise are judged by the rule they were given: from records, over many keys."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.attack import Windows, certify_cell_key_sums, difference_estimates
from diskret.errors import InputError, ProofError

TABLE = dk.PerturbationTable.for_magnitudes(max_noise=2, variance=1)
COUNTS = dk.PerturbationTable.maximum_entropy(max_noise=3, variance=2)
PLAIN = dk.MagnitudeNoise(TABLE, scale=(0.25, 0.05), flex_point=1000)
AREAS = 300

few = examples(25)


def replicated(contributions, areas=AREAS, seed=0, modulus=2**32):
    """The same firms in many areas, each time with other keys: one area, many keys."""
    number = len(contributions)
    keys = np.random.default_rng(seed).integers(0, modulus, areas * number)
    return pa.table(
        {
            "area": np.repeat([f"{i:05d}" for i in range(areas)], number),
            "firm": np.arange(areas * number),
            "turnover": np.tile(np.array(contributions), areas),
            "key": keys.astype(np.int64),
        }
    )


def tabulated(records, **options):
    return dk.tabulate(
        records, by={"area": None}, value="turnover", unit="firm", record_key="key", **options
    )


def too_close(shown, contributions, p):
    """The test's own attack: the second largest estimates the largest, and the other way round."""
    x = sorted(contributions, reverse=True)
    if len(x) == 1:
        return np.abs(shown - x[0]) < p / 100 * x[0]
    first, second = (np.abs(shown - x[1 - i] - x[i]) < p / 100 * x[i] for i in (0, 1))
    return first | second


sizes = st.lists(st.integers(1, 10**7), min_size=1, max_size=5)


@few
@given(
    sizes,
    st.sampled_from([2, 5, 10, 40]),
    st.sampled_from([(1,), (1, 0.5), (1, 0.6, 0.3)]),
    st.sampled_from([1, 10, 1000]),
    st.sampled_from(["largest", "sum", "mean"]),
    st.booleans(),
)
def test_no_estimator_of_the_rule_comes_too_close(sizes, p, shares, unit, of, small):
    """Whatever the keys are: lone firms, dominated cells, large ones where m has fallen."""
    table = tabulated(replicated(sizes)).rounded(unit) if unit > 1 else tabulated(replicated(sizes))
    rule = dk.rules.PPercent(p)
    noise = replace(
        PLAIN, shares=shares if of == "largest" else (1.0,), of=of, small=COUNTS if small else None
    )
    result = dk.perturb(table, noise, rule=rule)
    shown = result.published.value[1:]
    x = sorted(sizes, reverse=True)
    unsafe = sum(x[2:]) * 100 < p * x[0]
    assert unsafe == bool(rule(table).unsafe[1])
    if unsafe:
        assert not too_close(shown, sizes, p).any()
        share = np.mean(shown > sum(x))
        assert abs(share - 0.5) < 5 * np.sqrt(0.25 / AREAS)


@few
@given(sizes, st.sampled_from([(3, 60), (4, 75)]))
def test_dominance_is_judged_by_those_who_dominate(sizes, nk):
    n, k = nk
    table = tabulated(replicated(sizes), largest=4)
    result = dk.perturb(table, PLAIN, rule=dk.rules.Dominance(n, k))
    x = sorted(sizes, reverse=True)
    top, rest = sum(x[:n]), sum(x[n:])
    if top * 100 > k * sum(x):
        # those from the second to the n-th know their sum and estimate the largest
        error = result.published.value[1:] - sum(x) + rest
        assert not (np.abs(error) < (100 / k - 1) * top).any()


@pytest.mark.long
@pytest.mark.parametrize("sizes", [[9000], [5000, 4000], [10**6, 10**5, 2000]])
@pytest.mark.parametrize("shares", [(1,), (1, 0.5)])
@pytest.mark.parametrize("order", ["sorted", "shuffled"])
def test_the_certificate_says_how_often_estimators_come_too_close(sizes, shares, order):
    """A constant extra is too little for large firms; the probability is that of simulation."""
    lookup = TABLE.lookup(order=order, seed=5)
    noise = replace(PLAIN, ptable=lookup, shares=shares, extra=0.5, risk=1.0)
    table = tabulated(replicated(sizes, areas=4000, seed=3))
    result = dk.perturb(table, noise, rule=dk.rules.PPercent(10))
    found = result.certificate.figures["too_close_at_most"]
    shown = result.published.value[1:]
    simulated = np.mean(too_close(shown, sizes, 10))
    assert abs(found - simulated) < 5 * np.sqrt(0.25 / 4000)
    guess = result.certificate.figures["best_guess"]
    window = 0.2 * max(sizes)
    order = np.sort(shown)
    best = max(np.searchsorted(order, value + window) - i for i, value in enumerate(order)) / 4000
    assert abs(guess - best) < 0.04


def test_the_parameters_that_the_guide_had_are_refused():
    """Single firms were published within 10 % of their value under PPercent(10)."""
    lone = [[x] for x in (500, 5000, 10**5, 10**7)]
    records = pa.concat_tables([replicated(x, 50, seed=x[0]) for x in lone])
    areas = np.arange(records.num_rows).astype(str)
    records = records.set_column(0, "area", pa.array(areas)).set_column(1, "firm", pa.array(areas))
    table = tabulated(records)
    guide = replace(PLAIN, shares=(1, 0.5), extra=0.5)
    rule = dk.rules.PPercent(10)
    with pytest.raises(ProofError, match=r"noise may be too small for the rule.*leave extra= out"):
        dk.perturb(table, guide, rule=rule)
    result = dk.perturb(table, replace(guide, extra=None), rule=rule)
    lone = np.asarray(table.units) == 1
    error = np.abs(result.noise[lone]) / table.measure.sum[lone]
    assert error.min() >= 0.1
    assert result.certificate.figures["cells_that_may_be_too_close"] == 0
    assert result.certificate.figures["best_guess"] <= 0.5 + 1e-9


def test_noise_that_is_too_small_is_found_by_the_certificate_alone():
    """Sabotage: a method that ignores the rule is refused, however exact its noise."""
    table = tabulated(replicated([90_000]))
    noise = replace(PLAIN, extra=0.0)
    shown = dk.perturb(table, noise).published
    unsafe = dk.rules.PPercent(10)(table)
    windows = Windows(unsafe.unsafe, unsafe.noise_above, unsafe.noise_below)
    with pytest.raises(ProofError, match=r"noise may be too small for the rule"):
        certify_cell_key_sums(
            table, shown, noise, TABLE.lookup(), number=table.units, windows=windows
        )
    accepted = replace(noise, risk=1.0)
    certify_cell_key_sums(
        table, shown, accepted, TABLE.lookup(), number=table.units, windows=windows
    )


def test_a_guess_that_is_right_too_often_is_refused():
    """More than the value is asked for: all cells can only be raised, and everybody knows."""
    table = tabulated(replicated([90_000]))
    with pytest.raises(ProofError, match=r"a guess that knows the parameters is right"):
        dk.perturb(table, PLAIN, rule=dk.rules.PPercent(150))


@pytest.mark.parametrize("modulus", [256, 10**4, 750])
def test_small_keys_are_judged_too(modulus):
    table = tabulated(replicated([7000, 300], modulus=modulus), key_modulus=modulus)
    result = dk.perturb(table, replace(PLAIN, shares=(1, 0.5)), rule=dk.rules.PPercent(10))
    assert not too_close(result.published.value[1:], [7000, 300], 10).any()


def test_negative_contributions_are_moved_as_far():
    table = tabulated(replicated([-90_000, 300]))
    result = dk.perturb(table, PLAIN, rule=dk.rules.PPercent(10))
    assert np.abs(result.noise[1:]).min() >= 9000
    assert len(np.unique(np.sign(result.noise[1:]))) == 2


def test_nothing_of_the_judgement_is_public():
    result = dk.perturb(tabulated(replicated([90_000])), PLAIN, rule=dk.rules.PPercent(10))
    public = str(result.certificate.public())
    for word in ("close", "guess", "10", "sensitive", "extra", "rule"):
        assert word not in public
    english, german = (result.certificate.internal()["checked"][n] for n in ("en", "de"))
    assert "at most 0.0 %" in english[2] and "höchstens 0,0 %" in german[2]


# ── what several values tell ────────────────────────────────────────────────────────


def test_a_total_minus_its_other_parts_is_tried():
    tree = dk.Hierarchy.from_parents(
        pa.table({"code": ["T", "A", "B", "A1", "A2", "B1"], "parent": [None, *"TTAAB"]})
    )
    records = pa.table(
        {
            "nace": ["A1", "A1", "A2", "B1", "B1", "A2"],
            "sex": ["f", "m", "f", "m", "m", "m"],
            "turnover": [90_000, 5, 70, 800, 900, 8],
            "key": [5, 7, 11, 13, 17, 19],
        }
    )
    table = dk.tabulate(records, by={"nace": tree, "sex": None}, value="turnover", record_key="key")
    result = dk.perturb(table, PLAIN, rule=dk.rules.PPercent(10))
    rows = {(r["nace"], r["sex"]): r["turnover"] for r in result.public.to_pylist()}
    found = difference_estimates(result.published)
    expected = {"A": rows["T", "f"] - rows["B", "f"], "A1": rows["A", "f"] - rows["A2", "f"]}
    codes = list(tree.codes)
    for code, value in expected.items():
        assert found["nace"][codes.index(code), 1] == value
    assert np.isnan(found["nace"][codes.index("B1")]).all()  # the only part: the same cell
    assert found["sex"][codes.index("A1"), 1] == rows["A1", "Total"] - rows["A1", "m"]
    close = 0
    true = table.measure.sum
    unsafe = dk.rules.PPercent(10)(table)
    for cell in np.argwhere(unsafe.unsafe):
        at = tuple(cell)
        errors = [found[name][at] - true[at] for name in found]
        close += any(-unsafe.noise_below[at] < e < unsafe.noise_above[at] for e in errors)
    assert result.certificate.figures["too_close_by_difference"] == close


def test_a_sum_beside_a_count_of_0_is_0(tmp_path):
    """Or it would tell that somebody is there."""
    random = np.random.default_rng(8)
    records = pa.table(
        {
            "area": random.integers(0, 400, 900).astype(str),
            "firm": np.arange(900),
            "turnover": random.integers(1, 5000, 900),
            "key": random.integers(0, 2**32, 900),
        }
    )
    table = tabulated(records)
    firms = dk.perturb(table["count"], COUNTS, name="firms")
    apart = dk.perturb(table["turnover"], PLAIN)
    gone = (firms.published.value == 0) & (apart.published.value > 0)
    assert gone.sum() > 20
    with pytest.raises(InputError, match=r"tells that somebody is there.*counts="):
        dk.write([firms, apart], "nowhere")
    # a table of one area's firms is about the same cells, whatever its filter is called
    codes = table.dimensions[0].hierarchy.codes
    area = codes[int(np.flatnonzero(gone)[0])]
    part = dk.perturb(tabulated(records, where={"area": area})["turnover"], PLAIN, name="part")
    with pytest.raises(InputError, match=r"tells that somebody is there"):
        dk.write([firms, part], "nowhere")
    # nor in a later release
    ledger = dk.Ledger.create(tmp_path / "releases.db", keys=dk.SecretKeys(bytes(range(32))))
    ledger.publish([firms], tmp_path / "one", formats=["csv"])
    for sums in (apart, part):
        with pytest.raises(InputError, match=r"'one/firms'.*tells that somebody is there"):
            ledger.publish([sums], tmp_path / "two", formats=["csv"])
    alike = dk.perturb(table["turnover"], replace(PLAIN, counts=COUNTS))
    ledger.publish([alike], tmp_path / "three", formats=["csv"])
    rule = dk.rules.PPercent(10)
    for options in ({}, {"rule": rule}):
        together = dk.perturb(table["turnover"], replace(PLAIN, counts=COUNTS), **options)
        assert not together.published.value[gone].any()
        same = ~gone
        plain = dk.perturb(table["turnover"], PLAIN, **options)
        assert np.array_equal(together.published.value[same], plain.published.value[same])
    with pytest.raises(ProofError, match=r"are no 0 beside a count of 0"):
        certify_cell_key_sums(
            table["turnover"],
            apart.published,
            PLAIN,
            TABLE.lookup(),
            number=table.units,
            counts=COUNTS.lookup(),
        )
