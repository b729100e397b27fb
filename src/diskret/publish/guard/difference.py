"""The difference to the last delivery before it leaves: nothing but what both tables show.

It is compared here in a way of its own, by joining the cells that stand in the public files.
"""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from diskret.errors import InputError
from diskret.io.files import read_plain_parquet
from diskret.io.from_json import read_json
from diskret.publish.difference import PREVIOUS, difference_outline, read_outline
from diskret.publish.guard.own_workbook import columns_workbook
from diskret.publish.read import Releases
from diskret.tables import Difference, Published
from diskret.tables.cells import STATUS
from diskret.tables.difference import ABSENT, SIDES, counted, difference_columns
from diskret.tables.public_files import public_cells
from diskret.tables.read_public import read_text
from diskret.tables.side_by_side import exact_columns
from diskret.texts.numbers import Count

#: Digits that any value has room in, whatever decimals the other table has.
_DIGITS = 76
_NUMBER = r"\A-?[0-9]{1,19}(\.[0-9]{1,18})?\z"


def difference_problems(folder: Path, difference: Difference, releases: Releases) -> Iterator[str]:
    """What is wrong with the files of a difference to the last delivery.

    Of `difference` only the two tables are used, not what it computed, but for the order of rows.
    """
    path = folder / f"{difference.name}.csv"
    outline = folder / f"{difference.name}{PREVIOUS}"
    try:
        if read_json(outline) != difference_outline(difference, releases):
            yield f"{outline.name} does not say how the file beside it is made"
        shown = read_text(path, difference_columns(difference.now))
    except InputError as error:
        yield str(error)
        return
    codes = [d.name for d in difference.now.dimensions]
    order = [(name, "ascending") for name in codes]
    expected = _compared(difference.now, difference.previous, codes).sort_by(order)
    if not shown.sort_by(order).equals(expected):
        yield f"{path.name} does not hold the difference between what the two deliveries show"
    elif not shown.equals(difference.text):
        yield f"{path.name} does not hold its rows in the order of the table"
    yield from _parquet(path.with_suffix(".parquet"), shown, difference.decimals)
    yield from columns_workbook(path.with_suffix(".xlsx"), shown, difference.decimals)


def said_problems(folder: Path, table: Published, said: Any) -> Iterator[str]:
    """What is wrong with what a certificate says of the difference of its table: name and counts.

    `said` is that part of the certificate, or None. The side of the difference that is about this
    table must show what the table shows, also for those who do not have the last delivery.
    """
    try:
        outlines = {path: read_outline(path) for path in sorted(folder.glob(f"*{PREVIOUS}"))}
        own = [of["name"] for of in outlines.values() if of["table"] == table.name]
        if own != ([] if said is None else [said.get("name")]):
            yield f"the certificate of {table.name} does not name its difference ({own})"
        elif own:
            path = folder / f"{own[0]}.csv"
            shown = read_text(path, difference_columns(table))
            if said != {"name": own[0], **counted(shown)}:
                yield f"the certificate of {table.name} counts other changes than {path.name} shows"
            yield from _of_table(path, shown, table)
            yield from _of_last(path, shown)
            yield from _parquet(path.with_suffix(".parquet"), shown, decimals_in(shown, table))
    except InputError as error:
        yield str(error)


def _of_table(path: Path, shown: pa.Table, table: Published) -> Iterator[str]:
    """Whether what is said of now is what the table shows."""
    there = shown.filter(pc.not_equal(shown["now_status"], ABSENT))
    cells = _side(table, "now")
    found = there.select(cells.column_names).join(cells, cells.column_names, join_type="inner")
    if found.num_rows != there.num_rows:
        yield f"{path.name} shows other values than {table.name}.csv"


def _of_last(path: Path, shown: pa.Table) -> Iterator[str]:
    """Whether what is said of the last delivery has a known status, and a number where it may."""
    status, value = shown["previous_status"], shown["previous"]
    known = pc.is_in(status, value_set=pa.array([*STATUS, ABSENT]))
    blank = pc.is_in(status, value_set=pa.array(["suppressed", ABSENT]))
    fits = pc.if_else(blank, pc.equal(value, ""), pc.match_substring_regex(value, _NUMBER))
    wrong = shown.num_rows - int(pc.sum(pc.and_(known, fits)).as_py() or 0)
    if wrong:
        yield (
            f"{path.name} holds {wrong:,} {Count(wrong):row|rows} that no delivery can have shown"
        )


def decimals_in(shown: pa.Table, table: Published) -> dict[str, int]:
    """The decimals of the values in a difference of a table, as the texts have them."""
    there = shown["previous"].filter(pc.not_equal(shown["previous"], ""))
    if not len(there):
        return {"now": table.decimals}
    return {"previous": len(there[0].as_py().partition(".")[2]), "now": table.decimals}


def _compared(now: Published, before: Published, codes: list[str]) -> pa.Table:
    """The rows of the difference in any order, by joining the cells of the public files."""
    both = _side(before, "previous").join(_side(now, "now"), codes, join_type="full outer")
    for side in SIDES:
        for name, missing in ((side, ""), (f"{side}_status", ABSENT)):
            at = both.column_names.index(name)
            both = both.set_column(at, name, pc.fill_null(both[name], missing))
    exact = pa.decimal256(_DIGITS, max(now.decimals, before.decimals))
    number = {
        side: pc.if_else(pc.equal(both[side], ""), None, both[side]).cast(exact) for side in SIDES
    }
    same = pc.fill_null(pc.equal(number["previous"], number["now"]), True)
    alike = pc.and_(pc.equal(both["previous_status"], both["now_status"]), same)
    return both.filter(pc.invert(alike)).select(difference_columns(now)).combine_chunks()


def _side(table: Published, side: str) -> pa.Table:
    """Codes, value and status as they stand in the CSV of a table, named as in a difference."""
    cells = public_cells(table)
    codes = {d.name: cells[d.name] for d in table.dimensions}
    return pa.table({**codes, side: cells[table.measure], f"{side}_status": cells["status"]})


def _parquet(path: Path, shown: pa.Table, decimals: Mapping[str, int]) -> Iterator[str]:
    if not path.exists():
        return
    try:
        read = read_plain_parquet(path)
        if "previous" not in decimals:  # no value says how many decimals it would have
            at = shown.column_names.index("previous")
            nothing = pa.nulls(shown.num_rows, read.schema.field(at).type)
            shown = shown.set_column(at, "previous", nothing)
        if not read.equals(exact_columns(shown, dict(decimals))):
            yield f"{path.name} does not hold what stands in the CSV"
    except (InputError, pa.ArrowException) as error:
        yield str(error)
