"""Tables in files: counts below the threshold, and tables that are records."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from diskret.outputs.files.looked_at import Found
from diskret.outputs.profile import Profile

#: Columns of these names hold counts, whatever else is said.
COUNTS = (
    "n", "count", "counts", "freq", "frequency", "frequencies", "len", "size", "null_count",
    "anzahl", "häufigkeit", "haeufigkeit", "fallzahl",
)  # fmt: skip
#: Names of columns that single out persons or firms.
_IDENTIFIERS = re.compile(
    r"(^|[_ .-])(id|ids|uuid|guid|name|vorname|nachname|surname|e-?mail|phone|telefon|iban|"
    r"address|adresse|strasse|straße|street|birthday|geburtsdatum|birthdate|nr|kennung|"
    r"steuernummer|taxid|firm_id|person_id|lfdnr)$",
    re.IGNORECASE,
)
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.\w+")
_CODE = re.compile(r"0\d+")  # with leading zeros
_SPELLED = re.compile(
    r"[-+(]?\d[\d.,'\s]*[^\w\s-]{0,3}|[-+(]?[\d.,'\s]+ ?(%|€|\$|£|EUR|k|m|Mio\.?)"
)
_MANY = 1_000  # rows; published tables are seldom longer


@dataclass(frozen=True)
class Said:
    """What is known of a table in a file.

    Parameters
    ----------
    counts
        Columns that hold counts of units; ``"all"``: all columns of numbers do.
    labels
        Columns of numbers that are categories, such as years.
    """

    counts: Sequence[str] | Literal["all"] = ()
    labels: Sequence[str] = ()


def look(
    columns: Mapping[str, Sequence[Any]], said: Said, profile: Profile, place: tuple[str, ...] = ()
) -> list[Found]:
    """What a table shows.

    Parameters
    ----------
    columns
        Column → its values; None where there is none.
    said
        What is known of it.
    profile
        The rules.
    place
        Where the table is in the file.
    """
    rows = max(map(len, columns.values()), default=0)
    found: list[Found] = []
    identifiers = [name for name, values in columns.items() if _identifies(name, values)]
    if identifiers:
        found.append(Found("microdata", [(*place, name) for name in identifiers]))
    if rows > _MANY:
        found.append(Found("many_rows", [place] if place else [], {"rows": rows}))
    few: list[tuple[str, ...]] = []
    zero: list[tuple[str, ...]] = []
    others: list[tuple[str, ...]] = []
    counted = 0
    for name, values in columns.items():
        numbers = [_number(value) for value in values]
        like = [at for at, value in enumerate(values) if numbers[at] is None and _like(value)]
        if name in said.labels or (not like and not any(one is not None for one in numbers)):
            continue
        split = any(one is not None and one % 1 for one in numbers)
        if like or split or not _counts(name, said):
            others.append((*place, name))
            continue
        counted += 1
        for row, one in enumerate(numbers):
            where = (*place, name, *_row(columns, said, row))
            if one is not None and 0 < one < profile.threshold:
                few.append(where)
            elif one == 0:
                zero.append(where)
    if few:
        found.append(Found("threshold", few, {"threshold": profile.threshold}))
    if zero:
        found.append(Found("zero", zero))
    if others or not counted:  # texts alone may be anything
        found.append(Found("unknown", others))
    return found


def columns_of(rows: Sequence[Sequence[Any]], heads: int) -> dict[str, list[Any]] | None:
    """Columns by the names in the first rows.

    `heads`: how many rows are names; those of several rows are joined. None: rows differ in
    length, there are none, or one of several names is a number, which may be a value.
    """
    if not rows or len({len(row) for row in rows}) != 1:
        return None
    if heads > 1 and any(_number(one) is not None for row in rows[:heads] for one in row):
        return None
    columns: dict[str, list[Any]] = {}
    for at in range(len(rows[0])):
        names = [str(row[at]).strip() for row in rows[:heads]]
        own = ", ".join(dict.fromkeys(one for one in names if one)) or f"{at + 1}"
        own = own if own not in columns else f"{own} ({at + 1})"
        columns[own] = [None if row[at] == "" else row[at] for row in rows[heads:]]
        if names and all(_number(one) is not None for one in names):  # a table without a head
            columns[own] = [*names, *columns[own]]
    return columns


def _row(columns: Mapping[str, Sequence[Any]], said: Said, row: int) -> tuple[str, ...]:
    """What a row is called: by its texts, or by its number where it has none."""
    values = {name: values[row] for name, values in columns.items() if row < len(values)}
    texts = [
        str(value).strip()
        for name, value in values.items()
        if value is not None and (name in said.labels or _number(value) is None)
    ]
    return tuple(text for text in texts if text) or (str(row + 1),)


def _identifies(name: str, values: Sequence[Any]) -> bool:
    """Whether a column is called like an identifier and has no value twice, or holds addresses."""
    known = [value for value in values if value not in (None, "")]
    if any(isinstance(one, str) and _MAIL.fullmatch(one.strip()) for one in known[:_MANY]):
        return True
    if not _IDENTIFIERS.search(name) or name.lower() in COUNTS:
        return False
    return len(known) > 1 and len({str(one) for one in known}) == len(known)


def _counts(name: str, said: Said) -> bool:
    if said.counts == "all":
        return True
    return name in said.counts or name.strip().lower() in COUNTS


def _number(value: Any) -> float | None:
    """A value as a number, also one that is written as text."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return None if value != value else float(value)
    text = str(value).strip()
    if _CODE.fullmatch(text):
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _like(value: Any) -> bool:
    """Whether a text may be a number in another spelling, such as 1.234,5 or 4*."""
    text = value.strip() if isinstance(value, str) else ""
    return _SPELLED.fullmatch(text) is not None and _CODE.fullmatch(text) is None
