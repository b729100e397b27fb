"""The office's report on a table whose values were changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from diskret.publish.pages.markup import element
from diskret.publish.pages.page import (
    data_table,
    overview,
    page_title,
    section,
    setting_list,
    statements,
    write_page,
)
from diskret.publish.pages.public import shown_figures, where_missing
from diskret.tables import Published
from diskret.texts import words_in


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

    Parameters
    ----------
    published
        The public table.
    certificate
        The public and the internal certificate together.
    settings
        Method and parameters.
    losses
        Sentences on what was lost.
    deviations
        Heading → rows of a table of what was changed by how much, the first of them the head.
    path, title, language
        As in `write_public_report`.

    Raises
    ------
    InputError
        The language is unknown, or the file cannot be written.
    """
    words = words_in(language, "report")
    body = [
        overview(published, language),
        *where_missing(published, language),
        section(words["lost"], element("ul", *(element("li", line) for line in losses))),
        *(
            section(name, data_table(tuple(rows[0]), [tuple(row) for row in rows[1:]]))
            for name, rows in deviations.items()
        ),
        section(words["certificate"], *shown_figures(certificate, words)),
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
