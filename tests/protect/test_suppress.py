"""The verb suppress: options, frames, attackers, refusals."""

from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import InputError, ProofError, ProtectionError
from diskret.rules import MinimumFrequency, PPercent
from diskret.suppression import Pattern

COUNTS = [[13, 10, 2, 22], [8, 8, 5, 7], [24, 24, 1, 30]]


def frame():
    rows = [(f"r{i}", f"c{j}", n) for i, r in enumerate(COUNTS) for j, n in enumerate(r)]
    r, c, n = zip(*rows, strict=True)
    return pa.table({"r": r, "c": c, "n": n, "v": [10 * x for x in n]})


def counts(cells=None):
    return dk.Table.from_cells(
        frame() if cells is None else cells, by={"r": None, "c": None}, count="n"
    )


def status(result):
    return {(c["r"], c["c"]): c["status"] for c in result.internal_cells.to_pylist()}


def test_the_users_kind_of_frame_comes_back():
    kinds = {
        pd.DataFrame: frame().to_pandas(),
        pl.DataFrame: pl.from_arrow(frame()),
        pa.Table: frame(),
    }
    for kind, cells in kinds.items():
        result = dk.suppress(counts(cells), MinimumFrequency(3))
        assert isinstance(result.public, kind)
        assert isinstance(result.cells, kind)


def test_public_has_codes_values_and_one_status_for_all_suppressed():
    result = dk.suppress(counts(), MinimumFrequency(3))
    public = result.public.to_pylist()
    assert list(public[0]) == ["r", "c", "count", "status"]
    assert {c["status"] for c in public} == {"published", "suppressed"}
    assert all((c["count"] is None) == (c["status"] == "suppressed") for c in public)
    assert len(public) == 20


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"table": frame()}, "takes tables, not an object of type 'Table'; make one with"),
        ({"table": [counts(), "counts"]}, "takes tables, not an object of type 'str'"),
        ({"rule": MinimumFrequency}, "MinimumFrequency is a kind of rule; give its numbers"),
        ({"rule": "p%"}, "'p%' is no rule"),
        ({"attacker": "outsider"}, "attacker= is a dk.Attacker"),
    ],
)
def test_arguments_of_a_wrong_kind_are_told(given, told):
    with pytest.raises(InputError, match=told):
        arguments: dict[str, Any] = {"table": counts(), "rule": MinimumFrequency(3), **given}
        dk.suppress(**arguments)


def test_nothing_unsafe_suppresses_nothing():
    result = dk.suppress(counts(), PPercentNever())
    assert not result.published.suppressed.any()
    assert result.certificate.public()["intervals"]["lower"] == []


class PPercentNever:
    """A rule of the user's own."""

    largest = 0

    def __call__(self, table):
        none = np.zeros(table.shape, dtype=bool)
        zero = np.zeros(table.shape, dtype=np.int64)
        return dk.Sensitivity(none, zero, zero, zero, zero.astype(np.int8) - 1, ())


def test_a_sensitivity_can_be_given_instead_of_a_rule():
    table = counts()
    a = dk.suppress(table, MinimumFrequency(3))
    b = dk.suppress(table, MinimumFrequency(3)(table))
    assert np.array_equal(a.published.suppressed, b.published.suppressed)


def test_cost_decides_what_is_hidden():
    def dear(table):
        price = np.ones(table.shape)
        price[1:, 1:] = [[1, 50, 1, 1], [1, 1, 1, 1], [1, 50, 1, 1]]
        return price

    hidden = status(dk.suppress(counts(), MinimumFrequency(3), cost=dear))
    assert hidden["r0", "c1"] == hidden["r2", "c1"] == "published"
    for cost in ("value", "count", "cells"):
        dk.suppress(counts(), MinimumFrequency(3), cost=cost)


def test_cost_by_another_measure():
    cells = frame().append_column("w", pa.array([1] * 12))
    table = dk.tabulate(cells, by={"r": None, "c": None}, value=["v", "w"])
    result = dk.suppress(table["v"], MinimumFrequency(2, range=20), cost="w")
    assert result.name == "v"
    assert {"v", "w"} <= set(result.internal_cells.column_names)


def test_frozen_cells_stay_published():
    free = status(dk.suppress(counts(), MinimumFrequency(3), cost="value"))
    assert free["r0", "c1"] == "secondary"
    keep = pa.table({"r": ["r0"], "c": ["c1"]})
    held = status(dk.suppress(counts(), MinimumFrequency(3), cost="value", frozen=keep))
    assert held["r0", "c1"] == "published"


def test_frozen_cells_that_make_protection_impossible_are_named():
    keep = pa.table({"r": ["r0"] * 4, "c": ["c0", "c1", "c3", "Total"]})
    with pytest.raises(ProtectionError, match=r"blame: 4, .*r=r0\] = .*at least one") as told:
        dk.suppress(counts(), MinimumFrequency(3), frozen=keep, name="x")
    assert told.value.blamed == (5, 6, 7, 9)  # row r0 without its unsafe c2
    assert told.value.blamed_in == ("x",) * 4


def test_an_unsafe_cell_cannot_be_frozen():
    keep = pa.table({"r": ["r0"], "c": ["c2"]})
    with pytest.raises(ProtectionError, match="r=r0, c=c2"):
        dk.suppress(counts(), MinimumFrequency(3), frozen=keep)


def test_attacker_who_knows_that_hidden_counts_are_positive():
    attacker = dk.Attacker(zeros_known=True)
    result = dk.suppress(counts(), MinimumFrequency(3), attacker=attacker)
    found = result.certificate.examination
    assert (found.witness_lower >= 1).all()
    assert (found.witness_upper > found.witness_lower).all()
    assert result.certificate.internal()["sliding_only"] == 1  # the count of 1
    assert result.certificate.public()["attacker"] == "informed"


def test_attacker_with_relative_bounds():
    table = dk.tabulate(frame(), by={"r": None, "c": None}, value="v")
    rule = MinimumFrequency(2, range=20)
    result = dk.suppress(table, rule, attacker=dk.Attacker(relative=50))
    found = result.certificate.examination
    value = table.measure.sum.ravel()[found.cell]
    assert (found.lower >= value * 0.5 - 1).all() and (found.upper <= value * 1.5 + 1).all()
    outside = result.certificate.outsider
    assert (outside.lower <= found.lower).all() and (outside.upper >= found.upper).all()


def test_bounds_that_never_allow_protection_are_refused():
    table = dk.tabulate(frame(), by={"r": None, "c": None}, value="v")
    with pytest.raises(ProtectionError):
        dk.suppress(table, PPercent(90), attacker=dk.Attacker(relative=1))


def test_attacker_with_bounds_of_single_cells():
    bounds = pa.table({"r": ["r0"], "c": ["c1"], "lower": [10], "upper": [10]})
    attacker = dk.Attacker(lower=bounds.drop(["upper"]), upper=bounds.drop(["lower"]))
    hidden = status(dk.suppress(counts(), MinimumFrequency(3), attacker=attacker))
    # a cell he knows is no shelter: another one has to be hidden
    assert sum(s == "secondary" for s in hidden.values()) >= 2
    assert hidden["r0", "c0"] == "secondary" or hidden["r0", "c3"] == "secondary"


def test_time_limit_gives_a_safe_pattern_or_an_error():
    try:
        result = dk.suppress(counts(), MinimumFrequency(3), time_limit=1e-9)
    except ProtectionError as error:
        assert "time" in str(error)
    else:
        assert not (
            result.certificate.examination.lower == result.certificate.examination.upper
        ).any()


def test_methods_that_break_the_contract_are_refused():
    frozen = pa.table({"r": ["r1"], "c": ["c1"]})

    def everything(problem):
        return Pattern(np.ones(len(problem.frozen), dtype=bool), "everything")

    with pytest.raises(ProofError, match="must stay published"):
        dk.suppress(counts(), MinimumFrequency(3), method=everything, frozen=frozen)

    def wrong_shape(problem):
        return Pattern(np.ones(3, dtype=bool), "odd")

    with pytest.raises(ProofError, match="odd"):
        dk.suppress(counts(), MinimumFrequency(3), method=wrong_shape)


def test_a_protector_that_forgets_secondaries_is_caught_and_repaired():
    def careless(problem):
        only = np.zeros(len(problem.frozen), dtype=bool)
        only[problem.requirements.cell] = True
        return Pattern(only, "careless")

    result = dk.suppress(counts(), MinimumFrequency(3), method=careless)
    assert result.certificate.repaired >= 1
    found = result.certificate.examination
    assert (found.lower < found.upper).all()


def careless(problem):
    """Hides what a rule asks for, and forgets all secondaries."""
    only = np.zeros(len(problem.frozen), dtype=bool)
    only[problem.requirements.cell] = True
    return Pattern(only, "careless")


def test_where_no_repair_finds_anything_all_around_is_hidden(monkeypatch):
    monkeypatch.setattr(import_module("diskret.protect.revealed_sums"), "modular", careless)
    result = dk.suppress(counts(), MinimumFrequency(3), method=careless)
    found = result.certificate.examination
    assert (found.lower < found.upper).all()


def test_a_broken_repair_ends_in_refusal(monkeypatch):
    def same(problem, pattern, cells):
        return pattern

    monkeypatch.setattr(import_module("diskret.protect.revealed_sums"), "modular", careless)
    monkeypatch.setattr(import_module("diskret.protect.prove"), "everything_around", same)
    with pytest.raises(ProofError, match="r=r0, c=c2"):
        dk.suppress(counts(), MinimumFrequency(3), method=careless)


def test_a_protector_with_half_of_the_equations_is_refused(monkeypatch):
    """Broken equations mislead the protector and every repair, but not the attack."""
    module = import_module("diskret.system.equations")
    whole = module.rectangular_equations

    def without_the_second_dimension(dimensions):
        equations = whole(dimensions)
        flat = np.arange(equations.shape[1]).reshape([len(d) for d in dimensions])
        columns = flat[0]  # an equation along the first dimension keeps its column
        rows = [
            row
            for row in range(equations.shape[0])
            if np.isin(equations[[row]].indices, columns).sum() == 1
        ]
        return equations[rows]

    monkeypatch.setattr(module, "rectangular_equations", without_the_second_dimension)
    with pytest.raises(ProofError, match="narrowed down"):
        dk.suppress(counts(), MinimumFrequency(3))


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"method": "optimum"}, "auto, sequential"),
        ({"cost": "price"}, "'value', 'count', 'cells'"),
        ({"cost": lambda t: np.full(t.shape, -1.0)}, "finite"),
        ({"cost": lambda t: np.ones(3)}, "3 prices"),
        ({"frozen": np.zeros(3, dtype=bool)}, "shape"),
    ],
)
def test_bad_options_are_named(options, what):
    with pytest.raises(InputError, match=what):
        dk.suppress(counts(), MinimumFrequency(3), **options)


def test_same_input_same_pattern_in_any_row_order():
    shuffled = frame().take(np.random.default_rng(1).permutation(12))
    a, b = (
        dk.suppress(counts(), MinimumFrequency(3)),
        dk.suppress(counts(shuffled), MinimumFrequency(3)),
    )
    assert a.public == b.public
    assert a.certificate.public() == b.certificate.public()
