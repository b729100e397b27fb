"""What sensitive values the records that agree in their keys show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diskret.risk.frequencies import Missing, check_missing
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
    check_missing(missing, 1.0)
    found, sizes = _classes(keys, missing, known)
    counted = np.bincount(values)
    number = (np.cumsum(counted > 0) - 1).astype(np.int32)[values]
    overall = counted[counted > 0]
    cells = classes([found.of.astype(np.int32), number], [len(found.count), len(overall)])
    made: NDArray[np.float64] | None = None
    for part in _parts(found.codes, sizes, cells, overall, missing == "wildcard"):
        figures = measure(part)
        if made is None:
            made = np.empty((len(figures), len(found.count)))
        made[:, part.rows] = figures
    return np.empty((0, keys.n)) if made is None else made[:, found.of]


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
    shown = codes >= 0
    patterns = classes(list(shown.T.astype(np.int32)), [2] * shown.shape[1])
    for pattern in range(len(patterns.count)):
        rows = np.flatnonzero(patterns.of == pattern)
        both = (patterns.codes > 0) & (patterns.codes[pattern] > 0)
        shared = classes(list(both.T.astype(np.int32)), [2] * both.shape[1])
        sets = [
            _projected(codes, sizes, mask, rows, np.flatnonzero(there), cells)
            for mask, there in (
                (shared.codes[i] > 0, (shared.of == i)[patterns.of[owner]])
                for i in range(len(shared.count))
            )
        ]
        length = np.sum([one.stop - one.start for one in sets], axis=0)
        block = np.cumsum(length) // _BLOCK
        for part in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(block)) + 1):
            yield _joined(rows, part, sets, overall)


@dataclass(frozen=True, eq=False)
class _Set:
    """Values of records that share some keys with a pattern: those of a row from start to stop."""

    value: NDArray[np.intp]
    count: NDArray[np.int64]
    start: NDArray[np.intp]
    stop: NDArray[np.intp]


def _projected(
    codes: NDArray[np.int32],
    sizes: Sequence[int],
    mask: NDArray[np.bool_],
    rows: NDArray[np.intp],
    at: NDArray[np.intp],
    cells: Classes,
) -> _Set:
    """Group cells by what they show in some keys, and find the group of each row."""
    theirs = codes[cells.codes[at, 0]]
    columns = [np.concatenate([codes[rows][:, j], theirs[:, j]]) for j in np.flatnonzero(mask)]
    columns.append(np.zeros(len(rows) + len(at), dtype=np.int32))  # there may be none
    groups = classes(columns, [*np.array(sizes)[mask].tolist(), 1])
    mine, other = groups.of[: len(rows)], groups.of[len(rows) :]
    value = cells.codes[at, 1]
    width = int(value.max()) + 1
    pairs = classes([other.astype(np.int32), value], [len(groups.count), width])
    count = np.bincount(pairs.of, weights=cells.count[at]).astype(np.int64)
    start = np.searchsorted(pairs.codes[:, 0], mine, side="left")
    stop = np.searchsorted(pairs.codes[:, 0], mine, side="right")
    return _Set(pairs.codes[:, 1].astype(np.intp), count, start, stop)


def _joined(
    rows: NDArray[np.intp],
    part: NDArray[np.intp],
    sets: Sequence[_Set],
    overall: NDArray[np.int64],
) -> Distributions:
    owners: list[NDArray[np.intp]] = []
    values: list[NDArray[np.intp]] = []
    counts: list[NDArray[np.int64]] = []
    for one in sets:
        start, length = one.start[part], (one.stop - one.start)[part]
        owner = np.repeat(np.arange(len(part)), length)
        at = np.arange(len(owner)) + np.repeat(start - np.cumsum(length) + length, length)
        owners.append(owner)
        values.append(one.value[at])
        counts.append(one.count[at])
    if len(sets) == 1:
        return Distributions(rows[part], owners[0], values[0], counts[0], overall)
    pair = np.concatenate(owners) * len(overall) + np.concatenate(values)
    found, of = np.unique(pair, return_inverse=True)
    count = np.bincount(of, weights=np.concatenate(counts)).astype(np.int64)
    owner, value = np.divmod(found, len(overall))
    return Distributions(rows[part], owner, value, count, overall)
