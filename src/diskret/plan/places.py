"""Where in a template something stands, for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
        words.said(asked.unit, file=file, lines=few(map(str, own)))
        for file, own in by_sheet.items()
    )


def few(names: Iterable[str], most: int = _SHOWN) -> str:
    """The first of some names, and a sign that there are more.

    >>> few("abcdef")
    'a, b, c, d, …'
    """
    several = list(names)
    return ", ".join([*several[:most], *["…"][: len(several) > most]])
