"""The office's report: what the public one shows, and why, at what price, and how safe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa

from diskret.errors import InputError
from diskret.report.depths import loss_table
from diskret.report.intervals import (
    Intervals,
    count_table,
    interval_table,
    intervals_of,
    share_bins,
    width_table,
)
from diskret.report.map import Mark, cell_map
from diskret.report.markup import Markup, element
from diskret.report.page import (
    data_table,
    overview,
    page_title,
    section,
    statements,
    tile,
    write_page,
)
from diskret.report.texts import number, words_in
from diskret.tables import Published

_STYLE = """
:root{--first:#a8433f;--second:#3d6ea5}
.kind{color:var(--first);font-weight:600}
svg .first{stroke:var(--first)}svg .second{stroke:var(--second)}
.tiles .first{border-left-color:var(--first)}.tiles .second{border-left-color:var(--second)}
rect.fill{fill:#8fa6bc}line.true{stroke:var(--first);stroke-width:2.5}
"""
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
) -> None:
    """Write the office's report as one HTML page that needs nothing but itself. Confidential.

    Parameters
    ----------
    published
        The public table.
    internal_cells
        All cells in the order of the table, with the columns of the measure, ``status``,
        ``rule``, ``lower_level`` and ``upper_level``.
    certificate
        The internal certificate; ``claimed`` and ``not_claimed`` of the public one, where
        they are added, are shown too.
    settings
        Rule, method and cost.
    path
        The file to write; overwritten if it exists.
    title
        Heading; None for "<measure> by <dimensions>".
    language
        ``"en"`` or ``"de"``.

    Raises
    ------
    InputError
        Cells or certificate belong to another table, the language is unknown, or the file
        cannot be written.
    """
    words = words_in(language)
    columns = _columns(published, internal_cells)
    status = np.array([_STATUS.index(s) for s in columns["status"]], dtype=np.int8)
    status = status.reshape(published.shape)
    intervals = intervals_of(published, certificate)
    value = np.array(columns[published.measure], dtype=np.float64).reshape(published.shape)
    primary = status == 1
    tiles = [
        tile(int(primary.sum()), words["primary"], language, "first"),
        tile(int((status == 2).sum()), words["secondary"], language, "second"),
    ]
    marks = (
        Mark("open", words["published"], 12),
        Mark("first", words["primary"], 12),
        Mark("second", words["secondary"], 7),
        Mark("none", words["empty"], 2),
    )
    body = [
        overview(published, title, language, tiles),
        section(words["map"], cell_map(published, status, marks, language)),
        section(
            words["lost"],
            element("p", words["lost note"], class_="note"),
            loss_table(published, primary, value, language),
        ),
        *_reasons(columns["rule"], primary, language),
        *_positions(intervals, columns[published.measure], language),
        section(
            words["intervals"],
            element("p", f"{words['intervals note']} {words['intervals office']}", class_="note"),
            *([width_table(intervals, language)] if len(intervals.cell) else []),
            _interval_table(published, intervals, columns, language),
        ),
        section(words["settings"], _settings({**settings, **_proof(certificate)}, words)),
        *statements(certificate, language),
    ]
    write_page(
        path,
        language=language,
        title=page_title(published, title, language),
        kind=f"{words['office']} · {words['confidential']}",
        body=body,
        footer=words["made"].format(software=certificate.get("software", "diskret")),
        style=_STYLE,
    )


def _columns(published: Published, cells: pa.Table) -> dict[str, list[Any]]:
    needed = (published.measure, "status", "rule", "lower_level", "upper_level")
    missing = [name for name in needed if name not in cells.column_names]
    if missing or cells.num_rows != published.value.size:
        raise InputError(
            f"{published.name}: the internal cells have {cells.num_rows:,} rows for "
            f"{published.value.size:,} cells and lack the columns "
            f"{', '.join(missing) or '(none)'}; use the cells of the same result"
        )
    columns = {name: cells.column(name).to_pylist() for name in needed}
    hidden = np.array([s in ("primary", "secondary") for s in columns["status"]])
    differing = int((hidden != published.suppressed.ravel()).sum())
    unknown = sorted({str(s) for s in columns["status"]} - set(_STATUS))
    if differing or unknown:
        raise InputError(
            f"{published.name}: the status of {differing:,} internal cells differs from the "
            f"published table (unknown: {', '.join(unknown) or 'none'}); use the cells of the "
            "same result"
        )
    return columns


def _reasons(rules: Sequence[str], primary: Any, language: str) -> list[Markup]:
    words = words_in(language)
    counted = Counter(rules[i] for i in np.flatnonzero(primary).tolist())
    if not counted:
        return []
    rows = sorted(counted.items(), key=lambda one: (-one[1], one[0]))
    return [section(words["reasons"], count_table(rows, words["reason"], "", language))]


def _positions(intervals: Intervals, values: Sequence[float], language: str) -> list[Markup]:
    """Where the true values lie between the ends of their intervals."""
    words = words_in(language)
    found: list[float] = []
    for cell, low, high in zip(
        intervals.cell.tolist(), intervals.lower, intervals.upper, strict=True
    ):
        if low is not None and high is not None and high > low:
            found.append((values[cell] - low) / (high - low))
    rows = share_bins(np.array(found, dtype=np.float64))
    without = len(intervals.cell) - len(found)
    if without:
        rows.append((words["fixed"], without))
    table = count_table(rows, words["position"], "", language)
    note = element("p", words["positions note"], class_="note")
    return [section(words["positions"], note, table)] if len(intervals.cell) else []


def _interval_table(
    published: Published, intervals: Intervals, columns: Mapping[str, list[Any]], language: str
) -> Markup:
    words = words_in(language)
    decimals = published.decimals

    def more(i: int) -> tuple[str, ...]:
        cell = int(intervals.cell[i])
        status = columns["status"][cell]
        low, high = columns["lower_level"][cell], columns["upper_level"][cell]
        levels = (number(v, language, decimals) for v in (low, high))
        rule = columns["rule"][cell]
        return (
            f"{words[status]} ({rule})" if rule else words[status],
            number(columns[published.measure][cell], language, decimals),
            " / ".join(levels) if status == "primary" else "",
        )

    heads = (words["status"], words["value"], words["levels"])
    values = [columns[published.measure][c] for c in intervals.cell.tolist()]
    return interval_table(published, intervals, language, more, heads, values)


def _proof(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """What the certificate says of the proof, in a flat list."""
    attacker = certificate.get("attacker", {})
    known = attacker if isinstance(attacker, Mapping) else {"kind": attacker}
    named = {f"attacker: {key}": content for key, content in known.items()}
    counts = ("primaries", "secondaries", "sliding_only", "repaired", "witnesses")
    return {**named, **{key: certificate[key] for key in counts if key in certificate}}


def _settings(settings: Mapping[str, Any], words: Mapping[str, str]) -> Markup:
    rows = [(key, _shown(content)) for key, content in settings.items()]
    return data_table((words["setting"], ""), rows, text=2)


def _shown(content: Any) -> str:
    return "–" if content is None else str(content)
