"""A file with a header only is an error wherever it is counted, never a table of zeros."""

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import diskret as dk
from diskret.cli.main import app
from diskret.errors import InputError

SCHEMA = pa.schema([("region", pa.string()), ("sales", pa.int64()), ("unit", pa.int64())])
REGION = dk.Hierarchy.flat(["N", "S"])
NOISE = dk.PerturbationTable(
    np.array([0, 1]), np.array([-1, 0, 1]), np.array([[0, 1, 0], [0.3, 0.4, 0.3]])
)
KINDS = ("csv", "parquet", "pyarrow", "pandas", "polars", "duckdb")
EMPTY = "there are no (records|cells), maybe a header and nothing below it"


def nothing(kind, folder):
    table = SCHEMA.empty_table()
    if kind == "csv":
        (folder / "e.csv").write_text("region,sales,unit\n")
        return folder / "e.csv"
    if kind == "parquet":
        pq.write_table(table, folder / "e.parquet")
        return folder / "e.parquet"
    return {"pyarrow": lambda: table, "pandas": table.to_pandas,
            "polars": lambda: pl.from_arrow(table),
            "duckdb": lambda: duckdb.from_arrow(table)}[kind]()  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_count_of_an_empty_extract_is_refused(kind, tmp_path):
    records = nothing(kind, tmp_path)
    noise = {"ptable": NOISE, "record_key": "unit", "key_modulus": 10}
    for tried in (
        lambda: dk.tabulate(records, by={"region": REGION}),
        lambda: dk.tabulate(records, by={"region": None}),
        lambda: dk.tabulate(records, by={"region": REGION}, value="sales", unit="unit"),
        lambda: dk.perturb_records(records, by={"region": REGION}, **noise),
        lambda: dk.key_risk(records, keys=["region"]),
        lambda: dk.Microdata(records, keys=["region"]),
        lambda: dk.Table.from_cells(records, by={"region": REGION}, count="sales"),
    ):
        with pytest.raises(InputError, match=EMPTY):
            tried()


@pytest.mark.parametrize(
    "asked",
    [
        'value = "sales"\nunit = "unit"\nrules = { p_percent = { p = 10 } }',
        "rules = { minimum_frequency = { n = 3 } }",
    ],
)
def test_a_job_about_an_empty_extract_writes_nothing(asked, tmp_path):
    nothing("csv", tmp_path)
    parts = ["[records]", 'path = "e.csv"', "[[tables]]", 'by = { region = "flat" }']
    job = "\n".join([*parts, asked, "[output]", 'folder = "out"'])
    (tmp_path / "job.toml").write_text(job)
    made = CliRunner().invoke(app, ["protect", str(tmp_path / "job.toml")])
    assert made.exit_code == 1 and "there are no records" in made.output, made.output
    assert not (tmp_path / "out").exists()
