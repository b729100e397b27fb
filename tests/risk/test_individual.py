"""Individual risk against exact arithmetic, closed forms and the definition."""

from decimal import Decimal, localcontext
from math import prod

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import nbinom

from diskret import DiskretError
from diskret.io import coded
from diskret.risk import household_risk, individual_risk, individual_threshold, person_thresholds
from diskret.risk.individual import expected_inverse

P = [1e-300, 1e-12, 1e-6, 0.001, 0.1, 0.3, 0.4999999, 0.5, 0.51, 0.7, 0.99, 1 - 1e-12, 1.0]
F = [1, 2, 3, 5, 10, 31, 32, 33, 200, 1000, 5000]


def one(f, p):
    return float(expected_inverse(np.array([float(f)]), np.array([float(p)]))[0])


def exactly(f, p):
    """The recurrence from ln(1/p) in so many digits that nothing is lost."""
    if p == 1:
        return 1 / f
    with localcontext() as context:
        context.prec = 60 + int(f * max(0, np.log10(p / (1 - p))))
        odds = Decimal(p) / (1 - Decimal(p))
        risk = odds * -Decimal(p).ln()
        for k in range(1, f):
            risk = odds * (1 / Decimal(k) - risk)
        return float(risk)


@pytest.mark.parametrize(
    ("f", "p"),
    # near 1 the recurrence loses 12 digits a step, which is too many for thousands of steps
    [(f, p) for f in F for p in P if f <= 33 or p <= 0.7 or p == 1],
)
def test_risk_is_exact_to_the_last_digits(f, p):
    assert one(f, p) == pytest.approx(exactly(f, p), rel=2e-14)


@pytest.mark.parametrize("p", [0.0003, 0.02, 0.4, 0.6, 0.95])
def test_one_and_two_have_the_closed_forms_of_the_literature(p):
    odds, log = p / (1 - p), np.log(1 / p)
    assert one(1, p) == pytest.approx(odds * log, rel=1e-13)
    assert one(2, p) == pytest.approx(odds - odds**2 * log, rel=1e-11)


@pytest.mark.parametrize(("f", "p"), [(1, 0.2), (2, 0.05), (3, 3 / 563), (7, 0.5), (40, 0.3)])
def test_risk_is_the_mean_of_one_over_the_population_frequency(f, p):
    more = np.arange(60_000)
    mean = (nbinom.pmf(more, f, p) / (f + more)).sum()
    assert one(f, p) == pytest.approx(mean, rel=1e-9)


@given(st.floats(1, 60), st.floats(0.01, 0.999))
def test_fractions_give_the_integral(f, p):
    integral = quad(lambda u: p * u ** (f - 1) / (p + (1 - p) * u), 0, 1, epsabs=0, limit=200)[0]
    assert one(f, p) == pytest.approx(integral, rel=1e-7)


@given(st.floats(1, 5000), st.floats(1e-12, 1 - 1e-9))
def test_neighbours_are_tied_by_the_recurrence_in_every_branch(f, p):
    odds = p / (1 - p)
    assert (one(f + 1, p) / odds) + one(f, p) == pytest.approx(1 / f, rel=1e-12)


@given(st.floats(1, 5000), st.floats(1e-12, 1))
def test_risk_lies_between_its_bounds_and_falls(f, p):
    """1/F is convex, so the mean is at least p/f (Jensen); F ≥ f, so it is at most 1/f."""
    risk = one(f, p)
    assert p / f * (1 - 1e-12) <= risk <= 1 / f * (1 + 1e-12)
    assert one(f * 1.01, p) < risk
    assert one(f, p * 0.99) < risk


def test_exact_limits():
    assert one(1, 1) == 1
    assert one(3, 1) == 1 / 3
    # the approximation p / (f - (1 - p)) is too large
    assert one(3, 3 / 563) == pytest.approx(0.0026507, abs=5e-8)
    assert one(5, 5 / 60) == pytest.approx(0.020295, abs=5e-7)


def test_each_record_gets_the_risk_of_its_own_pair():
    rng = np.random.default_rng(3)
    f = rng.integers(1, 4, 500).astype(float)
    total = f * rng.integers(1, 5, 500)
    found = individual_risk(f, total)
    for i in range(0, 500, 25):
        assert found[i] == one(f[i], f[i] / total[i])


def test_no_weights_mean_one_over_f():
    f = np.array([1.0, 2.0, 3.0, 1.5, 400.0])
    for compat in (None, "lecture", "sdcmicro"):
        assert individual_risk(f, f, compat).tolist() == (1 / f).tolist()


def test_the_approximation_of_the_package_only_from_three_on():
    f, total = np.array([1.0, 1.5, 2.0, 3.0]), np.array([10.0, 15.0, 20.0, 30.0])
    exact, package = individual_risk(f, total), individual_risk(f, total, "sdcmicro")
    assert package[:3].tolist() == exact[:3].tolist()
    assert package[3] == pytest.approx(0.1 / (3 - 0.9)) and package[3] > exact[3]


def test_the_shift_of_the_lecture_spares_tiny_ratios():
    f, total = np.array([1.0, 3.0]), np.array([1e6, 3e5])
    assert individual_risk(f, total, "lecture").tolist() == pytest.approx(
        individual_risk(f, total, "sdcmicro").tolist()
    )


@pytest.mark.parametrize(
    ("f", "total", "compat", "message"),
    [
        ([1, 0.5], [1, 1], None, "1 record has impossible frequencies .*record 2: 0.5 in"),
        ([1, 1], [0, 1], None, "record 1: 1 in the sample, 0 in the population"),
        ([1, 1], [1, float("nan")], None, "record 2"),
        ([1], [2], "argus", "compat= must be 'lecture' or 'sdcmicro', not 'argus'"),
    ],
)
def test_frequencies_are_checked(f, total, compat, message):
    with pytest.raises(DiskretError, match=message):
        individual_risk(np.array(f, float), np.array(total, float), compat)


RISKS = st.one_of(st.sampled_from([0.0, 1.0, 1e-15]), st.floats(0, 1))


def of(ids):
    return coded(pa.chunked_array([ids]), "flat")


@given(st.lists(st.tuples(st.sampled_from(["b", "a", "10", None]), RISKS), min_size=1, max_size=12))
def test_household_risk_is_the_product_over_members(members):
    ids, risks = zip(*members, strict=True)
    found = household_risk(np.array(risks), of(pa.array(ids, pa.string())))
    for i, (own, risk) in enumerate(members):
        joint = 1 - prod(1 - r for h, r in members if h == own) if own is not None else risk
        assert found.records[i] == pytest.approx(joint, abs=1e-12)
    assert found.expected_persons == pytest.approx(found.records.sum())
    assert found.size.sum() == len(members) and len(found.size) == len(found.risk)
    assert len(found.size) == len(set(ids) - {None}) + ids.count(None)


def test_a_member_who_is_recognised_for_certain_makes_it_exactly_one():
    found = household_risk(np.array([0.3, 1.0, 0.3]), of([1, 1, 2]))
    assert found.records.tolist()[:2] == [1.0, 1.0]


def test_tiny_risks_of_many_members_add_up():
    found = household_risk(np.full(100_000, 1e-12), of(np.zeros(100_000, np.int64)))
    assert found.risk[0] == pytest.approx(-np.expm1(-1e-7), rel=1e-9)


def test_unused_categories_are_no_households():
    kept = of(["a", "b", "c"]).without(np.array([False, True, False]))
    found = household_risk(np.array([0.1, 0.2, 0.3]), kept)
    assert found.records.tolist() == pytest.approx([0.1, 0.2, 0.3])
    assert found.size.tolist() == [1, 1, 1]


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=20), st.floats(1e-4, 1))
def test_threshold_is_the_largest_that_keeps_the_target(risks, target):
    risk = np.array(risks)
    found = individual_threshold(risk, target)
    assert 0 < found <= 1
    assert np.minimum(risk, found).mean() <= target * (1 + 1e-12)
    if found < 1:
        assert np.minimum(risk, found * 1.001).mean() > target
    else:
        assert risk.mean() <= target


@given(st.lists(st.integers(0, 4), min_size=1, max_size=20), st.floats(1e-4, 1))
def test_households_of_persons_at_their_threshold_keep_the_target(households, target):
    _, of, size = np.unique(households, return_inverse=True, return_counts=True)
    allowed = person_thresholds(target, of, size)
    safe = np.ones(len(size))
    np.multiply.at(safe, of, 1 - allowed)
    assert (1 - safe <= target * (1 + 1e-12)).all()
    assert np.bincount(of, weights=allowed).tolist() == pytest.approx([target] * len(size))


@pytest.mark.parametrize("target", [0, -0.1, 1.5, float("nan")])
def test_targets_are_shares(target):
    with pytest.raises(DiskretError, match="global_risk= must be a number above 0 and at most 1"):
        individual_threshold(np.array([0.1]), target)
    with pytest.raises(DiskretError, match="household_risk= must be a number above 0"):
        person_thresholds(target, np.array([0]), np.array([1]))
