"""What the codes and filters of tables stand for when they are read side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.hierarchy.base_codes import Shown, base_codes
from diskret.population import Bounds, pieces
from diskret.tables.published import Published
from diskret.tables.table import Table

#: What a code stands for: a set of base codes, or None for everything.
Meaning = frozenset[str] | None


@dataclass(frozen=True, eq=False)
class Side:
    """A variable of one table, beside others.

    Parameters
    ----------
    meaning
        What each code stands for within the filter, the total's first.
    absent
        What other tables show of the variable and nobody of this table's population is in.
    texts
        All texts of the variable that there are; empty if this table does not tell.
    """

    meaning: tuple[Meaning, ...]
    absent: frozenset[str]
    texts: frozenset[str] = frozenset()


def side_by_side(tables: Sequence[Table | Published]) -> list[dict[str, Side]]:
    """The variables of each table, those of its filter last.

    Whether a code of one table is that of another follows from the texts of the records that
    they stand for, see [`base_codes`][diskret.hierarchy.base_codes.base_codes]. A table that was
    tabulated shows all texts that its records have, so others are nobody's there.

    Raises
    ------
    HierarchyError
        It cannot be told what a code of an already tabulated file stands for.
    """
    names = dict.fromkeys(name for table in tables for name in _variables(table))
    sides = {name: _sides(tables, name) for name in names}
    return [{name: sides[name][i] for name in _variables(t)} for i, t in enumerate(tables)]


def common_cells(
    one: Table | Published, other: Table | Published
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells that two tables of one measure and vintage have in common, whatever their filters.

    A filter for one code of a variable selects as the code does, and one for all texts that
    there are selects as the total does.

    Returns
    -------
    tuple of numpy.ndarray
        Positions in C order in the one and in the other table, int64, of the same length.

    Examples
    --------
    >>> from diskret.tables.dimension import Dimension
    >>> from diskret.population import Population
    >>> from diskret.hierarchy import Hierarchy
    >>> region = Dimension("region", Hierarchy.flat(["N", "S"]))
    >>> sex = Dimension("sex", Hierarchy.flat(["f", "m"]))
    >>> count = np.ones((3, 3), dtype=np.int64)
    >>> men = Table((region,), count[0], where=Population.of({"sex": "m"}))
    >>> [cells.tolist() for cells in common_cells(Table((region, sex), count), men)]
    [[2, 5, 8], [0, 1, 2]]
    """
    sides = side_by_side([one, other])
    shapes = [tuple(len(d) for d in table.dimensions) for table in (one, other)]
    at = [np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)]
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        pairs = _alike(*(own.get(name) for own in sides))
        for i, table in enumerate((one, other)):
            names = [d.name for d in table.dimensions]
            step = 0
            if name in names:
                step = int(np.prod(shapes[i][names.index(name) + 1 :], dtype=np.int64))
            at[i] = (at[i][:, None] + pairs[i] * step).ravel()
    return at[0], at[1]


_EVERYTHING = Side((None,), frozenset())


def _alike(one: Side | None, other: Side | None) -> NDArray[np.int64]:
    """Positions of the codes of two tables that select the same records, ``(2, codes)``."""
    both = one or _EVERYTHING, other or _EVERYTHING
    absent = both[0].absent | both[1].absent
    # whoever knows all texts that there are knows what everything is
    texts = next((side.texts for side in both if side.texts), None)
    found: list[list[Meaning]] = [
        [texts and texts - absent if m is None else m - absent for m in side.meaning]
        for side in both
    ]
    at: defaultdict[Meaning, list[int]] = defaultdict(list)
    for j, its in enumerate(found[1]):
        at[its].append(j)
    pairs = [(i, j) for i, mine in enumerate(found[0]) for j in at.get(mine, [])]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T


def _variables(table: Table | Published) -> list[str]:
    own = [dimension.name for dimension in table.dimensions]
    return own + [name for name, _ in table.where if name not in own]


def _sides(tables: Sequence[Table | Published], name: str) -> dict[int, Side]:
    """What a variable is in the tables that have it."""
    trees = {i: d.hierarchy for i, t in enumerate(tables) for d in t.dimensions if d.name == name}
    asked = {i: t.where.asked[name] for i, t in enumerate(tables) if name in t.where.asked}
    lists = {i: codes for i, codes in asked.items() if not isinstance(codes, Bounds)}
    recorded = {i for i, table in enumerate(tables) if table.recorded}
    every = [*trees.items(), *lists.items()]
    read = base_codes([Shown(codes, i in recorded) for i, codes in every])
    bases = dict(zip(trees, read, strict=False))
    let = {i: _union(own) for i, own in zip(lists, read[len(trees) :], strict=True)}
    known = _union([*(own[0] for own in bases.values()), *let.values()])
    bounds = [i for i in asked if i not in lists]
    let |= dict(zip(bounds, pieces([asked[i] for i in bounds], sorted(known)), strict=True))
    everything = _union(
        [*(bases[i][0] for i in recorded & {*bases}), *(let[i] for i in recorded & {*let})]
    )

    def side(i: int) -> Side:
        only = let.get(i)
        if i not in bases:
            return Side((only,), frozenset())
        inside = bases[i] if only is None else [codes & only for codes in bases[i]]
        around = everything if only is None else only & everything
        if i not in recorded:
            return Side((only, *inside[1:]), frozenset())
        texts = everything if only is None else frozenset[str]()
        return Side((only, *inside[1:]), around - bases[i][0], texts)

    return {i: side(i) for i in {*bases, *let}}


def _union(codes: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*codes)
