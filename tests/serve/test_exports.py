"""Answers as files: read back as their readers do, and nothing else in them."""

import csv
import io
import json
import zipfile

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from over_http import ask, listening
from pyaxis import pyaxis
from pyjstat import pyjstat
from serving import CODES, census, people, tabulator

from diskret.errors import InputError
from diskret.io.sdmx_csv import code_ids
from diskret.serve import Variable
from diskret.serve.exports import exported

PEOPLE = people(1000)
LABELS = {"f": "female", "m": "männlich"}
DATA = census(
    PEOPLE,
    label="Persons",
    variables=tuple(
        Variable(name, codes, LABELS if name == "sex" else {}) for name, codes in CODES.items()
    ),
    impossible=({"sex": ("m",), "age": ("1",)},),
)
# nobody is where nobody can be
KEPT = ~((PEOPLE["sex"] == "m") & (PEOPLE["age"] == "1"))
TABLES = tabulator(
    census(
        {name: column[KEPT] for name, column in PEOPLE.items()},
        variables=DATA.variables,
        impossible=DATA.impossible,
    )
)


def answer(by, where=None):
    return TABLES.answer({"data": "census", "by": by, "where": where or {}}, who="anne")


def cells(found):
    """(codes, value) of an answer, None where nobody can be."""
    names = [*found.codes]
    rows = found.cells().to_pylist()
    return {tuple(row[name] for name in names): row["count"] for row in rows}


@pytest.mark.parametrize("form", ["json", "csv", "parquet", "xlsx", "json-stat", "sdmx-csv", "px"])
def test_the_same_answer_has_the_same_bytes(form):
    first = exported(answer(["age", "sex"]), DATA, form)
    assert first == exported(answer(["age", "sex"]), DATA, form)
    assert len(first.content) > 50


def test_rows_are_read_back():
    found = answer(["re", "sex", "age"], {"region": ["N", "01"]})
    expected = cells(found)
    table = pq.read_table(io.BytesIO(exported(found, DATA, "parquet").content))
    assert {(r["re"], r["sex"], r["age"]): r["count"] for r in table.to_pylist()} == expected
    text = exported(found, DATA, "csv").content.decode()
    rows = [*csv.DictReader(io.StringIO(text))]
    assert {
        (r["re"], r["sex"], r["age"]): int(r["count"]) if r["count"] else None for r in rows
    } == (expected)
    assert {r["status"] for r in rows} == {"published", "empty"}
    book = openpyxl.load_workbook(io.BytesIO(exported(found, DATA, "xlsx").content))
    (sheet,) = book.worksheets
    head, *lines = sheet.iter_rows(values_only=True)
    assert head == ("re", "sex", "age", "count", "status")
    assert {tuple(map(str, line[:3])): line[3] for line in lines} == expected


def test_json_says_what_was_asked():
    found = answer(["sex"], {"age": ["1", "2"]})
    said = json.loads(exported(found, DATA, "json", "de").content)
    assert said["by"] == [{"variable": "sex", "codes": ["f", "m"]}]
    assert said["where"] == {"age": ["1", "2"]} and said["value"] == [*cells(found).values()]
    assert "Rauschen" in said["note"]


def test_files_for_exchange_are_read_by_others():
    found = answer(["sex", "age"])
    expected = cells(found)
    text = exported(found, DATA, "json-stat").content.decode()
    frame = pyjstat.Dataset.read(text).write("dataframe", naming="id")
    values = {(row.sex, row.age): row.value for row in frame.itertuples()}
    for cell, value in expected.items():
        assert values[cell] == value if value is not None else values[cell] in (0, None)
    assert json.loads(text)["dimension"]["sex"]["category"]["label"]["m"] == "männlich"
    lines = [*csv.reader(io.StringIO(exported(found, DATA, "sdmx-csv").content.decode()))]
    at = {name.partition(":")[0]: i for i, name in enumerate(lines[0])}
    ids = {name: code_ids([*CODES[name]], name) for name in ("sex", "age")}
    assert len(lines) == 1 + len(expected)
    for line in lines[1:]:
        sex = dict(zip(ids["sex"], CODES["sex"], strict=True))[line[at["sex"]].partition(":")[0]]
        age = dict(zip(ids["age"], CODES["age"], strict=True))[line[at["age"]].partition(":")[0]]
        value = expected[sex, age]
        assert line[at["OBS_VALUE"]] == ("0" if value is None else str(value))
    assert "map" not in text and "seed" not in text


def test_a_total_has_a_form_too():
    found = answer([])
    for form in ("json", "csv", "parquet", "xlsx", "json-stat"):
        assert exported(found, DATA, form).content


def test_px_is_read_by_others(tmp_path):
    found = answer(["sex", "age"])
    path = tmp_path / "t.px"
    path.write_bytes(exported(found, DATA, "px").content)
    assert pyaxis.parse(str(path), "utf-8")["DATA"].shape[0] == found.value.size


def test_a_code_is_never_a_formula():
    codes = ("=1+1", "@x", "plain")
    records = {"v": np.array(codes * 40), "key": np.arange(120) * 7919}
    data = census(records, variables=(Variable("v", codes),))
    found = tabulator(data).answer({"data": "census", "by": ["v"]}, who="anne")
    assert "'=1+1" in exported(found, data, "csv").content.decode()
    content = exported(found, data, "xlsx").content
    sheets = zipfile.ZipFile(io.BytesIO(content))
    assert not any(b"<f>" in sheets.read(name) for name in sheets.namelist())
    assert openpyxl.load_workbook(io.BytesIO(content)).worksheets[0]["A2"].data_type == "s"


def test_nothing_but_cells_is_in_a_file():
    found = answer(["sex", "age"])
    parquet = pq.ParquetFile(io.BytesIO(exported(found, DATA, "parquet").content))
    assert parquet.schema_arrow.metadata is None and parquet.metadata.metadata in (None, {})
    book = zipfile.ZipFile(io.BytesIO(exported(found, DATA, "xlsx").content))
    text = b"".join(book.read(name) for name in book.namelist())
    for word in (b"comment", b"hidden", b"definedName", b"key", b"seed", b"noise"):
        assert word not in text, word


def test_a_form_that_has_no_place_says_so_over_http():
    records = {"OBS_VALUE": np.array(["a", "b"] * 50), "key": np.arange(100) * 7919}
    data = census(records, variables=(Variable("OBS_VALUE", ("a", "b")),))
    with pytest.raises(InputError):
        exported(
            tabulator(data).answer({"data": "census", "by": ["OBS_VALUE"]}, who="x"),
            data,
            "sdmx-csv",
        )
    with listening(tabulator(data)) as url:
        assert ask(url, ["OBS_VALUE"], query="?form=sdmx-csv").status == 422
        got = ask(url, ["OBS_VALUE"], query="?form=xlsx&language=de")
        assert got.headers["content-type"].endswith("sheet") and got.content[:2] == b"PK"


def test_large_tables_take_no_row_each():
    codes = tuple(f"{at:03}" for at in range(300))
    records = {"a": np.array(codes * 4), "b": np.array(codes * 4), "key": np.arange(1200) * 7919}
    data = census(
        pa.table(records).to_pydict(), variables=(Variable("a", codes), Variable("b", codes))
    )
    found = tabulator(data).answer({"data": "census", "by": ["a", "b"]}, who="x")
    assert found.value.size == 90_000
    assert exported(found, data, "csv").content.count(b"\n") == 90_001
