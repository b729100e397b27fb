"""The codes of the variables of a job: their trees, coarser codes, and how files write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from diskret.argus.commands import Recode
from diskret.argus.metadata import Variable
from diskret.argus.text import Folders, Place, said_at, text_of, unquoted
from diskret.errors import HierarchyError, JobError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.coarser import combine, cut


@dataclass(frozen=True, eq=False)
class Axis:
    """A variable of a table with its codes.

    written: code → how files of τ-ARGUS write it, where that is not the code itself.
    moved: code in the data → the code it became by recoding.
    """

    variable: Variable
    tree: Hierarchy
    written: Mapping[str, str] = field(default_factory=dict[str, str])
    moved: Mapping[str, str] = field(default_factory=dict[str, str])

    def shown(self, code: str) -> str:
        """How files write a code: as the file of the tree does, else right-aligned as data are."""
        if code == self.tree.total or code in self.written:
            return self.written.get(code, code)
        return code.rjust(self.variable.width or 0)


def axis_of(variable: Variable, codes: Iterable[str], folders: Folders, of_cells: bool) -> Axis:
    """The tree of a variable, from its file, its digits, or the codes in the data."""
    in_data = [code for code in dict.fromkeys(codes) if not of_cells or code != variable.total]
    written: dict[str, str] = {}
    with said_at(variable):
        if variable.tree:
            tree, written = _from_file(variable, folders, of_cells)
            added = [c for c in variable.missing if not of_cells or c in in_data]
            tree = _below_the_total(tree, added)
        elif variable.levels:
            known = [code for code in in_data if code not in variable.missing]
            tree = Hierarchy.from_prefix(known, variable.levels, variable.total)
            tree = _below_the_total(tree, [c for c in variable.missing if c in in_data])
        else:
            tree = Hierarchy.flat(in_data, variable.total)
    if variable.labels:
        tree = _labelled(tree, variable, folders)
    return Axis(variable, tree, written)


def recoded(axis: Axis, recode: Recode, folders: Folders) -> Axis:
    """An axis with coarser codes, and what became of the codes in the data."""
    tree = axis.tree
    with said_at(recode.place):
        if recode.level:
            if recode.level >= int(tree.level.max()):
                return axis
            tree = cut(tree, recode.level).hierarchy
        else:
            path = folders.find(recode.file, recode.place)
            lines = [line.strip() for line in text_of(path).split("\n")]
            content = [(Place(path, i), line) for i, line in enumerate(lines, start=1) if line]
            if content and content[0][1].upper().startswith("<TREERECODE>"):
                tree = _closed(tree, [(place, unquoted(line)) for place, line in content[1:]])
            else:
                tree = combine(tree, _groups(tree, content, axis)).hierarchy
    moved = {
        fine: tree.codes[leaf] for leaf in tree.leaves for fine in tree.leaves_below(int(leaf))
    }
    return Axis(axis.variable, tree, axis.written, moved)


def _from_file(
    variable: Variable, folders: Folders, of_cells: bool
) -> tuple[Hierarchy, dict[str, str]]:
    """The tree of a ``.hrc`` file, and how it writes its codes.

    τ-ARGUS lets codes above others stand twice, as places and what they lie in do; they get names
    of their own here. Leaves cannot, for records do not say which of them is meant.
    """
    path = folders.find(variable.tree, variable.place)
    lines = [
        (Place(path, i), *_split(line, variable.lead))
        for i, line in enumerate(text_of(path).split("\n"), start=1)
        if line.strip()
    ]
    if not lines:
        raise HierarchyError(f"{path}: the file holds no codes")
    depths = [depth for _, depth, _ in lines]
    inner = [after > own for own, after in zip(depths, [*depths[1:], 0], strict=True)]
    leaves = {text.strip() for (_, _, text), above in zip(lines, inner, strict=True) if not above}
    codes, parent, chain = [variable.total], [-1], [0]
    written: dict[str, str] = {}
    for (place, depth, text), above in zip(lines, inner, strict=True):
        code = text.strip()
        if not code or code == variable.total:
            raise HierarchyError(
                f"{place}: {code!r} cannot be a code here; it is that of the total, or nothing"
            )
        if depth >= len(chain):
            raise HierarchyError(
                f"{place}: the code {code!r} lies more than one level below the one above it"
            )
        name = code
        if code in codes or (above and code in leaves):
            if not above or of_cells:
                raise HierarchyError(
                    f"{place}: the code {code!r} stands twice, so data do not say which is meant; "
                    "give one of them another name"
                )
            often = 2
            while name in codes or name in leaves:
                name, often = f"{code} ({often})", often + 1
        written[name] = text
        parent.append(chain[depth])
        chain[depth + 1 :] = [len(codes)]
        codes.append(name)
    return Hierarchy(tuple(codes), np.array(parent, dtype=np.int32)), written


def _split(line: str, lead: str) -> tuple[int, str]:
    """The depth of a code, and the code with the blanks that right-align it."""
    line = line.replace("\t", " ").rstrip()
    if line.lstrip().startswith(lead):
        line = line.lstrip()
    depth = 0
    while line.startswith(lead):
        line, depth = line[len(lead) :], depth + 1
    return depth, line.replace('"', "")


def _below_the_total(tree: Hierarchy, codes: Sequence[str]) -> Hierarchy:
    """The tree with the codes of what is not known, directly below the total."""
    new = [code for code in codes if code not in tree.position]
    if not new:
        return tree
    parent = np.concatenate((tree.parent, np.zeros(len(new), dtype=np.int32)))
    return Hierarchy((*tree.codes, *new), parent, tree.labels)


def _labelled(tree: Hierarchy, variable: Variable, folders: Folders) -> Hierarchy:
    path = folders.find(variable.labels, variable.place)
    labels: dict[str, str] = {}
    for line in text_of(path).split("\n"):
        code, _, label = line.partition(",")
        if unquoted(code) in tree.position and unquoted(label):
            labels.setdefault(unquoted(code), unquoted(label).replace('""', '"'))
    return tree.with_labels(labels) if labels else tree


def _closed(tree: Hierarchy, named: Sequence[tuple[Place, str]]) -> Hierarchy:
    """The tree without what lies below some of its codes."""
    closed: set[int] = set()
    for place, code in named:
        if code.startswith("<"):
            break
        if code not in tree.position:
            raise HierarchyError(f"{place}: the code {code!r} is not in the tree")
        closed.add(tree.position[code])
    keep = [at for at in range(len(tree)) if not closed & {*tree.ancestors[at][1:].tolist()}]
    place_of = {old: new for new, old in enumerate(keep)}
    members = {code: texts for code, texts in tree.members.items() if code in tree.position}
    members |= {
        tree.codes[at]: tree.leaves_below(at)
        for at in closed
        if at in place_of and len(tree.children[at])
    }
    kept = {tree.codes[at] for at in keep}
    return Hierarchy(
        tuple(tree.codes[at] for at in keep),
        np.array([place_of.get(int(tree.parent[at]), -1) for at in keep], dtype=np.int32),
        {code: label for code, label in tree.labels.items() if code in kept},
        members={code: texts for code, texts in members.items() if code in kept},
    )


def _groups(
    tree: Hierarchy, lines: Sequence[tuple[Place, str]], axis: Axis
) -> dict[str, list[str]]:
    """New code → the codes it combines, from lines such as ``new: 1-5,7``."""
    if int(tree.level.max()) > 1:
        raise HierarchyError(
            f"{axis.variable.name!r} has a tree, which <TREERECODE> or a level makes coarser; "
            "groups are for variables without one"
        )
    groups: dict[str, list[str]] = {}
    for place, line in lines:
        if line.startswith("<"):
            continue
        new, colon, parts = line.partition(":")
        if not colon:
            continue  # codes of what is not known may end the file
        codes = [c for part in parts.split(",") for c in _range(unquoted(part), tree, axis)]
        if not unquoted(new) or unquoted(new) in groups:
            raise JobError(
                f"{place}: {line!r} is no group, e.g. 1: 1-5,7; each has a code of its own"
            )
        if codes:
            groups[unquoted(new)] = list(dict.fromkeys(codes))
    if not groups:
        raise HierarchyError("the file groups no code of the data; write e.g. 1: 1-5,7")
    return groups


def _range(part: str, tree: Hierarchy, axis: Axis) -> list[str]:
    """The codes of a part: one, or from one to another; compared as text of one width."""
    codes = list(tree.codes[1:])
    if part in codes or "-" not in part:
        return [part] if part in codes else []
    low, high = (unquoted(end) for end in re.split("-", part, maxsplit=1))
    width = max(map(len, [*codes, low, high]))
    above, below = low.rjust(width), high.rjust(width)
    return [
        code
        for code in codes
        if (not low or code.rjust(width) >= above) and (not high or code.rjust(width) <= below)
    ]
