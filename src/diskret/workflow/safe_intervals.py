"""Intervals in place of suppressed values, attacked again as they are published."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diskret.attack import (
    Attacker,
    JudgedParts,
    certify,
    examine,
    neighbours,
    revealed_parts,
    show_sums,
    targets_of,
    unknown_cells,
    unmet,
    unmet_sums,
    withstand_insiders,
)
from diskret.attack.certificate import Proof
from diskret.errors import ProofError
from diskret.keys import SecretKeys
from diskret.progress import Progress, silent
from diskret.tables import NO_BOUND, Publication, Published
from diskret.workflow.result import Result

#: How often intervals that give too much away are doubled, before all become as wide as what
#: everybody can compute.
_DOUBLED = 8
#: Largest share of its value that the level of a secondary imitates.
_LARGEST_SHARE = 0.5


def with_intervals(
    results: Sequence[Result], keys: SecretKeys, progress: Progress = silent
) -> list[Result]:
    """The same results, with a safe interval published for every suppressed cell.

    An interval is four to eight times as wide as the cell's level, or as the level that a
    secondary of this size would have if it were a primary. A secret key decides how wide, and
    where the value lies in it, at least a level from both ends: so the width does not tell the
    level, nor the middle the value. Intervals that are safe one by one may not be so together, so
    all are attacked as they will be published; where the attack gets through, they are widened
    until it does not. Published is what all intervals and equations together leave, or else those
    that narrow the others down would be known as the ones of primaries.

    Parameters
    ----------
    results
        All results of tables that were protected together.
    keys
        The office's keys.
    progress
        Told about the task ``"attack"``.

    Raises
    ------
    ProofError
        The intervals could not be proven safe.
    """
    first = results[0].certificate
    proof, attacker = first.proof, first.attacker
    levels, drawn = _levels(proof), _drawn(keys, proof)
    cell = proof.outsider.cell
    for doubled in range(_DOUBLED + 1):
        published = _published(proof, levels if doubled < _DOUBLED else None, drawn)
        known = examine(published, Attacker(), progress=progress)
        published = _bounded(proof.publication, cell, known.lower, known.upper)
        targets = targets_of(published, proof.original, proof.requirements, proof.unclaimed)
        examination = examine(
            published, attacker, targets, original=proof.original, progress=progress
        )
        missed = unmet(examination, targets)
        if proof.unsafe is not None:
            examination = show_sums(
                published, examination, attacker, proof.unsafe, proof.original, progress
            )
            open_sums = unmet_sums(examination, proof.unsafe, proof.original)
            missed |= np.isin(cell, proof.unsafe.only(open_sums).member.indices)
        if proof.insiders is not None and not missed.any():
            insiders = proof.insiders.insiders
            examination, told = withstand_insiders(
                published, examination, attacker, insiders, proof.original, progress
            )
            known_too_well = insiders.target[[one.target for one in told.open]].indices
            missed |= np.isin(cell, unknown_cells(published)[0][known_too_well])
        if not missed.any():
            certificates = certify(
                published,
                attacker,
                proof.requirements,
                examination,
                targets,
                proof.original,
                unsafe=proof.unsafe,
                parts=_parts(proof, published),
                insiders=proof.insiders,
                sliding_only=[result.certificate.sliding_only for result in results],
                repaired=first.repaired,
                unclaimed=proof.unclaimed,
                progress=progress,
            )
            return [
                replace(result, certificate=certificate)
                for result, certificate in zip(results, certificates, strict=True)
            ]
        levels = np.where(neighbours(published, missed), 2 * levels, levels)
    raise ProofError(
        "published intervals could not be proven safe, however wide; publish the table without"
    )


def _parts(proof: Proof, published: Publication) -> JudgedParts | None:
    """What was judged of revealed parts; of those that only intervals reveal nothing is known."""
    if proof.parts is None:
        return None
    more = len(revealed_parts(published)) - len(revealed_parts(proof.publication))
    return replace(proof.parts, unjudged=proof.parts.unjudged + max(more, 0))


def _levels(proof: Proof) -> NDArray[np.float64]:
    """What must stay uncertain on both sides of each suppressed cell, ``(k,)``.

    Secondaries get the level of the primaries, relative to their values: a narrow interval
    must not tell the ones from the others.
    """
    cell, needs = proof.examination.cell, proof.requirements
    at = np.searchsorted(cell, needs.cell)
    size = np.abs(proof.original[cell]).astype(np.float64)
    level = np.ones(len(cell))
    level[at] = np.maximum.reduce([needs.lower, needs.upper, needs.sliding, 1 + 0 * needs.cell])
    if len(at):
        share = np.minimum(level[at] / np.maximum(size[at], 1), _LARGEST_SHARE)
        level = np.maximum(level, np.ceil(share.max() * size))
    return level


def _drawn(keys: SecretKeys, proof: Proof) -> NDArray[np.float64]:
    """How wide each interval is, and where its value lies, both in [0, 1), ``(2, k)``."""
    digest = hashlib.blake2b(key=keys.subkey("intervals"), digest_size=8)
    digest.update(proof.publication.name.encode())
    digest.update(np.ascontiguousarray(proof.original, dtype="<i8").tobytes())
    seed = int.from_bytes(digest.digest(), "big")
    return np.random.default_rng(seed).random((2, len(proof.examination.cell)))


def _published(
    proof: Proof, levels: NDArray[np.float64] | None, drawn: NDArray[np.float64]
) -> Publication:
    """The tables with intervals; without levels, those that everybody can compute."""
    outside = proof.outsider
    lower, upper = outside.lower, outside.upper
    if levels is not None:
        value = proof.original[outside.cell].astype(np.float64)
        width = np.ceil(4 * levels * 2 ** drawn[0])
        low = value - levels - np.floor(drawn[1] * (width - 2 * levels))
        lower, upper = np.maximum(lower, low), np.minimum(upper, low + width)
    return _bounded(proof.publication, outside.cell, lower, upper)


def _bounded(
    publication: Publication,
    cell: NDArray[np.int64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> Publication:
    """The tables with these bounds of the suppressed cells, rounded outwards."""
    tables: list[Published] = []
    for table, start in zip(publication.own, publication.starts.tolist(), strict=False):
        own = (cell >= start) & (cell < start + table.value.size)
        unit, at = table.rounding, cell[own] - start
        low, high = (np.zeros(table.value.size, dtype=np.int64) for _ in range(2))
        low[at] = _whole(np.floor(lower[own] / unit) * unit)
        high[at] = _whole(np.ceil(upper[own] / unit) * unit)
        tables.append(
            replace(table, lower=low.reshape(table.shape), upper=high.reshape(table.shape))
        )
    before = publication.tables[len(tables) :]
    return replace(publication, tables=(*tables, *before))


def _whole(bound: NDArray[np.float64]) -> NDArray[np.int64]:
    """Bounds as integers, with the sign of `NO_BOUND` where there is none."""
    known = np.abs(bound) < 2.0**62
    whole = np.where(known, bound, 0).astype(np.int64)
    return np.where(known, whole, np.where(bound < 0, -NO_BOUND, NO_BOUND))
