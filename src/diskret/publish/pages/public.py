"""The report for readers, and the office's on a table with changed values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from diskret.publish.in_words import table_words
from diskret.publish.in_words import title as table_title
from diskret.publish.pages.map import Mark, cell_map
from diskret.publish.pages.page import (
    DataTable,
    file_list,
    overview,
    write_page,
)
from diskret.publish.pages.settings import setting_list
from diskret.publish.pages.suppressed_cells import (
    interval_table,
    intervals_of,
    share_table,
    width_table,
)
from diskret.tables import Published
from diskret.tables.cells import status_codes
from diskret.tables.difference import COUNTED
from diskret.texts import Words, number


def write_public_report(
    published: Published,
    certificate: Mapping[str, Any],
    path: str | PathLike[str],
    *,
    title: str | None = None,
    language: str = "en",
) -> None:
    """Write the report for readers as one HTML page that needs nothing but itself.

    It is made from what is public anyway: how many cells are suppressed and where, the outsider's
    intervals or the figures on changed values, the certificate in words, and the digests of the
    files written before. The same content always gives the same bytes.
    """
    words = table_words(language, "report")
    parts = (_of_changed if published.changed else _of_suppressed)(published, certificate, words)
    own: dict[str, Any] = {**_NOTHING, **parts, "difference": _difference(certificate, words)}
    write_page(
        path,
        "public",
        words,
        certificate,
        title=table_title(published, title, words),
        kind=words["public"],
        overview=overview(published, words),
        files=file_list(certificate, words),
        **own,
    )


def write_internal_changed_report(
    published: Published,
    certificate: Mapping[str, Any],
    settings: Mapping[str, Any],
    losses: Sequence[str],
    deviations: Mapping[str, Sequence[Sequence[str]]],
    path: str | PathLike[str],
    *,
    title: str | None = None,
    language: str = "en",
) -> None:
    """Write the office's report as one HTML page that needs nothing but itself. Confidential.

    `certificate` is the public and the internal one together; `losses` are sentences; `deviations`:
    heading → rows of a table of what was changed by how much, the first of them the head.
    """
    words = table_words(language, "report")
    tables = [
        (name, DataTable(tuple(rows[0]), [tuple(row) for row in rows[1:]]))
        for name, rows in deviations.items()
    ]
    parts: dict[str, Any] = {
        **_of_changed(published, certificate, words),
        "losses": losses,
        "deviations": tables,
        "settings": setting_list(settings, words),
    }
    write_page(
        path,
        "public",
        words,
        certificate,
        title=table_title(published, title, words),
        kind=words["confidential"],
        overview=overview(published, words),
        files=None,
        **{**_NOTHING, **parts},
    )


#: Parts of the template that one of the pages does not have.
_NOTHING: dict[str, Any] = {
    **dict.fromkeys(("map", "difference", "shares", "intervals", "losses", "attacker", "figures")),
    "settings": None,
    "deviations": (),
}


def _of_suppressed(
    published: Published, certificate: Mapping[str, Any], words: Words
) -> dict[str, Any]:
    intervals = intervals_of(published, certificate)
    kind = str(certificate.get("attacker", "outsider"))
    return {
        "map": _map(published, words),
        "shares": share_table(published, words),
        "intervals": {
            "widths": width_table(intervals, words),
            "table": interval_table(published, intervals, words),
        },
        "attacker": words[kind if kind in ("outsider", "contributor") else "informed"],
    }


def _of_changed(
    published: Published, certificate: Mapping[str, Any], words: Words
) -> dict[str, Any]:
    """Where values are missing, if they are anywhere, and the figures published with them."""
    missing = (published.suppressed | published.empty).any()
    figures = {str(name): str(value) for name, value in certificate.get("shown", {}).items()}
    return {
        "map": _map(published, words) if missing else None,
        "figures": setting_list(figures, words) if figures else None,
    }


def _difference(certificate: Mapping[str, Any], words: Words) -> dict[str, Any] | None:
    """How many cells show something else than in the last delivery, and in which file they are."""
    said = certificate.get("difference")
    if said is None:
        return None
    rows = [(words[f"difference {what}"], number(said[what], words.language)) for what in COUNTED]
    return {
        "note": words.said("difference note", file=f"{said['name']}.csv"),
        "counts": DataTable((words["difference kind"], words["number"]), rows),
    }


def _map(published: Published, words: Words) -> dict[str, Any]:
    marks = (
        Mark("open", words["published"], 12),
        Mark("shut", words["suppressed"], 12),
        Mark("none", words["empty"], 3),
    )
    status = status_codes(published).reshape(published.shape)
    return cell_map(published, status.astype(np.int8), marks, words)
