"""Attack a published table: what its equations say about the suppressed cells."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.attack.attack_equations import attack_equations, known_beforehand
from diskret.attack.attacker import Attacker
from diskret.attack.component import Attacked
from diskret.attack.equations import equations
from diskret.attack.examination import Examination, Targets, interval_frame
from diskret.attack.knowledge import unknown_bounds
from diskret.attack.moves import Proposals
from diskret.attack.reduction import reduce
from diskret.deadline import NEVER, Deadline, OutOfTime
from diskret.errors import InputError
from diskret.io import FrameKind, from_arrow
from diskret.progress import Progress, silent
from diskret.tables import Publication, Published, together


def examine(
    published: Published | Publication,
    attacker: Attacker = Attacker(),
    targets: Targets | None = None,
    progress: Progress = silent,
    *,
    original: NDArray[np.int64] | None = None,
    proposals: Proposals | None = None,
    earlier: dict[bytes, Attacked] | None = None,
    deadline: Deadline = NEVER,
    quick: bool = False,
) -> Examination:
    """Compute the attacker's interval of every suppressed cell, with witnesses.

    The interval of a frequency table comes from real-valued tables and is rounded inwards,
    so it may be wider than what whole-numbered tables allow; witnesses are whole-numbered.

    Where equations connect so many cells that all intervals would take too long, by work
    counted from the publication alone, the intervals are outer bounds (see `Examination.exact`),
    and witnesses are sought only for what `targets` claim.

    published: what the world sees, one table or several that are read together; nothing else is
        used.
    targets: how far each suppressed cell is claimed to move. Where witnesses fall short of it
        although the interval does not, whole-numbered tables are searched by branch and bound. The
        interval does not depend on targets.
    original: original values in scaled integers, shape of the table (of several: flat, one after
        the other). For ``Attacker(relative=...)``, whose bounds are computed from them; and as an
        alternative table to start from, if they satisfy everything public. The interval does not
        depend on them otherwise.
    proposals: alternative tables that may show what is claimed. They are checked; wrong ones are
        left out.
    earlier: what earlier attacks found about small connected parts, and this one will: one that is
        the same, and of which the same is claimed, is not attacked again.
    deadline: intervals that all equations have not told by then are what single equations tell, as
        with `quick`; no more witnesses are looked for then.
    quick: only what single equations tell, see `Examination.quick`.
    """
    publication = together(published)
    known, bounds = known_beforehand(publication, attacker, original)
    attacked = partial(
        attack_equations,
        publication,
        known,
        bounds,
        targets,
        progress,
        original=original,
        proposals=proposals,
        deadline=deadline,
    )
    if not quick:
        with suppress(OutOfTime):
            return attacked(earlier=earlier)
    return attacked(quick=True)


def narrowed(
    examination: Examination,
    publication: Publication,
    attacker: Attacker,
    *,
    original: NDArray[np.int64],
    progress: Progress,
    deadline: Deadline,
) -> Examination:
    """A quick examination with the intervals that all equations tell, if these come in time.

    Parameters as of `examine`.
    """
    known, bounds = known_beforehand(publication, attacker, original)
    with suppress(OutOfTime):
        return examination.narrowed(
            attack_equations(
                publication, known, bounds, None, progress, original=original, deadline=deadline
            )
        )
    return examination


def intervals(
    published: Published,
    attacker: Attacker | None = None,
    *,
    original: NDArray[np.int64] | None = None,
    kind: FrameKind = "pyarrow",
    progress: Progress = silent,
) -> Any:
    """What an attacker can infer about every suppressed cell.

    Parameters
    ----------
    published
        What the world sees.
    attacker
        What is known beside it; None: the plain outsider.
    original
        Original values in scaled integers; only for ``Attacker(relative=...)``.
    kind
        The kind of frame to return.
    progress
        Told about the task ``"attack"``.

    Returns
    -------
    frame
        One row for each suppressed cell: its codes, `lower` and `upper` in published units
        (whole numbers if nothing is published after the decimal point); null where nothing
        bounds the cell. Values are multiples of 10**-decimals, so the bounds are rounded
        inwards to such multiples.

    Raises
    ------
    InputError
        Something else than a published table was given.
    ContradictionError
        Published values and bounds that no table can satisfy.
    """
    _check_published(published)
    attacker = attacker or Attacker()
    attacker.check_names([published.name])
    examination = examine(published, attacker, progress=progress, original=original)
    return from_arrow(interval_frame(published, examination), kind)


def _check_published(given: Any) -> None:
    if not isinstance(given, Published):
        raise InputError(
            f"intervals() attacks a published table, not an object of type "
            f"{type(given).__name__!r}; give result.published, or Published.read(folder)"
        )


def moving_together(
    published: Published | Publication,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The group of each suppressed cell, and whether it moves with the group or against it.

    Two hidden cells beside one total are a group: what one gains the other loses. Who knows one
    cell of a group knows all of them. Groups that only longer equations tie together are told
    apart.

    Returns group and sign, in the order of the suppressed cells: numbers from 0, ``(k,)``, int64;
    and 1 or -1.
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
