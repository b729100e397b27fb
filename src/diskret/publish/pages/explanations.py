"""Why each secondary is hidden: a list that folds out, and words for the map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Explanations, ends_in_units
from diskret.publish.pages.page import DataTable, cell_texts
from diskret.tables import Published
from diskret.texts import Words, number

_SHOWN, _NAMED, _IN_TITLE = 200, 30, 8


@dataclass(frozen=True, eq=False)
class Original:
    """True values of all cells, and the ends that must stay possible, in published units."""

    value: Sequence[float]
    required_lower: Sequence[float]
    required_upper: Sequence[float]


def explanation_section(
    published: Published, found: Explanations, original: Original, words: Words
) -> dict[str, Any] | None:
    """A part of the office's report: each secondary, and the cells that need it. Confidential.

    Secondaries that many cells need come first; the rest of a long list is in the CSV file.
    """
    groups = _by_secondary(found)
    if not groups:
        return None
    examined = [rows for rows in groups if found.kind[rows[0]] != "not examined"]
    ranked = sorted(examined, key=lambda rows: (_RANK[found.kind[rows[0]]], -len(rows)))
    beyond = len(ranked) - _SHOWN
    return {
        "counts": _counts(found, words),
        "folds": [_fold(published, found, rows, original, words) for rows in ranked[:_SHOWN]],
        "more": words.said("why more", count=beyond) if beyond > 0 else "",
        "left": words.said("why left", count=found.not_examined) if found.not_examined else "",
    }


def explanation_titles(published: Published, found: Explanations, words: Words) -> dict[int, str]:
    """For each explained secondary, by its position, the cells that need it in one line."""
    titles: dict[int, str] = {}
    for rows in _by_secondary(found):
        kind, cell = found.kind[rows[0]], int(found.secondary[rows[0]])
        [own] = cell_texts(published, [cell], words)
        text = words[f"why {kind}"]
        if found.needed_by[rows[0]] >= 0:
            names = cell_texts(published, found.needed_by[rows[:_IN_TITLE]].tolist(), words)
            if len(rows) > _IN_TITLE:
                names.append(words.said("more", count=len(rows) - _IN_TITLE))
            text = f"{text}: {'; '.join(names)}"
        titles[cell] = f"{own} – {text}"
    return titles


_RANK = {"protects": 0, "hides": 1, "elsewhere": 2, "contributors": 3, "together": 4}


def _by_secondary(found: Explanations) -> list[NDArray[np.intp]]:
    """Rows of each secondary, in the order of the cells."""
    new = np.flatnonzero(np.diff(found.secondary)) + 1
    return [rows for rows in np.split(np.arange(len(found.secondary)), new) if len(rows)]


def _counts(found: Explanations, words: Words) -> DataTable:
    first = np.unique(found.secondary, return_index=True)[1].tolist()
    kinds = [found.kind[i] for i in first]
    rows = [
        (words[f"why {kind}"], number(kinds.count(kind), words.language))
        for kind in (*_RANK, "not examined")
        if kind in kinds
    ]
    return DataTable((words["secondary"], words["number"]), rows)


def _fold(
    published: Published,
    found: Explanations,
    rows: NDArray[np.intp],
    original: Original,
    words: Words,
) -> dict[str, Any]:
    """One secondary: a line, and below it a table of the cells that need it."""
    language, decimals = words.language, published.decimals
    kind, cell = found.kind[rows[0]], int(found.secondary[rows[0]])
    [own] = cell_texts(published, [cell], words)
    shown = number(original.value[cell], language, decimals)
    if found.needed_by[rows[0]] < 0:
        return {"cell": own, "text": f"({shown}): {words[f'why {kind}']}", "table": None}
    some = rows[:_NAMED]
    names = cell_texts(published, found.needed_by[some].tolist(), words)
    text = f"({shown}): {words[f'why {kind}']}: {names[0]}"
    if len(rows) > 1:
        text += f" {words.said('why others', count=len(rows) - 1)}"
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
        more = words.said("more", count=len(rows) - _NAMED)
        lines.append((more, "", "", ""))
    heads = (words["why needed by"], words["value"], words["why known"], words["why required"])
    return {"cell": own, "text": text, "table": DataTable(heads, lines)}


def _interval(low: float | None, high: float | None, language: str, decimals: int) -> str:
    lower = "−∞" if low is None else number(low, language, decimals)
    upper = "∞" if high is None else number(high, language, decimals)
    return f"[{lower}; {upper}]"
