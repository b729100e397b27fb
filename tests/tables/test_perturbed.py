"""Perturbed values stand for intervals: all true values that can be published as them."""

import numpy as np
import pytest

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.tables import NO_BOUND, Dimension, Perturbed, Published
from diskret.tables.perturbed import stands_for

LARGEST = 40


def published(values, frequency=True, nonnegative=True, empty=None, decimals=0):
    value = np.array(values)
    no = np.zeros(value.shape, dtype=bool)
    tree = Hierarchy.flat([str(i) for i in range(len(values) - 1)])
    return Published(
        name="t",
        dimensions=(Dimension("x", tree),),
        measure="count" if frequency else "sales",
        frequency=frequency,
        decimals=decimals,
        value=value,
        suppressed=no,
        empty=no if empty is None else np.array(empty),
        nonnegative=nonnegative,
    )


def nearest(true, base):
    return (2 * true + base) // (2 * base) * base


# what a true count may be published as
MAY_BECOME = {
    Perturbed("deterministic", base=5): lambda true: {nearest(true, 5)},
    Perturbed("deterministic", base=10): lambda true: {nearest(true, 10)},
    Perturbed("random", base=3): lambda true: {true // 3 * 3, -(-true // 3) * 3},
    Perturbed("controlled", base=3, steps=1): lambda true: {
        r for r in range(0, true + 9, 3) if abs(r - true) < 6
    },
    Perturbed("noise", largest=2): lambda true: (
        {r for r in range(true - 2, true + 3) if r >= 0} if true else {0}
    ),
}


@pytest.mark.parametrize("how", MAY_BECOME, ids=repr)
def test_an_interval_holds_exactly_the_possible_values(how):
    """By trying all: deterministic rounding takes ties up, as definitions of the field say."""
    base = int(how.base or 1)
    shown = list(range(0, 31, base))
    found = stands_for(published(shown), how)
    assert found.suppressed.all() and not found.value.any()
    for low, high, value in zip(found.lower.tolist(), found.upper.tolist(), shown, strict=True):
        possible = [true for true in range(LARGEST) if value in MAY_BECOME[how](true)]
        assert (low, high) == (min(possible), max(possible))


def test_magnitudes_may_be_negative_where_the_world_knows_no_better():
    found = stands_for(
        published([0, 1000], frequency=False, nonnegative=False), Perturbed("random", base=1000)
    )
    assert found.lower.tolist() == [-999, 1]
    assert found.upper.tolist() == [999, 1999]


def test_the_base_is_in_the_measures_own_unit():
    table = published([100, 250], frequency=False, decimals=2)
    found = stands_for(table, Perturbed("deterministic", base=0.5))
    assert found.lower.tolist() == [75, 225]
    assert found.upper.tolist() == [124, 274]


def test_cells_shown_as_empty_are_known_to_be_empty():
    found = stands_for(published([5, 0], empty=[False, True]), Perturbed("random", base=5))
    assert (found.lower[1], found.upper[1]) == (0, 0)


def test_values_that_are_no_multiples_are_refused():
    with pytest.raises(InputError, match=r"1 value of 'count' is no multiple of 5, e.g. 7"):
        stands_for(published([5, 7]), Perturbed("random", base=5))


def test_noise_without_a_bound_gives_no_guarantee():
    with pytest.raises(InputError, match="nothing can be guaranteed"):
        Perturbed("noise")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"method": "random"}, "needs base="),
        ({"method": "random", "base": 5, "steps": 1}, "controlled rounding only"),
        ({"method": "controlled", "base": 5, "steps": -1}, "from 0 upwards"),
        ({"method": "swapped"}, "method= is one of"),
    ],
)
def test_impossible_figures_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        Perturbed(**given)


def test_small_counts_leave_large_leaves_and_totals_to_the_equations():
    shown = np.array([14, 0, 3, 11])
    none = shown < 0
    tree = Hierarchy.flat(["a", "b", "c"])
    table = Published("t", (Dimension("x", tree),), "count", True, 0, shown, none, none)
    found = stands_for(table, Perturbed("small_counts", base=3))
    assert found.lower.tolist() == [0, 0, 1, 11]
    assert found.upper.tolist() == [NO_BOUND, 2, 3, 11]


def test_small_counts_that_are_left_are_refused():
    shown = np.array([12, 1, 11])
    none = shown < 0
    dimension = Dimension("x", Hierarchy.flat(["a", "b"]))
    table = Published("t", (dimension,), "count", True, 0, shown, none, none)
    with pytest.raises(InputError, match="1 value of 'count' lies between 0 and 3, e.g. 1"):
        stands_for(table, Perturbed("small_counts", base=3))
