"""The page around a report, and what reports have in common: values that templates show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from diskret.errors import InputError
from diskret.publish.in_words import circumstances, code_text, how_changed, measure
from diskret.tables import CHANGES, Published
from diskret.texts import Words, number, percent, scaled

#: Width of the frame of a bar of shares, and of one of intervals, as the templates draw them.
_FRAME, _LONG_FRAME = 140, 150


# ── values that templates show ──────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Bar:
    """A bar that fills a share of its frame, and what is said of it where it cannot be seen."""

    share: float
    alt: str
    kind: ClassVar[str] = "share"

    @property
    def width(self) -> float:
        """In units of the drawing; never too narrow to be seen."""
        return max(_FRAME * min(self.share, 1.0), 1)


@dataclass(frozen=True)
class IntervalBar:
    """An interval on a scale from zero to its farther end; an open end runs to the edge.

    The office's have a mark at the true value.
    """

    lower: float | None
    upper: float | None
    value: float | None
    alt: str
    kind: ClassVar[str] = "interval"

    @property
    def start(self) -> float:
        """Where the bar begins in its frame."""
        return round(self._at(self.lower, self._scale[0]), 1)

    @property
    def width(self) -> float:
        """How long it is; never too narrow to be seen."""
        least, most = self._scale
        length = self._at(self.upper, most) - self._at(self.lower, least)
        return round(max(length, 1), 1)

    @property
    def mark(self) -> float | None:
        """Where the true value lies."""
        return None if self.value is None else round(self._at(self.value, 0), 1)

    @cached_property
    def _scale(self) -> tuple[float, float]:
        """Values at both edges of the frame."""
        known = [float(v) for v in (self.lower, self.upper, self.value, 0) if v is not None]
        least, most = min(known), max(known)
        return (
            2 * min(least, -1.0) if self.lower is None else least,
            2 * max(most, 1.0) if self.upper is None else most,
        )

    def _at(self, value: float | None, otherwise: float) -> float:
        least, most = self._scale
        scale = _LONG_FRAME / ((most - least) or 1.0)
        return ((otherwise if value is None else value) - least) * scale


@dataclass(frozen=True)
class Digest:
    """Hexadecimal figures."""

    text: str
    kind: ClassVar[str] = "digest"


Cell = str | Bar | IntervalBar | Digest


@dataclass(frozen=True, eq=False)
class DataTable:
    """A table: the first column heads the rows, and the columns from `text` on are numbers.

    Columns of bars and digests are none. All rows are as long as the head.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str | None = None
    text: int = 1
    style: str | None = None

    @cached_property
    def numeric(self) -> list[bool]:
        """Which columns are numbers."""
        drawn = {i for row in self.rows for i, one in enumerate(row) if not isinstance(one, str)}
        return [i >= self.text and i not in drawn for i in range(len(self.head))]


@dataclass(frozen=True)
class Tile:
    """One number of an overview."""

    figure: str
    name: str
    style: str | None = None


def tile(
    count: int, name: str, words: Words, style: str | None = None, share: float | None = None
) -> Tile:
    """A count, and its share where it has one."""
    part = "" if share is None else f" ({percent(share, words.language)})"
    return Tile(number(count, words.language), name + part, style)


# ── the page ────────────────────────────────────────────────────────────────────────────


def write_page(
    path: str | PathLike[str],
    name: str,
    words: Words,
    certificate: Mapping[str, Any],
    *,
    style: Sequence[str] = ("style.css",),
    **shown: Any,
) -> None:
    """Write a page from the template of that name; `shown` is what the template fills in."""
    page = page_text(name, words, certificate, style=style, **shown)
    try:
        Path(path).write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(
            f"{path}: the report cannot be written ({error.strerror}); is the folder missing "
            "or full?"
        ) from None


def page_text(
    name: str,
    words: Words,
    certificate: Mapping[str, Any],
    *,
    style: Sequence[str] = ("style.css",),
    **shown: Any,
) -> str:
    """The page from the template of that name."""
    # Jinja2 is imported with the first page, not with the verbs
    from diskret.texts.markup import Markup, asset, template

    return template(__package__ or "", f"{name}.html").render(
        words=words,
        style=Markup("").join(Markup("\n") + asset(__package__ or "", file) for file in style),
        footer=words.said("made", software=str(certificate.get("software", "diskret"))),
        statements=_statements(certificate, words),
        **shown,
    )


def _statements(certificate: Mapping[str, Any], words: Words) -> list[tuple[str, list[str]]]:
    """What is claimed and what is not: heading and sentences."""
    found: list[tuple[str, list[str]]] = []
    for key in ("claimed", "checked", "not_claimed"):
        sentences = certificate.get(key, {}).get(words.language, [])
        if sentences:
            # what was changed at random is claimed by design, not proven for each cell, and
            # risks of records are estimates
            family = certificate.get("family")
            changed = key == "claimed" and family in (*CHANGES, "microdata")
            found.append((words["claimed and checked" if changed else key], sentences))
    return found


def file_list(certificate: Mapping[str, Any], words: Words) -> DataTable | None:
    """The files that belong to a report, with their digests."""
    rows = [(name, Digest(digest)) for name, digest in certificate.get("files", {}).items()]
    return DataTable((words["file"], words["digest"]), rows) if rows else None


# ── tables in words ─────────────────────────────────────────────────────────────────────


def overview(published: Published, words: Words, tiles: Sequence[Tile] = ()) -> dict[str, Any]:
    """What was published, in numbers."""
    cells = int(published.value.size)
    suppressed, empty = int(published.suppressed.sum()), int(published.empty.sum())
    by = [words.said("codes", name=d.name, count=len(d)) for d in published.dimensions]
    shown = {words["in place of values"]: words["intervals shown"]} if published.intervals else {}
    facts = {
        words["table"]: published.name,
        words["measure"]: measure(published, words),
        words["dimensions"]: ", ".join(by),
        **circumstances(
            published, words, lambda unit: scaled(unit, published.decimals, words.language)
        ),
        **shown,
        **how_changed(published, words),
    }
    return {
        "tiles": [
            tile(cells, words["cells, totals included"], words),
            tile(cells - suppressed - empty, words["published"], words, "open"),
            tile(
                suppressed, words["suppressed"], words, "shut", suppressed / max(cells - empty, 1)
            ),
            *tiles,
            tile(empty, words["empty"], words),
        ],
        "facts": list(facts.items()),
    }


def cell_texts(published: Published, cells: Iterable[int], words: Words) -> list[str]:
    """The codes of cells, given as positions in C order, in words."""
    found: list[str] = []
    for cell in cells:
        at = np.unravel_index(cell, published.shape)
        texts = [code_text(d, int(i), words) for d, i in zip(published.dimensions, at, strict=True)]
        found.append(" · ".join(texts))
    return found
