"""The last guard of derived figures and of tables side by side: nothing but published values."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diskret.hierarchy import Hierarchy
from diskret.publish.derived import COMBINED, DERIVED, combined_outline, derived_outline
from diskret.publish.formats.data_files import write_columns
from diskret.publish.guard.derived import combined_problems, derived_problems
from diskret.publish.json_files import write_json
from diskret.tables import Derived, Dimension, Published, SideBySide
from diskret.tables.side_by_side import derived_text

REGION = Dimension("region", Hierarchy.flat(["N", "S", "W"]))
SIZE = Dimension("size", Hierarchy.flat(["big", "small"]))
ONE = Dimension("region", Hierarchy.flat(["N"]))


def a_table(
    value, name="sales", hidden=(), dimensions=(REGION,), decimals=0, measure="sales", **more
):
    """Values with some hidden ones; 0 are empty."""
    value = np.array(value).reshape([len(d) for d in dimensions])
    suppressed = np.isin(np.arange(value.size), hidden).reshape(value.shape)
    shown = np.where(suppressed, 0, value)
    empty = (value == 0) & ~suppressed
    return Published(name, dimensions, measure, False, decimals, shown, suppressed, empty, **more)


FIRMS = a_table([12, 8, 4, 0], "firms", measure="firms")
SALES = a_table([100, 70, 30, 0], hidden=[2])
CENTS = a_table([10_050, -5_025, 0, 3], "cents", decimals=2)
CROSS = (REGION, SIZE)
TABLE = a_table([90, 60, 30, 50, 40, 10, 40, 20, 20, 0, 0, 0], "cross", [4, 5], CROSS)
LAST, BEFORE = (
    a_table(values, name, hidden, vintage=vintage)
    for values, name, hidden, vintage in (
        ([100, 70, 30, 0], "last", [1], "2025"),
        ([90, 80, 0, 10], "before", [], "2024"),
    )
)
FIGURES = {
    "a mean": Derived("f", "mean", (SALES, FIRMS), decimals=2),
    "a mean of whole numbers": Derived("f", "mean", (SALES, FIRMS), decimals=0),
    "a mean of halves": Derived(
        "f", "mean", (a_table([1, 3, -1, 5]), a_table([2, 2, 2, 1], "n")), decimals=0
    ),
    "a mean with decimals": Derived("f", "mean", (CENTS, FIRMS), decimals=3),
    "a mean of hidden counts": Derived("f", "mean", (SALES, a_table([12, 8, 4, 0], "n", [1]))),
    "a mean by values with decimals": Derived("f", "share", (FIRMS, CENTS), decimals=1),
    "a share of a total": Derived("f", "share", (TABLE,), ("size",)),
    "a share of another total": Derived("f", "share", (TABLE,), ("region",)),
    "a share of all": Derived("f", "share", (TABLE,), ("region", "size")),
    "a growth": Derived("f", "growth", (LAST, BEFORE)),
    "an index": Derived("f", "index", (LAST, BEFORE), base="2024"),
    "an index of the last": Derived("f", "index", (LAST, BEFORE), base="2025", decimals=12),
}


def write(derived, folder, *formats):
    tables = list(derived.inputs)
    write_columns(derived, folder, formats)
    write_json(derived_outline(derived, tables), folder / f"{derived.name}{DERIVED}")
    return tables


def problems(derived, folder, tables=None):
    return list(derived_problems(folder, derived, derived.inputs if tables is None else tables, ()))


def with_rows(path, rows):
    """A CSV with these rows below its head."""
    head = path.read_text(encoding="utf-8").splitlines()[0]
    lines = [head, *(",".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize("kind", FIGURES)
def test_figures_that_follow_may_leave(kind, tmp_path):
    write(FIGURES[kind], tmp_path, "parquet", "xlsx")
    assert problems(FIGURES[kind], tmp_path) == []


def neighbours(text, status, decimals):
    """What else could stand there: a unit more or less, another form, another status."""
    other = {"published", "suppressed", "empty"} - {status}
    yield from ((text, one) for one in other)
    if status != "published":
        yield from ((one, status) for one in ("0", "0." + "0" * decimals, "-1"))
        yield "7" + ("." + "0" * decimals if decimals else ""), "published"
        return
    yield "", status
    number = Decimal(text)
    unit = Decimal(1).scaleb(-decimals)
    yield from ((f"{number + step:.{decimals}f}", status) for step in (-unit, unit, 10 * unit))
    forms = [f"{text}0", f"0{text}", f"+{text}", f" {text}", f"{text}e0", f"{text}/", f"-{text}"]
    forms += ["-0" + text[1:], text.replace(".", ":"), text.replace(".", ""), f"1{'0' * 19}"]
    forms.append("9" * (20 - decimals) + ("." + "9" * decimals if decimals else ""))
    yield from ((one, status) for one in forms if one != text)


@pytest.mark.parametrize("kind", FIGURES)
def test_no_other_figure_may_leave(kind, tmp_path):
    figure = FIGURES[kind]
    write(figure, tmp_path)
    path = tmp_path / "f.csv"
    rows = [[*row.values()] for row in derived_text(figure).to_pylist()]
    for at, row in enumerate(rows):
        for text, status in neighbours(row[-2], row[-1], figure.decimals):
            with_rows(path, [*rows[:at], [*row[:-2], text, status], *rows[at + 1 :]])
            assert problems(figure, tmp_path) == [
                "f.csv holds 1 figure or status that does not follow from the published values"
            ], (row, text, status)
    with_rows(path, [[*row[:-2], "7", "empty"] for row in rows])
    [problem] = problems(figure, tmp_path)
    assert f"holds {len(rows)} figures" in problem


def test_a_sign_without_a_figure_would_tell_more(tmp_path):
    """A growth of -0.04 % is 0.0 in one decimal, and -0.0 would say that it is below."""
    before = a_table([10_000, 8], "before", dimensions=(ONE,), vintage="2024", measure="sales")
    now = a_table([9_996, 8], "now", dimensions=(ONE,), vintage="2025")
    figure = Derived("f", "growth", (now, before))
    write(figure, tmp_path)
    path = tmp_path / "f.csv"
    text = path.read_text(encoding="utf-8")
    assert ",0.0,published" in text and problems(figure, tmp_path) == []
    path.write_text(text.replace(",0.0,", ",-0.0,", 1), encoding="utf-8")
    assert len(problems(figure, tmp_path)) == 1


def test_other_cells_may_not_leave(tmp_path):
    figure = FIGURES["a share of a total"]
    write(figure, tmp_path)
    path = tmp_path / "f.csv"
    rows = [[*row.values()] for row in derived_text(figure).to_pylist()]
    for other in (rows[:-1], rows[::-1], [["X", *rows[0][1:]], *rows[1:]], [*rows, rows[-1]]):
        with_rows(path, other)
        assert problems(figure, tmp_path) == ["f.csv does not hold the cells of its tables"]
    path.unlink()
    [problem] = problems(figure, tmp_path)
    assert "the file is missing" in problem


def test_an_outline_says_what_the_figure_is_made_of(tmp_path):
    figure = FIGURES["a mean"]
    write(figure, tmp_path)
    outline = tmp_path / f"f{DERIVED}"
    write_json(derived_outline(figure, figure.inputs) | {"decimals": 1}, outline)
    assert problems(figure, tmp_path) == [
        f"{outline.name} does not say how the file beside it is made"
    ]
    outline.unlink()
    assert len(problems(figure, tmp_path)) == 1


def test_inputs_must_be_published(tmp_path):
    figure = FIGURES["a mean"]
    write(figure, tmp_path)
    for tables in ((), (SALES,), (replace(SALES, decimals=1), FIRMS)):
        [problem] = problems(figure, tmp_path, tables)
        assert "which is published neither in this release" in problem


@pytest.mark.parametrize("kind", ["parquet", "xlsx"])
def test_other_files_hold_the_same_columns(kind, tmp_path):
    figure, other = FIGURES["a mean"], FIGURES["a mean of hidden counts"]
    write(replace(other, decimals=2), tmp_path, kind)
    write(figure, tmp_path)
    [problem] = problems(figure, tmp_path)
    assert problem.startswith(f"f.{kind} ")
    (tmp_path / f"f.{kind}").write_bytes(b"4711")
    [problem] = problems(figure, tmp_path)
    assert f"f.{kind}" in problem


def test_a_parquet_file_without_its_decimals_is_another(tmp_path):
    figure = FIGURES["a mean"]
    write(figure, tmp_path, "parquet")
    path = tmp_path / "f.parquet"
    cells = pq.read_table(path)
    pq.write_table(
        cells.set_column(1, "f", cells["f"].cast(pa.float64())), path, store_schema=False
    )
    assert problems(figure, tmp_path) == ["f.parquet does not hold what stands in the CSV"]


# ── side by side ────────────────────────────────────────────────────────────────────


MEAN = replace(FIGURES["a mean"], name="mean")
BESIDE = SideBySide("all", (SALES, FIRMS, MEAN))


@pytest.fixture
def beside(tmp_path):
    write(MEAN, tmp_path)
    write_columns(BESIDE, tmp_path, ("parquet", "xlsx"))
    write_json(combined_outline(BESIDE), tmp_path / f"all{COMBINED}")
    return tmp_path


def together(folder, shown=BESIDE, tables=(SALES, FIRMS)):
    return list(combined_problems(folder, shown, tables))


def test_what_stands_side_by_side_may_leave(beside):
    assert together(beside) == []
    for ending in ("parquet", "xlsx"):
        (beside / f"all.{ending}").unlink()
        assert together(beside) == []


def test_of_several_variables_too(tmp_path):
    shown = SideBySide("all", (TABLE, replace(FIGURES["a share of all"], name="share")))
    write(shown.parts[1], tmp_path)
    write_columns(shown, tmp_path, ())
    write_json(combined_outline(shown), tmp_path / f"all{COMBINED}")
    assert together(tmp_path, shown, (TABLE,)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("N,70,published", "N,71,published"),
        ("S,,suppressed", "S,30,published"),
        ("8.75,published", "8.76,published"),
        ("8.75,published", "8.75,empty"),
        ("region,", "place,"),
        ("W,0,empty,0,empty,,empty\n", ""),
    ],
)
def test_nothing_else_stands_side_by_side(beside, old, new):
    path = beside / "all.csv"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert together(beside) != []


def test_figures_are_those_of_their_own_file(beside):
    path = beside / "mean.csv"
    path.write_text(path.read_text("utf-8").replace("8.75", "8.76"), encoding="utf-8")
    assert together(beside) == ["all.csv does not hold what stands in the files of its tables"]
    path.unlink()
    [problem] = together(beside)
    assert "the file is missing" in problem


def test_only_tables_of_this_release_stand_side_by_side(beside):
    for tables in ((SALES,), (replace(SALES), FIRMS), ()):
        [problem] = together(beside, tables=tables)
        assert "is no table of this release" in problem


def test_files_beside_are_compared(beside):
    outline = beside / f"all{COMBINED}"
    write_json(combined_outline(BESIDE) | {"rule": "p%"}, outline)
    for ending in ("parquet", "xlsx"):
        (beside / f"all.{ending}").write_bytes(b"4711")
    assert len(together(beside)) == 3
