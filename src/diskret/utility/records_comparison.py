"""What protection cost records of persons, households or firms, in figures."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import FrameKind
from diskret.io.code_book import CodeBook
from diskret.io.columns import column, some
from diskret.io.frames import in_memory, spelled
from diskret.parameters import Column, reading
from diskret.utility import records_shown
from diskret.utility.both_files import BothFiles, HasRecords, kinds_of, orders, orders_of, source_of
from diskret.utility.categorical import RecordComparison, compare_records
from diskret.utility.deviations import NAN
from diskret.utility.moments import Moments, moments
from diskret.utility.propensity import Interactions, Propensity, propensity
from diskret.utility.regression import (
    Confidence,
    RegressionComparison,
    interval_overlap,
    least_squares,
)
from diskret.utility.values import ValueLoss, counted_entropy, value_loss

if TYPE_CHECKING:
    from diskret.utility.compare import Ordered


@dataclass(frozen=True, eq=False)
class RecordsComparison:
    """Original records beside the protected ones. Confidential.

    Made by [`compare`][diskret.utility.compare]. Every figure is computed when it is first asked
    for; none depends on the unit of a variable.

    Parameters
    ----------
    files
        The records before and after.
    kind
        The kind of frame to give back.
    numeric, categorical
        Compared variables.
    ordered
        Categorical variables whose values are ordered, with their order, or None for the natural
        one.
    strata
        Variables that `by` uses if none is named.
    size
        Largest number of categorical variables in a table.
    dropped
        Variables that the protected file has no more.

    Examples
    --------
    >>> import diskret as dk
    >>> import pyarrow as pa
    >>> before = pa.table({"job": ["a", "a", "b", "b"], "income": [1000, 2000, 3000, 4000]})
    >>> after = pa.table({"job": ["a", "b", "b", "b"], "income": [1500, 1500, 3500, 3500]})
    >>> found = dk.utility.compare(before, after)
    >>> found
    RecordsComparison(4 records; numeric: income, IL1s 0.274; categorical: job, 1 values changed)
    >>> found.values["income"].squares, found.categories.distance
    (0.2, 2)
    """

    files: BothFiles
    kind: FrameKind
    numeric: tuple[str, ...]
    categorical: tuple[str, ...]
    ordered: Mapping[str, Sequence[Any] | None] = field(
        default_factory=dict[str, "Sequence[Any] | None"]
    )
    strata: tuple[str, ...] = ()
    size: int = 2
    dropped: tuple[str, ...] = ()

    def __repr__(self) -> str:
        said = [f"{self.files.n:,} records"]
        if self.numeric:
            said.append(f"numeric: {', '.join(self.numeric)}, IL1s {self.il1s:.3g}")
        if self.categories is not None:
            changed = sum(self.categories.changed)
            said.append(f"categorical: {', '.join(self.categorical)}, {changed:,} values changed")
        if self.dropped:
            said.append(f"dropped: {', '.join(self.dropped)}")
        return f"RecordsComparison({'; '.join(said)})"

    # ── numeric variables ───────────────────────────────────────────────────────

    @cached_property
    def values(self) -> Mapping[str, ValueLoss]:
        """Numeric variable → what happened to its values."""
        pairs = zip(self._before.T, self._after.T, strict=True)
        return {
            name: value_loss(old, new) for name, (old, new) in zip(self.numeric, pairs, strict=True)
        }

    @property
    def il1s(self) -> float:
        """IL1s as a mean: Σ|x' − x| / (√2 S) over all values, divided by their number."""
        return self.il1s_sum / self._compared if self._compared else NAN

    @property
    def il1s_sum(self) -> float:
        """IL1s as a sum over all values, which grows with the file; sdcMicro calls this IL1s."""
        return fsum(loss.il1s * loss.compared for loss in self.values.values() if loss.compared)

    @property
    def relative(self) -> float:
        """IL1: mean of |x' − x| / |x| over all values that are not 0."""
        losses = [(loss.relative, loss.compared - loss.zeros) for loss in self.values.values()]
        number = sum(count for _, count in losses)
        return fsum(mean * count for mean, count in losses if count) / number if number else NAN

    @cached_property
    def before(self) -> Moments:
        """Moments of the original values, with the weights of the original file."""
        return moments(self._before, self._weights[0])

    @cached_property
    def after(self) -> Moments:
        """Moments of the protected values, with the weights of the protected file."""
        return moments(self._after, self._weights[1])

    # ── categorical variables ───────────────────────────────────────────────────

    @cached_property
    def categories(self) -> RecordComparison | None:
        """Values and tables of the categorical variables (CTBIL, Hellinger); None without any."""
        if not self.categorical:
            return None
        files = self.files
        return compare_records(files.original, files.protected, self.categorical, self.size)

    @cached_property
    def entropy(self) -> Mapping[str, float]:
        """EBIL as counted: variable → Σ over records of H(original | protected), in bits.

        For PRAM with its matrix see [`entropy_loss`][diskret.utility.entropy_loss].
        """
        found = {name: self.files.categories(name)[0] for name in self.categorical}
        return {name: counted_entropy(one.before, one.after) for name, one in found.items()}

    # ── all variables ───────────────────────────────────────────────────────────

    @cached_property
    def distances(self) -> Mapping[str, float]:
        """Variable → mean distance of its values, from 0 (all equal) to 1; terms of Młodak's λ.

        Of a nominal variable the share of values that are not equal, of an ordered one the mean of
        |difference of ranks| / (r − 1), of a numeric one that of (2/π) arctan(|x' − x| / S), with S
        the standard deviation of the original values. A suppressed value counts 1.
        """
        found = {name: loss.distance for name, loss in self.values.items()}
        for name in self.categorical:
            found[name] = self.files.distance(name, self.ordered.get(name), name in self.ordered)
        return found

    @reading
    def propensity(
        self, variables: str | Iterable[str] | None = None, interactions: Interactions = "numeric"
    ) -> Propensity:
        """How well a logistic model tells protected from original records (pMSE).

        Parameters
        ----------
        variables
            Compared variables the model uses; None: all of them.
        interactions
            See [`propensity`][diskret.utility.propensity].

        Raises
        ------
        InputError
            A variable is not compared, or there would be more than 1,000 columns.
        """
        if variables is None and interactions == "numeric":
            return self._propensity
        names = (*self.numeric, *self.categorical) if variables is None else variables
        other = [name for name in names if name not in (*self.numeric, *self.categorical)]
        if other:
            raise InputError(f"{some('variable', other)} is not compared")
        numeric = [name for name in names if name in self.numeric]
        return propensity(
            *self.files.numbers(numeric),
            [self.files.categories(name)[0] for name in names if name in self.categorical],
            interactions,
        )

    @cached_property
    def _propensity(self) -> Propensity:
        """The default one, kept because it is the most expensive figure."""
        return propensity(
            self._before,
            self._after,
            [self.files.categories(name)[0] for name in self.categorical],
        )

    @reading
    def regression(
        self, response: Column, predictors: str | Iterable[str], level: Confidence = 0.95
    ) -> RegressionComparison:
        """Fit the same linear regression to both files and compare coefficients and intervals.

        Parameters
        ----------
        response
            A numeric column.
        predictors
            Any columns: numbers as they are, others by categories; the first category, in
            ascending order, is what the others are compared with.
        level
            Of the confidence intervals.

        Raises
        ------
        InputError
            A column is missing, the response is not numeric, there are not enough records, or
            predictors depend on each other.
        """
        columns = self.files.columns_of(predictors)
        responses = self.files.numbers([response])
        fits = [
            least_squares(values[:, 0], made, terms, weights)
            for values, (terms, made), weights in zip(
                responses, columns, self._weights, strict=True
            )
        ]
        return interval_overlap(fits[0], fits[1], response, level)

    @reading
    def by(self, strata: str | Iterable[str] | None = None) -> Any:
        """The key figures for each stratum, one row each, in the user's kind of frame.

        Parameters
        ----------
        strata
            Columns of the original file; None: the strata of the microdata. Propensities are
            those of a model in each stratum.

        Raises
        ------
        InputError
            There is no such column, or none is named.
        """
        names = self.strata if strata is None else tuple(strata)
        if not names:
            raise InputError("no strata are named; say by which columns the figures are wanted")
        for name in names:
            column(self.files.original, name)
        return records_shown.stratum_frame(self, names)

    def within(self, records: NDArray[np.int64]) -> RecordsComparison:
        """The same comparison of some of the records."""
        return replace(self, files=self.files.rows(records))

    # ── as frames and text ──────────────────────────────────────────────────────

    @property
    def figures(self) -> dict[str, float]:
        """The key figures by name; NaN where one does not exist."""
        return records_shown.figures(self)

    def to_frame(self) -> Any:
        """The key figures as one row, in the user's kind of frame; rows of methods compare."""
        return records_shown.key_frame(self)

    def frames(self) -> dict[str, Any]:
        """All figures as frames of the user's kind.

        ``"numeric"``: one row for each numeric variable; ``"quantiles"``; ``"pairs"``:
        covariances and correlations of pairs; ``"categorical"``: one row for each categorical
        variable; ``"tables"``: one row for each contingency table.
        """
        return records_shown.frames(self)

    def lines(self, language: str = "en") -> list[str]:
        """The key figures in sentences, ``"en"`` or ``"de"``."""
        return records_shown.sentences(self, language)

    @property
    def _compared(self) -> int:
        return sum(loss.compared for loss in self.values.values())

    @cached_property
    def _numbers(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self.files.numbers(self.numeric)

    @property
    def _before(self) -> NDArray[np.float64]:
        return self._numbers[0]

    @property
    def _after(self) -> NDArray[np.float64]:
        return self._numbers[1]

    @cached_property
    def _weights(self) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        return self.files.weights()


def records_comparison(
    original: Any,
    protected: Any,
    numeric: Iterable[str] | None,
    categorical: Iterable[str] | None,
    weight: str | None,
    ordered: Ordered,
    size: int,
) -> RecordsComparison:
    """Put two files of the same records beside each other, see `compare`."""
    first = source_of(original)
    opened = first, source_of(protected, first)
    before, after = map(in_memory, opened)
    kind = original.kind if isinstance(original, HasRecords) else opened[0].kind
    strata: tuple[str, ...] = ()
    if isinstance(original, HasRecords):
        named = original.roles.numeric, original.roles.keys
        strata = original.roles.strata
        weight = original.roles.weight if weight is None else weight
    elif numeric is None and categorical is None:
        named = kinds_of(first)
        named = tuple(tuple(name for name in names if name != weight) for names in named)
    else:
        named = ((), ())
    there = set(after.column_names)
    dropped: tuple[str, ...] = ()
    chosen: list[tuple[str, ...]] = []
    for given, default in zip((numeric, categorical), named, strict=True):
        if given is None:
            dropped += tuple(name for name in default if name not in there)
            chosen.append(tuple(name for name in default if name in there))
        else:
            chosen.append(tuple(given))
    if not any(chosen):
        raise InputError(
            "there is nothing to compare: name columns of both files in numeric= and categorical="
        )
    both = [name for name in chosen[0] if name in chosen[1]]
    if both:
        raise InputError(f"{some('column', both)} is named in numeric= and in categorical=")
    for table in (before, after):
        for name in (*chosen[0], *chosen[1], *(() if weight is None else (weight,))):
            column(table, name)
    # only now it is known which columns are numbers, in which codes that mean missing are none
    before, after = (in_memory(spelled(one, (*chosen[0], weight))) for one in opened)
    files = BothFiles(before, after, weight, first.book or CodeBook())
    known = orders(ordered, chosen[1], {**orders_of(original), **orders_of(protected)})
    return RecordsComparison(files, kind, chosen[0], chosen[1], known, strata, size, dropped)
