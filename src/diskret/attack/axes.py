"""What the codes of tables mean, refined where groupings cut through each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diskret.hierarchy.meaning import base_codes
from diskret.population import Bounds, pieces
from diskret.tables import Published

#: What a code stands for: a set of base codes, or None for everything.
Meaning = frozenset[str] | None


@dataclass(frozen=True, eq=False)
class Axis:
    """One classifying variable of a table as the attacker sees it.

    Parameters
    ----------
    name
        The variable.
    parent
        Position of each code's parent, -1 for the total, int32. The published codes come
        first; behind them the parts of leaves that other tables cut through.
    meaning
        What each code stands for; empty where a table is read alone.
    public
        Number of published codes.
    """

    name: str
    parent: NDArray[np.int32]
    meaning: tuple[Meaning, ...]
    public: int

    @property
    def leaves(self) -> NDArray[np.int64]:
        """Positions of the codes without parts."""
        return np.setdiff1d(np.arange(len(self.parent)), self.parent)


def axes_of(tables: Sequence[Published]) -> list[tuple[Axis, ...]]:
    """The variables of each table; read side by side, with what their codes stand for."""
    axes = [
        tuple(Axis(d.name, d.hierarchy.parent, (), len(d.hierarchy)) for d in table.dimensions)
        for table in tables
    ]
    return axes if len(tables) == 1 else _refined(_with_meanings(tables, axes))


def _with_meanings(
    tables: Sequence[Published], axes: Sequence[tuple[Axis, ...]]
) -> list[tuple[Axis, ...]]:
    """Axes that know what their codes stand for; a filter becomes an axis of one code."""
    trees: defaultdict[str, list[object]] = defaultdict(list)
    for table in tables:
        for dimension in table.dimensions:
            trees[dimension.name].append(dimension.hierarchy)
    meant = {name: base_codes(of) for name, of in trees.items()}  # type: ignore[arg-type]
    result: list[tuple[Axis, ...]] = []
    for table, own in zip(tables, axes, strict=True):
        filters = _filters(tables, table, meant)
        known: list[Axis] = []
        for axis, dimension in zip(own, table.dimensions, strict=True):
            only = filters.pop(axis.name, None)
            below = (meant[axis.name][code] for code in dimension.hierarchy.codes[1:])
            inside = below if only is None else (code & only for code in below)
            known.append(replace(axis, meaning=(only, *inside)))
        root = np.array([-1], dtype=np.int32)
        known += [Axis(name, root, (codes,), 1) for name, codes in filters.items()]
        result.append(tuple(known))
    return result


def _filters(
    tables: Sequence[Published],
    table: Published,
    meant: Mapping[str, Mapping[str, frozenset[str]]],
) -> dict[str, frozenset[str]]:
    """What the filter of a table lets through of each variable."""
    found: dict[str, frozenset[str]] = {}
    for name, asked in table.where:
        known = meant.get(name, {})
        every = [t.where.asked[name] for t in tables if name in t.where.asked]
        base = pieces(every, frozenset[str]().union(*known.values()))[every.index(asked)]
        if not isinstance(asked, Bounds):
            base = frozenset[str]().union(*(known.get(code, {code}) for code in base))
        found[name] = base
    return found


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
_Codes = tuple[tuple[Meaning, ...], bytes]


def _codes(axis: Axis) -> _Codes:
    return axis.meaning, axis.parent.tobytes()


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
