"""Small sets of records that sums of published cells single out: the smallest, proven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse.csgraph import connected_components

_SECONDS = 5.0  # for one component; what is not decided by then is said to be so
_TOO_MANY = 20_000  # atoms of a component
_TRIES = 30  # differences known from before that are set aside


@dataclass(frozen=True, eq=False)
class Statements:
    """Published cells as sets of atoms: records that lie in the same cells of all results.

    Parameters
    ----------
    names
        Labels of each cell.
    cells
        Shape (cells, atoms), zeros and ones: which atoms a cell holds.
    units
        Shape (atoms,): how many units each atom has.
    """

    names: tuple[tuple[str, ...], ...]
    cells: sparse.csr_array
    units: NDArray[np.int64]

    @classmethod
    def made(
        cls,
        names: tuple[tuple[str, ...], ...],
        sets: Sequence[NDArray[np.int32]],
        sizes: Sequence[int],
        unit: NDArray[np.int32] | None,
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
        """
        atom = np.zeros(len(sets[0]) if sets else 0, np.int64)
        for at in sets:
            width = int(at.max(initial=0)) + 2
            atom = _renumbered(atom * width + at + 1, width * (int(atom.max(initial=0)) + 1))
        atoms = int(atom.max(initial=-1)) + 1
        first = np.zeros(atoms, np.int64)
        first[atom[::-1]] = np.arange(len(atom))[::-1]
        begins = np.cumsum([0, *sizes])[:-1]
        own = [(at[first], begin) for at, begin in zip(sets, begins, strict=True)]
        rows = [np.where(at >= 0, begin + at, -1) for at, begin in own]
        row = np.concatenate(rows) if rows else np.zeros(0, np.int64)
        column = np.tile(np.arange(atoms), len(sets))[row >= 0]
        cells = sparse.csr_array(
            (np.ones(len(column)), (row[row >= 0], column)), shape=(len(names), max(atoms, 1))
        )
        return cls(names, cells, _units(atom, atoms, unit))


def _renumbered(keys: NDArray[np.int64], bound: int) -> NDArray[np.int64]:
    """Keys below a bound, numbered from 0 without gaps and in order."""
    if bound > 4 * len(keys):
        return np.unique(keys, return_inverse=True)[1]
    there = np.zeros(bound, np.int64)
    there[keys] = 1
    return (np.cumsum(there) - 1)[keys]


def _units(
    atom: NDArray[np.int64], atoms: int, unit: NDArray[np.int32] | None
) -> NDArray[np.int64]:
    if unit is None:
        return np.bincount(atom, minlength=max(atoms, 1))
    width = int(unit.max(initial=0)) + 1
    pairs = np.unique(atom * width + unit)
    return np.bincount(pairs // width, minlength=max(atoms, 1))


@dataclass(frozen=True)
class Difference:
    """A set of few units that published cells single out, and by which cells; or none.

    `unresolved`: neither was proven in the time that there is.
    """

    units: int = 0
    statements: tuple[int, ...] = ()
    unresolved: bool = False


def smallest_difference(
    statements: Statements, threshold: int, known: Sequence[NDArray[np.bool_]] = ()
) -> Difference:
    """The smallest set of fewer than `threshold` units that the cells single out.

    Found is every union of atoms whose count is a sum and difference of published counts, by any
    factors: a programme chooses atoms (zeros and ones) and factors of cells (real numbers) such
    that the cells add up to just these atoms. An attacker is taken to know which combinations of
    the results' cells are empty.

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
    best = Difference()
    unresolved = False
    cells = statements.cells
    links = sparse.block_array([[None, cells], [cells.T, None]]).tocsr()
    label = connected_components(links, directed=False)[1]
    for component in np.unique(label[: cells.shape[0]]):
        inside = np.flatnonzero(label[: cells.shape[0]] == component)
        atoms = np.flatnonzero(label[cells.shape[0] :] == component)
        old = [mask[inside] for mask in known]
        if any(mask.all() for mask in old) or not (statements.units[atoms] < threshold).any():
            continue
        part = cells[inside][:, atoms]
        found = _in_component(part, statements.units[atoms], threshold, old)
        unresolved |= found.unresolved
        if found.statements and (not best.statements or found.units < best.units):
            best = Difference(found.units, tuple(int(inside[one]) for one in found.statements))
    if best.statements:
        return best
    return Difference(unresolved=unresolved)


def _in_component(
    cells: sparse.csr_array,
    units: NDArray[np.int64],
    threshold: int,
    known: Sequence[NDArray[np.bool_]],
) -> Difference:
    number, atoms = cells.shape
    if atoms > _TOO_MANY:
        return Difference(unresolved=True)
    small = np.flatnonzero(units < threshold)
    # variables: a factor of each cell, then whether each small atom is chosen
    choose = sparse.csr_array(
        (np.ones(len(small)), (small, np.arange(len(small)))), shape=(atoms, len(small))
    )
    adds_up = LinearConstraint(sparse.hstack([cells.T, -choose]).tocsr(), 0, 0)
    few = np.concatenate([np.zeros(number), units[small]])
    limits = [adds_up, LinearConstraint(few, 1, threshold - 1)]
    low = np.concatenate([np.full(number, -np.inf), np.zeros(len(small))])
    high = np.concatenate([np.full(number, np.inf), np.ones(len(small))])
    integer = np.concatenate([np.zeros(number), np.ones(len(small))])
    for _ in range(_TRIES):
        solved = milp(
            few,
            constraints=limits,
            bounds=Bounds(low, high),
            integrality=integer,
            options={"time_limit": _SECONDS},
        )
        if solved.status == 2:  # infeasible: nothing is singled out
            return Difference()
        if solved.x is None:
            return Difference(unresolved=True)
        chosen = np.round(solved.x[number:])
        wanted = choose @ chosen
        if not _singled_out(cells, wanted):
            return Difference(unresolved=True)  # an answer that does not add up proves nothing
        if not any(_singled_out(cells[mask], wanted) for mask in known):
            used = np.flatnonzero(np.abs(solved.x[:number]) > 1e-6)
            return Difference(int(round(float(units @ wanted))), tuple(int(one) for one in used))
        # known already: another set is asked for
        cut = np.concatenate([np.zeros(number), np.where(chosen > 0, -1.0, 1.0)])
        limits.append(LinearConstraint(cut, 1 - chosen.sum(), np.inf))
    return Difference(unresolved=True)


def _singled_out(cells: sparse.csr_array, wanted: NDArray[np.float64]) -> bool:
    """Whether a set of atoms is a sum and difference of cells, by least squares."""
    if not cells.shape[0]:
        return False
    factors = sparse.linalg.lsmr(cells.T.tocsc(), wanted, atol=1e-12, btol=1e-12)[0]
    return bool(np.abs(cells.T @ factors - wanted).max() < 1e-6)
