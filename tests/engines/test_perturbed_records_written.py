"""Counts go from the engine to a release block by block: the same release, and nobody forges it."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines.postgres_server import table_of
from engines.spark_server import ONE_SPARK, frame_of, session
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from test_counts_in_the_engine import PHASES, questions

import diskret as dk
from diskret.attack.cell_key_certificate import check_unseen
from diskret.attack.said_of_changed import may_say
from diskret.cellkey import PerturbationTable
from diskret.engines.duckdb import DuckDBEngine
from diskret.errors import InputError, ProofError, VerificationError
from diskret.protect import write_perturbed_records as verb
from diskret.publish.digests import digest
from diskret.publish.guard import check as guard
from diskret.publish.guard import tables
from diskret.publish.verify import changed as verify_changed
from diskret.tables import outline, published, read_public

KEYS = dk.SecretKeys(bytes(range(32)))
CHANGES = np.arange(-2, 3)
SHARES = np.array([[0, 0, 1, 0, 0], [0, 0.5, 0, 0.5, 0], [0.25, 0, 0.5, 0, 0.25]])
NOISE = PerturbationTable(np.arange(3), CHANGES, SHARES)
random = np.random.default_rng(3)
PERSONS = pa.table(
    {
        "region": random.choice(["N", "S", "W"], 200),
        "age": random.choice([f"{age:02}" for age in range(0, 60)], 200),
        "key": random.integers(0, 2**32, 200),
    }
)
ASKED = {"by": {"region": None, "age": None}, "ptable": NOISE, "record_key": "key"}


def small_blocks(monkeypatch, rows=7):
    """Blocks that end in the middle of everything."""
    for module in (verb, published, read_public, tables):
        monkeypatch.setattr(module, "ROWS", rows)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch)
        folder = tmp_path_factory.mktemp("written") / "out"
        return dk.write_perturbed_records(
            PERSONS, folder, **ASKED, threshold=2, name="persons", keys=KEYS
        )


# ── it is the release of the result in memory ───────────────────────────────────────


def check(records, question, rows, folder):
    """The same Parquet file and structure, to the last byte, as the result in memory writes."""
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch, rows)
        held = dk.perturb_records(records, **question)
        held.write(folder / "held", ["csv", "parquet"], keys=KEYS)
        dk.write_perturbed_records(records, folder / "streamed", **question, keys=KEYS)
        assert dk.verify(folder / "streamed", keys=KEYS).sealed
        for name in ("count.parquet", "count.structure.json"):
            streamed, whole = (folder / one / "public" / name for one in ("streamed", "held"))
            assert streamed.read_bytes() == whole.read_bytes()
        again = dk.Published.read(folder / "streamed")
    assert np.array_equal(again.value, held.published.value)
    assert np.array_equal(again.suppressed, held.published.suppressed)


@examples(15, phases=PHASES)
@given(asked=questions(), rows=st.integers(1, 9))
def test_duckdb_writes_what_it_gives_in_memory(tmp_path_factory, asked, rows):
    records, question = asked
    check(records, question, rows, tmp_path_factory.mktemp("duckdb"))


@examples(5, phases=PHASES)
@given(asked=questions(), rows=st.integers(1, 9))
def test_postgres_writes_what_it_gives_in_memory(tmp_path_factory, asked, rows):
    check(table_of(asked[0]), asked[1], rows, tmp_path_factory.mktemp("postgres"))


@ONE_SPARK
@examples(2, phases=PHASES)
@given(asked=questions(), rows=st.integers(1, 9))
def test_spark_writes_what_it_gives_in_memory(tmp_path_factory, asked, rows):
    check(frame_of(asked[0]), asked[1], rows, tmp_path_factory.mktemp("spark"))


@ONE_SPARK
def test_a_block_is_no_job_of_spark(tmp_path, monkeypatch):
    frame, scheduler = frame_of(PERSONS), session().sparkContext._jsc.sc().dagScheduler()
    jobs = []
    for rows in (100, 7):
        small_blocks(monkeypatch, rows)
        before = scheduler.numTotalJobs()
        dk.write_perturbed_records(frame, tmp_path / str(rows), **ASKED, keys=KEYS)
        jobs.append(scheduler.numTotalJobs() - before)
    assert jobs[0] == jobs[1] < 15


def test_nobody_holds_all_cells_while_they_are_written_and_verified(tmp_path, monkeypatch):
    """No array, and no answer of the engine, has more cells than a block."""
    largest = []

    class Seen(outline.CellsDigest):
        def add(self, block):
            largest.append(len(block.value))
            super().add(block)

    small_blocks(monkeypatch)
    monkeypatch.setattr("diskret.publish.guard.tables.CellsDigest", Seen)
    monkeypatch.setattr(DuckDBEngine, "perturbed", None)
    monkeypatch.setattr(dk.Published, "__init__", None)
    out = dk.write_perturbed_records(PERSONS, tmp_path / "out", **ASKED, keys=KEYS)
    dk.verify(out, keys=KEYS)
    assert max(largest) == 7 and sum(largest) == 4 * 61


def test_the_release_holds_these_files_and_says_what_was_not_done(written):
    assert sorted(path.name for path in (written / "public").iterdir()) == [
        "persons.certificate.json",
        "persons.parquet",
        "persons.structure.json",
    ]
    public = json.loads((written / "public/persons.certificate.json").read_text("utf-8"))
    assert "No true count was fetched" in " ".join(public["claimed"]["en"])
    assert set(public["files"]) == {"persons.parquet", "persons.structure.json"}
    assert public["inputs"] == {}
    report = dk.verify(written, keys=KEYS)
    assert report.sealed and report.checked_internal and report.tables == ("persons",)
    assert any("244 cells read block by block" in line for line in report.lines)


def test_a_ledger_records_a_table_that_fits(tmp_path, written):
    ledger = dk.Ledger.create(tmp_path / "releases.db", keys=KEYS)
    noise = dk.Perturbed("noise", largest=2)
    ledger.record(dk.Published.read(written), "persons", who="clerk", why="", noise=noise)
    (earlier,) = ledger.tables("persons")
    table = dk.tabulate(PERSONS, by=ASKED["by"], record_key="key")
    low, high = earlier.published.intervals.values()
    assert (low <= table.count.ravel()).all() and (table.count.ravel() <= high).all()


def test_progress_counts_cells(tmp_path, monkeypatch):
    small_blocks(monkeypatch, 100)
    told = []
    dk.write_perturbed_records(
        PERSONS, tmp_path / "out", **ASKED, keys=KEYS, progress=lambda *told_: told.append(told_)
    )
    assert told == [("perturb", done, 244) for done in (0, 100, 200, 244)]


# ── all or nothing ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("error", [KeyboardInterrupt, InputError("disk full")])
def test_nothing_is_left_of_a_release_that_was_cut_short(tmp_path, monkeypatch, error):
    small_blocks(monkeypatch)

    def cut(step, done, total):
        if done > 100:
            raise error

    asked = ASKED | {"keys": KEYS, "progress": cut}
    with pytest.raises((KeyboardInterrupt, InputError)):
        dk.write_perturbed_records(PERSONS, tmp_path / "out", **asked)
    assert list(tmp_path.iterdir()) == []
    dk.write_perturbed_records(PERSONS, tmp_path / "out", **ASKED, keys=KEYS, name="first")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises((KeyboardInterrupt, InputError)):
        dk.write_perturbed_records(PERSONS, tmp_path / "out", **asked)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_bad_arguments_are_refused_before_the_engine_is_asked(tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    monkeypatch.setattr(verb, "engine_of", None)
    for folder, more in (("mine", {}), ("out", {"name": "a/b"}), ("out", {"threshold": 0})):
        with pytest.raises(InputError):
            dk.write_perturbed_records(PERSONS, tmp_path / folder, **ASKED | more, keys=KEYS)


def test_records_that_cannot_be_used_are_told_as_by_perturb_records(tmp_path):
    odd = PERSONS.set_column(2, "key", pa.array([-1, *range(199)]))
    with pytest.raises(InputError) as streamed:
        dk.write_perturbed_records(odd, tmp_path / "out", **ASKED, keys=KEYS)
    with pytest.raises(InputError) as held:
        dk.perturb_records(odd, **ASKED)
    assert str(streamed.value) == str(held.value)
    assert list(tmp_path.iterdir()) == []


# ── what must not leave does not ────────────────────────────────────────────────────


def test_counts_that_the_perturbation_table_rules_out_stop_the_release(tmp_path, monkeypatch):
    small_blocks(monkeypatch)
    seen = []

    def at_the_end(block, intervals, least):
        seen.append(block)
        if block.stop == block.table.size:
            block.value[-1] = -1
        check_unseen(block, intervals, least)

    monkeypatch.setattr(verb, "check_unseen", at_the_end)
    with pytest.raises(ProofError, match="are negative, e.g. region=W, age=59"):
        dk.write_perturbed_records(PERSONS, tmp_path / "out", **ASKED, keys=KEYS)
    assert len(seen) > 30 and list(tmp_path.iterdir()) == []


def test_an_engine_that_gives_cells_out_of_order_is_found_out(tmp_path, monkeypatch):
    from diskret.engines.stepwise import Stepwise

    small_blocks(monkeypatch)
    inside = Stepwise.placed_values

    def turned(self, query, rows):
        for at, value in inside(self, query, rows):
            for i in range(len(at) - 1, -1, -1):
                yield at[i : i + 1], value[i : i + 1]

    monkeypatch.setattr(Stepwise, "placed_values", turned)
    with pytest.raises(ProofError, match="another order"):
        dk.write_perturbed_records(PERSONS, tmp_path / "out", **ASKED, keys=KEYS)


@pytest.mark.parametrize("what", ["value", "row", "metadata", "structure", "file"])
def test_the_guard_reads_back_what_was_written(tmp_path, monkeypatch, what):
    """A writer that does something else than it was told is found out before anything leaves."""
    from diskret.publish import write

    small_blocks(monkeypatch)
    inside = write.write_blocks

    def otherwise(blocks, path):
        inside(blocks, path)
        cells = pq.read_table(path)
        if what == "value":
            value = cells["count"].to_pylist()
            value[50] = (value[50] or 0) + 5
            cells = cells.set_column(2, "count", [value])
        elif what == "row":
            cells = cells.slice(0, 243)
        elif what == "metadata":
            return with_metadata(path)
        elif what == "structure":
            said = path.with_name("count.structure.json")
            said.write_text(said.read_text("utf-8").replace('"count"', '"counts"'), "utf-8")
        else:
            path.with_name("more.txt").touch()
        return pq.write_table(cells, path, store_schema=False)

    monkeypatch.setattr(write, "write_blocks", otherwise)
    with pytest.raises((ProofError, InputError)):
        dk.write_perturbed_records(PERSONS, tmp_path / "out", **ASKED, keys=KEYS)
    assert list(tmp_path.iterdir()) == []


def test_the_guard_is_needed(tmp_path, monkeypatch):
    from diskret.publish import write

    inside = write.write_blocks

    def otherwise(blocks, path):
        inside(blocks, path)
        cells = pq.read_table(path)
        changed = pa.array([9, *cells["count"].to_pylist()[1:]])
        pq.write_table(cells.set_column(2, "count", changed), path, store_schema=False)

    monkeypatch.setattr(write, "write_blocks", otherwise)
    with pytest.raises(ProofError, match="does not hold the cells"):
        dk.write_perturbed_records(PERSONS, tmp_path / "out", **ASKED, keys=KEYS)
    monkeypatch.setattr(guard, "streamed_problems", lambda *_: [])
    dk.write_perturbed_records(PERSONS, tmp_path / "out", **ASKED, keys=KEYS)


# ── forged releases ─────────────────────────────────────────────────────────────────


def rewritten(path, change, **options):
    cells = change(pq.read_table(path))
    pq.write_table(cells, path, **{"store_schema": False} | options)


def replaced(cells, column, at, value):
    values = cells[column].to_pylist()
    values[at] = value
    kind = cells.schema.field(column).type
    return cells.set_column(cells.column_names.index(column), column, pa.array(values, kind))


def with_metadata(path):
    cells = pq.read_table(path)
    with pq.ParquetWriter(path, cells.schema, store_schema=False) as file:
        file.write_table(cells)
        file.add_key_value_metadata({"true": "17"})


def swapped(cells):
    rows = list(range(len(cells)))
    rows[5], rows[200] = rows[200], rows[5]
    return cells.take(rows)


def doubled(cells):
    return pa.concat_tables([cells.slice(0, 9), cells.slice(8)])


#: What is not the cells of the table, whoever made its digests.
WRONG_CELLS = {
    "a row dropped": lambda cells: pa.concat_tables([cells.slice(0, 90), cells.slice(91)]),
    "the last row dropped": lambda cells: cells.slice(0, 243),
    "no rows": lambda cells: cells.slice(0, 0),
    "a row there twice": doubled,
    "a row added": lambda cells: pa.concat_tables([cells, cells.slice(243)]),
    "rows exchanged": swapped,
    "a code changed": lambda cells: replaced(cells, "age", 30, "99"),
    "another status": lambda cells: replaced(cells, "status", 0, "empty"),
    "an unknown status": lambda cells: replaced(cells, "status", 0, "secret"),
    "a value behind a withheld cell": lambda cells: replaced(
        cells, "count", cells["status"].to_pylist().index("suppressed"), 1
    ),
    "a shown cell without a value": lambda cells: replaced(cells, "count", 0, None),
    "a negative value": lambda cells: replaced(cells, "count", 0, -3),
    "a column of another name": lambda cells: cells.rename_columns(
        ["region", "ages", "count", "status"]
    ),
    "a column more": lambda cells: cells.append_column("true", pa.array([1] * len(cells))),
    "a column less": lambda cells: cells.drop_columns(["status"]),
    "columns in another order": lambda cells: cells.select(["age", "region", "count", "status"]),
    "values as text": lambda cells: cells.set_column(2, "count", cells["count"].cast(pa.string())),
    "metadata of a column": lambda cells: cells.cast(
        pa.schema(
            [
                *list(cells.schema)[:3],
                pa.field("status", pa.string(), metadata={"PARQUET:field_id": "17"}),
            ]
        )
    ),
}


def renewed(public):
    """The digests of the certificate made anew, as whoever changes the files can."""
    path = public / "persons.certificate.json"
    content = json.loads(path.read_text("utf-8"))
    content["files"] = {
        file.name: digest(file) for file in sorted(public.iterdir()) if file != path
    }
    path.write_text(json.dumps(content), "utf-8")


@pytest.mark.parametrize("change", WRONG_CELLS.values(), ids=WRONG_CELLS)
def test_cells_that_are_not_those_of_the_table_are_refused(written, tmp_path, change):
    """As they are, and even where all digests were made anew, by anyone without any key."""
    public = shutil.copytree(written / "public", tmp_path / "public")
    rewritten(public / "persons.parquet", change)
    with pytest.raises(VerificationError, match=r"changed: persons\.parquet"):
        dk.verify(public)
    renewed(public)
    with pytest.raises(VerificationError, match=r"persons\.parquet"):
        dk.verify(public)


def test_the_same_cells_in_other_row_groups_are_the_same_table(written, tmp_path):
    """So what is refused above is refused for what it says."""
    public = shutil.copytree(written / "public", tmp_path / "public")
    rewritten(public / "persons.parquet", lambda cells: cells, row_group_size=100)
    renewed(public)
    assert dk.verify(public).tables == ("persons",)


def changed_value(public):
    rewritten(public / "persons.parquet", lambda cells: replaced(cells, "count", 0, 201))


def other_claims(public):
    path = public / "persons.certificate.json"
    text = path.read_text("utf-8").replace("No true count was fetched", "All was compared")
    path.write_text(text, "utf-8")


def other_order(public):
    path = public / "persons.certificate.json"
    content = json.loads(path.read_text("utf-8"))
    content["claimed"]["en"].reverse()
    path.write_text(json.dumps(content), "utf-8")


def other_certificate(public):
    """As if the noise had another mean, or the true counts had been seen."""
    path = public / "persons.certificate.json"
    content = json.loads(path.read_text("utf-8"))
    said = content["claimed"], content["not_claimed"]
    claimed, not_claimed = next(pair for pair in may_say("cell_key", {}) if pair != said)
    path.write_text(json.dumps(content | {"claimed": claimed, "not_claimed": not_claimed}), "utf-8")


@pytest.mark.parametrize("change", [other_claims, other_order])
def test_texts_of_ones_own_are_refused_by_anyone(written, tmp_path, change):
    alone = shutil.copytree(written / "public", tmp_path / "alone")
    change(alone)
    with pytest.raises(VerificationError, match="does not say what is and is not claimed"):
        dk.verify(alone)


@pytest.mark.parametrize("change", [changed_value, other_certificate])
def test_what_could_be_true_is_known_by_the_office_to_be_another(written, tmp_path, change):
    """Another possible value and another certificate: the office's list and its seal tell."""
    out = shutil.copytree(written, tmp_path / "out")
    change(out / "public")
    renewed(out / "public")
    alone = shutil.copytree(out / "public", tmp_path / "alone")
    assert dk.verify(alone).tables  # nobody else can know
    with pytest.raises(VerificationError, match="changed: public/persons"):
        dk.verify(out)
    listed = out / "internal" / "content.json"
    content = json.loads(listed.read_text("utf-8"))
    for name in content["files"]:
        content["files"][name] = digest(out / name)
    listed.write_text(json.dumps(content), "utf-8")
    with pytest.raises(VerificationError, match="seal"):
        dk.verify(out, keys=KEYS)


def truncated(public):
    path = public / "persons.parquet"
    path.write_bytes(path.read_bytes()[:-40])


def damaged(public):
    path = public / "persons.parquet"
    content = bytearray(path.read_bytes())
    content[200:400] = bytes(200)
    path.write_bytes(content)


def metadata_in_the_footer(public):
    with_metadata(public / "persons.parquet")


def missing(public):
    (public / "persons.parquet").unlink()


def no_structure(public):
    (public / "persons.structure.json").unlink()


def another_file(public):
    (public / "persons.txt").write_text("true counts", "utf-8")


def a_workbook(public):
    (public / "persons.xlsx").write_text("true counts", "utf-8")


def a_link(public):
    kept = public.parent / "kept"
    (public / "persons.parquet").rename(kept)
    (public / "persons.parquet").symlink_to(kept)


def another_family(public):
    for name in ("persons.certificate.json", "persons.structure.json"):
        path = public / name
        path.write_text(path.read_text("utf-8").replace("cell_key", "rounding", 1), "utf-8")
        if "structure" in name:
            path.write_text(path.read_text("utf-8").replace("rounding", "cell_key"), "utf-8")


def more_in_the_certificate(public):
    path = public / "persons.certificate.json"
    content = json.loads(path.read_text("utf-8")) | {"max_noise": 2}
    path.write_text(json.dumps(content), "utf-8")


def more_in_the_structure(public):
    path = public / "persons.structure.json"
    content = json.loads(path.read_text("utf-8")) | {"true_total": 200}
    path.write_text(json.dumps(content), "utf-8")


def another_tree(public):
    path = public / "persons.structure.json"
    content = json.loads(path.read_text("utf-8"))
    codes = content["dimensions"][1]["codes"]
    codes[3], codes[4] = codes[4], codes[3]
    path.write_text(json.dumps(content), "utf-8")


@pytest.mark.parametrize(
    "change",
    [
        metadata_in_the_footer, truncated, damaged, missing, no_structure, another_file,
        a_workbook, a_link, another_family, more_in_the_certificate,
        more_in_the_structure, another_tree,
    ],
)  # fmt: skip
def test_other_forgeries_are_refused_though_digests_are_new(written, tmp_path, change):
    public = shutil.copytree(written / "public", tmp_path / "public")
    change(public)
    if change is not a_link:
        renewed(public)
    with pytest.raises((VerificationError, InputError)):
        dk.verify(public)


def test_the_office_that_lost_true_values_is_told(written, tmp_path):
    out = shutil.copytree(written, tmp_path / "out")
    path = out / "internal" / "persons.certificate.json"
    content = json.loads(path.read_text("utf-8"))
    del content["true_counts"]
    path.write_text(json.dumps(content), "utf-8")
    with pytest.raises(VerificationError):
        dk.verify(out)


def test_reading_the_cells_is_needed(written, tmp_path, monkeypatch):
    public = shutil.copytree(written / "public", tmp_path / "public")
    rewritten(public / "persons.parquet", swapped)
    renewed(public)
    monkeypatch.setattr(verify_changed, "read_blocks", lambda *_: [])
    assert dk.verify(public).tables
