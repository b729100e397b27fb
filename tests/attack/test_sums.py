"""Which sums of suppressed cells are judged, and how far alternative tables move them."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import prod
from types import SimpleNamespace

import numpy as np
import pytest
from attack_tables import TREES, hide, publish, rolled_up, tables
from hypothesis import given
from kinds_of_records import ends, publication, random_tables
from scipy import sparse
from scipy.optimize import linprog

from diskret.attack import (
    Attacker,
    Requirements,
    UnsafeSums,
    certify,
    component,
    examine,
    recheck,
    revealed_sums,
    show_sums,
    unmet_sums,
)
from diskret.attack.all_cells import all_cells
from diskret.attack.equations import equations
from diskret.attack.exact import Point
from diskret.attack.examination import Examination
from diskret.attack.sums import LARGEST_LINE, _with_sums, shown
from diskret.attack.witnesses import Witnesses
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


def plainly(published):
    """The same sums by going through all totals one by one, and whether they are known."""
    found, shape = {}, published.shape
    hidden = published.suppressed.ravel()

    def add(cells, exact):
        if len(cells) > 1:
            known = found.get(frozenset(cells), False)
            found[frozenset(cells)] = known or (exact and published.rounding == 1)

    for axis, dimension in enumerate(published.dimensions):
        parent = dimension.hierarchy.parent.tolist()
        for others in np.ndindex(*shape[:axis], *shape[axis + 1 :]):
            at = [(*others[:axis], code, *others[axis:]) for code in range(len(parent))]
            cell = [int(np.ravel_multi_index(place, shape)) for place in at]
            out = [bool(hidden[one]) for one in cell]
            for total in range(len(parent)):
                own = [i for i in range(1, len(parent)) if parent[i] == total and out[i]]
                if len(own) <= LARGEST_LINE:
                    for pair in combinations(own, 2):
                        add([cell[i] for i in pair], False)
                if not out[total]:
                    add([cell[i] for i in own], True)
                    ahead, left = list(own), []
                    while ahead:
                        below = [i for i in range(1, len(parent)) if parent[i] == ahead[0]]
                        left += [] if below else [cell[ahead[0]]]
                        ahead = ahead[1:] + [i for i in below if out[i]]
                    add(left, True)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_sums_are_those_of_all_totals_one_by_one(seed):
    """Of several tables those of each, of cells that no other one shows."""
    draw = np.random.default_rng(seed)
    shown = []
    for vintage in ("now", "then"):
        several = TREES[: 3 + seed % 2]  # the last one has parts that are all of their total
        trees = tuple(several[i] for i in draw.integers(len(several), size=1 + draw.integers(3)))
        value = rolled_up(trees, draw.integers(1, 9, [len(tree.leaves) for tree in trees]))
        table = publish(trees, value, draw.random(value.shape) < draw.choice([0.3, 0.6]))
        shown.append(replace(table, vintage=vintage, rounding=1 if draw.random() < 0.7 else 5))
        assert sets(revealed_sums(shown[-1])) == plainly(shown[-1])
    if TREES[3] not in several:
        first, then = map(plainly, shown)
        start = shown[0].value.size
        both = first | {frozenset(start + i for i in cells): k for cells, k in then.items()}
        assert sets(revealed_sums(Publication(tuple(shown)))) == both


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


def test_how_far_witnesses_move_sums_is_what_their_values_add_up_to():
    """Beside the hidden cells they tell of others; what is beyond int64 shows nothing."""
    draw = np.random.default_rng(5)
    hidden = np.array([True, False, True, True, True])
    cell = np.array([1, 2, 5, 6])
    tables = [Point(draw.integers(-9, 10, 5), unit) for unit in (1, 3, 2, 3, 1)]
    large = Point(np.array([2**62, 0, 2**62, 0, 0]), 1)
    for table, first in zip(tables, (3, 3, 4, 4, 4), strict=True):
        table.numerator[0] = first * table.denominator  # moves by one
    some = draw.integers(0, 2, (12, 8))
    some[0] = cell[0] == np.arange(8)
    member = sparse.csr_array(some)
    value = np.array([[Fraction(int(x), t.denominator) for x in t.numerator[hidden]]
                      for t in tables])  # fmt: skip
    sums = value @ member.toarray()[:, cell].T
    for more in ([], [large]):
        found = Examination.of_witnesses(cell, Witnesses.gathered([*tables, *more], hidden))
        low, high = shown(found, member)
        assert low.tolist() == pytest.approx([float(x) for x in sums.min(axis=0)])
        assert high.tolist() == pytest.approx([float(x) for x in sums.max(axis=0)])
        assert (low >= sums.min(axis=0)).all() and (high <= sums.max(axis=0)).all()
    # each requirement alone: so far down, so far up, and so far apart
    original = np.zeros(8, dtype=np.int64)
    original[cell] = tables[0].numerator[hidden]
    truth = member @ original
    down, up = np.floor(truth - low).astype(int), np.floor(high - truth).astype(int)
    apart = np.floor(high - low).astype(int)
    none = np.zeros(12, dtype=np.int64)
    for needs in ((down, none, none), (none, up, none), (none, none, apart)):
        for more, missed in ((0, False), (1, True)):
            asked = UnsafeSums(member, *(n + more * (n is not none) for n in needs))
            assert np.array_equal(unmet_sums(found, asked, original), (apart < 1) | missed)


@pytest.mark.parametrize("seed", range(6))
def test_sums_are_shown_to_move_as_far_as_programmes_say(seed, monkeypatch):
    if seed % 2:  # nothing but what is asked for is looked for
        monkeypatch.setattr(component, "EXACT_WORK", -1.0)
    draw = np.random.default_rng(seed)
    trees = (TREES[1], TREES[int(draw.integers(3))])
    value = rolled_up(trees, draw.integers(0, 9, [len(tree.leaves) for tree in trees]))
    leaf = np.ix_(*(tree.leaves for tree in trees))
    hidden = np.zeros(value.shape, dtype=bool)
    hidden[leaf] = draw.random(hidden[leaf].shape) < 0.8
    published, truth = publish(trees, value, hidden), value.ravel()
    cells = np.flatnonzero(hidden)
    member = np.zeros((5, value.size), dtype=np.int64)
    for row in member:
        row[draw.choice(cells, 2, replace=False)] = 1
    known = equations(published)
    own = _with_sums(known, sparse.csr_array(member))
    assert np.array_equal(own.matrix @ np.append(truth[known.cell], member @ truth), own.right)
    assert own.hidden.tolist() == own.latent.tolist() == [False] * len(known.cell) + [True] * 5
    # every table: equations between leaves, and what they add up to
    size = prod(len(tree.leaves) for tree in trees)
    adds_up = np.array([rolled_up(trees, one.reshape(hidden[leaf].shape)).ravel()
                        for one in np.eye(size, dtype=np.int64)]).T  # fmt: skip
    seen = ~hidden.ravel()
    ends = [
        [sign * linprog(sign * (row @ adds_up), A_eq=adds_up[seen], b_eq=truth[seen]).fun
         for row in member]
        for sign in (1, -1)
    ]  # fmt: skip
    low, high = np.rint(ends).astype(int)
    plain = examine(published)
    for more in (0, 1):
        asked = UnsafeSums(
            sparse.csr_array(member), member @ truth - low, high - member @ truth + more, high - low
        )
        found = show_sums(published, plain, Attacker(), asked, truth)
        recheck(published, found)
        beyond = (high == low) | bool(more)
        assert np.array_equal(unmet_sums(found, asked, truth), beyond)
    easy = UnsafeSums(sparse.csr_array(member), *(np.zeros((3, 5), dtype=np.int64)))
    if not unmet_sums(found, easy, truth).any():
        assert show_sums(published, found, Attacker(), easy, truth) is found


def test_sums_of_tables_tied_by_cells_that_nobody_published_move_as_far_as_records_allow():
    latent = moved = 0
    for seed in range(40):
        draw = np.random.default_rng(seed)
        counts, tables = random_tables(draw, 2, hide=0.6)
        public = publication(tables, frequency=False)
        value = np.concatenate([table.value for table in tables])
        seen, hidden = all_cells(public), np.flatnonzero(public.suppressed)
        if not seen.complete or not seen.latent or len(hidden) < 2 or latent > 5:
            continue
        latent += 1
        member = np.zeros((3, len(value)), dtype=np.int64)
        for row in member:
            row[draw.choice(hidden, 2, replace=False)] = 1
        low, high = np.array(
            [ends(tables, counts, np.flatnonzero(row), [1, 1]) for row in member]
        ).T
        far = np.minimum(high, 10**6)
        below, above = (
            np.floor(x + 1e-6).astype(int) for x in (member @ value - low, far - member @ value)
        )
        asked = UnsafeSums(sparse.csr_array(member), below, above, below * 0 + 1)
        found = show_sums(public, examine(public), Attacker(), asked, value)
        recheck(public, found)
        assert np.array_equal(unmet_sums(found, asked, value), high - low < 1 - 1e-6)
        more = UnsafeSums(asked.member, below + 1, above, asked.sliding)
        assert unmet_sums(show_sums(public, found, Attacker(), more, value), more, value).all()
        moved += int((high - low >= 1).sum())
    assert latent and moved


def test_no_certificate_without_witnesses_for_sums():
    published, value = square(NINE)
    whom = Attacker(contributor=True)
    plain = examine(published, whom, original=value)
    unsafe = asked(published, [("1", "1"), ("1", "2"), ("1", "3")], 1)
    nobody = SimpleNamespace()  # insiders come later
    with pytest.raises(ProofError, match="1 sum of suppressed cells"):
        certify(published, whom, NONE, plain, value, unsafe=unsafe, insiders=nobody)
    with pytest.raises(ProofError, match="was not judged"):
        certify(published, whom, NONE, plain, value, unsafe=unsafe)
    with pytest.raises(ProofError, match="was not judged"):
        certify(published, whom, NONE, plain, value)
