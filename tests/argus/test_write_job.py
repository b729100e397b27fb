"""Tables as jobs of τ-ARGUS: read back they are the same, with the same unsafe cells."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples, some_quick

import diskret as dk
from diskret import argus
from diskret.errors import DiskretError, InputError, JobError
from diskret.hierarchy import Hierarchy
from diskret.rules import (
    PQ,
    Apriori,
    Dominance,
    MinimumFrequency,
    MissingSafe,
    PPercent,
    ZeroCells,
)

TREE = Hierarchy.from_parents(
    {"code": ["T", "N", "S", "@1", "2", "3"], "parent": [None, "T", "T", "N", "N", "S"]}
)


@st.composite
def records(draw):
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["@1", "2", "3"]),
                st.sampled_from(["a b", "b", "ü"]),
                st.integers(0, 300),
                st.integers(1, 9),
            ),
            min_size=2,
            max_size=30,
        )
    )
    names = ("region", "size", "turnover", "staff")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    columns["turnover"] = [f"{value / 10:.1f}" for value in columns["turnover"]]
    return pa.table({name: list(column) for name, column in columns.items()})


def tabulated(frame, **more):
    by = {"region": TREE, "size": None}
    values = {"turnover": 1, "staff": 0}
    table = dk.tabulate(frame, by=by, value=[*values], decimals=values, largest=3, **more)
    return table["turnover"]


def read_back(table, rule, folder, **options):
    argus.write_job(table, rule, folder / "own.arb", **options)
    text = (folder / "own.arb").read_text(encoding="utf-8")
    (folder / "own.arb").write_text(text.split("<SUPPRESS>")[0], encoding="utf-8")
    return argus.run(folder / "own.arb").tables


def same(table, rule, found):
    says = rule(table)
    assert [d.hierarchy for d in found.table.dimensions] == [d.hierarchy for d in table.dimensions]
    assert np.array_equal(found.table.measure.sum, table.measure.sum)
    assert found.table.measure.decimals == table.measure.decimals
    assert np.array_equal(found.table.empty, table.empty)
    assert np.array_equal(found.sensitivity.unsafe, says.unsafe)
    # a level of 0 is that of no level, for which the job has a share of its own
    for own, level in (
        (found.sensitivity.lower, says.lower),
        (found.sensitivity.upper, says.upper),
    ):
        given = says.unsafe & (level > 0)
        assert np.array_equal(own[given], level[given])


@examples(60)
@given(records())
def test_read_back_it_is_the_same_table(frame):
    table = tabulated(frame)
    rule = PPercent(10) | MinimumFrequency(3) | Dominance(2, 90, quiet=True) | ZeroCells(5)
    with tempfile.TemporaryDirectory() as name:
        (found,) = read_back(table, rule, Path(name))
    same(table, rule, found)


@examples(60)
@given(records(), st.sampled_from([PPercent(15, coalition=2), PQ(10, 60), PPercent(9)]))
def test_rules_that_are_judged_there_find_the_same(frame, first):
    table = tabulated(frame)
    rule = first | MinimumFrequency(3, of="records", range=20) | Dominance(3, 75) | ZeroCells(5)
    with tempfile.TemporaryDirectory() as name:
        (found,) = read_back(table, rule, Path(name), judged="there")
    same(table, rule, found)


FRAME = pa.table(
    {
        "region": ["@1", "@1", "2", "2", "3", "3", "3", "3"],
        "size": ["b", "b", "b", "ü", "b", "ü", "ü", "ü"],
        "turnover": ["9.5", "8", "90", "7", "40", "30", "20", "10"],
        "staff": [1, 2, 3, 4, 5, 6, 7, 8],
    }
)


@pytest.mark.parametrize("method", ["modular", "optimal", "hypercube", "network"])
@pytest.mark.parametrize(
    "cost", some_quick(["value", "count", "cells", "staff"], ("value", "staff"))
)
def test_methods_and_costs(tmp_path, method, cost):
    table, rule = tabulated(FRAME), PPercent(20) | MinimumFrequency(2)
    written = argus.write_job(
        table, rule, tmp_path / "own.arb", method=method, cost=cost, singletons=True
    )
    assert [path.name for path in written] == ["own.arb", "own_1.tab", "own_1.rda", "own_1_1.hrc"]
    assert (tmp_path / "own_1_1.hrc").read_text(encoding="utf-8") == "N\n~@1\n~2\nS\n~3\n"
    assert all(path.stat().st_mode & 0o077 == 0 for path in written)
    done = argus.run(tmp_path / "own.arb")
    ours = dk.suppress(table, rule, method=method, cost=cost, attacker=dk.attack.Attacker())
    assert np.array_equal(done.tables[0].result.published.suppressed, ours.published.suppressed)
    assert done.written == {tmp_path / "own_1.txt": True}


def test_counts_and_linked_tables(tmp_path):
    table = tabulated(FRAME)
    counts = dk.tabulate(FRAME, by={"region": TREE, "size": None})
    (found,) = read_back(counts, MinimumFrequency(3), tmp_path)
    assert np.array_equal(found.table.measure.sum, counts.count)
    assert np.array_equal(found.sensitivity.unsafe, MinimumFrequency(3)(counts).unsafe)
    other = dk.tabulate(FRAME, by={"size": None}, value="turnover", decimals=1)
    two = read_back([table, other], [PPercent(10), MinimumFrequency(4)], tmp_path)
    assert [t.table.shape for t in two] == [(6, 3), (3,)]
    argus.write_job([table, other], PPercent(10), tmp_path / "own.arb")
    assert "<SUPPRESS> MOD(0,10,0,0,0)" in (tmp_path / "own.arb").read_text(encoding="utf-8")
    assert len(argus.run(tmp_path / "own.arb").tables) == 2


def test_what_is_set_by_hand_is_in_a_file_of_its_own(tmp_path):
    hand = {"reason": ["r"] * 3, "who": ["w"] * 3, "date": ["2026-01-01"] * 3}
    entries = pa.table({
        "region": ["T", "@1", "3"], "size": ["Total", "b", "ü"],
        "status": ["frozen", "unsafe", None], "cost": [None, None, 12.5], **hand,
    })  # fmt: skip
    rule = Apriori(entries)
    table = tabulated(FRAME)
    (found,) = read_back(table, rule, tmp_path)
    # S and 3 are one cell
    lines = ['"T";"Total";p', '"S";"ü";c;12.5', '"3";"ü";c;12.5']
    assert (tmp_path / "own_1.hst").read_text(encoding="utf-8").splitlines() == lines
    same(table, rule, found)
    assert np.array_equal(found.sensitivity.frozen, rule(table).frozen)
    assert found.sensitivity.cost is not None
    assert np.nanmax(found.sensitivity.cost) == 12.5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rule": MissingSafe({"size": ["b"]}), "judged": "there"}, "has no rule for"),
        ({"rule": PPercent(12.5), "judged": "there"}, "reads whole numbers only"),
        ({"rule": PPercent(1) | PPercent(2) | PPercent(3), "judged": "there"}, "P at most 2 times"),
        ({"table": "counts", "judged": "there"}, 'needs a rule that τ-ARGUS knows'),
        ({"method": "simulated"}, "method= is one of"),
        ({"table": "two", "method": "optimal"}, "linked tables with MOD and GH only"),
        ({"path": "own.txt"}, "ends in .arb"),
        ({"path": "nowhere/own.arb"}, "there is no folder"),
        ({"table": "quotes"}, "quotation marks"),
        ({"table": "leads"}, "none can mark the levels"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_refused(tmp_path, options, said):
    odd = pa.table({"r": ['a"b', "c"], "turnover": ["1", "2"]})
    led = pa.table({"r": ["@", "~", "#", "^", "§"], "turnover": ["1", "2", "3", "4", "5"]})
    deep = Hierarchy.from_parents({"code": [*"T@~#^§"], "parent": [None, *"TTTT", "@"]})
    tables = {
        "counts": dk.tabulate(FRAME, by={"region": TREE, "size": None}),
        "two": [tabulated(FRAME), tabulated(FRAME)],
        "quotes": dk.tabulate(odd, by={"r": None}, value="turnover"),
        "leads": dk.tabulate(led.slice(1), by={"r": deep}, value="turnover"),
        None: tabulated(FRAME),
    }
    given = {"rule": MinimumFrequency(3), "path": "own.arb", **options}
    table, rule = tables[given.pop("table", None)], given.pop("rule")
    with pytest.raises((InputError, JobError, DiskretError)) as error:
        argus.write_job(table, rule, tmp_path / given.pop("path"), **given)
    assert said in str(error.value)
    assert not [*tmp_path.iterdir()]
