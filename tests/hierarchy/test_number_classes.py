"""Trees of numbers in classes of ever larger widths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import DiskretError, Hierarchy
from diskret.hierarchy.number_classes import interval_labels

INFINITE = float("inf")


@given(st.sets(st.integers(-50, 120), min_size=2), st.sampled_from([(5, 10, 20), (3,), (2, 8)]))
def test_every_number_lies_in_the_classes_above_it(numbers, widths):
    tree = Hierarchy.from_widths(numbers, widths)
    assert {tree.codes[i] for i in tree.leaves} == {str(number) for number in numbers}
    for number in numbers:
        above = [tree.codes[i] for i in tree.ancestors[tree.position[str(number)]]][1:]
        bounds = []
        for code in above[: len(widths)]:
            low, high = (
                map(int, code.split(" to ")) if " to " in code else map(int, code.split("-"))
            )
            assert low <= number <= high and low % (high - low + 1) == 0
            bounds.append(high - low + 1)
        assert tuple(bounds) == widths[: len(bounds)]


def test_classes_begin_at_the_origin():
    tree = Hierarchy.from_widths([18, 22, 23], [5], origin=3)
    assert tree.codes == ("Total", "18-22", "18", "22", "23-27", "23")


@pytest.mark.parametrize("widths", [(5, 12), (1,), (10, 5), (5, 5)])
def test_narrow_classes_lie_in_wide_ones(widths):
    with pytest.raises(DiskretError, match="each a multiple of the one before"):
        Hierarchy.from_widths([1, 2], widths)


def test_values_that_are_no_numbers_are_named():
    with pytest.raises(DiskretError, match="1 of 2 values is no whole number \\('a'\\)"):
        Hierarchy.from_widths([1, "a"], [5])


@pytest.mark.parametrize(
    ("breaks", "right", "whole", "labels"),
    [
        ([0, 1, 10, INFINITE], False, True, ["0", "1-9", "≥ 10"]),
        ([-INFINITE, 0, 1, 10], True, True, ["≤ 0", "1", "2-10"]),
        ([-10, -5, 5], False, True, ["-10 to -6", "-5 to 4"]),
        ([0, 5, 10], False, False, ["0 to < 5", "5 to < 10"]),
        ([0, 0.5, 10], True, True, ["> 0 to 0.5", "> 0.5 to 10"]),
        ([-INFINITE, INFINITE], False, True, ["all"]),
        ([10, INFINITE], True, True, ["> 10"]),
    ],
)
def test_classes_are_called_by_their_breaks(breaks, right, whole, labels):
    assert interval_labels(breaks, right, whole) == labels
