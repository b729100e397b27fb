"""Alternative tables that differ from a known one in few places; those proposed are checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.equations import Equations
from diskret.attack.exact import LIMIT, UNKNOWN, Point, product, times
from diskret.attack.linear_programme import LinearProgramme
from diskret.attack.reduction import Reduction
from diskret.attack.witnesses import Witnesses
from diskret.errors import ContradictionError, InputError, ProofError


@dataclass(frozen=True, eq=False)
class Moves:
    """Differences of alternative tables from one that is known to be possible.

    steps: numerators, ``(w, n)``, int64 CSR; zero where a table agrees with the known one.
    denominator: ``(w,)``, int64, ≥ 1.
    """

    steps: sparse.csr_array
    denominator: NDArray[np.int64]

    def of(self, unknowns: NDArray[np.int64]) -> Moves:
        """What they say about some unknowns, if that is anything."""
        steps = sparse.csr_array(self._by_column[:, unknowns])
        return Moves(steps, self.denominator).only()

    @cached_property
    def _by_column(self) -> sparse.csc_array:
        return sparse.csc_array(self.steps)

    def only(self, kept: NDArray[np.bool_] | None = None) -> Moves:
        """Those that are kept, bool ``(w,)``, and move at all."""
        moving = np.diff(self.steps.indptr) > 0
        return self.those(moving if kept is None else moving & kept)

    def those(self, kept: NDArray[np.bool_]) -> Moves:
        """Those that are kept, bool ``(w,)``, also if they move nothing."""
        rows = np.flatnonzero(kept)
        return Moves(sparse.csr_array(self.steps[rows]), self.denominator[rows])

    def extremes(self, base: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and the highest value of each unknown in these tables and the known one."""
        column, value = self._values(base)
        low, high = base.astype(np.float64), base.astype(np.float64)
        np.minimum.at(low, column, value)
        np.maximum.at(high, column, value)
        return low, high

    def farthest(self, base: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of them are the first to take an unknown to an extreme value, ``(w,)``."""
        column, value = self._values(base)
        needed = np.zeros(self.steps.shape[0], dtype=bool)
        row = _rows(self.steps)
        for extreme in self.extremes(base):
            there = np.flatnonzero((value == extreme[column]) & (value != base[column]))
            _, first = np.unique(column[there], return_index=True)
            needed[row[there[first]]] = True
        return needed

    def _values(self, base: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The unknown of each entry, and its value."""
        column = self.steps.indices
        unit = np.repeat(self.denominator, np.diff(self.steps.indptr))
        return column, base[column] + self.steps.data / unit

    def points(self, base: NDArray[np.int64]) -> list[Point]:
        """The known table and all others, complete."""
        found = [Point(base, 1)]
        for row, unit in enumerate(self.denominator.tolist()):
            numerator = times(base, unit)
            start, stop = self.steps.indptr[row : row + 2]
            numerator[self.steps.indices[start:stop]] += self.steps.data[start:stop]
            found.append(Point(numerator, unit))
        return found

    def tables(self, base: NDArray[np.int64], hidden: NDArray[np.bool_] | None = None) -> Witnesses:
        """The same, told as changes: many of large tables do not fit into memory complete."""
        none = sparse.csr_array((1, len(base)), dtype=np.int64)
        found = Witnesses(
            np.ones(len(base), dtype=bool) if hidden is None else hidden,
            base[None, :],
            np.ones(1, dtype=np.int64),
            np.zeros(1 + len(self.denominator), dtype=np.int64),
            sparse.csr_array(sparse.vstack([none, self.steps], format="csr", dtype=np.int64)),
            np.append(1, self.denominator),
        )
        return Witnesses.gathered(self.points(base), found.hidden) if found.problem() else found


def joined(moves: Sequence[Moves], n: int) -> Moves:
    """Several sets of moves of the same ``n`` unknowns as one."""
    none = sparse.csr_array((0, n), dtype=np.int64)
    return Moves(
        sparse.csr_array(sparse.vstack([none, *(m.steps for m in moves)], format="csr")),
        np.concatenate([np.ones(0, dtype=np.int64), *(m.denominator for m in moves)]),
    )


def possible(
    moves: Moves,
    base: NDArray[np.int64],
    matrix: sparse.csr_array,
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
) -> Moves:
    """Those moves that lead from a possible table to possible ones, checked exactly.

    What is too large to be checked in 64-bit integers is left out.

    moves: from anywhere; nothing is taken for granted.
    base: a table that satisfies all equations and bounds, ``(n,)``, int64.

    >>> row = sparse.csr_array(np.array([[1, 1]]))
    >>> tried = Moves(sparse.csr_array(np.array([[1, -1], [1, 0], [9, -9]])), np.ones(3, int))
    >>> zero = np.zeros(2, dtype=np.int64)
    >>> possible(tried, np.array([3, 4]), row, zero, zero + 7).steps.toarray().tolist()
    [[1, -1]]
    """
    steps = sparse.csr_array(moves.steps.astype(np.int64))
    steps.sum_duplicates()
    steps.eliminate_zeros()
    moves = Moves(steps, moves.denominator)
    moves = moves.only(small(moves, base, matrix) & (moves.denominator >= 1))
    return moves.only(hold(moves, base, matrix, lower, upper))


def small(moves: Moves, base: NDArray[np.int64], matrix: sparse.csr_array) -> NDArray[np.bool_]:
    """Which moves can be checked in 64-bit integers, ``(w,)``."""
    terms = int(np.diff(matrix.indptr).max(initial=1)) * int(np.abs(matrix.data).max(initial=1))
    largest = np.zeros(moves.steps.shape[0])
    np.maximum.at(largest, _rows(moves.steps), np.abs(moves.steps.data.astype(np.float64)))
    whole_table = float(np.abs(base).max(initial=0)) * moves.denominator
    return (largest * terms < LIMIT) & (largest + whole_table < LIMIT // 2)


def hold(
    moves: Moves,
    base: NDArray[np.int64],
    matrix: sparse.csr_array,
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Which moves, all of them `small`, lead from a possible table to possible ones, ``(w,)``.

    Equations are linear, so a move has to balance in each; what does not move stays in its bounds.
    """
    balance = sparse.csr_array(moves.steps @ matrix.T)
    balance.eliminate_zeros()
    right = np.diff(balance.indptr) == 0
    row, column = _rows(moves.steps), moves.steps.indices
    unit = moves.denominator[row]
    value = base[column] * unit + moves.steps.data
    edge = LIMIT // unit  # farther than any of these values
    below = (lower[column] > -UNKNOWN) & (value < np.clip(lower[column], -edge, edge) * unit)
    above = (upper[column] < UNKNOWN) & (value > np.clip(upper[column], -edge, edge) * unit)
    right[row[below | above]] = False
    return right


def packed(moves: Moves, apart: sparse.csr_array | None = None) -> Moves:
    """The same moves in fewer tables: those of different unknowns are made at once.

    Equations are linear, so the sum of two moves is one; and as no unknown is moved twice,
    all bounds hold as before. With equations `apart` moves that share one are in different
    tables, too, so that they are told from each other again.

    >>> steps = sparse.csr_array(np.array([[1, -1, 0, 0], [0, 0, 2, -2], [0, 1, -1, 0]]))
    >>> packed(Moves(steps, np.ones(3, int))).steps.toarray().tolist()
    [[1, -1, 2, -2], [0, 1, -1, 0]]
    """
    steps = moves.steps
    taken = steps
    if apart is not None:
        alone = np.flatnonzero(np.diff(sparse.csc_array(apart).indptr) == 0)
        both = abs(steps) @ abs(apart).T, steps[:, alone]
        taken = sparse.csr_array(sparse.hstack(both, format="csr"))
    n = taken.shape[1]
    tables: dict[tuple[int, int], int] = {}
    # which tables move an unknown already, as bits
    occupied: dict[int, list[int]] = {}
    table = np.zeros(steps.shape[0], dtype=np.int64)
    for row, unit in enumerate(moves.denominator.tolist()):
        moved = taken.indices[taken.indptr[row] : taken.indptr[row + 1]].tolist()
        of = occupied.setdefault(unit, [0] * n)
        full = reduce(or_, (of[unknown] for unknown in moved), 0)
        free = ~full & (full + 1)  # the first one that moves none of them
        for unknown in moved:
            of[unknown] |= free
        table[row] = tables.setdefault((unit, free.bit_length()), len(tables))
    denominator = np.array([unit for unit, _ in tables], dtype=np.int64)
    together = sparse.csr_array(
        (steps.data, (table[_rows(steps)], steps.indices)), shape=(len(tables), steps.shape[1])
    )
    return Moves(together, denominator)


def _rows(steps: sparse.csr_array) -> NDArray[np.int64]:
    return np.repeat(np.arange(steps.shape[0]), np.diff(steps.indptr))


@dataclass(frozen=True, eq=False)
class Proposals:
    """Alternative tables as differences from the original values. Confidential.

    The method that chose a pattern knows some: the changes that showed it that a requirement
    holds. Each is checked exactly against the equations that the attacker reads from the
    publication; wrong ones are left out, so they can save work but never weaken a proof.

    difference: numerators, ``(w, cells)``, int64 CSR: a column for each cell of all tables, one
        after the other; columns behind these are not looked at.
    denominator: ``(w,)``, int64, ≥ 1.
    """

    difference: sparse.csr_array
    denominator: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.denominator.shape != (self.difference.shape[0],):
            raise InputError(
                f"{self.difference.shape[0]:,} proposals have denominators of shape "
                f"{self.denominator.shape}; give one for each"
            )


def proposed_moves(proposals: Proposals, cells: int, known: Equations, reduced: Reduction) -> Moves:
    """Proposals as moves of the unknowns, without those that the links of cells contradict."""
    difference = sparse.csr_array(proposals.difference.astype(np.int64))
    if difference.shape[1] < cells:
        raise InputError(
            f"the proposals are about {difference.shape[1]:,} cells, the tables have {cells:,}; "
            "give a column for each cell"
        )
    own = known.cell[~known.latent]
    shown = np.ones(difference.shape[1], dtype=bool)
    shown[own] = shown[cells:] = False
    fits = ~_touched(difference, shown)
    latent = sparse.csr_array((difference.shape[0], int(known.latent.sum())), dtype=np.int64)
    of_cells = sparse.csr_array(sparse.hstack([difference[:, own], latent], format="csr"))
    first, sign = leaders(reduced)
    steps = sparse.csr_array(of_cells[:, first] @ sparse.diags_array(sign, dtype=np.int64))
    astray = sparse.csr_array(steps @ reduced.link.T - of_cells)
    astray.eliminate_zeros()
    fits &= np.diff(astray.indptr) == 0
    steps = sparse.csr_array(steps.astype(np.int64))
    steps.eliminate_zeros()
    return Moves(steps, np.asarray(proposals.denominator, dtype=np.int64)).only(fits)


def leaders(reduced: Reduction) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each unknown the first cell that follows it, and the sign with which it does."""
    link = sparse.csc_array(reduced.link)
    link.sort_indices()
    return link.indices[link.indptr[:-1]].astype(np.int64), link.data[link.indptr[:-1]]


def starting_table(
    original: NDArray[np.int64] | None, known: Equations, reduced: Reduction
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The original values of the unknowns, and where they are known, ``(n,)`` each."""
    first, sign = leaders(reduced)
    if original is None:
        return np.zeros(len(first), dtype=np.int64), np.zeros(len(first), dtype=bool)
    given = ~known.latent[first]
    value = np.zeros(len(first), dtype=np.int64)
    value[given] = original.ravel()[known.cell[first[given]]]
    return np.where(given, sign * (value - reduced.offset[first]), 0), given


def completed(
    programme: LinearProgramme, value: NDArray[np.int64], given: NDArray[np.bool_]
) -> NDArray[np.int64] | None:
    """Whole numbers that satisfy a component and agree with given ones, or None."""
    rest = np.flatnonzero(~given)
    if len(rest):
        inside = sparse.csr_array(programme.matrix[:, rest])
        rows = np.flatnonzero(np.diff(inside.indptr))
        right = programme.right - product(programme.matrix, np.where(given, value, 0))
        try:
            point = (
                LinearProgramme(
                    sparse.csr_array(inside[rows]),
                    right[rows].astype(np.int64),
                    programme.lower[rest],
                    programme.upper[rest],
                    deadline=programme.deadline,
                )
                .begin()
                .point
            )
        except (ContradictionError, ProofError):
            return None
        if point is None or point.denominator > 1:
            return None
        value = value.copy()
        value[rest] = point.numerator
    return value if programme.holds(Point(value, 1)) else None


def _touched(steps: sparse.csr_array, columns: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows have something other than zero in some columns."""
    row = np.repeat(np.arange(steps.shape[0]), np.diff(steps.indptr))
    touched = np.zeros(steps.shape[0], dtype=bool)
    touched[row[columns[steps.indices] & (steps.data != 0)]] = True
    return touched
