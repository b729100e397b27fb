"""Coarser tables: categories of a dimension are combined, or its tree is cut at a level."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.coarser import Recoding, combine, cut, cut_below
from diskret.hierarchy.codes import total_code
from diskret.tables.add_up import largest_of
from diskret.tables.contributions import Measure
from diskret.tables.dimension import Dimension
from diskret.tables.made_of import ANYWHERE
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.tables.table import Table


def recode(
    table: Table,
    dimension: str,
    groups: Mapping[str, Sequence[str]] | None,
    level: int | None,
    leaves: Sequence[str] | None,
    total: str | None,
) -> Table:
    """See [`Table.recode`][diskret.Table.recode]."""
    names = [d.name for d in table.dimensions]
    if dimension not in names:
        raise InputError(
            f"the table has no dimension {dimension!r}; it has {', '.join(map(repr, names))}"
        )
    if table.counted != "count":
        raise InputError(
            "units that are in several categories would count twice: combine categories before "
            "of_units()"
        )
    if table.count_within:
        raise InputError(
            f"the counts of this table are known to within {table.count_within} only, and what may "
            "be wrong adds up; combine the categories before the counts are rounded"
        )
    if table.shown is not None:
        raise InputError(
            "the cells of this table are rounded already, so sums of them are not what the exact "
            "values would be rounded to; combine categories before rounding"
        )
    if (
        table.weight is not None
        and groups is not None
        and any(m.largest.shape[-1] for m in table.measures)
    ):
        raise InputError(
            "the largest contributions of a weighted table cannot be combined; recode the records "
            "and tabulate them again, or cut the tree with level= instead"
        )
    axis = names.index(dimension)
    tree = table.dimensions[axis].hierarchy
    if sum(given is not None for given in (groups, level, leaves)) != 1:
        raise InputError(
            "recode needs one of groups= (codes to combine), level= (where to cut) and leaves= "
            "(codes whose finer ones go)"
        )
    if groups is not None:
        made = combine(tree, groups)
    elif level is not None:
        made = cut(tree, level)
    else:
        made = cut_below(tree, leaves or ())
    along = _Along(table, axis, tree, made)
    return replace(
        table,
        dimensions=tuple(
            Dimension(d.name, _with_total(made.hierarchy, total)) if i == axis else d
            for i, d in enumerate(table.dimensions)
        ),
        count=_maybe(table.count, along.added),
        units=_maybe(table.units, partial(along.counted, who="units")),
        holdings=_maybe(table.holdings, partial(along.counted, who="holdings")),
        measures=tuple(along.measure(m) for m in table.measures),
        key_sum=_maybe(table.key_sum, along.keys),
        marked={mark: along.added(number) for mark, number in table.marked.items()},
        made_of=None if table.made_of is None else ANYWHERE,
    )


@dataclass(frozen=True, eq=False)
class _Along:
    """A recoding of one axis of a table."""

    table: Table
    axis: int
    tree: Hierarchy
    made: Recoding

    def added(self, array: NDArray[Any]) -> NDArray[Any]:
        """What adds up: the combined code gets the sum of its parts."""
        old = np.moveaxis(array, self.axis, 0)
        new = old[self.made.source]
        for code, parts in self.made.parts.items():
            new[code] = old[parts].sum(axis=0, dtype=array.dtype)
        return np.ascontiguousarray(np.moveaxis(new, 0, self.axis))

    def counted(self, array: NDArray[np.int64], who: str) -> NDArray[np.int64]:
        """Distinct contributors, which add up where none is in two of the parts."""
        self._refuse(self._straddling(array), who)
        return self.added(array)

    def keys(self, array: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Key sums of the distinct units, modulo the modulus of the keys."""
        if self.table.units is not None:
            self._refuse(self._straddling(self.table.units), "units")
        old = np.moveaxis(array, self.axis, 0)
        new = old[self.made.source]
        for code, parts in self.made.parts.items():
            for part in parts[1:]:  # one by one: many sums below the modulus could overflow
                new[code] = (new[code] + old[part]) % np.uint64(self.table.key_modulus)
        return np.ascontiguousarray(np.moveaxis(new, 0, self.axis))

    def measure(self, measure: Measure) -> Measure:
        """Sums always add up; magnitudes and the largest only where nobody is in two parts."""
        ranked = {"units": self.table.units, "holdings": self.table.holdings}
        number = ranked.get(self.table.contributors)
        summed, magnitude = self.added(measure.sum), None
        if measure.nonnegative:
            magnitude = summed
        kept = measure.largest.shape[-1]
        if number is not None and (kept or measure.marked or magnitude is None):
            self._refuse(self._straddling(number), self.table.contributors)
        if self.table.contributors != "records":
            self._refuse(self._straddling_by_largest(measure.largest), self.table.contributors)
        return Measure(
            measure.name,
            measure.decimals,
            summed,
            self.added(measure.magnitude) if magnitude is None else magnitude,
            self._merged(measure.largest),
            {
                mark: self._merged(largest[..., None])[..., 0]
                for mark, largest in measure.marked.items()
            },
            measure.signed,
            measure.source,
        )

    def _merged(self, top: NDArray[np.int64]) -> NDArray[np.int64]:
        old = np.moveaxis(top, self.axis, 0)
        new = old[self.made.source]
        for code, parts in self.made.parts.items():
            new[code] = largest_of(old[parts])
        return np.ascontiguousarray(np.moveaxis(new, 0, self.axis))

    # ── who contributes to more than one part ───────────────────────────────────

    def _straddling(self, number: NDArray[np.int64]) -> dict[int, NDArray[np.bool_]]:
        """Combined code → the cells in which contributors may be in several parts.

        Below one parent nobody is in two codes if the numbers add up to the parent's;
        where they do not, at least nobody is in two parts if only one part has anybody.
        """
        old = np.moveaxis(number, self.axis, 0)
        found: dict[int, NDArray[np.bool_]] = {}
        for code, parts in self.made.parts.items():
            parent = int(self.tree.parent[parts[0]])
            apart = old[parent] == old[self.tree.children[parent]].sum(axis=0)
            found[code] = ~apart & ((old[parts] > 0).sum(axis=0) > 1)
        return found

    def _straddling_by_largest(self, top: NDArray[np.int64]) -> dict[int, NDArray[np.bool_]]:
        """The same from the largest contributions, for files that tell no numbers.

        If nobody is in two codes, the largest of the parent, where given, are the largest
        of its children.
        """
        old = np.moveaxis(top, self.axis, 0)
        found: dict[int, NDArray[np.bool_]] = {}
        for code, parts in self.made.parts.items():
            parent = int(self.tree.parent[parts[0]])
            merged = largest_of(old[self.tree.children[parent]])
            differs = (old[parent] != merged).any(axis=-1) & (old[parent] != 0).any(axis=-1)
            found[code] = differs & ((old[parts] != 0).any(axis=-1).sum(axis=0) > 1)
        return found

    def _refuse(self, doubtful: Mapping[int, NDArray[np.bool_]], who: str) -> None:
        cells = {code: int(where.sum()) for code, where in doubtful.items()}
        if not any(cells.values()):
            return
        name = self.table.dimensions[self.axis].name
        code, where = next((code, where) for code, where in doubtful.items() if where.any())
        elsewhere = np.argwhere(where)[0].tolist()
        others = [d for i, d in enumerate(self.table.dimensions) if i != self.axis]
        at = [f"{name}={self.made.hierarchy.codes[code]}"]
        at += [f"{d.name}={d.hierarchy.codes[i]}" for d, i in zip(others, elsewhere, strict=True)]
        number = Count(sum(cells.values()))
        raise InputError(
            f"{number} combined {number:cell|cells} cannot be computed from the table, e.g. "
            f"{', '.join(at)}: {who} may contribute to several codes of {name!r} below one "
            "parent, and the table does not say to which ones. Recode the records and tabulate "
            "them again, or cut the tree with level= instead"
        )


def _maybe(array: NDArray[Any] | None, how: Callable[[NDArray[Any]], Any]) -> Any:
    return None if array is None else how(array)


def _with_total(tree: Hierarchy, total: str | None) -> Hierarchy:
    if total is None:
        return tree
    codes = (total_code(total, tree.codes[1:]), *tree.codes[1:])
    below = {code: code for code in tree.codes[1:]}
    named = dict(zip(tree.codes, codes, strict=True))
    members = {named[code]: texts for code, texts in tree.members.items()}
    return Hierarchy(codes, tree.parent, members=members, **tree.relabelled(below))
