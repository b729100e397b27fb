"""Attack results once more, together with what was published since they were protected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from diskret.attack import Requirements, cell_name, examine, targets_of, unmet
from diskret.errors import ProofError
from diskret.release import Earlier
from diskret.tables import Publication
from diskret.workflow.result import Result

_EXAMPLES = 5


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
    new = results[0].certificate
    tables = [result.published for result in results]
    tables += [replace(e.published, name=f"{e.release}/{e.published.name}") for e in earlier]
    sums = dict.fromkeys([*new.proof.publication.sums, *(s for e in earlier for s in e.sums)])
    publication = Publication(tuple(tables), tuple(sums))
    values = [result.table.measure.sum.ravel() for result in results]
    values += [(e.published.value if e.original is None else e.original).ravel() for e in earlier]
    levels = [result.certificate.requirements for result in results]
    levels += [e.requirements for e in earlier]
    starts = publication.starts.tolist()
    needed = Requirements(
        np.concatenate([one.cell + start for one, start in zip(levels, starts, strict=False)]),
        *(
            np.concatenate([getattr(one, side) for one in levels])
            for side in ("lower", "upper", "sliding")
        ),
    )
    original = np.concatenate(values)
    targets = targets_of(publication, original, needed)
    # secondaries of earlier tables are safe cells: they may be published by now
    own = np.arange(len(original)) < starts[len(results)]
    own[needed.cell] = True
    width = np.where(own[publication.suppressed], targets.width, 0)
    known = all(e.original is not None for e in earlier)
    targets = replace(targets, width=width)
    found = examine(publication, new.attacker, targets, original=original if known else None)
    missed = found.cell[unmet(found, targets)]
    if len(missed):
        shown = "; ".join(cell_name(publication, int(cell)) for cell in missed[:_EXAMPLES])
        raise ProofError(
            f"{len(missed):,} cells would no longer be protected beside what was published "
            f"earlier, e.g. {shown}. Nothing was published: protect these tables again, with "
            "ledger="
        )
