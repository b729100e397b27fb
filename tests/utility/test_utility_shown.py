"""What a comparison says in words and shows in plots."""

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import InputError


@pytest.fixture
def comparison():
    cells = pa.table({"region": ["N", "S", "W"], "sex": ["f", "m", "f"], "n": [1200, 30, 2]})
    table = dk.Table.from_cells(cells, by={"region": None, "sex": None}, count="n")
    value = table.count.astype(float)
    value[1, 1], value[2, 2], value[3, 1] = 1201, np.nan, 0
    return dk.utility.compare(table, value)


def test_lines_in_english(comparison):
    said = " ".join(comparison.lines())
    assert "12 cells, totals and empty ones included." in said
    assert (
        "Cells withheld: 1, which are 11.1 % of those that are not empty and 0.6 % of all" in said
    )
    assert "Cells published with a value that are not 0: 8, 75.0 % of them unchanged." in said
    assert "They deviate by 0.38 on average, half of them by at most 0, 95 % by at most 2" in said
    assert "Cells published as 0 that are not: 1; zeros published as something else: 0 of 3" in said


def test_lines_in_german(comparison):
    said = " ".join(comparison.lines("de"))
    assert "12 Felder, Summen und leere eingeschlossen." in said
    assert "Gesperrte Felder: 1, das sind 11,1 % der nicht leeren Felder" in said
    assert "Sie weichen im Mittel um 0,38 ab" in said


def test_tables_have_the_form_of_those_of_safe(comparison):
    lines = comparison.tables()
    rows = [re.split(r"\s{2,}", line.strip()) for line in lines]
    assert ["from", "to", "cells", "largest", "mean"] in [row[:5] for row in rows]
    assert ["1", "9", "2", "2", "1.00"] in [row[:5] for row in rows]
    assert ["1,000", "9,999", "4", "1", "0.25"] in [row[:5] for row in rows]
    at = lines.index("Cells by deviation and number of variables that are not at their total")
    assert rows[at + 2] == ["deviation", "0", "1", "2", "at most, %:", "0", "1", "2", "all"]
    assert rows[at + 3] == ["0", "1", "5", "–", "100.0", "100.0", "0.0", "75.0"]
    assert rows[at + 5] == ["2", "–", "–", "1", "100.0", "100.0", "100.0", "100.0"]
    assert rows[at + 6] == ["all cells", "1", "5", "2"]
    assert len({len(line) for line in lines[2:6]}) == 1


def test_german_tables_have_german_numbers(comparison):
    lines = comparison.tables("de")
    blank = "\N{NO-BREAK SPACE}"
    sizes = [re.split(" +", line.strip(" "))[:3] for line in lines]
    assert [f"1{blank}000", f"9{blank}999", "4"] in sizes


def test_lines_of_a_set_name_the_tables(comparison):
    pair = comparison.pairs[0]
    values = np.where(pair.shown, pair.protected, 0)
    both = dk.utility.compare([pair.table] * 2, [values] * 2)
    assert both.lines()[0] == "24 cells in 2 tables, totals and empty ones included."


@pytest.mark.parametrize("verb", ["lines", "tables", "histogram", "scatter", "size_plot"])
def test_an_unknown_language_is_refused(comparison, verb):
    with pytest.raises(InputError, match="'en' or 'de', not 'fr'"):
        getattr(comparison, verb)("fr")


def test_plots_show_what_was_counted(comparison, tmp_path):
    (bars,) = comparison.histogram().axes[0].containers
    assert {(bar.get_center()[0], bar.get_height()) for bar in bars} == {(-2, 1), (0, 6), (1, 1)}
    (squares,) = comparison.scatter("de").axes[0].collections
    assert squares.get_array().sum() == comparison.original.size
    means, largest = comparison.size_plot().axes[0].containers
    assert [bar.get_height() for bar in means] == comparison.by_size.mean.tolist()
    assert [bar.get_height() for bar in largest] == comparison.by_size.largest.tolist()
    for name in ("histogram", "scatter", "size_plot"):
        getattr(comparison, name)("de").savefig(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 1_000


def test_plots_of_nothing_are_empty(tmp_path):
    cells = pa.table({"region": ["N", "S"], "n": [0, 0]})
    table = dk.Table.from_cells(cells, by={"region": None}, count="n")
    found = dk.utility.compare(table, table.count)
    for name in ("histogram", "scatter", "size_plot"):
        getattr(found, name)().savefig(tmp_path / "plot.png")
    assert found.lines()[1:] == [
        "Cells published as 0 that are not: 0; zeros published as something else: 0 of 3.",
        "Hellinger distance 0.00 (0.0000 of 1 for shares); Hellinger utility 1.0000.",
        "Equations between totals and their parts: 1, all of which hold.",
    ]
    assert len(found.tables()) > 4


def test_many_deviations_have_bins():
    cells = pa.table({"region": ["N", "S"], "sales": [12.5, 700.25]})
    table = dk.Table.from_cells(cells, by={"region": None}, value="sales", decimals=2)
    found = dk.utility.compare(table, [1000.0, 0.0, 700.0])
    bars: Any = found.histogram().axes[0].patches
    assert sum(bar.get_height() for bar in bars) == 3
    assert any("Deviations" in line for line in found.tables())


def test_matplotlib_is_loaded_for_plots_only():
    script = (
        "import sys, numpy as np, pyarrow as pa, diskret as dk\n"
        "cells = pa.table({'region': ['N', 'S'], 'n': [3, 4]})\n"
        "table = dk.Table.from_cells(cells, by={'region': None}, count='n')\n"
        "found = dk.utility.compare(table, [7, 3, 4])\n"
        "found.lines(), found.tables(), found.frames()\n"
        "assert not {'matplotlib', 'scipy.stats'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
