"""What refuses a publication beside earlier ones: hidden cells opened, cells shown otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diskret.attack import (
    Attacker,
    revealed_parts,
    revealed_rests,
)
from diskret.attack.earlier_tables import read_beside, with_own_hidden
from diskret.errors import InputError, ProofError
from diskret.ledger.check import check
from diskret.ledger.contributors import told_by_contributors
from diskret.ledger.narrowed_cells import BrokenCell, JointAttack, contradictions_named
from diskret.progress import Progress, silent
from diskret.protect.earlier_tables import groups
from diskret.protect.linked import check_sums_of_zero_counts
from diskret.protect.result import Result
from diskret.publish.contract import Protected
from diskret.tables import NO_BOUND, NO_LEVELS, Earlier, Publication, Published
from diskret.tables.dimension import describe_some
from diskret.tables.meanings import common_cells
from diskret.texts.numbers import Count

_EXAMPLES = 5

_FEW = 3


def attack_again(
    results: Sequence[Result], earlier: Sequence[Earlier], progress: Progress = silent
) -> None:
    """Attack what would be published beside all that was published earlier, as of now.

    Results that were protected together stand together; earlier tables that are not tied to them do
    not matter. `ProofError` names cells of the results or of an earlier release that would be
    narrowed down too far, or parts of categories that no table shows and that would be revealed.
    """
    proofs = [result.proof for result in results]
    sums = tuple(dict.fromkeys(s for proof in proofs for s in proof.publication.sums))
    tables = [result.published for result in results]
    broken: list[BrokenCell] = []
    known = {part for proof in proofs for part in _revealed(proof.publication)}
    for group in groups(tables, sums, earlier):
        own = [results[i] for i in group.new]
        shown = [result.published for result in own]
        totals = tuple(dict.fromkeys([*sums, *group.sums]))
        publication = read_beside(shown, totals, group.earlier)
        _check_parts(publication, known)
        for attacker, new in _against(own):
            joint = JointAttack(publication, new, group.earlier, attacker)
            with contradictions_named(shown, totals, group.earlier):
                broken += joint.broken(0, _given_up(own, group.earlier, joint), progress)
        _check_insiders(own, publication, group.earlier, progress)
    worse = [cell for cell in broken if not cell.already]
    if worse:
        where = "; ".join(
            f"{cell.codes} in {cell.table}" + (f" of {cell.release}" if cell.release else "")
            for cell in worse[:_EXAMPLES]
        )
        number = Count(len(worse))
        raise ProofError(
            f"{number} {number:cell|cells} would no longer be protected beside what was published "
            f"earlier: {where}. Nothing was published; protect the tables again with ledger="
        )


def _check_insiders(
    results: Sequence[Result],
    publication: Publication,
    earlier: Sequence[Earlier],
    progress: Progress,
) -> None:
    """Refuse what contributors could tell beside tables that were not there when all was proven."""
    told = told_by_contributors(results, publication, earlier, progress)
    if told:
        number = Count(len(told))
        raise ProofError(
            f"contributors could tell {number} {number:cell or sum|cells or sums} too closely "
            "beside what was published earlier. Nothing was published; protect the tables again "
            "with ledger="
        )


def _revealed(publication: Publication) -> dict[tuple[object, ...], str]:
    """What subtraction reveals of what nobody published, with its name."""
    parts = revealed_parts(publication)
    found = {parts.key(publication, i): parts.name(publication, i) for i in range(len(parts))}
    for rests in revealed_rests(publication):
        names = (rests.name(publication, i) for i in range(len(rests)))
        found |= {("rest", name): name for name in names}
    return found


def _check_parts(publication: Publication, known: Set[tuple[object, ...]]) -> None:
    """Refuse parts and rests that are revealed now and were not when rules judged them."""
    if not publication.beside:
        return
    found = _revealed(publication)
    if not found.keys() - known:
        return
    before = _revealed(with_own_hidden(publication))
    new = [name for part, name in found.items() if part not in known and part not in before]
    if new:
        number = Count(len(new))
        raise ProofError(
            f"{number} {number:cell|cells} that no table shows, parts of categories or what is "
            "left beside a filter, could be computed beside what was published earlier, and "
            f"nobody has judged {number:it|them}: {'; '.join(new[:_EXAMPLES])}. Nothing was "
            "published; protect the tables again with ledger="
        )


def _against(results: Sequence[Result]) -> Iterator[tuple[Attacker, list[Earlier]]]:
    """Each attacker, with what is known of the results, levels as far as proven against it."""
    new = [result.remembered("") for result in results]
    attackers = [result.certificate.attacker for result in results]
    keys = [0 if one.outsider else id(one) for one in attackers]
    for key, attacker in dict(zip(keys, attackers, strict=True)).items():
        yield (
            attacker,
            [
                known if k == key else replace(known, requirements=NO_LEVELS, unsafe=None)
                for k, known in zip(keys, new, strict=True)
            ],
        )


def _given_up(
    results: Sequence[Result], earlier: Sequence[Earlier], joint: JointAttack
) -> NDArray[np.int64]:
    """Positions of earlier cells of which nothing was claimed when results were protected."""
    starts = dict(zip((e.name for e in earlier), joint.earlier_starts, strict=True))
    found = [np.zeros(0, dtype=np.int64)]
    for proof in {id(r.proof): r.proof for r in results}.values():
        publication, cells = proof.publication, proof.unclaimed
        place = np.searchsorted(publication.starts, cells, side="right") - 1
        for at in np.unique(place).tolist():
            start = starts.get(publication.tables[at].name)
            if start is not None:
                found.append(cells[place == at] - publication.starts[at] + start)
    return np.concatenate(found)


def check_changed(
    results: Sequence[Protected], earlier: Sequence[Earlier], progress: Progress = silent
) -> None:
    """Refuse changed values that open what earlier releases hide, or differ from earlier ones.

    `earlier` are tables tied to them. Also refused is what nothing can be said of, because nobody
    knows how far true values can lie from changed ones.
    """
    bounded = [result for result in results if result.known is not None]
    for result in results:
        beside = [
            one for one in earlier if result.published.about.shares_cells(one.published.about)
        ]
        hiding = [one for one in beside if not one.perturbed and one.published.suppressed.any()]
        if hiding and result.known is None:
            raise ProofError(
                f"{result.name!r} was changed without a bound that can be relied on, so nothing "
                f"can be proven about the cells that release {hiding[0].release!r} hides; suppress "
                "cells here as well, or round"
            )
        for one in beside:
            if one.perturbed and result.published.about.shares_cells(one.published.about):
                _check_same(result, one)
    if not bounded:
        return
    broken = check(bounded, earlier, limit=0, progress=progress).broken
    opened = [cell for cell in broken if not cell.already]
    if opened:
        examples = "; ".join(f"{c.release}/{c.table}: {c.codes}" for c in opened[:_FEW])
        number = Count(len(opened))
        raise ProofError(
            f"with these values {number} {number:cell|cells} that earlier releases hide could be "
            f"computed exactly or too closely ({examples}); nothing was written"
        )


def check_zeros_before(results: Sequence[Protected], noisy: Sequence[Earlier]) -> None:
    """Refuse sums of cells whose count noise made 0, where the one or the other is earlier.

    A count that was shown as 0 stands for an interval from 0 on, any other number for one from 1 on
    at least.
    """
    for one in noisy:
        if one.published.frequency:
            zero = _zero(one)
            for result in results:
                if result.published.changed and not result.published.frequency:
                    named = replace(one.published, name=one.name)
                    check_sums_of_zero_counts(named, zero, result.published)
        elif one.perturbed:
            hidden = one.shown >= NO_BOUND
            sums = replace(one.published, name=one.name, value=one.shown, suppressed=hidden)
            for result in results:
                counts = result.published
                if counts.frequency and counts.changed == "cell_key":
                    check_sums_of_zero_counts(
                        counts, ~counts.suppressed & (counts.value == 0), sums
                    )


def _zero(counts: Earlier) -> NDArray[np.bool_]:
    """Where counts were shown as 0, and somebody may be there."""
    return (counts.shown.ravel() == 0) & (counts.published.intervals["upper"] > 0)


def check_same_values(results: Sequence[Protected], earlier: Sequence[Earlier]) -> None:
    """Refuse other values of cells than earlier releases showed, changed without a bound."""
    for result in results:
        for one in earlier:
            if result.published.about.shares_cells(one.published.about):
                _check_same(result, one)


def check_noise_stays_unknown(results: Sequence[Protected], earlier: Sequence[Earlier]) -> None:
    """Refuse a cell as it is beside the same cell with noise, whichever of them is earlier.

    Whoever has both has the noise itself, and from many of them the secret table that it comes
    from. Rounding by a public rule has no secret to keep.
    """
    for result in results:
        new = result.published
        for one in earlier:
            alike = bool(new.changed) == one.perturbed or new.changed == "rounding"
            if alike or not new.about.shares_cells(one.published.about):
                continue
            first, second = common_cells(new, one.published)
            shown = ~new.suppressed.ravel()[first]
            if new.changed:
                plain = one.published.value.ravel()[second]
                shown &= ~one.published.suppressed.ravel()[second]
            else:
                plain = new.value.ravel()[first]
                shown &= one.shown.ravel()[second] < NO_BOUND
            told = shown & (plain != 0)  # 0 has no noise
            if told.any():
                cells = describe_some(new.dimensions, first[told], _FEW)
                number = Count(told.sum())
                raise InputError(
                    f"{number} of {len(first):,} cells of {result.name!r} {number:was|were} "
                    f"published in release {one.release!r} ({cells}), here as they are and there "
                    "with noise, or the other way round: both together show the noise itself. "
                    "Publish all of it by the same method, or give new data another vintage="
                )


def _check_same(result: Protected, earlier: Earlier) -> None:
    """Refuse cells whose published values were others before, or stood for other intervals."""
    now = result.remembered("")
    new, old = now.published, earlier.published
    first, second = common_cells(new, old)
    mine, theirs = now.shown.ravel()[first], earlier.shown.ravel()[second]
    differ = (mine < NO_BOUND) & (theirs < NO_BOUND) & (mine != theirs)
    for mine, theirs in zip(_sides(new), _sides(old), strict=True):
        known = (np.abs(mine[first]) < NO_BOUND) & (np.abs(theirs[second]) < NO_BOUND)
        differ |= known & (mine[first] != theirs[second])
    if differ.any():
        number = Count(differ.sum())
        raise InputError(
            f"{number} of {len(first):,} cells of {result.name!r} {number:was|were} published in "
            f"release {earlier.release!r} with other noise. Two values for one cell tell more "
            "than one: use the same method, parameters and keys, or give new data another "
            "vintage="
        )


def _sides(published: Published) -> list[NDArray[np.int64]]:
    return [bound.ravel() for bound in published.intervals.values()]
