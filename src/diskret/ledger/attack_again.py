"""Attack results once more, beside what was published since they were protected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from diskret.attack import (
    Attacker,
    Requirements,
    UnsafeSums,
    revealed_parts,
    revealed_rests,
)
from diskret.attack.earlier_tables import read_beside, with_own_hidden
from diskret.errors import ProofError
from diskret.ledger.insiders_again import told_again
from diskret.ledger.narrowed_cells import BrokenCell, Case, contradictions_named
from diskret.progress import Progress, silent
from diskret.protect.earlier_tables import groups
from diskret.protect.result import Result
from diskret.tables import NO_LEVELS, Earlier, Publication

_EXAMPLES = 5


def attack_again(
    results: Sequence[Result], earlier: Sequence[Earlier], progress: Progress = silent
) -> None:
    """Attack what would be published beside all that was published earlier, as of now.

    Parameters
    ----------
    results
        What would be published; tables that were protected together stand together.
    earlier
        All tables of earlier releases; those that are not tied to the results do not matter.
    progress
        Called with ``("attack", done, total)``.

    Raises
    ------
    ProofError
        A cell of the results or of an earlier release would be narrowed down too far, or a part
        of categories that no table shows would be revealed; names cells and releases.
    InputError
        A table contradicts an earlier one; names the release.
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
        _check_parts(read_beside(shown, totals, group.earlier), known)
        for attacker, levels, unsafe in _against(own):
            case = Case(
                read_beside(shown, totals, group.earlier),
                group.earlier,
                levels,
                [result.table.measure.sum for result in own],
                attacker,
                unsafe,
            )
            with contradictions_named(shown, totals, group.earlier):
                broken += case.broken(0, _given_up(own, group.earlier, case), progress)
        _check_insiders(own, read_beside(shown, totals, group.earlier), group.earlier, progress)
    worse = [cell for cell in broken if not cell.already]
    if worse:
        where = "; ".join(
            f"{cell.codes} in {cell.table}" + (f" of {cell.release}" if cell.release else "")
            for cell in worse[:_EXAMPLES]
        )
        raise ProofError(
            f"{len(worse):,} cells would no longer be protected beside what was published "
            f"earlier: {where}. Nothing was published; protect the tables again with ledger="
        )


def _check_insiders(
    results: Sequence[Result],
    publication: Publication,
    earlier: Sequence[Earlier],
    progress: Progress,
) -> None:
    """Refuse what contributors could tell beside tables that were not there when all was proven."""
    told = told_again(results, publication, earlier, progress)
    if told:
        raise ProofError(
            f"contributors could tell {len(told):,} cells or sums too closely beside what "
            "was published earlier. Nothing was published; protect the tables again with "
            "ledger="
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
        raise ProofError(
            f"{len(new):,} cells that no table shows, parts of categories or what is left beside a "
            "filter, could be computed beside what was published earlier, and nobody has judged "
            f"them: {'; '.join(new[:_EXAMPLES])}. "
            "Nothing was published; protect the tables again with ledger="
        )


def _against(
    results: Sequence[Result],
) -> Iterator[tuple[Attacker, list[Requirements], list[UnsafeSums | None]]]:
    """Each attacker, with levels and sums of each result as far as proven against it."""
    certificates = [result.certificate for result in results]
    keys = [0 if c.attacker.outsider else id(c.attacker) for c in certificates]
    for key, attacker in {k: c.attacker for k, c in zip(keys, certificates, strict=True)}.items():
        own = [
            c.requirements if k == key else NO_LEVELS
            for k, c in zip(keys, certificates, strict=True)
        ]
        sums = [r.unsafe_sums if k == key else None for k, r in zip(keys, results, strict=True)]
        yield attacker, own, sums


def _given_up(
    results: Sequence[Result], earlier: Sequence[Earlier], case: Case
) -> NDArray[np.int64]:
    """Positions of earlier cells of which nothing was claimed when results were protected."""
    starts = dict(zip((e.name for e in earlier), case.earlier_starts, strict=True))
    found = [np.zeros(0, dtype=np.int64)]
    for proof in {id(r.proof): r.proof for r in results}.values():
        publication, cells = proof.publication, proof.unclaimed
        place = np.searchsorted(publication.starts, cells, side="right") - 1
        for at in np.unique(place).tolist():
            start = starts.get(publication.tables[at].name)
            if start is not None:
                found.append(cells[place == at] - publication.starts[at] + start)
    return np.concatenate(found)
