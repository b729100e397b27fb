"""What tables show is compared with what is required exactly, never rounded to float64."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from attack_tables import CORNERS, meindl, three_way
from hypothesis import example, given
from hypothesis import strategies as st
from profiles import examples
from scipy import sparse

from diskret.attack import Attacker, Targets, UnsafeSums, examine, intervals, recheck, unmet
from diskret.attack.equations import equations
from diskret.attack.exact import LIMIT, Point
from diskret.attack.examination import Examination
from diskret.attack.knowledge import unknown_bounds
from diskret.attack.republished import Alternatives
from diskret.attack.sums import unmet_sums
from diskret.attack.witnesses import Witnesses
from diskret.errors import ContradictionError, VerificationError
from diskret.tables import together

ENDS = st.one_of(
    st.integers(-3, 3).map(float),
    st.sampled_from([0.2, -0.2, 0.5, 2.0**52, 2.0**53, 2.0**60]),
    st.builds(lambda sign, by: sign * (2.0**53 - by), st.sampled_from([1, -1]), st.integers(0, 5)),
    st.sampled_from([np.inf, -np.inf, np.nan, 2.0**62, -(2.0**62), -(2.0**63)]),
)
NEAR = st.integers(-3, 3)


def is_met(low, high, wanted):
    """Whether ends reach what is wanted, in fractions."""
    if not all(abs(end) < LIMIT for end in (low, high)):
        return False
    low, high = Fraction(low), Fraction(high)
    return low <= wanted[0] and high >= wanted[1] and high - low >= wanted[2]


@example(
    [(1.0, 2.0, 0, 0, 0), (0.2, 2.0, 0, 0, -1), (0.2, 2.0, 1, 0, 0), (-(2.0**62), 2.0, 0, 0, 0)]
)
@given(st.lists(st.tuples(ENDS, ENDS, NEAR, NEAR, NEAR), min_size=1, max_size=6))
@examples(100)
def test_ends_reach_targets_exactly(cells):
    low, high = np.array([cell[:2] for cell in cells]).T
    wanted = []
    for least, most, *off in cells:
        known = [int(end) if abs(end) < LIMIT else 0 for end in (least, most)]
        near = (*known, max(known[1] - known[0], 0))
        wanted.append([max(n + by, -(2**62)) for n, by in zip(near, off, strict=True)])
    targets = Targets(*(np.array(side, dtype=np.int64) for side in zip(*wanted, strict=True)))
    expected = [is_met(*pair) for pair in zip(low.tolist(), high.tolist(), wanted, strict=True)]
    assert targets.reached(low, high).tolist() == expected
    some = np.flatnonzero(np.arange(len(cells)) % 2 == 0)
    assert targets.at(some).reached(low[some], high[some]).tolist() == expected[::2]


FAR = np.iinfo(np.int64).max


@pytest.mark.parametrize(
    ("tables", "width"),
    [
        ([Point(np.array([1, 0]), 5), Point(np.array([2**52, 0]), 1)], 2**52),
        ([Point(np.array([4 - 2**53, 0]), 1), Point(np.array([2**53 - 1, 0]), 1)], 2**54 - 4),
    ],
)
def test_a_cell_that_moves_a_little_too_little_is_unmet(tables, width):
    """By a fifth, and by one: float64 has neither difference."""
    shown = [Fraction(int(t.numerator[0]), t.denominator) for t in tables]
    assert 0 < width - (shown[1] - shown[0]) <= 1
    witnesses = Witnesses.gathered(tables, np.array([True, True]))
    found = Examination.of_witnesses(np.array([0, 1]), witnesses)
    for less, missed in ((0, True), (1, False)):
        targets = Targets(np.full(2, FAR), np.full(2, -FAR), np.array([width - less, 0]))
        assert unmet(found, targets).tolist() == [missed, False]
        # a sum with the other cell, that stays where it is
        pair = sparse.csr_array(np.array([[1, 1]]))
        levels = (np.array([-(2**60)]), np.array([-(2**60)]), np.array([width - less]))
        missed_too = unmet_sums(found, UnsafeSums(pair, *levels), np.zeros(2, dtype=np.int64))
        assert missed_too.tolist() == [missed]


# ── bounds ───────────────────────────────────────────────────────────────────────────


def test_published_intervals_and_rounding_are_known_to_the_last_unit():
    size = 2**53
    hidden = replace(
        meindl("11", "12", "21", "22"),
        lower=np.full((4, 4), size + 1),
        upper=np.full((4, 4), size + 3),
    )
    known = equations(hidden)
    lower, upper = unknown_bounds(together(hidden), known, Attacker(), None)
    assert set(lower.tolist()) == {size + 1} and set(upper.tolist()) == {size + 3}
    shown = replace(meindl(), rounding=10)
    rounded = replace(shown, value=shown.value + size)
    lower, upper = unknown_bounds(together(rounded), equations(shown), Attacker(), None)
    assert lower.tolist() == (rounded.value.ravel() - 5).tolist()
    assert upper.tolist() == (rounded.value.ravel() + 5).tolist()


def test_a_bound_beyond_all_numbers_is_none_that_can_be_met():
    def far(published):
        return np.where(published.suppressed, 1e30, np.nan)

    with pytest.raises(ContradictionError, match="4 cells are involved"):
        intervals(meindl(*CORNERS), Attacker(lower=far))
    assert intervals(meindl(*CORNERS), Attacker(upper=far)) == intervals(meindl(*CORNERS))


# ── witnesses ────────────────────────────────────────────────────────────────────────


def test_a_table_that_changes_a_value_twice_is_no_witness():
    """One change would be checked and the other one claimed."""
    published = three_way(1, frequency=False)
    found = examine(published)
    step = found.witnesses.step
    twice = sparse.csr_array(
        (
            np.insert(step.data, 0, 10**6),
            np.insert(step.indices, 0, step.indices[0]),
            np.where(step.indptr > 0, step.indptr + 1, 0),
        ),
        shape=step.shape,
    )
    forged = replace(found.witnesses, step=twice)
    assert forged.problem() == "a table changes a value twice"
    with pytest.raises(VerificationError, match="changes a value twice"):
        recheck(published, Examination.of_witnesses(found.cell, forged))
    ends = step.nnz - step.indptr[::-1]
    turned = sparse.csr_array((step.data[::-1], step.indices[::-1], ends), shape=step.shape)
    assert not replace(found.witnesses, step=turned).problem()  # in another order, each once


def test_without_tables_nothing_is_left_of_their_starts():
    one = Witnesses.gathered([Point(np.array([5, 8]), 1)], np.array([True, True]))
    none = replace(one, of=one.of[:0], step=one.step[:0], denominator=one.denominator[:0])
    assert not none.problem() and not none.with_points([]).problem()
    assert none.with_points([]).start.shape == (0, 2)


# ── means of tables ──────────────────────────────────────────────────────────────────


@given(
    st.lists(
        st.tuples(
            st.sampled_from([-(10**13), -1, 1, 3, 10**13]),
            st.sampled_from([-(10**13), -10, 0, 2, 10**13]),
            st.sampled_from([1, 1, 3]),
        ),
        min_size=2,
        max_size=4,
    )
)
@example([(10**13, 10**13, 1), (-1, 0, 1)])
@examples(100)
def test_means_of_tables_claim_no_more_than_there_is(moves):
    """A mean in which the first cell stays takes the second one no farther than said."""
    known = Alternatives(np.array([0, 0]), whole=False)
    for first, second, unit in moves:
        known.add(Point(np.array([first, second]), unit))
    steps = [(Fraction(first, unit), Fraction(second, unit)) for first, second, unit in moves]
    means = [Fraction(0)]
    for up, one in steps:
        for down, other in steps:
            if up > 0 > down:
                means.append((one * -down + other * up) / (up - down))
    low, high = known.mixed(0, np.array([1]))
    assert (low[0], high[0]) == (0, 0)
    for said, there in ((low[1], min(means)), (high[1], max(means))):
        assert 0 <= abs(Fraction(said)) <= abs(there)
        assert abs(Fraction(said) - there) <= abs(there) / 10**12
