"""What files for exchange are written from: axes with labels, values and what is said of each.

A cube of the public profile is made from public values alone, and says of a hidden cell only that
it is hidden. One of the internal profile holds every value, with what the office knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.publish.formats.symbols import SymbolSet
from diskret.publish.in_words import circumstances, code_label, how_changed, measure, table_words
from diskret.publish.in_words import title as title_of
from diskret.tables import NO_BOUND, Derived, Dimension, Published, SideBySide
from diskret.tables.public_files import decimal_text
from diskret.texts import Words, scaled

#: What a cell can be: with a number, hidden, without any unit, or without a figure at all.
SHOWN, HIDDEN, EMPTY, NO_FIGURE = 0, 1, 2, 3


@dataclass(frozen=True)
class Axis:
    """A classifying variable: codes, the labels of those that have one, and their parents.

    `labels` is ``""`` and `parents` −1 where there is none.
    """

    name: str
    codes: tuple[str, ...]
    labels: tuple[str, ...]
    parents: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True)
class Kept:
    """What the office alone knows of each cell: why it is hidden, in codes and in words."""

    conf_status: tuple[str, ...]
    sbs: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Cube:
    """Cells by axes, periods and measures.

    `periods` is empty where nothing is said of them; `labels` are those of `measures`. `value`,
    `state` and the bounds have a place for each combination of codes, period and measure,
    flat, the last fastest; `lower` and `upper` are those of hidden cells, if they are published.
    `notes` are lines of text; `symbols` and `language` are those of the files for readers; `kept`
    is there in the internal profile alone.
    """

    name: str
    title: str
    axes: tuple[Axis, ...]
    periods: tuple[str, ...]
    measures: tuple[str, ...]
    labels: tuple[str, ...]
    decimals: tuple[int, ...]
    value: NDArray[np.int64]
    state: NDArray[np.int8]
    notes: tuple[str, ...]
    symbols: SymbolSet
    language: str
    counts: tuple[bool, ...]
    lower: NDArray[np.int64] | None = None
    upper: NDArray[np.int64] | None = None
    kept: Kept | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of codes, periods (if any) and measures."""
        periods = (len(self.periods),) if self.periods else ()
        return (*map(len, self.axes), *periods, len(self.measures))

    @property
    def words(self) -> Words:
        """The fixed texts in the language of the files."""
        return table_words(self.language, "workbook", "exchange")

    @property
    def period(self) -> str:
        """What the periods are called; no axis has this name."""
        return free(self.words["vintage"], [axis.name for axis in self.axes])

    @property
    def contents(self) -> str:
        """What the measures are called; no axis has this name."""
        return free(self.words["contents"], [self.period, *(axis.name for axis in self.axes)])

    def texts(self, of: NDArray[np.int64] | None = None) -> list[str]:
        """All values, or other scaled figures of all cells, as decimals."""
        figures = (self.value if of is None else of).reshape(-1, len(self.measures))
        columns = [
            decimal_text(np.ascontiguousarray(figures[:, i]), places).to_pylist()
            for i, places in enumerate(self.decimals)
        ]
        return [text for row in zip(*columns, strict=True) for text in row]

    def bounds(self, cell: int) -> tuple[str | None, str | None]:
        """The published bounds of a hidden cell as decimals; None: it has none."""
        if self.lower is None or self.upper is None:
            return None, None
        places = self.decimals[cell % len(self.measures)]
        found = [int(bound[cell]) for bound in (self.lower, self.upper)]
        low, high = (
            None if abs(one) == NO_BOUND else decimal_text(np.array([one]), places)[0].as_py()
            for one in found
        )
        return low, high


def free(name: str, taken: Sequence[str]) -> str:
    """A name that is not taken; with a line below it if need be.

    >>> free("Period", ["Period", "region"])
    'Period_'
    """
    folded = {one.casefold() for one in taken}
    while name.casefold() in folded:
        name += "_"
    return name


def public_cube(published: Published, title: str | None, language: str, symbols: SymbolSet) -> Cube:
    """The public profile of a table; `title` None for "<measure> by <dimensions>"."""
    words = table_words(language, "workbook", "exchange")
    lower = upper = None
    if published.intervals:
        lower, upper = published.intervals["lower"], published.intervals["upper"]
    return Cube(
        name=published.name,
        title=title_of(published, title, words),
        axes=axes_of(published.dimensions, words),
        periods=(published.vintage,) if published.vintage else (),
        measures=(published.measure,),
        labels=(measure(published, words),),
        decimals=(published.decimals,),
        value=_shown(published),
        state=_state(published),
        notes=_notes(published, words),
        symbols=symbols,
        language=language,
        counts=(published.frequency,),
        lower=lower,
        upper=upper,
    )


def cube_of_several(shown: SideBySide, language: str, symbols: SymbolSet) -> Cube:
    """The public profile of tables and figures side by side, by measure and, if told, by period."""
    words = table_words(language, "workbook", "exchange")
    names = [_key(part) for part in shown.parts]
    if len(set(names)) < len(names):  # e.g. one measure for two populations
        names = [(part.name, period) for part, (_, period) in zip(shown.parts, names, strict=True)]
    if "" in {period for _, period in names}:  # a period of some only is none of the axis
        names = [(part.name, "") for part in shown.parts]
    measures = tuple(dict.fromkeys(name for name, _ in names))
    periods = tuple(dict.fromkeys(period for _, period in names))
    if periods != ("",):
        periods = tuple(sorted(periods))
    of = {name: part for (name, _), part in zip(names, shown.parts, strict=True)}
    cells = shown.parts[0].value.size
    value = np.zeros((cells, len(periods), len(measures)), dtype=np.int64)
    state = np.full(value.shape, NO_FIGURE, dtype=np.int8)
    decimals = [
        max(p.decimals for (n, _), p in zip(names, shown.parts, strict=True) if n == name)
        for name in measures
    ]
    for (name, period), part in zip(names, shown.parts, strict=True):
        at = measures.index(name)
        where = slice(None), periods.index(period), at
        value[where] = _shown(part) * 10 ** (decimals[at] - part.decimals)
        state[where] = _state(part)
    notes = [
        f"{part.name}: {note}"
        for part in shown.parts
        if isinstance(part, Published)
        for note in _notes(part, words)
    ]
    return Cube(
        name=shown.name,
        title=shown.name,
        axes=axes_of(shown.parts[0].dimensions, words),
        periods=() if periods == ("",) else periods,
        measures=measures,
        labels=tuple(_label(of[name], name, words) for name in measures),
        decimals=tuple(decimals),
        value=value.ravel(),
        state=state.ravel(),
        notes=tuple(notes),
        symbols=symbols,
        language=language,
        counts=tuple(isinstance(of[name], Published) and of[name].frequency for name in measures),  # pyright: ignore
    )


def cube_of_figure(shown: Derived, language: str, symbols: SymbolSet) -> Cube:
    """The public profile of a derived figure; that of an index has all its periods."""
    words = table_words(language, "workbook", "exchange")

    def placed(array: NDArray[Any]) -> NDArray[Any]:
        if not shown.periods:
            return array
        return array.reshape(len(shown.periods), -1).T.ravel()  # periods behind the codes

    return Cube(
        name=shown.name,
        title=shown.name,
        axes=axes_of(shown.dimensions, words),
        periods=shown.periods or tuple(filter(None, [_key(shown)[1]])),
        measures=(shown.name,),
        labels=(shown.name,),
        decimals=(shown.decimals,),
        value=placed(_shown(shown)),
        state=placed(_state(shown)),
        notes=(),
        symbols=symbols,
        language=language,
        counts=(False,),
    )


def axes_of(dimensions: Sequence[Dimension], words: Words) -> tuple[Axis, ...]:
    """The axes of a table, labels in the language of the words."""
    return tuple(
        Axis(
            d.name,
            d.hierarchy.codes,
            tuple(
                "" if (label := code_label(d, i, words)) == code else label
                for i, code in enumerate(d.hierarchy.codes)
            ),
            tuple(d.hierarchy.parent.tolist()),
        )
        for d in dimensions
    )


def interval_text(cube: Cube, cell: int) -> str:
    """The published range of a hidden cell in words; empty if it has no bound."""
    low, high = cube.bounds(cell)
    if low is None or high is None:
        word = cube.words["at most" if low is None else "at least"]
        return f"{word} {low or high}" if low or high else ""
    return f"{low}\N{EN DASH}{high}"


def _key(part: Published | Derived) -> tuple[str, str]:
    if isinstance(part, Derived):
        return part.name, part.inputs[0].vintage
    return part.measure, part.vintage


def _label(part: Published | Derived, name: str, words: Words) -> str:
    plain = isinstance(part, Published) and name == part.measure
    return measure(part, words) if plain else name  # pyright: ignore[reportArgumentType]


def _shown(part: Published | Derived) -> NDArray[np.int64]:
    return np.where(part.suppressed | part.empty, 0, part.value).ravel()


def _state(part: Published | Derived) -> NDArray[np.int8]:
    without = NO_FIGURE if isinstance(part, Derived) else EMPTY
    found = np.where(part.suppressed, HIDDEN, np.where(part.empty, without, SHOWN))
    return found.astype(np.int8).ravel()


def _notes(published: Published, words: Words) -> tuple[str, ...]:
    def written(value: int) -> str:
        return scaled(value, published.decimals, words.language)

    told = {**circumstances(published, words, written), **how_changed(published, words)}
    return tuple(f"{heading}: {text}" for heading, text in told.items())
