"""What the codes of tables mean, refined where groupings cut through each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diskret.hierarchy.table_circles import Codes, circles
from diskret.tables import Published
from diskret.tables.meanings import (
    Meaning,
    Side,
    codes_left_out,
    filters_what_it_shows,
    side_by_side,
)


@dataclass(frozen=True, eq=False)
class Axis:
    """One classifying variable of a table as the attacker sees it.

    parent: position of each code's parent, -1 for the total, int32. The published codes come first;
        behind them what is absent, and the parts of leaves that other tables cut through.
    meaning: what each code stands for; empty where a table is read alone.
    public: number of published codes.
    absent: position of the code for all that other tables show and nobody of this one is in, -1 if
        there is none; it stands behind the published codes.
    left_out: positions of the codes of which the table's filter lets nobody through.
    """

    name: str
    parent: NDArray[np.int32]
    meaning: tuple[Meaning, ...]
    public: int
    absent: int = -1
    left_out: tuple[int, ...] = ()

    @property
    def empty(self) -> NDArray[np.bool_]:
        """The codes that nobody is in, parts of others included."""
        here = np.isin(np.arange(len(self.parent)), [self.absent, *self.left_out])
        return here | (here[self.parent] & (self.parent >= 0))

    @property
    def leaves(self) -> NDArray[np.int64]:
        """Positions of the codes without parts."""
        return np.setdiff1d(np.arange(len(self.parent)), self.parent)


def axes_of(tables: Sequence[Published]) -> list[tuple[Axis, ...]]:
    """The variables of each table; read side by side, with what their codes stand for.

    One alone needs that only where its filter says who is not there.
    """
    if len(tables) == 1 and not filters_what_it_shows(tables[0]):
        own = (Axis(d.name, d.hierarchy.parent, (), len(d.hierarchy)) for d in tables[0].dimensions)
        return [tuple(own)]
    return _refined(
        [
            tuple(_axis(table, name, side) for name, side in sides.items())
            for table, sides in zip(tables, side_by_side(tables), strict=True)
        ]
    )


def _axis(table: Published, name: str, side: Side) -> Axis:
    """A variable of a table, or of its filter, behind whose codes stands what nobody is in."""
    trees = {dimension.name: dimension.hierarchy for dimension in table.dimensions}
    parent = trees[name].parent if name in trees else np.array([-1], dtype=np.int32)
    public = len(parent)
    left_out = codes_left_out(table, side)
    if not side.absent:
        return Axis(name, parent, side.meaning, public, left_out=left_out)
    parent, meaning = np.append(parent, np.int32(0)), (*side.meaning, side.absent)
    return Axis(name, parent, meaning, public, public, left_out)


# ── groupings that cut through each other ────────────────────────────────────────────


def _refined(axes: Sequence[tuple[Axis, ...]]) -> list[tuple[Axis, ...]]:
    """Split leaves that other tables cut through into atoms, as far as equations need it."""
    by_name: defaultdict[str, dict[_Codes, Axis]] = defaultdict(dict)
    for own in axes:
        for axis in own:
            by_name[axis.name].setdefault(_codes(axis), axis)
    finer = {
        name: dict(zip(same, _split([*same.values()]), strict=True))
        for name, same in by_name.items()
    }
    return [tuple(finer[axis.name][_codes(axis)] for axis in own) for own in axes]


#: What makes two axes of one variable the same.
_Codes = tuple[tuple[Meaning, ...], bytes, int, int, tuple[int, ...]]


def _codes(axis: Axis) -> _Codes:
    return axis.meaning, axis.parent.tobytes(), axis.public, axis.absent, axis.left_out


def _split(same: Sequence[Axis]) -> list[Axis]:
    """Axes with atoms below each leaf that cannot be put together from others' codes.

    What is part of a leaf that is split has to be tied to its atoms, so it is split as well.
    """
    leaf_of = [_leaf_of(axis) for axis in same]
    known = [set(axis.meaning) for axis in same]
    atoms = [_atoms(axis, leaf_of) for axis in same]

    def needed(leaf: int, own: Meaning, cut: Sequence[set[int]]) -> bool:
        for where, codes, split in zip(leaf_of, known, cut, strict=True):
            hit = {where.get(base) for base in own or ()}
            if own not in codes and (len(hit) > 1 or not split.isdisjoint(hit)):
                return True
        return False

    cut: list[set[int]] = [set() for _ in same]
    while True:
        further = [
            {leaf for leaf, a in of.items() if len(a) > 1 and needed(leaf, axis.meaning[leaf], cut)}
            for axis, of in zip(same, atoms, strict=True)
        ]
        if further == cut:
            return [_with_atoms(*own) for own in zip(same, atoms, cut, strict=True)]
        cut = further


def _atoms(axis: Axis, leaf_of: Sequence[dict[str, int]]) -> dict[int, list[Meaning]]:
    """What lies in the same leaves of all tables, for each leaf of an axis."""
    found: dict[int, list[Meaning]] = {}
    for leaf in axis.leaves.tolist():
        atoms: defaultdict[tuple[int | None, ...], set[str]] = defaultdict(set)
        for base in sorted(axis.meaning[leaf] or ()):
            atoms[tuple(where.get(base) for where in leaf_of)].add(base)
        found[leaf] = [frozenset(atom) for atom in sorted(map(sorted, atoms.values()))]
    return found


def _with_atoms(axis: Axis, atoms: dict[int, list[Meaning]], cut: set[int]) -> Axis:
    parts = [(leaf, atom) for leaf in sorted(cut) for atom in atoms[leaf]]
    parent = np.append(axis.parent, [leaf for leaf, _ in parts]).astype(np.int32)
    return replace(axis, parent=parent, meaning=(*axis.meaning, *(atom for _, atom in parts)))


def _leaf_of(axis: Axis) -> dict[str, int]:
    """Base code → the leaf that holds it."""
    return {
        base: leaf for leaf in axis.leaves.tolist() for base in axis.meaning[leaf] or frozenset()
    }


def crossings(
    tables: Sequence[Published], axes: Sequence[tuple[Axis, ...]]
) -> tuple[list[tuple[Published, tuple[Axis, ...]]], bool]:
    """Which combinations of codes an attacker has to think of; see `circles`.

    tables, axes: what is published, and the axes of each table.
    """
    if len(tables) < 3:
        return [], True
    alike: defaultdict[object, list[int]] = defaultdict(list)
    for i, table in enumerate(tables):
        alike[table.measure, table.vintage, table.where].append(i)
    found: list[tuple[Published, tuple[Axis, ...]]] = []
    complete = len(alike) == 1
    for members in alike.values():
        if not all(tables[i].nonnegative or tables[i].frequency for i in members):
            complete = False  # parts of an empty cell could cancel out
            continue
        around, all_of_them = circles([[_for_circles(axis) for axis in axes[i]] for i in members])
        complete = complete and all_of_them
        for circle in around:
            own = (Axis(c.name, np.array(c.parent, np.int32), c.meaning, 0) for c in circle)
            found.append((tables[members[0]], tuple(own)))
    return found, complete


def _for_circles(axis: Axis) -> Codes:
    return Codes(axis.name, tuple(axis.parent.tolist()), axis.meaning)
