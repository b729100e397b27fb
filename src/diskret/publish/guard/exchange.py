"""What may stand in files for exchange: published values, one status for all that is hidden.

Every file is read by readers that know nothing of how it was written. Its cells must be those
that are published, all hidden ones must have the same status, and every other text must be a name,
a code, a label or a fixed text.
"""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from diskret.errors import InputError
from diskret.io.data_file import DataFile
from diskret.io.from_json import Form, misfits
from diskret.io.json_stat import JsonStat, parse_json_stat, read_json_stat
from diskret.io.px import PxFile, parse_px, px_table
from diskret.io.sdmx_csv import (
    CONF_STATUS,
    HEADS,
    MEASURE,
    OBS_STATUS,
    TIME,
    VALUE,
    code_ids,
    column_ids,
    parse_sdmx_csv,
    read_sdmx_csv,
)
from diskret.publish.exchange import AGENCY, EXCHANGE
from diskret.publish.guard.exchange_expected import (
    Expected,
    Found,
    by_period,
    cell_problems,
    expected_of,
    misnamed,
    misplaced,
    odd_notes,
    unknown,
)
from diskret.tables import Derived, Published, SideBySide
from diskret.texts import LANGUAGES

#: Keywords of PX with figures or fixed words, which are not looked at as texts.
_PX_FIXED = {
    "CHARSET": ("ANSI",),
    "AXIS-VERSION": ("2013",),
    "CODEPAGE": ("utf-8",),
    "LANGUAGE": LANGUAGES,
}
_PX_NUMBERS = ("DECIMALS", "SHOWDECIMALS", "PRECISION")
_PX_TEXTS = (
    "MATRIX", "TABLEID", "SUBJECT-CODE", "SUBJECT-AREA", "CONTENTS", "UNITS", "STUB", "HEADING",
    "CONTVARIABLE", "VALUES", "CODES", "TIMEVAL", "HIERARCHIES",
)  # fmt: skip
#: What somebody wrote who knows that it is published.
_PX_FREE = ("TITLE", "DESCRIPTION", "DATASYMBOL1", "DATASYMBOL2", "DATASYMBOLNIL")
_SCALE = re.compile(r"TLIST\([AHQMW]1\)")
_DIGITS = re.compile(r"\d")
_RANGE = re.compile(r"-?\d+(?:\.\d+)?")

_JSON: Form = {
    "version": str,
    "class": str,
    "label": str,
    "note": [str],
    "id": [str],
    "size": [int],
    "role": {"time": [str], "metric": [str]},
    "dimension": {
        "*": {
            "label": str,
            "category": {
                "index": [str],
                "label": {"*": str},
                "child": {"*": [str]},
                "unit": {"*": {"decimals": int}},
            },
        }
    },
    "value": [(int, float, None)],
    "status": {"*": str},
    "extension": {
        "status": {"label": {"*": str}},
        "lower": {"*": (str, None)},
        "upper": {"*": (str, None)},
    },
}


def exchange_problems(folder: Path, shown: Published | Derived | SideBySide) -> Iterator[str]:
    """What is wrong with the files for exchange of a table, a figure, or of several."""
    paths = {one: folder / f"{shown.name}{ending}" for one, ending in EXCHANGE.items()}
    there = {one: path for one, path in paths.items() if path.exists()}
    if not there:
        return
    expected = expected_of(shown)
    checks = {
        "px": _px,
        "jsonstat": _json_stat,
        "sdmx1": partial(_sdmx, version="1.0"),
        "sdmx2": partial(_sdmx, version="2.0"),
    }
    for one, path in there.items():
        try:
            yield from (f"{path.name} {problem}" for problem in checks[one](path, expected))
        except InputError as error:
            yield str(error)


# ── PX ──────────────────────────────────────────────────────────────────────────────


def _px(path: Path, expected: Expected) -> Iterator[str]:
    px = parse_px(path)
    for (keyword, language, of), values in px.keywords.items():
        if keyword != "CELLNOTE":
            yield from unknown(of, expected, keyword)
        if language or (keyword == "CELLNOTE" and not expected.bounds):
            yield f"has {keyword}, which is no part of it"
        elif keyword in _PX_FIXED:
            if not set(values) <= set(_PX_FIXED[keyword]):
                yield f"has another {keyword}"
        elif keyword in _PX_NUMBERS:
            if not {*map(str, expected.decimals)} >= set(values):
                yield f"has other {keyword}"
        elif keyword in _PX_TEXTS:
            texts = [text for text in values if text != ":" and not _SCALE.fullmatch(text)]
            yield from unknown(texts, expected, keyword)
        elif keyword == "NOTE":
            lines = [line for text in values for line in text.split("\n")]
            legends = {f"{px.text(one)} = " for one in ("DATASYMBOL2", "DATASYMBOLNIL")}
            own = [line for line in lines if not line.startswith(tuple(legends))]
            yield from odd_notes(own, expected)
        elif keyword not in (*_PX_FREE, "CELLNOTE"):
            yield f"has {keyword}, which is no part of it"
    yield from _px_cell_notes(px, expected)
    names = list(expected.codes)
    others = [one for one in px.variables if one not in names]
    contents = px.text("CONTVARIABLE")
    periods = [one for one in others if one != contents]
    if [one for one in px.variables if one in names] != names or len(periods) > 1:
        yield "has other variables"
        return
    for name in names:
        codes, texts = px.codes(name), px.texts("VALUES", name)
        yield from misnamed(zip(codes, texts, strict=False), name, expected)
        pairs = px.texts("HIERARCHIES", name)[1:]  # the root, then parent, colon and child
        yield from misplaced(dict(zip(pairs[2::3], pairs[::3], strict=False)), name, expected)
    cells, _ = px_table(px)
    measures = px.codes(contents) if contents else (px.text("CONTENTS"),)
    found = by_period(cells, names, "".join(periods), measures, bool(contents))
    yield from cell_problems(found, expected)


def _px_cell_notes(px: PxFile, expected: Expected) -> Iterator[str]:
    """Notes of cells are the published ranges of hidden ones, of each that has one."""
    notes = {
        of: values for (keyword, _, of), values in px.keywords.items() if keyword == "CELLNOTE"
    }
    if not expected.bounds:
        return
    positions = [
        {text: i for i, text in enumerate(px.texts("VALUES", name))} for name in px.variables
    ]
    told: dict[int, str] = {}
    for of, values in notes.items():
        at = [where.get(text, -1) for where, text in zip(positions, of, strict=False)]
        if len(of) != len(positions) or min(at) < 0:
            yield "has a note of a cell that is not there"
            return
        told[int(np.ravel_multi_index(tuple(at), px.shape))] = "".join(values)
    ranges = {cell: [b for b in both if b is not None] for cell, both in expected.bounds.items()}
    ranges = {cell: both for cell, both in ranges.items() if both}
    if told.keys() != ranges.keys() or any(
        _RANGE.findall(text) != ranges[cell] for cell, text in told.items()
    ):
        yield "has notes of cells that are not the published ranges"


# ── JSON-stat ───────────────────────────────────────────────────────────────────────


def _json_stat(path: Path, expected: Expected) -> Iterator[str]:
    found = parse_json_stat(path)
    content = found.content
    if odd := list(misfits(content, _JSON)):
        yield from odd
        return
    role = content.get("role", {})
    names = list(expected.codes)
    periods = role.get("time", [])
    if content["id"] != [*names, *periods, found.metric] or len(periods) > 1:
        yield "has other dimensions"
        return
    yield from odd_notes(content.get("note", []), expected)
    for name in content["id"]:
        yield from _of_dimension(found, name, expected)
    for name in names:
        yield from misnamed(found.labels(name).items(), name, expected)
        child = content["dimension"][name]["category"].get("child", {})
        parents = {one: code for code, below in child.items() for one in below}
        yield from misplaced(parents, name, expected)
    said = content.get("extension", {})
    labels = said.get("status", {}).get("label", {})
    yield from unknown(labels.values(), expected, "extension")
    if set(labels) != {*content.get("status", {}).values()}:
        yield "explains another status"
    if any(len(code) != 1 or _DIGITS.match(code) for code in labels):
        yield "has a status that is no letter"
    bounds = {str(cell): both for cell, both in expected.bounds.items()}
    for i, side in enumerate(("lower", "upper")):
        if said.get(side, {}) != {cell: both[i] for cell, both in bounds.items()}:
            yield "does not hold the published ranges"
    cells, _ = read_json_stat(DataFile(path, "jsonstat"))
    measures = found.codes(found.metric)
    yield from cell_problems(
        by_period(cells, names, "".join(periods), measures, len(measures) > 1), expected
    )


def _of_dimension(found: JsonStat, name: str, expected: Expected) -> Iterator[str]:
    dimension = found.content["dimension"][name]
    category = dimension["category"]
    texts = [dimension.get("label", name), *found.labels(name).values(), *found.codes(name)]
    yield from unknown(texts, expected, name)
    codes = {*found.codes(name)}
    child = category.get("child", {})
    named = {*child, *found.labels(name), *category.get("unit", {})}
    if not codes >= named | {one for of in child.values() for one in of}:
        yield f"names codes of {name} that are not there"
    if {unit["decimals"] for unit in category.get("unit", {}).values()} - expected.decimals:
        yield "has other decimals"


# ── SDMX-CSV ────────────────────────────────────────────────────────────────────────


def _sdmx(path: Path, expected: Expected, version: str) -> Iterator[str]:
    lines = parse_sdmx_csv(path)
    cells, book = read_sdmx_csv(DataFile(path, "sdmx"))
    head = HEADS[version]
    said = {tuple(line[: len(head)]) for line in lines[1:]}
    if tuple(lines[0][: len(head)]) != head or len(said) > 1:
        yield "says of several dataflows that these are their data"
    (flow,) = column_ids([expected.name], expected.name)
    for told in said:
        agency, _, rest = told[head.index("STRUCTURE_ID") if version == "2.0" else 0].partition(":")
        fixed = version == "1.0" or (told[0], told[2]) == ("dataflow", "I")
        if not (fixed and AGENCY.fullmatch(agency) and rest.startswith(f"{flow}(1.0): ")):
            yield "names another dataflow"
    names = list(column_ids(expected.codes, expected.name))
    several = MEASURE in cells.column_names
    timed = TIME in cells.column_names
    columns = [*names, *[TIME] * timed, *[MEASURE] * several, VALUE, OBS_STATUS, CONF_STATUS]
    columns += ["LOWER", "UPPER"] * bool(expected.bounds)
    if cells.column_names != columns:
        yield "has other columns"
        return
    yield from unknown(book.labels.values(), expected, "the first line")
    labelled = _labelled(lines)
    for name, pairs in labelled.items():
        yield from unknown((text for _, text in pairs), expected, name)
    status = pc.binary_join_element_wise(
        *(pc.fill_null(cells[name], "") for name in (OBS_STATUS, CONF_STATUS)), "/"
    )
    table = cells.append_column("status", status)
    codes: dict[str, pa.Array] = {}
    found: dict[tuple[str, str], tuple[list[str | None], list[str]]] = {}
    for period in pc.unique(table[TIME]).to_pylist() if timed else [""]:
        of_period = table.filter(pc.equal(table[TIME], period)) if timed else table
        for measure in pc.unique(of_period[MEASURE]).to_pylist() if several else [""]:
            rows = of_period.filter(pc.equal(of_period[MEASURE], measure)) if several else of_period
            codes = {name: rows[name].combine_chunks() for name in names}
            found[period, measure] = rows[VALUE].to_pylist(), rows["status"].to_pylist()
    parts = [
        replace(part, measure=code_ids([part.measure], "")[0], name=code_ids([part.name], "")[0])
        if several
        else replace(part, measure="", name="")
        for part in expected.parts
    ]
    ids = {
        name: pa.array(code_ids(column.to_pylist(), name), pa.string())
        for name, column in zip(names, expected.codes.values(), strict=True)
    }
    for name, column, original in zip(names, ids.values(), expected.codes, strict=True):
        known = dict(zip(column.to_pylist(), expected.codes[original].to_pylist(), strict=True))
        labels = [(known.get(code, code), text) for code, text in labelled.get(name, ())]
        yield from misnamed(labels, original, expected)
    yield from cell_problems(Found(codes, found), replace(expected, codes=ids, parts=parts))
    if expected.bounds:
        sides = zip(cells["LOWER"].to_pylist(), cells["UPPER"].to_pylist(), strict=True)
        told = {i: both for i, both in enumerate(sides) if both != (None, None)}
        if told != {i: both for i, both in expected.bounds.items() if both != (None, None)}:
            yield "does not hold the published ranges"


def _labelled(lines: Sequence[Sequence[str]]) -> dict[str, set[tuple[str, str]]]:
    """Column → what stands in it with a label, each time that it does; all but the dataflow."""
    found: dict[str, set[tuple[str, str]]] = {}
    for head, *fields in zip(*lines, strict=True):
        name, has_label, _ = head.partition(": ")
        if has_label:
            parts = {field.partition(": ") for field in fields}
            found[name] = {(code, text) for code, mark, text in parts if mark}
    return found
