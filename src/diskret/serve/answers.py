"""Answers, and the memory of those that were given: bounded, and never another answer."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import DiskretError
from diskret.serve.data import DataSet
from diskret.serve.measures import MORE, RATIO, mean, ratio
from diskret.serve.question import Family, Question


class Refused(DiskretError):
    """A question that is not answered, because of what the answer might tell.

    `coarser`: what may be asked in its place, as far as is known; each counts when it is asked.
    """

    def __init__(self, said: str, coarser: tuple[Question, ...] = ()):
        super().__init__(said)
        self.coarser = coarser


@dataclass(frozen=True, eq=False)
class Shown:
    """What is shown of a family of cells: nothing of it is confidential.

    `value`: perturbed counts or scaled sums, int64, in the shape of its variables; or true ones, 0
    where they are hidden. `impossible`: the cells that no record can be in, same shape. `sparse`:
    the table is refused. `hidden`: the cells that are suppressed, same shape; None: none is.
    """

    value: NDArray[np.int64]
    impossible: NDArray[np.bool_]
    sparse: bool
    hidden: NDArray[np.bool_] | None = None

    @property
    def bytes(self) -> int:
        """Of its cells."""
        hidden = 0 if self.hidden is None else self.hidden.nbytes
        return self.value.nbytes + self.impossible.nbytes + hidden


def is_sparse(value: NDArray[np.int64], small: int, share: float) -> bool:
    """Whether too many cells that show somebody show only few; shown counts decide.

    >>> is_sparse(np.array([0, 3, 3, 90]), 3, 0.5), is_sparse(np.array([0, 3, 40, 90]), 3, 0.5)
    (True, False)
    """
    somebody = int(np.count_nonzero(value > 0))
    few = int(np.count_nonzero((value > 0) & (value <= small)))
    return few > share * somebody


@dataclass(frozen=True, eq=False)
class Answer:
    """A table as it was asked for. It may leave.

    Parameters
    ----------
    question
        What was asked.
    codes
        Variable → codes, in the order of the table.
    value
        What is shown, int64, in the shape of `codes`: counts, or figures in units of
        10**-`decimals`.
    impossible
        Cells that no record can be in, same shape.
    decimals
        Of the figures.
    undefined
        Cells without a figure, since what it is divided by shows 0; same shape, None for none.
    hidden
        Cells that are suppressed, or whose figure follows from one that is; same shape, None for
        none.
    """

    question: Question
    codes: dict[str, tuple[str, ...]]
    value: NDArray[np.int64]
    impossible: NDArray[np.bool_]
    decimals: int = 0
    undefined: NDArray[np.bool_] | None = None
    hidden: NDArray[np.bool_] | None = None

    @property
    def column(self) -> str:
        """What the column of figures is called: count, sum, mean or ratio; no variable is."""
        return _free(self.question.measure, self.codes)

    @property
    def without(self) -> NDArray[np.bool_]:
        """Cells without a figure, in the shape of `codes`."""
        none = self.impossible if self.undefined is None else self.impossible | self.undefined
        return none if self.hidden is None else none | self.hidden

    @property
    def status(self) -> NDArray[np.object_]:
        """Of each cell, in the shape of `codes`: published | suppressed | empty | undefined."""
        status = np.where(self.without, "undefined", "published").astype(object)
        status[self.impossible] = "empty"
        if self.hidden is not None:
            status[self.hidden] = "suppressed"
        return status

    def cells(self) -> pa.Table:
        """A row for each cell: codes, figure, and `status`.

        Impossible cells are empty and have no figure; all others without anybody show 0.
        """
        columns = {
            name: pa.array(np.array(self.codes[name], dtype=object)[place.ravel()], pa.string())
            for name, place in zip(self.codes, np.indices(self.value.shape), strict=True)
        }
        figures = self.value.ravel()
        if self.decimals:
            figures = figures / 10**self.decimals
        columns[self.column] = pa.array(figures, mask=self.without.ravel())
        columns[_free("status", columns)] = pa.array(self.status.ravel())
        return pa.table(columns)


def _free(name: str, taken: Container[str]) -> str:
    while name in taken:
        name += "_"
    return name


def answer_of(
    question: Question, family: Family, shown: Shown, data: DataSet, *sums: Shown
) -> Answer:
    """Pick the cells of a question from its family, in the order in which they were asked for.

    `sums`: of the measures of the question.
    """
    codes = question.codes(data)

    def picked(cells: NDArray[Any]) -> NDArray[Any]:
        return _picked(question, codes, family, cells, data)

    count, impossible = picked(shown.value), picked(shown.impossible)
    # a quotient is hidden where either of its figures is
    used = (shown, *sums) if question.measure == "mean" or not sums else sums
    masks = [picked(one.hidden) for one in used if one.hidden is not None]
    hidden = np.logical_or.reduce(masks) if masks else None
    if not sums:
        return Answer(question, codes, count, impossible, hidden=hidden)
    totals = [picked(one.value) for one in sums]
    decimals = [data.measure[name].decimals for name in question.measures]
    none = None
    match question.measure:
        case "sum":
            value, places = totals[0], decimals[0]
        case "mean":
            (value, none), places = mean(totals[0], count), decimals[0] + MORE
        case _:
            (value, none), places = ratio(totals[0], totals[1], decimals[1] - decimals[0]), RATIO
    return Answer(question, codes, value, impossible, places, none, hidden)


def _picked(
    question: Question,
    codes: Mapping[str, tuple[str, ...]],
    family: Family,
    cells: NDArray[Any],
    data: DataSet,
) -> NDArray[Any]:
    """Cells of a family in the shape of `codes`."""
    kept = dict(question.where)
    for axis, name in enumerate(family.variables):
        if name in kept or family.level(name) != question.level(name):
            variable = data.variable[name]
            # any code below says which cell is meant; those of a filter are one cell
            own = codes.get(name, kept.get(name, ())[:1])
            leaves = [variable.below(code)[0] for code in own]
            at = variable.level(family.level(name)).group[variable.places(leaves)]
            cells = cells.take(at, axis)
    rest = [name for name in family.variables if name not in question.by]
    order = [family.variables.index(name) for name in (*question.by, *rest)]
    return cells.transpose(order).reshape(tuple(len(codes[name]) for name in question.by))


class Memory:
    """Families that were computed lately, up to so many bytes; safe with several threads.

    Parameters
    ----------
    limit
        Bytes, ≥ 0; what was used longest ago goes first.
    """

    def __init__(self, limit: int = 2**28):
        self.limit = limit
        self._kept: OrderedDict[Family, Shown] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def bytes(self) -> int:
        """That are in use."""
        return self._bytes

    def get(self, family: Family) -> Shown | None:
        """What is kept of a family."""
        with self._lock:
            if family in self._kept:
                self._kept.move_to_end(family)
            return self._kept.get(family)

    def keep(self, family: Family, shown: Shown) -> None:
        """Keep it, and let go what there is no room for."""
        with self._lock:
            before = self._kept.pop(family, None)
            self._bytes += _size(family, shown) - (0 if before is None else _size(family, before))
            self._kept[family] = shown
            while self._bytes > self.limit:
                self._bytes -= _size(*self._kept.popitem(last=False))


def _size(family: Family, shown: Shown) -> int:
    """Bytes of memory: of small tables, names and objects take more than cells (measured)."""
    return shown.bytes + 600 + 60 * sum(len(codes) for _, codes in family.where)
