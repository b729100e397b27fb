"""The tree of a planned table: the codes that it publishes, over the codes of the records.

What published codes leave of one above them everybody can compute. Where that is a code of the
tree it is published under its name; else it gets a name of its own, so that it is judged as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diskret.errors import JobError
from diskret.hierarchy import Hierarchy
from diskret.plan.values import Axis, Breakdown, Note, PlannedTable, leaf_bits
from diskret.texts import Statement
from diskret.texts.numbers import Count

_SHOWN = 5


@dataclass(frozen=True, eq=False)
class PublishedTree:
    """A tree down to the codes of the records, and what is combined again before it is shown.

    tree: its leaves are codes of the records. `groups`: a published code → the leaves it combines.
    added: codes that nobody asked for, and that everybody can compute → what they are left of.
    original: whether it is the given tree as it is.
    """

    tree: Hierarchy
    groups: Mapping[str, tuple[str, ...]]
    added: Mapping[str, str]
    original: bool

    @property
    def published(self) -> int:
        """How many codes are published, the total included."""
        dropped = sum(len(codes) for codes in self.groups.values())
        return len(self.tree) - dropped


def added_codes(axes: Mapping[str, Axis], tables: Sequence[PlannedTable]) -> list[Note]:
    """What tables publish although nobody asked for it, in the order of the tables."""
    breakdowns = dict.fromkeys(one for table in tables for one in table.by if one.tree)
    made = (published_tree(axes[one.axis], one) for one in breakdowns)
    said = dict.fromkeys((code, whole) for tree in made for code, whole in tree.added.items())
    return [Note(Statement.said("plan", "added", code=code, whole=whole)) for code, whole in said]


def published_tree(axis: Axis, breakdown: Breakdown) -> PublishedTree:
    """The tree of one dimension of a planned table."""
    given = axis.trees[breakdown.tree]
    grown = _grown(axis, breakdown.tree)
    _check_recorded(axis, breakdown.tree, grown)
    grown = _cut(grown, axis.recorded)
    bits = leaf_bits(grown)
    _check_deep(axis, breakdown, grown, given)
    asked = sorted(
        (code for code in breakdown.codes if code in bits),
        key=lambda code: grown.position[code],
    )
    chosen = {grown.total, *asked}
    above = {code: _above(grown, code, chosen) for code in asked}
    added: dict[str, str] = {}
    names: dict[str, int] = {code: bits[code] for code in chosen}
    for whole in [grown.total, *asked]:
        below = [code for code in asked if above[code] == whole]
        left = bits[whole]
        for code in below:
            left &= ~bits[code]
        if below and left:
            name = _called(grown, bits, whole, left, {*grown.codes, *names})
            names[name] = left
            above[name] = whole
            added[name] = whole
    parents, groups = _to_leaves(grown, bits, names, above)
    tree = _built(given, grown.total, parents)
    same = tree.codes == given.codes and (tree.parent == given.parent).all()
    return PublishedTree(tree, groups, added, bool(same))


def _above(tree: Hierarchy, code: str, chosen: set[str]) -> str:
    """The next published code above one."""
    at = int(tree.parent[tree.position[code]])
    while tree.codes[at] not in chosen:
        at = int(tree.parent[at])
    return tree.codes[at]


def _called(
    tree: Hierarchy, bits: Mapping[str, int], whole: str, left: int, taken: set[str]
) -> str:
    """What is left of a code: a code of the tree if it is one, else a name of its own."""
    for code, own in bits.items():
        if own == left and tree.position[code]:
            return code
    name, number = f"{whole} other", 1
    while name in taken:
        number += 1
        name = f"{whole} other {number}"
    return name


def _to_leaves(
    tree: Hierarchy, bits: Mapping[str, int], names: Mapping[str, int], above: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Code → the code above it, down to the leaves; and the leaves that are combined again."""
    parents = dict(above)
    inner = set(above.values())
    groups: dict[str, tuple[str, ...]] = {}
    leaves = [tree.codes[at] for at in tree.leaves.tolist()]
    for name, own in names.items():
        if name in inner:
            continue
        below = tuple(leaf for leaf in leaves if bits[leaf] & own)
        if below == (name,):
            continue
        if name == tree.total:
            continue
        groups[name] = below
        parents |= dict.fromkeys(below, name)
    return parents, groups


def _built(given: Hierarchy, root: str, parents: Mapping[str, str]) -> Hierarchy:
    """A tree of codes and parents, with the labels of the given one."""
    codes = [root, *parents]
    frame = {"code": codes, "parent": ["", *parents.values()]}
    labels = [given.labels.get(code, "") for code in codes]
    return Hierarchy.from_parents({**frame, "label": labels} if any(labels) else frame)


# ── where the codes of the records lie ──────────────────────────────────────────────────


def _grown(axis: Axis, name: str) -> Hierarchy:
    """The tree, with what other trees of the variable have below its leaves."""
    given = axis.trees[name]
    parents = _parents(given)
    for other in axis.trees.values():
        for at in given.leaves.tolist():
            code = given.codes[at]
            place = other.position.get(code)
            if place is None:
                continue
            for child in _below(other, place):
                if child not in parents:
                    parents[child] = other.codes[int(other.parent[other.position[child]])]
    return _built(given, given.total, parents)


def _parents(tree: Hierarchy) -> dict[str, str]:
    return {
        code: tree.codes[int(parent)]
        for code, parent in zip(tree.codes[1:], tree.parent[1:], strict=True)
    }


def _below(tree: Hierarchy, place: int) -> list[str]:
    """All codes below one, those above first."""
    found: list[str] = []
    waiting = [place]
    while waiting:
        for child in tree.children[waiting.pop(0)].tolist():
            found.append(tree.codes[child])
            waiting.append(child)
    return found


def _cut(tree: Hierarchy, recorded: frozenset[str] | None) -> Hierarchy:
    """The tree without what lies below codes of the records."""
    if recorded is None:
        return tree
    kept: dict[str, str] = {}
    gone: set[str] = set()
    for code, parent in _parents(tree).items():
        if parent in gone or parent in recorded:
            gone.add(code)
        else:
            kept[code] = parent
    return _built(tree, tree.total, kept)


def _check_recorded(axis: Axis, name: str, tree: Hierarchy) -> None:
    """The records hold codes of the tree, none of which lies below another one."""
    recorded = axis.recorded or frozenset()
    unknown = sorted(code for code in recorded if code not in tree.position)
    if unknown:
        number = Count(len(unknown))
        raise JobError(
            f"the column {axis.column!r} of the records holds {number} {number:code|codes} that "
            f"the tree {name!r} does not have: {', '.join(unknown[:_SHOWN])}; add "
            f"{number:it|them} to the tree, or name the column whose codes it has"
        )
    for code in sorted(recorded):
        at = tree.position[code]
        above = [tree.codes[i] for i in tree.ancestors[at][1:].tolist()]
        high = next((one for one in above if one in recorded), None)
        if high is not None:
            raise JobError(
                f"the column {axis.column!r} of the records holds {code!r} and {high!r}, which "
                f"lies above it in the tree {name!r}, so nobody knows where the records of "
                f"{high!r} belong; use the finest codes, or a code for what is unknown"
            )


def _check_deep(axis: Axis, breakdown: Breakdown, tree: Hierarchy, given: Hierarchy) -> None:
    """No code is asked for that is finer than those of the records."""
    fine = sorted(code for code in breakdown.codes if code not in tree.position)
    fine = [code for code in fine if code in given.position]
    if fine:
        number = Count(len(fine))
        raise JobError(
            f"{number} {number:code|codes} of {axis.name!r} {number:is|are} asked for that "
            f"{number:is|are} finer than those in the column {axis.column!r} of the records: "
            f"{', '.join(fine[:_SHOWN])}; name a column with finer codes"
        )
