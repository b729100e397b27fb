"""Texts that a spreadsheet would run as formulas, marked in CSV files by an apostrophe.

In a workbook a cell says whether it is text. In CSV it does not: a spreadsheet computes what begins
like a formula, wherever the text came from. An apostrophe before it prevents that. So that
reading gives back what was written, texts get one more apostrophe if they are a formula behind
any number of them; a file in which nothing begins like a formula was marked in this way.
"""

# pyarrow has no type information for its compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from diskret.io.kinds import is_text

_MARK = "'"
#: A number, or a sign alone, is no formula although it may begin like one.
_HARMLESS = r"^'*[+\-](?:[0-9]*(?:[.,][0-9]+)*(?:[eE][+\-]?[0-9]+)?)$"
_BEGINS = (
    "[=@+\\-\t\r\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH COMMERCIAL AT}"
    "\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}]"
)


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would run a text.

    >>> [is_formula(text) for text in ("=1+1", "@A1", "-2+3", "-2", "-", "a=b", "'=1")]
    [True, True, True, False, False, False, False]
    """
    return bool(re.match(_BEGINS, text)) and not re.match(_HARMLESS, text)


def marked(text: str) -> str:
    """A text with an apostrophe before it if it is a formula, perhaps behind others.

    >>> marked("=1+1"), marked("'=1+1"), marked("-2")
    ("'=1+1", "''=1+1", '-2')
    """
    return _MARK + text if is_formula(text.lstrip(_MARK)) else text


def formulas(cells: pa.Table) -> list[str]:
    """The texts and column names that a spreadsheet would run, each once."""
    found = [name for name in cells.column_names if is_formula(name)]
    for column in _texts(cells):
        found += column.filter(_matching(column, f"^{_BEGINS}")).unique().to_pylist()
    return list(dict.fromkeys(found))


def with_marks(cells: pa.Table) -> pa.Table:
    """The same with an apostrophe before every text that is a formula behind others."""
    return _changed(
        cells,
        marked,
        lambda text: pc.if_else(
            _matching(text, f"^'*{_BEGINS}"),
            pc.binary_join_element_wise(_MARK, text, ""),
            text,
        ),
    )


def without_marks(cells: pa.Table) -> pa.Table:
    """What was marked by `with_marks`, or written as it was because nothing was.

    >>> cells = pa.table({"code": ["=1+1", "'a", "'=2"]})
    >>> without_marks(with_marks(cells)).equals(cells), without_marks(cells).equals(cells)
    (True, True)
    """
    if formulas(cells):
        return cells
    return _changed(
        cells,
        lambda name: name[1:] if name.startswith(_MARK) and marked(name) != name else name,
        lambda text: pc.if_else(
            _matching(text, f"^'+{_BEGINS}"), pc.utf8_slice_codeunits(text, 1), text
        ),
    )


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return is_text(kind)


def _texts(cells: pa.Table) -> list[pa.ChunkedArray]:
    return [c.cast(pa.string()) for c in cells.columns if _is_text(c.type)]


def _matching(text: pa.ChunkedArray, begins: str) -> pa.ChunkedArray:
    found = pc.match_substring_regex(text, begins)
    return pc.fill_null(pc.and_not(found, pc.match_substring_regex(text, _HARMLESS)), False)


def _changed(
    cells: pa.Table,
    of_name: Callable[[str], str],
    of_texts: Callable[[pa.ChunkedArray], pa.ChunkedArray],
) -> pa.Table:
    columns = [of_texts(c.cast(pa.string())) if _is_text(c.type) else c for c in cells.columns]
    return pa.table(columns, names=[of_name(name) for name in cells.column_names])
