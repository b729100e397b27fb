"""Intervals in place of suppressed values, attacked again as they are published."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diskret.attack import (
    Attacker,
    JudgedParts,
    certify,
    examine,
    moving_together,
    neighbours,
    revealed_parts,
    revealed_rests,
    show_sums,
    targets_of,
    unknown_cells,
    unmet,
    unmet_sums,
    withstand_insiders,
)
from diskret.attack.certificate import Proof
from diskret.attack.earlier_tables import seen_by_readers
from diskret.errors import ProofError
from diskret.keys import SecretKeys
from diskret.progress import Progress, silent
from diskret.tables import NO_BOUND, Publication, Published

if TYPE_CHECKING:
    from diskret.protect.result import Result

_Whole = NDArray[np.int64]
#: How often cells are given back what the table itself tells, before all of them are.
_ROUNDS = 8
#: Largest share of its value that the level of a secondary imitates.
_LARGEST_SHARE = 0.5


def with_intervals(
    results: Sequence[Result], keys: SecretKeys, progress: Progress = silent
) -> list[Result]:
    """The same results, with a safe interval published for every suppressed cell.

    A secret key draws how wide an interval is, whatever the value, and where the value lies in
    it: anywhere with the same probability, but at least a level from both ends. Cells of which
    one follows from another share a draw. Published is what all intervals and equations
    together leave, or else those that narrow the others down would be known as the ones of
    primaries. What they leave of a cell is narrower than what the table itself tells only if it
    reaches the levels on both sides and is twice as wide as both together; else the cell, and
    if need be its neighbours, get what the table itself tells. All is attacked as it will be
    published.

    results: all results of tables that were protected together.
    """
    first = results[0].certificate
    proof, attacker = first.proof, first.attacker
    cell = proof.outsider.cell
    unit = _units(proof.publication, cell)
    own = _outwards(proof.outsider.lower, proof.outsider.upper, unit)
    group, sign = moving_together(proof.publication)
    left, right = _levels(proof, group, sign)
    low, high = _drawn(keys, proof, group, sign, left, right)
    drawn = low // unit * unit, -(-high // unit) * unit
    wide = np.zeros(len(cell), dtype=bool)  # what the table itself tells is published
    for rounds in range(_ROUNDS + 1):
        shown = _narrower(own, drawn, wide)
        if not wide.all():
            inside = _bounded(seen_by_readers(proof.publication), cell, *shown)
            known = examine(inside, Attacker(), progress=progress)
            shown = _narrower(own, _outwards(known.lower, known.upper, unit))
            pointing = _pointing(proof.original[cell], shown, own, left, right)
            if pointing.any() and rounds < _ROUNDS:
                wide = _widened(proof.publication, wide, pointing, group, rounds)
                continue
            if pointing.any():
                wide[:] = True
                shown = own
        published = _bounded(proof.publication, cell, *shown)
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
                proof.original,
                unsafe=proof.unsafe,
                parts=_judged(proof.parts, proof, published, _parts),
                rests=_judged(proof.rests, proof, published, _rests),
                crossed=proof.crossed,
                insiders=proof.insiders,
                sliding_only=[result.certificate.sliding_only for result in results],
                repaired=first.repaired,
                groups=[result.certificate.groups for result in results],
                unclaimed=proof.unclaimed,
                progress=progress,
            )
            return [
                replace(result, certificate=certificate)
                for result, certificate in zip(results, certificates, strict=True)
            ]
        wide = _widened(proof.publication, wide, missed, group, rounds)
        wide |= rounds >= _ROUNDS - 1
    raise ProofError(
        "published intervals could not be proven safe, however wide; publish the table without"
    )


def _judged(
    judged: JudgedParts | None,
    proof: Proof,
    published: Publication,
    revealed: Callable[[Publication], int],
) -> JudgedParts | None:
    """What was judged of what is revealed; of what only intervals reveal nothing is known."""
    if judged is None:
        return None
    more = revealed(published) - revealed(proof.publication)
    return replace(judged, unjudged=judged.unjudged + max(more, 0))


def _parts(publication: Publication) -> int:
    return len(revealed_parts(publication))


def _rests(publication: Publication) -> int:
    return sum(map(len, revealed_rests(publication)))


def _levels(
    proof: Proof, group: NDArray[np.int64], sign: NDArray[np.int64]
) -> tuple[_Whole, _Whole]:
    """What must stay uncertain below and above each suppressed cell, twice ``(k,)``.

    Cells that move together share the largest level that is required of one of them. Where none
    is, they imitate the primaries: the usual level of counts, for sums the largest level relative
    to the value. So a narrow interval does not tell primaries from secondaries.
    """
    cell, needs = proof.examination.cell, proof.requirements
    at = np.searchsorted(cell, needs.cell)
    size = np.abs(proof.original[cell])
    lower, upper = (np.zeros(len(cell), dtype=np.int64) for _ in range(2))
    lower[at], upper[at] = needs.lower, np.maximum(needs.upper, needs.sliding - needs.lower)
    count = int(group.max(initial=-1)) + 1
    below, above = (np.zeros(count, dtype=np.int64) for _ in range(2))
    np.maximum.at(below, group, np.where(sign > 0, lower, upper))
    np.maximum.at(above, group, np.where(sign > 0, upper, lower))

    most = np.maximum(lower, upper)[at]
    if proof.publication.tables[0].frequency:
        imitated = np.full(len(cell), np.median(most) if len(at) else 1)
    else:
        share = np.minimum(most / np.maximum(size[at], 1), _LARGEST_SHARE).max(initial=0)
        imitated = share * size
    smallest = np.full(count, NO_BOUND)
    np.minimum.at(smallest, group, np.maximum(np.ceil(imitated), 1).astype(np.int64))
    free = (below == 0) & (above == 0)
    below, above = np.where(free, smallest, below)[group], np.where(free, smallest, above)[group]
    return np.where(sign > 0, below, above), np.where(sign > 0, above, below)


def _drawn(
    keys: SecretKeys,
    proof: Proof,
    group: NDArray[np.int64],
    sign: NDArray[np.int64],
    left: _Whole,
    right: _Whole,
) -> tuple[_Whole, _Whole]:
    """An interval for each suppressed cell, one draw for all that move together.

    It is two to eight times as wide as both levels together, where these are rounded up to a
    power of two: within a factor of two no level, and so no value, makes a width likelier. The
    value lies at each place that leaves the levels free with the same probability.
    """
    digest = hashlib.blake2b(key=keys.subkey("intervals"), digest_size=8)
    digest.update(proof.publication.name.encode())
    digest.update(np.ascontiguousarray(proof.original, dtype="<i8").tobytes())
    seed = int.from_bytes(digest.digest(), "big")
    width_at, value_at = np.random.default_rng(seed).random((2, int(group.max(initial=-1)) + 1))

    below, above = np.where(sign > 0, left, right), np.where(sign > 0, right, left)
    levels = np.exp2(np.ceil(np.log2(below + above))).astype(np.int64)
    width = 2 * levels + (width_at[group] * (6 * levels + 1)).astype(np.int64)
    place = below + (value_at[group] * (width - below - above + 1)).astype(np.int64)
    place = np.where(sign > 0, place, width - place)
    low = proof.original[proof.examination.cell] - place
    return low, low + width


def _narrower(
    own: tuple[_Whole, _Whole],
    other: tuple[_Whole, _Whole],
    wide: NDArray[np.bool_] | bool = False,
) -> tuple[_Whole, _Whole]:
    """What two intervals have in common; of cells in `wide`, the first alone."""
    return (
        np.where(wide, own[0], np.maximum(own[0], other[0])),
        np.where(wide, own[1], np.minimum(own[1], other[1])),
    )


def _pointing(
    value: _Whole,
    shown: tuple[_Whole, _Whole],
    own: tuple[_Whole, _Whole],
    left: _Whole,
    right: _Whole,
) -> NDArray[np.bool_]:
    """Intervals that are narrower than what the table itself tells, and say too much."""
    low, high = shown
    narrower = (low > own[0]) | (high < own[1])
    reaches = ((low <= value - left) | (low == own[0])) & (
        (high >= value + right) | (high == own[1])
    )
    # a bound that is none is far enough
    enough = high.astype(np.float64) - low >= 2.0 * (left + right)
    return narrower & ~(reaches & enough)


def _widened(
    publication: Publication,
    wide: NDArray[np.bool_],
    failing: NDArray[np.bool_],
    group: NDArray[np.int64],
    rounds: int,
) -> NDArray[np.bool_]:
    """More cells get what the table itself tells: the failing ones, or those around them."""
    stubborn = failing & wide
    for _ in range(1 + rounds if stubborn.any() else 0):
        stubborn = neighbours(publication, stubborn)
    return wide | np.isin(group, group[failing | stubborn])


def _units(publication: Publication, cell: NDArray[np.int64]) -> _Whole:
    """The unit that the bounds of each cell are multiples of."""
    table = np.searchsorted(publication.starts, cell, side="right") - 1
    units = [one.rounding for one in publication.own]
    return np.array([*units, 1], dtype=np.int64)[np.minimum(table, len(units))]


def _outwards(lower: NDArray[Any], upper: NDArray[Any], unit: _Whole) -> tuple[_Whole, _Whole]:
    """Bounds as multiples of the unit, so that no value is cut off."""
    return _whole(np.floor(lower / unit), unit), _whole(np.ceil(upper / unit), unit)


def _bounded(
    publication: Publication, cell: NDArray[np.int64], lower: _Whole, upper: _Whole
) -> Publication:
    """The tables with these bounds of the suppressed cells."""
    tables: list[Published] = []
    for table, start in zip(publication.own, publication.starts.tolist(), strict=False):
        own = (cell >= start) & (cell < start + table.value.size)
        low, high = (np.zeros(table.value.size, dtype=np.int64) for _ in range(2))
        low[cell[own] - start], high[cell[own] - start] = lower[own], upper[own]
        tables.append(
            replace(table, lower=low.reshape(table.shape), upper=high.reshape(table.shape))
        )
    before = publication.tables[len(tables) :]
    return replace(publication, tables=(*tables, *before))


def _whole(bound: NDArray[np.float64], unit: _Whole) -> _Whole:
    """Multiples of a unit as integers, with the sign of `NO_BOUND` where there is none."""
    known = np.abs(bound * unit) < 2.0**62
    whole = np.where(known, bound, 0).astype(np.int64) * unit
    return np.where(known, whole, np.where(bound < 0, -NO_BOUND, NO_BOUND))
