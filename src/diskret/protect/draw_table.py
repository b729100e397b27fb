"""A protected table as a picture: which cells are shown, suppressed and empty."""

# matplotlib's methods say little about their types.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from diskret.drawing import LINE, STATES, shortened, single_plot
from diskret.errors import InputError
from diskret.protect.result import Result
from diskret.publish.contract import Protected
from diskret.publish.in_words import code_text, table_words
from diskret.publish.in_words import title as table_title
from diskret.tables import Dimension, Published
from diskret.texts import Words, check_language, scaled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Values are written into the cells as long as they can be read.
_MOST_WRITTEN = 400
#: And codes beside them.
_MOST_NAMED = 80
_LONGEST = 28
#: Cells across and down: more cannot be told apart.
_MOST = 1000


def draw_table(
    shown: Published | Protected,
    *,
    rows: str | None = None,
    columns: str | None = None,
    of: Mapping[str, str] | None = None,
    internal: bool = False,
    title: str | None = None,
    language: str = "en",
) -> Figure:
    """Draw which cells of a table are published, suppressed or empty; needs the extra ``plots``.

    Nothing but what is published is in the picture, unless `internal` asks for more.

    Parameters
    ----------
    shown
        A result, or what was published.
    rows, columns
        The variables down and across; None: the first, and the last of the others.
    of
        Other variables → the code to draw; left out: the total.
    internal
        Tell unsafe cells (primary) from those that are hidden to protect them (secondary). Such a
        picture is confidential; it needs a result of suppression.
    title
        Heading; None: the measure and the variables.
    language
        ``"en"`` or ``"de"``.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        There is no such variable, code or language, `shown` does not know the kinds of suppressed
        cells, there are more than 1,000 rows or columns, or matplotlib is missing.

    Examples
    --------
    >>> import diskret as dk
    >>> import pyarrow as pa
    >>> firms = pa.table({"region": [*"NSWE"], "firms": [7, 2, 5, 9]})
    >>> table = dk.Table.from_cells(firms, by={"region": None}, count="firms")
    >>> result = dk.suppress(table, dk.rules.MinimumFrequency(3))
    >>> [text.get_text() for text in dk.draw_table(result).legends[0].get_texts()]
    ['published', 'suppressed']
    """
    check_language(language)
    published = shown if isinstance(shown, Published) else shown.published
    names = [one.name for one in published.dimensions]
    down = _place(names, rows, "rows", 0)
    across = _across(names, columns, down)
    at = _fixed(published, down, across, dict(of or {}))
    state = _states(shown, published, internal)[at]
    value, empty = published.value[at], published.empty[at]
    if across is None:
        state, value, empty = (one[:, None] for one in (state, value, empty))
    elif across < down:
        state, value, empty = (one.T for one in (state, value, empty))
    if max(state.shape) > _MOST:
        raise InputError(
            f"{published.name!r} has {state.shape[0]:,} × {state.shape[1]:,} cells here, and a "
            f"picture shows at most {_MOST:,} of each variable; draw a coarser table (Table.recode)"
        )
    words = table_words(language, "pictures")
    of_rows = published.dimensions[down]
    of_columns = None if across is None else published.dimensions[across]
    width, height = 0.55 * state.shape[1] + 4.5, 0.22 * state.shape[0] + 1.5
    heading = table_title(published, title, words)
    figure, axes = single_plot(
        words.said("confidential", title=heading) if internal else heading,
        of_columns.name if of_columns else "",
        of_rows.name,
        min(max(width, 5), 16),
        min(max(height, 3), 22),
    )
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Patch, Rectangle

    keys = list[Patch]()
    thin = 0.4 if state.size <= _MOST_WRITTEN else 0
    for name, look in STATES.items():
        own = np.argwhere(state == name)
        if len(own):
            drawn: dict[str, Any] = {**look, "edgecolor": LINE, "linewidth": thin}
            squares = [Rectangle((x - 0.5, y - 0.5), 1, 1) for y, x in own.tolist()]
            axes.add_collection(PatchCollection(squares, **drawn))
            keys.append(Patch(label=words[name], **drawn))
    if state.size <= _MOST_WRITTEN:
        for (y, x), name in np.ndenumerate(state):
            if name == "published":
                text = scaled(int(value[y, x]), published.decimals, language)
                axes.text(x, y, text, ha="center", va="center", fontsize=7)
    axes.set_xlim(-0.5, state.shape[1] - 0.5)
    axes.set_ylim(state.shape[0] - 0.5, -0.5)
    axes.set_yticks(*_ticks(of_rows, words), fontsize=7)
    if of_columns:
        axes.set_xticks(*_ticks(of_columns, words), fontsize=7, rotation=90)
    else:
        axes.set_xticks([])
    in_a_line = len(keys) if not internal or width > 9 else 2
    figure.legend(handles=keys, loc="outside lower center", ncols=in_a_line, frameon=False)
    return figure


def _place(names: list[str], asked: str | None, option: str, usual: int) -> int:
    if asked is None:
        return usual
    if asked not in names:
        raise InputError(f"{option}={asked!r} is no variable of the table: {', '.join(names)}")
    return names.index(asked)


def _across(names: list[str], asked: str | None, down: int) -> int | None:
    others = [place for place in range(len(names)) if place != down]
    if not others:
        return None
    found = _place(names, asked, "columns", others[-1])
    if found == down:
        raise InputError(f"rows= and columns= both name {names[down]!r}")
    return found


def _fixed(
    published: Published, down: int, across: int | None, of: dict[str, str]
) -> tuple[int | slice, ...]:
    at: list[int | slice] = []
    for place, dimension in enumerate(published.dimensions):
        if place in (down, across):
            at.append(slice(None))
            continue
        code = of.pop(dimension.name, dimension.hierarchy.total)
        if code not in dimension.hierarchy.position:
            raise InputError(f"of= asks for {code!r}, which is no code of {dimension.name!r}")
        at.append(dimension.hierarchy.position[code])
    if of:
        raise InputError(f"of= names {next(iter(of))!r}, which is no other variable of the table")
    return tuple(at)


def _states(
    shown: Published | Protected, published: Published, internal: bool
) -> np.ndarray[tuple[int, ...], np.dtype[np.object_]]:
    if internal:
        if isinstance(shown, Result):
            return shown.status
        raise InputError(
            "internal= needs a result of suppression, which knows why each cell is hidden"
        )
    state = np.full(published.value.shape, "published", dtype=object)
    state[published.empty] = "empty"
    state[published.suppressed] = "suppressed"
    return state


def _ticks(dimension: Dimension, words: Words) -> tuple[list[int], list[str]]:
    """Places and texts of the codes beside the cells; some, where there are many."""
    every = -(-len(dimension) // _MOST_NAMED)
    places = list(range(0, len(dimension), every))
    texts = [code_text(dimension, at, words) for at in places]
    return places, [shortened(text, _LONGEST) for text in texts]
