"""Why each secondary is hidden: a list that folds out, and words for the map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Explanations, ends_in_units
from diskret.publish.pages.markup import Markup, element
from diskret.publish.pages.page import cell_texts, data_table, section
from diskret.tables import Published
from diskret.texts import number, words_in

STYLE = """
details{border-bottom:1px solid var(--line);padding:3px 0}
summary{cursor:pointer;font-size:13.5px}summary b{font-weight:600}
details table{margin:4px 0 8px 18px}
svg .why{fill:transparent}svg .why:hover{stroke:var(--ink);stroke-width:1.5}
"""
_SHOWN, _NAMED, _IN_TITLE = 200, 30, 8


@dataclass(frozen=True, eq=False)
class Original:
    """True values of all cells, and the ends that must stay possible, in published units."""

    value: Sequence[float]
    required_lower: Sequence[float]
    required_upper: Sequence[float]


def explanation_section(
    published: Published, found: Explanations, original: Original, language: str
) -> list[Markup]:
    """A part of the office's report: each secondary, and the cells that need it. Confidential.

    Secondaries that many cells need come first; the rest of a long list is in the CSV file.

    Parameters
    ----------
    published
        The table.
    found
        Its explanations.
    original
        What the office knows of the cells, one number each in C order.
    language
        ``"en"`` or ``"de"``.
    """
    words = words_in(language, "report")
    groups = _by_secondary(found)
    if not groups:
        return []
    examined = [rows for rows in groups if found.kind[rows[0]] != "not examined"]
    ranked = sorted(examined, key=lambda rows: (_RANK[found.kind[rows[0]]], -len(rows)))
    body = [element("p", words["why note"], class_="note"), _counts(found, language)]
    body += [_fold(published, found, rows, original, language) for rows in ranked[:_SHOWN]]
    if len(ranked) > _SHOWN:
        more = number(len(ranked) - _SHOWN, language)
        body.append(element("p", words["why more"].format(count=more), class_="note"))
    if found.not_examined:
        left = number(found.not_examined, language)
        body.append(element("p", words["why left"].format(count=left)))
    return [section(words["why"], *body)]


def explanation_titles(published: Published, found: Explanations, language: str) -> dict[int, str]:
    """For each explained secondary, by its position, the cells that need it in one line."""
    words = words_in(language, "report")
    titles: dict[int, str] = {}
    for rows in _by_secondary(found):
        kind, cell = found.kind[rows[0]], int(found.secondary[rows[0]])
        [own] = cell_texts(published, [cell], language)
        text = words[f"why {kind}"]
        if found.needed_by[rows[0]] >= 0:
            names = cell_texts(published, found.needed_by[rows[:_IN_TITLE]].tolist(), language)
            if len(rows) > _IN_TITLE:
                names.append(words["more"].format(count=number(len(rows) - _IN_TITLE, language)))
            text = f"{text}: {'; '.join(names)}"
        titles[cell] = f"{own} – {text}"
    return titles


_RANK = {"protects": 0, "hides": 1, "elsewhere": 2, "contributors": 3, "together": 4}


def _by_secondary(found: Explanations) -> list[NDArray[np.intp]]:
    """Rows of each secondary, in the order of the cells."""
    new = np.flatnonzero(np.diff(found.secondary)) + 1
    return [rows for rows in np.split(np.arange(len(found.secondary)), new) if len(rows)]


def _counts(found: Explanations, language: str) -> Markup:
    words = words_in(language, "report")
    first = np.unique(found.secondary, return_index=True)[1].tolist()
    kinds = [found.kind[i] for i in first]
    rows = [
        (words[f"why {kind}"], number(kinds.count(kind), language))
        for kind in (*_RANK, "not examined")
        if kind in kinds
    ]
    return data_table((words["secondary"], words["number"]), rows)


def _fold(
    published: Published,
    found: Explanations,
    rows: NDArray[np.intp],
    original: Original,
    language: str,
) -> Markup:
    """One secondary: a line, and below it a table of the cells that need it."""
    words = words_in(language, "report")
    decimals = published.decimals
    kind, cell = found.kind[rows[0]], int(found.secondary[rows[0]])
    [own] = cell_texts(published, [cell], language)
    shown = number(original.value[cell], language, decimals)
    if found.needed_by[rows[0]] < 0:
        summary = element("summary", element("b", own), f" ({shown}): {words[f'why {kind}']}")
        return element("details", summary, element("p", words["why alone"], class_="note"))
    some = rows[:_NAMED]
    names = cell_texts(published, found.needed_by[some].tolist(), language)
    text = f" ({shown}): {words[f'why {kind}']}: {names[0]}"
    if len(rows) > 1:
        text += f" {words['why others'].format(count=number(len(rows) - 1, language))}"
    lower, upper = ends_in_units(found.lower[some], found.upper[some], decimals)
    lines: list[tuple[str, ...]] = []
    for name, cell, low, high in zip(
        names, found.needed_by[some].tolist(), lower.to_pylist(), upper.to_pylist(), strict=True
    ):
        exact = low is not None and low == high
        required = words["no exact value"]
        if kind == "protects":
            ends = original.required_lower[cell], original.required_upper[cell]
            required = _interval(*ends, language, decimals)
        lines.append(
            (
                name,
                number(original.value[cell], language, decimals),
                words["exact value"] if exact else _interval(low, high, language, decimals),
                required,
            )
        )
    if len(rows) > _NAMED:
        more = words["more"].format(count=number(len(rows) - _NAMED, language))
        lines.append((more, "", "", ""))
    heads = (words["why needed by"], words["value"], words["why known"], words["why required"])
    return element(
        "details",
        element("summary", element("b", own), text),
        data_table(heads, lines),
    )


def _interval(low: float | None, high: float | None, language: str, decimals: int) -> str:
    lower = "−∞" if low is None else number(low, language, decimals)
    upper = "∞" if high is None else number(high, language, decimals)
    return f"[{lower}; {upper}]"
