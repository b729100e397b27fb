"""The last guard of files of records: of CSV and Parquet, of Stata, SPSS and SAS."""

import json
from datetime import date
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

from diskret.io.code_book import CodeBook
from diskret.publish.contract import Records
from diskret.publish.digests import digest
from diskret.publish.formats.data_files import write_records
from diskret.publish.formats.statistical import STATISTICAL, write_statistical
from diskret.publish.guard.microdata import records_problems, statistical_problems

TABLE = pa.table(
    {
        "sex": pa.array([1, 2, 2, None]),
        "town": ["N", "S", None, ""],
        "inc": pa.array([1.5, None, 3.0, -4.25]),
        "yes": pa.array([True, None, False, True]),
        "born": pa.array([date(2000, 1, 2), None, date(1999, 5, 6), date(1960, 2, 29)]),
    }
)
BOOK = CodeBook(
    labels={"sex": "Sex", "inc": "Income"},
    values={"sex": {"1": "male", "2": "female", "9": "no answer"}, "town": {"N": "North"}},
    missing={"sex": ((8.0, 9.0),)},
)
RECORDS = Records("m", TABLE, BOOK)
FORMATS = ("csv", "parquet", *STATISTICAL)


def write(folder, records=RECORDS, formats=FORMATS):
    write_records(records.table, folder, "m", formats)
    for kind in STATISTICAL:
        if kind in formats:
            write_statistical(records.table, records.book, folder / f"m.{kind}", records.missing)


def certify(folder, of=RECORDS, **more):
    files = {path.name: digest(path) for path in folder.iterdir() if path.suffix != ".json"}
    content = {"name": "m", **of.outline, "files": files, **more}
    (folder / "m.certificate.json").write_text(json.dumps(content), encoding="utf-8")


def problems(folder, records=RECORDS):
    certify(folder)
    return list(records_problems(records, folder))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    write(folder)
    return folder


@pytest.fixture
def folder(written, tmp_path):
    for path in written.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def test_what_was_certified_may_leave(folder):
    assert problems(folder) == []
    for kind in FORMATS:
        (folder / f"m.{kind}").unlink()
        assert problems(folder) == []


@pytest.mark.parametrize("kind", FORMATS)
def test_what_cannot_be_read_does_not_leave(folder, kind):
    (folder / f"m.{kind}").write_bytes(b"\xff\xfe\0 4711")
    [problem] = problems(folder)
    assert f"m.{kind}" in problem


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"records": 3}, "is about other records"),
        ({"columns": ["sex"]}, "is about other records"),
        ({"p": 5}, "holds the key p"),
        ({"shown": {"k": 2, "p": 5}}, "holds the key shown.p"),
        ({"shown": {"further": [{"p": 5}]}}, "holds the key shown.further.p"),
    ],
)
def test_a_certificate_is_about_these_records(folder, more, named):
    certify(folder, **more)
    found = [f"m.certificate.json {named}"]
    assert list(records_problems(RECORDS, folder)) == found
    (folder / "m.certificate.json").write_text("[1]", encoding="utf-8")
    [problem] = records_problems(RECORDS, folder)
    assert "m.certificate.json cannot be read" in problem


def set_column(name, values, kind=None):
    at = TABLE.column_names.index(name)
    return TABLE.set_column(at, name, pa.array(values, kind))


OTHER = {
    "a value": (set_column("inc", [1.5, None, 3.0, -4.5]), "holds other values of 'inc'"),
    "a gap": (set_column("inc", [1.5, None, None, -4.25]), "holds other values of 'inc'"),
    "no gap": (set_column("inc", [1.5, 2.0, 3.0, -4.25]), "holds other values of 'inc'"),
    "a gap elsewhere": (set_column("inc", [None, 1.5, 3.0, -4.25]), "holds other values of 'inc'"),
    "a text": (set_column("town", ["N", "S", None, "S"]), "holds other values of 'town'"),
    "a truth": (set_column("yes", [True, True, False, True]), "holds other values of 'yes'"),
    "a day": (
        set_column("born", [date(2000, 1, 3), *TABLE["born"].to_pylist()[1:]]),
        "holds other values of 'born'",
    ),
    "a record less": (TABLE.slice(1), "records"),
    "a record more": (pa.concat_tables([TABLE, TABLE.slice(3)]), "records"),
    "a column more": (TABLE.append_column("pid", TABLE["sex"]), "columns"),
    "columns in another order": (TABLE.select(["town", "sex", "inc", "yes", "born"]), "columns"),
}


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("what", OTHER)
def test_other_records_do_not_leave(folder, kind, what):
    table, named = OTHER[what]
    write(folder, Records("m", table, BOOK), (kind,))
    found = problems(folder)
    assert found and all(one.startswith(f"m.{kind} ") and named in one for one in found), found


# ── Parquet ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "table",
    [
        set_column("sex", [1.0, 2.0, 2.0, None]),
        set_column("sex", ["1", "02", "2", None]),
        set_column("inc", ["1.5", None, "3", "-4.25"]),
        set_column("inc", [Decimal("1.50"), None, Decimal("3.00"), Decimal("-4.25")]),
        set_column("yes", [1, None, 0, 1]),
        set_column("born", ["2000-01-02", None, "1999-05-06", "1960-02-29"]),
        set_column("town", ["N", "S", None, "N"], pa.binary()),
    ],
)
def test_parquet_holds_the_types_that_were_certified(folder, table):
    pq.write_table(table, folder / "m.parquet", store_schema=False)
    assert problems(folder) == ["m.parquet holds other types"]


def test_parquet_has_fewer_types_than_arrow(tmp_path):
    table = pa.table(
        {
            "code": pa.array(["a", "b", "a"]).dictionary_encode(),
            "text": pa.array(["a", "b", None], pa.large_string()),
            "small": pa.array([1, 2, 3], pa.int8()),
            "time": pa.array([1, 2, 3], pa.timestamp("s")),
        }
    )
    records = Records("m", table)
    write(tmp_path, records, ("parquet",))
    certify(tmp_path, records)
    assert list(records_problems(records, tmp_path)) == []


def test_parquet_holds_no_metadata_of_columns(folder):
    field = pa.field("sex", pa.int64(), metadata={"source": "register"})
    pq.write_table(TABLE.set_column(0, field, TABLE["sex"]), folder / "m.parquet")
    [problem] = problems(folder)
    assert "m.parquet holds metadata" in problem


def test_texts_of_several_lines_and_lines_without_any_are_read(tmp_path):
    long = "a\n" * 600_000  # more than one block of the reader
    for values in (["a\nb", None, 'c"'], [None, "x", None], [long, long, "b"]):
        records = Records("m", pa.table({"text": values}))
        write(tmp_path, records, ("csv",))
        certify(tmp_path, records)
        assert list(records_problems(records, tmp_path)) == []


# ── Stata, SPSS and SAS ─────────────────────────────────────────────────────────────

FRAME = TABLE.to_pandas().assign(
    yes=[1.0, float("nan"), 0.0, 1.0], town=["N", "S", "", ""], born=TABLE["born"].to_pylist()
)
SEX = {1: "male", 2: "female"}


def written_by_hand(path, frame=FRAME, **given):
    options = {"column_labels": dict(BOOK.labels), **given}
    match path.suffix:
        case ".dta":
            pyreadstat.write_dta(frame, str(path), **options)
        case ".sav":
            pyreadstat.write_sav(frame, str(path), **options)
        case _:
            pyreadstat.write_xport(frame, str(path), **options)
    return path


@pytest.mark.parametrize("kind", STATISTICAL)
def test_files_by_hand_may_leave_if_they_hold_no_more(folder, kind):
    labels = {} if kind == "xpt" else {"variable_value_labels": {"sex": SEX}}
    written_by_hand(folder / f"m.{kind}", **labels)
    assert problems(folder) == []
    assert list(statistical_problems(folder / f"m.{kind}", TABLE, ())) == []


@pytest.mark.parametrize(
    ("kind", "given", "named"),
    [
        *((one, {"file_label": "p = 5"}, "says more than its columns do") for one in STATISTICAL),
        ("sav", {"note": "p = 5"}, "says more than its columns do"),
        *(
            (one, {"column_labels": {"town": "p = 5"}}, "has other labels of columns")
            for one in STATISTICAL
        ),
        *((one, {"column_labels": {"sex": "Age"}}, "has other labels") for one in STATISTICAL),
        *(
            (
                one,
                {"variable_value_labels": {"sex": {**SEX, 9: "no answer"}}},
                "labels codes of 'sex'",
            )
            for one in ("dta", "sav")
        ),
        *(
            (one, {"variable_value_labels": {"sex": {1: "p = 5"}}}, "labels codes of 'sex'")
            for one in ("dta", "sav")
        ),
        *(
            (one, {"variable_value_labels": {"inc": {3: "three"}}}, "labels codes of 'inc'")
            for one in ("dta", "sav")
        ),
        ("sav", {"missing_ranges": {"sex": [{"lo": 2, "hi": 2}]}}, "that other codes mean missing"),
        ("sav", {"missing_ranges": {"town": ["S"]}}, "that other codes mean missing"),
    ],
)
def test_whatever_else_a_file_says_is_found(folder, kind, given, named):
    written_by_hand(folder / f"m.{kind}", **given)
    found = problems(folder)
    assert any(named in one for one in found), found


def test_a_range_that_is_known_may_be_told(folder):
    written_by_hand(folder / "m.sav", missing_ranges={"sex": [{"lo": 8, "hi": 9}]})
    assert problems(folder) == []


# ── why values are missing ──────────────────────────────────────────────────────────

TAGGED = CodeBook(values={"inc": {".a": "refused", ".b": "unknown"}}, tagged=frozenset({"inc"}))
REASONS = {"inc": pa.chunked_array([pa.array([None, ".a", None, ".b"])])}
GAPS = pa.table({"sex": [1, 2, 2, 1], "inc": pa.array([1.0, None, 3.0, None])})
MISSING = Records("m", GAPS, TAGGED, REASONS)


def of_stata(folder, values, labels=None, tags=("a", "b")):
    path = folder / "m.dta"
    frame = pd.DataFrame({"sex": [1, 2, 2, 1], "inc": pd.Series(values, dtype=object)})
    labelled = {"variable_value_labels": {"inc": labels}} if labels else {}
    pyreadstat.write_dta(frame, str(path), missing_user_values={"inc": [*tags]}, **labelled)
    return path


@pytest.mark.parametrize(
    ("values", "labels", "named"),
    [
        ([1.0, "a", 3.0, "b"], {"a": "refused", "b": "unknown"}, None),
        ([1.0, "a", 3.0, "b"], None, None),
        ([1.0, "b", 3.0, "a"], None, "says of 'inc' that values are missing for other reasons"),
        ([1.0, "a", "b", "b"], None, "holds other values of 'inc'"),
        ([1.0, "a", 3.0, "b"], {"a": "unknown"}, "labels codes of 'inc' that do not occur"),
        ([1.0, "a", 3.0, "b"], {4: "refused"}, "labels codes of 'inc' that do not occur"),
    ],
)
def test_reasons_are_those_that_are_known(tmp_path, values, labels, named):
    of_stata(tmp_path, values, labels, sorted({one for one in values if isinstance(one, str)}))
    certify(tmp_path, MISSING)
    found = list(records_problems(MISSING, tmp_path))
    assert found == [] if named is None else any(named in one for one in found), found


def test_reasons_that_are_told_must_be_missing_values(tmp_path):
    path = of_stata(tmp_path, [1.0, "a", 3.0, "b"])
    assert list(statistical_problems(path, GAPS, ["inc"])) == []
    assert list(statistical_problems(path, GAPS, [])) == ["m.dta holds other values of 'inc'"]
    path = of_stata(tmp_path, [1.0, "a", "a", "b"])
    assert list(statistical_problems(path, GAPS, ["inc"])) == ["m.dta holds other values of 'inc'"]


@pytest.mark.parametrize("kind", STATISTICAL)
@pytest.mark.parametrize("what", OTHER)
def test_anyone_finds_other_records(folder, kind, what):
    table, named = OTHER[what]
    path = folder / f"m.{kind}"
    write(folder, Records("m", table, BOOK), (kind,))
    found = list(statistical_problems(path, TABLE, ()))
    assert found and all(named in one for one in found), found


def test_anyone_finds_labels_of_what_does_not_occur(folder):
    path = written_by_hand(folder / "m.sav", variable_value_labels={"sex": {7: "seven"}})
    found = ["m.sav labels codes of 'sex' that do not occur"]
    assert list(statistical_problems(path, TABLE, ())) == found
    path = written_by_hand(folder / "m.sav", file_label="p = 5")
    assert list(statistical_problems(path, TABLE, ())) == ["m.sav says more than its columns do"]
    path.write_bytes(b"4711")
    assert len(list(statistical_problems(path, TABLE, ()))) == 1


@pytest.mark.parametrize("kind", STATISTICAL)
def test_records_of_text_are_the_same(folder, kind):
    """From CSV, where all is text: numbers, truths and days as they are written there."""
    text = pa.table(
        {
            "sex": ["1", "2", "2", None],
            "town": ["N", "S", "", None],
            "inc": ["1.5", "", "3.0", "-4.25"],
            "yes": ["true", None, "false", "true"],
            "born": ["2000-01-02", None, "1999-05-06", "1960-02-29"],
        }
    )
    path = folder / f"m.{kind}"
    assert list(statistical_problems(path, text, ())) == []
    for name, values in (
        ("yes", ["true", None, "true", "true"]),
        ("born", ["2000-01-02", None, "1999-05-06", "1960-02-28"]),
        ("inc", ["1.5", "", "3.0", "4.25"]),
        ("inc", ["1.5", "", "3.1", "-4.25"]),
        ("sex", ["1", "2", "3", None]),
    ):
        other = text.set_column(text.column_names.index(name), name, pa.array(values))
        found = [f"m.{kind} holds other values of {name!r}"]
        assert list(statistical_problems(path, other, ())) == found


def test_numbers_with_reasons_may_be_texts(tmp_path):
    """Where a column is read with its reasons, 1.50 and 1.5 are one number; elsewhere two texts."""
    table = pa.table({"inc": ["1.50", ".a", "2"], "code": ["1.50", "01", "2"]})
    records = Records("m", table, CodeBook(tagged=frozenset({"inc"})))
    write(tmp_path, records, ("dta",))
    certify(tmp_path, records)
    assert list(records_problems(records, tmp_path)) == []
    other = table.set_column(1, "code", pa.array(["1.5", "01", "2"]))
    write(tmp_path, Records("m", other, records.book), ("dta",))
    certify(tmp_path, records)
    assert list(records_problems(records, tmp_path)) == ["m.dta holds other values of 'code'"]
    other = table.set_column(0, "inc", pa.array(["1.75", ".a", "2"]))
    write(tmp_path, Records("m", other, records.book), ("dta",))
    certify(tmp_path, records)
    assert list(records_problems(records, tmp_path)) == ["m.dta holds other values of 'inc'"]


def test_codes_of_text_keep_their_zeros(tmp_path):
    table = pa.table({"code": ["01", "02", "01"]})
    book = CodeBook(values={"code": {"01": "one", "02": "two"}})
    write(tmp_path, Records("m", table, book), ("sav",))
    assert list(statistical_problems(tmp_path / "m.sav", table, ())) == []


@pytest.mark.parametrize(
    ("text", "number", "same"),
    [
        ("0.1", 0.10000000149011612, True),  # of single precision
        ("0.1", 0.1, True),
        ("0.1", 0.1001, False),
        ("16777217", 16777216.0, False),
        ("16777217", 16777217.0, True),
    ],
)
def test_numbers_with_a_point_may_have_been_of_single_precision(tmp_path, text, number, same):
    path = tmp_path / "m.dta"
    pyreadstat.write_dta(pd.DataFrame({"x": [number]}), str(path))
    found = list(statistical_problems(path, pa.table({"x": [text]}), ()))
    assert found == ([] if same else ["m.dta holds other values of 'x'"])
