"""Every kind of frame comes in as Arrow and goes back out as what it was."""

import gc
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from diskret.errors import InputError
from diskret.io import from_arrow, source, to_arrow
from diskret.io.frames import blocks

RECORDS = {
    "Group By": ["01", " b", "Köln", "01"],
    "A": [1, 2, 3, 4],
    "a": [0.5, 1.5, 2.5, 3.5],
    "gap": ["x", None, "", "ß"],
}


def duckdb_relation(columns):
    """A relation on a connection of its own, names that differ in case only included."""
    names = [f"c{i}" for i in range(len(columns))]
    table = pa.table(list(columns.values()), names=names)
    return (
        duckdb.connect()
        .from_arrow(table)
        .project(", ".join(f'{c} as "{name}"' for c, name in zip(names, columns, strict=True)))
    )


def made(frame):
    """A relation is made inside its test, so that it does not outlive it."""
    return frame() if callable(frame) else frame


def record_batch(columns):
    return pa.table(columns).combine_chunks().to_batches()[0]


FRAMES = {
    "pandas": ("pandas", pd.DataFrame),
    "pandas nullable": ("pandas", lambda c: pd.DataFrame(c).convert_dtypes()),
    "pandas arrow": ("pandas", lambda c: pa.table(c).to_pandas(types_mapper=pd.ArrowDtype)),
    "pandas index": ("pandas", lambda c: pd.DataFrame(c, index=list("wxyz"))),
    "polars": ("polars", pl.DataFrame),
    "polars lazy": ("polars", pl.LazyFrame),
    "pyarrow": ("pyarrow", pa.table),
    "pyarrow batch": ("pyarrow", record_batch),
    "pyarrow reader": ("pyarrow", lambda c: pa.table(c).to_reader(max_chunksize=3)),
    "duckdb": ("duckdb", duckdb_relation),
}
by_kind = pytest.mark.parametrize(("kind", "frame"), FRAMES.values(), ids=FRAMES)


@by_kind
def test_every_frame_becomes_the_same_table(kind, frame):
    opened = source(frame(RECORDS))
    assert opened.kind == kind
    assert opened.columns == tuple(RECORDS)
    assert opened.arrow is not None
    assert opened.arrow.to_pydict() == RECORDS
    assert opened.arrow.schema.metadata is None
    assert opened.paths == ()


@by_kind
def test_a_frame_goes_back_out_as_its_kind(kind, frame):
    table, found = to_arrow(frame(RECORDS))
    back = from_arrow(table, found)
    types = {
        "pandas": pd.DataFrame,
        "polars": pl.DataFrame,
        "pyarrow": pa.Table,
        "duckdb": duckdb.DuckDBPyRelation,
    }
    assert isinstance(back, types[kind])
    assert to_arrow(back)[0].to_pydict() == RECORDS


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(RECORDS).iloc[:0],
        pl.DataFrame(RECORDS).clear(),
        pl.LazyFrame(RECORDS).head(0),
        pa.table(RECORDS).slice(0, 0),
        lambda: duckdb_relation(RECORDS).limit(0),
        pd.DataFrame(columns=list(RECORDS)),
        pa.table({name: pa.nulls(0) for name in RECORDS}),
    ],
    ids=["pandas", "polars", "lazy", "pyarrow", "duckdb", "pandas untyped", "pyarrow untyped"],
)
def test_an_empty_frame_keeps_its_columns(frame):
    table, kind = to_arrow(made(frame))
    assert (table.num_rows, table.column_names) == (0, list(RECORDS))
    assert not any(pa.types.is_null(field.type) for field in table.schema)
    assert to_arrow(from_arrow(table, kind))[0].column_names == list(RECORDS)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"g": pd.Categorical(["b", None, "a"], categories=["a", "b", "unused"])}),
        pl.DataFrame({"g": pl.Series(["b", None, "a"], dtype=pl.Categorical)}),
        pl.DataFrame({"g": pl.Series(["b", None, "a"], dtype=pl.Enum(["a", "b", "unused"]))}),
        pa.table({"g": pa.array(["b", None, "a"]).dictionary_encode()}),
        pa.table({"g": pa.array(["b", None, "a"], pa.string_view())}),
        lambda: duckdb.connect().sql("select unnest(['b', null, 'a']::enum('a', 'b')[]) as g"),
    ],
    ids=["pandas", "polars", "polars enum", "pyarrow", "pyarrow view", "duckdb"],
)
def test_categories_become_plain_text(frame):
    table, _ = to_arrow(made(frame))
    assert table.schema.field("g").type in (pa.string(), pa.large_string())
    assert table["g"].to_pylist() == ["b", None, "a"]


def test_categories_of_numbers_stay_numbers():
    frame = pd.DataFrame({"g": pd.Categorical([2, 1]), "f": pd.Categorical([2.0, None])})
    table, _ = to_arrow(frame)
    assert table.schema.types == [pa.int64(), pa.float64()]


def test_classes_and_months_of_pandas_are_codes_as_they_are_read():
    ages = pd.Series([31, 40, 84])
    frame = pd.DataFrame(
        {
            "age": pd.cut(ages, [0, 40, 90]),
            "classes": pd.arrays.IntervalArray.from_breaks([0, 1, 2, 3]),
            "month": pd.period_range("2025-11", periods=3, freq="M"),
        }
    )
    assert to_arrow(frame)[0].to_pydict() == {
        "age": ["(0, 40]", "(0, 40]", "(40, 90]"],
        "classes": ["(0, 1]", "(1, 2]", "(2, 3]"],
        "month": ["2025-11", "2025-12", "2026-01"],
    }


def test_a_missing_value_in_pandas_is_null():
    table, _ = to_arrow(pd.DataFrame({"x": [1.5, float("nan")], "n": [pd.NA, "a"]}))
    assert table.to_pydict() == {"x": [1.5, None], "n": [None, "a"]}


def test_exact_numbers_stay_exact():
    values = [Decimal("16847646.84"), Decimal("0.10")]
    for frame in (pd.DataFrame, pl.DataFrame, pa.table):
        assert to_arrow(frame({"v": values}))[0]["v"].to_pylist() == values


def test_the_users_frame_is_not_changed():
    frame = pd.DataFrame({"g": pd.Categorical(["a"])}, index=["row"])
    before = frame.copy()
    to_arrow(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_a_relation_outlives_its_maker():
    back = from_arrow(pa.table({"A": ["01"], "a": [2]}), "duckdb")
    gc.collect()
    assert back.columns == ["A", "a"]
    assert back.filter("\"A\" = '01'").fetchall() == [("01", 2)]


def test_a_relation_sees_its_own_connection():
    connection = duckdb.connect()
    connection.execute("create table firms as select '01' as region, 5 as turnover")
    table, kind = to_arrow(connection.sql("select * from firms"))
    assert kind == "duckdb"
    assert table.to_pydict() == {"region": ["01"], "turnover": [5]}
    assert connection.sql("select count(*) from firms").fetchall() == [(1,)]


# ── what is refused ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (3, "'int'"),
        (None, "'NoneType'"),
        ({"a": [1]}, "'dict'"),
        (pd.Series([1]), "'Series'"),
        ([], "an empty list"),
        ([{"a": 1}], "a list with an object of type 'dict' in it"),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_what_is_no_table_is_refused_with_what_is(thing, said):
    for read in (source, to_arrow):
        with pytest.raises(InputError) as caught:
            read(thing)
        assert said in str(caught.value)
        for accepted in (
            "pandas",
            "Polars",
            "PyArrow",
            "DuckDB",
            ".parquet",
            ".csv",
            ".txt",
            ".tsv",
        ):
            assert accepted in str(caught.value)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pa.table([[1], [2]], names=["a", "a"]),
        lambda: duckdb.connect().sql("select 1 as a, 2 as a"),
    ],
    ids=["pandas", "pyarrow", "duckdb"],
)
def test_a_name_occurs_once(frame):
    with pytest.raises(InputError, match="unique; column 'a'"):
        source(made(frame))


@pytest.mark.parametrize(
    "columns",
    [["a", 3], pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])],
    ids=["number", "multi-index"],
)
def test_a_name_is_text(columns):
    with pytest.raises(InputError, match="must be text"):
        source(pd.DataFrame([[1, 2]], columns=columns))


@pytest.mark.parametrize("values", [["01", 1], [1, 2**70]], ids=["mixed types", "beyond 64 bits"])
def test_a_pandas_column_that_has_no_type_is_named(values):
    with pytest.raises(InputError, match=r"column 'bad' .*astype\(str\)"):
        source(pd.DataFrame({"fine": [1, 2], "bad": values}))


def test_python_objects_in_polars_are_refused():
    with pytest.raises(InputError, match="column 'o' .*Python objects"):
        source(pl.DataFrame({"o": [object()]}))


# ── files ───────────────────────────────────────────────────────────────────────────


def test_a_parquet_file_stays_on_disk(tmp_path):
    path = tmp_path / "records.PARQUET"
    parquet.write_table(pa.table(RECORDS), path)
    for given in (path, str(path), [path]):
        opened = source(given)
        assert opened.arrow is None
        assert (opened.paths, opened.format, opened.kind) == ((path,), "parquet", "pyarrow")
        assert opened.columns == tuple(RECORDS)
    assert to_arrow(path)[0].to_pydict() == RECORDS


def test_several_parquet_files_are_one_source(tmp_path):
    first, second = tmp_path / "1.parquet", tmp_path / "2.parquet"
    parquet.write_table(pa.table({"a": ["x"], "b": [1]}), first)
    parquet.write_table(pa.table({"b": [2], "a": pa.array(["y"]).dictionary_encode()}), second)
    opened = source([str(first), second])
    assert (opened.paths, opened.columns) == ((first, second), ("a", "b"))
    assert to_arrow([first, second])[0].to_pydict() == {"a": ["x", "y"], "b": [1, 2]}


def test_a_folder_of_parquet_files_is_one_source(tmp_path):
    for name in ("part-1", "part-0"):
        parquet.write_table(pa.table({"region": [name]}), tmp_path / f"{name}.parquet")
    for beside in ("_SUCCESS", ".part-0.parquet.crc", "notes.txt"):
        (tmp_path / beside).write_text("nothing", encoding="utf-8")
    assert to_arrow(tmp_path)[0]["region"].to_pylist() == ["part-0", "part-1"]
    below = tmp_path / "region=01"
    below.mkdir()
    with pytest.raises(InputError, match=r"the folder 'region=01' is in it, and neither"):
        source(tmp_path)
    with pytest.raises(InputError, match="is a folder"):
        source(below)


def test_parquet_files_must_have_the_same_columns(tmp_path):
    first, second = tmp_path / "1.parquet", tmp_path / "2.parquet"
    parquet.write_table(pa.table({"a": ["x"]}), first)
    parquet.write_table(pa.table({"b": ["x"]}), second)
    with pytest.raises(InputError, match=r"2\.parquet: has other columns .*'a' \(and 1 more\)"):
        source([first, second])


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("suffix", [".csv", ".txt", ".tsv"])
def test_the_delimiter_is_read_from_the_header(tmp_path, delimiter, suffix):
    path = tmp_path / f"records{suffix}"
    path.write_text(
        delimiter.join(['"Group,,,, By;;;;||||"', "A", "a"])
        + "\n"
        + delimiter.join(["01", '""', ""]),
        encoding="utf-8",
    )
    opened = source(path)
    assert opened.columns == ("Group,,,, By;;;;||||", "A", "a")
    assert (opened.format, opened.delimiter, opened.kind) == ("csv", delimiter, "pyarrow")
    table = to_arrow(path)[0]
    assert table.schema.types == [pa.string()] * 3
    assert table.to_pylist() == [{"Group,,,, By;;;;||||": "01", "A": None, "a": None}]


@pytest.mark.parametrize(
    "content",
    [b"a;b\n01;\xc3\xbc\n", b"\xef\xbb\xbfa;b\r\n01;\xc3\xbc\r\n", b'"a";"b"\n"01";"\xc3\xbc"'],
    ids=["plain", "BOM and CRLF", "quoted"],
)
def test_text_in_csv_stays_as_it_is(tmp_path, content):
    path = tmp_path / "records.csv"
    path.write_bytes(content)
    assert source(path).columns == ("a", "b")
    assert to_arrow(path)[0].to_pydict() == {"a": ["01"], "b": ["ü"]}


def test_one_column_needs_no_delimiter(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("region\n01\n02\n", encoding="utf-8")
    assert source(path).columns == ("region",)
    assert to_arrow(path)[0].to_pydict() == {"region": ["01", "02"]}


def test_a_header_alone_is_an_empty_table(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("a,b\n", encoding="utf-8")
    assert to_arrow(path)[0].to_pydict() == {"a": [], "b": []}


def test_csv_agrees_with_an_independent_writer(tmp_path):
    path = tmp_path / "records.csv"
    table = pa.table({"A": ["01", 'say "x"', "a,b"], "a": ["x\ny", "ü", " "]})
    arrow_csv.write_csv(table, path)
    assert to_arrow(path)[0].equals(table)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("no.csv", None, "there is no such file"),
        ("records.dat", b"x", "suffix '.dat' is not known"),
        ("bad.parquet", b"no parquet", "cannot be read as a Parquet file"),
        ("empty.csv", b"", "the file is empty"),
        ("blank.csv", b"\na,b\n", "line 1 is empty"),
        ("twice.csv", b"a,b,a\n1,2,3\n", "line 1: column names must be unique"),
        (
            "marked.csv",
            "\ufeff\ufeffa,b\n1,2\n".encode(),
            "line 1: the name of column 1, 'a',",
        ),
        ("latin.csv", "Größe,b\n".encode("latin-1"), "not UTF-8 text"),
        ("latin2.csv", "a,b\n1,ß\n".encode("latin-1"), "not UTF-8 text"),
        ("ragged.csv", b"a,b\n1,2\n3\n", "line 3: 1 field, and there are 2 columns"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, name, content, said):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        to_arrow(path)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_name_that_begins_unseen_is_refused_where_it_comes_in(kind):
    with pytest.raises(InputError, match="column 2, 'a', begins with a byte order mark"):
        source(kind({"b": [1], "\ufeffa": [2]}))


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        source(tmp_path)


def test_a_row_too_short_in_another_encoding_is_one_sentence(tmp_path, capfd):
    """Arrow shows the row it refuses, and fails to where that is no UTF-8."""
    path = tmp_path / "latin.csv"
    path.write_bytes("town,firms\nUlm,3\nKöln\n".encode("latin-1"))
    with pytest.raises(InputError, match="is not UTF-8 text"):
        to_arrow(path)
    assert capfd.readouterr().err == ""


def test_a_parquet_file_that_is_damaged_behind_its_schema_is_refused_in_words(tmp_path):
    path = tmp_path / "damaged.parquet"
    parquet.write_table(pa.table({"a": ["x", "y"] * 40, "b": range(80)}), path)
    raw = path.read_bytes()
    refused = 0
    for at in [*range(4, 120), *range(len(raw) - 200, len(raw))]:
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 0xFF]) + raw[at + 1 :])
        for read in (to_arrow, lambda one: list(blocks(source(one), ["a", "b"], 10))):
            try:
                read(path)
            except InputError as error:
                assert "cannot be read as a Parquet file" in str(error)
                refused += 1
    assert refused


def test_only_parquet_files_can_be_joined(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(InputError, match="only if all are Parquet"):
        source([path, path])
