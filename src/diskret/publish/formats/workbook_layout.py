"""How a public table is laid out on its sheet, and in which words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diskret.publish.formats.symbols import SymbolSet
from diskret.tables import NO_BOUND, Dimension, Published
from diskret.texts import Words, scaled, words_in

#: Most codes of a dimension that runs across.
MOST_ACROSS = 30


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
        return words_in(self.language, "workbook")

    @cached_property
    def across(self) -> Dimension | None:
        """The dimension whose codes are columns; None for a long list."""
        last = self.published.dimensions[-1]
        several = len(self.published.dimensions) > 1
        return last if several and len(last) <= MOST_ACROSS else None

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
        published, told = self.published, dict[str, str]()
        if published.vintage:
            told[self.words["vintage"]] = published.vintage
        if published.where:
            told[self.words["where"]] = published.where.words(
                f" {self.words['or']} ", self.words["to"]
            )
        if published.rounding > 1:
            told[self.words["rounding"]] = self.number(published.rounding)
        if published.changed:
            told[self.words["changed"]] = self.words[f"changed {published.changed}"]
        return told

    @property
    def note(self) -> str | None:
        """A line below the title where values are not the true ones."""
        if not self.published.changed:
            return None
        return f"{self.words['changed']}: {self.circumstances[self.words['changed']]}."

    @property
    def header_rows(self) -> int:
        """Rows above the first value."""
        return 3 if self.across is None else 4

    @property
    def measure(self) -> str:
        """What the values are called."""
        named = self.published.measure
        counted = self.published.frequency and named in ("count", "units")
        return self.words[named] if counted else named

    @property
    def title(self) -> str:
        """Text above the table."""
        if self.given_title is not None:
            return self.given_title
        *first, last = [d.name for d in self.published.dimensions]
        by = f"{', '.join(first)} {self.words['and']} {last}" if first else last
        return f"{self.measure} {self.words['by']} {by}"

    def texts(self, dimension: Dimension) -> list[str]:
        """What stands for each code: "code label", but the label alone for the total."""
        shown: list[str] = []
        for i, code in enumerate(dimension.hierarchy.codes):
            label = self.label(dimension, i)
            alone = i == 0 or f"{label} ".startswith(f"{code} ")
            shown.append(label if alone else f"{code} {label}")
        return shown

    def label(self, dimension: Dimension, position: int) -> str:
        """The label of a code in the language; the code itself if it has none."""
        tree = dimension.hierarchy
        code = tree.codes[position]
        unnamed = self.words["total"] if position == 0 and code == "Total" else code
        return tree.label(code, self.language) or unnamed
