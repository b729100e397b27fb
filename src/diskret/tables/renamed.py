"""Categories under two names: codes in one release, words in another.

Cells are tied by the codes of their categories. Where two tables have other names for the same
categories, what the one hides the other shows, and no equation says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from diskret.errors import MeasureError
from diskret.tables.one_measure import Valued, chance_explains

#: What is left of a variable may be tied by the cells of all others.
_FEW = 3


def refuse_renamed_categories(new: Sequence[Valued], before: Sequence[Valued] = ()) -> None:
    """Refuse tables of common cells whose finest categories are the same under other names.

    Parameters as of `refuse_one_measure_twice`. Tables of one proof to which the records told how
    variables lie in each other are left out.

    Raises
    ------
    MeasureError
        The categories of a variable that the other table does not have show the values that those
        of one of its variables have, too many and too large for chance; and
        they do not hide the same, or were rounded, each perhaps in another way.
    """
    for one, other in [*combinations(new, 2), *((one, its) for one in new for its in before)]:
        common = one.table.about.shares_cells(other.table.about)
        judged = not one.judged.isdisjoint(other.judged)
        if not common or judged or one.shown == other.shown != "less":
            continue
        for name, its, number in _renamed(one, other):
            raise MeasureError(
                f"the {number:,} finest categories of {name!r} have the values of those of {its!r} "
                "in another table of common records, so they are the same under other names, and "
                "nothing ties what the one hides to what the other shows. Use the variable and the "
                "codes of what was published first, or hide the same categories"
            )


def _renamed(one: Valued, other: Valued) -> Iterator[tuple[str, str, int]]:
    """Names of variables of which the categories are the same, and how many there are.

    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables.dimension import Dimension
    >>> from diskret.tables.table import Table
    >>> def table(*codes):
    ...     region = Dimension("region", Hierarchy.flat(codes))
    ...     counts = np.array([600, 310, 200, 90])
    ...     return Valued(Table((region,), counts), counts, counts > 0)
    >>> [*_renamed(table("N", "S", "W"), table("North", "South", "West"))]
    [('region', 'region', 3)]
    >>> [*_renamed(table("N", "S", "W"), table("N", "S", "West"))]
    []
    """
    for first, second in product(_leaves(one), _leaves(other)):
        if first.name == second.name:
            first, second = _without(first, second.codes), _without(second, first.codes)
        same = len(first.codes) == len(second.codes) >= _FEW
        if same and _alike(first, second) and not _hide_alike(first, second):
            yield first.name, second.name, len(first.codes)


@dataclass(frozen=True, eq=False)
class _Leaves:
    """The finest categories of a variable, with what stands in their cells of all others together.

    value, known: one for each code. hidden: the same; None where there are other variables, too, or
    where it is not known.
    """

    name: str
    codes: tuple[str, ...]
    value: NDArray[np.int64]
    known: NDArray[np.bool_]
    hidden: NDArray[np.bool_] | None


def _leaves(of: Valued) -> list[_Leaves]:
    found: list[_Leaves] = []
    for axis, dimension in enumerate(of.table.dimensions):
        at = np.flatnonzero(dimension.hierarchy.is_leaf)
        index = tuple(at if i == axis else 0 for i in range(of.value.ndim))
        alone = of.hidden is not None and of.value.ndim == 1
        codes = tuple(dimension.hierarchy.codes[i] for i in at.tolist())
        hidden = of.hidden[index] if alone and of.hidden is not None else None
        found.append(_Leaves(dimension.name, codes, of.value[index], of.known[index], hidden))
    return found


def _without(leaves: _Leaves, codes: Sequence[str]) -> _Leaves:
    """Those that have none of some codes."""
    kept = ~np.isin(leaves.codes, list(codes))
    return _Leaves(
        leaves.name,
        tuple(code for code, stays in zip(leaves.codes, kept.tolist(), strict=True) if stays),
        leaves.value[kept],
        leaves.known[kept],
        None if leaves.hidden is None else leaves.hidden[kept],
    )


def _alike(one: _Leaves, other: _Leaves) -> bool:
    """Whether both have the same values, as far as they are known, and not by chance."""
    mine, theirs = (own.value[own.known & (own.value != 0)].tolist() for own in (one, other))
    if len(mine) > len(theirs):
        mine, theirs = theirs, mine
    if Counter(mine) - Counter(theirs):
        return False
    # in whatever order they come, and among however many others
    size = np.array(sorted(map(abs, mine)), dtype=np.float64)
    return not chance_explains((size + 1) / (len(theirs) - np.arange(len(size))) - 1, 0)


def _hide_alike(one: _Leaves, other: _Leaves) -> bool:
    """Whether tables of these variables alone hide the same values, wherever these stand."""
    if one.hidden is None or other.hidden is None:
        return False
    hide, show = ([{*own.value[own.hidden == how].tolist()} for own in (one, other)]
                  for how in (True, False))  # fmt: skip
    return hide[0] == hide[1] and hide[0].isdisjoint(show[0]) and hide[1].isdisjoint(show[1])
