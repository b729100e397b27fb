"""The last guard of files for exchange: no other text, code, value or status may leave."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_allowlist_figures import BESIDE, FIGURES
from test_allowlist_workbook import HONEST, a_table, bounded

from diskret.hierarchy import Hierarchy
from diskret.publish.exchange import EXCHANGE
from diskret.publish.formats.cube import cube_of_figure, cube_of_several, public_cube
from diskret.publish.formats.exchange import write_exchange
from diskret.publish.formats.symbols import symbol_set
from diskret.publish.guard.exchange import exchange_problems
from diskret.tables import NO_BOUND, Derived, Dimension, Published, SideBySide

TABLE = bounded(a_table(vintage="2025"), 100, 25_000)
INDEX = replace(FIGURES["an index"], name="index")
YEARS = SideBySide(
    "years",
    tuple(
        replace(a_table(), name=f"{measure}{year}", measure=measure, vintage=year)
        for year in ("2024", "2025")
        for measure in ("sales", "staff")
    ),
)
#: Of one measure there is nothing in the one year, of the other in the other.
GAPS = SideBySide("gaps", (YEARS.parts[0], YEARS.parts[3]))
ALONE = SideBySide("alone", YEARS.parts[:1])
pytestmark = pytest.mark.long

SHOWN: dict[str, Any] = {
    "table": TABLE, "plain": a_table(), "index": INDEX, "beside": BESIDE, "years": YEARS,
    "gaps": GAPS, "alone": ALONE,
}  # fmt: skip


def write(shown, folder, language="en", formats=EXCHANGE):
    symbols = symbol_set("de-classic")
    match shown:
        case Published():
            cube = public_cube(shown, "A title", language, symbols)
        case Derived():
            cube = cube_of_figure(shown, language, symbols)
        case _:
            cube = cube_of_several(shown, language, symbols)
    write_exchange(cube, folder, shown.name, [*formats], "OFFICE")


def problems(shown, folder):
    return list(exchange_problems(folder, shown))


def same_labels():
    """A code that is called like another one, one like the total, and one like a third code."""
    labels = {"N": "North", "S": "North", "W": "Total", "E": "N"}
    region = Dimension("region", Hierarchy.flat([*labels]).with_labels(labels))
    table = a_table()
    return replace(table, dimensions=(region, table.dimensions[1]))


ALL: dict[str, Any] = {
    **HONEST,
    **SHOWN,
    "labels that are the same": same_labels,
    "a figure": FIGURES["a share of all"],
    "ranges of some": bounded(a_table(), np.array([[100], [100], [-NO_BOUND], [5], [7]])),
}


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("language", ["en", "de"])
def test_what_is_written_may_leave(kind, language, tmp_path):
    shown = ALL[kind]() if callable(ALL[kind]) else ALL[kind]
    assert problems(shown, tmp_path) == []
    write(shown, tmp_path, language)
    assert len(list(tmp_path.iterdir())) == len(EXCHANGE)
    assert problems(shown, tmp_path) == []


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Every file of everything, as it was written."""
    folder = tmp_path_factory.mktemp("exchange")
    for shown in SHOWN.values():
        if shown.name != "firms" or shown is TABLE:
            write(shown, folder)
    plain = folder / "plain"
    plain.mkdir()
    write(SHOWN["plain"], plain)
    return folder


def changed(files, kind, form, change, folder):
    """What is found if one file is another."""
    shown = SHOWN[kind]
    path = (files / "plain" if kind == "plain" else files) / f"{shown.name}{EXCHANGE[form]}"
    text = path.read_text("utf-8")
    if callable(change):
        content = json.loads(text)
        change(content)
        new = json.dumps(content)
    else:
        old, new = change
        assert old in text, text
        new = text.replace(old, new, 1)
    (folder / path.name).write_text(new, encoding="utf-8")
    return problems(shown, folder)


PX = [
    ("table", ('CHARSET="ANSI"', 'CHARSET="4711"'), "has another CHARSET"),
    ("table", ('AXIS-VERSION="2013"', 'AXIS-VERSION="4711"'), "has another AXIS-VERSION"),
    ("table", ('LANGUAGE="en"', 'LANGUAGE="fr"'), "has another LANGUAGE"),
    ("table", ("\nDECIMALS=2", "\nDECIMALS=5"), "has other DECIMALS"),
    ("table", ("SHOWDECIMALS=2", "SHOWDECIMALS=5"), "has other SHOWDECIMALS"),
    ("table", ('TITLE="A title"', 'TITLE("4711")="A title"'), "at TITLE: '4711'"),
    ("table", ('TITLE="A title"', 'TITLE[de]="A title"'), "has TITLE, which is no part of it"),
    ("table", ('MATRIX="firms"', 'MATRIX="4711"'), "at MATRIX: '4711'"),
    ("table", ('UNITS="turnover"', 'UNITS="4711"'), "at UNITS: '4711'"),
    ("table", ('UNITS="turnover"', 'SOURCE="p"'), "has SOURCE, which is no part of it"),
    ("table", ('"Total","Ärzte"', '"Total","4711"'), "at VALUES: '4711'"),
    (
        "table",
        ('"Ärzte","A1 Hausärzte"', '"A1 Hausärzte","Ärzte"'),
        "calls codes of 'region' otherwise",
    ),
    ("table", ('"Total":"B"', '"A":"B"'), "puts codes of 'region' below others"),
    ("table", ('"A":"A2",', ""), "puts codes of 'region' below others"),
    ("table", ("TLIST(A1)", "TLIST(A7)"), "at TIMEVAL"),
    ("table", ("TLIST(A1)", "TLIST(A1)x"), ""),
    ("table", ("= confidential", "= confidential#p = 5"), "a note that says more than the table"),
    ("table", ('NOTE="Period: 2025"', 'NOTE="Period: 2026"'), "a note that says more"),
    (
        "table",
        ('"A2","large")="1.00–250.00"', '"A2","large")="1.00–250.01"'),
        "not the published ranges",
    ),
    ("table", ('"A2","large")="1.00–250.00"', '"A2","large")="1.00"'), "not the published ranges"),
    ("table", ('CELLNOTE("2025","A2","large")="1.00–250.00";\n', ""), "not the published ranges"),
    ("table", ('"A2","large")=', '"Bäcker","large")='), "not the published ranges"),
    ("table", ('"A2","large")=', '"X","large")='), "a note of a cell that is not there"),
    ("table", ('"A2","large")=', '"A2")='), "a note of a cell that is not there"),
    (
        "plain",
        ("DATA=", 'CELLNOTE("A2","large")="1";\nDATA='),
        "has CELLNOTE, which is no part of it",
    ),
    ("table", ('HEADING="size"', 'HEADING="sizes"'), ""),
    ("table", ('STUB="Period","region"', 'STUB="region","Period"'), ""),
    ("table", ("25.00 10.00", "25.01 10.00"), "does not hold the published values"),
    ("table", ('9.00 ".."', "9.00 4.71"), "does not hold the published values"),
    ("table", ('9.00 ".."', '9.00 "..."'), "tells cells of one kind from each other"),
    ("table", ('10.00 "-"', '10.00 ".."'), "does not say which cells are hidden"),
    ("table", ('10.00 "-"', "10.00 1.00"), "does not hold the published values"),
    ("index", ('DATASYMBOL1="x"', 'DATASYMBOL3="x"'), "has DATASYMBOL3, which is no part of it"),
    ("index", ("111.1", "111.2"), "does not hold the published values"),
    ("index", ('".." 100.0', "4.7 100.0"), "does not hold the published values"),
    (
        "beside",
        ('PRECISION("Figure","sales")=0', 'PRECISION("Figure","sales")=4'),
        "has other PRECISION",
    ),
    ("beside", ('UNITS("sales")="sales"', 'UNITS("sales")="4711"'), "at UNITS: '4711'"),
    ("years", ('CODES("Period")="2024"', 'CODES("Period")="2023"'), "does not hold"),
]


@pytest.mark.parametrize(("kind", "change", "named"), PX)
def test_whatever_is_changed_in_px_is_found(files, kind, change, named, tmp_path):
    found = changed(files, kind, "px", change, tmp_path)
    assert found and any(named in problem for problem in found), found


def at(content, *path):
    for key in path:
        content = content[key]
    return content


def put(*path_and_value):
    *path, key, value = path_and_value
    return lambda content: at(content, *path).__setitem__(key, value)


REGION = ("dimension", "region", "category")
JSON = [
    ("table", put("source", "p = 5"), "holds the key source"),
    ("table", put("version", 2), ""),
    ("table", put("role", "geo", ["region"]), "holds the key role.geo"),
    ("table", put("note", ["Period: 2026"]), "a note that says more than the table"),
    ("table", put("role", "time", ["region"]), "has other dimensions"),
    ("table", put("dimension", "region", "label", "4711"), "at region: '4711'"),
    ("table", put("dimension", "Figure", "label", "4711"), "at Figure: '4711'"),
    ("table", put(*REGION, "label", "A", "4711"), "at region: '4711'"),
    ("table", put(*REGION, "label", "A", "Bäcker"), "calls codes of 'region' otherwise"),
    ("table", put(*REGION, "label", "X", "Bäcker"), "names codes of region that are not there"),
    ("table", put(*REGION, "child", "X", ["A"]), "names codes of region that are not there"),
    ("table", put(*REGION, "child", "A", ["A1", "X"]), "names codes of region that are not there"),
    (
        "table",
        put(*REGION, "unit", {"X": {"decimals": 2}}),
        "names codes of region that are not there",
    ),
    ("table", put(*REGION, "child", "A", ["A1"]), "puts codes of 'region' below others"),
    ("table", put(*REGION, "child", "A", ["A1", "A2", "B"]), "puts codes of 'region' below others"),
    (
        "table",
        put("dimension", "Figure", "category", "unit", "turnover", "decimals", 5),
        "has other decimals",
    ),
    ("table", put("extension", "status", "label", "C", "p = 5"), "at extension: 'p = 5'"),
    ("table", put("extension", "status", "label", "D", "confidential"), "explains another status"),
    ("table", put("extension", "lower", "7", "1.01"), "does not hold the published ranges"),
    ("table", put("extension", "upper", "7", "250.01"), "does not hold the published ranges"),
    ("table", put("extension", "upper", "7", None), "does not hold the published ranges"),
    ("table", lambda c: c["extension"]["lower"].pop("7"), "does not hold the published ranges"),
    ("plain", put("extension", "lower", {"7": "1.00"}), "does not hold the published ranges"),
    ("table", put("value", 0, 25.01), "does not hold the published values"),
    ("table", put("value", 7, 4.71), "does not hold the published values"),
    ("table", put("value", 13, 1.0), "does not hold the published values"),
    ("table", put("status", "7", "-"), ""),
    ("index", put("value", 4, 47.1), "does not hold the published values"),
    ("beside", put("value", 0, 101.0), "does not hold the published values"),
    ("years", put("value", 0, 101.0), "does not hold the published values"),
]


@pytest.mark.parametrize(("kind", "change", "named"), JSON)
def test_whatever_is_changed_in_json_stat_is_found(files, kind, change, named, tmp_path):
    found = changed(files, kind, "jsonstat", change, tmp_path)
    assert found and any(named in problem for problem in found), found


@pytest.mark.parametrize("code", ["7", "CD", "1"])
def test_a_status_is_a_letter(files, code, tmp_path):
    def change(content):
        status = content["status"]
        content["status"] = {cell: code if one == "C" else one for cell, one in status.items()}
        labels = content["extension"]["status"]["label"]
        labels[code] = labels.pop("C")

    found = changed(files, "table", "jsonstat", change, tmp_path)
    assert found == ["firms.jsonstat.json has a status that is no letter"]


SDMX = [
    ("table", ("OFFICE:firms(1.0): A title", "OFFICE:firms(1.0): p"), "of several dataflows"),
    ("table", ("25.00,A,F", "p,A,F"), "does not hold the published values"),
    ("table", ("25.00,A,F", "25.00: 4711,A,F"), "at OBS_VALUE: '4711'"),
    ("table", ("25.00,A,F", "25.00,A: 4711,F"), "at OBS_STATUS: '4711'"),
    ("table", ("A: Ärzte", "A: 4711"), "at region: '4711'"),
    ("table", ("A: Ärzte", "A: Bäcker"), "calls codes of 'region' otherwise"),
    ("table", ("region: region", "region: 4711"), "at the first line: '4711'"),
    ("table", ("TIME_PERIOD: Period", "OTHER: Period"), "has other columns"),
    ("table", ("25.00,A,F", "25.01,A,F"), "does not hold the published values"),
    ("table", (",,Q,C", ",4.71,Q,C"), "does not hold the published values"),
    ("table", (",,Q,C", ",,Q,D"), "tells cells of one kind from each other"),
    ("table", ("C,1.00,250.00", "C,1.01,250.00"), "does not hold the published ranges"),
    ("table", ("C,1.00,250.00", "C,1.00,"), "does not hold the published ranges"),
    ("table", ("C,1.00,250.00", "C,,"), "does not hold the published ranges"),
    ("table", ("25.00,A,F,,", "25.00,A,F,1.00,"), "does not hold the published ranges"),
    ("table", ("Total,small,2025", "Total,large,2025"), ""),
    ("index", ("111.1,A,F", "111.2,A,F"), "does not hold the published values"),
    ("beside", ("MEASURE: Figure", "MEASURE: 4711"), "at the first line: '4711'"),
    ("beside", ("sales: sales", "sales: 4711"), "at MEASURE: '4711'"),
    ("beside", ("8.33,A,F", "8.34,A,F"), "does not hold the published values"),
    ("years", ("sales: sales", "sales: 4711"), "'4711'"),
]


@pytest.mark.parametrize("form", ["sdmx1", "sdmx2"])
@pytest.mark.parametrize(("kind", "change", "named"), SDMX)
def test_whatever_is_changed_in_sdmx_is_found(files, form, kind, change, named, tmp_path):
    found = changed(files, kind, form, change, tmp_path)
    assert found and any(named in problem for problem in found), found


@pytest.mark.parametrize(
    ("form", "old", "new"),
    [
        *((one, "OFFICE:", "4 711:") for one in ("sdmx1", "sdmx2")),
        *((one, "firms(1.0): ", "other(1.0): ") for one in ("sdmx1", "sdmx2")),
        *((one, "firms(1.0): ", "firms(4.7): ") for one in ("sdmx1", "sdmx2")),
        ("sdmx2", "dataflow,OFFICE", "datastructure,OFFICE"),
        ("sdmx2", "A title,I,", "A title,D,"),
    ],
)
def test_sdmx_names_its_dataflow(files, form, old, new, tmp_path):
    path = files / f"firms{EXCHANGE[form]}"
    (tmp_path / path.name).write_text(path.read_text("utf-8").replace(old, new), encoding="utf-8")
    assert any("dataflow" in problem for problem in problems(TABLE, tmp_path))


@pytest.mark.parametrize("form", EXCHANGE)
def test_another_table_does_not_leave_in_its_place(files, form, tmp_path):
    path = files / f"firms{EXCHANGE[form]}"
    (tmp_path / path.name).write_bytes(path.read_bytes())
    assert problems(TABLE, tmp_path) == []
    table = a_table()
    turned = (Dimension("region", Hierarchy.flat(["a", "b", "c", "d"])), table.dimensions[1])
    for other in (
        table,
        replace(TABLE, vintage="2024"),
        replace(TABLE, measure="profit"),
        replace(TABLE, dimensions=turned),
        replace(TABLE, dimensions=(replace(table.dimensions[0], name="place"), turned[1])),
        replace(TABLE, decimals=1),
        replace(TABLE, upper=None, lower=None),
    ):
        assert problems(other, tmp_path) != [], other
    path = tmp_path / path.name
    path.write_text("4711", encoding="utf-8")
    [problem] = problems(TABLE, tmp_path)
    assert path.name in problem


def test_of_what_is_not_there_nothing_is_told(files, tmp_path):
    text = (files / "gaps.jsonstat.json").read_text("utf-8")
    content = json.loads(text)
    gap = next(i for i, code in content["status"].items() if code == "M")
    assert content["value"][int(gap)] is None
    for change, named in (
        (put("value", int(gap), 4711), "holds values of which nothing is published"),
        (put("status", gap, "C"), "from each other"),
    ):
        found = changed(files, "gaps", "jsonstat", change, tmp_path)
        assert any(named in problem for problem in found), found


@pytest.mark.parametrize("kind", ["years", "alone"])
def test_notes_say_of_which_table_they_are(files, kind, tmp_path):
    parts = SHOWN[kind].parts
    content = json.loads((files / f"{kind}.jsonstat.json").read_text("utf-8"))
    before = [note.partition(": ")[0] for note in content.get("note", [])]
    assert {*before} <= {part.name for part in parts}
    found = changed(files, kind, "jsonstat", put("note", ["Period: 2024"]), tmp_path)
    assert found == [f"{kind}.jsonstat.json holds a note that says more than the table"]
    named = put("note", [f"{parts[0].name}: Period: 2024"])
    assert changed(files, kind, "jsonstat", named, tmp_path) == []


@pytest.mark.parametrize("form", ["px", "jsonstat"])
def test_variables_that_the_table_does_not_have_are_no_periods(form, tmp_path):
    region, size = a_table().dimensions
    year = Dimension("year", Hierarchy.flat(["2025"]))
    arrays = {
        of: np.repeat(getattr(a_table(), of)[..., None], 2, axis=2)
        for of in ("value", "suppressed", "empty")
    }
    write(replace(a_table(), dimensions=(region, size, year), **arrays), tmp_path, formats=[form])
    if form == "jsonstat":
        path = tmp_path / "firms.jsonstat.json"
        content = json.loads(path.read_text("utf-8"))
        content["role"]["time"] = ["size", "year"]
        path.write_text(json.dumps(content), encoding="utf-8")
    one = {of: getattr(a_table(), of)[:, 0] for of in ("value", "suppressed", "empty")}
    found = problems(replace(a_table(), dimensions=(region,), **one), tmp_path)
    assert any("has other variables" in p or "has other dimensions" in p for p in found), found
