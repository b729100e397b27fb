"""One measure under two names: another currency, another unit, the same column twice.

Tables are tied by the names of their measures. Where the values of one measure are those of another
times a number, what the one hides the other shows, and no equation says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.tables.meanings import common_cells
from diskret.tables.published import Published
from diskret.tables.requirements import Earlier
from diskret.tables.table import Table
from diskret.tables.ties import MeasureSum

#: One in so many: less likely than that, and chance is no explanation.
_ODDS = 1000.0
#: Cells that are looked at first: few measures are proportional there that are not everywhere.
_SAMPLE = 1000


class Valued(NamedTuple):
    """A table and what its office knows of it: shape of the table, in scaled integers.

    `shown`: all values as they are; with noise by record keys, which proportional measures have in
    common; or neither.
    """

    table: Table | Published
    value: NDArray[np.int64]
    known: NDArray[np.bool_]
    shown: Literal["whole", "noise", "less"] = "less"


def valued(table: Table, published: Published) -> Valued:
    """A table of which all values are known, and what the public is to see of it."""
    noise = published.changed == "cell_key"
    whole = not published.changed and not published.suppressed.any()
    every = np.ones(table.shape, dtype=bool)
    return Valued(table, table.measure.sum, every, "noise" if noise else _shown(whole))


def remembered(one: Earlier) -> list[Valued]:
    """A released table with what is known of its true values; nothing where none is."""
    seen = one.published
    whole = not one.perturbed and not seen.suppressed.any()
    if one.original is not None:
        every = np.ones(seen.shape, dtype=bool)
        return [Valued(seen, one.original, every, "noise" if one.perturbed else _shown(whole))]
    return [] if one.perturbed else [Valued(seen, seen.value, ~seen.suppressed, _shown(whole))]


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
    InputError
        Of two measures, the one is the other times a number in all finest cells of one table that
        stand in another, and these are too many and too large for chance.
    """
    for one, other in [*combinations(new, 2), *((one, its) for one in new for its in before)]:
        about, its = one.table.about, other.table.about
        named = {about.measure, its.measure}
        tied = len(named) == 1 or any(named <= {s.total, *s.parts} for s in sums)
        harmless = one.shown == other.shown != "less"
        if tied or harmless or not about.shares_records(its):
            continue
        cells = _times_a_number(one, other)
        if cells:
            raise InputError(
                f"{about.measure!r} and {its.measure!r} are one measure under two names: the one "
                f"is the other times a number in all {cells:,} finest cells that two tables of "
                "common records share, so what the one hides the other shows. Publish one of "
                "them, under one name; or say sums=['a = b'], if they are equal"
            )


def _times_a_number(one: Valued, other: Valued) -> int:
    """In how many common cells a measure is another one times a number; 0: not in all, or chance.

    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables.dimension import Dimension
    >>> region = Dimension("region", Hierarchy.flat(["N", "S", "W"]))
    >>> sums = np.array([600, 310, 90, 200])
    >>> euros = Valued(Table((region,), sums), sums, sums > 0)
    >>> cents = euros._replace(value=100 * sums)
    >>> _times_a_number(euros, cents), _times_a_number(euros, cents._replace(value=cents.value + 1))
    (3, 0)
    """
    first, second = common_cells(one.table, other.table)
    finest = _finest(one.table).ravel()[first], _finest(other.table).ravel()[second]
    there = max(finest, key=np.count_nonzero)  # no totals of others that are looked at
    there = there & one.known.ravel()[first] & other.known.ravel()[second]
    a, b = one.value.ravel()[first[there]], other.value.ravel()[second[there]]
    if not np.array_equal(a == 0, b == 0):
        return 0
    a, b = a[a != 0], b[b != 0]
    if not (_proportional(a[:_SAMPLE], b[:_SAMPLE]) and _proportional(a, b)):
        return 0
    # the first cell says by what number; every other one would have met it by chance
    size = np.minimum(np.abs(a), np.abs(b)).astype(np.float64)
    odds = np.log1p(np.sort(size)[:-1]).sum()
    return len(a) if odds > np.log(_ODDS) else 0


def _proportional(a: NDArray[np.int64], b: NDArray[np.int64]) -> bool:
    """Whether all quotients are equal, exactly."""
    if not len(a):
        return False
    own, its = a.astype(object), b.astype(object)
    return bool((own * its[0] == its * own[0]).all())


def _finest(table: Table | Published) -> NDArray[np.bool_]:
    """The cells of leaf codes, shape of the table."""
    finest = np.ones(1, dtype=bool)
    for dimension in table.dimensions:
        finest = np.logical_and.outer(finest, dimension.hierarchy.is_leaf)
    return finest.reshape(table.shape)
