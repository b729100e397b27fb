"""Counts perturbed in an engine are those of tabulate and lookup, and nothing else leaves it."""

import numpy as np
import pyarrow as pa
from engines.postgres_server import administrator, table_of
from engines.spark_server import ONE_SPARK, frame_of, session
from hypothesis import Phase, given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.cellkey import Lookup
from diskret.tables.cells import codes_columns

# Each example asks another program: a failing one is shown as it was found.
PHASES = (Phase.explicit, Phase.generate)
CODES = ["01", "1", "001", "A", "a", "Ä", "日本", "x y", "'\"", "\\", "NULL"]


# ── random trees, records, keys and lookups ─────────────────────────────────────────


@st.composite
def trees(draw, codes=CODES):
    """A tree of one to four levels; leaves may lie at different depths."""
    codes = draw(st.permutations(codes))[: draw(st.integers(1, 6))]
    parent, depth = [-1], [0]
    for _ in codes:
        above = draw(st.sampled_from([i for i, d in enumerate(depth) if d < 3]))
        parent.append(above)
        depth.append(depth[above] + 1)
    frame = {"code": ["All", *codes], "parent": [None, *(["All", *codes][p] for p in parent[1:])]}
    return dk.Hierarchy.from_parents(frame)


@st.composite
def lookups(draw, modulus):
    """Rows with random intervals, some of them empty, some rows with gaps between counts."""
    counts = np.cumsum([0, *draw(st.lists(st.integers(1, 2), min_size=1, max_size=4))])
    reuse = draw(st.integers(1, len(counts) - 1))
    if counts[-1] - counts[-reuse] != reuse - 1:
        reuse = 1
    width = draw(st.integers(1, 4))
    inner = st.lists(st.integers(0, modulus), min_size=width - 1, max_size=width - 1)
    bounds = np.array([[*sorted(draw(inner)), modulus] for _ in counts], dtype=np.uint64)
    noise = np.zeros(bounds.shape, dtype=np.int64)
    for row, count in enumerate(counts[1:].tolist(), 1):
        # a row also stands for the counts left out before it
        least = -int(counts[row - 1]) - 1 if count else 0
        noise[row] = draw(st.lists(st.integers(least, 3), min_size=width, max_size=width))
    return Lookup(counts, modulus, bounds, noise, reuse=reuse)


NAMES = (("Region",), ("select", "n", 'k"'))


@st.composite
def questions(draw, names=(*NAMES, ("a.b", "A.B")), padding=("", " ")):
    """Records with one to three dimensions, and what is asked about them."""
    names = draw(st.sampled_from(names))
    by = {name: draw(trees()) for name in names}
    modulus = draw(st.sampled_from([7, 2**32, 2**60]))
    unit = draw(st.sampled_from([None, "unit"]))
    pad = st.sampled_from(padding)
    record = st.tuples(
        *[
            st.tuples(st.sampled_from([tree.codes[p] for p in tree.leaves]), pad).map("".join)
            for tree in by.values()
        ],
        st.sampled_from(["1", "01", "é", "z", "10"]),
        st.integers(0, modulus - 1),
    )
    rows = draw(st.lists(record, min_size=1, max_size=25))
    columns = dict(zip([*by, "unit", "key"], map(list, zip(*rows, strict=True)), strict=True))
    if unit:  # a key belongs to the unit
        keys = dict(zip(columns["unit"], columns["key"], strict=True))
        columns["key"] = [keys[u] for u in columns["unit"]]
    lookup = draw(lookups(modulus))
    threshold = draw(st.none() | st.integers(1, 4))
    return pa.table(columns), {
        "by": by,
        "ptable": lookup,
        "record_key": "key",
        "key_modulus": modulus,
        "unit": unit,
        "threshold": threshold,
    }


def by_hand(records, question):
    """Values and what is withheld: tabulated, then perturbed in memory."""
    asked = {name: question[name] for name in ("by", "record_key", "key_modulus", "unit")}
    table = dk.tabulate(records, **asked)
    counted = table.count if question["unit"] is None else table.units
    value = counted + question["ptable"](counted, table.key_sum)
    return value, value < (question["threshold"] or 0)


def check(elsewhere, asked):
    records, question = asked
    value, withheld = by_hand(records, question)
    found = dk.perturb_records(elsewhere(records), **question).published
    assert found.suppressed.tolist() == withheld.tolist()
    assert np.where(withheld, 0, value).tolist() == found.value.tolist()
    assert found.changed == "cell_key"


@examples(40, phases=PHASES)
@given(questions())
def test_duckdb_publishes_what_tabulate_and_lookup_give(asked):
    check(lambda records: records, asked)


@examples(15, phases=PHASES)
@given(questions())
def test_postgres_publishes_what_tabulate_and_lookup_give(asked):
    check(table_of, asked)


@ONE_SPARK
@examples(4, phases=PHASES)
@given(questions())
def test_spark_publishes_what_tabulate_and_lookup_give(asked):
    check(frame_of, asked)


# ── the statement as an administrator runs it ───────────────────────────────────────


def rows_by_hand(records, question):
    """The rows of a view: codes of the cells with a count from 1, or the threshold, on."""
    value, _ = by_hand(records, question)
    published = dk.perturb_records(records, **question).published
    codes = codes_columns(published.dimensions)
    lists = [column.to_pylist() for column in codes.values()]
    least = question["threshold"] or 1
    rows = zip(*lists, value.ravel().tolist(), strict=True)
    return sorted(row for row in rows if row[-1] >= least)


def in_duckdb(records, statement):
    import duckdb

    with duckdb.connect() as connection:
        connection.register("here", records)
        connection.execute('CREATE TABLE "records 1" AS SELECT * FROM here')
        connection.execute(f"CREATE VIEW v AS {statement('records 1', 'duckdb')}")
        return connection.execute("SELECT * FROM v").fetchall()


def in_postgres(records, statement):
    stored = table_of(records)
    with administrator() as connection:
        connection.run(f"CREATE VIEW v AS {statement(stored.table, 'postgres')}".replace(":", "::"))
        try:
            return [tuple(row) for row in connection.run("SELECT * FROM v")]
        finally:
            connection.run("DROP VIEW v")


def in_spark(records, statement):
    frame_of(records).createOrReplaceTempView("stored")
    try:
        return [tuple(row) for row in session().sql(statement("stored", "spark")).collect()]
    finally:
        session().catalog.dropTempView("stored")


def check_view(run, asked):
    records, question = asked
    rows = run(
        records, lambda table, dialect: dk.perturbation_sql(table, dialect=dialect, **question)
    )
    assert sorted(rows) == rows_by_hand(records, question)


@examples(12, phases=PHASES)
@given(questions(NAMES, padding=("",)))
def test_a_view_in_duckdb_has_these_rows(asked):
    check_view(in_duckdb, asked)


@examples(6, phases=PHASES)
@given(questions(NAMES, padding=("",)))
def test_a_view_in_postgres_has_these_rows(asked):
    check_view(in_postgres, asked)


@ONE_SPARK
@examples(2, phases=PHASES)
@given(questions(NAMES, padding=("",)))
def test_the_statement_in_spark_has_these_rows(asked):
    check_view(in_spark, asked)
