"""Attack tables once more, together with what was published earlier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Attacker, Requirements, cell_name, examine, targets_of, unmet
from diskret.errors import ProofError
from diskret.release import Earlier
from diskret.tables import Publication, Published
from diskret.workflow.result import Result

_EXAMPLES = 5
_NOTHING = np.empty(0, dtype=np.int64)
_NO_LEVELS = Requirements(_NOTHING, _NOTHING, _NOTHING, _NOTHING)


def attack_again(results: Sequence[Result], earlier: Sequence[Earlier]) -> None:
    """Attack tables that were protected together, as they would stand beside earlier ones.

    Parameters
    ----------
    results
        Results of one call of `suppress` whose tables are tied to each other.
    earlier
        All tables of earlier releases that are tied to them.

    Raises
    ------
    ProofError
        Cells are no longer protected; names them, and the release of each.
    """
    publication = Publication(
        tuple(result.published for result in results),
        results[0].certificate.proof.publication.sums,
    )
    attack_beside(
        publication,
        earlier,
        results[0].certificate.attacker,
        values=[result.table.measure.sum for result in results],
        levels=[result.certificate.requirements for result in results],
    )


def attack_beside(
    publication: Publication,
    earlier: Sequence[Earlier],
    attacker: Attacker = Attacker(),
    values: Sequence[NDArray[np.int64]] | None = None,
    levels: Sequence[Requirements] | None = None,
) -> None:
    """Attack tables as they would stand beside earlier ones.

    Parameters
    ----------
    publication
        The new tables as they would be published.
    earlier
        All tables of earlier releases that are tied to them.
    attacker
        Who attacks.
    values, levels
        Original values and levels of the new tables, if they are known. Without them it is
        proven that no cell they hide can be computed exactly.

    Raises
    ------
    ProofError
        Cells are not protected; names them, and the release of each.
    """
    tables = [*publication.tables, *(_named(one) for one in earlier)]
    sums = dict.fromkeys([*publication.sums, *(s for one in earlier for s in one.sums)])
    together = Publication(tuple(tables), tuple(sums))
    known = [table.value for table in publication.tables] if values is None else list(values)
    known += [one.published.value if one.original is None else one.original for one in earlier]
    original = np.concatenate([value.ravel() for value in known])
    asked = [_NO_LEVELS] * len(publication.tables) if levels is None else list(levels)
    needed = _joined([*asked, *(one.requirements for one in earlier)], together.starts.tolist())
    targets = targets_of(together, original, needed)
    # secondaries of earlier tables are safe cells: they may be published by now
    own = np.arange(len(original)) < int(publication.starts[-1])
    own[needed.cell] = True
    targets = replace(targets, width=np.where(own[together.suppressed], targets.width, 0))
    complete = values is not None and all(one.original is not None for one in earlier)
    found = examine(together, attacker, targets, original=original if complete else None)
    missed = found.cell[unmet(found, targets)]
    if len(missed):
        shown = "; ".join(cell_name(together, int(cell)) for cell in missed[:_EXAMPLES])
        raise ProofError(
            f"{len(missed):,} cells are not protected beside what was published earlier, e.g. "
            f"{shown}. Nothing was published: protect these tables together with the ledger"
        )


def _named(earlier: Earlier) -> Published:
    return replace(earlier.published, name=f"{earlier.release}/{earlier.published.name}")


def _joined(levels: Sequence[Requirements], starts: Sequence[int]) -> Requirements:
    """Levels of tables that stand one after the other."""
    return Requirements(
        np.concatenate([one.cell + start for one, start in zip(levels, starts, strict=False)]),
        np.concatenate([one.lower for one in levels]),
        np.concatenate([one.upper for one in levels]),
        np.concatenate([one.sliding for one in levels]),
    )
