"""Perturbed values made additive: sums hold, zeros stay, nothing nearer exists."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.adjustment import make_additive
from diskret.adjustment.additive import raked
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension
from diskret.tables.add_up import add_up


def tree(parents, name="x"):
    return Dimension(
        name,
        Hierarchy(tuple(f"{name}{i}" for i in range(len(parents))), np.array(parents, np.int32)),
    )


# 0 > 1 > 3, 4; 0 > 2 > 5; 0 > 6 has no parts: a ragged tree
RAGGED = (-1, 0, 0, 1, 1, 2, 0)
FLAT = (-1, 0, 0, 0)


def is_additive(dimensions, value):
    leaf = np.zeros(value.shape, dtype=bool)
    leaf[np.ix_(*(d.hierarchy.is_leaf for d in dimensions))] = True
    return np.array_equal(add_up(value * leaf, [d.hierarchy for d in dimensions]), value)


def perturbed_table(seed, dimensions, largest=30, noise=3):
    random = np.random.default_rng(seed)
    shape = tuple(len(d) for d in dimensions)
    inner = random.integers(0, largest, shape) * (random.random(shape) < 0.8)
    leaf = np.zeros(shape, dtype=bool)
    leaf[np.ix_(*(d.hierarchy.is_leaf for d in dimensions))] = True
    true = add_up((inner * leaf).astype(np.int64), [d.hierarchy for d in dimensions])
    step = random.integers(-noise, noise + 1, shape) * (true > 0)
    return true, np.maximum(true + step, 0)


@pytest.mark.parametrize("method", ["least", "ipf"])
@examples(50)
@given(seed=st.integers(0, 10**6))
def test_fits_add_up_and_zeros_stay_zeros(method, seed):
    dimensions = (tree(RAGGED), tree(FLAT, "y"))
    _, perturbed = perturbed_table(seed, dimensions)
    fit = make_additive(dimensions, perturbed, method)
    assert is_additive(dimensions, fit.value)
    assert (fit.value >= 0).all()
    assert not fit.value[perturbed == 0].any()


@examples(40)
@given(st.lists(st.integers(0, 6), min_size=5, max_size=5))
def test_the_least_change_of_two_by_one_cells_is_nearly_the_least_of_all(given):
    """One total, two groups, two inner cells: all additive tables are tried."""
    dimensions = (tree((-1, 0, 0, 2, 2)),)
    perturbed = np.array(given)
    fit = make_additive(dimensions, perturbed)
    dead = perturbed[0] == 0, perturbed[0] * perturbed[2] == 0
    best = np.inf
    for a, b, c in product(range(14), repeat=3):
        value = np.array([a + b + c, a, b + c, b, c])
        if (value[perturbed == 0] == 0).all() and not (dead[0] and value.any()):
            best = min(best, ((value - perturbed) ** 2).sum())
    # moves of single inner cells cannot improve it; those of two at once may, by little
    assert best <= (fit.change**2).sum() <= best + 2


def test_additive_values_are_left_alone():
    dimensions = (tree(RAGGED), tree(FLAT, "y"))
    true, _ = perturbed_table(1, dimensions)
    for method in ("least", "ipf"):
        fit = make_additive(dimensions, true, method)
        assert fit.changed == 0
        assert fit.report()["share"] == 0


def test_the_report_counts_second_changes():
    fit = make_additive((tree((-1, 0, 0)),), np.array([12, 8, 7]), "ipf")
    assert fit.value.tolist() == [12, 6, 6]
    assert fit.report(decimals=1) == {
        "cells": 3,
        "changed": 2,
        "share": pytest.approx(200 / 3),
        "largest": 0.2,
        "mean": pytest.approx(0.1),
        "added_variance": pytest.approx((0.04 + 0.01) / 3),
    }


def test_raking_meets_the_margins_above_it():
    """A 2 × 2 table raked to margins 6, 4 and 5, 5 keeps its odds ratio (Deming & Stephan)."""
    dimensions = (tree((-1, 0, 0)), tree((-1, 0, 0), "y"))
    start = np.array([[10, 5, 5], [6, 4, 1], [4, 2, 3]])
    found = raked(dimensions, start)
    assert found[1:, 1:].sum(axis=0) == pytest.approx([5, 5])
    assert found[1:, 1:].sum(axis=1) == pytest.approx([6, 4])
    odds = found[1, 1] * found[2, 2] / (found[1, 2] * found[2, 1])
    assert odds == pytest.approx(4 * 3 / (1 * 2))


def test_raking_keeps_the_grand_total_and_coarse_totals_best():
    dimensions = (tree(RAGGED), tree(RAGGED, "y"))
    _, perturbed = perturbed_table(4, dimensions, largest=200)
    fit = make_additive(dimensions, perturbed, "ipf")
    assert abs(fit.change[0, 0]) <= 1
    least = make_additive(dimensions, perturbed, "least")
    assert (least.change**2).sum() < (fit.change**2).sum()


def test_the_least_change_brings_values_nearer_to_the_truth():
    """Additivity tells something of the noise, which anybody can use."""
    dimensions = (tree(RAGGED), tree(RAGGED, "y"), tree(FLAT, "z"))
    nearer = 0.0
    for seed in range(20):
        true, perturbed = perturbed_table(seed, dimensions, largest=400)
        fit = make_additive(dimensions, perturbed)
        nearer += ((fit.value - true) ** 2).mean() - ((perturbed - true) ** 2).mean()
    assert nearer < 0


def test_signed_values_are_fitted_without_a_floor():
    dimensions = (tree((-1, 0, 0)),)
    fit = make_additive(dimensions, np.array([-9, -8, 2]), nonnegative=False)
    assert fit.value[0] == fit.value[1:].sum()
    assert (fit.change**2).sum() == 3


def test_a_total_of_zero_empties_what_is_below_it():
    fit = make_additive((tree((-1, 0, 0, 1, 1)),), np.array([6, 0, 5, 1, 1]))
    assert fit.value.tolist()[1:] == [0, fit.value[0], 0, 0]


def test_refusals():
    one = (tree((-1, 0, 0)),)
    with pytest.raises(InputError, match="'ipf' or 'least', not 'rake'"):
        make_additive(one, np.array([1, 1, 0]), "rake")
    with pytest.raises(InputError, match="1 value is negative"):
        make_additive(one, np.array([1, -1, 2]))
