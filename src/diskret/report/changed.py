"""Reports on tables whose values were changed: what readers are told, and the office's own."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np

from diskret.report.map import Mark, cell_map
from diskret.report.markup import Markup, element
from diskret.report.page import (
    data_table,
    file_list,
    overview,
    page_title,
    section,
    setting_list,
    statements,
    write_page,
)
from diskret.report.texts import words_in
from diskret.tables import Published


def write_changed_report(
    published: Published,
    certificate: Mapping[str, Any],
    path: str | PathLike[str],
    *,
    title: str | None = None,
    language: str = "en",
) -> None:
    """Write the report for readers as one HTML page that needs nothing but itself.

    Parameters
    ----------
    published
        The table.
    certificate
        Its public certificate; ``files`` lists the files written before this one.
    path
        The file to write; overwritten if it exists.
    title
        Heading; None for "<measure> by <dimensions>".
    language
        ``"en"`` or ``"de"``.

    Raises
    ------
    InputError
        The language is unknown, or the file cannot be written.
    """
    words = words_in(language)
    body = [
        overview(published, language),
        *_map(published, language),
        section(words["certificate"], *_shown(certificate, words)),
        *statements(certificate, language),
        *file_list(certificate, words),
    ]
    write_page(
        path,
        language=language,
        title=page_title(published, title, language),
        kind=words["public"],
        body=body,
        footer=words["made"].format(software=certificate.get("software", "diskret")),
    )


def write_internal_changed_report(
    published: Published,
    certificate: Mapping[str, Any],
    settings: Mapping[str, Any],
    deviations: Mapping[str, tuple[list[str], list[list[str]]]],
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
    certificate
        The public and the internal certificate together.
    settings
        Method and parameters.
    deviations
        Heading → head and rows of a table of what was changed by how much.
    path, title, language
        As in `write_changed_report`.

    Raises
    ------
    InputError
        The language is unknown, or the file cannot be written.
    """
    words = words_in(language)
    body = [
        overview(published, language),
        *_map(published, language),
        *(section(name, data_table(head, rows)) for name, (head, rows) in deviations.items()),
        section(words["certificate"], *_shown(certificate, words)),
        *statements(certificate, language),
        section(words["settings"], setting_list(settings, words)),
    ]
    write_page(
        path,
        language=language,
        title=page_title(published, title, language),
        kind=words["confidential"],
        body=body,
        footer=words["made"].format(software=certificate.get("software", "diskret")),
    )


def _map(published: Published, language: str) -> list[Markup]:
    """Where values are missing, if they are anywhere."""
    if not (published.suppressed | published.empty).any():
        return []
    words = words_in(language)
    marks = (
        Mark("open", words["published"], 12),
        Mark("shut", words["suppressed"], 12),
        Mark("none", words["empty"], 3),
    )
    status = np.where(published.suppressed, 1, np.where(published.empty, 2, 0)).astype(np.int8)
    return [section(words["map"], cell_map(published, status, marks, language))]


def _shown(certificate: Mapping[str, Any], words: Mapping[str, str]) -> list[Markup]:
    """Figures that are published with the table."""
    figures: Mapping[str, Any] = certificate.get("shown", {})
    if not figures:
        return []
    rows = [(str(name), str(value)) for name, value in figures.items()]
    return [element("p", words["shown"], class_="note"), setting_list(dict(rows), words)]
