"""Records in, a complete table out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np

from diskret.engines import LeafQuestion, Leaves, Mark
from diskret.engines.duckdb import DuckDBEngine
from diskret.engines.engine import Engine
from diskret.engines.postgres import PostgresEngine
from diskret.engines.spark import SparkEngine
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.codes import as_code
from diskret.io import Source, source
from diskret.io.frames import spelled
from diskret.io.placed import placed
from diskret.keys import modulus_with
from diskret.population import Population
from diskret.progress import Progress, silent
from diskret.protect.attackers import LISTED
from diskret.tables import Table
from diskret.tables.contributions import Asked
from diskret.tables.dimension import Dimension, check_by, said_totals
from diskret.tables.own_totals import LeafRows, check_own_totals
from diskret.tables.rollup import roll_up
from diskret.texts.numbers import Count

_MOST_DECIMALS = 18  # of sums: 10**18 is the largest power of ten that fits 64 bits


def tabulate(
    records: Any,
    *,
    by: Mapping[str, Hierarchy | None],
    value: str | Sequence[str] | None = None,
    unit: str | None = None,
    holding: str | None = None,
    weight: str | None = None,
    weight_decimals: int = 0,
    where: Mapping[str, Any] | Population | None = None,
    request: Marking | None = None,
    waiver: Marking | None = None,
    waiver_note: str = "",
    total: str | Mapping[str, str] | None = None,
    record_key: str | None = None,
    key_modulus: int = 2**32,
    key_digits: int | None = None,
    largest: int = 3,
    decimals: int | Mapping[str, int] = 0,
    round_values: bool = False,
    vintage: str = "",
    contributions: bool | None = None,
    engine: Callable[[Source], AbstractContextManager[Engine]] | None = None,
    progress: Progress = silent,
) -> Table:
    """Tabulate records: counts, sums and largest contributions in every cell, totals included.

    Everything is exact and does not depend on row order, threads or the kind of frame.

    Parameters
    ----------
    records
        A pandas, Polars, PyArrow or Spark frame, a DuckDB relation, the path of Parquet or
        CSV files, a [`DataFile`][diskret.DataFile] that says how a file is to be read, or a
        [`PostgresTable`][diskret.PostgresTable]. Columns the call does not name are ignored.
    by
        Code column → its tree; None: a flat one of the codes in the data.
    value
        Column to sum, or several; None: a frequency table.
    unit
        Column that identifies the unit (person, firm). A unit with several records counts
        once in a cell. Without it every record is a unit.
    holding
        Column of the holding a unit belongs to; null: a holding of its own. Concentration
        rules then look at holdings.
    weight
        Column of sampling weights ≥ 1: sums are weighted and exact, with the decimals of the
        value and of the weight together (`Table.rounded` publishes them in fewer). A
        contribution of weight w counts as w equal ones in the rules; a named holding, with
        its weighted sum, as one. Counts stay those of the sample. All records of a unit need
        the same weight.
    weight_decimals
        Decimals of the weights, at most 9. A weight with more decimals is an error.
    where
        Only records that satisfy a filter: column → a code, several codes, or
        ``{"min": …, "max": …}`` with numbers (both included, either may be left out). A record
        must satisfy it in every column named; nothing in a column satisfies nothing. Other
        records are not looked at, whatever they hold. Part of every cell's definition.
    request
        Column of yes (true, 1) and no (false, 0, nothing): the unit of the record asked for
        protection. Or ``{column: code}``, or ``{column: [code, code]}`` for requests at a
        first and a second level. For the rule [`Request`][diskret.rules.Request].
    waiver
        Column of yes and no, or ``{column: codes that mean yes}``: the unit consents to
        publication. Rules then protect the others only. A unit or holding has waived in a
        cell if all its records there say so.
    waiver_note
        Who consented when, and why; kept in the office's files.
    total
        Code of the totals of columns without a tree; None: ``"Total"``. Or column → code. It must
        not be in the records. Where it is said, no other code is looked at as a total.
    record_key
        Column of the units' record keys, whole numbers in ``[0, key_modulus)``.
    key_modulus
        Modulus of record keys and key sums.
    key_digits
        Where record keys are decimals in [0, 1), as the R packages draw them: with how many
        digits at most, from 1 to 18 (15 in a floating point column). They become whole numbers,
        exactly; the modulus is ``10**key_digits``. A key with more digits is an error.
    largest
        How many of the largest |contributions| to keep for each cell.
    decimals
        Decimals of the values (one number, or column → number): they become integers in
        units of 10**-decimals. A value with more decimals is an error.
    round_values
        Whether values with more decimals become the nearest with as many instead, half a unit
        upwards: for decimals that went through binary floating point, e.g. 2305598.5354999998.
    vintage
        Period and revision, part of every cell's definition.
    contributions
        Whether to keep who contributes what (`Table.contributions`, confidential), a row for
        each unit, holding and combination of leaf codes: a table is then protected against
        contributors who know what is theirs. None: where values of units are summed without
        weights, of up to 5 million records. Nothing is kept, or needed, where every record is
        a unit of its own. Not with weights.
    engine
        What aggregates the records: takes the `Source`, gives an `Engine` to run in a
        ``with`` block. By default the database or the Spark session that the records are
        in, or else DuckDB inside this process.
        [`SparkEngine`][diskret.engines.spark.SparkEngine] makes Spark read files.
    progress
        Called with ``("tabulate", done, total)``.

    Raises
    ------
    InputError
        Columns are missing, or hold nulls or values that cannot be used as they are; a
        weight is below 1, or a unit has two; weights come without a value, or together with
        requests, waivers or contributions; sums leave the range of 64-bit integers; records
        of one code are the sum of those of all others in every cell, as totals are; no
        record satisfies `where`, or none has any of the codes it asks for in a column (if only
        some codes do not occur, there is a warning).
    HierarchyError
        Codes are not leaves of their tree.

    Examples
    --------
    >>> import pyarrow as pa
    >>> firms = pa.table({"region": ["N", "N", "S"], "turnover": [10, 20, 5]})
    >>> table = tabulate(firms, by={"region": None}, value="turnover")
    >>> table.cells.to_pydict()["turnover"]
    [35, 30, 5]
    >>> tabulate(firms, by={"region": None}, where={"turnover": {"min": 10}})
    Table(region: 2; count where turnover ≥ 10; 2 cells)
    """
    check_by(by)
    said = said_totals(by, total)
    names = [value] if isinstance(value, str) else list(value or [])
    _check_names(list(by), names)
    if largest < 0:
        raise InputError(f"largest must be ≥ 0, not {largest}")
    places = {n: decimals.get(n, 0) if isinstance(decimals, Mapping) else decimals for n in names}
    _check_places(places)
    if weight is None and weight_decimals:
        raise InputError("weight_decimals= needs weight=, the column of the weights")
    if weight is not None:
        _check_weight(weight, weight_decimals, places, request is not None or waiver is not None)
        _check_listed(weight, contributions is True)
    filtered = Population.of(where)
    by_default = bool(names) and unit is not None and weight is None
    key_modulus = modulus_with(key_digits, key_modulus)
    question = LeafQuestion(
        by=dict(by),
        values=places,
        unit=unit,
        holding=holding,
        record_key=record_key,
        largest=largest if names else 0,
        key_modulus=key_modulus,
        key_digits=key_digits,
        where=filtered,
        weight=weight,
        weight_decimals=weight_decimals,
        marks=record_marks(request, waiver),
        contributions=by_default if contributions is None else contributions,
        most_listed=LISTED if contributions is None else None,
        totals=said,
        round_values=round_values,
    )
    opened = records if isinstance(records, Source) else source(records)
    progress("tabulate", 0, 2)
    with placed(records):
        leaves = leaves_of(opened, question, engine)
    progress("tabulate", 1, 2)
    computed = () if opened.cells is None else (opened.cells.name,)  # no total lies at a point
    check_own_totals(_rows(leaves), (*said, *computed), "records")
    table = roll_up(
        leaves,
        {name: decimals + weight_decimals for name, decimals in places.items()},
        key_modulus=key_modulus,
        vintage=vintage,
        where=filtered,
        weight=weight,
        frame_kind=opened.kind,
    )
    progress("tabulate", 2, 2)
    return replace(table, waiver_note=waiver_note, asked=Asked.of(records, question, engine))


def leaves_of(
    opened: Source,
    question: LeafQuestion,
    engine: Callable[[Source], AbstractContextManager[Engine]] | None,
) -> Leaves:
    """What an engine counts at leaf level; None: the engine that the records are in."""
    coordinates = () if opened.cells is None else (opened.cells.x, opened.cells.y)
    opened = spelled(opened, (*question.numbers, *coordinates), told=question.told)
    with (engine or engine_of(opened))(opened) as running:
        return running.leaves(question)


def _rows(leaves: Leaves) -> LeafRows:
    """What a total in the records would be the sum of: the values, or else the counts."""
    values = np.column_stack(tuple(leaves.sums.values()) or (leaves.count,))
    return LeafRows(
        tuple(Dimension(name, tree) for name, tree in leaves.by.items()),
        leaves.position,
        values,
        np.zeros(values.shape[1], dtype=np.int64),
    )


def engine_of(records: Source) -> Callable[[Source], AbstractContextManager[Engine]]:
    """The engine that the records are in, or else DuckDB."""
    if records.database is not None:
        return PostgresEngine
    return DuckDBEngine if records.spark is None else SparkEngine


def _check_places(places: Mapping[str, Any]) -> None:
    for name, decimals in places.items():
        if isinstance(decimals, bool) or not isinstance(decimals, int) or decimals < 0:
            raise InputError(f"decimals of {name!r} must be a whole number ≥ 0, not {decimals!r}")


def _check_names(dimensions: list[str], values: list[str]) -> None:
    twice = {n for n in [*dimensions, *values] if [*dimensions, *values].count(n) > 1}
    if twice:
        raise InputError(f"columns are used twice in by= and value=: {', '.join(sorted(twice))}")


def _check_weight(weight: str, decimals: int, places: Mapping[str, int], marked: bool) -> None:
    if not places:
        raise InputError(
            f"weight={weight!r} weights sums, and a table of counts has none; counts stay those of "
            "the sample. For a weighted count sum a column of ones: value="
        )
    if marked:
        raise InputError(
            "weight= cannot be combined with request= or waiver=: which of the equal contributors "
            "that a weight stands for asked or consented is not known; leave these out"
        )
    for name, own in places.items():
        if own + decimals > _MOST_DECIMALS:
            raise InputError(
                f"{name!r} has {own} {Count(own):decimal|decimals} and {weight!r} {decimals}; "
                f"weighted sums have both, and at most {_MOST_DECIMALS} are possible"
            )


def _check_listed(weight: str, contributions: bool) -> None:
    if contributions:
        raise InputError(
            f"contributions= cannot be combined with weight={weight!r}: in a sum of cells it is "
            "not known how often each contribution counts; leave one of the two out"
        )


# ── marks on records ──────────────────────────────────────────────────────────────────


Marking = str | Mapping[str, Any]


def record_marks(request: Marking | None, waiver: Marking | None) -> dict[str, Mark]:
    """The marks by the names that rules know them by.

    request: column of yes and no, or ``{column: code}``, or ``{column: [code, code]}`` for the
        first and the second level: the unit asked for protection.
    waiver: column of yes and no, or ``{column: code}`` or several codes: the unit consents.

    >>> list(record_marks({"asked": ["1", "2"]}, "consent"))
    ['request', 'request 2', 'no_waiver']
    """
    found: dict[str, Mark] = {}
    if request is not None:
        column, codes = _column("request", request)
        if codes is not None and len(codes) > 2:
            raise InputError(
                f"request=: {len(codes)} codes are given for column {column!r}; it takes one, or "
                "two for the first and the second level"
            )
        found["request"] = Mark(column, codes and codes[:1])
        if codes and len(codes) == 2:
            found["request 2"] = Mark(column, codes[1:])
    if waiver is not None:
        found["no_waiver"] = Mark(*_column("waiver", waiver), listed=False)
    return found


def _column(what: str, asked: Marking) -> tuple[str, tuple[str, ...] | None]:
    if isinstance(asked, str):
        return asked, None
    if not isinstance(asked, Mapping) or len(asked) != 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"{what}= must be a column, or {{column: code or codes}}, not {asked!r}")
    ((column, given),) = asked.items()
    listed: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
    codes = [as_code(code) for code in listed]
    if not codes or not all(codes) or len(set(codes)) < len(codes):
        raise InputError(
            f"{what}=: {given!r} are no codes for column {column!r}; give text or whole numbers, "
            "none twice"
        )
    return str(column), tuple(code for code in codes if code)
