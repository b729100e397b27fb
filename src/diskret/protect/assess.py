"""What a perturbation table is worth against attacks: figures that an office decides on."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pyarrow as pa

from diskret.attack import (
    ConstellationRisk,
    Differencing,
    PrivacyLoss,
    constellation_risk,
    keyed_constellation_risk,
    privacy_loss,
    queries_needed,
    recovery_probability,
    worst_differencing,
)
from diskret.cellkey import MagnitudeNoise, PerturbationTable
from diskret.cellkey.table import Lookup
from diskret.errors import InputError
from diskret.protect.assess_verdicts import Judged, Verdict, verdicts_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from diskret.protect.assess_sums import SumAssessment
    from diskret.rules import Rule
    from diskret.tables import Table


@dataclass(frozen=True, eq=False, repr=False)
class Assessment(Judged):
    """What attacks achieve against a perturbation table. Confidential: it tells its parameters.

    Parameters
    ----------
    table
        The perturbation table.
    constellations
        Risk of small cells beside their total, for each number of parts.
    keyed
        That of two parts as keys add up, against an attacker who knows the intervals of keys.
    privacy, privacy_beyond_zero
        (ε, δ) of one published count and one unit, with the counts 0 and 1 and without.
    difference
        The pair of nested sets, one unit apart, that tells most often.
    answers
        Number of answers, each the sum of two large cells, that average the noise out; None:
        they never do.
    confidence
        The probability for that.
    queries, recovered
        Number of answers that readers can get by the office's own reckoning, and the probability
        that these average the noise out; None if the office named no number.
    limit
        The risk that the office accepts.
    """

    table: PerturbationTable
    constellations: tuple[ConstellationRisk, ...]
    keyed: ConstellationRisk
    privacy: PrivacyLoss
    privacy_beyond_zero: PrivacyLoss
    difference: Differencing
    answers: int | None
    confidence: float
    queries: int | None
    recovered: float | None
    limit: float = 0.01

    @property
    def rows(self) -> pa.Table:
        """For each count: mean, variance, probability to stay, and largest noise on each side."""
        noise, chance = self.table.noise, self.table.probabilities
        stay = chance[:, noise == 0].sum(axis=1)
        return pa.table(
            {
                "count": self.table.counts,
                "mean": self.table.means,
                "variance": self.table.variances,
                "stay": stay,
                "lowest": np.where(chance > 0, noise, noise.max()).min(axis=1),
                "highest": np.where(chance > 0, noise, noise.min()).max(axis=1),
            }
        )

    def _judged(self) -> tuple[Verdict, ...]:
        return verdicts_of(self)

    def figures(self, language: str = "en") -> dict[str, Figure]:
        """Plots by name: ``constellations``, ``privacy``, ``averaging``, ``differencing``.

        Raises
        ------
        InputError
            There is no such language, or matplotlib is not installed.
        """
        from diskret.protect.assess_plots import figures_of

        return figures_of(self, language)


@overload
def assess(
    ptable: PerturbationTable | Lookup,
    *,
    limit: float = 0.01,
    up_to: int = 3,
    parts: tuple[int, ...] = (2, 3),
    certainty: float = 1.0,
    prior: Any = None,
    queries: int | None = None,
    confidence: float = 0.95,
) -> Assessment: ...


@overload
def assess(
    ptable: MagnitudeNoise, *, rule: Rule | None = None, table: Table | None = None
) -> SumAssessment: ...


def assess(
    ptable: PerturbationTable | Lookup | MagnitudeNoise,
    *,
    rule: Rule | None = None,
    table: Table | None = None,
    limit: float = 0.01,
    up_to: int = 3,
    parts: tuple[int, ...] = (2, 3),
    certainty: float = 1.0,
    prior: Any = None,
    queries: int | None = None,
    confidence: float = 0.95,
) -> Assessment | SumAssessment:
    """Attack a perturbation table, or noise on sums, before it is used. Confidential.

    Parameters
    ----------
    ptable
        The perturbation table for counts, or its lookup. Of a table the intervals of keys are taken
        in the order of the noise, as ``ptable.lookup()`` makes them. Or the noise of sums, which is
        judged by `rule`; all other parameters are for counts.
    rule
        For sums: which cells are sensitive, and how far off estimates have to be.
    table
        For sums: the cells to judge; None: made-up ones of one to three contributors of all sizes.
    limit
        The risk the office accepts: how often a small constellation may be published so that one
        of its true values follows; and, with `queries`, how often averages may give a true count.
    up_to
        Counts from 1 to this are small.
    parts
        Numbers of cells that constellations add up, each 2 to 4.
    certainty
        From which probability on a value counts as given away, above 0.5 and up to 1: for
        certain.
    prior
        How frequent the counts 0, 1, 2, … are in the tables to be published; None: all the same.
    queries
        Number of partitions of one set of units that readers can get, if the office knows. Then
        the probability that their noise averages out must be within `limit`.
    confidence
        The probability for which the number of answers that average the noise out is told.

    Raises
    ------
    InputError
        The table is not one for counts, or a parameter is out of its range.

    Examples
    --------
    >>> import diskret as dk
    >>> noise = np.array([-1, 0, 1])
    >>> rows = np.array([[0, 1, 0], [0.25, 0.5, 0.25]])
    >>> report = dk.assess(PerturbationTable(np.arange(2), noise, rows))
    >>> report
    Assessment(1 of 4 limits kept)
    >>> str(report.constellations[0].worst), round(report.constellations[0].worst.risk, 3)
    ('(1, 1 | 2) → (1, 1 | 1)', 0.453)
    """
    if isinstance(ptable, MagnitudeNoise):
        from diskret.protect.assess_sums import assess_sums

        if rule is None:
            raise InputError("noise of sums is judged by a rule: give rule=, e.g. PPercent(10)")
        return assess_sums(ptable, rule, table)
    if rule is not None or table is not None:
        raise InputError("rule= and table= are for a MagnitudeNoise; counts are judged without")
    lookup = ptable if isinstance(ptable, Lookup) else ptable.lookup()
    counts = ptable.table() if isinstance(ptable, Lookup) else ptable
    if queries is not None and (not queries >= 1 or queries % 1):
        raise InputError(f"queries= is a whole number from 1 on, not {queries}")
    if not parts:
        raise InputError("parts= names at least one number of cells, e.g. (2, 3)")
    large = (int(counts.counts[-1]),) * 2
    return Assessment(
        table=counts,
        constellations=tuple(
            constellation_risk(
                counts, parts=number, up_to=up_to, limit=limit, certainty=certainty, prior=prior
            )
            for number in parts
        ),
        keyed=keyed_constellation_risk(lookup, up_to=up_to, limit=limit, certainty=certainty),
        privacy=privacy_loss(counts),
        privacy_beyond_zero=privacy_loss(counts, zeros=False),
        difference=worst_differencing(counts),
        answers=queries_needed(counts, large, confidence),
        confidence=confidence,
        queries=queries,
        recovered=None if queries is None else recovery_probability(counts, large, queries),
        limit=limit,
    )
