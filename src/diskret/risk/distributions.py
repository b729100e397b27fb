"""What sensitive values the records that agree in their keys show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diskret.parameters import reading
from diskret.risk.frequencies import Missing
from diskret.risk.keys import Classes, Keys, classes

#: Pairs of a class and a value that are laid out at a time.
_BLOCK = 4_000_000


@dataclass(frozen=True, eq=False)
class Distributions:
    """How often each value occurs among the records that agree with some classes.

    Parameters
    ----------
    rows
        The classes, ``(b,)``.
    owner
        For each entry the position among `rows` of the class it belongs to, ascending,
        ``(e,)``.
    value
        The value, ascending within a class, ``(e,)``.
    count
        How many of the records show it, at least 1, ``(e,)``.
    overall
        How many records of the whole file show each of the v values, at least 1, ``(v,)``.
    """

    rows: NDArray[np.intp]
    owner: NDArray[np.intp]
    value: NDArray[np.intp]
    count: NDArray[np.int64]
    overall: NDArray[np.int64]

    @cached_property
    def start(self) -> NDArray[np.intp]:
        """Position of the first entry of each class, ``(b,)``."""
        return np.searchsorted(self.owner, np.arange(len(self.rows)))

    @cached_property
    def total(self) -> NDArray[np.int64]:
        """Number of records that agree with each class, ``(b,)``."""
        return np.add.reduceat(self.count, self.start)

    @cached_property
    def share(self) -> NDArray[np.float64]:
        """Share of each entry among the records that agree, ``(e,)``."""
        return self.count / self.total[self.owner]

    @cached_property
    def expected(self) -> NDArray[np.float64]:
        """Share of each value in the whole file, ``(v,)``."""
        return self.overall / self.overall.sum()


#: Figures of every class, ``(f, b)``.
Measure = Callable[[Distributions], NDArray[np.float64]]


@reading
def by_record(
    keys: Keys,
    values: NDArray[np.int32],
    measure: Measure,
    missing: Missing = "wildcard",
    known: Sequence[NDArray[np.int32]] = (),
) -> NDArray[np.float64]:
    """Judge, for each record, the values of all records that agree with it in the keys.

    With missing keys as wildcards the sets of records that agree overlap, and each distinct
    combination of keys is judged with all that agree with it. That is grouping again: others
    are projected onto the keys that they share with all combinations that show the same keys.

    Parameters
    ----------
    keys
        The keys, n records.
    values
        A number for the sensitive value of each record, ``(n,)``, at least 0; those that do not
        occur play no role.
    measure
        What is said of the classes.
    missing
        What a missing key stands for, as for
        [`frequencies`][diskret.risk.frequencies.frequencies].
    known
        Further variables in which records have to agree, numbers of at least 0 for each record;
        none is missing.

    Returns
    -------
    numpy.ndarray
        The figures of each record, ``(f, n)``.

    Examples
    --------
    >>> from diskret.io import coded
    >>> import pyarrow as pa
    >>> sex = coded(pa.chunked_array([["m", "m", "f", None]]), "sex")
    >>> illness = np.array([0, 0, 1, 2], np.int32)
    >>> by_record(Keys((sex,)), illness, lambda found: found.total[None].astype(float)).tolist()
    [[3.0, 3.0, 2.0, 4.0]]
    """
    found, sizes = _classes(keys, missing, known)
    counted = np.bincount(values)
    number = (np.cumsum(counted > 0) - 1).astype(np.int32)[values]
    overall = counted[counted > 0]
    cells = classes([found.of.astype(np.int32), number], [len(found.count), len(overall)])
    parts = _parts(found.codes, sizes, cells, overall, missing == "wildcard")
    judged = [(part.rows, measure(part)) for part in parts]
    figures = np.concatenate([figures for _, figures in judged], axis=1)
    order = np.argsort(np.concatenate([rows for rows, _ in judged]))
    return figures[:, order[found.of]]


def _classes(
    keys: Keys, missing: Missing, known: Sequence[NDArray[np.int32]]
) -> tuple[Classes, list[int]]:
    """Records that show the same, in `known` too; without a partner where nothing may agree."""
    if missing != "conservative" and not known:
        return keys.classes, list(keys.sizes)
    columns = [column.codes for column in keys.columns]
    sizes = [*keys.sizes, *(int(codes.max()) + 1 for codes in known)]
    if missing == "conservative":
        gaps = np.min(columns, axis=0) < 0
        known = [*known, np.where(gaps, np.arange(1, keys.n + 1), 0).astype(np.int32)]
        sizes.append(keys.n + 1)
    return classes([*columns, *known], sizes), sizes


def _parts(
    codes: NDArray[np.int32],
    sizes: Sequence[int],
    cells: Classes,
    overall: NDArray[np.int64],
    wildcard: bool,
) -> Iterator[Distributions]:
    owner, value = cells.codes.T.astype(np.intp)
    if not wildcard or codes.min() >= 0:
        yield Distributions(np.arange(len(codes)), owner, value, cells.count, overall)
        return
    order = np.argsort(value, kind="stable")
    owner, value, count = owner[order], value[order], cells.count[order]
    shown = codes >= 0
    patterns = classes(list(shown.T.astype(np.int32)), [2] * shown.shape[1])
    for pattern in range(len(patterns.count)):
        rows = np.flatnonzero(patterns.of == pattern)
        both = (patterns.codes > 0) & (patterns.codes[pattern] > 0)
        shared = classes(list(both.T.astype(np.int32)), [2] * both.shape[1])
        sets: list[_Set] = []
        for i, mask in enumerate(shared.codes > 0):
            group, number = _grouped(codes[:, mask], np.array(sizes)[mask])
            at = np.flatnonzero((shared.of == i)[patterns.of][owner])
            sets.append(_joint(group[owner[at]], number, value[at], count[at], group[rows]))
        length = np.sum([one.stop - one.start for one in sets], axis=0)
        block = np.cumsum(length) // _BLOCK
        for part in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(block)) + 1):
            yield _laid_out(rows, part, sets, overall)


def _grouped(codes: NDArray[np.int32], sizes: NDArray[np.int64]) -> tuple[NDArray[np.intp], int]:
    """A number for what each class shows in some keys, and how many there are."""
    if not codes.shape[1]:
        return np.zeros(len(codes), dtype=np.intp), 1
    found = classes(list(codes.T), sizes.tolist())
    return found.of, len(found.count)


@dataclass(frozen=True, eq=False)
class _Set:
    """Values of records that share some keys with a pattern: those of a row from start to stop."""

    value: NDArray[np.intp]
    count: NDArray[np.int64]
    start: NDArray[np.intp]
    stop: NDArray[np.intp]


def _joint(
    group: NDArray[np.intp],
    groups: int,
    value: NDArray[np.intp],
    count: NDArray[np.int64],
    mine: NDArray[np.intp],
) -> _Set:
    """Put values, ascending, together by group, and find those of the group of each row."""
    # few bits are sorted in one pass
    order = np.argsort(group.astype(np.uint16 if groups < 2**16 else np.int64), kind="stable")
    group, value, count = group[order], value[order], count[order]
    first = np.flatnonzero(
        np.concatenate([[True], (group[1:] != group[:-1]) | (value[1:] != value[:-1])])
    )
    ends = np.cumsum(np.bincount(group[first], minlength=groups))
    return _Set(
        value[first],
        np.add.reduceat(count, first),
        np.concatenate([[0], ends])[mine],
        ends[mine],
    )


def _laid_out(
    rows: NDArray[np.intp],
    part: NDArray[np.intp],
    sets: Sequence[_Set],
    overall: NDArray[np.int64],
) -> Distributions:
    """The values of some rows one after another, those of several sets added up."""
    pairs: list[NDArray[np.intp]] = []
    counts: list[NDArray[np.int64]] = []
    for one in sets:
        start, length = one.start[part], (one.stop - one.start)[part]
        owner = np.repeat(np.arange(len(part)), length)
        at = np.arange(len(owner)) + np.repeat(start - np.cumsum(length) + length, length)
        pairs.append(owner * len(overall) + one.value[at])
        counts.append(one.count[at])
    pair, count = np.concatenate(pairs), np.concatenate(counts)
    if len(sets) > 1:
        order = np.argsort(pair, kind="stable")  # merges what is ascending already
        pair, count = pair[order], count[order]
        first = np.flatnonzero(np.concatenate([[True], pair[1:] != pair[:-1]]))
        pair, count = pair[first], np.add.reduceat(count, first)
    owner, value = np.divmod(pair, len(overall))
    return Distributions(rows[part], owner, value, count, overall)
