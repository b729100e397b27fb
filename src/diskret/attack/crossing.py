"""The common finest combinations of tables for which pairs of tables do not say everything."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from diskret.attack.axes import Axis
from diskret.hierarchy.table_circles import Codes, circles
from diskret.tables import Published


def crossings(
    tables: Sequence[Published], axes: Sequence[tuple[Axis, ...]]
) -> tuple[list[tuple[Published, tuple[Axis, ...]]], bool]:
    """Which combinations of codes an attacker has to think of; see `circles`.

    Parameters
    ----------
    tables, axes
        What is published, and the axes of each table.

    Returns
    -------
    tuple
        A table of the same population and the axes of the combinations, for each circle; and
        whether nothing is left that three or more tables say of their common records.
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
        around, all_of_them = circles([[_codes(axis) for axis in axes[i]] for i in members])
        complete = complete and all_of_them
        for circle in around:
            own = (Axis(c.name, np.array(c.parent, np.int32), c.meaning, 0) for c in circle)
            found.append((tables[members[0]], tuple(own)))
    return found, complete


def _codes(axis: Axis) -> Codes:
    return Codes(axis.name, tuple(axis.parent.tolist()), axis.meaning)
