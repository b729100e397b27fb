"""The columns of a file, and what each of them may be good for: a guess that a person corrects."""

from __future__ import annotations

import re
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from diskret.io import DataFile, to_arrow
from diskret.io.kinds import is_number, is_text

Role = Literal["dimension", "value", "unit", "holding", "weight", ""]

#: Codes of a column that is offered for a table, at most.
_CODES = 5_000
#: Dimensions that are proposed, and the cells they may have together.
_DIMENSIONS, _CELLS = 3, 200_000
#: Records that are looked at to tell whether texts are numbers.
_LOOKED_AT = 1_000
_EXAMPLES = 3

_NAMES: dict[Role, re.Pattern[str]] = {
    "weight": re.compile(r"weight|gewicht|hochrechn", re.IGNORECASE),
    "holding": re.compile(r"group|holding|konzern|gruppe", re.IGNORECASE),
    "unit": re.compile(r"(^|_)id($|_)|nr$|nummer|number$|firm|person|unit|einheit", re.IGNORECASE),
}


def columns_of(file: DataFile) -> dict[str, Any]:
    """What is in a file: number of records, and each column with a proposal for its role.

    Nothing of it decides anything: a job says which columns are used for what.
    """
    table = to_arrow(file)[0]
    found = [_column(name, table.column(name)) for name in table.column_names]
    _propose(found, table.num_rows)
    return {"records": table.num_rows, "columns": found}


def _column(name: str, values: pa.ChunkedArray) -> dict[str, Any]:
    codes = int(pc.count_distinct(values, mode="only_valid").as_py())
    shown = pc.unique(values.slice(0, _LOOKED_AT).drop_null()).slice(0, _EXAMPLES)
    return {
        "name": name,
        "numeric": _is_numeric(values),
        "decimals": _decimals(values),
        "codes": codes,
        "missing": values.null_count,
        "examples": [str(one) for one in shown.to_pylist()],
        "role": "",
    }


def _is_numeric(values: pa.ChunkedArray) -> bool:
    kind = values.type
    if is_number(kind) or pa.types.is_decimal(kind):
        return True
    if not is_text(kind):
        return False
    first = values.slice(0, _LOOKED_AT).drop_null()
    # 01 is a code and no number
    number = pc.match_substring_regex(first, r"^\s*-?(0|[1-9]\d*)([.,]\d+)?\s*$")
    return len(first) > 0 and bool(pc.all(number).as_py())


def _decimals(values: pa.ChunkedArray) -> int:
    """Decimals of the numbers that are looked at."""
    first = [str(one) for one in values.slice(0, _LOOKED_AT).drop_null().to_pylist()]
    after = [re.fullmatch(r"-?\d+[.,](\d*?)0*", text) for text in first]
    return min(max((len(one[1]) for one in after if one), default=0), 12)


def _propose(columns: list[dict[str, Any]], records: int) -> None:
    """Give a role to columns whose content and name speak for it."""
    free = [one for one in columns if one["codes"] > 1]
    many = [one for one in free if not _is_value(one, records) and one["codes"] > records / 2]
    for role in ("weight", "holding", "unit"):
        named = [one for one in free if not one["role"] and _NAMES[role].search(one["name"])]
        fitting = {
            "weight": [one for one in named if one["numeric"]],
            # most units belong to no holding, or there are many
            "holding": [one for one in named if one["missing"] > records / 4 or one in many],
            "unit": many,
        }
        chosen = [one for one in named if one in fitting[role]]
        if chosen:
            chosen[0]["role"] = role
    values = [one for one in free if not one["role"] and _is_value(one, records)]
    if values:  # sums of money stand behind counts of heads, as a rule
        max(values, key=lambda one: one["codes"])["role"] = "value"
    cells = 1
    for one in [one for one in free if not one["role"] and one["codes"] <= _CODES]:
        used = sum(other["role"] == "dimension" for other in columns)
        if one in values or used == _DIMENSIONS or cells * (one["codes"] + 1) > _CELLS:
            continue
        one["role"] = "dimension"
        cells *= one["codes"] + 1


def _is_value(column: dict[str, Any], records: int) -> bool:
    named = any(pattern.search(column["name"]) for pattern in _NAMES.values())
    return column["numeric"] and not named and column["codes"] > min(50, records / 4)
