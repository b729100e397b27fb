"""Sets of records that sums and differences of published cells single out: found, or proven not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.row_space import RowSpace, factors
from diskret.attack.singled_out import Found, Members, fewest_units
from diskret.graphs import connected
from diskret.outputs.programme import Guess, by_programme

_OFTEN = 3  # 3 a + 2 b = 5 leaves whole numbers one value each


@dataclass(frozen=True, eq=False)
class Statements:
    """Published cells as sets of atoms: records that lie in the same cells of all results.

    Parameters
    ----------
    names
        Labels of each cell.
    cells
        Shape (cells, atoms), whole numbers: which atoms a cell holds, mostly zeros and ones.
    atom
        Shape (records,): the atom of each record; -1: it is in no cell.
    unit
        Shape (records,): the unit of each record.
    """

    names: tuple[tuple[str, ...], ...]
    cells: sparse.csr_array
    atom: NDArray[np.int64]
    unit: NDArray[np.int64]

    @classmethod
    def made(
        cls,
        names: tuple[tuple[str, ...], ...],
        sets: Sequence[NDArray[np.int32]],
        sizes: Sequence[int],
        unit: NDArray[np.int32] | None,
        times: Sequence[NDArray[np.int8] | None] = (),
    ) -> Statements:
        """The statements of some results.

        Parameters
        ----------
        names
            Labels of the cells of all parts, one part after another.
        sets
            For each part, shape (records,): the cell of each record, -1: in none.
        sizes
            How many cells each part has.
        unit
            Shape (records,): the unit of each record; None: each is one.
        times
            For each part, shape (records,): how many times a record is added up, never 0 in a
            cell; None: once. Empty: all are added up once.
        """
        often = list(times) or [None] * len(sets)
        records = len(sets[0]) if sets else 0
        atom = np.zeros(records, np.int64)
        nowhere = np.ones(records, bool)
        for at, own in zip(sets, often, strict=True):
            at = at if own is None else _apart(at, own)
            width = int(at.max(initial=0)) + 2
            atom = _renumbered(atom * width + at + 1, width * (int(atom.max(initial=0)) + 1))
            nowhere &= at < 0
        atom[nowhere] = -1
        if nowhere.any():
            atom[~nowhere] = np.unique(atom[~nowhere], return_inverse=True)[1]
        atoms = int(atom.max(initial=-1)) + 1
        first = np.zeros(atoms, np.int64)
        inside = np.flatnonzero(~nowhere)[::-1]
        first[atom[inside]] = inside
        begins = np.cumsum([0, *sizes])[:-1]
        own = [(at[first], begin) for at, begin in zip(sets, begins, strict=True)]
        rows = [np.where(at >= 0, begin + at, -1) for at, begin in own]
        row = np.concatenate(rows) if rows else np.zeros(0, np.int64)
        column = np.tile(np.arange(atoms), len(sets))[row >= 0]
        each = [np.ones(atoms) if own is None else own[first].astype(float) for own in often]
        entries = np.concatenate(each)[row >= 0] if each else np.zeros(0)
        cells = sparse.csr_array(
            (entries, (row[row >= 0], column)), shape=(len(names), max(atoms, 1))
        )
        numbers = np.arange(records) if unit is None else unit.astype(np.int64)
        return cls(names, cells, atom, numbers)

    def atoms_of(self, cell: int) -> NDArray[np.int32]:
        """The atoms that a cell holds."""
        return self.cells.indices[self.cells.indptr[cell] : self.cells.indptr[cell + 1]]

    def members(self, values: NDArray[np.float64] | None = None) -> Members:
        """The units of each atom, with what they contribute."""
        return Members.made(self.atom, self.cells.shape[1], self.unit, values)


def _apart(sets: NDArray[np.int32], times: NDArray[np.int8]) -> NDArray[np.int32]:
    """Sets of which each record is added up just as often as the others."""
    low = int(times.min(initial=0))
    width = int(times.max(initial=0)) - low + 1
    return np.where(sets < 0, -1, sets * width + times - low).astype(np.int32)


def _renumbered(keys: NDArray[np.int64], bound: int) -> NDArray[np.int64]:
    """Keys below a bound, numbered from 0 without gaps and in order."""
    if bound > 4 * len(keys):
        return np.unique(keys, return_inverse=True)[1]
    there = np.zeros(bound, np.int64)
    there[keys] = 1
    return (np.cumsum(there) - 1)[keys]


@dataclass(frozen=True)
class Difference:
    """A set of few units that published cells single out, and by which cells; or none.

    `unresolved`: neither was proven, for there is too much to try.
    """

    units: int = 0
    statements: tuple[int, ...] = ()
    unresolved: bool = False


def smallest_difference(
    statements: Statements, threshold: int, known: Sequence[NDArray[np.bool_]] = ()
) -> Difference:
    """The smallest set of fewer than `threshold` units that the cells single out.

    Found is every union of atoms whose count is a sum and difference of published counts, by any
    factors. An attacker is taken to know which combinations of the results' cells are empty.

    Parameters
    ----------
    statements
        All cells that were published, and those of the new result.
    threshold
        The fewest units that may be singled out.
    known
        Each of shape (cells,): cells that are judged already; what those of one array single out
        among themselves is no news.
    """

    def judged(space: RowSpace, known: Known, members: Members) -> Found:
        return fewest_units(space, known, members, threshold, signed=False, most=_OFTEN)

    def guessed(cells: sparse.csr_array, masks: Masks, members: Members) -> Guess | None:
        return by_programme(cells, np.diff(members.begins), threshold, masks)

    return worst_of(statements, statements.members(), known, judged, guessed)


Masks = Sequence[NDArray[np.bool_]]
Known = tuple[RowSpace, RowSpace]


def worst_of(
    statements: Statements,
    members: Members,
    known: Masks,
    judged: Callable[[RowSpace, Known, Members], Found],
    guessed: Callable[[sparse.csr_array, Masks, Members], Guess | None] | None = None,
) -> Difference:
    """What is found in any part of the cells, of the fewest units.

    Parameters
    ----------
    statements, known
        As for `smallest_difference`.
    members
        The units of each atom of the statements.
    judged
        Looks for a set of atoms in cells that hang together.
    guessed
        Looks for one where there is too much to be tried; what it does not find may be there.
    """
    best = Difference()
    unresolved = False
    cells = statements.cells
    links = sparse.block_array([[None, cells], [cells.T, None]]).tocsr()
    label = connected(links)
    for component in np.unique(label[: cells.shape[0]]):
        inside = np.flatnonzero(label[: cells.shape[0]] == component)
        atoms = np.flatnonzero(label[cells.shape[0] :] == component)
        masks = [mask[inside] for mask in known]
        if any(mask.all() for mask in masks):
            continue
        own = cells[inside][:, atoms]
        who = members.part(atoms)
        spaces = _spaces(own, masks)
        found = Found(unresolved=True) if spaces is None else judged(spaces[0], spaces[1], who)
        result: Guess | None = None
        if spaces is not None and found.atoms is not None:
            used = np.flatnonzero(np.abs(factors(own, spaces[0], found.atoms)) > 1e-6)
            result = found.units, tuple(int(one) for one in used)
        elif found.unresolved:
            result = None if guessed is None else guessed(own, masks, who)
            unresolved |= result is None
        if result is not None and (not best.statements or result[0] < best.units):
            best = Difference(result[0], tuple(int(inside[one]) for one in result[1]))
    if best.statements:
        return best
    return Difference(unresolved=unresolved)


def _spaces(cells: sparse.csr_array, masks: Masks) -> tuple[RowSpace, Known] | None:
    space, *known = (RowSpace.of(one) for one in (cells, *(cells[mask] for mask in masks)))
    old, new = (*known, *[RowSpace.nothing(cells.shape[1])] * 2)[:2]
    return None if space is None or old is None or new is None else (space, (old, new))
