"""Coarser trees: combine codes of one parent, or cut the tree at a level or below some codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.errors import HierarchyError
from diskret.hierarchy.codes import as_code, as_codes, some
from diskret.hierarchy.tree import Hierarchy
from diskret.texts.numbers import Count


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
    given = [*groups.items()] if isinstance(groups, Mapping) else []
    named = {_new_code(name): _positions(tree, name, codes) for name, codes in given}
    if not named or len(named) < len(given):
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
