"""The risk that persons of a file are recognised by their keys."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.anonymize.risk_plot import risk_plot
from diskret.errors import InputError
from diskret.io import FrameKind, coded, from_arrow, to_arrow
from diskret.io.columns import column
from diskret.parameters import Column, Probability, reading
from diskret.risk import (
    Compat,
    Frequencies,
    Households,
    Keys,
    Missing,
    frequencies,
    household_risk,
    individual_threshold,
    k_map,
    person_thresholds,
)
from diskret.risk.drawn_households import risk_of_drawn
from diskret.risk.keys import total
from diskret.risk.summary import RiskSummary, summary
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from diskret.anonymize.data import Microdata

_GAPS = {
    "wildcard": "a missing value agrees with every value",
    "category": "a missing value agrees with missing values only",
    "conservative": "whoever has a missing value agrees with nobody",
}


@dataclass(frozen=True, eq=False)
class MicrodataRisk:
    """Risk of each record, and of the file. Confidential.

    Parameters
    ----------
    keys
        The variables an attacker is taken to know.
    sample_frequency
        Records that share the keys of each record, itself included, ``(n,)``; whole numbers
        unless a match through a missing value counts a fraction.
    population_frequency
        Persons of the population who do: the sum of the weights, or counted where the population
        is given, ``(n,)``.
    risk
        Individual risk, ``(n,)``, above 0 and at most 1.
    households
        Households and their risk; None if the microdata have none.
    missing, alpha, compat
        As asked for.
    gaps
        Number of records with a missing key.
    short
        Number of records for which the population frequency is below the sample frequency.
    unmatched
        Number of records whose keys nobody in the given population has; None if none is given.
    kind
        The kind of frame that `records` is.
    certain
        Number of records of a sample that could not but be drawn, as of a stratum taken whole.
    """

    keys: tuple[str, ...]
    sample_frequency: NDArray[np.float64]
    population_frequency: NDArray[np.float64]
    risk: NDArray[np.float64]
    households: Households | None
    missing: Missing
    alpha: float
    compat: Compat | None
    gaps: int
    short: int
    unmatched: int | None
    kind: FrameKind
    certain: int = 0

    def __repr__(self) -> str:
        return (
            f"MicrodataRisk({len(self.risk):,} records; keys: {', '.join(self.keys)}; "
            f"{self.sample_uniques:,} sample uniques; {self.expected:,.1f} expected to be "
            f"recognised; largest risk {self.largest:.3g})"
        )

    def _repr_html_(self) -> str:
        from diskret.texts import Figure
        from diskret.texts.card import OPEN, SHUT, card

        facts = {
            "records": len(self.risk),
            "keys": ", ".join(self.keys),
            "expected": Figure(f"{self.expected:,.1f}"),
            "largest": Figure(f"{self.largest:.3g}"),
        }
        alone = int(self.sample_uniques)
        parts = (("alone", alone, SHUT), ("others", len(self.risk) - alone, OPEN))
        return card("MicrodataRisk", facts, office=True, parts=parts)

    @cached_property
    def records(self) -> Any:
        """Frequencies and risks in input row order, as the kind of frame that came in.

        Columns ``sample_frequency``, ``population_frequency``, ``risk`` and, with households,
        ``household_risk``.
        """
        whole = self.missing != "wildcard" or self.alpha in (0, 1)
        columns = {
            "sample_frequency": self.sample_frequency.astype(np.int64 if whole else np.float64),
            "population_frequency": self.population_frequency,
            "risk": self.risk,
        }
        if self.households is not None:
            columns["household_risk"] = self.households.records
        return from_arrow(pa.table(columns), self.kind)

    @property
    def sample_uniques(self) -> int:
        """Number of records that share their keys with no other."""
        return int((self.sample_frequency == 1).sum())

    def below(self, k: float, *, population: bool = False) -> int:
        """Number of records with a frequency below k, in the sample or in the population."""
        counted = self.population_frequency if population else self.sample_frequency
        return int((counted < k).sum())

    @property
    def expected(self) -> float:
        """Expected number of records that are recognised: the sum of the risks."""
        return total(self.risk)

    @property
    def global_risk(self) -> float:
        """Expected share of records that are recognised: the mean of the risks."""
        return self.expected / len(self.risk)

    @property
    def largest(self) -> float:
        """The largest individual risk."""
        return float(self.risk.max())

    def threshold(self, global_risk: float = 0.01) -> float:
        """The largest risk any record may have so that the file's risk is at most a target.

        Records above it need protection; 1 if the file is below the target as it is. See
        [`individual_threshold`][diskret.risk.individual_threshold].

        Raises
        ------
        InputError
            The target is not between 0 and 1.
        """
        return individual_threshold(self.risk, global_risk)

    def person_thresholds(self, household_risk: float) -> NDArray[np.float64]:
        """What each record may have so that no household has more than a given risk, ``(n,)``.

        See [`person_thresholds`][diskret.risk.person_thresholds].

        Raises
        ------
        InputError
            There are no households, or the risk is not between 0 and 1.
        """
        if self.households is None:
            raise InputError(
                "there are no households; name their column in household= when you make the "
                "microdata"
            )
        return person_thresholds(household_risk, self.households.of, self.households.size)

    def plot(self, threshold: float | None = None, language: str = "en") -> Figure:
        """Draw how many records have which risk or more; needs the extra ``plots``. Confidential.

        Both scales are logarithmic, so that the few records that are most at risk can be seen.

        Parameters
        ----------
        threshold
            A risk, above 0 and at most 1, that is marked with the number of records above it; such
            as [`threshold`][diskret.MicrodataRisk.threshold] gives. None: nothing is marked.
        language
            ``"en"`` or ``"de"``.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        InputError
            The threshold is out of range, there is no such language, or matplotlib is missing.
        """
        return risk_plot(self.risk, threshold, language)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader of the figures has to know, in sentences."""
        said: list[str] = []
        if self.gaps:
            share = ""
            if self.missing == "wildcard" and self.alpha != 1:
                share = f", and such a match counts {self.alpha:g}"
            gaps = Count(self.gaps)
            said.append(
                f"{gaps} {gaps:record has|records have} a missing key: "
                f"{_GAPS[self.missing]}{share}."
            )
        if self.compat is not None:
            said.append(f"The risks are those of {self.compat!r}, not the exact ones.")
        if self.unmatched:
            alone = Count(self.unmatched)
            said.append(
                f"{alone} {alone:record has|records have} keys that nobody in the population has; "
                f"{alone:its|their} risk is estimated from the sample."
            )
        if self.certain:
            whole = Count(self.certain)
            said.append(
                f"{whole} {whole:record is|records are} from strata that were drawn whole: of "
                "these, the sample holds everybody there is."
            )
        if self.short:
            short = Count(self.short)
            said.append(
                f"For {short} {short:record|records} the population has fewer with "
                f"{short:its|their} keys than the file: the weights are too small, or the "
                "population is incomplete. "
                + ("1/f is" if self.unmatched is None else "1/F is")
                + f" {short:its|their} risk."
            )
        return tuple(said)


@reading
def risk(
    md: Microdata,
    missing: Missing = "wildcard",
    alpha: Probability = 1.0,
    compat: Compat | None = None,
    population: Any = None,
    count: Column | None = None,
    keys: str | Iterable[str] | None = None,
) -> MicrodataRisk:
    """Estimate for each record the risk that it is recognised by its keys.

    The risk is the expected value of 1/F, where F persons of the population share the keys: exact
    given the f records of the file and the sum of their weights, see
    [`individual_risk`][diskret.risk.individual_risk]. Without weights the file is all there is,
    and the risk is 1/f. Where the population is given, F is counted and nothing needs
    to be estimated. After `sample`, p is the sampling fraction where it is the same for all who
    share the keys, and members of a household that was drawn whole count as one draw.

    Parameters
    ----------
    md
        The microdata.
    missing
        What a missing key stands for. ``"wildcard"``: it agrees with every value.
        ``"category"``: with missing values only. ``"conservative"``: a record with one agrees
        with nobody but itself.
    alpha
        What a match through a missing value counts, 0 to 1; only with ``"wildcard"``.
    compat
        ``"sdcmicro"`` or ``"lecture"``: their approximation instead of the exact risk.
    population
        Records of the whole population, or a table of counts, with the keys under the same
        names: any kind of frame, or the path of a file. None: estimate from the weights.
    count
        Column of `population` that says how many persons a row stands for; None: 1.
    keys
        Other variables than the keys of the microdata.

    Returns
    -------
    MicrodataRisk
        Of each record and of the file; with households also theirs.

    Raises
    ------
    InputError
        There is no key, a column is missing or cannot be used, or an option is unknown.

    Examples
    --------
    >>> from diskret import Microdata
    >>> persons = pa.table({"job": ["baker", "mayor", "baker"], "w": [20.0, 10.0, 30.0]})
    >>> found = Microdata(persons, keys=["job"], weight="w").risk()
    >>> found.records.to_pydict()["sample_frequency"], found.risk.round(4).tolist()
    ([2, 1, 2], [0.0361, 0.2558, 0.0361])
    >>> found.sample_uniques, round(found.expected, 4)
    (1, 0.328)
    """
    chosen = md.keys(None if keys is None else tuple(keys))
    counted = frequencies(chosen, md.weights(), missing, alpha)
    drawn = md.drawn
    together = None if drawn is None else drawn.together
    risks = risk_of_drawn(chosen, counted, together, missing, alpha, compat)
    unmatched = None
    if population is None and count is not None:
        raise InputError("count= names a column of the population, and population= is missing")
    if population is not None:
        persons = k_map(chosen, *_people(population, chosen.names, count), missing, alpha)
        unmatched = int((persons == 0).sum())
        # somebody whose match counts less than one person is still one
        risks = np.where(persons > 0, 1 / np.maximum(persons, 1), risks)
        counted = Frequencies(counted.sample, persons)
    name = md.roles.household
    return MicrodataRisk(
        keys=chosen.names,
        sample_frequency=counted.sample,
        population_frequency=counted.population,
        risk=risks,
        households=None if name is None else household_risk(risks, md.coded(name)),
        missing=missing,
        alpha=alpha,
        compat=compat,
        gaps=_gaps(chosen),
        short=_short(counted),
        unmatched=unmatched,
        kind=md.kind,
        certain=0 if drawn is None or population is not None else int(drawn.certain.sum()),
    )


def summary_of(md: Microdata, names: Sequence[str]) -> RiskSummary | None:
    """The risk of microdata by some keys; None where they cannot be keys, or there are none."""
    if not names:
        return None
    try:
        keys = md.keys(names)
    except InputError:  # numbers with decimals, which were recoded later
        return None
    named = md.roles.household
    together = None if md.drawn is None else md.drawn.together
    return summary(keys, md.weights(), None if named is None else md.coded(named), together)


def _people(
    population: Any, names: Sequence[str], count: str | None
) -> tuple[Keys, NDArray[np.float64] | None]:
    table, _ = to_arrow(population, (count,))
    if not table.num_rows:
        raise InputError("the population has no records; is it the right file?")
    columns = tuple(coded(column(table, name), name) for name in names)
    if count is None:
        return Keys(columns), None
    try:
        number = column(table, count).cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"the counts in {count!r} are not numbers ({error})") from None
    return Keys(columns), number.to_numpy()


def _gaps(keys: Keys) -> int:
    gaps = keys.columns[0].codes < 0
    for one in keys.columns[1:]:
        gaps |= one.codes < 0
    return int(gaps.sum())


def _short(counted: Frequencies) -> int:
    return int(((counted.population < counted.sample) & (counted.population > 0)).sum())
