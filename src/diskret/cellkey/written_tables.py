"""Perturbation tables that somebody wrote down: as lists, in files, by other offices; checked."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diskret.cellkey.intervals import Intervals, Row, check_not_below_zero, upper_bounds
from diskret.disk import own_file
from diskret.errors import InputError
from diskret.io import to_arrow
from diskret.io.arrays import from_list
from diskret.io.columns import column, scaled_integers, whole_numbers
from diskret.io.encoded import utf8_text
from diskret.texts.numbers import Count

#: A number as it is written: a floating point number means the shortest decimal that is read
#: as this number, so that 0.86 is 86/100.
Written = float | int | str | Decimal | Fraction
_UPPER = ("p_int_ub", "p_ij_ub")
_HEADER = ("i", "j", "p", "v", "p_int_ub", "type")

#: Decimals that noise may have.
_STEP_DIGITS = 6


def exact(number: Written) -> Fraction:
    """The number that was written."""
    try:
        return Fraction(repr(float(number)) if isinstance(number, float) else number)
    except (ValueError, OverflowError, TypeError):
        raise InputError(f"{number!r} is not a number; write 0.25, not 0,25") from None


def rows_of(rows: Sequence[Sequence[Written]]) -> list[list[Written]]:
    """The rows of a matrix that was written down, at least one."""
    try:
        found = [list(row) for row in rows if not isinstance(row, str)]
    except TypeError:
        found = []
    if not found or len(found) < len(rows):
        raise InputError("a matrix has one row or more, each a list of numbers: [[0.5, 0, 0.5]]")
    return found


def columns_of(
    width: int, noise: Sequence[int] | None, targets: Sequence[int] | None
) -> tuple[NDArray[np.int64], bool]:
    """What the columns of a matrix stand for, and whether these are targets."""
    if (noise is None) == (targets is None):
        raise InputError("say what the columns are: noise= or targets= (what a count becomes)")
    names = "targets" if noise is None else "noise"
    named = np.atleast_1d(from_list(targets if noise is None else noise, names, np.int64))
    if len(named) != width or (np.diff(named) <= 0).any():
        shown = ", ".join(str(n) for n in named)
        raise InputError(f"{width} columns need as many ascending names; these are {shown}")
    return named, targets is not None


def probabilities_of(
    rows: Sequence[Sequence[Written]],
    named: NDArray[np.int64],
    are_targets: bool,
    incomplete: bool,
    tolerance: float,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Noise values and probabilities of the rows of 0, 1, 2, …, after all checks."""
    matrix = [[exact(p) for p in row] for row in rows]
    noise = np.unique(np.append(named - np.arange(1, len(rows) + 1)[:, None], 0))
    noise = noise if are_targets else np.unique(np.append(named, 0))
    allowed = exact(tolerance)
    found = np.zeros((len(rows) + 1, len(noise)))
    found[0, noise == 0] = 1
    for count, row in enumerate(matrix, start=1):
        values = [int(v) for v in (named - count if are_targets else named)]
        total = _total(count, row, values, incomplete, allowed)
        if total == 1 or abs(total - 1) > allowed:
            total = Fraction(1)  # nothing to make up for, or a row known to be incomplete
        for value, p in zip(values, row, strict=True):
            found[count, np.searchsorted(noise, value)] = float(p / total)
    used = found.any(axis=0)
    return noise[used], found[:, used]


def of_cumulative(
    rows: Sequence[Sequence[Written]], noise: Sequence[int], modulus: int
) -> Intervals:
    """Intervals of the rows of 1, 2, … from their cumulative probabilities."""
    rows = rows_of(rows)
    named, _ = columns_of(len(rows[0]), noise, None)
    found = [(upper_bounds([Fraction(1)], modulus), np.zeros(1, dtype=np.int64))]
    for count, row in enumerate(rows, start=1):
        upper = [exact(p) for p in row]
        check_width(count, len(upper), len(named))
        if upper != sorted(upper) or upper[0] < 0 or upper[-1] != 1:
            raise InputError(f"cumulative probabilities must ascend to 1; not so in row {count}")
        bounds = upper_bounds(upper, modulus)
        check_not_below_zero(count, named[np.diff(bounds, prepend=np.uint64(0)) > 0])
        found.append((bounds, named))
    return Intervals.of(np.arange(len(found)), modulus, found)


def check_width(count: int, has: int, needed: int) -> None:
    """A row is as long as the others."""
    if has != needed:
        raise InputError(
            f"row {count} has {has} {Count(has):entry|entries}; there are {needed} columns"
        )


def _total(
    count: int, row: list[Fraction], values: list[int], incomplete: bool, allowed: Fraction
) -> Fraction:
    """Sum of a row that may be used."""
    check_width(count, len(row), len(values))
    if min(row) < 0:
        raise InputError(f"probabilities must not be negative; one of row {count} is")
    total = sum(row, Fraction(0))
    short = 1 - total > allowed
    if total - 1 > allowed or (short and not incomplete):
        remedy = "; if it was not printed in full, incomplete=True takes it as it is" * short
        raise InputError(
            f"probabilities must sum up to 1; those of row {count} sum up to {float(total):g}"
            + remedy
        )
    check_not_below_zero(count, np.array([v for v, p in zip(values, row, strict=True) if p]))
    mean = sum((v * p for v, p in zip(values, row, strict=True)), Fraction(0))
    if not short and abs(mean) > allowed:
        raise InputError(
            f"noise must have the mean 0; that of row {count} is {float(mean):g}, which would bias "
            "what is published; correct the row, or raise tolerance= if its numbers are rounded"
        )
    return total


@dataclass(frozen=True)
class _Line:
    """One interval of a file."""

    count: int
    noise: Fraction
    upper: Fraction
    kind: str


def read_intervals(path: str | PathLike[str], modulus: int, kind: str | None) -> Intervals:
    """Read intervals from a file, in its order; see `Lookup.read`."""
    file = Path(path)
    lines = _of_kind(file, _lines(file), kind)
    step = lcm(*(line.noise.denominator for line in lines))
    rows: dict[int, list[_Line]] = {}
    for line in lines:
        rows.setdefault(line.count, []).append(line)
    found: list[Row] = []
    counts = sorted({0, *rows})
    for count in counts:
        row = rows.get(count, [_Line(0, Fraction(0), Fraction(1), "")])
        upper = [line.upper for line in row]
        if upper != sorted(upper) or upper[0] < 0 or upper[-1] != 1:
            raise InputError(
                f"{file}: upper bounds must ascend to 1 in every row; they do not in row {count}"
            )
        noise = np.array([int(line.noise * step) for line in row], dtype=np.int64)
        check_not_below_zero(count, noise, step)
        found.append((upper_bounds(upper, modulus), noise))
    return Intervals.of(np.array(counts), modulus, found, step)


def write_intervals(lookup: Intervals, path: str | PathLike[str], kind: str) -> None:
    """Write intervals into a file that only its owner may read; see `Lookup.write`."""
    if lookup.reuse > 1:
        raise InputError(
            "this layout has no rows that are reused in turn, only a last one for all larger counts"
        )
    if 10**_STEP_DIGITS % lookup.step:
        raise InputError(f"noise in steps of 1/{lookup.step} cannot be written as decimals")
    # rounded down with as many digits as the modulus has, bounds come back as they were
    digits = max(len(str(lookup.modulus)), _STEP_DIGITS)
    with os.fdopen(own_file(Path(path)), "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";", lineterminator="\n")
        writer.writerow(_HEADER)
        for count, bounds, noise in zip(lookup.counts, lookup.bounds, lookup.noise, strict=True):
            lower = 0
            for bound, value in zip(bounds, noise, strict=True):
                if int(bound) > lower:
                    shift = Fraction(int(value), lookup.step)
                    share = Fraction(int(bound) - lower, lookup.modulus)
                    upper = Fraction(int(bound), lookup.modulus)
                    numbers = (Fraction(int(count)), count + shift, share, shift, upper)
                    writer.writerow([*(_decimal(number, digits) for number in numbers), kind])
                lower = int(bound)


def _lines(file: Path) -> list[_Line]:
    reader = csv.DictReader(utf8_text(file).splitlines(), delimiter=";")
    header = reader.fieldnames or ()
    bound = next((name for name in _UPPER if name in header), None)
    if bound is None or not {"i", "v"} <= set(header):
        raise InputError(
            f"{file}: the first line must name the columns i, v and p_int_ub, separated by "
            f"semicolons; it names {', '.join(header) or 'nothing'}"
        )
    found: list[_Line] = []
    for number, line in enumerate(reader, start=2):
        try:
            count, noise, upper = (exact(line[name] or "") for name in ("i", "v", bound))
            target = exact(line.get("j") or str(line["i"])) if "j" in header else count + noise
        except InputError as error:
            raise InputError(f"{file}, line {number}: {error}") from None
        if count.denominator != 1 or count < 0 or target != count + noise:
            raise InputError(
                f"{file}, line {number}: i must be a whole number of at least 0, and j must be "
                "i + v"
            )
        found.append(_Line(int(count), noise, upper, line.get("type") or ""))
    if not found:
        raise InputError(f"{file}: holds no intervals")
    return found


def _of_kind(file: Path, lines: list[_Line], kind: str | None) -> list[_Line]:
    kinds = sorted({line.kind for line in lines})
    if kind is None and len(kinds) > 1:
        raise InputError(f"{file}: holds the types {', '.join(kinds)}; say which with kind=")
    chosen = [line for line in lines if kind is None or line.kind == kind]
    if not chosen:
        raise InputError(f"{file}: holds no type {kind!r}, only {', '.join(kinds)}")
    return chosen


def _decimal(number: Fraction, digits: int) -> str:
    """A number with so many decimals at most, rounded down."""
    scaled = abs(number.numerator) * 10**digits // number.denominator
    whole, rest = divmod(scaled, 10**digits)
    text = f"{whole}.{rest:0{digits}d}".rstrip("0").rstrip(".")
    return f"-{text}" if number < 0 else text


def of_ons(table: Any, reuse: int, modulus: int | None) -> Intervals:
    """The intervals of a table with the columns ``pcv``, ``ckey`` and ``pvalue``."""
    records, _ = to_arrow(table)
    count = whole_numbers(column(records, "pcv"), "pcv")
    key = whole_numbers(column(records, "ckey"), "ckey")
    value = scaled_integers(column(records, "pvalue"), "pvalue", 0)
    if not len(count):
        raise InputError("the table holds no rows")
    keys = modulus or int(key.max()) + 1
    rows = int(count.max())
    place = (count - 1) * keys + key
    right = (count > 0) & (key < keys)
    times = np.bincount(place[right], minlength=rows * keys)
    wrong = np.flatnonzero(times != 1)
    if len(wrong) or not right.all():
        shown = ", ".join(f"pcv {w // keys + 1} with ckey {w % keys}" for w in wrong[:5])
        number = Count(len(wrong))
        raise InputError(
            f"every pcv from 1 to {rows:,} needs every ckey from 0 to {keys - 1:,} once; {number} "
            f"{number:combination is|combinations are} missing or there twice ({shown}), and "
            f"{int((~right).sum()):,} rows lie outside"
        )
    noise = np.empty(rows * keys, dtype=np.int64)
    noise[place] = value
    return _of_slots(noise.reshape(rows, keys), keys, reuse)


def of_abs(matrix: ArrayLike, modulus: int, reuse: int) -> Intervals:
    """The intervals of a matrix with a row for each value of the key's leading bits."""
    given = np.asarray(matrix)
    if given.ndim != 2 or not given.size or not np.issubdtype(given.dtype, np.number):
        raise InputError(
            "the matrix needs a row for each value of the key's leading bits (256) and a column "
            f"for each of the counts 1, 2, …; it is of shape {given.shape}"
        )
    noise = given.astype(np.int64)
    if (noise != given).any():
        number = Count((noise != given).sum())
        raise InputError(f"{number} {number:entry is no whole number|entries are no whole numbers}")
    if modulus % len(noise):
        raise InputError(
            f"{len(noise)} rows do not divide the modulus of the cell keys, {modulus:,}; 256 rows "
            "go with 32-bit keys"
        )
    return _of_slots(np.ascontiguousarray(noise.T), modulus, reuse)


def _of_slots(noise: NDArray[np.int64], modulus: int, reuse: int) -> Intervals:
    """Neighbouring keys with the same noise make an interval; `noise` has a row for each count."""
    slots = noise.shape[1]
    ends = (np.arange(1, slots + 1) * (modulus // slots)).astype(np.uint64)
    found: list[Row] = [(ends[-1:], np.zeros(1, dtype=np.int64))]
    for count, row in enumerate(noise, start=1):
        check_not_below_zero(count, row)
        last = np.append(np.flatnonzero(np.diff(row)), slots - 1)
        found.append((ends[last], row[last]))
    return Intervals.of(np.arange(len(found)), modulus, found, reuse=reuse)
