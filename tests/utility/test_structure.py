"""Additivity, order and association, against independent computations."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats.contingency import association

from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension, Table
from diskret.tables.add_up import add_up
from diskret.utility import between_variance, compare, cramers_v, ranks

REGION = Hierarchy.from_parents(
    {"code": ["N", "S", "n1", "n2", "n3"], "parent": ["T", "T", *"NNN"]}
)
SEX = Hierarchy.flat(["f", "m"])
AGE = Hierarchy.from_parents({"code": ["all", "old", "o1"], "parent": [None, "all", "old"]})
TREES = {"region": REGION, "sex": SEX, "age": AGE}

SEEDS = st.integers(0, 2**32 - 1)


def random_table(seed, names=("region", "sex", "age"), mean=3.0):
    random = np.random.default_rng(seed)
    trees = [TREES[name] for name in names]
    count = np.zeros([len(tree) for tree in trees], dtype=np.int64)
    leaves = np.ix_(*(tree.leaves for tree in trees))
    count[leaves] = random.poisson(mean, count[leaves].shape)
    add_up(count, trees)
    dimensions = tuple(Dimension(name, TREES[name]) for name in names)
    return Table(dimensions, count=count), random


@given(SEEDS)
def test_additivity_is_that_of_every_single_equation(seed):
    table, random = random_table(seed)
    protected = table.count + random.integers(-2, 3, table.shape)
    values = np.where(random.random(table.shape) < 0.05, np.nan, protected)
    defects = []
    for axis, dimension in enumerate(table.dimensions):
        others = [range(len(d)) for i, d in enumerate(table.dimensions) if i != axis]
        for code, children in enumerate(dimension.hierarchy.children):
            for rest in itertools.product(*others):
                cells = [(*rest[:axis], i, *rest[axis:]) for i in (code, *children)]
                found = [values[cell] for cell in cells]
                if len(children) and not np.isnan(found).any():
                    defects.append(abs(found[0] - sum(found[1:])))
    found = compare(table, values).additivity
    assert found.equations == len(defects)
    assert found.broken == sum(d > 0 for d in defects)
    assert found.largest == max(defects, default=0)
    if defects:
        assert found.mean == pytest.approx(np.mean(defects))


def test_original_tables_are_additive_and_one_changed_total_breaks_its_equations():
    table, _ = random_table(1)
    assert compare(table, table.count).additivity.broken == 0
    changed = table.count.copy()
    changed[0, 0, 0] += 5
    found = compare(table, changed).additivity
    # the grand total is the total of one equation along each of three variables
    assert (found.broken, found.largest) == (3, 5.0)


@given(SEEDS, st.integers(2, 60))
def test_rank_correlation_is_spearmans(seed, cells):
    random = np.random.default_rng(seed)
    original = random.integers(1, 30, cells)
    protected = original + random.integers(-3, 4, cells)
    found = ranks(original, protected)
    if len(set(original)) > 1 and len(set(protected)) > 1:
        expected = stats.spearmanr(original, protected).statistic
        assert found.correlation == pytest.approx(expected)
    else:
        assert math.isnan(found.correlation)
    assert ranks(original, 2 * original).moved == 0


def test_cells_that_change_places_across_a_tenth_have_moved():
    original = np.arange(1, 101)
    protected = original.copy()
    protected[[9, 10]] = protected[[10, 9]]
    assert ranks(original, protected).moved == pytest.approx(0.02)
    protected = original.copy()
    protected[[3, 4]] = protected[[4, 3]]
    assert ranks(original, protected).moved == 0


def test_equal_values_have_not_moved():
    # the first five may be any of the first five tenths, before and after
    assert ranks(np.arange(1, 11), np.array([3] * 5 + [6, 7, 8, 9, 10])).moved == 0
    assert ranks(np.array([3] * 5 + [6, 7, 8, 9, 10]), np.arange(1, 11)).moved == 0
    # but not any of the last ones
    assert ranks(np.arange(1, 11), np.array([20] * 5 + [6, 7, 8, 9, 10])).moved == 1


@given(SEEDS)
def test_cramers_v_is_that_of_scipy(seed):
    random = np.random.default_rng(seed)
    cells = random.poisson(4, random.integers(2, 6, 2)) + 1
    assert cramers_v(cells) == pytest.approx(association(cells, method="cramer"))
    wider = np.pad(cells, ((0, 1), (0, 2)))
    assert cramers_v(wider) == pytest.approx(cramers_v(cells))
    assert math.isnan(cramers_v(np.zeros((3, 3), dtype=np.int64)))
    assert math.isnan(cramers_v(-cells))


def test_between_variance_by_hand():
    # shares of the first column 3/4 and 1/4, together 5/8: (8/64 + 9/16) / 1, twice
    cells = np.array([[9, 3], [1, 3]])
    expected = 2 * (12 * (3 / 4 - 5 / 8) ** 2 + 4 * (1 / 4 - 5 / 8) ** 2)
    assert between_variance(cells) == pytest.approx(expected)
    assert between_variance(np.array([[2, 4], [1, 2]])) == pytest.approx(0)


def test_every_pair_of_variables_with_the_others_at_their_total():
    table, _ = random_table(3, mean=20.0)
    protected = table.count * 2
    found = compare(table, protected).associations
    assert [(a.first, a.second) for a in found] == [
        ("region", "sex"),
        ("region", "age"),
        ("sex", "age"),
    ]
    region_sex = table.count[:, :, 0][np.ix_(REGION.leaves, SEX.leaves)]
    assert found[0].original == found[0].protected == pytest.approx(cramers_v(region_sex))
    assert found[0].change == 0
    # n_g doubles, shares stay
    assert found[0].between_first == pytest.approx(2)
    assert found[0].between_second == pytest.approx(2)
    # one age only: nothing to be associated with
    assert math.isnan(found[1].original)


def test_no_association_is_told_from_withheld_cells():
    table, _ = random_table(4, names=("region", "sex"), mean=20.0)
    values = table.count.astype(float)
    values[0, 0] = np.nan
    (found,) = compare(table, values).associations
    assert found.protected == found.original
    values[2, 1] = np.nan
    (found,) = compare(table, values).associations
    assert math.isnan(found.protected) and not math.isnan(found.original)
