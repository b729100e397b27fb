"""Where in a template something stands, for people."""

from __future__ import annotations

from collections.abc import Sequence

from diskret.plan.rows import placed
from diskret.plan.values import Asked
from diskret.texts import Words

_SHOWN = 4


def places(asked: Asked, lines: Sequence[int], words: Words) -> str:
    """The file, or the sheets, with the lines; "" for none."""
    by_sheet: dict[str, list[int]] = {}
    for line in sorted({*lines}):
        file, own = placed(asked.file, asked.sheets, line)
        by_sheet.setdefault(file, []).append(own)
    return "; ".join(
        words.said(asked.unit, file=file, lines=_few(own)) for file, own in by_sheet.items()
    )


def _few(lines: Sequence[int]) -> str:
    return ", ".join([*map(str, lines[:_SHOWN]), *["…"][: len(lines) > _SHOWN]])
