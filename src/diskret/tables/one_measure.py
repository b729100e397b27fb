"""One measure under two names: another currency, another unit, another name of its period.

Tables are tied by the names of their measures and periods. Where the values of one measure are
those of another times a number, what the one hides the other shows, and no equation says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import lgamma
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskret.errors import MeasureError
from diskret.tables.meanings import common_cells
from diskret.tables.published import Published
from diskret.tables.requirements import Earlier
from diskret.tables.table import Table
from diskret.tables.ties import MeasureSum

#: One in so many: less likely than that, and chance is no explanation.
_ODDS = 1000.0
#: From how many cells on, and from which share, equal values look like a revision.
FEW, HALF = 4, 0.5
#: Cells that are looked at first: few measures are proportional there that are not everywhere.
SAMPLE = 1000


class Valued(NamedTuple):
    """A table and what its office knows of it: shape of the table, in scaled integers.

    `shown`: all values as they are; with noise by record keys, which proportional measures have in
    common; or neither. `hidden`: which cells are suppressed; None: not known. `judged`: marks of
    the proofs that judged how its variables lie in those of all tables that have the same mark.
    """

    table: Table | Published
    value: NDArray[np.int64]
    known: NDArray[np.bool_]
    shown: Literal["whole", "noise", "less"] = "less"
    hidden: NDArray[np.bool_] | None = None
    judged: frozenset[int] = frozenset()

    @property
    def hides(self) -> bool:
        """Whether cells are suppressed."""
        return self.hidden is not None and bool(self.hidden.any())


def valued(table: Table, published: Published) -> Valued:
    """A table of which all values are known, and what the public is to see of it."""
    noise = published.changed == "cell_key"
    whole = not published.changed and not published.suppressed.any()
    every = np.ones(table.shape, dtype=bool)
    shown = "noise" if noise else _shown(whole)
    hidden = None if published.changed else published.suppressed
    return Valued(table, table.measure.sum, every, shown, hidden)


def remembered(one: Earlier) -> list[Valued]:
    """A released table with what is known of its true values; nothing where none is."""
    seen = one.published
    hidden = None if one.perturbed else seen.suppressed
    shown = "noise" if hidden is None else _shown(not hidden.any())
    if one.original is not None:
        return [Valued(seen, one.original, np.ones(seen.shape, dtype=bool), shown, hidden)]
    return [] if hidden is None else [Valued(seen, seen.value, ~hidden, shown, hidden)]


def _shown(whole: bool) -> Literal["whole", "less"]:
    return "whole" if whole else "less"


def refuse_one_measure_twice(
    new: Sequence[Valued], before: Sequence[Valued] = (), sums: Sequence[MeasureSum] = ()
) -> None:
    """Refuse tables of common records whose measures are one under two names, and hide something.

    Parameters
    ----------
    new
        Tables that are compared with each other and with all others.
    before
        Tables that are out already.
    sums
        Equations between measures, which tie those that they name.

    Raises
    ------
    MeasureError
        Of two measures, the one is the other times a number in all finest cells of one table that
        stand in another, and these are too many and too large for chance; or a measure is the same
        there in two periods, and the one table shows or adds up what the other hides.
    """
    for one, other in [*combinations(new, 2), *((one, its) for one in new for its in before)]:
        about, its = one.table.about, other.table.about
        named = {about.measure, its.measure}
        tied = len(named) == 1 or any(named <= {s.total, *s.parts} for s in sums)
        if one.shown == other.shown != "less":
            continue
        if about.shares_records(its) and not tied:
            cells = _times_a_number(one, other)
            if cells:
                raise MeasureError(
                    f"{about.measure!r} and {its.measure!r} are one measure under two names: the "
                    f"one is the other times a number in all {cells:,} finest cells that two "
                    "tables of common records share, so what the one hides the other shows. "
                    "Publish one of them, under one name; or say sums=['a = b'], if they are equal"
                )
        elif about.of_another_period(its) and not _hide_alike(one, other):
            cells = _times_a_number(one, other, equal=True)
            if cells:
                raise MeasureError(
                    f"{about.measure!r} has the same value in all {cells:,} finest cells that a "
                    f"table of vintage {about.vintage!r} and one of {its.vintage!r} share, so they "
                    "pass for the same records, and what the one hides the other shows. Give both "
                    "the same vintage=, that of what was published first; or, if they are of two "
                    "periods, hide the same cells in both"
                )


def mostly_equal(one: Valued, other: Valued) -> tuple[int, int] | None:
    """How many values are the same in two periods, and of how many; None: few, or hidden alike.

    As where a period is delivered again with some values corrected: `FEW` common finest cells that
    hold something or more, at least half of them equal, and too large for chance.
    """
    if not one.table.about.of_another_period(other.table.about) or _hide_alike(one, other):
        return None
    a, b = _side_by_side(one, other)
    there = (a != 0) & (b != 0)
    a, b = a[there], b[there]
    same = _same(a, decimals_of(one), b, decimals_of(other))
    equal, number = int(same.sum()), len(a)
    if number < FEW or equal < HALF * number:
        return None
    ways = lgamma(number + 1) - lgamma(equal + 1) - lgamma(number - equal + 1)
    odds = np.log1p(np.minimum(np.abs(a), np.abs(b))[same].astype(np.float64)).sum()
    return (equal, number) if odds - ways > np.log(_ODDS) else None


def _side_by_side(one: Valued, other: Valued) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The values of the finest common cells that are known in both tables."""
    first, second = common_cells(one.table, other.table)
    there = finest_of(one.table, first)
    there &= one.known.ravel()[first] & other.known.ravel()[second]
    return one.value.ravel()[first[there]], other.value.ravel()[second[there]]


def _hide_alike(one: Valued, other: Valued) -> bool:
    """Whether all cells of one table stand in another, which hides the same of them.

    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables.dimension import Dimension
    >>> region = Dimension("region", Hierarchy.flat(["N", "S", "W"]))
    >>> table = Table((region,), np.array([600, 310, 90, 200]))
    >>> hidden = np.array([False, False, True, True])
    >>> one = Valued(table, table.count, table.count > 0, hidden=hidden)
    >>> _hide_alike(one, one), _hide_alike(one, one._replace(hidden=hidden[::-1]))
    (True, False)
    """
    if one.hidden is None or other.hidden is None:
        return False
    first, second = common_cells(one.table, other.table)
    alike = np.array_equal(one.hidden.ravel()[first], other.hidden.ravel()[second])
    return alike and len(first) in (one.value.size, other.value.size)


def _times_a_number(one: Valued, other: Valued, equal: bool = False) -> int:
    """In how many common cells a measure is another one times a number; 0: not in all, or chance.

    equal: only where the number is 1.

    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables.dimension import Dimension
    >>> region = Dimension("region", Hierarchy.flat(["N", "S", "W"]))
    >>> sums = np.array([600, 310, 90, 200])
    >>> euros = Valued(Table((region,), sums), sums, sums > 0)
    >>> cents = euros._replace(value=100 * sums)
    >>> _times_a_number(euros, cents), _times_a_number(euros, cents._replace(value=cents.value + 1))
    (3, 0)
    """
    a, b = _side_by_side(one, other)
    if not np.array_equal(a == 0, b == 0):
        return 0
    a, b = a[a != 0], b[b != 0]
    if equal and not _same(a, decimals_of(one), b, decimals_of(other)).all():
        return 0
    if not (_proportional(a[:SAMPLE], b[:SAMPLE]) and _proportional(a, b)):
        return 0
    # one cell says by what number; every other one would have met it by chance
    chance = chance_explains(np.minimum(np.abs(a), np.abs(b)), 0 if equal else 1)
    return 0 if chance else len(a)


def decimals_of(one: Valued) -> int:
    """In units of 10**- this many the values are."""
    table = one.table
    return table.measure.decimals if isinstance(table, Table) else table.decimals


def _same(a: NDArray[np.int64], of_a: int, b: NDArray[np.int64], of_b: int) -> NDArray[np.bool_]:
    """Which values are the same, with so many decimals."""
    if of_a == of_b:
        return a == b
    return (a.astype(object) * 10**of_b == b.astype(object) * 10**of_a).astype(bool)


def chance_explains(size: NDArray[np.number], fitted: int, tried: int = 1) -> bool:
    """Whether numbers of these sizes may satisfy an equation by chance.

    fitted: as many cells say what its factors are, the largest ones.
    tried: how many equations were.
    """
    odds = np.log1p(np.sort(size)[: max(len(size) - fitted, 0)].astype(np.float64)).sum()
    return bool(odds <= np.log(_ODDS * tried))


def _proportional(a: NDArray[np.int64], b: NDArray[np.int64]) -> bool:
    """Whether all quotients are equal, exactly."""
    if not len(a):
        return False
    own, its = a.astype(object), b.astype(object)
    return bool((own * its[0] == its * own[0]).all())


def finest_of(table: Table | Published, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of some cells of a table are no totals of others of them.

    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables.dimension import Dimension
    >>> region = Dimension("region", Hierarchy.flat(["N", "S"]))
    >>> finest_of(Table((region,), np.array([5, 3, 2])), np.array([0, 2])).tolist()
    [False, True]
    """
    finest = np.ones(len(cells), dtype=bool)
    for dimension, at in zip(table.dimensions, np.unravel_index(cells, table.shape), strict=True):
        parent, above = dimension.hierarchy.parent, np.zeros(len(dimension), dtype=bool)
        for code in np.unique(at).tolist():
            code = int(parent[code])
            while code >= 0 and not above[code]:
                above[code] = True
                code = int(parent[code])
        finest &= ~above[at]
    return finest
