"""Coarser trees: what is combined, what is dropped, what is refused."""

import pytest

from diskret.errors import HierarchyError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.coarser import combine, cut

TREE = Hierarchy.from_parents(
    {
        "code": ["T", "A", "a1", "a2", "a3", "B", "b1", "b2", "C", "D", "d1"],
        "parent": [None, "T", "A", "A", "A", "T", "B", "B", "T", "T", "D"],
        "label": ["Total", "Part A", "one", "two", "three", "Part B", "", "", "C!", "", ""],
    }
)


def test_leaves_are_combined_in_the_place_of_the_first():
    made = combine(TREE, {"a1+a3": ["a3", " a1"]})
    assert made.hierarchy.codes == ("T", "A", "a1+a3", "a2", "B", "b1", "b2", "C", "D", "d1")
    assert made.hierarchy.parent.tolist() == [-1, 0, 1, 1, 0, 4, 4, 0, 0, 8]
    assert {code: parts.tolist() for code, parts in made.parts.items()} == {2: [2, 4]}


def test_inner_codes_become_one_leaf():
    made = combine(TREE, {"A+C": ["A", "C"], "rest": ["B", "D"]})
    assert made.hierarchy.codes == ("T", "A+C", "rest")
    assert [parts.tolist() for parts in made.parts.values()] == [[1, 8], [5, 9]]


def test_all_codes_of_a_parent_leave_the_parent_alone():
    made = combine(TREE, {"B": ["b1", "b2"], "D": ["d1"]})
    assert made.hierarchy.codes == ("T", "A", "a1", "a2", "a3", "B", "C", "D")
    assert made.parts == {}


def test_a_new_code_may_be_one_of_the_old_ones_but_has_no_label_then():
    made = combine(TREE, {"C": ["B", "C"]})
    assert made.hierarchy.codes == ("T", "A", "a1", "a2", "a3", "C", "D", "d1")
    assert set(made.hierarchy.labels) == {"T", "A", "a1", "a2", "a3"}


@pytest.mark.parametrize(("level", "codes"), [(0, ("T",)), (1, ("T", "A", "B", "C", "D"))])
def test_a_cut_drops_what_lies_lower(level, codes):
    assert cut(TREE, level).hierarchy.codes == codes


@pytest.mark.parametrize("level", [-1, 2, 3])
def test_there_must_be_something_to_cut(level):
    with pytest.raises(HierarchyError, match="from 0 .* to 1"):
        cut(TREE, level)


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ({}, ["each new code once"]),
        ({"x": ["A", "B"], "x ": ["C", "D"]}, ["each new code once"]),
        ({" ": ["A", "B"]}, ["not blank"]),
        ({"x": "AB"}, ["list of codes", "'AB'"]),
        ({"x": ["A", "E"]}, ["1 code", "'E'"]),
        ({"x": []}, ["'x' names no code"]),
        ({"x": ["T", "A"]}, ["the total 'T'"]),
        ({"x": ["a1", "b1"]}, ["2 parents", "'a1' below 'A'", "'b1' below 'B'"]),
        ({"x": ["A", "B"], "y": ["B", "C"]}, ["more than one group (1): 'B'"]),
        ({"x": ["A", "B"], "y": ["a1", "a2"]}, ["'a1' below 'A'", "second step"]),
        ({"x": ["b1", "b2"]}, ["all codes below 'B'", "call the group 'B'"]),
        ({"D": ["A", "B"]}, ["already (1): 'D'"]),
    ],
    ids=str,
)
def test_combine_says_what_is_wrong(groups, said):
    with pytest.raises(HierarchyError) as caught:
        combine(TREE, groups)
    for part in said:
        assert part in str(caught.value)
