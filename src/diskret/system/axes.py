"""What the codes of several tables stand for, cut into atoms where groupings overlap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from diskret.hierarchy import Hierarchy
from diskret.hierarchy.meaning import base_codes
from diskret.population import Bounds, Condition, pieces
from diskret.tables import Table

#: What a code stands for: a set of base codes, or None for everything.
Bases = frozenset[str] | None


@dataclass(frozen=True)
class Axis:
    """A variable of a table: published codes, then the atoms of leaves that are cut.

    Parameters
    ----------
    name
        The variable.
    parent
        Position of each code's parent, -1 for the total.
    bases
        What each code stands for.
    public
        Number of published codes.
    """

    name: str
    parent: list[int]
    bases: list[Bases]
    public: int


def axes_of(tables: Sequence[Table]) -> list[list[Axis]]:
    """The axes of each table; a filter is an axis of one code."""
    trees: defaultdict[str, list[Hierarchy]] = defaultdict(list)
    for table in tables:
        for dimension in table.dimensions:
            trees[dimension.name].append(dimension.hierarchy)
    bases = {name: base_codes(of) for name, of in trees.items()}
    filters = _filters(tables, bases)
    axes = [_own_axes(table, bases, filters) for table in tables]
    for name in {axis.name for own in axes for axis in own}:
        _cut([axis for own in axes for axis in own if axis.name == name])
    return axes


def _filters(
    tables: Sequence[Table], bases: dict[str, dict[str, frozenset[str]]]
) -> dict[tuple[str, Condition], frozenset[str]]:
    """Variable and what a filter asks of it → the base codes it lets through."""
    found: dict[tuple[str, Condition], frozenset[str]] = {}
    for name in {name for table in tables for name, _ in table.where}:
        known = bases.get(name, {})
        every = list(dict.fromkeys(a for table in tables for n, a in table.where if n == name))
        shown = [base for codes in known.values() for base in codes]
        for asked, kept in zip(every, pieces(every, shown), strict=True):
            if not isinstance(asked, Bounds):
                kept = frozenset(base for code in kept for base in known.get(code, [code]))
            found[name, asked] = kept
    return found


def _own_axes(
    table: Table,
    bases: dict[str, dict[str, frozenset[str]]],
    asked: dict[tuple[str, Condition], frozenset[str]],
) -> list[Axis]:
    filters = {name: asked[name, condition] for name, condition in table.where}
    axes: list[Axis] = []
    for name, tree in ((d.name, d.hierarchy) for d in table.dimensions):
        only = filters.pop(name, None)
        below = [bases[name][code] for code in tree.codes[1:]]
        inside = below if only is None else [code & only for code in below]
        axes.append(Axis(name, tree.parent.tolist(), [only, *inside], len(tree)))
    return axes + [Axis(name, [-1], [only], 1) for name, only in filters.items()]


def _cut(same: Sequence[Axis]) -> None:
    """Put atoms below each leaf of a variable that not every table shows as it is."""
    published = [set(axis.bases) for axis in same]
    every = dict.fromkeys(bases for axis in same for bases in axis.bases if bases is not None)
    atoms: dict[frozenset[str], list[frozenset[str]]] = {}
    for axis in same:
        inner = set(axis.parent)
        for leaf in [i for i in range(axis.public) if i not in inner]:
            own = axis.bases[leaf]
            if own is None:
                continue
            if own not in atoms:
                shown = all(own in codes for codes in published)
                atoms[own] = [own] if shown else _atoms(own, every)
            if len(atoms[own]) > 1:
                axis.parent.extend([leaf] * len(atoms[own]))
                axis.bases.extend(atoms[own])


def _atoms(own: frozenset[str], every: dict[frozenset[str], None]) -> list[frozenset[str]]:
    """What is left of a category where others cut through it."""
    atoms = {own}
    for bases in every:
        pieces = [(a & bases, a - bases) for a in atoms]
        atoms = {piece for pair in pieces for piece in pair if piece}
    return sorted(atoms, key=sorted)
