"""Perturbation tables (how likely each noise is) and lookups (which key means it). Confidential."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from diskret.cellkey.admissible import (
    Admissible,
    admissible_counts,
    admissible_magnitudes,
    check_whole,
)
from diskret.cellkey.intervals import (
    DIGITS,
    Intervals,
    as_likely,
    check_counts,
    check_reuse,
    row_of,
    rows_named,
    shuffled,
)
from diskret.cellkey.maximum_entropy import VarianceRule, most_entropy
from diskret.cellkey.written_tables import (
    Written,
    columns_of,
    of_abs,
    of_cumulative,
    of_ons,
    probabilities_of,
    read_intervals,
    rows_of,
    write_intervals,
)
from diskret.errors import InputError
from diskret.io.arrays import from_lists
from diskret.parameters import Choice, Flag, Number, Positive, Several, Whole, reading
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Order = Literal["sorted", "shuffled"]
_Stay = Annotated[float, Number(low=0, below=1)]
_Stays = Annotated[Sequence[float], Several(Number(low=0, below=1))]
_Monotone = Annotated[Sequence[bool], Several(Flag())]
_VarianceRules = Annotated[Sequence[VarianceRule], Several(Choice(get_args(VarianceRule)))]

#: Probabilities are at most 1 but for rounding.
_ROUNDED = 1e-6

#: Keys of all rows are numbered through in 64 bits.
_KEYS = 2**64 - 1


@dataclass(frozen=True, eq=False)
class PerturbationTable:
    """How likely each noise is for each count. Confidential: who knows it can undo noise.

    Parameters
    ----------
    counts
        What the rows stand for, ascending whole numbers, the first of them 0; shape ``(rows,)``,
        int64. For magnitudes rows may leave numbers out; what lies between two of them is
        interpolated.
    noise
        Admissible noise, ascending, in units of 1/`step`; shape ``(m,)``, int64.
    probabilities
        P(noise | row), rows sum up to 1, shape ``(rows, m)``, float64. The row of 0 has no noise.
    step
        Noise values are multiples of 1/`step`; 1 for counts.
    reuse
        Counts beyond the last row take the last so many rows in turn; 1: always the last.

    Raises
    ------
    InputError
        Rows are not ascending from 0, there are not as many probabilities as rows and noise
        values, or these are none; or there are not so many rows without gaps to reuse.
    """

    counts: NDArray[np.int64]
    noise: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    step: int = 1
    reuse: int = 1

    def __post_init__(self) -> None:
        kinds = {"counts": np.int64, "noise": np.int64, "probabilities": np.float64}
        from_lists(self, kinds, optional=False)
        check_whole(self.step, "step", 1)
        check_counts(self.counts)
        shape = len(self.counts), len(self.noise)
        if self.noise.ndim != 1 or self.probabilities.shape != shape:
            raise InputError(
                f"probabilities must have a row for each of {shape[0]} counts and a column for "
                f"each of {shape[1]} noise values; they are of shape {self.probabilities.shape}"
            )
        if (np.diff(self.noise) <= 0).any():
            raise InputError("the noise values of a perturbation table must ascend")
        if not ((self.probabilities >= 0) & (self.probabilities <= 1 + _ROUNDED)).all():
            raise InputError("probabilities must be numbers from 0 to 1")
        if self.probabilities[0, self.noise != 0].any():
            raise InputError("a count of 0 stays 0; its row must have no noise")
        check_reuse(self.counts, self.reuse)

    @classmethod
    @reading
    def maximum_entropy(
        cls,
        max_noise: Annotated[int, Whole(1)],
        variance: Positive,
        small_counts: Annotated[int, Whole(0)] = 0,
        stay: _Stay | _Stays = 0.0,
        monotone: bool | _Monotone = True,
        variance_rule: VarianceRule | _VarianceRules = "at_most",
    ) -> PerturbationTable:
        """The table for counts that says no more about the noise than what is asked of it.

        Parameters
        ----------
        max_noise
            Largest noise on either side, D ≥ 1.
        variance
            Of the noise, V, in every row.
        small_counts
            No count becomes 1, …, `small_counts`; 0: all may occur.
        stay
            Least probability that a count stays as it is, for counts above `small_counts`; one for
            all rows, or one for each of the counts 1, 2, …
        monotone
            Whether the probabilities rise from the lowest noise up to no noise; one for all
            rows, or one for each of the counts 1, 2, …
        variance_rule
            ``"at_most"``: V is a bound, as in the R package ptable; small counts may have
            less. ``"exact"``: every row has V, or the table is refused. Or one for each row.

        Raises
        ------
        InputError
            The variance is not possible; names the row that binds, and both bounds.

        Examples
        --------
        >>> table = PerturbationTable.maximum_entropy(2, 1)
        >>> table.probabilities[1].round(4).tolist()
        [0.0, 0.3665, 0.3665, 0.1676, 0.0995]
        >>> table.variances.round(3).tolist()
        [0.0, 0.932, 1.0]
        """
        admissible = admissible_counts(max_noise, small_counts, stay, monotone)
        probabilities = most_entropy(admissible, variance, variance_rule)
        return cls(admissible.counts, admissible.noise, probabilities)

    @classmethod
    @reading
    def for_magnitudes(
        cls,
        max_noise: Annotated[int, Whole(1)],
        variance: Positive,
        step: Annotated[int, Whole(1)] = 2,
        rows: Annotated[Sequence[int], Several(Whole(1))] | None = None,
        monotone: bool | _Monotone = True,
        variance_rule: VarianceRule = "at_most",
    ) -> PerturbationTable:
        """The table of largest entropy for values, with noise in steps of 1/`step`.

        Parameters
        ----------
        max_noise, variance, monotone, variance_rule
            As for `maximum_entropy`, in units of a contribution's own noise.
        step
            Noise comes in multiples of 1/`step`.
        rows
            How many such units a value holds, ascending from 1 to `max_noise`, of which these
            two are the default. What lies between two rows is interpolated.

        Examples
        --------
        >>> table = PerturbationTable.for_magnitudes(5, 1, step=2)
        >>> table.counts.tolist(), round(table.probability(5, 0.5), 5)
        ([0, 1, 5], 0.17603)
        """
        given = ((1, max_noise) if max_noise != 1 else (1,)) if rows is None else tuple(rows)
        admissible = admissible_magnitudes(max_noise, given, step, monotone)
        probabilities = most_entropy(admissible, variance, variance_rule)
        return cls(admissible.counts, admissible.noise, probabilities, step)

    @classmethod
    def from_matrix(
        cls,
        rows: Sequence[Sequence[Written]],
        noise: Sequence[int] | None = None,
        targets: Sequence[int] | None = None,
        incomplete: bool = False,
        tolerance: float = 0.001,
    ) -> PerturbationTable:
        """A table that somebody wrote down, checked.

        Parameters
        ----------
        rows
            Probabilities for the counts 1, 2, …; the last row stands for all larger counts.
        noise
            What the columns stand for, ascending: changes of the count …
        targets
            … or what it becomes.
        incomplete
            Whether rows that do not sum up to 1 are taken as they are, e.g. of a matrix that
            was not printed in full. They can be looked at; a lookup of them is refused.
        tolerance
            How far sums may be from 1 and means from 0, for rounded probabilities. Rows are
            scaled to a sum of 1.

        Raises
        ------
        InputError
            A row is biased, could make counts negative, or is no distribution.

        Examples
        --------
        >>> plain = PerturbationTable.from_matrix([[0.5, 0, 0.5]], noise=[-1, 0, 1])
        >>> plain.variances.tolist()
        [0.0, 1.0]
        """
        rows = rows_of(rows)
        named, are_targets = columns_of(len(rows[0]), noise, targets)
        values, found = probabilities_of(rows, named, are_targets, incomplete, tolerance)
        return cls(np.arange(len(found)), values, found)

    @classmethod
    def read(cls, path: str | PathLike[str], kind: str | None = None) -> PerturbationTable:
        """Read a file of the R package ptable or of τ-ARGUS; see `Lookup.read`.

        The probabilities are the lengths of the intervals, to 12 digits.
        """
        return Lookup.read(path, 10**DIGITS, kind).table()

    def write(self, path: str | PathLike[str], kind: str = "all") -> None:
        """Write the table as the R package ptable and τ-ARGUS read it; see `Lookup.write`.

        Probabilities have 12 digits.
        """
        self.lookup(10**DIGITS).write(path, kind)

    @staticmethod
    @reading
    def variance_bounds(
        max_noise: Annotated[int, Whole(1)],
        small_counts: Annotated[int, Whole(0)] = 0,
        stay: _Stay | _Stays = 0.0,
        monotone: bool | _Monotone = True,
    ) -> pa.Table:
        """Between which variances a row may choose, for parameters as in `maximum_entropy`.

        Examples
        --------
        >>> PerturbationTable.variance_bounds(5)["largest"].to_numpy().round(3).tolist()
        [0.0, 2.727, 5.556, 8.462, 11.429, 14.444]
        """
        admissible = admissible_counts(max_noise, small_counts, stay, monotone)
        least, largest = admissible.variance_bounds().T
        return pa.table({"count": admissible.counts, "least": least, "largest": largest})

    def check(self) -> pa.Table:
        """What each row does: a line for each, with what an office decides on.

        Returns
        -------
        pyarrow.Table
            Columns ``count``; ``sum`` of the probabilities; ``mean``, ``variance`` of the noise;
            ``least_variance``, ``largest_variance`` that the row's noise values allow with a mean
            of 0 (null if they allow none); ``stays``, the probability of no noise;
            ``largest_noise``.

        Examples
        --------
        >>> plain = PerturbationTable.from_matrix([[0.25, 0.5, 0.25]], noise=[-1, 0, 1])
        >>> plain.check().to_pylist()[1]["largest_variance"]
        1.0
        """
        used = self.probabilities > 0
        none = np.zeros(len(self.counts))
        bounds = Admissible(
            self.counts, self.noise, used, none, none > 0, self.step
        ).bounds_or_nan()
        size = np.where(used, np.abs(self.noise), 0).max(axis=1) / self.step
        stays = self.probabilities[:, self.noise == 0].sum(axis=1)
        return pa.table(
            {
                "count": self.counts,
                "sum": self.probabilities.sum(axis=1),
                "mean": self.means,
                "variance": self.variances,
                "least_variance": pa.array(bounds[:, 0], from_pandas=True),
                "largest_variance": pa.array(bounds[:, 1], from_pandas=True),
                "stays": stays,
                "largest_noise": size,
            }
        )

    def heat_map(self, language: str = "en", *, cumulative: bool = False) -> Figure:
        """Draw what becomes of each count, with the probabilities as colours.

        Parameters
        ----------
        language
            ``"en"`` or ``"de"``.
        cumulative
            Show by noise how likely it is at most so large, as figure 1 of Simon (2022) does,
            and not by published count how likely that is.

        Returns
        -------
        matplotlib.figure.Figure
            Confidential like the table; ``figure.savefig(path)`` writes it.

        Raises
        ------
        InputError
            matplotlib is not installed, or `language` is neither ``"en"`` nor ``"de"``.
        """
        from diskret.cellkey import plots

        draw = plots.cumulative_map if cumulative else plots.heat_map
        return draw(self, language)

    def distributions(self, language: str = "en") -> Figure:
        """Draw the noise of each count as bars, with its mean and variance.

        Returns
        -------
        matplotlib.figure.Figure
            Confidential like the table; ``figure.savefig(path)`` writes it.

        Raises
        ------
        InputError
            matplotlib is not installed, or `language` is neither ``"en"`` nor ``"de"``.
        """
        from diskret.cellkey import plots

        return plots.distributions(self, language)

    def __repr__(self) -> str:
        return f"PerturbationTable({len(self.counts)} rows)"

    @property
    def max_noise(self) -> float:
        """The largest noise on either side, D."""
        return float(np.abs(self.noise[self.probabilities.any(axis=0)]).max()) / self.step

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean noise of each row, 0 by design; shape ``(rows,)``."""
        return self.probabilities @ (self.noise / self.step)

    @property
    def variances(self) -> NDArray[np.float64]:
        """Variance of the noise of each row, shape ``(rows,)``."""
        return self.probabilities @ (self.noise / self.step) ** 2 - self.means**2

    def row(self, count: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of the row of each count; larger counts take the last rows in turn."""
        return row_of(self.counts, self.reuse, count)

    def probability(self, count: int, noise: float) -> float:
        """P(noise | count).

        Raises
        ------
        InputError
            The count is no whole number, or negative.
        """
        check_whole(count, "count", 0)
        row = int(self.row(np.array(count)))
        at = np.flatnonzero(self.noise == noise * self.step)
        return float(self.probabilities[row, at[0]]) if len(at) else 0.0

    def lookup(
        self,
        modulus: int = 2**32,
        order: Order = "sorted",
        seed: int | None = None,
    ) -> Lookup:
        """Which noise each cell key means: intervals as long as the probabilities say.

        Parameters
        ----------
        modulus
            Of the cell keys. With a small one (256) probabilities hold only to 1/modulus;
            `Lookup.table` shows which ones are really used.
        order
            ``"sorted"``: by noise, as in most programs. ``"shuffled"``: in secret order, so
            that a large key does not mean a large noise.
        seed
            Of the secret order; None: from the office's own key.

        Examples
        --------
        >>> table = PerturbationTable(
        ...     np.array([0, 1]), np.array([-1, 0, 1]), np.array([[0, 1, 0], [0.3, 0.4, 0.3]])
        ... )
        >>> table.lookup(modulus=10).bounds.tolist()
        [[10, 10, 10], [3, 7, 10]]
        """
        if order not in ("sorted", "shuffled"):
            raise InputError(f"order must be 'sorted' or 'shuffled', not {order!r}")
        given = self.counts, self.noise, self.probabilities, self.step, self.reuse
        found = Lookup(*as_likely(*given, modulus))
        return found if order == "sorted" else found.shuffled(seed)


@dataclass(frozen=True, eq=False)
class Lookup:
    """Which noise each cell key means in each row of a perturbation table. Confidential.

    The noise is that of the first interval whose upper bound is greater than the key.

    Parameters
    ----------
    counts
        What the rows stand for, ascending whole numbers, the first of them 0; shape
        ``(rows,)``, int64.
    modulus
        Of the cell keys: they are whole numbers in ``[0, modulus)``.
    bounds
        Upper bounds of the intervals of each row, ascending, the last of them the modulus;
        shape ``(rows, k)``, uint64. Rows with fewer intervals are filled up with the modulus.
        Interval j holds the keys with ``bounds[j-1] <= key < bounds[j]``, possibly none.
    noise
        Noise of each interval in units of 1/`step`; shape ``(rows, k)``, int64. The row of 0
        has none.
    step
        Noise values are multiples of 1/`step`; 1 for counts.
    reuse
        Counts beyond the last row take the last so many rows in turn; 1: always the last.

    Raises
    ------
    InputError
        Rows are not ascending from 0, bounds are not ascending up to the modulus, 0 has noise,
        or there are not so many rows to reuse; `reuse` needs rows without gaps. Rows and
        modulus must multiply to less than 2**64.

    Examples
    --------
    >>> bounds = np.array([[1000, 1000, 1000], [700, 900, 1000]], dtype=np.uint64)
    >>> lookup = Lookup(np.arange(2), 1000, bounds, np.array([[0, 0, 0], [-1, 0, 3]]))
    >>> lookup(np.array([0, 1, 1, 8]), np.array([950, 699, 700, 999], dtype=np.uint64)).tolist()
    [0, -1, 0, 3]
    """

    counts: NDArray[np.int64]
    modulus: int
    bounds: NDArray[np.uint64]
    noise: NDArray[np.int64]
    step: int = 1
    reuse: int = 1

    def __post_init__(self) -> None:
        kinds = {"counts": np.int64, "bounds": np.uint64, "noise": np.int64}
        from_lists(self, kinds, optional=False)
        check_counts(self.counts)
        rows = len(self.counts)
        if (
            self.bounds.ndim != 2
            or self.bounds.shape != self.noise.shape
            or len(self.bounds) != rows
        ):
            raise InputError(
                f"{rows} rows need as many rows of bounds and of noise, alike in shape; they are "
                f"of shape {self.bounds.shape} and {self.noise.shape}"
            )
        whole = isinstance(self.modulus, int | np.integer)
        if not whole or not 1 <= self.modulus <= _KEYS // rows:
            raise InputError(
                f"the modulus of cell keys is {self.modulus}; with {rows} rows it must be from "
                f"1 to {_KEYS // rows:,}"
            )
        falling = (self.bounds[:, 1:] < self.bounds[:, :-1]).any(axis=1)
        wrong = np.flatnonzero(falling | (self.bounds[:, -1] != self.modulus))
        if len(wrong):
            raise InputError(
                "upper bounds must ascend to the modulus in every row; they do not in "
                f"{rows_named(self.counts[wrong])}"
            )
        if self.noise[0].any():
            raise InputError("a count of 0 stays 0; its row must have no noise")
        check_reuse(self.counts, self.reuse)

    @classmethod
    def from_cumulative(
        cls, rows: Sequence[Sequence[Written]], noise: Sequence[int], modulus: int = 2**32
    ) -> Lookup:
        """The lookup of cumulative probabilities, as offices that use decimals print them.

        Parameters
        ----------
        rows
            Upper bounds of the intervals for the counts 1, 2, …; each row ascends to 1. The last
            row stands for all larger counts. Decimals are taken as they are written.
        noise
            What each column stands for.
        modulus
            Of the cell keys: 10**8 for decimals with 8 digits.

        Raises
        ------
        InputError
            A row does not ascend to 1, or a count could fall below 0.

        Examples
        --------
        >>> lookup = Lookup.from_cumulative([[0.3, 0.7, 1]], noise=[-1, 0, 1], modulus=10**8)
        >>> lookup(np.array([1]), np.array([69_999_999], dtype=np.uint64)).tolist()
        [0]
        """
        return cls(*of_cumulative(rows, noise, modulus))

    @classmethod
    def from_abs(cls, matrix: ArrayLike, modulus: int = 2**32, reuse: int = 1) -> Lookup:
        """The lookup of the Australian Bureau of Statistics: leading bits of the key name a row.

        Parameters
        ----------
        matrix
            Noise, with a row for each value of the leading bits (256 rows: the leading 8 of 32
            bits) and a column for each of the counts 1, 2, …; e.g. of ``numpy.loadtxt``.
        modulus
            Of the cell keys, a multiple of the number of rows.
        reuse
            Larger counts take the last so many columns in turn; 1: always the last.

        Raises
        ------
        InputError
            The matrix holds other things, or a count could fall below 0.

        Examples
        --------
        >>> lookup = Lookup.from_abs([[-1, -2], [0, 0], [0, 1], [1, 1]], modulus=2**32)
        >>> key = np.array([2**30 - 1, 2**31], dtype=np.uint64)
        >>> lookup(np.array([2, 5]), key).tolist()
        [-2, 1]
        """
        return cls(*of_abs(matrix, modulus, reuse))

    @classmethod
    def from_ons(cls, table: Any, reuse: int = 250, modulus: int | None = None) -> Lookup:
        """The lookup of the Office for National Statistics: a noise for each count and key.

        Parameters
        ----------
        table
            A frame or file with the columns ``pcv`` (count), ``ckey`` (cell key) and ``pvalue``
            (noise), with every combination once.
        reuse
            Larger counts take the last so many rows in turn: with 750 rows and 250, a count n
            takes the row (n - 1) mod 250 + 501.
        modulus
            Of the cell keys, e.g. 256 or 4096; by default one more than the largest ``ckey``.

        Raises
        ------
        InputError
            Combinations are missing or there twice, or a count could fall below 0.

        Examples
        --------
        >>> import pyarrow as pa
        >>> table = pa.table({"pcv": [1, 1, 2, 2], "ckey": [0, 1] * 2, "pvalue": [-1, 1, 0, 0]})
        >>> Lookup.from_ons(table, reuse=1)(np.array([1, 9]), np.zeros(2, np.uint64)).tolist()
        [-1, 0]
        """
        return cls(*of_ons(table, reuse, modulus))

    @classmethod
    def read(
        cls, path: str | PathLike[str], modulus: int = 2**32, kind: str | None = None
    ) -> Lookup:
        """Read the intervals of a file of the R package ptable or of τ-ARGUS.

        Parameters
        ----------
        path
            A text file with the columns ``i`` (count), ``v`` (noise), ``p_int_ub`` or ``p_ij_ub``
            (upper bound) and perhaps ``j`` (= i + v), ``p`` (ignored: bounds decide) and ``type``,
            separated by semicolons, with decimal points. Intervals stay in their order.
        modulus
            Of the cell keys.
        kind
            Which ``type`` to read where a file holds several.

        Raises
        ------
        InputError
            The file is no such file, bounds do not ascend to 1, or a count could fall below 0.
        """
        return cls(*read_intervals(path, modulus, kind))

    def write(self, path: str | PathLike[str], kind: str = "all") -> None:
        """Write the intervals as the R package ptable and τ-ARGUS read them.

        The file is secret; only its owner may read it.

        Parameters
        ----------
        path
            File to write.
        kind
            What the column ``type`` says.

        Raises
        ------
        InputError
            Rows are reused in turn, or noise comes in thirds, which this layout cannot say.
        """
        write_intervals(self._intervals, path, kind)

    def __repr__(self) -> str:
        return f"Lookup({len(self.counts)} rows)"

    def __call__(self, count: NDArray[np.int64], key: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The noise of cells with these counts and cell keys, in units of 1/`step`.

        Parameters
        ----------
        count
            Numbers of records or units ≥ 0, any shape. Where rows leave out counts, these take
            the next row.
        key
            Cell keys in ``[0, modulus)``, uint64, the same shape.

        Raises
        ------
        InputError
            Counts are negative, or keys belong to another modulus; says how many.
        """
        self._check(count, key)
        row = row_of(self.counts, self.reuse, count).astype(np.uint64)
        modulus = np.uint64(self.modulus)
        # one search for all rows: the bounds of row r lie from r · modulus to (r + 1) · modulus
        starts = np.arange(len(self.counts), dtype=np.uint64) * modulus
        ends = (self.bounds + starts[:, None]).ravel()
        interval = np.searchsorted(ends, row * modulus + key, side="right")
        return self.noise.ravel()[interval]

    def table(self) -> PerturbationTable:
        """The probabilities that the intervals give: their lengths in relation to the modulus.

        Examples
        --------
        >>> bounds = np.array([[10, 10], [7, 10]], dtype=np.uint64)
        >>> Lookup(np.arange(2), 10, bounds, np.array([[0, 0], [0, 1]])).table().probability(1, 1)
        0.3
        """
        noise = np.unique(self.noise)
        widths = np.diff(self.bounds, axis=1, prepend=np.uint64(0))
        total = np.zeros((len(self.counts), len(noise)), dtype=np.uint64)
        rows = np.broadcast_to(np.arange(len(self.counts))[:, None], self.noise.shape)
        np.add.at(total, (rows, np.searchsorted(noise, self.noise)), widths)
        return PerturbationTable(self.counts, noise, total / self.modulus, self.step, self.reuse)

    def shuffled(self, seed: int | None = None) -> Lookup:
        """The same probabilities, with intervals in an order that tells nothing of the noise.

        Long intervals are split first. Where a key is known to be small or large, the sign of
        the noise is then not.

        Parameters
        ----------
        seed
            Secret, and the same for all that is to be consistent; None: one of the office's
            own key.

        Examples
        --------
        >>> bounds = np.array([[10, 10], [5, 10]], dtype=np.uint64)
        >>> lookup = Lookup(np.arange(2), 10, bounds, np.array([[0, 0], [-1, 1]]))
        >>> lookup.shuffled(seed=4).table().probability(1, 1)
        0.5
        """
        return Lookup(*shuffled(self._intervals, seed))

    @property
    def _intervals(self) -> Intervals:
        return Intervals(self.counts, self.modulus, self.bounds, self.noise, self.step, self.reuse)

    def _check(self, count: NDArray[np.int64], key: NDArray[np.uint64]) -> None:
        if np.shape(count) != np.shape(key):
            raise InputError(
                f"every cell needs a count and a key; they are of shape {np.shape(count)} and "
                f"{np.shape(key)}"
            )
        if np.asarray(key).dtype != np.uint64:
            raise InputError(f"cell keys must be of type uint64, not {np.asarray(key).dtype}")
        negative = int((count < 0).sum())
        if negative:
            raise InputError(
                f"{negative:,} {Count(negative):count is|counts are} negative; a count is at "
                "least 0"
            )
        strange = int((key >= np.uint64(self.modulus)).sum())
        if strange:
            raise InputError(
                f"{strange:,} cell {Count(strange):key is|keys are} not below {self.modulus:,}, "
                "the modulus of this lookup; keys of different moduli cannot be mixed"
            )
