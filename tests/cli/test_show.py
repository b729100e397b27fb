"""What the terminal shows of a published table."""

import io

import numpy as np
import pytest
from rich.console import Console

from diskret.cli.command import Language
from diskret.cli.show import crosstab, show_table, upper_codes
from diskret.datasets.classifications import nace_tree, region_tree, size_tree
from diskret.hierarchy import Hierarchy
from diskret.publish.formats.symbols import symbol_set
from diskret.tables import Dimension, Published


def published(
    *trees: Hierarchy,
    hidden: tuple[tuple[int, ...], ...] = (),
    empty: tuple[tuple[int, ...], ...] = (),
    value: int = 1_234_567,
    decimals: int = 0,
    frequency: bool = False,
) -> Published:
    names = ("nace", "region", "size")
    shape = tuple(len(tree) for tree in trees)
    suppressed, nothing = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    for cell in hidden:
        suppressed[cell] = True
    for cell in empty:
        nothing[cell] = True
    return Published(
        name="turnover 2025",
        dimensions=tuple(Dimension(n, t) for n, t in zip(names, trees, strict=False)),
        measure="turnover",
        frequency=frequency,
        decimals=decimals,
        value=np.where(suppressed | nothing, 0, value).astype(np.int64),
        suppressed=suppressed,
        empty=nothing,
    )


def shown(
    table: Published,
    width: int = 100,
    language: Language = Language.en,
    symbols: str = "de-classic",
) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    show_table(console, table, language, symbol_set(symbols))
    return console.file.getvalue()  # type: ignore[attr-defined]


FLAT = Hierarchy.flat(["a", "b"])


def line_with(text: str, word: str) -> str:
    return next(line for line in text.splitlines() if word in line)


def test_one_dimension():
    text = shown(published(FLAT, hidden=((1,),), empty=((2,),)))
    assert "turnover 2025" in text
    assert "1,234,567" in line_with(text, "Total")
    assert " . " in line_with(text, "│   a")
    assert "–" in line_with(text, "│   b")
    assert "3 cells, 1 of them suppressed; . = suppressed" in text


def test_two_dimensions_put_the_last_one_across():
    text = shown(published(FLAT, size_tree(), hidden=((1, 3),)))
    header = line_with(text, "nace")
    for code in size_tree().codes:
        assert code in header
    assert " . " in line_with(text, "│   a")


def test_german():
    text = shown(published(FLAT, value=-12_345_678, decimals=2), language=Language.de)
    assert "-123\N{NO-BREAK SPACE}456,78" in text
    assert "3 Felder, davon 0 gesperrt" in text


def test_the_symbol_set_is_used():
    text = shown(published(FLAT, hidden=((1,),), empty=((2,),)), symbols="eurostat")
    assert ":C" in line_with(text, "│   a")
    assert " 0 " in line_with(text, "│   b")


def test_labels_and_codes_are_shown_as_they_are():
    tree = Hierarchy(("Total", "[red]x[/]"), np.array([-1, 0]), {"[red]x[/]": "[bold]label"})
    assert "[red]x[/] [bold]label" in shown(published(tree))


@pytest.mark.parametrize("width", [40, 80, 100, 200])
def test_numbers_are_never_cut(width: int):
    table = published(nace_tree(), region_tree(), size_tree(), value=123_456_789_012)
    cells = [line for line in shown(table, width).splitlines() if line.startswith("│")]
    assert all(len(line) <= width for line in cells)
    numbers = {cell.strip() for line in cells for cell in line.strip("│").split("│")[1:]}
    assert numbers <= {"123,456,789,012", "123,456,789", "123,457"}


def test_wide_numbers_are_rounded_and_it_says_so():
    table = published(FLAT, size_tree(), value=123_456_789_012)
    assert "rounded to units of 1,000,000 here" in shown(table, 60)
    assert "rounded" not in shown(table, 150)


def test_rounding_leaves_something_to_see():
    """Columns are left out sooner than values become zeros."""
    text = shown(published(FLAT, size_tree(), value=123_456, decimals=2), 40)
    assert "1,235" in text and "1,234.56" not in text
    assert "units of 1 here" in text
    assert "not shown here" in text


def test_rounding_that_wins_no_column_is_not_done():
    table = published(FLAT, size_tree(), value=123_456_789_012)
    assert "123,456,789,012" in shown(table, 28)


def test_counts_are_never_rounded():
    table = published(FLAT, size_tree(), value=123_456_789_012, frequency=True)
    assert "rounded" not in shown(table, 60)


def test_what_is_left_out_is_said():
    text = shown(published(nace_tree(), region_tree(), size_tree()))
    assert "region = Total" in text
    assert "25 codes of nace, 20 codes of region" in text


def test_large_trees_show_their_upper_levels():
    assert upper_codes(nace_tree(), 30).tolist() == np.flatnonzero(nace_tree().level < 2).tolist()
    assert len(upper_codes(nace_tree(), 36)) == 36
    assert len(upper_codes(nace_tree(), 5)) == 5
    assert upper_codes(Hierarchy(("Total",), np.array([-1])), 5).tolist() == [0]


def test_a_suppressed_cell_is_in_sight_if_it_can_be():
    trees = nace_tree(), region_tree(), size_tree()
    at_total = crosstab(published(*trees, hidden=((1, 0, 1), (1, 7, 1), (3, 7, 1))))
    assert at_total.at == (0,)
    below = crosstab(published(*trees, hidden=((1, 7, 1), (1, 5, 1), (3, 7, 1))))
    assert below.at == (7,)
    unseen = published(*trees, hidden=((2, 0, 1),))
    assert crosstab(unseen).at == (0,)


def test_the_part_shown_holds_the_cells_of_its_codes():
    table = published(nace_tree(), region_tree(), size_tree(), hidden=((3, 7, 2),))
    part = crosstab(table)
    codes = np.unravel_index(part.cell, table.shape)
    assert (codes[0] == part.rows[:, None]).all()
    assert (codes[1] == 7).all()
    assert (codes[2] == part.columns[None, :]).all()


def test_a_label_that_says_its_code_is_not_doubled():
    labels = {"a": "a", "b": "b and more", "Total": "Total"}
    text = shown(published(FLAT.with_labels(labels)))
    assert "a a" not in text
    assert "b b and" not in text
    assert "b and more" in text
    assert text.count("Total") == 1
