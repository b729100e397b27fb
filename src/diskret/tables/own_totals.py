"""Totals that a file holds under a code that nobody said is one."""

# pyarrow has no type information for its compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy.codes import some
from diskret.tables.add_up import add_up
from diskret.tables.dimension import Dimension
from diskret.tables.some_totals import sums_of_some, twins

#: One in so many: less likely than that, and chance is no explanation.
_ODDS = 1000.0
#: The same for a code of a file of cells that nobody put into a tree: it is the total often.
_OWN_ODDS = 20.0
#: What totals are called: a code of this name that is the sum of others is no chance.
_NAMES = frozenset(
    {
        "total", "totals", "all", "sum", "overall", "grand total", "insgesamt", "gesamt", "summe",
        "zusammen", "alle", "gesamtsumme", "ensemble", "totaal", "totale",
    }
)  # fmt: skip
#: The same for a warning about sums.
_LITTLE_ODDS = 10.0
#: So many classifying variables, and largest rows, are looked at together, for files with a grand
#: total only.
_TOGETHER = 8
#: A file with subtotals on so many levels, the total's own included: all its other codes sum to so
#: many totals.
_LEVELS = 5
_ROUNDING_ERROR = 1e-9
#: Larger tables are not searched for sums of some codes.
_LARGEST = 4_000_000


@dataclass(frozen=True)
class OwnTotal:
    """Codes (by dimension) whose rows are sums, and what speaks for it.

    `levels` is 1 if they are the sum of the other codes, k if these sum to k times the total;
    `parts` names the codes that they are the sum of where these are not all; `twins` further codes
    with the same rows.
    """

    codes: Mapping[str, str]
    evidence: Evidence
    levels: int = 1
    parts: tuple[str, ...] = ()
    twins: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """In one of how many cases rows are the sums of others by chance.

    `sums` looks at combinations with two parts or more that are not empty. Where there is only
    one, two codes are merely equal; `equal` is that of such combinations, if there are several.
    """

    sums: float
    equal: float = 1.0

    @property
    def odds(self) -> float:
        """Of all that speaks for a total."""
        with np.errstate(over="ignore"):
            return float(np.float64(self.sums) * self.equal)

    def among(self, tried: int) -> Evidence:
        """What is left of it where so many parents were looked at."""
        return Evidence(self.sums / max(tried, 1), self.equal)

    def refuses(self, least: float) -> bool:
        """Equal codes alone are no reason: categories are equal often."""
        return self.sums >= least

    @property
    def warns(self) -> bool:
        """Whether there is more than a coincidence that small tables are full of."""
        return self.sums >= _LITTLE_ODDS or self.odds >= _ODDS


@dataclass(frozen=True, eq=False)
class LeafRows:
    """What a file says of the combinations of leaves.

    position: positions of the leaf codes in their trees, ``(rows, d)``.
    values: every column of the file in scaled integers, ``(rows, columns)``.
    half: half the unit that each column is rounded to, 0 where it is exact, ``(columns,)``.
    """

    dimensions: tuple[Dimension, ...]
    position: NDArray[np.integer]
    values: NDArray[np.int64]
    half: NDArray[np.int64]

    def matches(
        self, total: NDArray[np.bool_], parts: NDArray[np.bool_], apart: set[int], times: int = 1
    ) -> Evidence | None:
        """What speaks for some rows being the sums of others; None if they are not, or nothing.

        Sums are compared for each combination of the codes of the dimensions that are not
        `apart`, the total taken so many `times`.
        """
        rows = np.flatnonzero(total | parts)
        shape = tuple(1 if i in apart else len(d) for i, d in enumerate(self.dimensions))
        codes = tuple(
            0 * self.position[rows, i] if i in apart else self.position[rows, i]
            for i in range(len(shape))
        )
        group = np.asarray(np.ravel_multi_index(codes, shape), dtype=np.int64)
        order = np.argsort(group, kind="stable")
        rows, group = rows[order], group[order]
        if not len(rows):
            return None
        starts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
        given = self.values[rows]
        summed = np.add.reduceat(np.where(parts[rows, None], given, 0), starts)
        shown = np.add.reduceat(np.where(total[rows, None], given, 0), starts)
        slack = times * self.half * np.add.reduceat(np.ones_like(given), starts)
        if (np.abs(times * shown - summed) > slack).any():
            return None
        filled = parts[rows] & (given != 0).any(axis=1)
        number = np.add.reduceat(filled.astype(np.int64), starts)
        # one column alone: of contributors alike, the sums agree where their numbers do
        chance = (1 + np.abs(shown) / (2 * slack + 1)).max(axis=1)
        alone = chance[number == 1]
        with np.errstate(over="ignore"):
            sums = float(np.prod(chance[number > 1]))
            equal = float(np.prod(alone)) if np.count_nonzero(alone > 1) > 1 else 1.0
        return Evidence(sums, equal) if max(sums, equal) > 1 else None


def leaf_rows(
    dimensions: tuple[Dimension, ...],
    at: NDArray[np.int64],
    columns: Sequence[NDArray[np.int64]],
    half: NDArray[np.int64],
) -> LeafRows:
    """Of the rows of a file, at flat positions `at`, those of combinations of leaves."""
    position = np.column_stack(np.unravel_index(at, tuple(len(d) for d in dimensions)))
    leaf = np.ones(len(at), dtype=bool)
    for axis, dimension in enumerate(dimensions):
        leaf &= dimension.hierarchy.is_leaf[position[:, axis]]
    return LeafRows(dimensions, position[leaf], np.column_stack(columns)[leaf], half)


def check_own_totals(
    rows: LeafRows,
    said: Collection[str],
    source: Literal["cells", "records"],
    in_trees: Collection[str] = (),
) -> None:
    """Refuse codes whose rows are the sums of those of the other codes.

    Such a code is a total that nobody said is one: it would be added up as if it were a
    category, so that all totals double, and twice a cell is published beside it. That an
    equation holds in every combination of the other variables and in every column can be
    chance in a small table; then there is a warning, or nothing is said. Two equal codes
    are no sum: where every combination has one part at most there is a warning at most.

    said: names of the dimensions whose total the user has said; they are not looked at.
    source: what the file holds. In records a total needs two parts that are not empty, and nothing
        is said of what may be chance.
    in_trees: names of the dimensions whose codes the user has put into a tree.
    """
    if not len(rows.position):
        return
    found = [*_singles(rows, said, 1 if source == "cells" else 2)]
    if not found:
        found = [*_among(rows, said)]
    if source == "cells" and not found:
        found = [*_together(rows, said)]
    if not found:
        return
    worst = max(found, key=lambda total: (total.evidence.sums, total.evidence.odds))
    told = _told(worst, [t for t in found if t is not worst], rows.dimensions, source)
    own = source == "cells" and not any(n in in_trees for n in worst.codes)
    called = all(code.strip(" :").lower() in _NAMES for code in worst.codes.values())
    if worst.evidence.refuses(1.0 if called else _OWN_ODDS if own else _ODDS):
        raise InputError(told)
    if source == "cells" and worst.evidence.warns:
        warnings.warn(told, stacklevel=5)


def _singles(rows: LeafRows, said: Collection[str], fewest: int) -> Iterator[OwnTotal]:
    """Codes that are the sum of the others below their parent, one dimension at a time."""
    for axis, dimension in enumerate(rows.dimensions):
        if dimension.name in said:
            continue
        tree, below = dimension.hierarchy, _Below(rows, axis)
        summed, number, filled = _margins(rows, axis)
        leaf = np.flatnonzero(tree.is_leaf & (tree.parent >= 0))
        leaf = leaf[(filled[leaf] > 0) & (filled[tree.parent[leaf]] > fewest)]
        above = tree.parent[leaf]
        tried = len(np.unique(above))
        worth = _worth(rows, axis, tried)[above]
        leaf, above = leaf[worth], above[worth]
        for levels in range(1, _LEVELS + 1):
            off = np.abs((levels + 1) * summed[leaf] - summed[above])
            close = (
                _ROUNDING_ERROR * np.abs(summed[above]) + levels * rows.half * number[above, None]
            )
            likely = (off <= close).all(axis=1)
            for code, parent in zip(leaf[likely].tolist(), above[likely].tolist(), strict=True):
                first, last = np.searchsorted(leaf, (parent, below.end[parent]))
                others = leaf[first:last][above[first:last] == parent]
                others = others[others != code]
                if levels > 1 and (summed[others, 0] >= summed[code, 0]).any():
                    continue  # a total of several parts is larger than any of them
                some = below.rows(parent)
                total = some.position[:, axis] == code
                evidence = some.matches(total, ~total, {axis}, levels)
                if evidence is not None:
                    named = {dimension.name: tree.codes[code]}
                    yield OwnTotal(named, evidence.among(tried), levels)


def _among(rows: LeafRows, said: Collection[str]) -> Iterator[OwnTotal]:
    """Codes that are the sum of some of the others below a parent, or of all but their twins."""
    for axis, dimension in enumerate(rows.dimensions):
        tree, below = dimension.hierarchy, _Below(rows, axis)
        if dimension.name in said:
            continue
        parents, tried = _worth_looking(rows, axis)
        for parent in parents:
            some = below.rows(parent)
            own = some.position[:, axis]
            codes = tree.children[parent]
            codes = codes[tree.is_leaf[codes]]
            values, half = _side_by_side(some, axis, codes)
            if values is None:
                continue
            for same in twins(values):
                total, every = own == codes[same[0]], np.isin(own, codes[same])
                evidence = some.matches(total, np.isin(own, codes) & ~every, {axis})
                if evidence is not None:
                    one, *more = (tree.codes[codes[i]] for i in same)
                    named = {dimension.name: one}
                    yield OwnTotal(named, evidence.among(tried), twins=tuple(more))
            for found in sums_of_some(values, half):
                parts = np.isin(own, codes[list(found.parts)])
                evidence = some.matches(own == codes[found.code], parts, {axis})
                if evidence is not None:
                    named = tuple(tree.codes[codes[i]] for i in found.parts)
                    weaker = Evidence(evidence.sums / found.tried).among(tried)
                    yield OwnTotal(
                        {dimension.name: tree.codes[codes[found.code]]}, weaker, 1, named
                    )


class _Below:
    """The rows of a code and of all codes below it; a tree is depth first, so they are a range."""

    def __init__(self, rows: LeafRows, axis: int):
        self.end = rows.dimensions[axis].hierarchy.ends
        self._all = rows
        self._order = np.argsort(rows.position[:, axis], kind="stable")
        self._ranked = rows.position[self._order, axis]

    def rows(self, code: int) -> LeafRows:
        first, last = np.searchsorted(self._ranked, (code, self.end[code]))
        here = np.sort(self._order[first:last])
        return replace(self._all, position=self._all.position[here], values=self._all.values[here])


def _worth_looking(rows: LeafRows, axis: int) -> tuple[list[int], int]:
    """Parents of three leaves or more that are worth it, and how many there are altogether."""
    tree = rows.dimensions[axis].hierarchy
    leaf = np.flatnonzero(tree.is_leaf & (tree.parent >= 0))
    parents, number = np.unique(tree.parent[leaf], return_counts=True)
    tried = int((number > 2).sum())
    return parents[_worth(rows, axis, tried)[parents] & (number > 2)].tolist(), tried


def _worth(rows: LeafRows, axis: int, tried: int) -> NDArray[np.bool_]:
    """For each code of a dimension whether a sum below it would be no chance.

    In a tree of many parents something small is the sum of its neighbours always. The largest
    value of each combination says how much may speak for a sum at most.
    """
    tree, own = rows.dimensions[axis].hierarchy, rows.position[:, axis]
    leaf = np.flatnonzero(tree.is_leaf & (tree.parent >= 0))
    shape = tuple(len(d) for d in rows.dimensions)
    at = list(rows.position.T.astype(np.int64))
    at[axis] = tree.parent[own].astype(np.int64)
    group = np.asarray(np.ravel_multi_index(tuple(np.maximum(one, 0) for one in at), shape))
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) != 0])
    largest = np.log1p(np.abs(rows.values).max(axis=1, initial=0).astype(np.float64))
    most = np.maximum.reduceat(largest[order], starts)
    odds = np.bincount(np.maximum(at[axis], 0)[order][starts], most, len(tree))
    worth = odds >= np.log(_LITTLE_ODDS * max(tried, 1))
    bare = pc.utf8_lower(pc.utf8_trim(pa.array(tree.codes, pa.string()), " :"))
    called = np.asarray(pc.is_in(bare, pa.array(sorted(_NAMES))))
    worth[tree.parent[leaf[called[leaf]]]] = True
    return worth


def _side_by_side(
    rows: LeafRows, axis: int, codes: NDArray[np.integer]
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
    """The values of some codes of a dimension, ``(codes, combinations and columns)``, and `half`.

    None if there are too many, or too few codes.
    """
    here = np.flatnonzero(np.isin(rows.position[:, axis], codes))
    shape = tuple(1 if i == axis else len(d) for i, d in enumerate(rows.dimensions))
    at = [0 * p if i == axis else p for i, p in enumerate(rows.position[here].T)]
    contexts, context = np.unique(np.ravel_multi_index(tuple(at), shape), return_inverse=True)
    columns = rows.values.shape[1]
    if len(codes) < 3 or len(codes) * len(contexts) * columns > _LARGEST:
        return None, rows.half
    values = np.zeros((len(codes), len(contexts), columns), dtype=np.int64)
    code = np.searchsorted(codes, rows.position[here, axis])
    values[code, context.ravel()] = rows.values[here]
    return values.reshape(len(codes), -1), np.tile(rows.half, len(contexts))


def _margins(
    rows: LeafRows, axis: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """For each code of a dimension: sums, number of rows, number of leaves that are not empty.

    Floats are good enough to leave most codes out.
    """
    tree, own = rows.dimensions[axis].hierarchy, rows.position[:, axis]
    filled = (rows.values != 0).any(axis=1)
    columns = [*rows.values.T, np.ones(len(own)), filled]
    summed = [np.bincount(own, column, len(tree)) for column in columns]
    margins = np.stack(summed, axis=1).astype(np.float64)
    margins[:, -1] = margins[:, -1] > 0
    add_up(margins, [tree])
    return margins[:, :-2], margins[:, -2], margins[:, -1]


def _together(rows: LeafRows, said: Collection[str]) -> Iterator[OwnTotal]:
    """Codes of a total over several dimensions at once, where the file has no other.

    The largest row is such a total wherever there is one.
    """
    axes = [i for i, d in enumerate(rows.dimensions) if d.name not in said][:_TOGETHER]
    size = np.abs(rows.values[:, 0])
    for largest in rows.position[np.flatnonzero(size == size.max())[:_TOGETHER]]:
        same = rows.position == largest
        for number in range(2, len(axes) + 1):
            for chosen in combinations(axes, number):
                of_total = same[:, chosen]
                evidence = rows.matches(of_total.all(axis=1), ~of_total.any(axis=1), set(chosen))
                if evidence is not None:
                    of = [(rows.dimensions[i], int(largest[i])) for i in chosen]
                    yield OwnTotal({d.name: d.hierarchy.codes[c] for d, c in of}, evidence)
                    return


def _named(total: OwnTotal) -> str:
    """The code of one dimension, and which."""
    name, code = next(iter(total.codes.items()))
    return f"{code!r} of {name!r}"


def _told(
    total: OwnTotal, others: Sequence[OwnTotal], dimensions: tuple[Dimension, ...], source: str
) -> str:
    codes = " and ".join(f"{code!r} of {name!r}" for name, code in total.codes.items())
    also = [f"{code!r} of {name!r}" for other in others for name, code in other.codes.items()]
    name, one = next(iter(total.codes)), len(total.codes) == 1
    root = next(d.hierarchy.total for d in dimensions if d.name == name)
    said = ", ".join(f"{name!r}: {code!r}" for name, code in total.codes.items())
    found = f"the code {codes} is the sum" if one else f"the codes {codes} are together the sum"
    remedy = f"If it is the total, say so: total={{{said}}}"
    if total.twins:
        twin = total.twins[0]
        return (
            f"the codes {_named(total)} and {twin!r} are each the sum of the other codes wherever "
            "there are values, so they seem to be totals of the file's own, the one said twice; as "
            f"categories they would treble all totals. Leave the rows of {twin!r} out and say what "
            f"the other one is: total={{{said}}}. If both are categories, confirm what the total "
            f"is called: total={{{name!r}: {root!r}}}"
        )
    if total.parts:
        return (
            f"the code {_named(total)} is the sum of {some(list(map(repr, total.parts)))} wherever "
            "there are values, so it seems to be a total of some codes; as a category it would be "
            f"counted twice in all totals. Give the tree that the codes of {name!r} belong to, or "
            "leave its rows out. If it is a category like the others, confirm what the total is "
            f"called: total={{{name!r}: {root!r}}}"
        )
    if total.levels > 1:
        found = f"{total.levels} times {found}"
        remedy = f"Give the tree that the codes of {name!r} belong to"
    elif source == "records":
        remedy = "If it is one, leave its records out"
    return (
        f"{found} of the other codes wherever there are values"
        f"{f' (as well as {some(also)})' if also else ''}, so it seems to be a total of the "
        f"file's own; as a category it would double all totals. {remedy}. If it is a category "
        f"like the others, confirm what the total is called: total={{{name!r}: {root!r}}}"
    )
