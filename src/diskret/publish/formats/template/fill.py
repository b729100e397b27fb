"""Fill the workbook of an office with protected tables, in its own layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any

from diskret.errors import InputError
from diskret.publish.formats.symbols import SymbolSet, symbol_set
from diskret.publish.formats.template.clean_copy import copied, save, write_text
from diskret.publish.formats.template.inspect import check_template
from diskret.publish.formats.template.placeholders import (
    PLACEHOLDER,
    Codes,
    Placeholder,
    heads,
    read_placeholder,
)
from diskret.publish.formats.workbook_layout import Layout
from diskret.tables import Published
from diskret.texts import check_language
from diskret.texts.lists import first_of
from diskret.texts.numbers import Count

_EXAMPLES = 5
_MOST_DIGITS = 15


def fill_template(
    tables: Sequence[Published],
    template: str | PathLike[str],
    path: str | PathLike[str],
    *,
    language: str = "en",
    symbols: str | SymbolSet = "de-classic",
    titles: Mapping[str, str] | None = None,
) -> None:
    """Write tables into a copy of a workbook that has the layout of the office.

    The copy holds what a reader of the template sees and nothing else; fonts, borders and number
    formats stay as they are. A cell with ``{{region=N; size=Total}}`` gets that value, dimensions
    left out being at their total; ``{{turnover: region=N}}`` names the table by its name or
    measure. ``{{table: rows=region; columns=size}}`` in the top left corner of a block fills it for
    the codes, labels or ``{{label: …}}`` in its first column and row. ``{{label: region=N}}``,
    ``{{title}}`` and ``{{legend}}`` give texts in the language. Whatever stood in filled cells is
    replaced.
    """
    check_language(language)
    source = Path(template)
    load = _openpyxl()
    check_template(source)
    try:
        book = copied(load(source, rich_text=True))
    except (ValueError, TypeError, KeyError, OSError) as error:
        raise InputError(
            f"{source}: cannot be read as an .xlsx workbook; save it as one again ({error})"
        ) from error
    views = [
        Layout(table, symbol_set(symbols), language, (titles or {}).get(table.name))
        for table in tables
    ]
    problems: list[str] = []
    filled = 0
    for sheet in book.worksheets:
        filled += _fill_sheet(_Sheet(sheet, views, set()), problems)
    if problems:
        number = Count(len(problems))
        raise InputError(
            f"{source}: {number} {number:placeholder|placeholders} cannot be filled: "
            f"{first_of(problems, _EXAMPLES, '; ')}"
        )
    if not filled:
        raise InputError(
            f"{source}: there is no placeholder in the template; write e.g. "
            "{{table: rows=region; columns=size}} into the top left corner of the table"
        )
    try:
        save(book, Path(path))
    except OSError as error:
        raise InputError(
            f"{path}: the workbook cannot be written; is the file open elsewhere, or the folder "
            f"missing or full? ({error})"
        ) from error


def _openpyxl() -> Any:
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise InputError(
            "workbook templates need openpyxl; install it with: pip install 'diskret[excel]'"
        ) from None
    return load_workbook


@dataclass(frozen=True, eq=False)
class _Sheet:
    """A sheet being filled, the tables, and the cells that have been filled so far."""

    sheet: Any
    views: Sequence[Layout]
    done: set[str]

    def view(self, name: str | None) -> Layout:
        """The table a placeholder names."""
        names = [view.published.name for view in self.views]
        if name is None and len(self.views) == 1:
            return self.views[0]
        found = [v for v in self.views if name == v.published.name] or [
            v for v in self.views if name == v.published.measure
        ]
        if len(found) == 1:
            return found[0]
        what = "it does not say which table" if name is None else f"there is no table {name!r}"
        raise InputError(f"{what}; begin with one of {', '.join(f'{n}:' for n in names)}")


def _fill_sheet(at: _Sheet, problems: list[str]) -> int:
    """Fill all placeholders of a sheet; returns how many there were."""
    marked = [
        cell
        for row in at.sheet.iter_rows()
        for cell in row
        if cell.value is not None and cell.data_type == "s" and "{{" in str(cell.value)
    ]
    for cell in marked:
        try:
            if cell.coordinate in at.done:
                raise InputError("a block fills this cell as well; keep one of the two")
            _fill(at, cell, str(cell.value))
        except InputError as error:
            problems.append(f"sheet {at.sheet.title!r}, cell {cell.coordinate}: {error}")
    return len(marked)


def _fill(at: _Sheet, cell: Any, text: str) -> None:
    inner = PLACEHOLDER.findall(text)
    if not inner or "{{" in PLACEHOLDER.sub("", text):
        raise InputError(f"{text!r} has braces that are not closed; write {{{{…}}}}")
    alone = PLACEHOLDER.fullmatch(text.strip()) is not None
    for one in map(read_placeholder, inner):
        if one.kind == "cell" and not alone:
            raise InputError(f"{text!r} holds more than the placeholder; give it a cell of its own")
        if one.kind == "cell":
            view = at.view(one.table)
            _write_value(at, cell, view, _position(view.published, one.at))
        elif one.kind == "block":
            # before the cell itself, whose heading stays without the placeholder
            _fill_block(at, cell, one)
            text = PLACEHOLDER.sub("", text, count=1).strip()
            write_text(cell, text or None)
        else:
            found = _text(at, one, wrapped=bool(cell.alignment.wrap_text))
            text = PLACEHOLDER.sub(lambda _, found=found: found, text, count=1)
            write_text(cell, text)


def _text(at: _Sheet, one: Placeholder, wrapped: bool) -> str:
    if one.kind == "title":
        return at.view(one.table).title
    if one.kind == "label":
        ((name, code),) = one.at.items()
        dimensions = [d for view in at.views for d in view.published.dimensions if d.name == name]
        if not dimensions:
            raise _no_dimension(name, [d for view in at.views for d in view.published.dimensions])
        view = next(v for v in at.views if dimensions[0] in v.published.dimensions)
        return view.label(dimensions[0], Codes(dimensions[0]).find(code))
    view = at.views[0] if one.table is None else at.view(one.table)
    return legend_text(view.symbols, view.language, wrapped)


def legend_text(symbols: SymbolSet, language: str, wrapped: bool) -> str:
    """All symbols with their meanings: in lines if the cell wraps its text, else in a row."""
    lines = [f"{symbol} = {meaning}" for symbol, meaning in symbols.legend[language].items()]
    return ("\n" if wrapped else "; ").join(lines)


def template_texts(
    tables: Sequence[Published],
    language: str,
    symbols: str | SymbolSet,
    titles: Mapping[str, str] | None = None,
) -> frozenset[str]:
    """All texts that filling a template can put into it: symbols, legends, titles, labels."""
    chosen = symbol_set(symbols)
    texts = {chosen.suppressed, chosen.nothing}
    texts |= {legend_text(chosen, language, wrapped) for wrapped in (False, True)}
    for table in tables:
        view = Layout(table, chosen, language, (titles or {}).get(table.name))
        texts.add(view.title)
        texts |= {view.label(d, i) for d in table.dimensions for i in range(len(d))}
    return frozenset(texts)


def _fill_block(at: _Sheet, corner: Any, block: Placeholder) -> None:
    view = at.view(block.table)
    published = view.published
    dimensions = {d.name: d for d in published.dimensions}
    for name in (block.rows, block.columns):
        if name is not None and name not in dimensions:
            raise _no_dimension(name, published.dimensions)
    used = [name for name in (block.rows, block.columns) if name is not None]
    if len({*used, *block.at}) < len(used) + len(block.at):
        raise InputError("a dimension is there twice, as rows=, columns= or with a code")
    sheet = at.sheet
    top, left = _inner_corner(sheet, corner)
    side = [sheet.cell(r, left).value for r in range(top + 1, sheet.max_row + 1)]
    rows = heads(side, Codes(dimensions[used[0]]))
    across: dict[int, int | None] = {0: None}
    if block.columns is not None:
        head = [sheet.cell(top, c).value for c in range(left + 1, sheet.max_column + 1)]
        across = {**heads(head, Codes(dimensions[block.columns]))}
    for down, row in rows.items():
        for right, column in across.items():
            codes = {**block.at, used[0]: row}
            if block.columns is not None and column is not None:
                codes[block.columns] = column
            cell = sheet.cell(top + 1 + down, left + 1 + right)
            _write_value(at, cell, view, _position(published, codes))


def _inner_corner(sheet: Any, corner: Any) -> tuple[int, int]:
    """Row and column of the codes: of a merged corner the last ones, as headings are stacked."""
    for area in sheet.merged_cells.ranges:
        if corner.coordinate in area:
            return area.max_row, area.max_col
    return corner.row, corner.column


def _position(published: Published, at: Mapping[str, str | int]) -> tuple[int, ...]:
    """Where the cell with these codes, or positions of codes, lies in the table."""
    names = [d.name for d in published.dimensions]
    for name in at:
        if name not in names:
            raise _no_dimension(name, published.dimensions)
    given = ((d, at.get(d.name, 0)) for d in published.dimensions)
    return tuple(i if isinstance(i, int) else Codes(d).find(i) for d, i in given)


def _write_value(at: _Sheet, cell: Any, view: Layout, where: tuple[int, ...]) -> None:
    from openpyxl.cell.cell import MergedCell

    published, symbols = view.published, view.symbols
    if isinstance(cell, MergedCell):
        raise InputError(f"the cell {cell.coordinate} is the hidden part of a merged one; unmerge")
    if cell.coordinate in at.done:
        raise InputError(f"the cell {cell.coordinate} would be filled twice")
    at.done.add(cell.coordinate)
    if published.suppressed[where]:
        _write_symbol(cell, symbols.suppressed)
    elif published.empty[where] and symbols.nothing != "0":
        _write_symbol(cell, symbols.nothing)
    else:
        scaled = 0 if published.empty[where] else int(published.value[where])
        if len(str(abs(scaled))) > _MOST_DIGITS:
            raise InputError(
                f"the value for {cell.coordinate} has more than {_MOST_DIGITS} digits, which a "
                "spreadsheet cannot hold; publish it as CSV"
            )
        exact = Decimal(scaled).scaleb(-published.decimals)
        cell.value = exact if published.decimals else scaled


def _write_symbol(cell: Any, symbol: str) -> None:
    from copy import copy

    write_text(cell, symbol)
    if cell.alignment.horizontal in (None, "general"):
        alignment = copy(cell.alignment)
        alignment.horizontal = "right"  # as numbers are
        cell.alignment = alignment


def _no_dimension(name: str, dimensions: Sequence[Any]) -> InputError:
    names = ", ".join(dict.fromkeys(d.name for d in dimensions))
    return InputError(f"there is no dimension {name!r} (there are: {names})")
