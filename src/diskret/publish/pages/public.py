"""The public report: what was published, and what the published table says of the rest."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np

from diskret.publish.pages.depths import share_table
from diskret.publish.pages.intervals import interval_table, intervals_of, width_table
from diskret.publish.pages.map import Mark, cell_map
from diskret.publish.pages.markup import Markup, element
from diskret.publish.pages.page import (
    file_list,
    overview,
    page_title,
    section,
    setting_list,
    statements,
    write_page,
)
from diskret.tables import Published
from diskret.texts import Words, words_in


def write_public_report(
    published: Published,
    certificate: Mapping[str, Any],
    path: str | PathLike[str],
    *,
    title: str | None = None,
    language: str = "en",
) -> None:
    """Write the report for readers as one HTML page that needs nothing but itself.

    It is made from what is public anyway: how many cells are suppressed and where, the
    outsider's intervals or the figures on changed values, the certificate in words, and the
    digests of the other files.
    The same content always gives the same bytes.

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
        The certificate belongs to another table, the language is unknown, or the file
        cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension
    >>> region = Dimension("region", Hierarchy.flat(["N", "S", "W"]))
    >>> hidden = np.array([False, False, True, True])
    >>> empty = np.zeros(4, dtype=bool)
    >>> value = np.array([14, 7, 0, 0])
    >>> firms = Published("firms", (region,), "count", True, 0, value, hidden, empty)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "firms.html"
    >>> write_public_report(firms, {"intervals": {"lower": [0, 0], "upper": [7, 7]}}, path)
    >>> "<h1>Count by region</h1>" in path.read_text(encoding="utf-8")
    True
    """
    words = words_in(language, "report")
    body = [
        overview(published, language),
        *(_of_changed if published.changed else _of_suppressed)(published, certificate, language),
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


def _of_suppressed(
    published: Published, certificate: Mapping[str, Any], language: str
) -> list[Markup]:
    words = words_in(language, "report")
    intervals = intervals_of(published, certificate)
    return [
        _map(published, language),
        section(
            words["losses"],
            element("p", words["losses note"], class_="note"),
            share_table(published, language),
        ),
        section(
            words["intervals"],
            element("p", words["intervals note"], class_="note"),
            *([width_table(intervals, language)] if len(intervals.cell) else []),
            interval_table(published, intervals, language),
        ),
        section(words["certificate"], *_attacker(certificate, words)),
    ]


def _of_changed(
    published: Published, certificate: Mapping[str, Any], language: str
) -> list[Markup]:
    words = words_in(language, "report")
    return [
        *where_missing(published, language),
        section(words["certificate"], *shown_figures(certificate, words)),
    ]


def where_missing(published: Published, language: str) -> list[Markup]:
    """Where values are missing, if they are anywhere."""
    missing = (published.suppressed | published.empty).any()
    return [_map(published, language)] if missing else []


def _map(published: Published, language: str) -> Markup:
    words = words_in(language, "report")
    marks = (
        Mark("open", words["published"], 12),
        Mark("shut", words["suppressed"], 12),
        Mark("none", words["empty"], 3),
    )
    status = np.where(published.suppressed, 1, np.where(published.empty, 2, 0)).astype(np.int8)
    return section(words["map"], cell_map(published, status, marks, language))


def shown_figures(certificate: Mapping[str, Any], words: Words) -> list[Markup]:
    """Figures that are published with the table."""
    figures: Mapping[str, Any] = certificate.get("shown", {})
    if not figures:
        return []
    rows = [(str(name), str(value)) for name, value in figures.items()]
    return [element("p", words["shown"], class_="note"), setting_list(dict(rows), words)]


def _attacker(certificate: Mapping[str, Any], words: Words) -> list[Markup]:
    kind = str(certificate.get("attacker", "outsider"))
    described = words[kind if kind in ("outsider", "contributor") else "informed"]
    return [element("p", f"{words['attacker']}: {described}.")]
