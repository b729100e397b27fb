"""Reports on released microdata: what readers are told, and the office's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

from diskret.publish.in_words import table_words
from diskret.publish.pages.microdata_outline import InsideOutline, Outline, Variable
from diskret.publish.pages.page import Bar, Cell, DataTable, Tile, file_list, tile, write_page
from diskret.risk.summary import RiskSummary
from diskret.texts import Words, number, percent
from diskret.utility.table_deviations import LAST_DIMENSION, TableDeviations
from diskret.utility.text_tables import printed_rows


def write_public_microdata_report(
    outline: Outline,
    certificate: Mapping[str, Any],
    path: str | PathLike[str],
    *,
    title: str | None = None,
    language: str = "en",
) -> None:
    """Write the description for readers as one HTML page that needs nothing but itself.

    It says what the file holds, which kinds of methods protected it and never how, what is and is
    not claimed, and how to treat missing and changed values.
    """
    words = table_words(language, "report", "microdata_report")
    write_page(
        path,
        "microdata",
        words,
        certificate,
        title=title or outline.name,
        kind=words["public"],
        tiles=_tiles(outline, words),
        variables=_variables(outline, words),
        families=[f"{words[one]} {', '.join(names)}" for one, names in outline.families.items()],
        shuffled=outline.shuffled,
        advice=[(", ".join(names), words[f"use {one}"]) for one, names in outline.families.items()],
        remarks=[
            *([] if outline.families else [words["use plain"]]),
            *([words["use weight"]] if outline.weight else []),
        ],
        documented=_documented(certificate.get("shown", {}), words),
        files=file_list(certificate, words),
    )


def write_internal_microdata_report(
    outline: Outline,
    inside: InsideOutline,
    certificate: Mapping[str, Any],
    path: str | PathLike[str],
    *,
    title: str | None = None,
    language: str = "en",
) -> None:
    """Write the office's report as one HTML page that needs nothing but itself. Confidential.

    `certificate` is the public and the internal one together.
    """
    words = table_words(language, "report", "microdata_report")
    write_page(
        path,
        "microdata_internal",
        words,
        certificate,
        title=title or outline.name,
        kind=f"{words['office']} · {words['confidential']}",
        tiles=_tiles(outline, words),
        controlled=_controlled(inside.deviations, words),
        risk=_risk(inside, words),
        steps=_steps(inside, words),
        changes=_changes(inside, outline.records, words),
        riskiest=_riskiest(inside, words),
        variables=_variables(outline, words),
        roles=_roles(inside, words),
    )


# ── what both reports show ──────────────────────────────────────────────────────────


def _tiles(outline: Outline, words: Words) -> list[Tile]:
    missing = sum(variable.missing for variable in outline.variables)
    values = outline.records * len(outline.variables)
    return [
        tile(outline.records, words["records"], words, "open"),
        tile(len(outline.variables), words["variables"], words),
        tile(missing, words["gaps"], words, "shut", missing / values),
    ]


def _variables(outline: Outline, words: Words) -> DataTable:
    language = words.language
    rows = [
        (
            variable.name,
            words[variable.kind],
            _values(variable, words),
            number(variable.distinct, language),
            number(variable.missing, language),
            _share(variable.missing, outline.records, language),
        )
        for variable in outline.variables
    ]
    head = (
        words["variable"],
        words["kind"],
        words["values"],
        words["distinct"],
        words["missing"],
        words["missing share"],
    )
    return DataTable(head, rows, text=3)


def _values(variable: Variable, words: Words) -> str:
    if variable.ends:
        low, high = variable.ends
        return words.said("from to", low=low, high=high)
    return ", ".join(variable.listed) or words["many" if variable.distinct else "nothing"]


# ── for readers ─────────────────────────────────────────────────────────────────────


def _documented(shown: Mapping[str, Any], words: Words) -> dict[str, Any] | None:
    """How far tables of a safe file deviate: by size of the cell, and which are controlled."""
    tables = [
        _named(table, counter, words)
        for counter, listed in shown.get("tables", {}).items()
        for table in listed
    ]
    if not tables:
        return None
    language = words.language
    head = [words[f"size {name}"] for name in ("from", "to", "cells", "largest", "mean")]
    rows = [
        (
            *(number(row[name], language) for name in ("from", "to", "cells", "largest")),
            number(row["mean"], language, 2),
        )
        for row in shown.get("by_size", shown.get("by_size_in_file", ()))
    ]
    note = words.said("documented note", largest=shown["largest"])
    if "by_size_in_file" in shown and rows:
        note = f"{note} {words['documented sizes']}"
    return {
        "note": note,
        "table": DataTable(head, rows, text=0) if rows else None,
        "tables": tables,
    }


def _named(table: list[str], counter: str, words: Words) -> str:
    named = " × ".join(table) or words["table total"]
    return words.said("counted of", table=named, counter=counter) if counter else named


# ── for the office ──────────────────────────────────────────────────────────────────


def _controlled(found: TableDeviations | None, words: Words) -> dict[str, Any] | None:
    """The two tables of deviations as they were printed of SAFE."""
    if found is None:
        return None
    printed = printed_rows(found.by_size, found.deviation_table, words.language, LAST_DIMENSION)
    tables = [
        (heading, DataTable(head, body, text=0)) for heading, (head, *body) in printed.items()
    ]
    return {"line": found.lines(words.language)[0], "tables": tables}


def _risk(inside: InsideOutline, words: Words) -> dict[str, Any] | None:
    after = inside.after
    if after is None:
        return None
    basis = words["basis weighted" if inside.weighted else "basis census"]
    before = inside.before
    was = {} if before is None else dict(_figures(before, words))
    rows = [(name, was.get(name, "–"), value) for name, value in _figures(after, words)]
    return {
        "note": words.said("risk note", keys=", ".join(inside.keys), basis=basis),
        "figures": DataTable((words["figure"], words["before"], words["after"]), rows),
        "frequencies": _frequencies(before, after, words),
    }


def _figures(found: RiskSummary, words: Words) -> Iterator[tuple[str, str]]:
    language = words.language
    yield words["uniques"], number(found.uniques, language)
    for k in (3, 5):
        yield words.said("below", k=k), number(found.below(k), language)
        yield words.said("below shown", k=k), number(found.below_shown(k), language)
    yield words["expected"], number(found.expected, language, 2)
    yield words["rate"], f"{number(100 * found.expected / found.n, language, 3)} %"
    yield words["largest"], number(found.largest, language, 4)
    if found.households is not None:
        yield words["households"], number(found.households, language, 2)


def _frequencies(before: RiskSummary | None, after: RiskSummary, words: Words) -> DataTable:
    language = words.language
    was, rows = None if before is None else before.groups(), list[tuple[Cell, ...]]()
    for group, records in after.groups().items():
        low, high = group
        name = number(low, language)
        if high is None:
            name = words.said("and more", low=name)
        elif high > low:
            name = words.said("from to", low=name, high=number(high, language))
        old = None if was is None else was[group]
        rows.append(
            (
                name,
                number(old, language),
                _share(old or 0, after.n if before is None else before.n, language),
                number(records, language),
                _share(records, after.n, language),
            )
        )
    head = (words["agreeing"], words["before"], "", words["after"], "")
    return DataTable(head, rows)


def _share(part: int, whole: int, language: str) -> Bar:
    return Bar(part / whole, percent(part / whole, language))


def _steps(inside: InsideOutline, words: Words) -> DataTable | None:
    if not inside.steps:
        return None
    rows = [
        (str(at), step.verb, _settings(step.arguments), _settings(step.found))
        for at, step in enumerate(inside.steps, start=1)
    ]
    head = (words["step"], words["method"], words["arguments"], words["reported"])
    return DataTable(head, rows, text=4)


def _settings(content: Mapping[str, Any]) -> str:
    return "; ".join(f"{name} = {_text(value)}" for name, value in content.items()) or "–"


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        inner: Mapping[Any, Any] = value
        return ", ".join(f"{name}: {_text(one)}" for name, one in inner.items())
    if isinstance(value, (list, tuple)):
        listed: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]
        return ", ".join(map(_text, listed))
    if value is None or value == []:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _changes(inside: InsideOutline, records: int, words: Words) -> DataTable | None:
    if not inside.changes:
        return None
    language = words.language
    rows = [
        (
            name,
            *(number(figure, language) for figure in (had, has, gaps, holes)),
            _share(max(holes - gaps, 0), records, language),
        )
        for name, ((had, gaps), (has, holes)) in inside.changes.items()
    ]
    head = (
        words["variable"],
        words["categories before"],
        words["categories after"],
        words["missing before"],
        words["missing after"],
        words["lost values"],
    )
    return DataTable(head, rows)


def _riskiest(inside: InsideOutline, words: Words) -> DataTable | None:
    if not inside.riskiest:
        return None
    language = words.language
    rows = [
        (
            *("" if value is None else value for value in one.values),
            number(one.records, language),
            number(one.frequency, language),
            number(one.risk, language, 4),
            Bar(one.risk, percent(one.risk, language)),
        )
        for one in inside.riskiest
    ]
    head = (
        *inside.keys,
        words["combination records"],
        words["combination frequency"],
        words["combination risk"],
        "",
    )
    return DataTable(head, rows, text=len(inside.keys))


def _roles(inside: InsideOutline, words: Words) -> DataTable:
    rows = [(role, ", ".join(names)) for role, names in inside.roles.items()]
    rows += [(name, _text(value)) for name, value in inside.release.items()]
    return DataTable((words["role"], words["columns"]), rows, text=2)
