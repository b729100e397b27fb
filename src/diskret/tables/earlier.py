"""A table that was published before, as the office remembers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from diskret.tables.contributions import Contributions
from diskret.tables.perturbed import Perturbed, stands_for
from diskret.tables.published import NO_BOUND, Published
from diskret.tables.requirements import NO_LEVELS, Requirements, UnsafeSums
from diskret.tables.ties import MeasureSum


@dataclass(frozen=True, eq=False)
class Earlier:
    """One table of an earlier release: what the world saw, and what has to stay uncertain.

    Parameters
    ----------
    release
        Name of the release, unique in its ledger.
    published
        What the world saw. A table that was perturbed has all cells "suppressed", with the
        interval that each published value stands for in `Published.lower` and `upper`.
    original
        Original values in scaled integers, shape of the table; None if they are not known (a
        release from elsewhere). Confidential.
    requirements
        The levels of its primary cells, flat positions in this table. Confidential.
    contributions
        Who contributed what, or None; units and holdings by their keyed fingerprints.
        Confidential.
    unsafe
        Sums of its suppressed cells that stay uncertain for contributors, flat positions in this
        table; None if it was not protected against them. Confidential.
    sums
        Equations between measures that the release stated.
    weight
        Column of the sampling weights, or None; see `Table.weight`.
    perturbed
        Whether `published` holds intervals that perturbed values stand for.
    shown
        The values that the world saw of a table that was perturbed, `NO_BOUND` where none; None:
        they are not kept.
    keyed
        Gives other lists of contributions the keyed fingerprints that `contributions` uses; None:
        they use the same numbers as it is.
    """

    release: str
    published: Published
    original: NDArray[np.int64] | None
    requirements: Requirements
    contributions: Contributions | None = None
    unsafe: UnsafeSums | None = None
    sums: tuple[MeasureSum, ...] = ()
    weight: str | None = None
    perturbed: bool = False
    shown: NDArray[np.int64] | None = None
    keyed: Callable[[Contributions], Contributions] | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """What the table is called among tables of several releases."""
        return f"{self.release}/{self.published.name}"


def earlier_of(
    release: str,
    published: Published,
    noise: Perturbed | None,
    original: NDArray[np.int64] | None = None,
    requirements: Requirements = NO_LEVELS,
    sums: tuple[MeasureSum, ...] = (),
) -> Earlier:
    """What later tables have to know of a table, changed by `noise` or as it is."""
    shown = published if noise is None else stands_for(published, noise)
    values = None if noise is None else _values_shown(published)
    return Earlier(
        release, shown, original, requirements, sums=sums, perturbed=noise is not None, shown=values
    )


def changed_earlier(
    release: str,
    published: Published,
    known: Perturbed | None,
    original: NDArray[np.int64] | None = None,
) -> Earlier:
    """The same of changed values; without a bound `known` nothing but themselves is known."""
    if known is not None:
        return earlier_of(release, published, known, original)
    nothing = np.full(published.shape, NO_BOUND)
    hidden = replace(published.all_hidden(), rounding=1, changed="", lower=-nothing, upper=nothing)
    return Earlier(release, hidden, None, NO_LEVELS, perturbed=True, shown=_values_shown(published))


def _values_shown(published: Published) -> NDArray[np.int64]:
    return np.where(published.suppressed, NO_BOUND, published.value)
