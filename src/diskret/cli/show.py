"""Protected tables, their certificates and files on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from diskret.cli.command import Language
from diskret.hierarchy import Hierarchy
from diskret.publish.formats.symbols import SymbolSet, symbol_set
from diskret.tables import Published
from diskret.texts import number, scaled, words_in

if TYPE_CHECKING:
    from diskret.protect.perturbed_result import PerturbedResult
    from diskret.protect.result import Result

_LABEL_WIDTH = 30
_PIPED_WIDTH = 120

ROWS = 30
COLUMNS = 12


def terminal() -> Console:
    """The standard output; wide enough for a table where no terminal says how wide it is."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_PIPED_WIDTH)


def show_results(
    results: Sequence[Result | PerturbedResult],
    folder: Path,
    language: Language,
    symbols: str | SymbolSet = "de-classic",
) -> None:
    """Show protected tables, what is claimed about them, and where the files are."""
    console, texts = terminal(), words_in(language, "commands")
    for result in results:
        console.print()
        show_table(console, result.published, language, symbol_set(symbols))
        show_claims(console, result.certificate.summary(language.value), language)
        for line in _recomputed(result, language):
            console.print(Padding(Text(f"• {line}"), (0, 0, 0, 2)))
        if result.settings.get("bound") is not None:
            console.print(Padding(Text(f"• {_cheapest(result, language)}"), (0, 0, 0, 2)))
        if result.settings.get("cut_short"):
            console.print(Padding(Text(f"• {texts['cut_short']}"), (0, 0, 0, 2)))
        losses = result.losses(language.value)
        if losses:
            console.print(Text(texts["lost"], style="bold"))
        for line in losses:
            console.print(Padding(Text(f"• {line}"), (0, 0, 0, 2)))
    console.print()
    show_files(console, folder, language)


def show_claims(console: Console, claims: Sequence[str], language: Language) -> None:
    """Show what a certificate claims, a sentence for each claim."""
    console.print(Text(words_in(language, "commands")["certificate"], style="bold"))
    for line in claims:
        console.print(Padding(Text(f"• {line}"), (0, 0, 0, 2)))


def show_files(console: Console, folder: Path, language: Language) -> None:
    """Show where the files are, and how to check them."""
    texts = words_in(language, "commands")
    for text, part in ((texts["public_files"], "public"), (texts["internal_files"], "internal")):
        console.print(Text(text.format(folder=folder / part)), soft_wrap=True)
        names = sorted(path.name for path in (folder / part).glob("*"))
        console.print(Padding(Text(", ".join(names)), (0, 0, 0, 2)))
    console.print(Text(texts.said("check", folder=folder)), soft_wrap=True)


def _cheapest(result: Result | PerturbedResult, language: Language) -> str:
    """What the secondaries cost, and the least that any pattern costs."""
    settings = result.settings
    return words_in(language, "commands").said(
        "cheapest",
        cost=round(settings["cost_of_secondaries"]),
        bound=round(settings["bound"]),
        gap=scaled(round(10_000 * (settings["gap"] or 0)), 2, language),
    )


def _recomputed(result: Result | PerturbedResult, language: Language) -> list[str]:
    """How many totals of a file were wrong, for each column in which some were."""
    return [
        words_in(language, "commands").said(
            "recomputed",
            changed=done.changed,
            totals=done.totals,
            column=done.column,
        )
        for done in result.table.recomputed
        if done.changed
    ]


def show_table(
    console: Console, published: Published, language: Language, symbols: SymbolSet
) -> None:
    """Show the upper levels of a published table as rows and columns."""
    part = crosstab(published)
    trees = [d.hierarchy for d in published.dimensions]
    labels = [_label(trees[0], int(i), language, console.width // 3) for i in part.rows]
    header = [published.measure]
    if len(trees) > 1:
        header = [trees[-1].codes[i] for i in part.columns]
    shown: list[list[Text]] = []
    fitting, dropped = -1, 0
    for digits in _digits_to_drop(published, part.cell):
        rounded = [
            [_cell(published, i, digits, language, symbols) for i in row]
            for row in part.cell.tolist()
        ]
        columns = _fitting(console, labels, header, rounded)
        if columns > fitting:  # rounding is worth it only for columns more
            shown, fitting, dropped = rounded, columns, digits
        if fitting == len(header):
            break
    fitting = max(fitting, 1)
    table = Table(title=Text(published.name, style="bold"), title_justify="left")
    table.add_column(Text(published.dimensions[0].name), no_wrap=True)
    for name in header[:fitting]:
        table.add_column(Text(name), justify="right", no_wrap=True)
    for label, row in zip(labels, shown, strict=True):
        table.add_row(label, *row[:fitting])
    console.print(table)
    for line in _notes(published, part, fitting, dropped, language, symbols):
        console.print(Text(line, style="dim"))


def _digits_to_drop(published: Published, cell: NDArray[np.int64]) -> list[int]:
    """None; all decimals; then whole thousands and millions, where most values keep two digits."""
    if published.frequency:
        return [0]
    seen = cell[~published.suppressed.ravel()[cell]]
    sizes = np.abs(published.value.ravel()[seen])
    middle = np.median(sizes[sizes > 0]) if sizes.any() else 0
    decimals = published.decimals
    rounded = {decimals, decimals + 3, decimals + 6}
    return sorted({0, *(digits for digits in rounded if middle >= 10 ** (digits + 1))})


def _cell(
    published: Published, i: int, dropped: int, language: Language, symbols: SymbolSet
) -> Text:
    if published.suppressed.flat[i]:
        return Text(f" {symbols.suppressed} ", style="bold white on red")
    if published.empty.flat[i]:
        return Text(symbols.nothing, style="dim")
    unit = 10**dropped
    value = (2 * int(published.value.flat[i]) + unit) // (2 * unit)
    return Text(scaled(value, max(published.decimals - dropped, 0), language))


def _label(tree: Hierarchy, i: int, language: Language, width: int = _LABEL_WIDTH) -> Text:
    code = tree.codes[i]
    label = tree.label(code, language.value)
    # as in reports: a label that begins with its code says it already
    name = label if f"{label} ".startswith(f"{code} ") else f"{code} {label}".rstrip()
    shown = Text("  " * int(tree.level[i]) + name, style="bold" if i == 0 else "")
    shown.truncate(min(width, _LABEL_WIDTH), overflow="ellipsis")
    return shown


def _fitting(
    console: Console, labels: list[Text], header: list[str], shown: list[list[Text]]
) -> int:
    """How many columns fit beside the labels; a number must never be cut."""
    used = max(label.cell_len for label in labels) + 4
    for column, name in enumerate(header):
        used += max(len(name), *(row[column].cell_len for row in shown)) + 3
        if used > console.width:
            return column
    return len(header)


def _notes(
    published: Published,
    part: Crosstab,
    fitting: int,
    dropped: int,
    language: Language,
    symbols: SymbolSet,
) -> list[str]:
    texts = words_in(language, "commands")
    count = texts.said(
        "cells",
        cells=published.value.size,
        suppressed=int(published.suppressed.sum()),
    )
    notes = [f"{count}; {symbols.suppressed} = {texts['suppressed']}"]
    if dropped:
        unit = number(10 ** (dropped - published.decimals), language)
        notes.append(texts.said("unit", unit=unit))
    if part.at:
        fixed = [
            f"{d.name} = {_label(d.hierarchy, i, language).plain.strip()}"
            for d, i in zip(published.dimensions[1:-1], part.at, strict=True)
        ]
        notes.append(texts.said("part", part=", ".join(fixed)))
    shown = [len(part.rows), *(1 for _ in part.at), fitting][: len(published.shape)]
    left_out = [
        texts.said("codes", count=len(d) - count, name=d.name)
        for d, count in zip(published.dimensions, shown, strict=True)
        if count < len(d)
    ]
    if left_out:
        notes.append(texts.said("left_out", codes=", ".join(left_out)))
    return notes


@dataclass(frozen=True, eq=False)
class Crosstab:
    """A two-dimensional part of a table: the first dimension down, the last one across.

    `rows` and `columns` are positions of the codes shown, the total first (a table of one dimension
    has one column), `at` of the one code shown of each dimension between; `cell` flat positions of
    the cells, ``(len(rows), len(columns))``.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    at: tuple[int, ...]
    cell: NDArray[np.int64]


def crosstab(published: Published, rows: int = ROWS, columns: int = COLUMNS) -> Crosstab:
    """Choose what to show: upper levels of large trees, totals of the dimensions between.

    Where that shows no suppressed cell, the dimensions between stand at the codes that show
    most of them, for a table without any is not what one wants to see.
    """
    trees = [d.hierarchy for d in published.dimensions]
    down = upper_codes(trees[0], rows)
    across = upper_codes(trees[-1], columns) if len(trees) > 1 else np.zeros(1, dtype=np.int64)
    between = published.shape[1:-1]
    flat = np.arange(published.value.size).reshape(published.shape[0], *between, -1)
    part = flat[down][..., across]
    hidden = published.suppressed.ravel()[part].sum(axis=(0, -1)).ravel()
    best = 0 if hidden[0] else int(hidden.argmax())
    at = tuple(int(i) for i in np.unravel_index(best, between))
    return Crosstab(down, across, at, part[(slice(None), *at, slice(None))])


def upper_codes(tree: Hierarchy, limit: int) -> NDArray[np.int64]:
    """Positions of the codes down to the deepest level that fits, or some of the first one."""
    depths = range(1, int(tree.level.max(initial=0)) + 1)
    fitting = [depth for depth in depths if np.sum(tree.level <= depth) <= limit]
    return np.flatnonzero(tree.level <= max(fitting, default=1))[:limit]
