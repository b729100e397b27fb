"""Coarser tables and trees: combine categories of a dimension, or cut its tree at a level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import HierarchyError, InputError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.codes import as_code, as_codes, some, total_code
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


# ── coarser trees ─────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class Recoding:
    """A coarser tree, and where its codes come from.

    `hierarchy`: the coarser tree. `source`: for each of its codes the position in the old tree, of
    a combined one that of its first part; ``(len(hierarchy),)``. `parts`: position of each combined
    code → positions of its parts in the old tree. A part's own children are gone.
    """

    hierarchy: Hierarchy
    source: NDArray[np.int32]
    parts: Mapping[int, NDArray[np.int32]]


def combine(tree: Hierarchy, groups: Mapping[str, Sequence[str]]) -> Recoding:
    """Combine codes of one parent into a new leaf; what stood below them is dropped.

    `groups`: new code → the codes it combines, leaves or not. A single code gets a new name, and
    becomes a leaf if it was none. All codes below one parent can only be combined under the
    parent's own code, which becomes a leaf.

    >>> made = combine(Hierarchy.flat(["a", "b", "c"]), {"rest": ["b", "c"]})
    >>> made.hierarchy.codes, made.source.tolist(), made.parts[2].tolist()
    (('Total', 'a', 'rest'), [0, 1, 2], [2, 3])
    """
    if not isinstance(groups, Mapping):
        raise HierarchyError('groups must name each new code once, e.g. {"other": ["a", "b"]}')
    named = {_new_code(name): _positions(tree, name, codes) for name, codes in groups.items()}
    if not named or len(named) < len(groups):
        raise HierarchyError('groups must name each new code once, e.g. {"other": ["a", "b"]}')
    _check_disjoint(tree, named)
    keep = np.ones(len(tree), dtype=bool)
    new_name: dict[int, str] = {}
    for name, parts in named.items():
        parent = int(tree.parent[parts[0]])
        keep[parts[1:]] = False
        if len(parts) == len(tree.children[parent]):
            if name != tree.codes[parent]:
                raise HierarchyError(
                    f"the group {name!r} holds all codes below {tree.codes[parent]!r}, so it "
                    f"would be that code again; call the group {tree.codes[parent]!r} to keep "
                    "this code alone"
                )
            keep[parts[0]] = False
        else:
            new_name[int(parts[0])] = name
        keep[np.isin(tree.parent, parts)] = False
    for code in range(1, len(tree)):
        keep[code] &= keep[tree.parent[code]]  # what stood below a dropped code goes with it
    parts_of = {int(parts[0]): parts for parts in named.values() if int(parts[0]) in new_name}
    return _kept(tree, keep, new_name, parts_of)


def cut(tree: Hierarchy, level: int) -> Recoding:
    """Cut the tree: codes more than `level` steps below the total are dropped.

    >>> tree = Hierarchy.from_prefix(["011", "012", "02"], (2, 1))
    >>> cut(tree, 1).hierarchy.codes
    ('Total', '01', '02')
    """
    depth = int(tree.level.max())
    if not 0 <= level < depth:
        raise HierarchyError(
            f"level must be from 0 (the total alone) to {depth - 1}, not {level}: the codes lie "
            f"on the levels 0 to {depth}"
        )
    return _kept(tree, tree.level <= level, {}, {})


def cut_below(tree: Hierarchy, leaves: Sequence[str]) -> Recoding:
    """Cut the tree below some codes, which become leaves.

    >>> tree = Hierarchy.from_prefix(["011", "012", "021", "022"], (2, 1))
    >>> cut_below(tree, ["02"]).hierarchy.codes
    ('Total', '01', '011', '012', '02')
    """
    if isinstance(leaves, str):
        raise HierarchyError(f"leaves must be a list of codes, not the text {leaves!r}")
    codes = as_codes(list(leaves), "leaves")
    unknown = [repr(code) for code in codes if code not in tree.position]
    if unknown:
        number = Count(len(unknown))
        raise HierarchyError(
            f"{number} {number:code|codes} of leaves= {number:is|are} not in the tree: "
            f"{some(unknown)}; it has {some([repr(code) for code in tree.codes])}"
        )
    ends = np.zeros(len(tree), bool)
    ends[[tree.position[code] for code in codes]] = True
    keep = np.ones(len(tree), bool)
    for at, above in enumerate(tree.parent.tolist()):  # parents stand before their children
        keep[at] = above < 0 or (keep[above] and not ends[above])
    return _kept(tree, keep, {}, {})


def _new_code(name: object) -> str:
    code = as_code(name)
    if not code:
        raise HierarchyError(f"a new code must be text and not blank, not {name!r}")
    return code


def _positions(tree: Hierarchy, name: str, codes: Sequence[str]) -> NDArray[np.int32]:
    """Positions of the codes of a group, ascending; siblings, at least one."""
    if isinstance(codes, str):
        raise HierarchyError(f"the group {name!r} must be a list of codes, not the text {codes!r}")
    given = list(dict.fromkeys(as_codes(codes, name)))
    unknown = [repr(code) for code in given if code not in tree.position]
    if unknown:
        number = Count(len(unknown))
        raise HierarchyError(
            f"{number} {number:code|codes} of the group {name!r} {number:is|are} not in the tree: "
            f"{some(unknown)}; it has {some([repr(code) for code in tree.codes])}"
        )
    at = np.array(sorted(tree.position[code] for code in given), dtype=np.int32)
    if len(at) and at[0] == 0:
        raise HierarchyError(f"the total {tree.total!r} cannot be part of the group {name!r}")
    parents = np.unique(tree.parent[at])
    if len(parents) > 1:
        examples = [
            f"{tree.codes[i]!r} below {tree.codes[tree.parent[i]]!r}"
            for i in (int(at[tree.parent[at] == parent][0]) for parent in parents)
        ]
        raise HierarchyError(
            f"the codes of the group {name!r} have {len(parents):,} parents ({some(examples)}); "
            "only codes below one parent can be combined"
        )
    if not len(at):
        raise HierarchyError(f"the group {name!r} names no code; list the codes it combines")
    return at


def _check_disjoint(tree: Hierarchy, named: Mapping[str, NDArray[np.int32]]) -> None:
    often = Counter(int(i) for parts in named.values() for i in parts)
    twice = [repr(tree.codes[i]) for i, times in often.items() if times > 1]
    if twice:
        raise HierarchyError(f"codes in more than one group ({len(twice):,}): {some(twice)}")
    nested = [
        f"{tree.codes[i]!r} below {tree.codes[above]!r}"
        for i in often
        for above in tree.ancestors[i][1:].tolist()
        if above in often
    ]
    if nested:
        raise HierarchyError(
            f"codes below others that are combined too ({len(nested):,}): {some(nested)}; "
            "combine them in a second step, or leave the lower ones out"
        )


def _kept(
    tree: Hierarchy,
    keep: NDArray[np.bool_],
    new_name: Mapping[int, str],
    parts: Mapping[int, NDArray[np.int32]],
) -> Recoding:
    source = np.flatnonzero(keep).astype(np.int32)
    new = np.full(len(tree), -1, dtype=np.int32)
    new[source] = np.arange(len(source), dtype=np.int32)
    codes = [new_name.get(i, tree.codes[i]) for i in source.tolist()]
    clash = [repr(code) for code, times in Counter(codes).items() if times > 1]
    if clash:
        raise HierarchyError(
            f"new codes that other categories have already ({len(clash):,}): {some(clash)}; "
            "choose others"
        )
    parent = np.where(tree.parent[source] < 0, -1, new[tree.parent[source]])
    unchanged = {tree.codes[i]: tree.codes[i] for i in source.tolist() if i not in new_name}
    return Recoding(
        Hierarchy(
            tuple(codes),
            parent.astype(np.int32),
            members=_members(tree, codes, source, parent, parts),
            **tree.relabelled(unchanged),
        ),
        source,
        {int(new[first]): positions for first, positions in parts.items()},
    )


def _members(
    tree: Hierarchy,
    codes: list[str],
    source: NDArray[np.int32],
    parent: NDArray[np.int32],
    parts: Mapping[int, NDArray[np.int32]],
) -> dict[str, tuple[str, ...]]:
    """What each leaf of the new tree consists of, unless it was a leaf before as well.

    A total that is left alone is a leaf, too.
    """
    members: dict[str, tuple[str, ...]] = {}
    for new in np.setdiff1d(np.arange(len(codes)), parent).tolist():
        old = int(source[new])
        below = [leaf for part in parts.get(old, [old]) for leaf in tree.leaves_below(int(part))]
        if below != [codes[new]]:
            members[codes[new]] = tuple(below)
    return members
