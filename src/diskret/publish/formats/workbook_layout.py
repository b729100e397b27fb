"""How a public table is laid out on its sheet, and in which words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diskret.publish.formats.symbols import SymbolSet
from diskret.publish.in_words import (
    circumstances,
    code_label,
    code_text,
    how_changed,
    measure,
    table_words,
    title,
)
from diskret.publish.sheet import across, header_rows
from diskret.tables import NO_BOUND, Dimension, Published
from diskret.texts import Words, scaled


@dataclass(frozen=True, eq=False)
class Layout:
    """Which dimension goes where, and what stands above and beside.

    `given_title` is the text above the table; None for "<measure> by <dimensions>". `dotted` sets
    thousands apart as German workbooks did that are there already.
    """

    published: Published
    symbols: SymbolSet
    language: str
    given_title: str | None
    dotted: bool = False

    @property
    def words(self) -> Words:
        """The fixed texts in the language of the workbook."""
        return table_words(self.language, "workbook")

    @cached_property
    def across(self) -> Dimension | None:
        """The dimension whose codes are columns; None for a long list."""
        return across(self.published)

    @cached_property
    def side(self) -> tuple[Dimension, ...]:
        """The dimensions whose codes stand in the first columns."""
        dimensions = self.published.dimensions
        return dimensions if self.across is None else dimensions[:-1]

    @cached_property
    def matrix(self) -> tuple[int, int]:
        """Rows and columns of values."""
        rows = int(np.prod([len(d) for d in self.side], dtype=np.int64))
        return rows, 1 if self.across is None else len(self.across)

    @cached_property
    def value(self) -> NDArray[np.int64]:
        """Scaled values; what may not be seen must not even set the width of a column."""
        published = self.published
        return np.where(published.suppressed | published.empty, 0, published.value)

    def hidden(self, cell: int) -> str:
        """What stands for a suppressed cell: the symbol, or the published range."""
        bounds = [bound.ravel()[cell] for bound in self.published.intervals.values()]
        if not bounds:
            return self.symbols.suppressed
        low, high = (None if abs(b) == NO_BOUND else self.number(int(b)) for b in bounds)
        if low is None or high is None:
            word = self.words["at most" if low is None else "at least"]
            return f"{word} {low or high}" if low or high else self.symbols.suppressed
        return f"{low}\N{EN DASH}{high}"

    def number(self, value: int) -> str:
        """A value as text, in the language of the sheet."""
        text = scaled(value, self.published.decimals, self.language)
        return text.replace("\N{NO-BREAK SPACE}", ".") if self.dotted else text

    @property
    def circumstances(self) -> dict[str, str]:
        """What a reader must know of the values beside their names: heading → text."""
        told = circumstances(self.published, self.words, self.number)
        return {**told, **how_changed(self.published, self.words)}

    @property
    def note(self) -> str | None:
        """A line below the title where values are not the true ones."""
        changed = how_changed(self.published, self.words).items()
        return next((f"{heading}: {text}." for heading, text in changed), None)

    @property
    def header_rows(self) -> int:
        """Rows above the first value."""
        return header_rows(self.published)

    @property
    def measure(self) -> str:
        """What the values are called."""
        return measure(self.published, self.words)

    @property
    def title(self) -> str:
        """Text above the table."""
        return title(self.published, self.given_title, self.words)

    def texts(self, dimension: Dimension) -> list[str]:
        """What stands for each code: "code label", but the label alone for the total."""
        return [code_text(dimension, i, self.words) for i in range(len(dimension))]

    def label(self, dimension: Dimension, position: int) -> str:
        """The label of a code in the language; the code itself if it has none."""
        return code_label(dimension, position, self.words)
