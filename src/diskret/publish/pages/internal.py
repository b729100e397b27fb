"""The office's report: what the public one shows, and why, at what price, and how safe."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.attack import Explanations
from diskret.errors import InputError
from diskret.publish.in_words import table_words
from diskret.publish.in_words import title as table_title
from diskret.publish.pages.explanations import Original, explanation_section, explanation_titles
from diskret.publish.pages.map import Mark, cell_map
from diskret.publish.pages.page import (
    DataTable,
    overview,
    tile,
    write_page,
)
from diskret.publish.pages.settings import setting_list
from diskret.publish.pages.suppressed_cells import (
    Intervals,
    count_table,
    interval_table,
    intervals_of,
    loss_table,
    share_bins,
    width_table,
)
from diskret.tables import Published
from diskret.texts import Words, number
from diskret.texts.numbers import Count

_LEVELS = ("lower_level", "upper_level")
_STATUS = ("published", "primary", "secondary", "empty")


def write_internal_report(
    published: Published,
    internal_cells: pa.Table,
    certificate: Mapping[str, Any],
    settings: Mapping[str, Any],
    path: str | PathLike[str],
    *,
    title: str | None = None,
    language: str = "en",
    explanations: Explanations | None = None,
) -> None:
    """Write the office's report as one HTML page that needs nothing but itself. Confidential.

    `internal_cells` are all cells in the order of the table, with the columns of the measure,
    ``status``, ``rule``, ``lower_level`` and ``upper_level``. `certificate` is the internal one,
    with what the public one claims. Of `settings` that are entries by column only their number is
    shown.
    """
    words = table_words(language, "report")
    status = _status(published, internal_cells)
    intervals = intervals_of(published, certificate)
    value = internal_cells.column(published.measure).to_numpy().reshape(published.shape)
    hidden = _hidden(published, internal_cells)
    primary = status == 1
    tiles = [
        tile(int(primary.sum()), words["primary"], words, "first"),
        tile(int((status == 2).sum()), words["secondary"], words, "second"),
    ]
    marks = (
        Mark("open", words["published"], 12),
        Mark("first", words["primary"], 12),
        Mark("second", words["secondary"], 7),
        Mark("none", words["empty"], 2),
    )
    notes = explanation_titles(published, explanations, words) if explanations else None
    write_page(
        path,
        "internal",
        words,
        certificate,
        style=("style.css", "office.css"),
        title=table_title(published, title, words),
        kind=f"{words['office']} · {words['confidential']}",
        overview=overview(published, words, tiles),
        map=cell_map(published, status, marks, words, notes),
        losses=loss_table(published, primary, value, words),
        reasons=_reasons(hidden, words),
        explained=_explained(published, internal_cells, explanations, words),
        positions=_positions(intervals, hidden[published.measure], words),
        intervals={
            "widths": width_table(intervals, words),
            "table": _interval_table(published, intervals, hidden, words),
        },
        settings=setting_list({**settings, **_proof(certificate)}, words),
    )


def _status(published: Published, cells: pa.Table) -> NDArray[np.int8]:
    """Positions in `_STATUS`, shape of the table; refuses the cells of another table."""
    missing = [name for name in _needed(published) if name not in cells.column_names]
    if missing or cells.num_rows != published.value.size:
        number = Count(cells.num_rows)
        raise InputError(
            f"{published.name}: the internal cells have {number} {number:row|rows} for "
            f"{published.value.size:,} cells and lack the columns "
            f"{', '.join(missing) or '(none)'}; use the cells of the same result"
        )
    found = pc.fill_null(pc.index_in(cells.column("status"), pa.array(_STATUS)), -1)
    status = found.to_numpy().astype(np.int8)
    hidden = np.isin(status, (1, 2))
    wrong = (hidden != published.suppressed.ravel()) | (status < 0)
    if wrong.any():
        example = cells.column("status")[int(np.flatnonzero(wrong)[0])].as_py()
        number = Count(wrong.sum())
        raise InputError(
            f"{published.name}: the status of {number} internal {number:cell|cells} differs from "
            f"the published table, e.g. {example!r}; use the cells of the same result"
        )
    return status.reshape(published.shape)


def _hidden(published: Published, cells: pa.Table) -> dict[str, list[Any]]:
    """The columns of the suppressed cells, in the order of the intervals."""
    chosen = cells.select(_needed(published)).take(
        pa.array(np.flatnonzero(published.suppressed.ravel()))
    )
    return chosen.to_pydict()


def _needed(published: Published) -> list[str]:
    return [published.measure, "status", "rule", *_LEVELS]


def _reasons(hidden: Mapping[str, list[Any]], words: Words) -> DataTable | None:
    cells = zip(hidden["status"], hidden["rule"], strict=True)
    counted = Counter(rule for status, rule in cells if status == "primary")
    if not counted:
        return None
    ordered = sorted(counted.items(), key=lambda one: (-one[1], one[0]))
    rows = [(rule_name(rule, words), count) for rule, count in ordered]
    return count_table(rows, words["reason"], None, words)


def rule_name(reason: str, words: Words) -> str:
    """What a rule is called; a rule of the office's own by the name it has."""
    return words.get(f"rules.{reason}", reason)


def _explained(
    published: Published, cells: pa.Table, explanations: Explanations | None, words: Words
) -> dict[str, Any] | None:
    if explanations is None:
        return None
    value, lower, upper = (cells.column(name).to_numpy() for name in (published.measure, *_LEVELS))
    original = Original(value.tolist(), (value - lower).tolist(), (value + upper).tolist())
    return explanation_section(published, explanations, original, words)


def _positions(intervals: Intervals, values: Sequence[float], words: Words) -> DataTable | None:
    """Where the true values lie between the ends of their intervals."""
    if not len(intervals.cell):
        return None
    found = [
        (value - low) / (high - low)
        for value, low, high in zip(values, intervals.lower, intervals.upper, strict=True)
        if low is not None and high is not None and high > low
    ]
    rows = share_bins(np.array(found, dtype=np.float64))
    without = len(intervals.cell) - len(found)
    if without:
        rows.append((words["fixed"], without))
    return count_table(rows, words["position"], None, words)


def _interval_table(
    published: Published, intervals: Intervals, hidden: Mapping[str, list[Any]], words: Words
) -> DataTable | None:
    language, decimals = words.language, published.decimals
    values = hidden[published.measure]

    def more(i: int) -> tuple[str, ...]:
        status, rule = hidden["status"][i], hidden["rule"][i]
        levels = (number(hidden[key][i], language, decimals) for key in _LEVELS)
        return (
            f"{words[status]} ({rule_name(rule, words)})" if rule else words[status],
            number(values[i], language, decimals),
            " / ".join(levels) if status == "primary" else "",
        )

    heads = (words["status"], words["value"], words["levels"])
    return interval_table(published, intervals, words, more, heads, values)


def _proof(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """What the certificate says of the proof, in a flat list."""
    attacker = certificate.get("attacker", {})
    known = attacker if isinstance(attacker, Mapping) else {"kind": attacker}
    named = {f"attacker: {key}": content for key, content in known.items()}
    counts = ("primaries", "secondaries", "sliding_only", "repaired", "witnesses")
    return {**named, **{key: certificate[key] for key in counts if key in certificate}}
