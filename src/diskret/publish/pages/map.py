"""The table as a picture: one small box a cell, coloured by what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.publish.pages.markup import Markup, element
from diskret.publish.pages.texts import code_text
from diskret.tables import Dimension, Published
from diskret.texts import Words, number, words_in

_MOST_ROWS, _MOST_COLUMNS = 200, 120
_ROWS_A_PICTURE = 60  # one picture fits on a printed page
_HEIGHT, _SIDE, _WIDTH, _GAP = 13, 230, 780, 4
_WIDEST_BOX = 26
_LONGEST_SIDE, _LONGEST_TOP = 38, 22


@dataclass(frozen=True)
class Mark:
    """How the cells of one status look: the class of the line and its thickness."""

    style: str
    name: str
    thickness: int


def cell_map(
    published: Published,
    status: NDArray[np.int8],
    marks: Sequence[Mark],
    language: str,
    notes: Mapping[int, str] | None = None,
) -> Markup:
    """The map with its key and caption.

    Parameters
    ----------
    published
        The table; rows are its first dimension, columns as many of the last as fit, all
        others are shown at their total.
    status
        Position of each cell's mark in `marks`, shape of the table.
    marks
        What statuses there are.
    language
        ``"en"`` or ``"de"``.
    notes
        What to say of single cells, by their position, where a pointer rests on them.
    """
    words = words_in(language, "report")
    dimensions = published.dimensions
    split = _first_across(dimensions)
    rows = _shown(dimensions[0], _MOST_ROWS)
    across = [_shown(d, _MOST_COLUMNS) for d in dimensions[split:]]
    index = [rows, *(np.zeros(1, np.int64) for _ in dimensions[1:split]), *across]
    boxes = status[np.ix_(*index)].reshape(len(rows), -1)
    cells = np.arange(status.size).reshape(status.shape)[np.ix_(*index)].reshape(boxes.shape)
    group = int(np.prod([len(a) for a in across[1:]], dtype=np.int64))
    tops = [code_text(dimensions[split], int(i), words) for i in across[0]] if across else []

    pictures: list[Markup] = []
    for first in range(0, len(rows), _ROWS_A_PICTURE):
        part = slice(first, first + _ROWS_A_PICTURE)
        depth = dimensions[0].hierarchy.level
        sides = [(code_text(dimensions[0], int(i), words), int(depth[i])) for i in rows[part]]
        said = _said(cells[part], notes or {})
        pictures.append(_picture(boxes[part], sides, tops, group, marks, language, said))
    caption = _caption(published, split, [rows, *across], words, language)
    keys = element("ul", *(_key(mark) for mark in marks), class_="key")
    return element("figure", keys, *pictures, element("figcaption", caption))


# ── what is shown ───────────────────────────────────────────────────────────────────


def _first_across(dimensions: tuple[Dimension, ...]) -> int:
    """The first of the dimensions that run across."""
    split, columns = len(dimensions), 1
    while split > 1 and (
        split == len(dimensions) or columns * len(dimensions[split - 1]) <= _MOST_COLUMNS
    ):
        split -= 1
        columns *= len(dimensions[split])
    return split


def _shown(dimension: Dimension, most: int) -> NDArray[np.int64]:
    """All codes if they fit, else all down to some depth, else the first."""
    level = dimension.hierarchy.level
    fits = np.flatnonzero(np.cumsum(np.bincount(level)) <= most)
    # below a depth of 1 a part would show nothing but the total
    if len(fits) > 1 or len(dimension) == 1:
        return np.flatnonzero(level <= fits[-1])
    return np.arange(min(len(dimension), most))


def _caption(
    published: Published,
    split: int,
    shown: Sequence[NDArray[np.int64]],
    words: Words,
    language: str,
) -> str:
    dimensions = published.dimensions
    across = dimensions[split:]
    lines = [words["map rows"].format(rows=dimensions[0].name)]
    if across:
        lines.append(words["map columns"].format(columns=" × ".join(d.name for d in across)))
    for dimension, codes in zip(across[1:], shown[2:], strict=True):
        texts = [code_text(dimension, int(i), words) for i in codes]
        lines.append(words["map order"].format(codes=", ".join(texts)))
    if dimensions[1:split]:
        others = ", ".join(d.name for d in dimensions[1:split])
        lines.append(words["map total"].format(names=others))
    for dimension, codes in zip((dimensions[0], *across), shown, strict=True):
        if len(codes) < len(dimension):
            counts = {
                "shown": number(len(codes), language),
                "all": number(len(dimension), language),
            }
            lines.append(words["map part"].format(name=dimension.name, **counts))
    return " ".join(lines)


def _said(cells: NDArray[np.int64], notes: Mapping[int, str]) -> dict[tuple[int, int], str]:
    """Notes by row and column of the picture."""
    if not notes:
        return {}
    at = np.argwhere(np.isin(cells, np.fromiter(notes, dtype=np.int64)))
    return {(int(i), int(j)): notes[int(cells[i, j])] for i, j in at}


# ── how it is drawn ─────────────────────────────────────────────────────────────────


def _picture(
    boxes: NDArray[np.int8],
    sides: Sequence[tuple[str, int]],
    tops: Sequence[str],
    group: int,
    marks: Sequence[Mark],
    language: str,
    said: Mapping[tuple[int, int], str],
) -> Markup:
    columns = boxes.shape[1]
    groups = columns // group
    gap = _GAP if group > 1 else 0
    width = min(max((_WIDTH - gap * groups) // columns, 4), _WIDEST_BOX)
    top = 8 + min(max(map(len, tops), default=0), _LONGEST_TOP) * 5
    total_width = _SIDE + columns * width + groups * gap + 60
    height = top + len(boxes) * _HEIGHT + 4

    def x(column: int) -> int:
        return _SIDE + column * width + column // group * gap

    drawn = [
        element(
            "text",
            _cut(text, _LONGEST_TOP),
            # rotated texts begin above the middle of what they name
            transform=f"translate({x(g * group) + group * width / 2 + 3:g},{top - 4})rotate(-55)",
        )
        for g, text in enumerate(tops)
    ]
    for row, (text, depth) in enumerate(sides):
        y = top + row * _HEIGHT
        inset = min(depth, 6) * 9
        cut = _cut(text, _LONGEST_SIDE - inset // 5)
        drawn.append(element("text", cut, x=inset, y=y + 10))
        for start, stop in _runs(boxes[row], group):
            mark = marks[boxes[row, start]]
            drawn.append(
                element(
                    "line",
                    x1=x(start),
                    x2=x(start) + (stop - start) * width,
                    y1=y + 6.5,
                    y2=y + 6.5,
                    class_=mark.style,
                    stroke_width=mark.thickness,
                    # one dash a box
                    stroke_dasharray=f"{width - 1},1",
                )
            )
        drawn.append(Markup("\n"))
    for (row, column), text in said.items():
        drawn.append(
            element(
                "rect",
                element("title", text),
                x=x(column),
                y=top + row * _HEIGHT + 0.5,
                width=width - 1,
                height=12,
                class_="why",
            )
        )
    counts = ", ".join(
        f"{mark.name}: {number(int((boxes == i).sum()), language)}" for i, mark in enumerate(marks)
    )
    alt = words_in(language, "report")["map alt"].format(
        rows=len(boxes), columns=columns, counts=counts
    )
    return element(
        "svg",
        *drawn,
        width=total_width,
        height=height,
        viewBox=f"0 0 {total_width} {height}",
        role="img",
        aria_label=alt,
    )


def _runs(row: NDArray[np.int8], group: int) -> list[tuple[int, int]]:
    """Where neighbours of one group have the same mark, as starts and stops."""
    at = np.arange(len(row))
    new = np.ones(len(row), dtype=bool)
    new[1:] = (np.diff(row) != 0) | (at[1:] % group == 0)
    starts = np.flatnonzero(new)
    return list(zip(starts.tolist(), [*starts[1:].tolist(), len(row)], strict=True))


def _key(mark: Mark) -> Markup:
    line = element("line", x1=0, x2=12, y1=6, y2=6, class_=mark.style, stroke_width=mark.thickness)
    return element("li", element("svg", line, width=12, height=12, role="presentation"), mark.name)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
