"""What SAFE is asked, and what it answers; which variables follow from which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Rows that are looked at first: most pairs of variables fail there already.
_FIRST = 4096


@dataclass(frozen=True)
class SpecialCell:
    """A controlled cell that is treated in its own way.

    Parameters
    ----------
    codes
        Its code in each variable of the table.
    allowance
        Deviation that is free, as in `ControlTable`.
    exact
        Whether the cell keeps its count.
    """

    codes: tuple[int, ...]
    allowance: int = 0
    exact: bool = False


@dataclass(frozen=True)
class ControlTable:
    """A controlled table: its cells are to deviate as little as possible.

    Parameters
    ----------
    columns
        Positions of its variables; none: the total.
    counter
        Position of the variable whose codes are what is counted (0 or 1 building for each
        record, persons in the dwelling, …); None: records.
    allowance
        Deviation that is free: w in the largest of abs(d) - w. Below 0 for cells that matter more.
    exact
        Whether its cells keep their counts.
    special
        Cells with an allowance of their own, or kept exactly.
    """

    columns: tuple[int, ...]
    counter: int | None = None
    allowance: int = 0
    exact: bool = False
    special: tuple[SpecialCell, ...] = ()


@dataclass(frozen=True, eq=False)
class SafeProblem:
    """Distinct combinations of a file, how often they occur, and the tables that matter.

    Parameters
    ----------
    names
        The variables.
    codes
        Distinct combinations in ascending order, ``(J, V)``, any signed type, codes from 0 on. Put
        variables of regions first: what is near in the file is treated together. Large files
        are best kept in the smallest type, a variable in one piece (Fortran order).
    count
        How often each occurs, ``(J,)``, int64, at least 1.
    sizes
        Number of codes of each variable, ``(V,)``.
    tables
        The controlled tables.
    minimum
        Every combination of the file that is made occurs not at all or at least so often.
    groups
        Positions of variables that change together, because one is a coarser level of
        another: a partition of all variables.
    new
        Whether combinations may come up that the file does not have. Never one that falls into
        an empty cell of a controlled table, or two of whose values never occur together.
    """

    names: tuple[str, ...]
    codes: NDArray[np.signedinteger[Any]]
    count: NDArray[np.int64]
    sizes: tuple[int, ...]
    tables: tuple[ControlTable, ...]
    minimum: int = 3
    groups: tuple[tuple[int, ...], ...] = ()
    new: bool = False


@dataclass(frozen=True, eq=False)
class SafeFile:
    """The combinations of a safe file.

    Parameters
    ----------
    codes
        Distinct combinations in ascending order, ``(K, V)``, in the type of the problem's.
    count
        How often each occurs, ``(K,)``, int64, at least the minimum.
    sweeps
        Sweeps that were done in each stage of a search: with the same numbers it makes the same
        file again.
    trace
        Largest abs(d) - w and mean abs(d) after some sweeps: ``(sweeps, largest, mean)``.
    optimal
        Whether it is proven that no other file has smaller deviations.
    """

    codes: NDArray[np.signedinteger[Any]]
    count: NDArray[np.int64]
    sweeps: tuple[int, ...] = ()
    trace: tuple[tuple[int, int, float], ...] = ()
    optimal: bool = False


def groups(
    columns: Sequence[NDArray[np.signedinteger[Any]]], sizes: Sequence[int]
) -> tuple[tuple[int, ...], ...]:
    """Put each variable together with the finer one that it follows from.

    A variable follows from another if each code of that other one goes together with a single
    code of it. Of several the one with the most codes counts, of these the first; a variable with
    a single code follows from none.

    Parameters
    ----------
    columns
        Codes of each variable in J combinations, V arrays ``(J,)``.
    sizes
        Number of codes of each variable, ``(V,)``.

    Returns
    -------
    tuple of tuple of int
        A partition of the variables; within a group from coarse to fine.

    Examples
    --------
    >>> town, state = np.array([0, 1, 2, 2]), np.array([0, 0, 1, 1])
    >>> sex = np.array([0, 1, 0, 1])
    >>> groups([town, sex, state], (3, 2, 2))
    ((2, 0), (1,))
    """
    order = sorted(range(len(sizes)), key=lambda v: (-sizes[v], v))
    above: dict[int, int] = {}
    for at, coarse in enumerate(order):
        finer = (fine for fine in order[:at] if follows(columns[fine], columns[coarse]))
        found = next(finer, coarse) if sizes[coarse] > 1 else coarse
        above[coarse] = above.get(found, found)
    members: dict[int, list[int]] = {}
    for v in range(len(sizes)):
        members.setdefault(above[v], []).append(v)
    return tuple(tuple(sorted(group, key=lambda v: (sizes[v], v))) for group in members.values())


def follows(fine: NDArray[np.signedinteger[Any]], coarse: NDArray[np.signedinteger[Any]]) -> bool:
    """Whether the code in one variable is known from that in another.

    >>> town, state = np.array([0, 1, 2]), np.array([0, 0, 1])
    >>> follows(town, state), follows(state, town)
    (True, False)
    """
    for rows in _rows(len(fine)):
        here, there = fine[rows], coarse[rows]
        one = np.zeros(int(here.max(initial=0)) + 1, dtype=there.dtype)
        one[here] = there
        if not np.array_equal(one[here], there):
            return False
    return True


def _rows(number: int) -> Iterator[slice]:
    """Some rows from all over the file, and then all of them."""
    if number > 4 * _FIRST:
        yield slice(None, None, number // _FIRST)
    yield slice(None)
