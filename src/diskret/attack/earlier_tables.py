"""Tables that were published earlier, read and judged together with new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diskret.attack.attacker import Attacker
from diskret.attack.ties import shown_somewhere
from diskret.tables import Earlier, MeasureSum, Publication, Published
from diskret.tables.perturbed import as_readers_see
from diskret.tables.requirements import Requirements


def read_beside(
    own: Sequence[Published], sums: Sequence[MeasureSum], earlier: Sequence[Earlier]
) -> Publication:
    """New tables and earlier ones as an attacker reads them, the new ones first."""
    before = tuple(replace(e.published, name=e.name) for e in earlier)
    names = tuple((e.release, e.published.name) for e in earlier)
    return Publication((*own, *before), tuple(sums), names)


def seen_by_readers(publication: Publication) -> Publication:
    """The same without what the office alone knows of earlier values that were changed."""
    tables = tuple(map(as_readers_see, publication.tables))
    if all(one is other for one, other in zip(tables, publication.tables, strict=True)):
        return publication
    return replace(publication, tables=tables)


def with_own_hidden(publication: Publication) -> Publication:
    """The same with every cell of the new tables hidden: what earlier releases say alone."""
    own = tuple(table.all_hidden() for table in publication.own)
    return replace(publication, tables=(*own, *publication.tables[len(own) :]))


def required_beside(
    own: Requirements, publication: Publication, earlier: Sequence[Earlier], attacker: Attacker
) -> Requirements:
    """What is required of new tables, and of the primaries of earlier ones."""
    starts = publication.starts[len(publication.own) :].tolist()
    return joined_requirements(
        [own, *(earlier_requirements(e, attacker) for e in earlier)], [0, *starts[:-1]]
    )


def joined_requirements(parts: Sequence[Requirements], starts: Sequence[int]) -> Requirements:
    """The requirements of tables that follow each other from these positions on."""
    return Requirements(
        cell=np.concatenate([p.cell + s for p, s in zip(parts, starts, strict=True)]),
        lower=np.concatenate([p.lower for p in parts]),
        upper=np.concatenate([p.upper for p in parts]),
        sliding=np.concatenate([p.sliding for p in parts]),
    )


def earlier_requirements(earlier: Earlier, attacker: Attacker) -> Requirements:
    """The levels of an earlier table; for counts as far as they are possible, see `plan`."""
    needs = earlier.requirements
    if not (attacker.zeros_known and earlier.published.frequency and earlier.original is not None):
        return needs
    value = earlier.original.ravel()[needs.cell]
    return replace(needs, lower=np.minimum(needs.lower, value - 1))


def unclaimed_cells(
    publication: Publication,
    earlier: Sequence[Earlier],
    requirements: Requirements,
    label: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Suppressed cells of earlier tables that need not stay uncertain at all.

    They are no primaries, and are published elsewhere under the same definition; or their
    table was perturbed, which hides nothing completely. `label` as from `same_cells`.
    """
    if not earlier:
        return np.zeros(0, dtype=np.int64)
    starts = publication.starts
    first = int(starts[len(publication.own)])
    hidden = publication.suppressed
    candidate = hidden.copy()
    candidate[:first] = False
    candidate[requirements.cell] = False
    free = candidate & shown_somewhere(publication, label)
    for e, start in zip(earlier, starts[len(publication.own) :].tolist(), strict=False):
        if e.perturbed:
            stop = start + e.published.value.size
            free[start:stop] = candidate[start:stop]
    return np.flatnonzero(free)
