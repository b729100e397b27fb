"""From a count and a cell key to the noise: intervals of keys. Confidential."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diskret.errors import InputError
from diskret.io.arrays import from_lists

if TYPE_CHECKING:
    from diskret.cellkey.matrices import Written
    from diskret.cellkey.table import PerturbationTable

Order = Literal["sorted", "shuffled"]

#: Probabilities are taken as decimals with so many digits: 0.86 is 86/100, not the binary
#: number next to it, so that bounds fall where the office wrote them.
DIGITS = 12

#: Rows sum up to 1 but for rounding.
_COMPLETE = 1e-6

#: Keys of all rows are numbered through in 64 bits.
_KEYS = 2**64 - 1


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
        if not 1 <= self.reuse < max(rows, 2):
            raise InputError(
                f"{self.reuse} rows cannot be reused in turn; there are {rows - 1} besides that of "
                "0"
            )
        if self.reuse > 1 and self.counts[-1] - self.counts[-self.reuse] != self.reuse - 1:
            raise InputError(f"the last {self.reuse} rows leave out counts: reuse=1 is possible")

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
        from diskret.cellkey.matrices import lookup_of_cumulative

        return lookup_of_cumulative(rows, noise, modulus)

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
        from diskret.cellkey.dialects import lookup_of_abs

        return lookup_of_abs(matrix, modulus, reuse)

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
        from diskret.cellkey.dialects import lookup_of_ons

        return lookup_of_ons(table, reuse, modulus)

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
        from diskret.cellkey.files import read_lookup

        return read_lookup(path, modulus, kind)

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
        from diskret.cellkey.files import write_lookup

        write_lookup(self, path, kind)

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
        row = self._row(count).astype(np.uint64)
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
        from diskret.cellkey.table import PerturbationTable

        noise = np.unique(self.noise)
        widths = np.diff(self.bounds, axis=1, prepend=np.uint64(0))
        total = np.zeros((len(self.counts), len(noise)), dtype=np.uint64)
        rows = np.broadcast_to(np.arange(len(self.counts))[:, None], self.noise.shape)
        np.add.at(total, (rows, np.searchsorted(noise, self.noise)), widths)
        return PerturbationTable(self.counts, noise, total / self.modulus, self.step)

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
        from diskret.cellkey.shuffle import shuffled

        return shuffled(self, seed)

    def _row(self, count: NDArray[np.int64]) -> NDArray[np.int64]:
        last = self.counts[-1]
        beyond = last - self.reuse + 1 + (count - last - 1) % self.reuse
        return np.searchsorted(self.counts, np.where(count > last, beyond, count))

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
            raise InputError(f"{negative:,} counts are negative; a count is at least 0")
        strange = int((key >= np.uint64(self.modulus)).sum())
        if strange:
            raise InputError(
                f"{strange:,} cell keys are not below {self.modulus:,}, the modulus of this "
                "lookup; keys of different moduli cannot be mixed"
            )


def lookup_of(table: PerturbationTable, modulus: int) -> Lookup:
    """Intervals in ascending order of the noise, as long as the probabilities say.

    Upper bounds are the cumulative probabilities times the modulus, rounded up.

    Raises
    ------
    InputError
        Some rows are incomplete; names them.
    """
    if isinstance(modulus, bool) or not isinstance(modulus, int | np.integer):
        raise InputError(f"the modulus of cell keys is a whole number, not {modulus!r}")
    short = np.abs(table.probabilities.sum(axis=1) - 1) > _COMPLETE
    if short.any():
        raise InputError(
            f"the probabilities in {rows_named(table.counts[short])} do not sum up to 1; complete "
            "them before use"
        )
    rows: list[tuple[NDArray[np.uint64], NDArray[np.int64]]] = []
    for row in np.rint(table.probabilities * 10**DIGITS).astype(np.int64):
        likely = np.flatnonzero(row)
        scaled = [Fraction(int(c), 10**DIGITS) for c in np.cumsum(row[likely])]
        rows.append((upper_bounds(scaled, modulus), table.noise[likely]))
    bounds, noise = filled(rows, modulus)
    return Lookup(table.counts, modulus, bounds, noise, table.step)


def upper_bounds(cumulative: list[Fraction], modulus: int) -> NDArray[np.uint64]:
    """Upper bounds of intervals of keys for exact cumulative probabilities."""
    bounds = [min(-(-c.numerator * modulus // c.denominator), modulus) for c in cumulative]
    return np.array([*bounds[:-1], modulus], dtype=np.uint64)


def check_counts(counts: NDArray[np.int64]) -> None:
    """Rows stand for ascending counts, the first of them 0.

    Raises
    ------
    InputError
        They do not.
    """
    if counts.ndim != 1 or not len(counts) or counts[0] != 0 or (np.diff(counts) <= 0).any():
        shown = ", ".join(str(c) for c in counts.ravel()[:5])
        raise InputError(f"rows must stand for ascending counts from 0 on, not {shown}, …")


def rows_named(counts: NDArray[np.int64]) -> str:
    """Rows by what they stand for, a few of them."""
    shown = ", ".join(str(c) for c in counts[:5])
    more = ", …" if len(counts) > 5 else ""
    return f"row {shown}" if len(counts) == 1 else f"{len(counts)} rows ({shown}{more})"


def filled(
    rows: list[tuple[NDArray[np.uint64], NDArray[np.int64]]], modulus: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Rows of different lengths as two matrices, filled up with the modulus and no noise."""
    longest = max(len(bounds) for bounds, _ in rows)
    all_bounds = np.full((len(rows), longest), modulus, dtype=np.uint64)
    all_noise = np.zeros((len(rows), longest), dtype=np.int64)
    for number, (bounds, noise) in enumerate(rows):
        all_bounds[number, : len(bounds)] = bounds
        all_noise[number, : len(noise)] = noise
    return all_bounds, all_noise
