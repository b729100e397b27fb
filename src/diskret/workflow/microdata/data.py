"""Microdata with roles and a history; every method returns new ones."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import Coded, FrameKind, coded, returned, to_arrow
from diskret.io.columns import column
from diskret.io.numbers import numbers
from diskret.progress import Progress, silent
from diskret.risk import Compat, Keys, Missing
from diskret.workflow.microdata.history import Step
from diskret.workflow.microdata.roles import Roles, roles

if TYPE_CHECKING:
    from diskret.attack.microdata.claims import Claim
    from diskret.hierarchy import Hierarchy
    from diskret.keys import SecretKeys
    from diskret.microdata.aggregation import Measure
    from diskret.microdata.aggregation.clustered import Transform
    from diskret.microdata.dates import Period
    from diskret.microdata.generalise import Criterion
    from diskret.microdata.loss import Loss, Metric
    from diskret.microdata.numbers import Method
    from diskret.risk.metrics import Metric as RecordMetric
    from diskret.risk.suda import Scores
    from diskret.utility import RecordsComparison
    from diskret.utility.compare import Ordered
    from diskret.utility.risk_utility import RiskUtilityMap
    from diskret.workflow.microdata.anonymity import Anonymity
    from diskret.workflow.microdata.checklist import Checklist
    from diskret.workflow.microdata.explore import Choice, LossFigure, RiskFigure
    from diskret.workflow.microdata.generalise import Levels
    from diskret.workflow.microdata.numeric_risk import NumericRisk
    from diskret.workflow.microdata.population_uniques import PopulationUniques
    from diskret.workflow.microdata.pram import Transitions
    from diskret.workflow.microdata.result import MicrodataResult
    from diskret.workflow.microdata.risk import MicrodataRisk
    from diskret.workflow.microdata.risky_combinations import RiskyCombinations
    from diskret.workflow.microdata.suda import Suda
    from diskret.workflow.microdata.trees import Tree


class Microdata:
    """Records of persons, households or firms, and what each column is for.

    The methods that change values return new microdata and leave these alone.

    Parameters
    ----------
    frame
        Records as any kind of frame, or the path of a Parquet or CSV file. They are read into
        memory. null and NaN are missing values.
    keys
        Categorical variables an attacker may know of a person: age, region, occupation.
    numeric
        Numeric variables an attacker may know.
    weight
        Sampling weight > 0: how many persons of the population a record stands for. None: the
        records are all there are.
    household
        Whose members are recognised together.
    sensitive
        Variables an attacker must not learn.
    strata
        Groups that are protected apart.
    id
        Number of a record; replaced before a release.
    identifiers
        Direct identifiers (names, addresses, insurance numbers); never released.
    followers
        Key → columns that tell the same in more detail, and lose their value where it does.

    Raises
    ------
    InputError
        The records cannot be read, or a column is missing or has two roles.

    Examples
    --------
    >>> persons = pa.table({"sex": ["m", "f", "f"], "job": ["baker", "mayor", "baker"]})
    >>> md = Microdata(persons, keys=["sex", "job"])
    >>> md
    Microdata(3 records; keys: sex, job)
    """

    roles: Roles
    table: pa.Table
    kind: FrameKind
    history: tuple[Step, ...]
    original: Microdata
    changed: frozenset[str]

    def __init__(
        self,
        frame: Any,
        *,
        keys: Iterable[str] = (),
        numeric: Iterable[str] = (),
        weight: str | None = None,
        household: str | None = None,
        sensitive: Iterable[str] = (),
        strata: Iterable[str] = (),
        id: str | None = None,  # noqa: A002
        identifiers: Iterable[str] = (),
        followers: Mapping[str, str | Iterable[str]] | None = None,
    ) -> None:
        self.table, self.kind = to_arrow(frame)
        self.roles = roles(
            self.table.column_names,
            keys=keys,
            numeric=numeric,
            weight=weight,
            household=household,
            sensitive=sensitive,
            strata=strata,
            id=id,
            identifiers=identifiers,
            followers=followers,
        )
        if not self.table.num_rows:
            raise InputError("there are no records; is it the right file?")
        self.history = ()
        self.original = self
        self.changed = frozenset()
        self._frame = frame
        self._coded: dict[str, Coded] = {}

    def __repr__(self) -> str:
        named = "; ".join(
            f"{role}: {', '.join(names)}" for role, names in self.roles.by_role().items()
        )
        return f"Microdata({self.n:,} records; {named or 'no roles'})"

    # ── what they hold ──────────────────────────────────────────────────────────────

    @property
    def n(self) -> int:
        """Number of records."""
        return self.table.num_rows

    @property
    def frame(self) -> Any:
        """The records as they are now, as the kind of frame that came in. Confidential.

        Same columns, types, row order and index; whole numbers of pandas that have gaps now are
        nullable.
        """
        return returned(self._frame, self.kind, self.table, self.changed)

    def table_column(self, name: str) -> pa.ChunkedArray:
        """A column by name.

        Raises
        ------
        InputError
            There is none.
        """
        return column(self.table, name)

    def coded(self, name: str) -> Coded:
        """A categorical variable as small integers.

        Raises
        ------
        InputError
            There is no such column, or it holds numbers with decimals.
        """
        if name not in self._coded:
            self._coded[name] = coded(self.table_column(name), name)
        return self._coded[name]

    def keys(self, names: Sequence[str] | None = None) -> Keys:
        """The key variables, or some columns as if they were keys.

        Raises
        ------
        InputError
            There is no key, or a column is missing or holds numbers with decimals.
        """
        chosen = self.roles.keys if names is None else tuple(names)
        if not chosen:
            raise InputError("no key variable is named; give keys= when you make the microdata")
        return Keys(tuple(self.coded(name) for name in chosen))

    def weights(self) -> NDArray[np.float64] | None:
        """The sampling weights, ``(n,)``, or None.

        Raises
        ------
        InputError
            A weight is missing, not a number, or not above 0.
        """
        name = self.roles.weight
        return None if name is None else _weights(self.table_column(name), name)

    def numbers(self, names: Sequence[str] | None = None) -> NDArray[np.float64]:
        """The numeric variables, or some columns, ``(n, p)``; NaN where a value is missing.

        Raises
        ------
        InputError
            There is no numeric variable, a column is missing, or its values are not numbers.
        """
        chosen = self.roles.numeric if names is None else tuple(names)
        if not chosen:
            raise InputError(
                "no numeric variable is named; give numeric= when you make the microdata"
            )
        return np.column_stack([numbers(self.table_column(name), name) for name in chosen])

    def after(self, columns: Mapping[str, pa.ChunkedArray], step: Step) -> Self:
        """The microdata with some columns replaced, and one more step in their history."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._coded = {name: kept for name, kept in self._coded.items() if name not in columns}
        for name, values in columns.items():
            at = made.table.schema.get_field_index(name)
            if at < 0:
                made.table = made.table.append_column(name, values)
            else:
                made.table = made.table.set_column(at, name, values)
        made.history = (*self.history, step)
        made.changed = self.changed.union(columns)
        return made

    def without(self, columns: Iterable[str], step: Step) -> Self:
        """The microdata when some columns are gone, and one more step in their history."""
        gone = set(columns)
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.table = self.table.drop_columns(sorted(gone))
        made.roles = self.roles.without(gone)
        made._coded = {name: kept for name, kept in self._coded.items() if name not in gone}
        made.history = (*self.history, step)
        made.changed = self.changed - gone
        return made

    # ── again ───────────────────────────────────────────────────────────────────────

    def replay(self, frame: Any, progress: Progress = silent) -> Microdata:
        """Do the same steps on other records.

        See [`replay`][diskret.workflow.microdata.replay.replay].
        """
        from diskret.workflow.microdata.replay import replay

        return replay(self, frame, progress)

    def save_job(self, path: str | PathLike[str], records: str | PathLike[str]) -> Path:
        """Write roles and steps as a job file for ``diskret anonymize``.

        See [`save_job`][diskret.workflow.microdata.save_job.save_job].
        """
        from diskret.workflow.microdata.save_job import save_job

        return save_job(self, path, records)

    # ── risk ────────────────────────────────────────────────────────────────────────

    def risk(
        self,
        missing: Missing = "wildcard",
        alpha: float = 1.0,
        compat: Compat | None = None,
        population: Any = None,
        count: str | None = None,
        keys: Sequence[str] | None = None,
    ) -> MicrodataRisk:
        """How likely each record is recognised by its keys.

        See [`risk`][diskret.workflow.microdata.risk.risk].
        """
        from diskret.workflow.microdata.risk import risk

        return risk(self, missing, alpha, compat, population, count, keys)

    # ── uniques ─────────────────────────────────────────────────────────────────────

    def suda(
        self,
        max_size: int | None = None,
        scores: Scores = "original",
        dis_fraction: float = 0.01,
        missing: Missing = "wildcard",
    ) -> Suda:
        """Find the special uniques: records that are alone in small sets of keys.

        See [`suda`][diskret.workflow.microdata.suda.suda] for the parameters.
        """
        from diskret.workflow.microdata.suda import suda

        return suda(self, max_size, scores, dis_fraction, missing)

    def risky_combinations(
        self,
        size: int = 3,
        threshold: float = 1,
        weighted: bool = False,
        levels: Mapping[str, int] | None = None,
        missing: Missing = "wildcard",
    ) -> RiskyCombinations:
        """Count the rare cells in every combination of a few keys, and who stands in them.

        See [`risky_combinations`][diskret.workflow.microdata.risky_combinations.risky_combinations]
        for the parameters.
        """
        from diskret.workflow.microdata.risky_combinations import risky_combinations

        return risky_combinations(self, size, threshold, weighted, levels, missing)

    def population_uniques(
        self, model: str | Sequence[Sequence[str]] = "auto", fraction: float | None = None
    ) -> PopulationUniques:
        """Estimate how many records that are alone in the sample are alone in the population.

        See [`population_uniques`][diskret.workflow.microdata.population_uniques.population_uniques]
        for the parameters.
        """
        from diskret.workflow.microdata.population_uniques import population_uniques

        return population_uniques(self, model, fraction)

    # ── anonymity ───────────────────────────────────────────────────────────────────

    def anonymity(
        self,
        missing: Missing = "wildcard",
        sensitive: Sequence[str] | None = None,
        ordered: Iterable[str] | Mapping[str, Sequence[Any]] = (),
        trees: Mapping[str, Hierarchy] | None = None,
        keys: Sequence[str] | None = None,
        l: int = 2,  # noqa: E741
    ) -> Anonymity:
        """How many records agree in their keys, and how different their sensitive values are.

        See [`anonymity`][diskret.workflow.microdata.anonymity.anonymity].
        """
        from diskret.workflow.microdata.anonymity import anonymity

        return anonymity(self, missing, sensitive, ordered, trees, keys, l)

    # ── recoding ────────────────────────────────────────────────────────────────────

    def recode(
        self,
        variable: str,
        *,
        groups: Mapping[Any, Any] | None = None,
        missing: str | None = None,
        breaks: Sequence[float] | None = None,
        method: Method | None = None,
        classes: int | None = None,
        labels: Sequence[str] | None = None,
        right: bool = False,
        hierarchy: Tree | None = None,
        level: int | None = None,
        top: float | str | Sequence[float | str] | None = None,
        bottom: float | str | Sequence[float | str] | None = None,
        width: float | None = None,
        period: Period | None = None,
        at: str | None = None,
    ) -> Microdata:
        """Make one variable coarser: groups, classes, levels of a tree, ends, rounding, dates.

        See [`recode`][diskret.workflow.microdata.recode.recode].
        """
        from diskret.workflow.microdata.recode import recode

        return recode(
            self,
            variable,
            groups=groups,
            missing=missing,
            breaks=breaks,
            method=method,
            classes=classes,
            labels=labels,
            right=right,
            hierarchy=hierarchy,
            level=level,
            top=top,
            bottom=bottom,
            width=width,
            period=period,
            at=at,
        )

    def generalise(
        self,
        hierarchies: Mapping[str, Levels],
        k: int = 3,
        *,
        keys: Sequence[str] | None = None,
        suppression: float = 0.0,
        metric: Metric | Loss = "entropy",
        diversity: int | None = None,
        criterion: Criterion | None = None,
        monotone: bool = False,
        progress: Progress = silent,
    ) -> Microdata:
        """Show the keys on the levels of their hierarchies that lose least and make them safe.

        See [`generalise`][diskret.workflow.microdata.generalise.generalise].
        """
        from diskret.workflow.microdata.generalise import generalise

        return generalise(
            self,
            hierarchies,
            k,
            keys=keys,
            suppression=suppression,
            metric=metric,
            diversity=diversity,
            criterion=criterion,
            monotone=monotone,
            progress=progress,
        )

    def recode_candidates(
        self,
        hierarchies: Mapping[str, Tree] | None = None,
        k: int = 3,
        *,
        keys: Sequence[str] | None = None,
        missing: Missing = "wildcard",
        progress: Progress = silent,
    ) -> Any:
        """Try small recodings of the keys, and show what each does to risk and to information.

        See [`recode_candidates`][diskret.workflow.microdata.recode_candidates.recode_candidates].
        """
        from diskret.workflow.microdata.recode_candidates import recode_candidates

        return recode_candidates(
            self, hierarchies, k, keys=keys, missing=missing, progress=progress
        )

    def drop(self, columns: str | Iterable[str]) -> Microdata:
        """Leave columns out, whatever their roles.

        See [`drop`][diskret.workflow.microdata.recode.drop].
        """
        from diskret.workflow.microdata.recode import drop

        return drop(self, columns)

    def remove_identifiers(self) -> Microdata:
        """Leave all direct identifiers out.

        See [`remove_identifiers`][diskret.workflow.microdata.recode.remove_identifiers].
        """
        from diskret.workflow.microdata.recode import remove_identifiers

        return remove_identifiers(self)

    # ── suppression ─────────────────────────────────────────────────────────────────

    def local_suppression(
        self,
        k: int | str = 3,
        importance: Sequence[str] | Mapping[str, float] | None = None,
        *,
        subsets: Mapping[tuple[str, ...], int] | Sequence[tuple[Sequence[str], int]] | None = None,
        strata: Sequence[str] | None = None,
        costs: Mapping[str, float] | None = None,
        keep: Sequence[str] = (),
        threshold: float | None = None,
        diversity: int | Mapping[str, int] | None = None,
        closeness: float | Mapping[str, float] | None = None,
        ordered: Sequence[str] = (),
        matches: Literal["visible", "wildcard"] = "visible",
        rounds: int = 100,
        progress: Progress = silent,
    ) -> Microdata:
        """Suppress few values of the keys so that every record agrees with at least k records.

        See [`local_suppression`][diskret.workflow.microdata.suppress.local_suppression].
        """
        from diskret.workflow.microdata.suppress import local_suppression

        return local_suppression(
            self,
            k,
            importance,
            subsets=subsets,
            strata=strata,
            costs=costs,
            keep=keep,
            threshold=threshold,
            diversity=diversity,
            closeness=closeness,
            ordered=ordered,
            matches=matches,
            rounds=rounds,
            progress=progress,
        )

    # ── randomisation ───────────────────────────────────────────────────────────────

    def pram(
        self,
        variables: str | Iterable[str | Sequence[str]],
        *,
        seed: int,
        matrix: Any = None,
        stay: float = 0.8,
        invariant: bool = True,
        exact: bool = False,
        forbidden: Iterable[Sequence[Any]] | None = None,
        band: int | None = None,
        strata: str | Iterable[str] | None = None,
    ) -> Microdata:
        """Change values of categorical variables at random, with known probabilities.

        See [`pram`][diskret.workflow.microdata.pram.pram] for the parameters.
        """
        from diskret.workflow.microdata.pram import pram

        return pram(
            self,
            variables,
            seed=seed,
            matrix=matrix,
            stay=stay,
            invariant=invariant,
            exact=exact,
            forbidden=forbidden,
            band=band,
            strata=strata,
        )

    def transitions(
        self,
        variable: str | Sequence[str],
        *,
        matrix: Any = None,
        stay: float = 0.8,
        invariant: bool = True,
        forbidden: Iterable[Sequence[Any]] | None = None,
        band: int | None = None,
        strata: str | Iterable[str] | None = None,
    ) -> Transitions:
        """The matrices that `pram` would use, and how credible published values would be.

        See [`transitions`][diskret.workflow.microdata.pram.transitions] for the parameters.
        """
        from diskret.workflow.microdata.pram import transitions

        return transitions(
            self,
            variable,
            matrix=matrix,
            stay=stay,
            invariant=invariant,
            forbidden=forbidden,
            band=band,
            strata=strata,
        )

    # ── aggregation ─────────────────────────────────────────────────────────────────

    def microaggregate(
        self,
        variables: str | Iterable[str] | None = None,
        method: str = "mdav",
        k: int = 3,
        *,
        measure: Measure = "mean",
        scale: bool = True,
        nominal: str | Iterable[str] = (),
        ordinal: str | Iterable[str] = (),
        weights: bool = False,
        strata: str | Iterable[str] | None = None,
        gamma: float | None = None,
        clusters: int | None = None,
        transform: Transform | None = None,
        seed: int | None = None,
        progress: Progress = silent,
    ) -> Microdata:
        """Put records into groups of k and more, and give each the mean of its group.

        See [`microaggregate`][diskret.workflow.microdata.microaggregate.microaggregate].
        """
        from diskret.workflow.microdata.microaggregate import microaggregate

        return microaggregate(
            self,
            variables,
            method,
            k,
            measure=measure,
            scale=scale,
            nominal=nominal,
            ordinal=ordinal,
            weights=weights,
            strata=strata,
            gamma=gamma,
            clusters=clusters,
            transform=transform,
            seed=seed,
            progress=progress,
        )

    # ── noise ───────────────────────────────────────────────────────────────────────

    def add_noise(
        self,
        variables: str | Iterable[str] | None = None,
        method: Literal["additive", "correlated", "restricted", "romm", "outliers"] = "additive",
        *,
        seed: int,
        share: float = 0.1,
        rescale: bool = False,
        keep_zeros: bool = False,
        quantile: float = 0.975,
        strata: str | Iterable[str] | None = None,
    ) -> Microdata:
        """Change numbers by random amounts, with means and covariances kept if wanted.

        See [`add_noise`][diskret.workflow.microdata.noise.add_noise] for the parameters.
        """
        from diskret.workflow.microdata.noise import add_noise

        return add_noise(
            self,
            variables,
            method,
            seed=seed,
            share=share,
            rescale=rescale,
            keep_zeros=keep_zeros,
            quantile=quantile,
            strata=strata,
        )

    def rank_swap(
        self,
        variables: str | Iterable[str] | None = None,
        *,
        seed: int,
        window: float | None = None,
        correlation: float | None = None,
        mean_error: float | None = None,
        top: float = 0.0,
        bottom: float = 0.0,
        strata: str | Iterable[str] | None = None,
    ) -> Microdata:
        """Exchange values between records that rank similarly.

        See [`rank_swap`][diskret.workflow.microdata.rank_swap.rank_swap] for the parameters.
        """
        from diskret.workflow.microdata.rank_swap import rank_swap

        return rank_swap(
            self,
            variables,
            seed=seed,
            window=window,
            correlation=correlation,
            mean_error=mean_error,
            top=top,
            bottom=bottom,
            strata=strata,
        )

    def shuffle(
        self,
        variables: str | Iterable[str],
        given: str | Iterable[str] = (),
        method: Literal["copula", "regression"] = "copula",
        *,
        seed: int,
        strata: str | Iterable[str] | None = None,
    ) -> Microdata:
        """Let values change places so that they fit other variables as well as before.

        See [`shuffle`][diskret.workflow.microdata.shuffle.shuffle] for the parameters.
        """
        from diskret.workflow.microdata.shuffle import shuffle

        return shuffle(self, variables, given, method, seed=seed, strata=strata)

    # ── swapping ────────────────────────────────────────────────────────────────────

    def swap(
        self,
        variables: str | Iterable[str],
        *,
        seed: int,
        probability: float | str = 0.05,
        within: str | Iterable[str] | None = None,
        ranges: Mapping[str, Any] | None = None,
        together: bool = True,
        targets: int | str | None = None,
        similar: Iterable[str | Sequence[str]] = (),
    ) -> Microdata:
        """Exchange values between records, in pairs within strata.

        See [`swap`][diskret.workflow.microdata.swap.swap] for the parameters.
        """
        from diskret.workflow.microdata.swap import swap

        return swap(
            self,
            variables,
            seed=seed,
            probability=probability,
            within=within,
            ranges=ranges,
            together=together,
            targets=targets,
            similar=similar,
        )

    def top_code(
        self,
        variable: str,
        *,
        share: float | None = None,
        limit: float | None = None,
        bottom: bool = False,
        keep: Literal["mean", "median", "value"] = "mean",
        k: int = 3,
        within: str | Iterable[str] | None = None,
    ) -> Microdata:
        """Replace the largest values of a numeric variable by their mean, so that its total stays.

        See [`top_code`][diskret.workflow.microdata.top_code.top_code] for the parameters.
        """
        from diskret.workflow.microdata.top_code import top_code

        return top_code(
            self,
            variable,
            share=share,
            limit=limit,
            bottom=bottom,
            keep=keep,
            k=k,
            within=within,
        )

    def top_code_together(
        self, variables: Iterable[str] | None = None, *, quantile: float = 0.975
    ) -> Microdata:
        """Pull records that lie far from all others, in several variables, back to their ellipsoid.

        See [`top_code_together`][diskret.workflow.microdata.top_code.top_code_together].
        """
        from diskret.workflow.microdata.top_code import top_code_together

        return top_code_together(self, variables, quantile=quantile)

    def dp_noise(
        self,
        variables: str | Iterable[str],
        *,
        epsilon: float | Mapping[str, float],
        bounds: Mapping[str, Sequence[float]],
        delta: float | None = None,
        progress: Progress = silent,
    ) -> Microdata:
        """Add noise to every value of numeric variables so that it is differentially private.

        See [`dp_noise`][diskret.workflow.microdata.dp_noise.dp_noise] for the parameters.
        """
        from diskret.workflow.microdata.dp_noise import dp_noise

        return dp_noise(
            self, variables, epsilon=epsilon, bounds=bounds, delta=delta, progress=progress
        )

    # ── numeric risk ────────────────────────────────────────────────────────────────

    def numeric_risk(
        self,
        variables: Sequence[str] | None = None,
        k: tuple[float, float] = (0.05, 0.05),
        *,
        metric: RecordMetric = "standardised",
        blocks: Sequence[str] = (),
        keys: Sequence[str] = (),
        candidates: int = 10,
        ranks: float = 0.05,
        probabilistic: bool = False,
        sample: int | None = None,
        seed: int = 0,
    ) -> NumericRisk:
        """Compare numeric values with the original ones as an attacker would who knows these.

        See [`numeric_risk`][diskret.workflow.microdata.numeric_risk.numeric_risk].
        """
        from diskret.workflow.microdata.numeric_risk import numeric_risk

        return numeric_risk(
            self,
            variables,
            k,
            metric=metric,
            blocks=blocks,
            keys=keys,
            candidates=candidates,
            ranks=ranks,
            probabilistic=probabilistic,
            sample=sample,
            seed=seed,
        )

    # ── utility ─────────────────────────────────────────────────────────────────────

    def compare(
        self,
        protected: Any = None,
        *,
        numeric: str | Iterable[str] | None = None,
        categorical: str | Iterable[str] | None = None,
        weight: str | None = None,
        ordered: Ordered = (),
        size: int = 2,
    ) -> RecordsComparison:
        """What protection cost so far; or what others that were made of these cost beyond that.

        See [`compare`][diskret.utility.compare].
        """
        from diskret.utility import compare

        return compare(
            self.original if protected is None else self,
            self if protected is None else protected,
            numeric=numeric,
            categorical=categorical,
            weight=weight,
            ordered=ordered,
            size=size,
        )

    def explore(
        self,
        choices: Mapping[str, Choice],
        *,
        risk: Mapping[str, RiskFigure] | None = None,
        loss: Mapping[str, LossFigure] | None = None,
        seed: int | None = None,
        progress: Progress = silent,
    ) -> RiskUtilityMap:
        """Try several ways to protect these microdata, and set risk against loss.

        See [`explore`][diskret.workflow.microdata.explore.explore].
        """
        from diskret.workflow.microdata.explore import explore

        return explore(self, choices, risk=risk, loss=loss, seed=seed, progress=progress)

    # ── release ─────────────────────────────────────────────────────────────────────

    def release(
        self,
        claim: Claim | Iterable[Claim] | None = None,
        *,
        name: str = "microdata",
        level: str | None = None,
        columns: Iterable[str] | None = None,
        attributes: Iterable[str] = (),
        weight: bool = True,
        household: bool = False,
        id: bool = False,  # noqa: A002
        shuffle: bool = True,
        keys: SecretKeys | str | PathLike[str] | None = None,
    ) -> MicrodataResult:
        """Put together what may leave, and prove what is claimed of it.

        See [`release`][diskret.workflow.microdata.release.release].
        """
        from diskret.workflow.microdata.release import release

        return release(
            self,
            claim,
            name=name,
            level=level,
            columns=columns,
            attributes=attributes,
            weight=weight,
            household=household,
            id=id,
            shuffle=shuffle,
            keys=keys,
        )

    def checklist(self, level: str = "factual", language: str = "en") -> Checklist:
        """What is done and what is missing for a level of anonymity of German statistics law.

        See [`checklist`][diskret.workflow.microdata.checklist.checklist].
        """
        from diskret.workflow.microdata.checklist import checklist

        return checklist(self, level, language)


def _weights(values: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    found = numbers(values, name)
    wrong = np.flatnonzero(~(found > 0))
    if len(wrong):
        raise InputError(
            f"{len(wrong):,} weights in {name!r} are missing or not above 0 (first in row "
            f"{wrong[0] + 1}); a weight says how many persons of the population a record stands for"
        )
    return found
