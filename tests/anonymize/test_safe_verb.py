"""`Microdata.safe`: from records to what SAFE is asked, and back to records."""

import datetime as dt
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.anonymize.history import carry_out
from diskret.errors import DiskretError, InputError
from diskret.jobs.microdata import read_microdata_job
from diskret.safe import search as search_module
from diskret.safe.search import search

STATE = {"011": "01", "012": "01", "021": "02", "022": "02", "023": "02"}
AREA = {"011": "urban", "012": "rural", "021": "urban", "022": "rural", "023": "rural"}


@pytest.fixture
def asked(monkeypatch):
    """The problems and options that the search is given; what it finds need not be good."""
    seen = []

    def observed(problem, **options):
        seen.append((problem, options))
        few = {} if {"sweeps", "time_limit"} & options.keys() else {"sweeps": 20}
        return search(problem, **options, **few)

    monkeypatch.setattr(search_module, "search", observed)
    return seen


def people(n: int = 400, seed: int = 1) -> pa.Table:
    draw = np.random.default_rng(seed)
    town = draw.choice(list(STATE), n, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    age = draw.integers(0, 6, n)
    return pa.table(
        {
            "number": np.arange(n),
            "age": age,
            "sex": draw.choice(["f", "m"], n),
            "job": [
                None if a < 2 else j for a, j in zip(age, draw.choice(list("abc"), n), strict=True)
            ],
            "town": town,
            "state": [STATE[one] for one in town],
            "area": [AREA[one] for one in town],
            "building": draw.integers(0, 2, n),
        }
    )


def microdata(frame=None, **roles) -> dk.Microdata:
    return dk.Microdata(people() if frame is None else frame, keys=["town", "sex"], **roles)


def frequencies(table: pa.Table) -> Counter:
    return Counter(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))


def names(problem, tables=None):
    return {
        frozenset(problem.names[v] for v in one.columns)
        for one in (problem.tables if tables is None else tables)
    }


# ── what is asked ───────────────────────────────────────────────────────────────────


def test_the_engine_gets_each_combination_once_in_order_with_its_frequency(asked):
    microdata().safe([("town", "age", "job"), "sex"])
    problem, _ = asked[0]
    assert set(problem.names) == {"town", "age", "job", "sex"}
    rows = [tuple(row) for row in problem.codes.tolist()]
    assert rows == sorted(set(rows))
    assert problem.count.sum() == 400
    wanted = frequencies(people().select(["town", "age", "job", "sex"]))
    assert sorted(problem.count.tolist()) == sorted(wanted.values())
    assert problem.codes.max(axis=0).tolist() == [size - 1 for size in problem.sizes]


def test_margins_and_the_total_are_controlled_unless_only_named_tables_are_asked_for(asked):
    microdata().safe([("town", "age"), ("age", "town")])
    microdata().safe([("town", "age")], margins=False)
    pair = frozenset({"town", "age"})
    assert names(asked[0][0]) == {pair, frozenset({"town"}), frozenset({"age"}), frozenset()}
    assert len(asked[0][0].tables) == 4
    assert names(asked[1][0]) == {pair, frozenset()}


def test_what_follows_from_another_variable_changes_with_it_and_regions_come_first(asked):
    microdata().safe([("age", "sex"), ("age", "job"), ("state",), ("town",)], strata=["state"])
    problem, _ = asked[0]
    assert problem.names[:2] == ("state", "town")
    assert problem.groups[0] == (0, 1)
    assert problem.names[2] == "age"  # in most tables of those that are left
    assert [v for group in problem.groups for v in group] == list(range(5))


def test_a_code_tree_adds_its_levels_as_columns(asked):
    tree = {**STATE, "01": "All", "02": "All"}
    made = microdata().safe([("town", "sex")], levels={"town": tree})
    problem, _ = asked[0]
    assert frozenset({"town_1", "sex"}) in names(problem)
    assert frozenset({"town", "sex"}) in names(problem)
    assert made.table.column_names == ["sex", "town", "town_1"]
    rows = made.table.to_pylist()
    assert all(STATE[row["town"]] == row["town_1"] for row in rows)
    assert "town_1" in made.before.table.column_names
    assert "town_1" not in made.original.table.column_names


def test_coarser_columns_are_levels_too(asked):
    microdata().safe([("town", "sex")], levels={"town": ["state"]}, margins=False)
    pairs = [frozenset({"town", "sex"}), frozenset({"state", "sex"})]
    assert names(asked[0][0]) == {*pairs, frozenset()}


def test_counting_variables_have_their_own_tables_and_keep_their_values(asked):
    made = microdata().safe({"": ["age"], "building": [("town", "sex")]}, margins=False)
    problem, _ = asked[0]
    at = problem.names.index("building")
    counting = [one for one in problem.tables if one.counter is not None]
    assert {one.counter for one in counting} == {at}
    assert names(problem, counting) == {frozenset({"town", "sex"}), frozenset()}
    assert problem.codes[:, at].tolist() != []
    assert (problem.codes[:, at] * problem.count).sum() == sum(people()["building"].to_pylist())
    assert made.table["building"].type == people()["building"].type


def test_a_variable_that_counts_one_in_every_record_counts_records(asked):
    frame = people().append_column("dwelling", pa.array([1] * 400))
    microdata(frame).safe({"dwelling": ["age", "sex"], "building": ["town"]}, margins=False)
    problem, _ = asked[0]
    records = [one for one in problem.tables if one.counter is None]
    assert names(problem, records) == {frozenset({"age"}), frozenset({"sex"}), frozenset()}
    assert len(problem.tables) == 5


def test_allowances_and_exact_cells_reach_their_tables(asked):
    microdata().safe(
        [("town", "sex"), "age"],
        weights={("sex", "town"): -1, "age": 2},
        exact=["state", {"sex": "f", "town": "011"}],
        strata=["area"],
    )
    problem, _ = asked[0]
    by_name = {frozenset(problem.names[v] for v in one.columns): one for one in problem.tables}
    pair = by_name[frozenset({"town", "sex"})]
    assert pair.allowance == -1
    assert by_name[frozenset({"age"})].allowance == 2
    assert by_name[frozenset({"state"})].exact
    assert by_name[frozenset({"area"})].exact
    cell = dict(zip((problem.names[v] for v in pair.columns), pair.special[0].codes, strict=True))
    assert cell == {"town": 0, "sex": 0}
    assert pair.special[0].exact


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, lambda rows: list(rows)])
def test_cells_with_allowances_come_as_a_frame_or_a_list(kind, asked):
    rows = [
        {"town": "012", "sex": "m", "allowance": 3},
        {"town": "021", "sex": "f", "allowance": 0},
    ]
    microdata().safe([("town", "sex")], weights=kind(rows))
    special = [cell for one in asked[0][0].tables for cell in one.special]
    assert sorted((cell.codes, cell.allowance) for cell in special) == [
        ((1, 1), 3),
        ((2, 0), 0),
    ] or sorted((cell.codes[::-1], cell.allowance) for cell in special) == [
        ((1, 1), 3),
        ((2, 0), 0),
    ]


def test_options_reach_the_search(asked):
    told = []
    microdata().safe(
        ["sex"],
        sweeps=9,
        checkpoint="state.bin",
        seed=4,
        minimum=5,
        new_combinations=True,
        progress=lambda *one: told.append(one),
    )
    problem, options = asked[0]
    assert (problem.minimum, problem.new) == (5, True)
    assert (options["sweeps"], options.get("time_limit")) == (9, None)
    assert options["checkpoint"] == "state.bin"
    assert ("count combinations", 1, 1) in told
    assert any(task.startswith("search: largest ") for task, _, _ in told)


def test_what_fitted_into_a_time_is_in_the_history_as_sweeps():
    made = microdata().safe([("town", "age", "job", "sex")], time_limit=0.2)
    step = made.history[-1]
    assert "time_limit" not in step.arguments
    assert sum(step.arguments["sweeps"]) == step.found["sweeps"]
    again = carry_out(microdata(), [step])
    assert again.table == made.table


# ── what comes back ─────────────────────────────────────────────────────────────────


def test_every_combination_occurs_not_at_all_or_often_enough():
    made = microdata().safe([("town", "age", "job", "sex")], minimum=4)
    assert made.table.column_names == ["age", "sex", "job", "town"]
    after = frequencies(made.table)
    assert min(after.values()) >= 4
    before = frequencies(people().select(["age", "sex", "job", "town"]))
    assert min(before.values()) < 4
    assert any(one[2] is None for one in after)  # missing comes back as missing
    assert not made.linked
    found = made.history[-1].found
    assert found["records"] == [400, made.n]
    assert found["combinations"] == [len(before), len(after)]
    assert found["left_out"] == ["number", "state", "area", "building"]
    assert found["sweeps"] == 150


def test_deviations_by_dimension_are_those_of_the_tables(asked):
    made = microdata().safe([("town", "age"), "sex"], columns=["job"])
    told = made.history[-1].found["deviations"]
    off: dict[int, list[int]] = {}
    for table in (["town", "age"], ["town"], ["age"], ["sex"], []):
        before, after = (
            frequencies(one.select(table)) if table else Counter({(): one.num_rows})
            for one in (people(), made.table)
        )
        off.setdefault(len(table), []).extend(abs(after[key] - n) for key, n in before.items())
    every = [one for part in off.values() for one in part]
    assert told["all"] == {
        "cells": len(every),
        "largest": max(every),
        "mean": round(sum(every) / len(every), 4),
    }
    assert [told[str(d)]["largest"] for d in range(3)] == [max(off[d]) for d in range(3)]
    assert told["2"]["cells"] == len(off[2])


def test_the_file_depends_on_the_records_but_not_on_their_order(asked):
    turned = people().take(pa.array(np.random.default_rng(3).permutation(400)))
    one, two, other = (
        microdata(frame).safe([("town", "age", "sex")], seed=seed).table
        for frame, seed in ((people(), 1), (turned, 1), (people(), 2))
    )
    assert one == two
    assert one != other


def test_parquet_files_stay_where_they_are(tmp_path, asked):
    pq.write_table(people(), tmp_path / "people.parquet")
    md = dk.Microdata(tmp_path / "people.parquet", keys=["town", "sex"])
    assert md.n == 400
    made = md.safe([("town", "age", "job")], columns=["sex"])
    assert "table" not in md.__dict__
    assert made.table == microdata().safe([("town", "age", "job")], columns=["sex"]).table
    assert md.table.num_rows == 400  # and are read when they are asked for


def test_several_parquet_files_are_one_even_if_their_types_differ(tmp_path, asked):
    one, two = people().slice(0, 150), people().slice(150)
    two = two.set_column(1, "age", two["age"].cast(pa.int16()))
    two = two.set_column(4, "town", two["town"].dictionary_encode())
    pq.write_table(one, tmp_path / "1.parquet")
    pq.write_table(two, tmp_path / "2.parquet")
    md = dk.Microdata([tmp_path / "1.parquet", tmp_path / "2.parquet"])
    assert md.n == 400
    made = md.safe([("town", "age", "job")])
    whole = microdata().safe([("town", "age", "job")])
    assert made.table.to_pylist() == whole.table.to_pylist()
    assert made.table["age"].type == md.table["age"].type


def typed() -> pa.Table:
    return pa.table(
        {
            "town": people()["town"],
            "age": people()["age"].cast(pa.int16()),
            "rooms": pa.array([None if i % 7 == 0 else i % 3 for i in range(400)], pa.float64()),
            "own": pa.array([None if i % 5 == 0 else i % 2 == 0 for i in range(400)]),
            "since": pa.array([dt.date(2020, 1, 1 + i % 2) for i in range(400)]),
            "seen": pa.array([dt.datetime(2020, 1, 1 + i % 2, 7) for i in range(400)]),
        }
    )


def test_types_of_arrow_come_back(asked):
    frame = typed().set_column(0, "town", typed()["town"].dictionary_encode())
    made = dk.Microdata(frame).safe([("town", "age", "rooms"), ("own", "since", "seen")])
    assert made.frame.schema.equals(frame.schema)
    assert set(made.table["since"].to_pylist()) <= set(frame["since"].to_pylist())
    assert set(made.table["seen"].to_pylist()) <= set(frame["seen"].to_pylist())
    assert made.table["own"].null_count > 0


def test_types_of_pandas_come_back(asked):
    frame = typed().to_pandas()
    frame["town"] = pd.Categorical(frame["town"], ["023", "022", "021", "012", "011"], ordered=True)
    frame["age"] = frame["age"].astype("Int16")
    frame["own"] = frame["own"].astype("boolean")
    made = dk.Microdata(frame).safe([("town", "age", "rooms"), ("own", "since", "seen")]).frame
    assert isinstance(made, pd.DataFrame)
    assert made.dtypes[["age", "rooms", "own", "since"]].equals(
        frame.dtypes[["age", "rooms", "own", "since"]]
    )
    assert made["town"].cat.ordered
    assert list(made["town"].cat.categories) == [
        code for code in frame["town"].cat.categories if code in set(made["town"])
    ]
    assert list(made.columns) == list(frame.columns)
    assert made.index.equals(pd.RangeIndex(len(made)))


def test_types_of_polars_come_back(asked):
    frame = pl.DataFrame(typed()).with_columns(
        pl.col("town").cast(pl.Enum(["023", "022", "021", "012", "011"]))
    )
    for one in (frame, frame.lazy()):
        made = dk.Microdata(one).safe([("town", "age", "rooms"), ("own", "since", "seen")]).frame
        assert isinstance(made, pl.DataFrame)
        assert made.schema == frame.schema


def test_public_columns_are_carried_along(asked):
    made = microdata().safe([("town", "sex")], public=["area", "state"])
    rows = made.table.to_pylist()
    assert all(AREA[row["town"]] == row["area"] for row in rows)
    assert names(asked[0][0]) == {
        frozenset(one) for one in (("town", "sex"), ("town",), ("sex",), ())
    }
    with pytest.raises(InputError, match="'area', which the other variables do not tell") as told:
        microdata().safe([("state", "sex")], public=["area"])
    assert "state = '01', " in str(told.value) or "sex = 'f', state = '01'" in str(told.value)
    assert "area = 'rural' and with area = 'urban'" in str(told.value)


def test_a_public_column_that_several_variables_tell_together_stops_new_combinations(asked):
    rows = [("a", "x", "1"), ("a", "y", "2"), ("b", "x", "2"), ("b", "y", "1")] * 5
    frame = pa.table(
        dict(zip(("one", "two", "both"), map(list, zip(*rows, strict=True)), strict=True))
    )
    md = dk.Microdata(frame)
    assert md.safe([("one", "two")], public=["both"]).n == 20
    with pytest.raises(InputError, match="several variables together"):
        md.safe([("one", "two")], public=["both"], new_combinations=True)


# ── exact cells, with a real engine ─────────────────────────────────────────────────


def test_exact_tables_and_strata_keep_their_counts():
    md = microdata(people(120))
    made = md.safe(
        [("state", "sex")], columns=["age"], strata=["state"], exact=["sex"], method="exact"
    )
    for name in ("state", "sex"):
        assert frequencies(made.table.select([name])) == frequencies(people(120).select([name]))
    assert made.history[-1].found["optimal"]
    assert min(frequencies(made.table).values()) >= 3


def test_an_exact_cell_with_too_few_records_is_named():
    frame = pa.table({"town": ["A", "A", "A", "B", "B", None], "sex": list("ffmmmm")})
    md = dk.Microdata(frame)
    with pytest.raises(InputError, match="2 cells .* town = None with 1") as told:
        md.safe(["sex"], exact=["town"], method="exact")
    assert "combine categories" in str(told.value)


def test_exact_cells_that_contradict_each_other_are_named_by_their_values():
    frame = pa.table({"town": ["A"] * 4 + ["B"] * 4, "sex": list("ffmmfffm")})
    md = dk.Microdata(frame)
    with pytest.raises(InputError, match="town = 'A'|sex = 'f'"):
        md.safe([("town", "sex")], exact=["town", "sex"], method="exact")


# ── what is refused ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tables": ["village"]}, "'village', which the records do not have"),
        ({"tables": []}, "names no variable"),
        ({"tables": [()]}, "names no variable"),
        ({"tables": ["number"]}, "'number' numbers or names single records"),
        ({"tables": ["sex"], "columns": ["number"]}, "'number' numbers or names"),
        ({"tables": ["sex"], "minimum": 1}, "minimum= must be a whole number from 2"),
        ({"tables": ["sex"], "method": "magic"}, "not 'magic'"),
        ({"tables": ["sex"], "seed": -1}, "seed="),
        ({"tables": ["sex"], "sweeps": 0}, "sweeps="),
        ({"tables": ["sex"], "time_limit": 0}, "time_limit="),
        ({"tables": ["sex"], "method": "exact", "sweeps": 3}, "not for method='exact'"),
        ({"tables": ["sex"], "method": "hoehne", "time_limit": 3}, "not for method='hoehne'"),
        ({"tables": ["sex"], "error": 3}, "error= is not for method='search'"),
        ({"tables": ["sex"], "method": "exact", "increment": 3}, "increment= is not for"),
        ({"tables": ["sex"], "method": "hoehne", "increment": 0}, "increment="),
        ({"tables": ["sex"], "weights": {"age": 1}}, "'age', which is not controlled"),
        ({"tables": ["sex"], "weights": {"sex": 1.5}}, "allowance 1.5"),
        ({"tables": ["sex"], "weights": [{"sex": "f"}]}, "without its 'allowance'"),
        ({"tables": ["sex"], "exact": [{"sex": "x"}]}, "no record has 'sex' = 'x'"),
        ({"tables": ["sex"], "exact": [{"sex": "f", "allowance": 1}]}, "with an 'allowance'"),
        ({"tables": ["sex"], "levels": {"sex": ["gender"]}}, "there is no column 'gender'"),
        ({"tables": ["town"], "levels": {"town": {"011": "1", "1": "T"}}}, "not in the tree"),
        ({"tables": ["town"], "levels": {"town": {"011": "T"}}}, "no level between"),
        ({"tables": ["age"], "levels": {"age": {"0": "1", "1": "T"}}}, "'age_1' already"),
        ({"tables": {"jobs": ["sex"]}}, "there is no column 'jobs'"),
        ({"tables": {"job": ["sex"]}}, "'job'.* missing"),
        ({"tables": ["half"]}, "numbers with decimals"),
    ],
)
def test_what_cannot_be_done_is_said(arguments, message, asked):
    frame = people().append_column("half", pa.array([i / 2 for i in range(400)]))
    frame = frame.append_column("age_1", frame["age"])
    with pytest.raises(DiskretError, match=message):
        microdata(frame, id="number").safe(**arguments)


def test_samples_are_refused():
    md = microdata(people().append_column("w", pa.array([2.0] * 400)), weight="w")
    with pytest.raises(InputError, match="sampling weights .'w'.*files of everybody"):
        md.safe(["sex"])


def test_nothing_but_columns_can_be_taken_away_afterwards(asked):
    made = microdata().safe([("town", "sex", "age")])
    for step in (
        lambda: made.recode("town", groups={"0": ["011", "012"]}),
        lambda: made.pram(["sex"], seed=1),
        lambda: made.swap("sex", probability=0.5, seed=1),
    ):
        with pytest.raises(InputError, match="do it first, and safe\\(\\) last"):
            step()
    with pytest.raises(InputError, match="safe file already"):
        made.safe(["sex"])
    with pytest.raises(InputError, match="record by record"):
        made.compare()
    with pytest.raises(InputError, match="record by record"):
        microdata().compare(made)
    assert min(frequencies(made.drop("age").table).values()) >= 3


# ── again ───────────────────────────────────────────────────────────────────────────


@pytest.mark.long
def test_the_step_is_done_again_from_a_job_file(tmp_path, asked):
    pq.write_table(people(), tmp_path / "people.parquet")
    first = dk.Microdata(tmp_path / "people.parquet", keys=["town", "sex"])
    made = first.recode("age", groups={"young": ["0", "1"]}).safe(
        {"": [("town", "sex"), {"up_to": 1, "of": ["age"]}], "building": ["town"]},
        levels={"town": ["state"]},
        weights={("town", "sex"): 1},
        exact=[{"sex": "f"}, "state"],
        public=["area"],
        minimum=4,
        seed=9,
    )
    made.save_job(tmp_path / "job.toml", "people.parquet")
    job = read_microdata_job(tmp_path / "job.toml")
    assert job.claims == (dk.claims.Safe(minimum=4),)
    told = []
    again = carry_out(
        dk.Microdata(job.records, **job.roles), job.steps, lambda *one: told.append(one)
    )
    assert again.table == made.table
    assert again.history[-1].arguments == made.history[-1].arguments
    assert again.history[-1].found == made.history[-1].found
    assert ("count combinations", 1, 1) in told
    assert made.replay(people()).table == made.table


# ── with real engines ───────────────────────────────────────────────────────────────


def test_combinations_that_come_up_are_counted_and_fit_together():
    draw = np.random.default_rng(2)
    frame = pa.table(
        {
            "town": draw.choice(list("AB"), 14),
            "sex": draw.choice(list("fm"), 14),
            "job": draw.choice(list("xyz"), 14),
        }
    )
    md = dk.Microdata(frame)
    tables = [("town", "sex"), "job"]
    old, new = (
        md.safe(tables, method="exact", new_combinations=one).history[-1].found
        for one in (False, True)
    )
    assert (old["new"], new["new"]) == (0, 1)
    assert new["opened"] == 0
    assert new["deviations"]["all"]["largest"] <= old["deviations"]["all"]["largest"]


@examples(25)
@given(
    st.lists(
        st.tuples(st.sampled_from("AB"), st.sampled_from(["f", None]), st.integers(0, 3)),
        min_size=8,
        max_size=40,
    ),
    st.integers(2, 4),
)
def test_any_file_becomes_safe_and_is_told_as_it_is(rows, minimum):
    columns = dict(zip(("town", "sex", "age"), map(list, zip(*rows, strict=True)), strict=True))
    md = dk.Microdata(pa.table(columns))
    made = md.safe([("town", "age"), "sex"], minimum=minimum, method="hoehne")
    after = frequencies(made.table)
    assert not after or min(after.values()) >= minimum
    assert set(after) <= set(frequencies(md.table))
    told, counted = made.history[-1].found, made.deviations().controlled.overall
    assert told["records"] == [len(rows), made.n]
    every = told["deviations"]["all"]
    assert (every["cells"], every["largest"]) == (counted.cells, counted.largest)
    assert every["mean"] == pytest.approx(counted.mean, abs=1e-4)


def test_the_published_steps_begin_with_the_error_that_is_given_and_tell_their_course():
    tables = [("town", "age"), ("age", "job"), "sex"]
    slowly = microdata().safe(tables, method="hoehne", error=1)
    at_once = microdata().safe(tables, method="hoehne", error=40)
    faster = microdata().safe(tables, method="hoehne", error=1, increment=4)
    traces = [made.history[-1].found["trace"] for made in (slowly, at_once, faster)]
    assert len(traces[1]) == 1 < len(traces[2]) < len(traces[0])
    for trace, step in ((traces[0], 1), (traces[2], 4)):
        assert all(largest <= 1 + step * at for at, (_, largest, _) in enumerate(trace))
    every = slowly.history[-1].found["deviations"]["all"]
    assert traces[0][-1][1] == every["largest"]
    assert traces[0][-1][2] == pytest.approx(every["mean"], abs=1e-4)


def test_progress_is_told_of_each_table_that_is_counted():
    told = []
    microdata().safe([("town", "age"), "sex"], sweeps=1, progress=lambda *one: told.append(one))
    counted = [(done, total) for task, done, total in told if task == "count tables"]
    assert counted == [(done, 5) for done in range(6)] * 2  # the original and the safe file
