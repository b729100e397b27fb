"""Files for exchange: read back by several readers, the same for all primaries, refused if they
hold more or other things than what is published."""

import json
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyaxis import pyaxis
from pyjstat import pyjstat

import diskret as dk
from diskret.errors import DiskretError, InputError, ProofError
from diskret.io import source
from diskret.io.frames import in_memory
from diskret.io.trees_of_files import tree_in
from diskret.publish.exchange import EXCHANGE
from diskret.publish.formats import exchange as writers
from diskret.publish.formats.cube import public_cube
from diskret.publish.formats.symbols import symbol_set
from diskret.publish.guard.exchange import exchange_problems

FORMATS = tuple(EXCHANGE)
LABELS = {
    "Total": "Alles zusammen",
    "01": 'the "first" of all',
    "02": "'zwei', |drei",
    "03": "Größe, Länge; Ä=ß # 5",
    "004": "x" * 300,
}


def table(name="sales", labels=None):
    """Cells of four regions and two branches, and the tree of the regions."""
    rows = {
        ("01", "A"): 120.5,
        ("01", "B"): 80.0,
        ("02", "A"): 60.0,
        ("02", "B"): 40.25,
        ("03", "A"): 500.0,
        ("03", "B"): 700.0,
        ("004", "A"): 0.5,
        ("004", "B"): 12.0,
    }
    cells = pa.table(
        {
            "region": [region for region, _ in rows],
            "branch": [branch for _, branch in rows],
            name: list(rows.values()),
        }
    )
    regions = dk.Hierarchy.flat(["01", "02", "03", "004"])
    if labels:
        regions = regions.with_labels(labels)
    return cells, regions


def released(folder, status=(("01", "A"), ("02", "B")), formats=FORMATS, labels=LABELS, **options):
    cells, regions = table(labels=labels)
    made = dk.Table.from_cells(
        cells, by={"region": regions, "branch": None}, value="sales", decimals=2
    )
    by_hand = pa.table(
        {
            "region": [region for region, _ in status],
            "branch": [branch for _, branch in status],
            "status": ["unsafe"] * len(status),
            "reason": ["asked for"] * len(status),
            "who": ["the firm"] * len(status),
            "date": ["2026-01-01"] * len(status),
        }
    )
    rule = dk.rules.Apriori(by_hand) if status else dk.rules.NoRule()
    result = dk.suppress(made, rule, method="optimal", name="sales")
    result.write(folder, formats=["csv", *formats], **options)
    return result


def path_of(folder, form, name="sales", where="public"):
    return Path(folder) / where / f"{name}{EXCHANGE[form]}"


# ── written and read back ───────────────────────────────────────────────────────────


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_written_is_read_back(form, tmp_path):
    result = released(tmp_path / "out", formats=[form])
    shown = result.published
    opened = source(path_of(tmp_path / "out", form))
    read = in_memory(opened)
    regions = [c for c in shown.dimensions[0].hierarchy.codes for _ in range(3)]
    assert read["region"].to_pylist() == regions
    assert read["branch"].to_pylist() == list(shown.dimensions[1].hierarchy.codes) * 5
    value = "OBS_VALUE" if form.startswith("sdmx") else "sales"
    expected = [
        None if hidden else number / 100
        for number, hidden in zip(
            shown.value.ravel().tolist(), shown.suppressed.ravel().tolist(), strict=True
        )
    ]
    assert [None if v is None else float(v) for v in read[value].to_pylist()] == expected
    assert sum(v is None for v in expected) == 4
    assert {**opened.book.values["region"]} == LABELS


@pytest.mark.parametrize("form", FORMATS)
def test_labels_of_several_lines_are_read_back(form, tmp_path):
    """No release has such labels; who writes a cube of labels with line breaks loses none."""
    cube = public_cube(released(tmp_path / "out").published, None, "en", symbol_set("de-classic"))
    first = cube.axes[0]
    labels = tuple(f'{label}\nand "more"\n' for label in first.labels)
    cube = replace(cube, axes=(replace(first, labels=labels), *cube.axes[1:]))
    (name,) = writers.write_exchange(cube, tmp_path, "cube", [form], "OFFICE")
    book = source(tmp_path / name).book
    assert [book.values["region"][code] for code in first.codes] == list(labels)


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_that_is_read_is_a_table(form, tmp_path):
    """Codes with leading zeros stay codes, and a table of cells can be made of the file."""
    released(tmp_path / "out", status=(), formats=[form], labels=None)
    read = in_memory(source(path_of(tmp_path / "out", form)))
    value = "OBS_VALUE" if form.startswith("sdmx") else "sales"
    again = dk.Table.from_cells(
        read.select(["region", "branch", value]),
        by={"region": None, "branch": None},
        value=value,
        decimals=2,
    )
    assert again.measure.sum.ravel()[0] == 151325


def test_other_programs_read_them(tmp_path):
    result = released(tmp_path / "out", labels={"01": "one", "02": "zwölf"})
    shown = result.published
    parsed = pyaxis.parse(
        str(path_of(tmp_path / "out", "px")),
        encoding="utf-8",
        null_values=r'^"\."$',
        sd_values=r'^"-"$',
    )
    found = parsed["DATA"]
    assert len(found) == 15
    assert set(found["region"]) >= {"one", "zwölf", "03"}
    numbers = pd.to_numeric(found["DATA"], errors="coerce").to_numpy()
    wanted = np.where(shown.suppressed, np.nan, shown.value / 100).ravel()
    np.testing.assert_array_equal(numbers, wanted)
    dataset = pyjstat.Dataset.read(path_of(tmp_path / "out", "jsonstat").read_text())
    frame = dataset.write("dataframe")
    np.testing.assert_array_equal(frame["value"].to_numpy(float), wanted)
    assert set(frame["region"]) >= {"one", "zwölf", "03"}


def test_several_measures_and_periods_stand_in_one_file(tmp_path):
    results = []
    for vintage in ("2024", "2025"):
        for measure in ("sales", "staff"):
            cells, regions = table(measure, LABELS)
            made = dk.Table.from_cells(
                cells,
                by={"region": regions, "branch": None},
                value=measure,
                decimals=2,
                vintage=vintage,
            )
            results.append(dk.suppress(made, dk.rules.NoRule(), name=f"{measure}{vintage}"))
    dk.write(results, tmp_path / "out", ["csv", *FORMATS], combined="both")
    assert dk.verify(tmp_path / "out").tables
    wanted = {
        (code, branch, measure, vintage): number
        for measure, vintage, one in zip(
            ("sales", "staff") * 2, np.repeat(["2024", "2025"], 2), results, strict=True
        )
        for (code, branch), number in zip(
            product(*(d.hierarchy.codes for d in one.table.dimensions)),
            (one.published.value.ravel() / 100).tolist(),
            strict=True,
        )
    }
    for form in FORMATS:
        read = in_memory(source(path_of(tmp_path / "out", form, "both")))
        assert read.num_rows == len(wanted) / (1 if form.startswith("sdmx") else 2), form
        found = {}
        for row in read.to_pylist():
            place = row["region"], row["branch"]
            period = row.get("TIME_PERIOD") or row.get("Period")
            if form.startswith("sdmx"):
                found[*place, row["MEASURE"], period] = float(row["OBS_VALUE"])
            else:
                for measure in ("sales", "staff"):
                    found[*place, measure, period] = float(row[measure])
        assert found == wanted, form


def test_public_files_do_not_tell_primary_from_secondary(tmp_path):
    """Files of every format, certificate and page included, are the same to the byte."""
    for where, status in (("one", (("01", "A"), ("02", "B"))), ("two", (("01", "B"), ("02", "A")))):
        every = ["parquet", "xlsx", "html", *FORMATS]
        released(tmp_path / where, status, every, keys=dk.SecretKeys(bytes(range(32))))
    files = sorted(path.name for path in (tmp_path / "one" / "public").iterdir())
    assert len(files) == 10
    for name in files:
        one, two = ((tmp_path / where / "public" / name).read_bytes() for where in ("one", "two"))
        assert one == two, name
    for form in FORMATS:
        one, two = (
            path_of(tmp_path / where, form, "sales.cells", "internal").read_bytes()
            for where in ("one", "two")
        )
        assert one != two, form


def test_the_office_reads_why_a_cell_is_hidden(tmp_path):
    released(tmp_path / "out")
    read = in_memory(source(path_of(tmp_path / "out", "sdmx2", "sales.cells", "internal")))
    cells = zip(
        *(read[name].to_pylist() for name in ("region", "branch", "CONF_STATUS")), strict=True
    )
    status = {(region, branch): code for region, branch, code in cells}
    assert {status["01", "A"], status["02", "B"]} == {"M"}  # given by hand: another reason
    assert {status["01", "B"], status["02", "A"]} == {"D"}
    assert status["03", "A"] == "F"
    assert None not in read["OBS_VALUE"].to_pylist()


# ── refused ─────────────────────────────────────────────────────────────────────────


def changed(form, path, what):
    """Change a public file in one way."""
    text = path.read_text(encoding="utf-8")
    hidden = {"px": '".."', "jsonstat": "null"}.get(form)
    if what == "value":
        text = text.replace("1513.25", "1513.26", 1)
    elif what == "hidden":
        if form == "px":
            text = text.replace(hidden, "120.5", 1)
        elif form == "jsonstat":
            content = json.loads(text)
            content["value"][content["value"].index(None)] = 120.5
            text = json.dumps(content)
        else:
            text = re.sub(r",,Q,C", ",120.5,Q,C", text, count=1)
    elif what == "status":
        if form == "px":
            text = text.replace(hidden, '"..."', 1)
        elif form == "jsonstat":
            content = json.loads(text)
            content["status"][next(iter(content["status"]))] = "d"
            text = json.dumps(content)
        else:
            text = text.replace("Q,C", "Q,D", 1)
    elif what == "more":
        if form == "px":
            text = text.replace("DATA=", 'SOURCE="PPercent(p=10)";\nDATA=', 1)
        elif form == "jsonstat":
            content = json.loads(text)
            content["source"] = "PPercent(p=10)"
            text = json.dumps(content)
        else:
            head, *rest = text.splitlines()
            text = "\n".join([head + ",RULE", *(line + ",p" for line in rest)]) + "\n"
    elif what == "label":
        text = text.replace("Größe", "Grösse")
    else:
        text = text.replace('"Total"', '"Gesamt"').replace("Total,", "Gesamt,")
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("what", ["value", "hidden", "status", "more", "label", "code"])
@pytest.mark.parametrize("form", FORMATS)
def test_what_was_changed_is_found(form, what, tmp_path):
    result = released(tmp_path / "out")
    path = path_of(tmp_path / "out", form)
    assert list(exchange_problems(path.parent, result.published)) == []
    before = path.read_bytes()
    changed(form, path, what)
    assert path.read_bytes() != before, "the test changed nothing"
    assert list(exchange_problems(path.parent, result.published))


@pytest.mark.parametrize("form", FORMATS)
def test_verify_refuses_a_file_that_was_changed_and_sealed_anew(form, tmp_path, monkeypatch):
    released(tmp_path / "out")
    changed(form, path_of(tmp_path / "out", form), "value")
    with pytest.raises(DiskretError):
        dk.verify(tmp_path / "out")
    monkeypatch.setattr("diskret.publish.digests.changed_files", lambda *_, **__: [], raising=False)
    with pytest.raises(DiskretError):
        dk.verify(tmp_path / "out")


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_is_written_if_a_writer_tells_more(form, tmp_path, monkeypatch):
    real = writers.write_exchange

    def leaking(cube, folder, stem, formats, agency):
        files = real(cube, folder, stem, formats, agency)
        if cube.kept is None:
            for one in formats:
                if one in EXCHANGE:
                    changed(one, Path(folder) / f"{stem}{EXCHANGE[one]}", "hidden")
        return files

    monkeypatch.setattr("diskret.publish.write.write_exchange", leaking)
    with pytest.raises(ProofError):
        released(tmp_path / "out", formats=[form])
    assert not (tmp_path / "out").exists()


def test_labels_that_px_cannot_hold_are_named(tmp_path):
    with pytest.raises(InputError, match="PX"):
        released(tmp_path / "out", formats=["px"], labels={"01": "full-width ＂ sign"})
    assert not (tmp_path / "out").exists()


def test_a_table_called_like_a_file_of_another_is_refused(tmp_path):
    results = []
    for name in ("a", "a.sdmx1"):
        cells, regions = table(name)
        made = dk.Table.from_cells(
            cells, by={"region": regions, "branch": None}, value=name, decimals=2
        )
        results.append(dk.suppress(made, dk.rules.NoRule(), name=name))
    with pytest.raises(InputError, match=r"the name 'a\.sdmx1' is taken"):
        dk.write(results, tmp_path / "out")


@pytest.mark.parametrize("form", ["sdmx1", "sdmx2"])
def test_the_agency_is_who_the_office_says_and_nothing_else(form, tmp_path):
    result = released(tmp_path / "out", formats=[form], agency="DE2.DESTATIS")
    path = path_of(tmp_path / "out", form)
    text = path.read_text(encoding="utf-8")
    assert text.count("DE2.DESTATIS:sales(1.0): ") == 15
    for wrong in ("p=10", "DE2,"):
        path.write_text(text.replace("DE2.DESTATIS", wrong), encoding="utf-8")
        assert list(exchange_problems(path.parent, result.published))
    path.write_text(text.replace("sales(1.0)", "PPercent(10)"), encoding="utf-8")
    assert "names another dataflow" in list(exchange_problems(path.parent, result.published))[0]
    with pytest.raises(InputError, match="agency= must be an identifier"):
        released(tmp_path / "other", formats=[form], agency="Statistical Office")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("form", ["px", "jsonstat"])
def test_code_trees_are_read_back(form, tmp_path):
    nested = pa.table(
        {"code": ["N", "S", "01", "02", "03"], "parent": ["All", "All", "N", "N", "S"]}
    )
    tree = dk.Hierarchy.from_parents(nested, "All").with_labels({"N": 'the "north"', "01": "Größe"})
    cells = pa.table({"region": ["01", "02", "03"], "firms": [10, 20, 30]})
    made = dk.Table.from_cells(cells, by={"region": tree}, count="firms")
    dk.suppress(made, dk.rules.NoRule(), name="firms").write(tmp_path / "out", ["csv", form])
    path = path_of(tmp_path / "out", form, "firms")
    read = tree_in(path, "region")
    assert (read.codes, read.parent.tolist()) == (tree.codes, tree.parent.tolist())
    assert [read.label(code) for code in read.codes] == [tree.label(code) for code in tree.codes]
    with pytest.raises(InputError, match="no variable is called 'size'; there are 'region'"):
        tree_in(path, "size")


def test_where_no_tree_stands_it_is_said(tmp_path):
    released(tmp_path / "out", labels=None)
    with pytest.raises(InputError, match="code trees stand in PX and JSON-stat files"):
        tree_in(path_of(tmp_path / "out", "sdmx2"), "region")
    path = path_of(tmp_path / "out", "px")
    text = path.read_text(encoding="utf-8")
    assert "HIERARCHIES" in text
    text = re.sub(r"(?s)HIERARCHIES.*?;\n", "", text)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="tells no code tree of 'branch'"):
        tree_in(path, "branch")
