"""Where in a template something stands, for people."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from diskret.plan.values import Asked
from diskret.texts import Words

_SHOWN = 4


def places(asked: Asked, lines: Sequence[int], words: Words) -> str:
    """The file, or the sheets, with the lines; "" for none."""
    starts = sorted(asked.sheets)
    by_sheet: dict[str, list[int]] = {}
    for line in sorted({*lines}):
        before = starts[bisect_left(starts, line) - 1] if starts else 0
        by_sheet.setdefault(asked.sheets.get(before, asked.file), []).append(line - before)
    return "; ".join(
        words.said(asked.unit, file=file, lines=_few(own)) for file, own in by_sheet.items()
    )


def _few(lines: Sequence[int]) -> str:
    return ", ".join([*map(str, lines[:_SHOWN]), *["…"][: len(lines) > _SHOWN]])
