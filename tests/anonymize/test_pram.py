"""PRAM: what changes, how often, and what never does."""

from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret import DiskretError, Microdata
from diskret.microdata import TransitionMatrix, pram_estimate
from diskret.microdata.pram import Stratum, drawn


def persons(counts, **columns):
    """So many records of each category, in no particular order."""
    values = [value for value, count in counts.items() for _ in range(count)]
    order = np.random.default_rng(5).permutation(len(values))
    return pa.table({"job": [values[at] for at in order], **columns})


def published(md):
    return Counter(md.table.column("job").to_pylist())


JOBS = {"baker": 700, "mayor": 50, "nurse": 250}


@examples(60)
@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=6).filter(any),
    st.floats(0, 1),
    st.integers(0, 1000),
    st.sampled_from([None, 1, 2]),
)
def test_exact_frequencies_stay_in_every_stratum(counts, stay, seed, band):
    jobs = np.repeat(np.arange(len(counts)), counts)
    region = np.random.default_rng(seed).integers(0, 3, len(jobs))
    table = pa.table({"job": jobs, "region": region})
    made = Microdata(table, strata=["region"]).pram(
        "job", seed=seed, stay=stay, band=band, exact=True
    )
    after = made.table.column("job").to_numpy()
    assert Counter(zip(region, after, strict=True)) == Counter(zip(region, jobs, strict=True))
    found = made.history[0].found
    assert found["changed"]["job"] == (after != jobs).sum()
    # each of up to L² transitions of each of 3 strata is rounded by less than 1
    assert abs(found["changed"]["job"] - found["expected"]["job"]) < 3 * len(counts) ** 2


def test_exact_and_random_draws_change_records_as_likely_as_the_matrix_says():
    md = Microdata(persons(JOBS), keys=["job"])
    matrix = md.transitions("job", stay=0.7).matrix
    before = md.coded("job").codes
    runs = 200
    for exact in (False, True):
        joint = np.zeros((3, 3))
        for seed in range(runs):
            after = md.pram("job", stay=0.7, seed=seed, exact=exact).coded("job").codes
            np.add.at(joint, (before, after), 1)
        number = runs * np.array(list(JOBS.values()))[:, None]
        error = np.sqrt(matrix.probabilities * (1 - matrix.probabilities) / number)
        assert (np.abs(joint / number - matrix.probabilities) <= 4 * error + 1e-12).all()


@pytest.mark.parametrize("kept", [{"invariant": False}, {}, {"exact": True}])
def test_estimates_from_randomised_files_are_unbiased(kept):
    sex = np.random.default_rng(2).choice(["f", "m"], 1000, p=[0.3, 0.7])
    md = Microdata(persons(JOBS, sex=sex), keys=["job", "sex"])
    matrix = md.transitions("job", stay=0.6, invariant="invariant" not in kept).matrix
    runs = [
        pram_estimate(
            md.pram("job", stay=0.6, seed=seed, **kept).frame, {"job": matrix, "sex": None}
        )
        for seed in range(150)
    ]
    true = pram_estimate(md.frame, {"job": None, "sex": None}).published
    mean = np.mean([run.estimate for run in runs], axis=0)
    stated = np.mean([run.variance for run in runs], axis=0)
    assert (np.abs(mean - true) <= 4 * np.sqrt(stated / len(runs))).all()
    share = np.var([run.estimate for run in runs], axis=0) / stated
    spread = 4 * (2 / len(runs)) ** 0.5
    assert (share < 0.8).all() if "exact" in kept else (np.abs(share - 1) <= spread).all()


def test_same_seed_same_result_and_other_draws_for_each_variable_and_call():
    md = Microdata(persons(JOBS).append_column("copy", persons(JOBS).column("job")))
    made = md.pram(["job", "copy"], seed=1)
    again = md.pram(["job", "copy"], seed=1)
    assert made.table.equals(again.table) and made.history == again.history
    assert not made.table.equals(md.pram(["job", "copy"], seed=2).table)
    assert made.table.column("job") != made.table.column("copy")
    # what one variable becomes does not depend on others that change, too
    assert made.table.column("job") == md.pram("job", seed=1).table.column("job")


def test_a_second_call_with_the_same_seed_hits_other_records():
    md = Microdata(persons({"a": 1000, "b": 1000}))
    once = md.pram("job", seed=1, stay=0.5)
    twice = once.pram("job", seed=1, stay=0.5)
    first, second, third = (one.coded("job").codes for one in (md, once, twice))
    both = ((first != second) & (second != third)).mean()
    assert abs(both - 0.25) <= 4 * (0.25 * 0.75 / 2000) ** 0.5


@pytest.mark.parametrize("draw", [0, 2**64 - 1])
def test_not_even_the_smallest_or_largest_draw_makes_the_impossible_happen(draw):
    likely = np.array([[0, 1, 0], [0.5, 0, 0.5], [0, 1 - 1e-15, 1e-15]])
    at = np.arange(3)
    stratum = Stratum((), at, at, np.ones(3, np.int64), TransitionMatrix("abc", likely))
    found = drawn(stratum, np.full(3, draw, np.uint64))
    assert (likely[at, found] > 0).all()


def test_forbidden_transitions_and_far_ones_never_happen():
    ages = Microdata(pa.table({"job": np.repeat([1, 2, 3, 4, 5], 400)}))
    before = ages.coded("job").codes
    for options in ({}, {"invariant": False}, {"exact": True}):
        made = ages.pram("job", seed=3, stay=0, band=2, forbidden=[[2, 3], [4, 5]], **options)
        seen = set(zip((before + 1).tolist(), made.table.column("job").to_pylist(), strict=True))
        allowed = {(1, 2), (1, 3), (2, 4), (3, 4), (3, 5)}
        assert {(a, b) for a, b in seen if a != b} == allowed | {(b, a) for a, b in allowed}


def test_bands_count_places_of_the_whole_variable_not_of_a_stratum():
    table = pa.table({"job": [1, 2, 3] * 50 + [1, 3] * 100, "region": ["n"] * 150 + ["s"] * 200})
    md = Microdata(table, strata=["region"])
    made = md.pram("job", seed=1, stay=0.5, band=1)
    assert made.table.column("job")[150:].equals(md.table.column("job")[150:])
    assert made.table.column("job") != md.table.column("job")


def test_values_do_not_appear_in_strata_where_they_do_not_occur():
    young = ["pupil"] * 80 + ["baker"] * 20
    old = ["retired"] * 80 + ["baker"] * 20
    table = pa.table({"job": young + old, "age": ["0-17"] * 100 + ["65+"] * 100})
    made = Microdata(table).pram("job", seed=1, stay=0.3, strata="age").table
    assert set(made.column("job")[:100].to_pylist()) == {"pupil", "baker"}
    assert set(made.column("job")[100:].to_pylist()) == {"retired", "baker"}


def test_variables_changed_together_show_only_combinations_that_occur():
    pairs = [("child", "single"), ("adult", "single"), ("adult", "widowed")] * 100
    age, marital = zip(*pairs, strict=True)
    md = Microdata(pa.table({"age": age, "marital": marital}), keys=["age", "marital"])
    made = md.pram([("age", "marital")], seed=1, stay=0.4)
    after = set(
        zip(*(made.table.column(name).to_pylist() for name in ("age", "marital")), strict=True)
    )
    assert after == set(pairs)
    assert list(made.history[0].found["changed"]) == ["age x marital"]
    assert not made.table.equals(md.table)
    assert ("child", "widowed") not in md.transitions(("age", "marital")).matrix.categories


def test_missing_values_stay_missing_and_hold_their_partners():
    table = pa.table({"job": ["a", None, "b", "a"] * 50, "sex": ["f", "m", None, "m"] * 50})
    md = Microdata(table)
    for exact in (False, True):
        made = md.pram("job", seed=1, stay=0.2, exact=exact)
        assert made.table.column("job").is_null().equals(table.column("job").is_null())
        both = md.pram([("job", "sex")], seed=1, stay=0, exact=exact).table
        partial = [row for row in zip(*both.to_pydict().values(), strict=True) if None in row]
        assert Counter(partial) == {(None, "m"): 50, ("b", None): 50}


def test_a_given_matrix_is_used_as_it_is_and_may_bring_new_values():
    md = Microdata(persons({"a": 60, "b": 40}))
    matrix = TransitionMatrix(["b", "a", "z"], [[0, 0, 1], [0, 1, 0], [0, 0, 1]])
    made = md.pram("job", matrix=matrix, invariant=False, seed=1)
    assert published(made) == {"a": 60, "z": 40}
    found = made.history[0].found
    assert found["changed"] == {"job": 40} and found["expected"] == {"job": 40}
    assert found["categories"]["job"]["b"] == {"changed": 40, "expected": 40.0}
    same = md.pram("job", matrix=matrix.frame("pandas"), invariant=False, seed=1)
    assert published(same) == published(made)


def test_an_invariant_matrix_made_beforehand_passes():
    md = Microdata(persons(JOBS))
    counts = list(JOBS.values())
    two_step = TransitionMatrix.staying(JOBS, 0.8).two_step(counts)
    assert published(md.pram("job", matrix=two_step, exact=True, seed=1)) == JOBS
    optimal = TransitionMatrix.optimal(JOBS, counts, [1, 0.5, 0.8])
    assert published(md.pram("job", matrix=optimal, exact=True, seed=1)) == JOBS


def test_history_repeats_the_step_on_the_same_and_on_new_data():
    first = Microdata(persons(JOBS, region=["n", "s"] * 500), strata=["region"])
    made = first.pram(["job"], seed=4, stay=0.6, forbidden=[("baker", "mayor")], exact=True)
    step = made.history[0]
    assert step.arguments == {
        "variables": ["job"],
        "seed": 4,
        "stay": 0.6,
        "exact": True,
        "forbidden": [["baker", "mayor"]],
    }
    assert getattr(first, step.verb)(**step.arguments).table.equals(made.table)
    new = Microdata(first.table.slice(0, 500), strata=["region"])
    assert published(getattr(new, step.verb)(**step.arguments)) == published(new)
    given_one = first.pram([("job",)], seed=4, matrix=TransitionMatrix(JOBS, np.eye(3)), strata=[])
    step = given_one.history[0]
    assert getattr(first, step.verb)(**step.arguments).history == given_one.history


def test_figures_of_all_strata_come_in_the_kind_of_the_records():
    frame = pd.DataFrame({"job": ["a", "b", "a", "b"], "region": [1, 1, 2, 2]})
    found = Microdata(frame, strata=["region"]).transitions("job")
    assert found.frame["region"].tolist() == [1, 1, 2, 2]
    assert found.frame["posterior"].tolist() == pytest.approx([0.8] * 4)
    assert repr(found) == "Transitions(job; 2 matrices)"
    with pytest.raises(DiskretError, match="a matrix for each stratum"):
        _ = found.matrix


def test_whole_numbers_logical_values_and_categories_keep_their_type():
    frame = pd.DataFrame(
        {
            "n": [1, 2] * 50,
            "f": [True, False] * 50,
            "c": pd.Categorical(["x", "y"] * 50, categories=["y", "x", "z"]),
        }
    )
    made = Microdata(frame).pram(["n", "f", "c"], seed=1, stay=0.2, exact=True).frame
    assert made.dtypes.equals(frame.dtypes)
    assert not made.equals(frame)


@pytest.mark.parametrize(
    ("variables", "options", "message"),
    [
        (["job", "job"], {}, "column 'job' twice"),
        ([], {}, "names no column"),
        ("nace", {}, "no column 'nace'"),
        ("job", {"strata": "job"}, "cannot be used here and divide"),
        ("job", {"seed": -1}, "seed= must be a whole number"),
        ("job", {"stay": 2}, "stay= must be a number from 0 to 1"),
        ("job", {"exact": True, "invariant": False}, "exact=True"),
        ("job", {"forbidden": [("a", "q")]}, "value 'q'"),
        ("job", {"matrix": TransitionMatrix("ab", np.eye(2)), "band": 1}, "leave out forbidden="),
        (["job", "sex"], {"matrix": TransitionMatrix("ab", np.eye(2))}, "for a single variable"),
        ([("job", "sex")], {"band": 1}, "needs an order"),
        ("job", {"matrix": TransitionMatrix("ab", [[0.9, 0.1], [0.5, 0.5]])}, "'a' has 3 records"),
        ("job", {"matrix": TransitionMatrix(["a"], [[1]])}, "value 'b', which its matrix"),
        (
            "job",
            {"matrix": TransitionMatrix(["a", "b", 3], np.eye(3)), "invariant": False},
            "do not fit 'job'",
        ),
    ],
)
def test_mistakes_are_explained(variables, options, message):
    md = Microdata(pa.table({"job": ["a", "b", "a", "a"], "sex": ["f", "m", "f", "m"]}))
    with pytest.raises(DiskretError, match=message):
        md.pram(variables, **{"seed": 1, **options})


def test_an_exact_matrix_written_with_few_decimals_is_refused_not_fudged():
    md = Microdata(persons({"a": 3_000, "b": 7_000}))
    rounded = TransitionMatrix("ab", [[0.8, 0.2], [0.0857, 0.9143]])
    with pytest.raises(DiskretError, match="does not keep frequencies"):
        md.pram("job", matrix=rounded, exact=True, seed=1)
