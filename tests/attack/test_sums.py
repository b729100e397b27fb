"""Which sums of suppressed cells are judged, and how far alternative tables move them."""

from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from attack_tables import TREES, hide, publish, rolled_up, tables
from hypothesis import given
from scipy import sparse

from diskret.attack import (
    Attacker,
    Requirements,
    UnsafeSums,
    certify,
    examine,
    recheck,
    revealed_sums,
    show_sums,
    unmet_sums,
)
from diskret.attack.sums import LARGEST_LINE
from diskret.errors import ProofError
from diskret.hierarchy import Hierarchy
from diskret.tables import Publication

DEEP = TREES[2]  # T with a (a1, a2) and b
NONE = Requirements(*(np.empty(0, dtype=np.int64) for _ in range(4)))


def sets(sums):
    rows = np.split(sums.member.indices, sums.member.indptr[1:-1])[: len(sums)]
    return {frozenset(row.tolist()): bool(k) for row, k in zip(rows, sums.known, strict=True)}


def named(tree, published):
    """Sums of a table of one variable, by codes."""
    return {
        frozenset(tree.codes[i] for i in cells): known
        for cells, known in sets(revealed_sums(published)).items()
    }


def one_variable(tree, *hidden, **options):
    value = rolled_up((tree,), np.arange(1, len(tree.leaves) + 1))
    return publish((tree,), value, hide((tree,), *([code] for code in hidden)), **options)


def test_the_remainder_of_a_total_is_known_exactly():
    found = named(TREES[1], one_variable(TREES[1], "a", "b", "c"))
    assert found == {
        frozenset("abc"): True,
        **{frozenset(pair): False for pair in combinations("abc", 2)},
    }


def test_a_pair_that_is_a_remainder_counts_as_known():
    assert named(TREES[1], one_variable(TREES[1], "a", "c")) == {frozenset("ac"): True}


def test_differences_go_down_to_what_is_left_of_a_total():
    # T − a1 = a2 + b, though a is suppressed
    found = named(DEEP, one_variable(DEEP, "a", "a2", "b"))
    assert found == {frozenset({"a", "b"}): True, frozenset({"a2", "b"}): True}


def test_a_suppressed_total_reveals_no_remainder_but_pairs_of_its_parts():
    total = TREES[1].codes[0]
    found = named(TREES[1], one_variable(TREES[1], total, "a", "b"))
    assert found == {frozenset("ab"): False}


def test_pairs_are_judged_in_short_lines_only():
    for parts, pairs in ((LARGEST_LINE, LARGEST_LINE * (LARGEST_LINE - 1) // 2),
                         (LARGEST_LINE + 1, 0)):  # fmt: skip
        tree = Hierarchy.flat([f"c{i}" for i in range(parts)])
        found = named(tree, one_variable(tree, *tree.codes[1:]))
        assert sorted(map(len, found)) == [2] * pairs + [parts]


def test_a_rounded_remainder_is_not_known_exactly():
    from dataclasses import replace

    rounded = replace(one_variable(TREES[1], "a", "b", "c"), rounding=10)
    assert set(named(TREES[1], rounded).values()) == {False}


@given(tables(dimensions=(1, 3)))
def test_known_sums_are_known_and_no_two_sums_are_the_same(drawn):
    published, value = drawn
    sums = revealed_sums(published)
    assert len(sets(sums)) == len(sums)
    assert np.all(np.diff(sums.member.indptr) > 1)
    assert published.suppressed.ravel()[sums.member.indices].all()
    if len(sums) and sums.known.any():
        open_ = UnsafeSums(sums.member, *(np.ones((3, len(sums)), dtype=np.int64)))
        found = examine(published, Attacker(), original=value.ravel())
        found = show_sums(published, found, Attacker(), open_, value.ravel())
        assert unmet_sums(found, open_, value.ravel())[sums.known].all()


def test_sums_of_several_tables_are_those_of_each():
    first, second = one_variable(TREES[1], "a", "b"), one_variable(DEEP, "a1", "a2")
    start = len(TREES[1])
    a1, a2 = (start + DEEP.position[code] for code in ("a1", "a2"))
    other = replace(second, vintage="other")
    found = sets(revealed_sums(Publication((first, other))))
    assert set(found) == {frozenset({1, 2}), frozenset({a1, a2})}
    # a and b of the same vintage are shown by the second table
    assert set(sets(revealed_sums(Publication((first, second))))) == {frozenset({a1, a2})}


# ── what alternative tables show ────────────────────────────────────────────────────


def square(hidden):
    flat = Hierarchy.flat(["1", "2", "3"])
    value = rolled_up((flat, flat), np.array([[4, 1, 1], [1, 3, 6], [2, 5, 3]]))
    return publish((flat, flat), value, hide((flat, flat), *hidden), frequency=True), value.ravel()


NINE = [(a, b) for a in "123" for b in "123"]


def asked(published, cells, level):
    flat = published.dimensions[0].hierarchy
    member = np.zeros((1, published.value.size), dtype=np.int64)
    for a, b in cells:
        member[0, flat.position[a] * len(flat) + flat.position[b]] = 1
    levels = np.array([level])
    return UnsafeSums(sparse.csr_array(member), levels, levels, levels)


def test_witnesses_for_sums_are_witnesses():
    published, value = square(NINE)
    plain = examine(published, Attacker(), original=value)
    unsafe = asked(published, [("1", "1"), ("2", "3")], 6)
    assert unmet_sums(plain, unsafe, value).all()
    found = show_sums(published, plain, Attacker(), unsafe, value)
    assert not unmet_sums(found, unsafe, value).any()
    recheck(published, found)
    assert np.array_equal(found.lower, plain.lower) and np.array_equal(found.upper, plain.upper)


def test_a_sum_that_everybody_knows_is_never_shown_to_move():
    published, value = square(NINE)
    unsafe = asked(published, [("1", "1"), ("1", "2"), ("1", "3")], 1)
    plain = examine(published, Attacker(), original=value)
    found = show_sums(published, plain, Attacker(), unsafe, value)
    assert unmet_sums(found, unsafe, value).all()


def test_no_certificate_without_witnesses_for_sums():
    published, value = square(NINE)
    whom = Attacker(contributor=True)
    plain = examine(published, whom, original=value)
    unsafe = asked(published, [("1", "1"), ("1", "2"), ("1", "3")], 1)
    nobody = SimpleNamespace()  # insiders come later
    with pytest.raises(ProofError, match="1 sums of suppressed cells"):
        certify(published, whom, NONE, plain, value, unsafe=unsafe, insiders=nobody)
    with pytest.raises(ProofError, match="was not judged"):
        certify(published, whom, NONE, plain, value, unsafe=unsafe)
    with pytest.raises(ProofError, match="was not judged"):
        certify(published, whom, NONE, plain, value)
