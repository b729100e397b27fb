"""Look for alternative tables in which sums of suppressed cells move as far as they have to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.attacker import Attacker
from diskret.attack.equations import Equations, equations
from diskret.attack.exact import UNKNOWN
from diskret.attack.examination import Examination
from diskret.attack.examine import attack
from diskret.attack.knowledge import unknown_bounds
from diskret.attack.sums import sum_targets, unmet_sums
from diskret.attack.witnesses import extremes
from diskret.progress import Progress, silent
from diskret.tables import Publication, Published, together
from diskret.tables.requirements import UnsafeSums


def show_sums(
    published: Published | Publication,
    examination: Examination,
    attacker: Attacker,
    unsafe: UnsafeSums,
    original: NDArray[np.int64],
    progress: Progress = silent,
) -> Examination:
    """The same examination, with more witnesses where sums need them.

    Sums that its witnesses do not show to be uncertain enough become unknowns of an attack of
    their own: one equation more for each, ``sum − cells = 0``. A sum that everybody knows
    stays as it is.

    Parameters
    ----------
    published, attacker
        As they were given to [`examine`][diskret.attack.examine.examine].
    examination
        Its result.
    unsafe
        What must stay uncertain.
    original
        Original values of all cells, flat.
    progress
        Told about the task ``"attack"``.
    """
    publication = together(published)
    missed = unmet_sums(examination, unsafe, original)
    if not missed.any():
        return examination
    asked = unsafe.only(missed)
    known = equations(publication)
    lower, upper = unknown_bounds(publication, known, attacker, original)
    far = np.full(len(asked), UNKNOWN)
    found = attack(
        publication,
        _with_sums(known, asked.member),
        (np.append(lower, -far), np.append(upper, far)),
        sum_targets(asked, original),
        progress,
        original=original,
    )
    return _joined(examination, known, found)


def _with_sums(known: Equations, member: sparse.csr_array) -> Equations:
    """The equations with the sums as further unknowns, the only ones that are asked for."""
    number, k = member.shape[0], len(known.cell)
    place = np.full(max(member.shape[1], int(known.cell.max(initial=-1)) + 1), -1)
    place[known.cell] = np.arange(k)
    row = np.repeat(np.arange(number), np.diff(member.indptr))
    own = sparse.csr_array(
        (-np.ones(len(row), np.int64), (row, place[member.indices])), shape=(number, k)
    )
    matrix = sparse.block_array(
        [[known.matrix, None], [own, sparse.eye_array(number, dtype=np.int64)]], format="csr"
    )
    last = len(place)
    return Equations(
        cell=np.append(known.cell, np.arange(last, last + number)),
        matrix=sparse.csr_array(matrix),
        right=np.append(known.right, np.zeros(number, dtype=np.int64)),
        hidden=np.append(np.zeros(k, dtype=bool), np.ones(number, dtype=bool)),
        latent=np.append(known.latent, np.ones(number, dtype=bool)),
        free=np.append(known.free, np.ones(number, dtype=bool)),
    )


def _joined(examination: Examination, known: Equations, found: Examination) -> Examination:
    """Add the witnesses for sums, which tell what every unknown cell is there."""
    if found.beside is None:
        return examination
    witnesses = sparse.csr_array(found.beside[:, np.flatnonzero(known.hidden)])
    low, high = extremes(witnesses, found.denominator)
    beside = examination.beside
    if beside is not None:
        others = sparse.csr_array(found.beside[:, np.flatnonzero(~known.hidden)])
        beside = sparse.csr_array(sparse.vstack([beside, others], format="csr"))
    return replace(
        examination,
        lower=np.minimum(examination.lower, low),
        upper=np.maximum(examination.upper, high),
        witness_lower=np.minimum(examination.witness_lower, low),
        witness_upper=np.maximum(examination.witness_upper, high),
        witnesses=sparse.csr_array(sparse.vstack([examination.witnesses, witnesses], format="csr")),
        denominator=np.append(examination.denominator, found.denominator),
        beside=beside,
    )
