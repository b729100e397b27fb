"""What the codes of several tables stand for, cut into atoms where groupings overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from diskret.hierarchy.table_circles import Meaning
from diskret.tables import Table
from diskret.tables.meanings import side_by_side

#: What a code stands for: a set of base codes, or None for everything.
Bases = Meaning


@dataclass(frozen=True)
class Axis:
    """A variable of a table: published codes, then the atoms of leaves that are cut.

    `name`: the variable.
    `parent`: position of each code's parent, -1 for the total.
    `bases`: what each code stands for.
    `public`: number of published codes.
    `empty`: positions of codes that nobody of the table is in, but somebody of other tables.
    """

    name: str
    parent: list[int]
    bases: list[Bases]
    public: int
    empty: list[int] = field(default_factory=list[int])


def axes_of(tables: Sequence[Table]) -> list[list[Axis]]:
    """The axes of each table; a filter is an axis of one code."""
    axes: list[list[Axis]] = []
    for table, sides in zip(tables, side_by_side(tables), strict=True):
        parents = {d.name: d.hierarchy.parent.tolist() for d in table.dimensions}
        own = [
            Axis(name, parents.get(name, [-1]), list(side.meaning), len(side.meaning))
            for name, side in sides.items()
        ]
        for axis, side in zip(own, sides.values(), strict=True):
            if side.absent:
                axis.parent.append(0)
                axis.bases.append(side.absent)
                axis.empty.append(axis.public)
        axes.append(own)
    for name in {axis.name for own in axes for axis in own}:
        _cut([axis for own in axes for axis in own if axis.name == name])
    return axes


def _cut(same: Sequence[Axis]) -> None:
    """Put atoms below each leaf of a variable that not every table shows as it is."""
    published = [set(axis.bases) for axis in same]
    every = dict.fromkeys(bases for axis in same for bases in axis.bases if bases is not None)
    atoms: dict[frozenset[str], list[frozenset[str]]] = {}
    for axis in same:
        inner = set(axis.parent)
        for leaf in [i for i in range(len(axis.parent)) if i not in inner]:
            own = axis.bases[leaf]
            if own is None:
                continue
            if own not in atoms:
                shown = all(own in codes for codes in published)
                atoms[own] = [own] if shown else _atoms(own, every)
            if len(atoms[own]) > 1:
                if leaf in axis.empty:
                    behind = len(axis.parent)
                    axis.empty.extend(range(behind, behind + len(atoms[own])))
                axis.parent.extend([leaf] * len(atoms[own]))
                axis.bases.extend(atoms[own])


def _atoms(own: frozenset[str], every: dict[frozenset[str], None]) -> list[frozenset[str]]:
    """What is left of a category where others cut through it."""
    atoms = {own}
    for bases in every:
        pieces = [(a & bases, a - bases) for a in atoms]
        atoms = {piece for pair in pieces for piece in pair if piece}
    return sorted(atoms, key=sorted)
