"""How easily persons are recognised by their keys, in files of any size and in databases."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from diskret.engines import KeyCounts, KeyQuestion
from diskret.engines.duckdb import DuckDBEngine
from diskret.engines.engine import Engine
from diskret.engines.key_counts import WEIGHT_DECIMALS
from diskret.errors import InputError
from diskret.io import Source, from_arrow, source
from diskret.io.columns import some
from diskret.io.frames import NO_RECORDS, spelled
from diskret.population import Population
from diskret.progress import Progress, silent
from diskret.protect.key_risk_households import HouseholdFigures, given, household_figures
from diskret.protect.tabulate import engine_of
from diskret.risk import Compat, individual_risk
from diskret.risk.frequencies import agreeing
from diskret.texts.numbers import Count

_FIGURES = ("sample_frequency", "population_frequency", "risk")
_BLOCK = 1_000_000

#: Opens an engine on records, to be used in a ``with`` block.
Opening = Callable[[Source], AbstractContextManager[Engine]]


@dataclass(frozen=True, eq=False)
class KeyRisk:
    """The combinations of keys in a file, and how easily each is recognised. Confidential.

    c combinations occur, in the ascending order of their keys, missing first.

    Parameters
    ----------
    counts
        The combinations, with numbers of records and sums of weights.
    sample_frequency
        For each combination how many records agree with it, ``(c,)``, int64.
    population_frequency
        The sum of their weights, ``(c,)``, float64; without weights their number.
    risk
        Individual risk of each record that has it, ``(c,)``, float64, above 0 and at most 1.
    missing, compat
        As asked for.
    asked
        The records and what was asked about them.
    """

    counts: KeyCounts
    sample_frequency: NDArray[np.int64]
    population_frequency: NDArray[np.float64]
    risk: NDArray[np.float64]
    missing: Literal["wildcard", "category"]
    compat: Compat | None
    asked: tuple[Source, KeyQuestion, Opening]

    def __repr__(self) -> str:
        return (
            f"KeyRisk({self.n:,} records; keys: {', '.join(key.name for key in self.counts.keys)}; "
            f"{len(self.counts):,} combinations; {self.sample_uniques:,} sample uniques; "
            f"{self.expected:,.1f} expected to be recognised; largest risk {self.largest:.3g})"
        )

    @property
    def n(self) -> int:
        """Number of records."""
        return int(self.counts.records.sum())

    @property
    def k(self) -> int:
        """The largest k for which the records are k-anonymous: the smallest sample frequency."""
        return int(self.sample_frequency.min())

    @property
    def sample_uniques(self) -> int:
        """Number of records that share their keys with no other."""
        return self.below(2)

    @property
    def expected(self) -> float:
        """Expected number of records that are recognised: the sum of the risks."""
        return float((self.counts.records * self.risk).sum())

    @property
    def global_risk(self) -> float:
        """Expected share of records that are recognised: the mean of the risks."""
        return self.expected / self.n

    @property
    def largest(self) -> float:
        """The largest individual risk."""
        return float(self.risk.max())

    @property
    def short(self) -> int:
        """Number of records for which the population frequency is below the sample frequency.

        The weights are too small there; the risk is 1/f.
        """
        return int(self.counts.records[self.population_frequency < self.sample_frequency].sum())

    def below(self, k: float, *, population: bool = False) -> int:
        """Number of records with a frequency below k, in the sample or in the population."""
        counted = self.population_frequency if population else self.sample_frequency
        return int(self.counts.records[counted < k].sum())

    @property
    def combinations(self) -> Any:
        """All combinations, a row each, in the kind of frame that came in.

        The keys (dates, times and logical values as text), and then ``records`` (how many
        records have it), ``sample_frequency`` (how many agree with it: more, where a missing
        value stands for any), ``population_frequency`` and ``risk``.
        """
        return self._listed(np.arange(len(self.counts)))

    def combinations_below(self, k: float) -> Any:
        """The combinations that violate k-anonymity; columns as in `combinations`."""
        return self._listed(np.flatnonzero(self.sample_frequency < k))

    def households(self, household: str, *, progress: Progress = silent) -> HouseholdFigures:
        """The risk of households: that of recognising at least one member.

        The records are read once more, block by block; their households and risks lie in a private
        file meanwhile, 16 bytes a record or less. Only the households come here, with some 60
        bytes each.

        Parameters
        ----------
        household
            The column that says who lives together: text or whole numbers. A record without one
            is a household of its own.
        progress
            Called with ``("households", done, total)``: records.

        Raises
        ------
        InputError
            There is no such column; the records lie in a database or in Spark, or have changed
            since they were counted.

        Examples
        --------
        >>> persons = pa.table({"flat": [1, 1, 2], "job": ["baker", "mayor", "baker"]})
        >>> found = key_risk(persons, ["job"]).households("flat")
        >>> found.households, round(found.expected, 9), round(found.expected_persons, 9)
        (2, 1.5, 2.5)
        """
        records, question, opening = self.asked
        if household not in records.columns:
            raise InputError(
                f"the records have no column {household!r}; they have "
                f"{', '.join(map(repr, records.columns))}"
            )
        with opening(spelled(records, (), told=(household,))) as engine:
            if not isinstance(engine, DuckDBEngine):
                raise InputError(
                    f"records in {engine.name} are not read one by one; join `combinations` to "
                    "them by the keys, and multiply 1 - risk by household where they are"
                )
            with closing(engine.key_values(question)) as blocks:
                return household_figures(self._risks(blocks, household, progress), opening)

    def _risks(
        self,
        blocks: Iterable[tuple[pa.RecordBatch, list[pa.Array]]],
        household: str,
        progress: Progress,
    ) -> Generator[tuple[pa.Array, NDArray[np.float64]]]:
        at, done = self.asked[0].columns.index(household), 0
        for block, keys in blocks:
            yield given(block.column(at)), self.risk[self.counts.rows(keys)]
            progress("households", done := done + len(block), self.n)

    def write_records(self, path: str | PathLike[str], *, progress: Progress = silent) -> None:
        """Write the records with their frequencies and risks as a new Parquet file. Confidential.

        The records are read and written in blocks, in their order; if there was a filter, those
        that satisfy it. The file has all their columns and then ``sample_frequency``,
        ``population_frequency`` and ``risk``. Only its owner may read it.

        Parameters
        ----------
        path
            Of the file; there must be none yet.
        progress
            Called with ``("write records", done, total)``.

        Raises
        ------
        InputError
            There is such a file, or it cannot be written; a column has such a name already;
            the records lie in a database or in Spark, or have changed since they were counted.

        Examples
        --------
        >>> import tempfile
        >>> import pyarrow.parquet as pq
        >>> persons = pa.table({"id": [1, 2, 3], "job": ["baker", "mayor", "baker"]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     key_risk(persons, ["job"]).write_records(folder + "/risk.parquet")
        ...     pq.read_table(folder + "/risk.parquet")["risk"].to_pylist()
        [0.5, 1.0, 0.5]
        """
        records, question, opening = self.asked
        twice = [name for name in records.columns if name in _FIGURES]
        if twice:
            raise InputError(f"the records have {some('column', twice)} already; rename it first")
        with opening(records) as engine:
            if not isinstance(engine, DuckDBEngine):
                raise InputError(
                    f"records in {engine.name} are not copied into a file; join `combinations` "
                    "to them by the keys where they are"
                )
            with closing(engine.key_values(question)) as blocks:
                names = records.columns
                write_records(Path(path), names, blocks, self.counts, self._figures, progress)

    def _listed(self, rows: NDArray[np.intp]) -> Any:
        keys = [replace(key, codes=key.codes[rows]) for key in self.counts.keys]
        columns = {key.name: key.column() for key in keys}
        columns |= {"records": pa.array(self.counts.records[rows])}
        columns |= {name: pa.array(values[rows]) for name, values in self._figures.items()}
        return from_arrow(pa.table(columns), self.asked[0].kind)

    @property
    def _figures(self) -> dict[str, NDArray[Any]]:
        values = self.sample_frequency, self.population_frequency, self.risk
        return dict(zip(_FIGURES, values, strict=True))


def key_risk(
    records: Any,
    keys: Sequence[str],
    *,
    weight: str | None = None,
    where: Mapping[str, Any] | None = None,
    missing: Literal["wildcard", "category"] = "wildcard",
    compat: Compat | None = None,
    memory_limit: str | None = None,
    engine: Opening | None = None,
    progress: Progress = silent,
) -> KeyRisk:
    """Count how many records share their keys and estimate how easily they are recognised.

    The same figures as [`Microdata.risk`][diskret.Microdata.risk], but the records stay where they
    are: in files that may be larger than memory, in a database or in Spark. Only the distinct
    combinations of keys come here, at 4 bytes for each key and 40 beside.

    Parameters
    ----------
    records
        A pandas, Polars, PyArrow or Spark frame, a DuckDB relation, the path of a Parquet or
        CSV file, a list of Parquet paths, or a [`PostgresTable`][diskret.PostgresTable].
    keys
        Categorical variables an attacker may know: text, whole numbers, dates or logical values.
        null and NaN are missing.
    weight
        Column of sampling weights > 0; None: the records are all there are. Weights are rounded
        to nine decimals and added up exactly.
    where
        Only records that satisfy a filter, as for [`tabulate`][diskret.tabulate].
    missing
        ``"wildcard"``: a missing value agrees with every value. ``"category"``: missing agrees
        with missing only.
    compat
        None: exact risks. Otherwise as for
        [`individual_risk`][diskret.risk.individual_risk].
    memory_limit
        What DuckDB may use before it spills to disk, e.g. ``"4GB"``; None: 80 % of memory. Only
        for frames and files.
    engine
        What counts the records, as for [`tabulate`][diskret.tabulate].
    progress
        Called with ``("key risk", done, total)``.

    Returns
    -------
    KeyRisk
        Figures for the file and for each combination of keys.

    Raises
    ------
    InputError
        No key, or a key twice, is named; columns are missing or hold what cannot be used; an
        option is unknown; there are no records.

    References
    ----------
    Franconi and Polettini (2004), "Individual risk estimation in μ-Argus: a review", Privacy in
    Statistical Databases, LNCS 3050, pages 262-272.

    Examples
    --------
    >>> persons = pa.table(
    ...     {"sex": ["m", "f", "m"], "job": ["baker", "mayor", "baker"], "w": [2.5, 8, 7.5]}
    ... )
    >>> found = key_risk(persons, ["sex", "job"], weight="w")
    >>> found.n, found.k, found.sample_uniques, round(found.expected, 4)
    (3, 1, 1, 0.5959)
    >>> found.combinations_below(2).select(["job", "population_frequency"]).to_pylist()
    [{'job': 'mayor', 'population_frequency': 8.0}]
    """
    question = KeyQuestion(_named(keys), weight, Population.of(where))
    if missing not in ("wildcard", "category"):
        raise InputError(f"missing= must be 'wildcard' or 'category', not {missing!r}")
    opened = records if isinstance(records, Source) else source(records)
    opened = spelled(opened, [weight, *question.where.bounded])
    opening = _opening(opened, engine, memory_limit)
    progress("key risk", 0, 2)
    with opening(opened) as running:
        counts = running.frequencies(question)
    if not len(counts):
        raise InputError(NO_RECORDS)
    progress("key risk", 1, 2)
    sample, population = _frequencies(counts, missing)
    risk = _in_blocks(sample, population, compat)
    progress("key risk", 2, 2)
    asked = opened, question, opening
    return KeyRisk(counts, sample.astype(np.int64), population, risk, missing, compat, asked)


def _named(keys: Sequence[str]) -> tuple[str, ...]:
    names = (keys,) if isinstance(keys, str) else tuple(keys)
    if not names:
        raise InputError("no key variable is named; give keys=")
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise InputError(f"keys= names {some('column', twice)} twice")
    taken = [name for name in names if name in ("records", *_FIGURES)]
    if taken:
        raise InputError(
            f"keys= names {some('column', taken)}, which is what a figure in the answer is called; "
            "rename the column"
        )
    return names


def _opening(records: Source, engine: Opening | None, memory_limit: str | None) -> Opening:
    if memory_limit is None:
        return engine or engine_of(records)
    if engine is not None or engine_of(records) is not DuckDBEngine:
        raise InputError(
            "memory_limit= is for DuckDB, which reads frames and files; other engines have their "
            "own settings"
        )
    return partial(DuckDBEngine, memory_limit=memory_limit)


def _in_blocks(
    sample: NDArray[np.float64], population: NDArray[np.float64], compat: Compat | None
) -> NDArray[np.float64]:
    """The individual risks; what a block needs beside them is small."""
    made = np.empty(len(sample))
    for at in range(0, len(made), _BLOCK):
        block = slice(at, at + _BLOCK)
        made[block] = individual_risk(sample[block], population[block], compat)
    return made


def _frequencies(
    counts: KeyCounts, missing: Literal["wildcard", "category"]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many records agree with each combination, and the sum of their weights."""
    sample = counts.records.astype(float)
    weight = sample
    if counts.weight is not None:
        weight = counts.weight / 10.0**WEIGHT_DECIMALS
    if missing == "category" or all(key.codes.min() >= 0 for key in counts.keys):
        return sample, weight
    codes = np.stack([key.codes for key in counts.keys], axis=1)
    sizes = [len(key.categories) for key in counts.keys]
    whole, through = agreeing(codes, codes, sizes, np.stack([sample, weight]))
    sample, weight = whole + through
    return sample, weight


def write_records(
    path: Path,
    names: Sequence[str],
    blocks: Iterable[tuple[pa.RecordBatch, list[pa.Array]]],
    counts: KeyCounts,
    figures: Mapping[str, NDArray[Any]],
    progress: Progress,
) -> None:
    """Write a Parquet file: all of it, or nothing.

    path: of the file; there must be none yet.
    blocks: records, and what they have in each key.
    figures: name of a new column → its value for each combination.
    """
    total, done = int(counts.records.sum()), 0
    with _whole(path) as unfinished, ExitStack() as closing:
        writer: Any = None
        progress("write records", 0, total)
        for block, keys in blocks:
            row = counts.rows(keys)
            found = [pa.array(figure[row]) for figure in figures.values()]
            table = pa.table([*block.columns, *found], names=[*names, *figures])
            writer = writer or closing.enter_context(
                parquet.ParquetWriter(unfinished, table.schema)
            )
            writer.write_table(table)
            progress("write records", done := done + len(block), total)
        if done != total:
            number = Count(done)
            raise InputError(
                f"there {number:is|are} {number} {number:record|records} now, and {total:,} "
                f"{Count(total):was|were} counted; they have changed in the meantime: count them "
                "again"
            )


@contextmanager
def _whole(path: Path) -> Generator[Path]:
    """A file beside the one that is wanted, which becomes that once it is complete."""
    if path.exists():
        raise InputError(f"{path}: there is such a file already; give another path")
    unfinished: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        unfinished = Path(name)
        os.close(handle)
        yield unfinished
        unfinished.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)
