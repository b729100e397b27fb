"""Smooth maps of counts on a grid, rounded until they tell of nobody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError, ProtectionError
from diskret.keys import SecretKeys
from diskret.rules import MinimumFrequency
from diskret.spatial.grid import Grid
from diskret.spatial.outlines import grid_of, squares_of_cells
from diskret.texts import words_in

if TYPE_CHECKING:
    from diskret.tables import Table

#: Steps to which a map is rounded, the finest first.
_STEPS = tuple(times * 10.0**power for power in range(-4, 5) for times in (1, 2, 5))
#: In so many of the nearest cells other people may live.
_NEAR = 24
#: A value nearer than that to where rounding changes is taken to change, in steps.
_MARGIN = 1e-6
_MOST_CELLS = 40_000_000

Move = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, eq=False)
class Smoothed:
    """A smooth map, and what was shown of it. Confidential but for `frame` and `step`.

    Parameters
    ----------
    frame
        PyArrow table, a row for each cell in which the map is not 0: ``cell``, ``value``.
    step
        All values are multiples of it.
    bandwidth
        Of the kernel, in metres.
    moves
        Unsafe cell → who might live elsewhere so that the map were the same, as cells and numbers
        of persons, less than 0 where they leave.
    """

    frame: pa.Table
    step: float
    bandwidth: float
    least: int
    moves: dict[str, dict[str, int]] = field(repr=False)

    def claim(self, language: str = "en") -> tuple[str, ...]:
        """What is claimed and what is not, in sentences, ``"en"`` or ``"de"``."""
        words = words_in(language, "spatial")
        return (
            words.said("smooth shown", number=len(self.moves), least=self.least),
            words["smooth others"],
        )


def smooth(
    table: Table,
    rule: MinimumFrequency,
    *,
    bandwidth: float,
    kernel: Literal["normal", "epanechnikov"] = "normal",
    step: float | None = None,
    keys: SecretKeys | str | PathLike[str] | None = None,
) -> Smoothed:
    """Smooth counts on a grid by a kernel, and round them so that no small count can be told.

    A smooth map alone keeps nothing secret: who knows the kernel computes the counts from it. Only
    rounding does. So for each cell with fewer persons than the rule asks for another map is
    looked for: people live elsewhere, nobody or enough of them in this cell, and all rounded
    values are the same; and the small counts near by might be others in that map, too. The finest
    rounding is taken with which there is one for each, from a step on that is drawn: were it the
    finest of all, everybody would know that a finer one told somebody, and could look for whom.

    Parameters
    ----------
    table
        From [`tabulate`][diskret.tabulate]: counts by cells of one grid and width, no other
        variable. Everybody is taken to know where somebody may live: the codes of its tree.
    rule
        Below how many persons a count is small.
    bandwidth
        Metres; the standard deviation of a normal kernel, which ends after three of them, or the
        radius of Epanechnikov's.
    kernel
        ``"normal"`` or ``"epanechnikov"`` (the product of one along each axis).
    step
        To what values are rounded, chosen without looking at what the map needs; None: one of
        0.0001, 0.0002, 0.0005, … 50,000.
    keys
        The office's keys, from which it is drawn with which of these the search begins, mostly
        with one of the finest; see [`SecretKeys`][diskret.SecretKeys].

    Returns
    -------
    Smoothed
        The map, and how each small count might be another.

    Raises
    ------
    InputError
        The table is of something else, or the grid has too many squares.
    ProtectionError
        With this step, or any, some small count has no other that gives the same map.

    References
    ----------
    E. de Jonge and P.-P. de Wolf (2016), Spatial smoothing and statistical disclosure control,
    Privacy in Statistical Databases, LNCS 9867 (smooth maps, judged by the values before).

    Examples
    --------
    >>> import diskret as dk
    >>> grid = dk.spatial.Grid(1_000)
    >>> land = dk.spatial.locate(dk.datasets.country(2_000).persons, grid)
    >>> table = dk.tabulate(land, by={"cell": grid.tree(land["cell"])})
    >>> keys = dk.SecretKeys(bytes(range(32)))
    >>> smooth(table, dk.rules.MinimumFrequency(5), bandwidth=2_000, keys=keys).frame.column_names
    ['cell', 'value']
    """
    grid, count, possible, corner = _raster(table)
    least = _least(rule)
    weight = _weights(bandwidth / grid.size, kernel)
    radius = len(weight) // 2
    value = _smoothed(count, weight)
    unsafe = np.argwhere((count > 0) & (count < least))
    tried = (float(step),) if step is not None else _drawn_steps(count, bandwidth, keys)
    if not all(0 < one < np.inf for one in tried):
        raise InputError(f"step must be a number above 0, not {step!r}")
    search = _Search(count, possible, value, weight, least)
    for one in tried:
        moves = search.moves(unsafe, one)
        if moves is not None:
            break
    else:
        raise ProtectionError(
            f"rounded to {tried[-1]:g}, this map tells a small count; use a larger step or "
            "bandwidth"
        )
    rounded = np.rint(value / one).astype(np.int64)
    at = np.argwhere(rounded > 0)
    south, west = (
        (place * grid.size + low) for place, low in zip((at - radius).T, corner, strict=True)
    )
    frame = pa.table({"cell": grid.ids(south, west), "value": rounded[tuple(at.T)] * one})
    said = {
        _code(grid, place, corner): {
            _code(grid, (row, column), corner): number for row, column, number in move
        }
        for place, move in moves.items()
    }
    return Smoothed(frame, one, float(bandwidth), least, said)


def _drawn_steps(count: NDArray[np.int64], bandwidth: float, keys: Any) -> tuple[float, ...]:
    """Steps from a drawn one on; one map in i² begins with the i-th or a coarser one."""
    purpose = f"first step of a smooth map: {bandwidth:.17g}"
    mark = SecretKeys.load(keys).fingerprint(purpose, [count.tobytes()])
    first = min(int(np.sqrt(2.0**64 / (int(mark[:16], 16) + 1))), len(_STEPS))
    return _STEPS[first - 1 :]


def _raster(
    table: Table,
) -> tuple[Grid, NDArray[np.int64], NDArray[np.bool_], tuple[int, int]]:
    """Grid, counts and possible cells by row and column, and the corner of the first one."""
    counted = table.count
    if len(table.dimensions) != 1 or counted is None:
        raise InputError("a smooth map is made of counts by cells alone; leave other variables out")
    tree = table.dimensions[0].hierarchy
    codes = [tree.codes[at] for at in tree.leaves.tolist()]
    squares = squares_of_cells(codes)
    if len(np.unique(squares[:, 2])) > 1:
        raise InputError("a smooth map is made of cells of one width; tabulate the finest grid")
    grid = grid_of(codes[0])
    west, south = squares[:, 0].min(), squares[:, 1].min()
    column, row = (squares[:, 0] - west) // grid.size, (squares[:, 1] - south) // grid.size
    shape = int(row.max()) + 1, int(column.max()) + 1
    if shape[0] * shape[1] > _MOST_CELLS:
        raise InputError(
            f"the map would have {shape[0] * shape[1]:,} cells, more than {_MOST_CELLS:,}; take a "
            "coarser grid"
        )
    count, possible = np.zeros(shape, np.int64), np.zeros(shape, bool)
    count[row, column] = counted[tree.leaves]
    possible[row, column] = True
    return grid, count, possible, (int(south), int(west))


def _least(rule: Any) -> int:
    if not isinstance(rule, MinimumFrequency) or rule.of is not None:
        raise InputError(f"{rule!r} cannot judge a smooth map; MinimumFrequency can")
    return rule.n


def _weights(bandwidth: float, kernel: str) -> NDArray[np.float64]:
    """The kernel along one axis, by cells; its sum is 1."""
    if not 0.2 <= bandwidth <= 500:
        raise InputError("bandwidth must be from a fifth of a cell's width to 500 times it")
    if kernel not in ("normal", "epanechnikov"):
        raise InputError(f"kernel must be 'normal' or 'epanechnikov', not {kernel!r}")
    radius = int(np.ceil(bandwidth * (3 if kernel == "normal" else 1)))
    away = np.arange(-radius, radius + 1) / bandwidth
    if kernel == "normal":
        weight = np.where(np.abs(away) <= 3, np.exp(-(away**2) / 2), 0.0)
    else:
        weight = np.maximum(1 - away**2, 0)
    return weight / weight.sum()


def _smoothed(count: NDArray[np.int64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """The map, larger than the counts by the kernel's radius on each side."""
    from scipy.ndimage import correlate1d

    padded = np.pad(count, len(weight) // 2).astype(np.float64)
    for axis in (0, 1):
        padded = correlate1d(padded, weight, axis=axis, mode="constant")
    return padded


def _code(grid: Grid, place: tuple[int, ...], corner: tuple[int, int]) -> str:
    south, west = (at * grid.size + low for at, low in zip(place, corner, strict=True))
    return grid.ids([south], [west])[0].as_py()


class _Search:
    """Looks for people who might live elsewhere without any value of the map being another."""

    def __init__(
        self,
        count: NDArray[np.int64],
        possible: NDArray[np.bool_],
        value: NDArray[np.float64],
        weight: NDArray[np.float64],
        least: int,
    ):
        from scipy.spatial import KDTree

        self.count, self.value, self.weight, self.least = count, value, weight, least
        self.places = np.argwhere(possible)
        self.tree = KDTree(self.places)

    def moves(self, unsafe: NDArray[np.int64], step: float) -> dict[tuple[int, int], Move] | None:
        """A move for each unsafe cell; None if one has none."""
        if not len(unsafe):
            return {}
        near = self.tree.query(unsafe, min(_NEAR + 1, len(self.places)))[1].reshape(len(unsafe), -1)
        found = dict[tuple[int, int], Move]()
        for (row, column), others in zip(unsafe.tolist(), self.places[near].tolist(), strict=True):
            here = row, column
            around = [(a, b) for a, b in others if (a, b) != here]
            found_one = (m for m in self._tried(here, around) if self._same(m, step))
            move = next((m for m in found_one if self._others_too(m, around, step)), None)
            if move is None:
                return None
            found[here] = move
        return found

    def _others_too(self, move: Move, around: Sequence[tuple[int, int]], step: float) -> bool:
        """Whether small counts near by might be others, too, if these people live elsewhere.

        Else nobody who knows how this is searched for would take the other map to be true.
        """
        changed = {(row, column): number for row, column, number in move}
        at, change = self._change(move)
        before = self.value[at].copy()
        self.value[at] += change
        for place, number in changed.items():
            self.count[place] += number
        try:
            small = (one for one in {*changed, *around} if 0 < self.count[one] < self.least)
            return all(self._might_be_another(one, step) for one in small)
        finally:
            self.value[at] = before
            for place, number in changed.items():
                self.count[place] -= number

    def _might_be_another(self, here: tuple[int, int], step: float) -> bool:
        others = self.tree.query(here, min(_NEAR + 1, len(self.places)))[1]
        around = [(a, b) for a, b in self.places[np.ravel(others)].tolist() if (a, b) != here]
        return any(self._same(move, step) for move in self._tried(here, around))

    def _same(self, move: Move, step: float) -> bool:
        """Whether the rounded map is the same if these people live elsewhere."""
        at, change = self._change(move)
        shown = self.value[at] / step
        fraction = shown - np.rint(shown)
        return bool((np.abs(fraction + change / step) < 0.5 - _MARGIN).all())

    def _change(self, move: Move) -> tuple[tuple[slice, slice], NDArray[np.float64]]:
        """Where a move changes the map, and by how much."""
        low = [min(place[axis] for place in move) for axis in (0, 1)]
        high = [max(place[axis] for place in move) for axis in (0, 1)]
        long = len(self.weight)
        change = np.zeros([b - a + long for a, b in zip(low, high, strict=True)])
        for row, column, number in move:
            at = (
                slice(row - low[0], row - low[0] + long),
                slice(column - low[1], column - low[1] + long),
            )
            change[at] += np.outer(number * self.weight, self.weight)
        rows, columns = change.shape
        return (slice(low[0], low[0] + rows), slice(low[1], low[1] + columns)), change

    def _tried(self, here: tuple[int, int], near: Sequence[tuple[int, int]]) -> Iterator[Move]:
        """All leave, or enough come: to and from one cell near by, or two on opposite sides."""
        people = int(self.count[here])
        there = set(near)
        for number in (people, people - self.least):  # who leaves; less than 0: who comes
            half = number // 2
            for one in near:
                other = 2 * here[0] - one[0], 2 * here[1] - one[1]
                if other in there and one < other:
                    move = (*here, -number), (*one, half), (*other, number - half)
                    if self._live(move):
                        yield move
                move = (*here, -number), (*one, number)
                if self._live(move):
                    yield move

    def _live(self, move: Move) -> bool:
        """Whether nobody leaves a cell who does not live there."""
        return all(int(self.count[row, column]) + number >= 0 for row, column, number in move)
