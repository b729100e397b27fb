"""The same table, whatever the engine: complete tables of random trees and records."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from engines.postgres_server import table_of
from engines.spark_server import ONE_SPARK, frame_of
from hypothesis import Phase, given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk

CODES = ["01", "1", "001", "A", "a", "Ä", "ß", "日本", "x y", "'\"", "\\", "NULL", "ﬀ", "T"]
MODULUS = 2**32
# Each example asks another program: a failing one is shown as it was found.
PHASES = (Phase.explicit, Phase.generate)


@st.composite
def trees(draw):
    """A tree of one to four levels; leaves may lie at different depths."""
    codes = draw(st.permutations(CODES))[: draw(st.integers(1, 7))]
    parent, depth = [-1], [0]
    for _ in codes:
        above = draw(st.sampled_from([i for i, d in enumerate(depth) if d < 3]))
        parent.append(above)
        depth.append(depth[above] + 1)
    frame = {"code": ["All", *codes], "parent": [None, *(["All", *codes][p] for p in parent[1:])]}
    return dk.Hierarchy.from_parents(frame)


@st.composite
def registers(draw):
    """Records with one to three dimensions, and what is asked about them."""
    by = {
        name: draw(trees())
        for name in draw(st.sampled_from([["Region"], ["a.b", "A.B"], ["select", "x", 'n"']]))
    }
    leaves = {name: [tree.codes[p] for p in tree.leaves] for name, tree in by.items()}
    places = draw(st.integers(0, 3))
    units = st.sampled_from(["1", "01", "é", "Z", "z", "10", "9"])
    record = st.fixed_dictionaries(
        {
            **{
                name: st.tuples(st.sampled_from(codes), st.sampled_from(["", " "])).map(
                    lambda pair: pair[0] + pair[1]
                )
                for name, codes in leaves.items()
            },
            "unit": units,
            "holding": st.none() | units,
            "value": st.integers(-(10**7), 10**7).map(
                lambda n, places=places: Decimal(n).scaleb(-places)
            ),
            "other": st.integers(-3, 2**40),
        }
    )
    records = draw(st.lists(record, min_size=1, max_size=25))
    columns = {name: pa.array([r[name] for r in records]) for name in records[0]}
    columns["value"] = columns["value"].cast(pa.decimal128(20, places))
    columns["holding"] = columns["holding"].cast(pa.string())
    # a key belongs to the unit
    columns["key"] = pa.array([hash_of(r["unit"]) for r in records])
    question = {
        "by": by,
        "value": ["value", "other"],
        "decimals": {"value": places},
        "unit": draw(st.sampled_from([None, "unit"])),
        "holding": draw(st.sampled_from([None, "holding"])),
        "record_key": draw(st.sampled_from([None, "key"])),
        "largest": draw(st.integers(0, 3)),
    }
    return pa.table(columns), question


def hash_of(unit):
    return int.from_bytes(unit.encode(), "big") * 2_654_435_761 % MODULUS


def numbers(table):
    """Every number of a table; its codes in their order."""
    kept = {"count": table.count, "units": table.units, "holdings": table.holdings}
    kept["key_sum"] = table.key_sum
    for measure in table.measures:
        for name in ("sum", "magnitude", "largest"):
            kept[f"{measure.name} {name}"] = getattr(measure, name)
    found = {name: None if a is None else np.asarray(a).tolist() for name, a in kept.items()}
    return {**found, "codes": [(d.name, d.hierarchy.codes) for d in table.dimensions]}


def check_same(elsewhere, register):
    records, question = register
    here = dk.tabulate(records, **question)
    assert numbers(dk.tabulate(elsewhere(records), **question)) == numbers(here)


@examples(30, phases=PHASES)
@given(registers())
def test_the_same_cells_in_postgres_and_duckdb(register):
    check_same(table_of, register)


@ONE_SPARK
@examples(15, phases=PHASES)
@given(registers())
def test_the_same_cells_in_spark_and_duckdb(register):
    check_same(frame_of, register)


@pytest.mark.parametrize("changed", ["count", "value sum", "value largest", "key_sum"])
def test_a_difference_of_one_is_seen(changed):
    """The comparison itself: no number may be left out of it."""
    records = pa.table({"r": ["1", "2"], "value": [3, 4], "k": [1, 2]})
    question = {"by": {"r": None}, "value": "value", "record_key": "k"}
    other = {
        "count": pa.concat_tables([records, pa.table({"r": ["1"], "value": [0], "k": [0]})]),
        "value sum": records.set_column(1, "value", [[3, -4]]),
        "value largest": records.set_column(1, "value", [[3, 5]]),
        "key_sum": records.set_column(2, "k", [[1, 3]]),
    }[changed]
    one, two = (numbers(dk.tabulate(t, **question)) for t in (records, other))
    assert one[changed] != two[changed]
