"""The page beside released microdata, compared with the records and the certificate."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pyarrow.compute as pc

from diskret.errors import VerificationError
from diskret.publish.pages.microdata import write_public_microdata_report
from diskret.publish.pages.microdata_outline import (
    LISTED,
    Family,
    Kind,
    Outline,
    Variable,
    variable,
)
from diskret.publish.verify.files import before_page, check_page
from diskret.texts import words_in

_TYPES: Mapping[str, pa.DataType] = {
    "whole": pa.int64(),
    "decimal": pa.float64(),
    "date": pa.timestamp("us"),
    "logical": pa.bool_(),
}
_ROW = re.compile(r'<tr><th scope="row">([^<]*)</th><td>([^<]*)</td>')
_ITEM = re.compile(r"<li>([^<]*)</li>")


def check_microdata_page(
    public: Path, name: str, certificate: Mapping[str, Any], records: pa.Table, typed: bool
) -> str:
    """Compare the page with what the records and the certificate say.

    What the page alone tells are the kinds of methods, in fixed words, with names of variables.

    Parameters
    ----------
    public
        The folder.
    name
        Of the microdata.
    certificate
        The public certificate.
    records
        What was released.
    typed
        Whether the records have their types: read from Parquet, not as text from CSV.

    Returns
    -------
    str
        A remark on what was not compared; mostly empty.

    Raises
    ------
    VerificationError
        It is another page.
    """
    path = public / f"{name}.html"
    if not path.exists():
        return ""
    text = path.read_text(encoding="utf-8", errors="replace")

    def write(path: Path, title: str, language: str) -> None:
        words = words_in(language, "report", "microdata_report")
        items = [html.unescape(item) for item in _ITEM.findall(text)]
        paragraph = f"<p>{html.escape(words['order shuffled'], quote=False)}</p>"
        shown = Outline(
            name=name,
            records=records.num_rows,
            variables=tuple(_variables(text, records, typed, words)),
            families=dict(_families(items, records.column_names, words)),
            weight=words["use weight"] in items,
            shuffled=paragraph in text,
        )
        before = before_page(certificate, name)
        write_public_microdata_report(shown, before, path, title=title, language=language)

    return check_page(path, certificate, write)


def _families(
    items: list[str], columns: list[str], words: Mapping[str, str]
) -> Iterator[tuple[Family, tuple[str, ...]]]:
    """The kinds of methods that a page names, with names of columns and nothing else."""
    several = "|".join(map(re.escape, sorted(columns, key=len, reverse=True)))
    names = re.compile(rf"(?:{several})(?:, (?:{several}))*")
    for item in items:
        for family in get_args(Family):
            rest = item.removeprefix(f"{words[family]} ")
            if rest != item and names.fullmatch(rest):
                yield family, (rest,)


def _variables(
    text: str, records: pa.Table, typed: bool, words: Mapping[str, str]
) -> Iterator[Variable]:
    kinds: dict[str, Kind] = {words[kind]: kind for kind in get_args(Kind)}
    told = {html.unescape(name): html.unescape(kind) for name, kind in _ROW.findall(text)}
    for name in records.column_names:
        column = records.column(name)
        if typed:
            yield variable(name, column)
        else:
            yield _from_text(name, column, kinds[told[name]])


def _from_text(name: str, text: pa.ChunkedArray, kind: Kind) -> Variable:
    """A variable whose values are known as text: in the order of what the text stands for."""
    if kind == "text":
        return variable(name, text)
    there = pc.unique(text).drop_null()
    try:
        order = pc.sort_indices(there.cast(_TYPES[kind]))
    except pa.ArrowInvalid:
        raise VerificationError(f"{name} does not hold what the page says it does") from None
    ordered = there.take(order).to_pylist()
    found = Variable(name, kind, len(ordered), text.null_count)
    if kind != "logical" and len(ordered) > LISTED:
        return replace(found, ends=(ordered[0], ordered[-1]))
    return replace(found, listed=tuple(ordered) if len(ordered) <= LISTED else ())
