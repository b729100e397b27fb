"""DuckDB as an engine: where records may lie, what it leaves behind, what it may not reach."""

import datetime
import gc
import multiprocessing
import stat
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from counted_by_hand import same

from diskret.engines import LeafQuestion
from diskret.engines import duckdb as duckdb_engine
from diskret.engines.duckdb import DuckDBEngine
from diskret.errors import InputError
from diskret.io import Source

RECORDS = {
    "Region": ["01", "01", " 2", 'Köln; "Süd"'],
    "region": ["x", "y", "x", "y"],
    "Group By": ["7", "7", "7", "8"],
    "v": ["1.50", "-2", "1e1", "0.25"],
}
COLUMNS = tuple(RECORDS)
VARIABLE = pa.table(RECORDS)
QUESTION = LeafQuestion(
    by={"Region": None, "region": None}, values={"v": 2}, unit="Group By", largest=1
)


def in_memory(records):
    table = pa.table(records)
    return Source(tuple(table.column_names), "pyarrow", table)


def ask(source, question=QUESTION, **options):
    with DuckDBEngine(source, **options) as engine:
        return engine.leaves(question)


@pytest.fixture
def spill(tmp_path, monkeypatch):
    """Where private folders are made."""
    folder = tmp_path / "spill"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_files_answer_like_frames(tmp_path, delimiter, line_end):
    rows = [COLUMNS, *zip(*RECORDS.values(), strict=True)]
    lines = [delimiter.join('"' + c.replace('"', '""') + '"' for c in row) for row in rows]
    path = tmp_path / "we[i]rd *.csv"
    path.write_bytes(line_end.join(lines).encode())
    source = Source(COLUMNS, "pyarrow", paths=(path,), format="csv", delimiter=delimiter)
    assert same(ask(source), ask(in_memory(RECORDS)))


def test_several_parquet_files_are_one_source(tmp_path):
    paths = (tmp_path / "year=2024" / "a.parquet", tmp_path / "year=2025" / "a.parquet")
    for path in paths:
        path.parent.mkdir()
    whole = pa.table(RECORDS)
    pq.write_table(whole.slice(0, 3), paths[0])
    pq.write_table(whole.slice(3), paths[1])
    source = Source(COLUMNS, "pyarrow", paths=paths, format="parquet")
    assert same(ask(source), ask(in_memory(RECORDS)))


def test_an_empty_field_is_missing(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text('a,v\n1,2\n"",3\n,4\n', encoding="utf-8")
    source = Source(("a", "v"), "pyarrow", paths=(path,), format="csv")
    with pytest.raises(InputError, match="2 records: no code in column 'a'"):
        ask(source, LeafQuestion(by={"a": None}))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b\n1,2\n1\n", "records.csv, line 3: 1 field"),
        ("a,b\n1,2,3\n", "records.csv, line 2: 3 fields"),
        ('a,b\n1,"2\n', "records.csv: cannot be read; check"),
    ],
)
def test_a_damaged_csv_file_is_refused(tmp_path, content, said):
    path = tmp_path / "records.csv"
    path.write_text(content, encoding="utf-8")
    source = Source(("a", "b"), "pyarrow", paths=(path,), format="csv")
    with pytest.raises(InputError, match=said):
        ask(source, LeafQuestion(by={"a": None}))


def test_names_of_columns_can_be_anything():
    names = ('a"; DROP TABLE source; --', "it's", "records", "Records", "c0", "")
    records = dict(zip(names, ([1, 1], [1, 2], [2, 2], [3, 3], [4, 5], [6, 6]), strict=True))
    question = LeafQuestion(
        by={names[0]: None, "records": None}, values={"Records": 0, "c0": 1}, unit="it's"
    )
    leaves = ask(in_memory(records), question)
    assert list(leaves.by) == [names[0], "records"]
    assert {name: array.tolist() for name, array in leaves.sums.items()} == {
        "Records": [6],
        "c0": [90],
    }


def test_codes_of_all_kinds_become_text():
    day = datetime.date(2025, 3, 31)
    codes = {
        "number": pa.array([7], pa.uint8()),
        "date": pa.array([day]),
        "truth": pa.array([True]),
        "decimal": pa.array(["12"]).cast(pa.decimal128(4, 0)),
        "category": pa.array(["b"]).dictionary_encode(),
        "text": pa.array([" ä "], pa.large_string()),
    }
    leaves = ask(in_memory(codes), LeafQuestion(by=dict.fromkeys(codes)))
    found = [tree.codes[1] for tree in leaves.by.values()]
    assert found == ["7", "2025-03-31", "true", "12", "b", "ä"]


def test_numbers_with_gaps_identify_as_floats_too():
    records = {"a": ["x", "y", "y"], "h": pa.array([1.0, 1.0, None]), "v": [1, 2, 3]}
    question = LeafQuestion(by={"a": None}, values={"v": 0}, holding="h")
    leaves = ask(in_memory(records), question)
    assert leaves.holdings.tolist() == [0, 1]
    assert leaves.holding_straddlers.leaf.tolist() == [0, 1]


@pytest.mark.long
def test_threads_and_spilling_change_nothing():
    rng = np.random.default_rng(1)
    n = 60_000
    records = {
        "a": rng.integers(0, 40, n),
        "u": rng.integers(0, n // 3, n),
        "h": pa.array(rng.integers(0, n // 9, n), mask=rng.random(n) < 0.3),
        "v": rng.integers(-(10**6), 10**6, n),
    }
    question = LeafQuestion(by={"a": None}, values={"v": 0}, unit="u", holding="h", largest=3)
    one = ask(in_memory(records), question, threads=1)
    assert same(one, ask(in_memory(records), question, threads=4))
    assert same(one, ask(in_memory(records), question, threads=1, memory_limit="40MB"))


def test_an_engine_answers_several_questions():
    with DuckDBEngine(in_memory(RECORDS)) as engine:
        first = engine.leaves(QUESTION)
        engine.leaves(LeafQuestion(by={"v": None}))
        assert same(first, engine.leaves(QUESTION))


def test_the_spill_folder_is_private_and_goes_with_the_engine(spill):
    with DuckDBEngine(in_memory(RECORDS), memory_limit="1GB") as engine:
        (folder,) = spill.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        engine.leaves(QUESTION)
    assert list(spill.iterdir()) == []
    engine.close()
    with pytest.raises(InputError, match="the engine is closed"):
        engine.leaves(QUESTION)


def test_nothing_is_left_after_an_error(spill):
    with pytest.raises(InputError, match="threads=0"):
        DuckDBEngine(in_memory(RECORDS), threads=0)
    with pytest.raises(InputError, match="memory_limit='much'"):
        DuckDBEngine(in_memory(RECORDS), memory_limit="much")
    with pytest.raises(InputError, match="cannot be read") as _held:  # with all its frames
        DuckDBEngine(Source(("a",), "pyarrow", paths=(Path("no.parquet"),), format="parquet"))
    with pytest.raises(InputError), DuckDBEngine(in_memory(RECORDS)) as engine:
        engine.leaves(LeafQuestion(by={"nothing": None}))
    assert list(spill.iterdir()) == []


def test_a_forgotten_engine_leaves_nothing(spill):
    engine = DuckDBEngine(in_memory(RECORDS), threads=1)
    assert len(list(spill.iterdir())) == 1
    del engine
    gc.collect()
    assert list(spill.iterdir()) == []


def test_a_database_for_few_records_keeps_nothing(spill):
    """It is kept for the next engine, without what was made in it, and has no disk."""
    with DuckDBEngine(in_memory(RECORDS)) as engine:
        engine.leaves(QUESTION)
        assert list(spill.iterdir()) == []
        with DuckDBEngine(in_memory({"Region": ["S"]})) as beside:  # not in the same database
            assert beside._records.columns != engine._records.columns
            assert beside.leaves(LeafQuestion(by={"Region": None})).count.tolist() == [1]
            with pytest.raises(duckdb.CatalogException):
                beside._records.connection.sql("SELECT * FROM m1")
            again = engine.leaves(QUESTION)
        assert same(again, ask(in_memory(RECORDS), threads=2))
    database = duckdb_engine._idle[-1]
    with DuckDBEngine(in_memory(RECORDS)) as engine:
        assert database not in duckdb_engine._idle  # nobody else gets it
        for relation in ("kept", "m0"):
            with pytest.raises(duckdb.CatalogException):
                engine._records.connection.sql(f"SELECT * FROM {relation}")
    made = "SELECT COUNT(*) FROM duckdb_{}() WHERE NOT internal"
    assert [database.sql(made.format(k)).fetchall() for k in ("tables", "views")] == [[(0,)]] * 2


def test_a_database_that_broke_is_not_used_again():
    ask(in_memory(RECORDS))
    duckdb_engine._idle[-1].close()
    ask(in_memory(RECORDS))


def test_a_forked_process_asks_too():
    ask(in_memory(RECORDS))
    with multiprocessing.get_context("fork").Pool(1) as pool:
        own = pool.apply_async(ask, (in_memory(RECORDS),)).get(60)
    assert same(own, ask(in_memory(RECORDS)))


def test_threads_have_databases_of_their_own():
    def asked(number):
        return ask(in_memory({"a": ["x"] * number}), LeafQuestion(by={"a": None})).count.tolist()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(asked, range(1, 41))) == [[number] for number in range(1, 41)]


@pytest.mark.parametrize("options", [{}, {"threads": 1}])
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_csv('{other}')",
        "COPY (SELECT 1) TO '{other}'",
        "INSTALL httpfs",
        "SELECT * FROM read_parquet('https://example.org/records.parquet')",
        "SET enable_external_access = true",
        "SELECT * FROM VARIABLE",
    ],
)
def test_reaches_nothing_but_its_source(tmp_path, statement, options):
    other = tmp_path / "other.csv"
    other.write_text("a\n1\n", encoding="utf-8")
    source = in_memory(RECORDS)
    with DuckDBEngine(source, **options) as engine, pytest.raises(duckdb.Error):
        engine._records.connection.sql(statement.format(other=other)).fetchall()
    assert other.read_text(encoding="utf-8") == "a\n1\n"
