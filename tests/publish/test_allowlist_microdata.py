"""The last guard: public files of records hold the certified records and nothing else."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diskret.errors import ProofError, VerificationError
from diskret.publish.contract import Records
from diskret.publish.digests import digest
from diskret.publish.formats.data_files import write_records
from diskret.publish.guard.check import check_public
from diskret.publish.guard.microdata import read_records_csv, read_records_parquet

RECORDS = pa.table({"town": ["N", None, ""], "age": [31, None, 40]})
PAGE = '<!DOCTYPE html>\n<html lang="en"><head><title>x</title></head><body></body></html>\n'


def certify(folder, **more):
    files = {p.name: digest(p) for p in folder.iterdir() if p.suffix != ".json"}
    content = {
        "name": "m",
        "records": 3,
        "columns": ["town", "age"],
        "shown": {"k": 2, "keys": ["town"]},
        "files": files,
        **more,
    }
    (folder / "m.certificate.json").write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    write_records(RECORDS, tmp_path, "m", ["csv", "parquet"])
    (tmp_path / "m.html").write_text(PAGE, encoding="utf-8")
    certify(tmp_path)
    return tmp_path


def test_what_was_certified_passes(folder):
    check_public(folder, [Records("m", RECORDS)])


def extra_file(folder):
    (folder / "log.txt").write_text("x", encoding="utf-8")


def folder_in_place(folder):
    (folder / "m.html").unlink()
    (folder / "m.html").mkdir()


def value(folder):
    text = (folder / "m.csv").read_text("utf-8").replace("31", "32")
    (folder / "m.csv").write_text(text, encoding="utf-8")
    certify(folder)


def gap_for_empty_text(folder):
    text = (folder / "m.csv").read_text("utf-8").replace('""', "")
    (folder / "m.csv").write_text(text, encoding="utf-8")
    certify(folder)


def column(folder):
    write_records(RECORDS.append_column("pid", pa.array([1, 2, 3])), folder, "m", ["csv"])
    certify(folder)


def record(folder):
    write_records(pa.concat_tables([RECORDS, RECORDS.slice(0, 1)]), folder, "m", ["csv"])
    certify(folder)


def metadata(folder):
    pq.write_table(RECORDS.replace_schema_metadata({"source": "register"}), folder / "m.parquet")
    certify(folder)


def types(folder):
    text = pa.table({"town": RECORDS["town"], "age": ["x", None, "y"]})
    pq.write_table(text, folder / "m.parquet", store_schema=False)
    certify(folder)


def hidden_column(folder):
    pq.write_table(
        RECORDS.append_column("pid", pa.array([1, 2, 3])), folder / "m.parquet", store_schema=False
    )
    certify(folder)


def key(folder):
    certify(folder, threshold=0.1)


def nested_key(folder):
    certify(folder, shown={"k": 2, "keys": ["town"], "t": 0.3})


def script(folder):
    (folder / "m.html").write_text(PAGE.replace("<body>", "<body><!-- p -->"), encoding="utf-8")
    certify(folder)


def stale_digest(folder):
    (folder / "m.html").write_text(PAGE + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("sabotage", "message"),
    [
        (extra_file, "log.txt is no file of this release"),
        (folder_in_place, "m.html is not a plain file"),
        (value, "m.csv holds other values of 'age'"),
        (gap_for_empty_text, "m.csv holds other values of 'town'"),
        (column, "m.csv has the columns 'town', 'age', 'pid'"),
        (record, "m.csv holds 4 records, not 3"),
        (metadata, "m.parquet holds metadata"),
        (types, "m.parquet holds other types"),
        (hidden_column, "m.parquet has the columns 'town', 'age', 'pid'"),
        (key, "holds the key threshold"),
        (nested_key, "holds the key shown.t"),
        (script, "m.html has a comment"),
        (stale_digest, "changed: m.html"),
    ],
)
def test_sabotage_is_found(folder, sabotage, message):
    sabotage(folder)
    with pytest.raises(ProofError, match=message):
        check_public(folder, [Records("m", RECORDS)])


def test_files_that_cannot_be_read_are_refused(tmp_path):
    for name in ("a.csv", "a.parquet"):
        (tmp_path / name).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(VerificationError, match=r"a\.csv cannot be read"):
        read_records_csv(tmp_path / "a.csv")
    with pytest.raises(VerificationError, match=r"a\.parquet cannot be read"):
        read_records_parquet(tmp_path / "a.parquet")
