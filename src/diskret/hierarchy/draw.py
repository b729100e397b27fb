"""A code tree as a picture."""

# matplotlib's methods say little about their types.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from diskret.drawing import LINE, MAIN, shortened, single_plot
from diskret.errors import InputError
from diskret.hierarchy.tree import Hierarchy
from diskret.texts import check_language, number, words_in

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Lines that can be read on one picture.
_MOST = 200
_LONGEST = 48


def draw_tree(hierarchy: Hierarchy, *, depth: int | None = None, language: str = "en") -> Figure:
    """Draw a code tree: a line a code, parents to the left; needs the extra ``plots``.

    Parameters
    ----------
    hierarchy
        The tree.
    depth
        Levels below the total that are drawn, at least 1; None: all. Where codes below are left
        out, their number is said.
    language
        ``"en"`` or ``"de"``, also for labels.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        More than 200 codes would be drawn, `depth` is below 1, there is no such language, or
        matplotlib is missing.

    Examples
    --------
    >>> import diskret as dk
    >>> tree = dk.Hierarchy.from_prefix(["A01", "A02", "B05"], (1, 2))
    >>> [text.get_text() for text in dk.draw_tree(tree).axes[0].texts]
    ['Total', 'A', 'A01', 'A02', 'B', 'B05']
    """
    check_language(language)
    if depth is not None and depth < 1:
        raise InputError(f"depth={depth} must be at least 1")
    levels = int(hierarchy.level.max(initial=0))
    deepest = levels if depth is None else min(depth, levels)
    drawn = np.flatnonzero(hierarchy.level <= deepest)
    if len(drawn) > _MOST:
        raise InputError(
            f"{len(drawn):,} codes are more than a picture shows ({_MOST}); draw fewer levels with "
            "depth="
        )
    words = words_in(language, "pictures")
    title = words.said("tree", count=number(len(hierarchy), language), levels=levels + 1)
    figure, axes = single_plot(title, "", "", 3 + 1.6 * deepest, 0.2 * len(drawn) + 0.9)
    row = {int(code): at for at, code in enumerate(drawn)}
    for code, at in row.items():
        level = int(hierarchy.level[code])
        if (parent := int(hierarchy.parent[code])) >= 0:
            above = row[parent]
            axes.plot([level - 1, level - 1, level], [above + 0.2, at, at], color=LINE, lw=0.8)
        leaf = bool(hierarchy.is_leaf[code])
        axes.plot(level, at, "o", ms=4, color=MAIN, mfc=MAIN if leaf else "white")
        axes.text(level + 0.08, at, _text(hierarchy, code, level == deepest, language),
                  va="center", fontsize=8)  # fmt: skip
    axes.set_xlim(-0.2, deepest + 1.6)
    axes.set_ylim(len(drawn) - 0.4, -0.6)
    axes.set_axis_off()
    return figure


def _text(hierarchy: Hierarchy, code: int, last: bool, language: str) -> str:
    name = hierarchy.codes[code]
    label = hierarchy.label(name, language)
    text = name if not label or label == name else f"{name} {label}"
    below = int(hierarchy.ends[code]) - code - 1
    more = f" (+{number(below, language)})" if last and below else ""
    return shortened(text, _LONGEST) + more
