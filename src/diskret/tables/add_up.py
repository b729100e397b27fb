"""Arrays of cells: totals added up from parts, and totals that are given checked against them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from diskret.errors import AdditivityError, InputError
from diskret.hierarchy import Hierarchy
from diskret.tables.dimension import Dimension, describe
from diskret.texts.numbers import Count

_MAX_CELLS = 200_000_000
#: What is done about totals that are not the sum of their parts: they are refused, or every
#: total is computed from its parts.
Additivity = Literal["check", "totals"]
#: Cells for each code of a tree up to which its levels are added up, not its codes.
_NARROW = 100
_EXAMPLES = 5
_PARTS = 4


def check_size(dimensions: tuple[Dimension, ...]) -> tuple[int, ...]:
    """The shape of the table; refuses one that could not be held in memory."""
    shape = tuple(len(d) for d in dimensions)
    cells = int(np.prod([int(n) for n in shape], dtype=object)) if shape else 1
    if cells > _MAX_CELLS:
        sizes = " × ".join(f"{d.name} {len(d)}" for d in dimensions)
        raise InputError(
            f"the table would have {cells:,} cells ({sizes}); at most {_MAX_CELLS:,} are "
            "possible: use fewer dimensions or coarser codes"
        )
    return shape


def add_up(dense: NDArray[Any], trees: list[Hierarchy]) -> NDArray[Any]:
    """Fill all totals with the sums of their parts, in place; leaves must be filled."""
    for axis, tree in enumerate(trees):
        along = np.moveaxis(dense, axis, 0)
        if dense.size <= _NARROW * len(tree):
            _add_levels(along, tree)
            continue
        for code in range(len(tree) - 1, -1, -1):
            children = tree.children[code]
            if len(children):
                along[code] = along[children].sum(axis=0, dtype=dense.dtype)
    return dense


def _add_levels(along: NDArray[Any], tree: Hierarchy) -> None:
    """Level by level, all parents at once: trees are depth first, so siblings stand together."""
    for level in range(int(tree.level.max()), 0, -1):
        here = np.flatnonzero(tree.level == level)
        starts = np.flatnonzero(np.diff(tree.parent[here], prepend=-1))
        parts = np.add.reduceat(along[here], starts, axis=0, dtype=along.dtype)
        along[tree.parent[here[starts]]] = parts


def merge_up(top: NDArray[np.int64], trees: list[Hierarchy]) -> NDArray[np.int64]:
    """Fill the largest contributions of all totals from those of their parts, in place."""
    kept = top.shape[-1]
    if kept == 0:
        return top
    for axis, tree in enumerate(trees):
        along = np.moveaxis(top, axis, 0)
        for code in range(len(tree) - 1, -1, -1):
            children = tree.children[code]
            if len(children):
                along[code] = largest_of(along[children])
    return top


def largest_of(parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The largest of several cells' largest, ``(cells, …, k)`` → ``(…, k)``, descending.

    Right where no contributor is in two of the cells.
    """
    kept = parts.shape[-1]
    if kept == 0:
        return parts[0]
    together = np.moveaxis(parts, 0, -2)
    return descending(together.reshape(*together.shape[:-2], -1), kept)


def descending(values: NDArray[np.int64], kept: int) -> NDArray[np.int64]:
    """The largest values of each line, ``(…, n)`` → ``(…, kept)``, descending."""
    if values.shape[-1] > 4 * kept:
        values = np.partition(values, values.shape[-1] - kept, axis=-1)[..., -kept:]
    return np.sort(values, axis=-1)[..., ::-1][..., :kept]


def leaf_mask(dimensions: tuple[Dimension, ...]) -> NDArray[np.bool_]:
    """The combinations of leaves, shape of the table."""
    leaf = np.zeros(tuple(len(d) for d in dimensions), dtype=bool)
    leaf[np.ix_(*(d.hierarchy.is_leaf for d in dimensions))] = True
    return leaf


@dataclass(frozen=True)
class Recomputed:
    """What became of the totals of one column when they were computed anew. Confidential.

    column: name of the column.
    totals: how many totals the file holds.
    changed: how many of them were not the sum of their parts.
    largest: the largest change in words; empty if nothing changed.
    contributions: at how many changed totals the largest contributions of the file are impossible,
        so that those of the parts took their place.
    """

    column: str
    totals: int
    changed: int = 0
    largest: str = ""
    contributions: int = 0

    def __str__(self) -> str:
        said = f"{self.changed:,} of {self.totals:,} totals of {self.column!r} changed"
        if self.largest:
            said += f"; the largest change: {self.largest}"
        if self.contributions:
            said += (
                f"; at {self.contributions:,} of them the largest contributions are now those of "
                "the parts"
            )
        return said


def check_additivity(additivity: str, rounding: float | None) -> None:
    """Refuse what is no way to treat totals."""
    if additivity not in ("check", "totals"):
        raise InputError(f"additivity must be 'check' or 'totals', not {additivity!r}")
    if additivity == "totals" and rounding is not None:
        raise InputError(
            "additivity='totals' cannot be combined with rounding=: rounded totals are published "
            "as they are, and need not be the sum of their rounded parts; correct those that are "
            "off by more"
        )


def complete(
    dimensions: tuple[Dimension, ...],
    at: NDArray[np.int64],
    given: NDArray[np.int64],
    name: str,
    decimals: int,
    *,
    rounding: int = 1,
    additivity: Additivity = "check",
) -> tuple[NDArray[np.int64], Recomputed | None]:
    """All cells of a table, totals added up from the leaves.

    Leaves that are not given are 0. Where values are rounded, each may be off by half a
    unit, and so may each part.

    at: flat positions of the cells that are given, ``(rows,)``.
    given: their values in scaled integers, ``(rows,)``.
    name, decimals: name and decimals of the column, for messages.
    rounding: scaled units that given values are multiples of.
    additivity: ``"check"``: given totals must be the sums of their parts. ``"totals"``: sums of the
        parts take their place.
    """
    shape = tuple(len(d) for d in dimensions)
    trees = [d.hierarchy for d in dimensions]
    leaf = leaf_mask(dimensions)
    shown = np.zeros(shape, dtype=np.int64)
    shown.ravel()[at] = given
    added = np.where(leaf, shown, 0)
    if float(np.abs(added.astype(np.float64)).sum()) >= 2.0**62:
        raise InputError(f"the totals of {name!r} leave the range of 64-bit integers")
    added = add_up(added, trees)
    there = np.zeros(shape, dtype=bool)
    there.ravel()[at] = True
    file = _File(dimensions, name, decimals, there, np.where(there, shown, added))
    if additivity == "totals":
        return added, _recomputed(file, added, leaf)
    _check(file, added, leaf_number(dimensions), rounding // 2)
    return added, None


def leaf_number(dimensions: tuple[Dimension, ...]) -> NDArray[np.int64]:
    """How many leaf combinations each cell holds, shape of the table."""
    one = leaf_mask(dimensions).astype(np.int64)
    return add_up(one, [d.hierarchy for d in dimensions])


@dataclass(frozen=True, eq=False)
class _File:
    """What a file says: which cells are there, and every value, added up where it is not."""

    dimensions: tuple[Dimension, ...]
    name: str
    decimals: int
    there: NDArray[np.bool_]
    shown: NDArray[np.int64]

    def amount(self, scaled: int) -> str:
        """A scaled integer as users write it."""
        return f"{scaled / 10**self.decimals:,.{self.decimals}f}"


def _recomputed(file: _File, added: NDArray[np.int64], leaf: NDArray[np.bool_]) -> Recomputed:
    change = np.abs(file.shown - added).ravel()
    totals = int((file.there & ~leaf).sum())
    changed = int((change > 0).sum())
    if not changed:
        return Recomputed(file.name, totals)
    cell = int(change.argmax())
    before, after = (file.amount(int(values.ravel()[cell])) for values in (file.shown, added))
    where = describe(file.dimensions, cell)
    return Recomputed(file.name, totals, changed, f"{where} from {before} to {after}")


def _check(file: _File, added: NDArray[np.int64], leaves: NDArray[np.int64], half: int) -> None:
    """Refuse equations total = parts that do not hold, one dimension after the other.

    If any given total differs from its leaves, the lowest such total breaks an equation with
    its own parts; so where values are exact these equations are enough.
    """
    off = half * np.where(file.there, 1, leaves)
    wrong: list[str] = []
    broken, asked = 0, 0
    for axis, dimension in enumerate(file.dimensions):
        shown, there, slack = (np.moveaxis(a, axis, 0) for a in (file.shown, file.there, off))
        for code, parts in enumerate(dimension.hierarchy.children):
            if not len(parts):
                continue
            summed = shown[parts].sum(axis=0)
            allowed = slack[code] + slack[parts].sum(axis=0)
            fails = there[code] & (np.abs(shown[code] - summed) > allowed)
            asked += int(there[code].sum())
            broken += int(fails.sum())
            for others in np.argwhere(fails)[: _EXAMPLES - len(wrong)].tolist():
                wrong.append(_equation(file, axis, code, others))
    if not broken and half:
        broken, asked, wrong = _against_leaves(file, added, leaves, half)
    if broken:
        # rounded totals are published as they are, so they cannot be computed anew
        remedy = (
            "totals of rounded values may be off by half a unit for each value; is rounding= the "
            "unit of the file?"
            if half
            else "or leave the totals out, or give additivity='totals', to have them added up from "
            "their parts"
        )
        raise AdditivityError(
            f"{broken:,} of {asked:,} equations of {file.name!r} {Count(broken):does|do} not "
            f"hold: {'; '.join(wrong)}. Correct the values; {remedy}"
        )


def _equation(file: _File, axis: int, code: int, others: list[int]) -> str:
    """One equation that does not hold, in words."""
    dimension = file.dimensions[axis]
    children = dimension.hierarchy.children[code]

    def at(i: int) -> tuple[int, ...]:
        return (*others[:axis], i, *others[axis:])

    cell = int(np.ravel_multi_index(at(code), file.shown.shape))
    total = int(file.shown[at(code)])
    summed = sum(int(file.shown[at(i)]) for i in children.tolist())
    parts = [
        f"{dimension.hierarchy.codes[i]} {file.amount(int(file.shown[at(i)]))}"
        + ("" if file.there[at(i)] else " (not in the file)")
        for i in children[:_PARTS].tolist()
    ]
    if len(children) > _PARTS:
        parts.append(f"{len(children) - _PARTS:,} more")
    return (
        f"{describe(file.dimensions, cell)}: {file.amount(total)} given, its parts along "
        f"{dimension.name!r} ({' + '.join(parts)}) sum to {file.amount(summed)} "
        f"(difference {file.amount(total - summed)})"
    )


def _against_leaves(
    file: _File, added: NDArray[np.int64], leaves: NDArray[np.int64], half: int
) -> tuple[int, int, list[str]]:
    """Given totals of rounded values that no values of the leaves allow."""
    fails = file.there & (np.abs(file.shown - added) > half * (1 + leaves))
    cells = np.flatnonzero(fails.ravel())
    wrong: list[str] = []
    for cell in cells[:_EXAMPLES].tolist():
        total, summed = int(file.shown.ravel()[cell]), int(added.ravel()[cell])
        wrong.append(
            f"{describe(file.dimensions, cell)}: {file.amount(total)} given, its "
            f"{int(leaves.ravel()[cell]):,} inner cells sum to {file.amount(summed)} "
            f"(difference {file.amount(total - summed)})"
        )
    return len(cells), int(file.there.sum()), wrong
