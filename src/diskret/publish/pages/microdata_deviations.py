"""How far tables of a safe file deviate: what readers are told, and the office's figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from diskret.publish.pages.markup import Markup, element
from diskret.publish.pages.page import data_table, section
from diskret.texts import Words, number
from diskret.utility.table_deviations import LAST_DIMENSION, TableDeviations
from diskret.utility.text_tables import printed_rows


def documented(shown: Mapping[str, Any], words: Words) -> list[Markup]:
    """For readers: the largest deviation, deviations by size, and the controlled tables."""
    tables = [
        _named(table, counter, words)
        for counter, listed in shown.get("tables", {}).items()
        for table in listed
    ]
    if not tables:
        return []
    language = words.language
    note = words["documented note"].format(largest=number(shown["largest"], language))
    head = [words[f"size {name}"] for name in ("from", "to", "cells", "largest", "mean")]
    rows = [
        (
            *(number(row[name], language) for name in ("from", "to", "cells", "largest")),
            number(row["mean"], language, 2),
        )
        for row in shown["by_size"]
    ]
    parts = [element("p", note)]
    if rows:
        parts.append(data_table(head, rows, text=0))
    parts += [
        element("h3", words["controlled tables"]),
        element("ul", *(element("li", table) for table in tables)),
    ]
    return [section(words["documented"], *parts)]


def controlled(found: TableDeviations | None, words: Words) -> list[Markup]:
    """For the office: the two tables as they were printed of SAFE."""
    if found is None:
        return []
    return [section(words["documented"], *_controlled(found, words.language))]


def _controlled(found: TableDeviations, language: str) -> Iterator[Markup]:
    yield element("p", found.lines(language)[0])
    rows = printed_rows(found.by_size, found.deviation_table, language, LAST_DIMENSION)
    for heading, (head, *body) in rows.items():
        yield element("h3", heading)
        yield data_table(head, body, text=0)


def _named(table: list[str], counter: str, words: Words) -> str:
    named = " × ".join(table) or words["table total"]
    return words["counted of"].format(table=named, counter=counter) if counter else named
