"""Which suppressed cells tell each other: one moves exactly as far as the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.attack.attacker import Attacker
from diskret.attack.equations import equations
from diskret.attack.knowledge import unknown_bounds
from diskret.attack.reduction import reduce
from diskret.tables import Publication, Published, together


def moving_together(
    published: Published | Publication,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The group of each suppressed cell, and whether it moves with the group or against it.

    Two hidden cells beside one total are a group: what one gains the other loses. Who knows one
    cell of a group knows all of them. Groups that only longer equations tie together are told
    apart.

    Returns
    -------
    group, sign
        In the order of the suppressed cells: numbers from 0, ``(k,)``, int64; and 1 or -1.
    """
    publication = together(published)
    known = equations(publication)
    lower, upper = unknown_bounds(publication, known, Attacker(), None)
    link = reduce(known.matrix, known.right, lower, upper).link[np.flatnonzero(known.hidden)]
    cells = link.shape[0]
    moves = np.diff(link.indptr) > 0
    sign, leader = np.ones(cells, dtype=np.int64), np.arange(cells) + link.shape[1]
    sign[moves], leader[moves] = link.data, link.indices
    return np.unique(leader, return_inverse=True)[1].astype(np.int64), sign
