"""Columns of a frame as the rest of the system wants them: code texts, numbers, bytes."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io.kinds import is_text
from diskret.io.record_errors import Place, RecordError
from diskret.texts.numbers import Count

_EXAMPLES = 5
#: Beyond it, squares of numbers and their sums have no end.
_LARGEST = 1e100
#: Stands at the beginning of files; Python takes it for a letter.
_MARK = "\ufeff"
#: A number with a point and three digits behind it, which may be one of thousands.
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}\.\d{3}\s*")
#: What to do about it.
OF_THOUSANDS = (
    'if the point stands between thousands, say so: thousands="." and decimal="," of the file; '
    "else state decimals=3, or round them first"
)
#: What to do about numbers in a file as most of Europe writes them.
AS_THE_FILE_DOES = 'or say how the file writes them: DataFile(path, decimal=",", thousands=".")'


def column(table: pa.Table, name: str) -> pa.ChunkedArray:
    """A column by name."""
    found = table.schema.get_all_field_indices(name)
    if len(found) == 1:
        return table.column(found[0])
    if found:
        has = ", ".join(map(repr, table.column_names))
        raise RecordError(
            lambda _: f"there is more than one column {name!r}; the columns are {has}"
        )
    raise no_column(name, table.column_names)


def no_column(name: str, columns: Sequence[str]) -> RecordError:
    """The error about a column that is not among those there are.

    >>> str(no_column("regoin", ["region", "sales"]))
    "there is no column 'regoin'; the columns are 'region', 'sales'; did you mean 'region'?"
    """
    return RecordError(
        lambda place: (
            f"there is no column {name!r}; the columns are {', '.join(map(repr, columns))}"
            f"{looked_for(name, columns, place)}"
        ),
        missing=name,
    )


def looked_for(name: str, columns: Sequence[str], place: Place) -> str:
    """Where a column may be that is not there: under a similar name, on another sheet.

    >>> looked_for("regoin", ["region", "sales"], Place())
    "; did you mean 'region'?"
    """
    near = get_close_matches(str(name), columns, 1, 0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    if not place.beside:
        return hint
    return f"{hint}; other sheets: {', '.join(map(repr, place.beside))}; choose one by sheet="


def code_text(values: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Codes as text without padding; leading zeros stay."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_floating(values.type):
        raise RecordError(
            lambda _: (
                f"the codes in {name!r} are floating point numbers, which have no unique spelling "
                "as text; turn them into text or whole numbers first"
            )
        )
    text = pc.utf8_trim_whitespace(values.cast(pa.string()))
    missing = pc.fill_null(pc.equal(text, ""), True)
    if pc.any(missing).as_py():
        rows = np.flatnonzero(missing.to_numpy())
        number = Count(len(rows))
        raise RecordError(
            lambda place: (
                f"{number} {number:code|codes} in {name!r} {number:is|are} missing (first in "
                f"{place.named(rows[0])}); give them a category of their own or leave these rows "
                "out"
            )
        )
    return text


def whole_numbers(values: pa.ChunkedArray, name: str) -> NDArray[np.int64]:
    """Whole numbers ≥ 0, e.g. counts of contributors."""
    numbers = scaled_integers(values, name, 0)
    negative = np.flatnonzero(numbers < 0)
    if len(negative):
        raise RecordError(
            lambda place: f"{name!r} must not be negative; it is in {place.named(negative[0])}"
        )
    return numbers


def scaled_integers(
    values: pa.ChunkedArray, name: str, decimals: int, round_values: bool = False
) -> NDArray[np.int64]:
    """Exact values as integers in units of 10**-decimals.

    With `round_values` those with more decimals become the nearest, half a unit upwards.
    """
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if values.null_count:
        rows = np.flatnonzero(values.is_null().to_numpy())
        number = Count(len(rows))
        raise RecordError(
            lambda place: (
                f"{number} {number:value|values} in {name!r} {number:is|are} missing (first in "
                f"{place.named(rows[0])}); fill {number:it|them} in or leave these rows out"
            )
        )
    if pa.types.is_floating(values.type):
        return _from_floats(values, name, decimals, round_values)
    if is_text(values.type):
        values = pc.utf8_trim_whitespace(values.cast(pa.string()))
        if decimals < 3 and not round_values:
            _refuse_thousands(values, name)
    try:
        if round_values and not pa.types.is_integer(values.type):
            values = pc.round(values.cast(pa.decimal128(38, 18)), decimals, "half_up")
        exact = values.cast(pa.decimal128(38, decimals))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _refused(values, name, decimals) from None
    low, high = _halves(exact)
    beyond = np.flatnonzero(high != low >> 63)
    if len(beyond):
        number = Count(len(beyond))
        raise RecordError(
            lambda place: (
                f"{number} {number:value|values} in {name!r} {number:leaves|leave} the range of "
                f"64-bit integers (first in {place.named(beyond[0])}); correct {number:it|them}, "
                "or publish fewer decimals"
            )
        )
    return low


def _refuse_thousands(text: pa.ChunkedArray, name: str) -> None:
    """2.000 may be two or two thousand; 1.234 is refused as a fraction anyway."""
    doubtful = np.flatnonzero(pc.match_substring_regex(text, r"^[+-]?[1-9][0-9]{0,2}\.000$"))
    if len(doubtful):
        number = Count(len(doubtful))
        raise RecordError(
            lambda place: (
                f"{number} {number:value|values} in {name!r} may be thousands (first in "
                f"{place.named(doubtful[0])}: {text[int(doubtful[0])].as_py()}); {OF_THOUSANDS}"
            )
        )


def _from_floats(
    values: pa.ChunkedArray, name: str, decimals: int, round_values: bool
) -> NDArray[np.int64]:
    floats = values.to_numpy().astype(np.float64)
    scaled = floats * 10.0**decimals
    whole = np.rint(scaled)
    if round_values:
        whole = np.floor(scaled)
        whole += scaled - whole >= 0.5
    with np.errstate(invalid="ignore"):
        # a decimal fraction has no exact binary form: allow for its rounding, no more
        near = np.abs(scaled - whole) <= 1e-6 + 4e-16 * np.abs(scaled)
    wrong = ~((near | round_values) & (np.abs(scaled) < 2.0**62))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        number = Count(wrong.sum())
        raise RecordError(
            lambda place: (
                f"{number} {number:value|values} in {name!r} "
                f"{number:is no finite number|are not finite numbers} with at most {decimals} "
                f"decimals, the first in {place.named(row)}: {float(floats[row])!r}; "
                f"{decimals_advice(floats[wrong][:_EXAMPLES].tolist(), decimals)}"
            )
        )
    return whole.astype(np.int64)


def decimals_advice(values: Iterable[object], decimals: int) -> str:
    """What to do about values with more than so many decimals, as far as it can be told.

    A decimal fraction that went through a binary float may have been written with 17 digits: of
    2305598.5354999998 four decimals were meant.

    Examples
    --------
    >>> decimals_advice(["1.25", "0.5"], 0)
    'state decimals=2, or round them first'
    >>> decimals_advice(["2305598.5354999998"], 4)
    'they look like numbers with 4 decimals that went through binary floating point: state \
decimals=4 and round_values=True'
    >>> decimals_advice(["1.234", "20.500"], 0)
    'if the point stands between thousands, say so: thousands="." and decimal="," of the file; \
else state decimals=3, or round them first'
    """
    values = list(values)
    if values and all(isinstance(value, str) and _THOUSANDS.fullmatch(value) for value in values):
        return OF_THOUSANDS
    meant, written = 0, 0
    for value in values:
        try:
            number = Decimal(str(value).strip())
            exponent = number.as_tuple().exponent
        except InvalidOperation:
            return "state decimals=, or round them first"
        if not isinstance(exponent, int):
            return "leave these records out, or correct them"
        noise = Decimal("4e-16") * abs(number)
        places = range(max(-exponent, 0))
        least = next((d for d in places if abs(number - round(number, d)) <= noise), len(places))
        meant = max(meant, least)
        # the noise of a float itself is allowed for, that of its text is not
        written = max(written, least if isinstance(value, float) else len(places))
    said = "" if meant <= decimals else f"state decimals={meant}, or round them first"
    if written <= meant:
        return said or "state decimals=, or round them first"
    noisy = (
        f"they look like numbers with {meant} {Count(meant):decimal|decimals} that went through "
        f"binary floating point: state decimals={max(meant, decimals)} and round_values=True"
    )
    return noisy


def _halves(exact: pa.ChunkedArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    parts = [np.empty((0, 2), dtype=np.int64)]
    for chunk in exact.chunks:
        words = np.frombuffer(chunk.buffers()[1], dtype="<i8").reshape(-1, 2)
        parts.append(words[chunk.offset : chunk.offset + len(chunk)])
    both = np.concatenate(parts)
    return both[:, 0].copy(), both[:, 1].copy()


def _refused(values: pa.ChunkedArray, name: str, decimals: int) -> RecordError:
    bad: dict[int, object] = {}
    for row, value in enumerate(values.to_pylist()):
        if not _fits(value, decimals):
            bad[row] = value
            if len(bad) == _EXAMPLES:
                break
    are_numbers = all(map(_is_number, bad.values()))
    advice = f"{decimals_advice(bad.values(), decimals)}; " if are_numbers else ""

    return RecordError(
        lambda place: (
            f"values in {name!r} are not numbers with at most {decimals} decimals "
            f"({_listed(place, bad) or values.type}); {advice}write 1234.5, not 1.234,5, "
            f"{AS_THE_FILE_DOES}"
        )
    )


def _listed(place: Place, found: Mapping[int, object]) -> str:
    return ", ".join(f"{place.named(row)}: {value!r}" for row, value in found.items())


def _is_number(value: object) -> bool:
    try:
        return Decimal(str(value)).is_finite()
    except InvalidOperation:
        return False


def _fits(value: Any, decimals: int) -> bool:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return False
    exponent = number.as_tuple().exponent
    return isinstance(exponent, int) and (
        -exponent <= decimals or number == round(number, decimals)
    )


def numbers(values: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    """A column as numbers, ``(n,)``; NaN where a value is missing.

    >>> numbers(pa.chunked_array([[1, None, 3]]), "income").tolist()
    [1.0, nan, 3.0]
    """
    try:
        cast = values.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _no_numbers(values, name) from None
    found = cast.to_numpy().astype(np.float64)
    endless = np.flatnonzero(np.abs(found) > _LARGEST)
    if len(endless):
        number = Count(len(endless))
        raise RecordError(
            lambda place: (
                f"{number} {number:value|values} in {name!r} {number:is|are} infinite or beyond "
                f"10^100 (first in {place.named(endless[0])}); correct "
                f"{number:it or leave it|them or leave them} missing"
            )
        )
    return found


def _no_numbers(values: pa.ChunkedArray, name: str) -> RecordError:
    """Which values are no numbers; of types that are none, the type."""
    bad = no_numbers(values)

    return RecordError(
        lambda place: (
            f"the values in {name!r} are not numbers ({_listed(place, bad) or values.type}); "
            f"correct them or leave them missing, {AS_THE_FILE_DOES}"
        )
    )


def no_numbers(values: pa.ChunkedArray) -> dict[int, str]:
    """The first texts in a column that are no numbers, by their position.

    >>> no_numbers(pa.chunked_array([["1", None, "two"]]))
    {2: 'two'}
    """
    if not is_text(values.type):
        return {}
    wrong = [value for value in pc.unique(values).to_pylist() if not _casts(value)]
    there = pc.is_in(values, pa.array(wrong, values.type)).to_numpy()
    return {int(row): values[int(row)].as_py() for row in np.flatnonzero(there)[:_EXAMPLES]}


def _casts(text: str | None) -> bool:
    try:
        pa.array([text], pa.string()).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


# ── as bytes, for keyed marks and secret draws that repeat exactly ──────────────────


def content(table: pa.Table) -> Iterator[bytes]:
    """Names, and values as text with their lengths and gaps; the same for any way of storage."""
    for name in table.column_names:
        text = table.column(name).cast(pa.large_string()).combine_chunks()
        if isinstance(text, pa.ChunkedArray):  # what combining gives depends on the release
            text = pa.concat_arrays(text.chunks) if text.num_chunks else pa.array([], text.type)
        yield name.encode()
        yield np.packbits(text.is_null().to_numpy(zero_copy_only=False)).tobytes()
        filled = pc.fill_null(text, "")
        yield pc.binary_length(filled).to_numpy().astype("<i8").tobytes()
        yield _letters(filled)


def _letters(text: pa.LargeStringArray) -> bytes:
    _, edges, letters = text.buffers()
    if letters is None or not len(text):
        return b""
    at = np.frombuffer(edges, dtype="<i8")[text.offset : text.offset + len(text) + 1]
    return memoryview(letters)[at[0] : at[-1]].tobytes()


# ── their names ───────────────────────────────────────────────────────────────────────


def check_names(names: Iterable[Any], where: str = "") -> None:
    """Refuse names that are not text, not unique or begin unseen; `where` begins the message."""
    listed = list(names)
    others = [name for name in listed if not isinstance(name, str)]
    if others:
        raise InputError(
            f"{where}column names must be text; {some('column', others)} "
            f"({type(others[0]).__name__}) must be renamed"
        )
    marked = [at for at, name in enumerate(listed, 1) if name.startswith(_MARK)]
    if marked:
        name = listed[marked[0] - 1].removeprefix(_MARK)
        raise InputError(
            f"{where}the name of column {marked[0]}, {name!r}, begins with a byte order mark "
            "(BOM), which nobody sees; rename the column. Where Python reads a file, "
            "encoding='utf-8-sig' leaves the mark out"
        )
    twice = [name for name, count in Counter(listed).items() if count > 1]
    if twice:
        raise InputError(
            f"{where}column names must be unique; {some('column', twice)} occurs more than once"
        )


def once(names: Iterable[str], parameter: str) -> tuple[str, ...]:
    """Names of columns that a parameter gives; refused where one is there twice."""
    listed = tuple(names)
    twice = [name for at, name in enumerate(listed) if name in listed[:at]]
    if twice:
        raise InputError(f"{parameter}= names {some('column', twice)} twice")
    return listed


def some(noun: str, items: list[Any]) -> str:
    """Name the first of some things and count the rest, e.g. "column 'a' (and 3 more)"."""
    if len(items) == 1:
        return f"{noun} {items[0]!r}"
    return f"{noun} {items[0]!r} (and {len(items) - 1:,} more)"
