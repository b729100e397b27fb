"""The table as a picture: one small box a cell, coloured by what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.publish.in_words import code_text
from diskret.tables import Dimension, Published
from diskret.texts import Words, number

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
    words: Words,
    notes: Mapping[int, str] | None = None,
) -> dict[str, Any]:
    """What the template draws: pictures with their key and caption.

    Rows are the first dimension, columns as many of the last as fit; all others are at their total.
    `status`: position of each cell's mark in `marks`, shape of the table. `notes`: position of a
    cell → what is said of it where a pointer rests on it.
    """
    dimensions = published.dimensions
    split = _first_across(dimensions)
    rows = _shown(dimensions[0], _MOST_ROWS)
    across = [_shown(d, _MOST_COLUMNS) for d in dimensions[split:]]
    index = [rows, *(np.zeros(1, np.int64) for _ in dimensions[1:split]), *across]
    boxes = status[np.ix_(*index)].reshape(len(rows), -1)
    cells = np.arange(status.size).reshape(status.shape)[np.ix_(*index)].reshape(boxes.shape)
    group = int(np.prod([len(a) for a in across[1:]], dtype=np.int64))
    tops = [code_text(dimensions[split], int(i), words) for i in across[0]] if across else []

    pictures: list[dict[str, Any]] = []
    for first in range(0, len(rows), _ROWS_A_PICTURE):
        part = slice(first, first + _ROWS_A_PICTURE)
        depth = dimensions[0].hierarchy.level
        sides = [(code_text(dimensions[0], int(i), words), int(depth[i])) for i in rows[part]]
        said = _said(cells[part], notes or {})
        pictures.append(_picture(boxes[part], sides, tops, group, marks, words, said))
    caption = _caption(published, split, [rows, *across], words)
    return {"marks": marks, "pictures": pictures, "caption": caption}


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
) -> str:
    dimensions = published.dimensions
    across = dimensions[split:]
    lines = [words.said("map rows", rows=dimensions[0].name)]
    if across:
        lines.append(words.said("map columns", columns=" × ".join(d.name for d in across)))
    for dimension, codes in zip(across[1:], shown[2:], strict=True):
        texts = [code_text(dimension, int(i), words) for i in codes]
        lines.append(words.said("map order", codes=", ".join(texts)))
    if dimensions[1:split]:
        others = ", ".join(d.name for d in dimensions[1:split])
        lines.append(words.said("map total", names=others))
    for dimension, codes in zip((dimensions[0], *across), shown, strict=True):
        if len(codes) < len(dimension):
            shown_of_all = {"shown": len(codes), "all": len(dimension)}
            lines.append(words.said("map part", name=dimension.name, **shown_of_all))
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
    words: Words,
    said: Mapping[tuple[int, int], str],
) -> dict[str, Any]:
    columns = boxes.shape[1]
    groups = columns // group
    gap = _GAP if group > 1 else 0
    width = min(max((_WIDTH - gap * groups) // columns, 4), _WIDEST_BOX)
    top = 8 + min(max(map(len, tops), default=0), _LONGEST_TOP) * 5

    def x(column: int) -> int:
        return _SIDE + column * width + column // group * gap

    rows: list[dict[str, Any]] = []
    for row, (text, depth) in enumerate(sides):
        y = top + row * _HEIGHT
        inset = min(depth, 6) * 9
        runs = [
            {"x1": x(start), "x2": x(start) + (stop - start) * width, "mark": marks[at]}
            for start, stop in _runs(boxes[row], group)
            for at in (int(boxes[row, start]),)
        ]
        cut = _cut(text, _LONGEST_SIDE - inset // 5)
        rows.append({"text": cut, "x": inset, "y": y + 10, "middle": y + 6.5, "runs": runs})
    counts = ", ".join(
        f"{mark.name}: {number(int((boxes == i).sum()), words.language)}"
        for i, mark in enumerate(marks)
    )
    return {
        "width": _SIDE + columns * width + groups * gap + 60,
        "height": top + len(boxes) * _HEIGHT + 4,
        "dash": width - 1,
        "alt": words.said("map alt", rows=len(boxes), columns=columns, counts=counts),
        # rotated texts begin above the middle of what they name
        "tops": [
            {
                "text": _cut(text, _LONGEST_TOP),
                "x": f"{x(g * group) + group * width / 2 + 3:g}",
                "y": top - 4,
            }
            for g, text in enumerate(tops)
        ],
        "rows": rows,
        "spots": [
            {"text": text, "x": x(column), "y": top + row * _HEIGHT + 0.5}
            for (row, column), text in said.items()
        ],
    }


def _runs(row: NDArray[np.int8], group: int) -> list[tuple[int, int]]:
    """Where neighbours of one group have the same mark, as starts and stops."""
    at = np.arange(len(row))
    new = np.ones(len(row), dtype=bool)
    new[1:] = (np.diff(row) != 0) | (at[1:] % group == 0)
    starts = np.flatnonzero(new)
    return list(zip(starts.tolist(), [*starts[1:].tolist(), len(row)], strict=True))


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
