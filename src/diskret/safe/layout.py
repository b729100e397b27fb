"""Where the cells of a combination are, so that a small change is quick to follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.safe.cells import Cells
from diskret.safe.problem import SafeProblem
from diskret.safe.sums import SumMaps, Sums, sum_cells, summed

#: Deviations that are told apart on each side of 0: at least, for each unit of the minimum, and
#: where there is room.
_LEAST, _EACH, _MOST_APART = 512, 64, 2048
#: Possible cells, empty ones included: there is a place for each.
_MOST = 1 << 31
_KINDS = 1000
#: Values of a group are numbered in an array with a place for each below this size.
_DENSE = 1 << 24


class Maps(NamedTuple):
    """Arrays that tell the cells of a combination from the values of its groups.

    `base`: first cell of each table, ``(T,)``, int64.
    `first`: the tables of group g are ``tables[first[g]:first[g + 1]]``; ``(G + 1,)``, int64.
    `tables`: tables that a group has a part in, int32.
    `key_first`, `key`: what value v of group g adds to the cell numbers of its tables:
        ``key[key_first[g] + v * m:][:m]`` for its m tables; int64 and int32.
    `together_first`, `together`: whether values v of group g and w of group h ever occur together:
        ``together[together_first[g, h] + v * width[h] + w]``.
    `width`: number of values of each group, ``(G,)``, int64.
    """

    base: NDArray[np.int64]
    first: NDArray[np.int64]
    tables: NDArray[np.int32]
    key_first: NDArray[np.int64]
    key: NDArray[np.int32]
    together_first: NDArray[np.int64]
    together: NDArray[np.bool_]
    width: NDArray[np.int64]

    def cells(self, values: NDArray[np.unsignedinteger], table: int) -> NDArray[np.int64]:
        """The cell of a table that each row falls into; rows are values of groups, ``(R, G)``."""
        cell = np.full(len(values), self.base[table], dtype=np.int64)
        for group in range(len(self.width)):
            own = self.tables[self.first[group] : self.first[group + 1]]
            for place in np.flatnonzero(own == table).tolist():
                row = values[:, group].astype(np.int64) * len(own)
                cell += self.key[self.key_first[group] + row + place]
        return cell


class Kind(NamedTuple):
    """Cells that are treated alike.

    `allowance`: deviation that is free.
    `exact`: whether the count is kept.
    `margin`: whether it belongs to a table of one variable, or is the total: few cells, which are
        looked at most.
    `free`: whether the deviation does not matter at all: records that a table does not count.
    """

    allowance: int
    exact: bool
    margin: bool
    free: bool


@dataclass(frozen=True, eq=False)
class Layout:
    """A problem as the search sees it.

    `values`: value of each group of variables in each combination, ``(J, G)``, uint16 or uint32.
    `groups`: positions of the variables of each group.
    `codes`: codes of the variables of a group for each of its values, G arrays ``(values,
        members)``.
    `maps`: from values to cells.
    `rest`: state of every possible cell at deviation 0: its kind times ``2 * half``, plus `half`;
        ``(M,)``, int16 or int32. A deviation of d adds d to it. The last kind is that of cells that
        are empty and stay so; `raised` is added while a cell counts as one that has to be mended.
    `half`: deviations are told apart up to here.
    `kinds`: what the kinds of cells are, without the last.
    `seen`, `allowance`: cells whose deviations are looked at, and which of these are free,
        ``(C,)``, int64.
    `exact`: cells that keep their counts, int64.
    `sums`: the tables in which a record may count more than 1, which are not among the others.
    """

    values: NDArray[np.unsignedinteger]
    groups: tuple[tuple[int, ...], ...]
    codes: tuple[NDArray[np.int32], ...]
    maps: Maps
    rest: NDArray[np.integer]
    half: int
    kinds: tuple[Kind, ...]
    seen: NDArray[np.int64]
    allowance: NDArray[np.int64]
    exact: NDArray[np.int64]
    sums: Sums

    @cached_property
    def margin(self) -> NDArray[np.bool_]:
        """Which of the cells that are looked at belong to a table of one variable, ``(C,)``."""
        kind = self.rest[self.seen].astype(np.int64) // (2 * self.half)
        return np.array([one.margin for one in self.kinds], dtype=np.bool_)[kind]

    @property
    def raised(self) -> int:
        """What is added to the state of a cell so that it belongs to its kind, but raised."""
        return 2 * self.half * (len(self.kinds) + 1)

    @property
    def weight(self) -> NDArray[np.float64]:
        """Number of tables that each group has a part in, ``(G,)``."""
        return (np.diff(self.maps.first) + np.diff(self.sums.maps.first)).astype(np.float64)


def layout(problem: SafeProblem, known: Cells) -> Layout:
    """Prepare a problem for the search."""
    groups = problem.groups or tuple((v,) for v in range(len(problem.names)))
    strides, spans = _strides(problem)
    more = [t for t in range(len(problem.tables)) if summed(problem, t)]
    records = [t for t in range(len(problem.tables)) if not summed(problem, t)]
    base = np.concatenate([[0], np.cumsum([spans[t] for t in records])]).astype(np.int64)
    sum_base = np.concatenate([[0], np.cumsum([spans[t] for t in more])]).astype(np.int64)
    if base[-1] + sum_base[-1] >= _MOST:
        largest = int(np.argmax(spans))
        names = ", ".join(problem.names[v] for v in problem.tables[largest].columns)
        raise InputError(
            f"the controlled tables have {sum(spans):,} possible cells, more than "
            f"{_MOST:,}; leave out the largest ({names}: {spans[largest]:,}) or name coarser "
            "variables in it"
        )
    found = [_values(problem, group) for group in groups]
    codes = tuple(codes for _, codes in found)
    narrow = max(map(len, codes)) <= 1 << 16
    values = np.empty((len(problem.codes), len(groups)), np.uint16 if narrow else np.uint32)
    for g, (one, _) in enumerate(found):
        values[:, g] = one
    together_first, together = _together(values, codes, problem.new)
    maps = Maps(
        base[:-1].copy(),
        *_keys(groups, codes, strides[records]),
        together_first,
        together,
        np.array([len(one) for one in codes], dtype=np.int64),
    )
    keys = _keys(groups, codes, strides[more])
    sum_maps = SumMaps(sum_base[:-1].copy(), *keys, *_amounts(problem, more, groups, codes))
    sums = sum_cells(problem, known, sum_maps, more, int(sum_base[-1]))
    return Layout(values, groups, codes, maps, *_cells(problem, known, records, base), sums)


def _keys(
    groups: Sequence[Sequence[int]],
    codes: Sequence[NDArray[np.int32]],
    strides: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
    """The tables of each group, and what its values add to the cell numbers there; see `Maps`.

    `strides`: what a code of a variable adds to the cell number of a table, ``(tables, V)``.
    """
    first, tables, key_first, key = [0], [], [0], []
    for group, known_codes in zip(groups, codes, strict=True):
        part = np.flatnonzero(strides[:, list(group)].any(axis=1))
        adds = known_codes.astype(np.int64) @ strides[part][:, list(group)].T
        tables.append(part.astype(np.int32))
        key.append(adds.astype(np.int32).ravel())
        first.append(first[-1] + len(part))
        key_first.append(key_first[-1] + adds.size)
    return (
        np.array(first, dtype=np.int64),
        np.concatenate(tables),
        np.array(key_first, dtype=np.int64),
        np.concatenate(key),
    )


def _amounts(
    problem: SafeProblem,
    tables: Sequence[int],
    groups: Sequence[Sequence[int]],
    codes: Sequence[NDArray[np.int32]],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """How much a record counts in tables, by the value of a group; see `SumMaps`."""
    member: list[int] = []
    parts: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    for t in tables:
        counter = problem.tables[t].counter
        own = next(g for g, group in enumerate(groups) if counter in group)
        member.append(own)
        place = [v == counter for v in groups[own]].index(True)
        parts.append(codes[own][:, place].astype(np.int64))
    first = np.cumsum([0, *(len(part) for part in parts[1:])])[:-1]
    return np.array(member, dtype=np.int64), first.astype(np.int64), np.concatenate(parts)


def _strides(problem: SafeProblem) -> tuple[NDArray[np.int64], list[int]]:
    """What a code of a variable adds to the cell number of a table, and cells of each table.

    A variable that counts 0 or 1 is one more variable of the table: records that it does not count
    have cells of their own, which are looked at no further.
    """
    strides = np.zeros((len(problem.tables), len(problem.names)), dtype=np.int64)
    spans: list[int] = []
    for t, table in enumerate(problem.tables):
        span = 1
        for v in reversed(table.columns):
            strides[t, v] = span
            span *= problem.sizes[v]
        if table.counter is not None and table.counter in table.columns:
            raise InputError(
                f"{problem.names[table.counter]!r} is a variable of a table and counts in it"
            )
        if table.counter is not None and not summed(problem, t):
            strides[t, table.counter] = span
            span *= 2
        spans.append(span)
    return strides, spans


def _values(
    problem: SafeProblem, group: tuple[int, ...]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Numbers of the combinations of codes of some variables, and their codes."""
    if len(group) == 1:
        size = problem.sizes[group[0]]
        return problem.codes[:, group[0]], np.arange(size, dtype=np.int32)[:, None]
    key = np.zeros(len(problem.codes), dtype=np.int64)
    for v in group:
        key = key * problem.sizes[v] + problem.codes[:, v]
    span = int(np.prod([float(problem.sizes[v]) for v in group]))
    if span <= _DENSE:
        there = np.zeros(span, dtype=np.bool_)
        there[key] = True
        own, number = np.flatnonzero(there), (np.cumsum(there) - 1).astype(np.int32)[key]
    else:
        own, number = np.unique(key, return_inverse=True)
    codes = np.stack(np.unravel_index(own, [problem.sizes[v] for v in group]), axis=1)
    return number.astype(np.int32), codes.astype(np.int32)


def _together(
    values: NDArray[np.unsignedinteger], codes: tuple[NDArray[np.int32], ...], new: bool
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Which values of two groups ever occur together; nothing if no combination may come up."""
    count = len(codes)
    first = np.zeros((count, count), dtype=np.int64)
    if not new:
        return first, np.zeros(0, dtype=np.bool_)
    parts: list[NDArray[np.bool_]] = []
    size = 0
    for g in range(count):
        for h in range(count):
            if g == h:
                continue
            part = np.zeros(len(codes[g]) * len(codes[h]), dtype=np.bool_)
            part[values[:, g].astype(np.int64) * len(codes[h]) + values[:, h]] = True
            first[g, h] = size
            size += len(part)
            parts.append(part)
    return first, np.concatenate([np.zeros(0, dtype=np.bool_), *parts])


def _cells(
    problem: SafeProblem, known: Cells, tables: Sequence[int], base: NDArray[np.int64]
) -> tuple[
    NDArray[np.integer],
    int,
    tuple[Kind, ...],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
]:
    """States at rest, kinds, and the cells that are looked at with their allowances."""
    place = np.full(len(problem.tables), -1, dtype=np.int64)
    place[list(tables)] = np.arange(len(tables))
    mine = place[known.table] >= 0
    table, exact = place[known.table[mine]], known.exact[mine]
    original, allowance = known.original[mine], known.allowance[mine]
    at = base[table] + known.key[mine]
    free: list[NDArray[np.int64]] = []
    for p, t in enumerate(tables):
        if problem.tables[t].counter is not None:  # records that are counted come second
            span = (base[p + 1] - base[p]) // 2
            at[table == p] += span
            free.append(np.arange(base[p], base[p] + span))
    margin = np.array([len(problem.tables[t].columns) < 2 for t in tables], dtype=np.bool_)[table]
    own, kind = np.unique(4 * allowance + 2 * exact + margin, return_inverse=True)
    kinds = [Kind(int(one >> 2), bool(one & 2), bool(one & 1), False) for one in own.tolist()]
    if free:
        kinds.append(Kind(0, False, False, True))
    if len(kinds) > _KINDS:
        raise InputError(
            f"the cells have {len(kinds)} different allowances and exact ones among them; "
            f"choose at most {_KINDS} different weights"
        )
    room = np.iinfo(np.int16).max // (2 * (2 * len(kinds) + 1))  # raised cells have their own
    half = max(_LEAST, _EACH * problem.minimum, min(room, _MOST_APART))
    narrow = half <= room
    rest = np.full(int(base[-1]), 2 * half * len(kinds) + half, np.int16 if narrow else np.int32)
    for cells in free:
        rest[cells] = 2 * half * (len(kinds) - 1) + half
    rest[at] = 2 * half * kind.ravel() + half
    there = original > 0
    return rest, half, tuple(kinds), at[there], allowance[there], at[exact]
