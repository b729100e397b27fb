"""The search for sets that cells single out, read as Python: against every set there is.

Compiled loops are neither followed by coverage nor changed by faults, so they are run as they are
written; that the compiled ones say the same is seen by the tests of `diskret.outputs`.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from profiles import scaled
from scipy import sparse

from diskret.attack import singled_out, singled_out_kernels
from diskret.attack.row_space import RowSpace, factors
from diskret.attack.singled_out import Limit, Members, fewest_units, unsafe_sum

LIMITS = Limit(1, 0.1, 0.0), Limit(0, 1.0, 1.0), Limit(1, 1 / 9, 1.0), Limit(2, 0.3, 1.0)


@pytest.fixture(autouse=True)
def as_written(monkeypatch):
    for name, one in vars(singled_out_kernels).copy().items():
        if hasattr(one, "py_func"):
            monkeypatch.setattr(singled_out_kernels, name, one.py_func)


def cells_of(draw, atoms):
    rows = draw.random((int(draw.integers(2, atoms)), atoms)) < 0.5
    rows = np.unique(rows[rows.any(axis=1)].astype(np.int64), axis=0)
    return rows if len(rows) else np.ones((1, atoms), np.int64)


def combinations_of(cells, most, signed):
    """All vectors of small whole numbers, not 0, that are combinations of cells, in fractions."""
    basis = reduced(cells)
    every = np.array([*product(range(-most if signed else 0, most + 1), repeat=cells.shape[1])])
    every = every[every.any(axis=1)]
    made = sum(
        (np.outer(every[:, at] * 1, [int(x * 720) for x in row]) for row, at in basis),
        np.zeros_like(every),
    )
    return every[(made == 720 * every).all(axis=1)]


def reduced(cells):
    """Reduced rows in fractions, with their pivots."""
    rows, found = [[Fraction(int(x)) for x in row] for row in cells], []
    for row in rows:
        for other, at in found:
            row = [x - row[at] * y for x, y in zip(row, other, strict=True)]
        at = next((i for i, x in enumerate(row) if x), None)
        if at is not None:
            row = [x / row[at] for x in row]
            found = [([x - other[at] * y for x, y in zip(other, row, strict=True)], p)
                     for other, p in found] + [(row, at)]  # fmt: skip
    return found


def members_of(draw, atoms, cancelling):
    records = 3 * atoms
    atom = draw.integers(0, atoms, records)
    atom[:atoms] = range(atoms)
    unit = draw.integers(0, 2 * atoms, records) if draw.random() < 0.5 else np.arange(records)
    values = draw.lognormal(1, 1.5, records) * 10.0 ** draw.integers(-3, 4)
    if cancelling:
        values *= draw.choice([1, -1], records)
    return Members.made(atom, atoms, unit, values)


def spaces(cells, draw):
    """All cells; those that are judged already, in two parts, perhaps none of them."""
    old = draw.random(len(cells)) < 0.4
    masks = [old, ~old] if draw.random() < 0.5 else [old & False] * 2
    known = tuple(
        RowSpace.of(sparse.csr_array(cells[mask])) if mask.any()
        else RowSpace.nothing(cells.shape[1]) for mask in masks
    )  # fmt: skip
    return RowSpace.of(sparse.csr_array(cells)), known, [mask for mask in masks if mask.any()]


def new_ones(cells, masks, most, signed):
    """What is singled out and neither follows from what is judged nor holds what does."""
    every = combinations_of(cells, most, signed)
    known = [one for mask in masks for one in combinations_of(cells[mask], most, signed)]
    return [v for v in every if not any((v[k != 0] == k[k != 0]).all() for k in known)]


def units_in(members, vector):
    return len(np.unique(members.unit[vector[members.atoms] != 0]))


def values_in(members, vector):
    """What each unit has in the atoms that are added, and in those that are taken away."""
    times = vector[members.atoms]
    return {
        unit: sum(
            abs(float((times * members.amount)[(members.unit == unit) & (times * way > 0)].sum()))
            for way in (1, -1)
        )
        for unit in np.unique(members.unit[times != 0]).tolist()
    }


def is_unsafe(members, vector, limit, largest=None):
    """The rule itself; with `largest` only if this unit is the largest."""
    values = values_in(members, vector)
    own, *others = sorted(values, key=values.__getitem__, reverse=True)
    top = sum(values[one] for one in others[: limit.others])
    rest = sum(values[one] for one in others[limit.others :])
    close = rest < limit.share * (values[own] + limit.together * top)
    return close and largest in (None, own)


@pytest.mark.parametrize("signed", [False, True])
def test_the_fewest_units_that_cells_single_out(signed):
    found_some = several = 0
    for seed in range(scaled(500)):
        draw = np.random.default_rng(seed)
        atoms = int(draw.integers(3, 6))
        cells, members = cells_of(draw, atoms), members_of(draw, atoms, False)
        space, known, masks = spaces(cells, draw)
        threshold = int(draw.integers(2, 9))
        every = new_ones(cells, masks, 1, signed)
        for start in (None, *range(atoms)):
            wanted = [v for v in every if start is None or v[start]]
            fewest = min([units_in(members, v) for v in wanted], default=99)
            found = fewest_units(space, known, members, threshold, signed, start)
            assert not found.unresolved
            if fewest >= threshold:
                assert found.atoms is None, seed
                continue
            assert found.units == fewest == units_in(members, found.atoms), seed
            assert space.holds(found.atoms) and (start is None or found.atoms[start])
            assert any((found.atoms == v).all() or (found.atoms == -v).all() for v in every)
            found_some += 1
            several += (found.atoms != 0).sum() > 1
    assert found_some and several


def test_values_that_are_known_too_well():
    unsafe = safe = 0
    for seed in range(scaled(500)):
        draw = np.random.default_rng(seed)
        atoms = int(draw.integers(3, 6))
        cells, members = cells_of(draw, atoms), members_of(draw, atoms, seed % 3 == 2)
        space, known, masks = spaces(cells, draw)
        limit = LIMITS[seed % len(LIMITS)]
        every = new_ones(cells, masks, 1, True)
        bad = [v for v in every if is_unsafe(members, v, limit)]
        found = unsafe_sum(space, known, members, limit)
        assert (found.atoms is not None) == bool(bad), seed
        if found.atoms is not None:
            assert is_unsafe(members, found.atoms, limit) and space.holds(found.atoms)
            assert found.units == units_in(members, found.atoms)
        unsafe += bool(bad)
        safe += not bad
    assert unsafe and safe


def test_a_value_of_one_unit_that_is_known_too_well():
    found_some = 0
    for seed in range(scaled(200)):
        draw = np.random.default_rng(seed)
        atoms = int(draw.integers(3, 5))
        cells, members = cells_of(draw, atoms), members_of(draw, atoms, False)
        space, known, masks = spaces(cells, draw)
        limit = LIMITS[seed % len(LIMITS)]
        every = new_ones(cells, masks, 1, True)
        # of those that consist of others, one of these is unsafe, or none
        whole = [v for v in every if sum((v[w != 0] == w[w != 0]).all() for w in every) == 1]
        for unit, atom in zip(members.unit.tolist(), members.atoms.tolist(), strict=True):
            bad = [v for v in whole if v[atom] and is_unsafe(members, v, limit, unit)]
            found = unsafe_sum(space, known, members, limit, only=(unit, atom))
            if found.atoms is None:
                assert not bad, (seed, unit, atom)
                continue
            assert found.atoms[atom] and space.holds(found.atoms)
            assert is_unsafe(members, found.atoms, limit)  # if not by this unit, by a larger one
            found_some += 1
    assert found_some


@pytest.mark.parametrize("signed", [False, True])
def test_atoms_that_are_taken_twice(signed):
    """Where nothing is singled out by taking atoms once, what follows by taking them twice."""
    twice = 0
    for seed in (*range(scaled(100)), 423, 489, 527):
        draw = np.random.default_rng(seed)
        atoms = int(draw.integers(3, 7))
        cells = cells_of(draw, atoms)
        sizes = draw.integers(1, 5, atoms)
        members = Members.made(np.repeat(range(atoms), sizes), atoms, np.arange(sizes.sum()))
        nothing = RowSpace.nothing(atoms)
        space = RowSpace.of(sparse.csr_array(cells))
        found = fewest_units(space, (nothing, nothing), members, 5, signed, most=2)
        every = combinations_of(cells, 2, signed)
        once = np.abs(every).max(axis=1, initial=0) == 1
        units = (every != 0) @ sizes
        best = [int(units[which].min(initial=99)) for which in (once, ~once)]
        wanted = best[0] if best[0] < 5 else best[1]
        assert (found.units if found.atoms is not None else 99) == (wanted if wanted < 5 else 99)
        twice += best[0] >= 5 > best[1]
    assert twice


def test_values_of_atoms_that_are_taken_twice():
    twice = 0
    for seed in (*range(scaled(100)), 904):
        draw = np.random.default_rng(seed)
        atoms = int(draw.integers(4, 7))
        cells = cells_of(draw, atoms)
        members = Members.made(
            np.arange(atoms), atoms, np.arange(atoms), draw.lognormal(0, 1.5, atoms)
        )
        nothing, limit = RowSpace.nothing(atoms), Limit(0, 1.0, 1.0)
        space = RowSpace.of(sparse.csr_array(cells))
        found = unsafe_sum(space, (nothing, nothing), members, limit, most=2)
        every = combinations_of(cells, 2, True)
        bad = np.array([is_unsafe(members, v, limit) for v in every], bool)
        assert (found.atoms is not None) == bool(bad.any())
        once = np.abs(every).max(axis=1, initial=0) == 1
        twice += bad.any() and not bad[once].any()
    assert twice


def test_many_small_ones_beside_a_large_one():
    """100 and ten of 0.8 each, told as one sum: nine of the ten are less than a tenth of 100."""
    atom = np.repeat([0, 1, 2], [1, 10, 1])
    values = np.repeat([100.0, 0.8, 1000], [1, 10, 1])
    members = Members.made(atom, 3, np.arange(12), values)
    space, nothing = RowSpace.of(sparse.csr_array(np.array([[1, 1, 0]]))), RowSpace.nothing(3)
    for share, unsafe in ((0.1, True), (0.0721, True), (0.0719, False)):
        found = unsafe_sum(space, (nothing, nothing), members, Limit(1, share, 0.0))
        assert (found.atoms is not None) == unsafe


def test_each_unit_may_be_the_largest_whatever_was_tried_of_others():
    """1 and 100 are told together: 1 alone hides the sum from nobody, and it is tried first."""
    members = Members.made(np.arange(3), 3, np.arange(3), np.array([1.0, 100, 1000]))
    space, nothing = RowSpace.of(sparse.csr_array(np.array([[1, 1, 0]]))), RowSpace.nothing(3)
    found = unsafe_sum(space, (nothing, nothing), members, Limit(1, 0.1, 0.0))
    assert found.atoms is not None and found.atoms.tolist() in ([1, 1, 0], [-1, -1, 0])


def test_a_search_that_takes_too_many_steps_says_so(monkeypatch):
    cells = np.array([[1, 1, 0, 1], [0, 1, 1, 1]])
    members = Members.made(np.arange(4), 4, np.arange(4))
    space, nothing = RowSpace.of(sparse.csr_array(cells)), RowSpace.nothing(4)
    known = nothing, nothing
    plain = fewest_units(space, known, members, 3, True)
    assert plain.units == 2 and not plain.unresolved
    monkeypatch.setattr(singled_out, "_NODES", 3)
    cut = fewest_units(space, known, members, 3, True)
    assert cut.unresolved and cut.atoms is None
    # whether there are sets of atoms taken twice is then not said
    monkeypatch.undo()
    assert fewest_units(space, known, members, 1, True, most=2).atoms is None
    # nor can there be one without an atom of so few units
    assert not fewest_units(space, known, members, 1, True).unresolved


def test_a_set_of_too_many_atoms_is_left_open():
    """A chain: each atom asks for the next one, and the search does not go as deep."""
    atoms = 80
    cells = sparse.csr_array(np.ones((1, atoms), np.int64))
    members = Members.made(np.arange(atoms), atoms, np.zeros(atoms, np.int64))
    nothing = RowSpace.nothing(atoms)
    space = RowSpace.of(cells)
    assert fewest_units(space, (nothing, nothing), members, 2, False).unresolved
    small = sparse.csr_array(np.ones((1, 60), np.int64))
    members = Members.made(np.arange(60), 60, np.zeros(60, np.int64))
    nothing = RowSpace.nothing(60)
    found = fewest_units(RowSpace.of(small), (nothing, nothing), members, 2, False)
    assert found.units == 1 and found.atoms.all()


# ── combinations of cells ─────────────────────────────────────────────────────────────


def test_combinations_of_cells_are_those_of_fractions():
    scales = set()
    for seed in range(scaled(600)):
        draw = np.random.default_rng(seed)
        cells = cells_of(draw, int(draw.integers(3, 7))) * draw.integers(1, 3)
        space = RowSpace.of(sparse.csr_array(cells))
        basis = reduced(cells)
        assert len(space.pivots) == len(basis) == len(space.independent)
        assert len(set(space.pivots.tolist())) == len(basis)
        assert np.array_equal(
            space.rows[:, space.pivots], space.scale * np.eye(len(basis), dtype=int)
        )
        assert len(reduced(cells[space.independent])) == len(basis)
        scales.add(space.scale)
        for _ in range(6):
            vector = draw.integers(-2, 3, len(cells)) @ cells
            other = draw.integers(-2, 3, cells.shape[1])
            assert space.holds(vector)
            assert space.holds(other) == (len(reduced([*cells, other])) == len(basis))
            made = factors(sparse.csr_array(cells), space, vector)
            assert np.allclose(made @ cells, vector)
    assert len(scales) > 1


def test_too_much_work_and_fractions_of_many_units_are_no_answer(monkeypatch):
    cells = sparse.csr_array(np.array([[97, 1], [0, 1]]))
    assert RowSpace.of(cells) is not None
    assert RowSpace.of(sparse.csr_array(np.array([[97, 1, 0], [0, 1, 1]]))) is None
    # modulo the prime the second is a multiple of the first
    assert RowSpace.of(sparse.csr_array(np.array([[1, 3], [715_827_883, 2]]))) is None
    cells = sparse.csr_array(np.array([[1, 1], [0, 1], [1, 0]]))
    monkeypatch.setattr("diskret.attack.row_space._WORK", 3 * 3 * 2)
    assert RowSpace.of(cells) is not None
    monkeypatch.setattr("diskret.attack.row_space._WORK", 3 * 3 * 2 - 1)
    assert RowSpace.of(cells) is None
    nothing = RowSpace.nothing(2)
    assert nothing.holds(np.zeros(2, np.int64)) and not nothing.holds(np.array([0, 1]))


def test_members_of_some_atoms_are_numbered_anew():
    members = Members.made(
        np.array([0, 2, 2, -1, 1, 2]), 4, np.array([5, 5, 7, 5, 3, 5]),
        np.array([1.0, 2, 3, 4, 5, 6]),
    )  # fmt: skip
    assert members.begins.tolist() == [0, 1, 2, 4, 4]
    assert members.unit.tolist() == [5, 3, 5, 7] and members.amount.tolist() == [1, 5, 8, 3]
    assert members.atoms.tolist() == [0, 1, 2, 2]
    part = members.part(np.array([2, 0]))
    assert part.begins.tolist() == [0, 2, 3]
    assert part.unit.tolist() == [0, 1, 0] and part.amount.tolist() == [8, 3, 1]
    values = np.array([0.5, -0.5, -2, 0.5, 0, 3, 0, -3])
    turned = Members.made(np.arange(8), 8, np.array([0, 0, 1, 2, 3, 3, 4, 4]), values)
    assert turned.cancels.tolist() == [True, False, False, False, False]
    assert Members.made(np.zeros(2, int), 1, np.arange(2)).amount.tolist() == [1, 1]
    nobody = Members.made(np.zeros(0, int), 2, np.zeros(0, int))
    assert nobody.begins.tolist() == [0, 0, 0] and not len(nobody.cancels)
