"""Estimates from ratios and differences, computed cell by cell."""

from dataclasses import replace
from math import isnan

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.attack import ask_partitions
from diskret.attack.noise.estimates import average_out, difference_estimates, ratio_estimates
from diskret.errors import InputError
from diskret.population import Population
from diskret.tables import Dimension, Published

FLAT = Dimension("region", dk.Hierarchy.flat(["N", "S", "W"]))
#: a has the only part a1, b has b1 and b2
DEEP = Dimension(
    "branch",
    dk.Hierarchy.from_parents(
        pa.table(
            {"code": ["T", "a", "b", "a1", "b1", "b2"], "parent": ["", "T", "T", "a", "b", "b"]}
        )
    ),
)


def shown(value, *dimensions, hidden=(), decimals=1, name="t", **more):
    value = np.array(value)
    mask = np.isin(np.arange(value.size), hidden).reshape(value.shape)
    empty = np.zeros(value.shape, dtype=bool)
    by = dimensions or (FLAT,)
    return Published(
        name, by, name, False, decimals, value, mask, empty, changed="cell_key", **more
    )


def test_who_knows_one_measure_of_a_cell_knows_the_other_by_their_ratio():
    wages = shown([285, 77, 208, 0], name="wages", hidden=[2])
    costs = shown([4030, 1100, 3120, 0], name="costs", decimals=2)
    found = ratio_estimates(wages, costs, [40.0, np.nan, 30.0, 5.0])
    assert found[0] == pytest.approx(28.5 * 40 / 40.3)
    assert [isnan(one) for one in found] == [False, True, True, True]  # unknown, withheld, 0 / 0
    whole = ratio_estimates(wages, shown([10, 10, 10, 10]), [0, 1, 2, 3])
    assert whole.tolist()[:2] == [0, 7.7] and whole[3] == 0


def test_noise_of_one_share_gives_the_value_of_a_single_unit_away():
    """The noise of both measures is the same share of a single contribution."""
    records = pa.table(
        {
            "region": ["N", "S", "W"],
            "sales": [800, 900, 500],
            "staff": [40, 30, 10],
            "key": [300, 900, 500],
        }
    )
    ptable = dk.PerturbationTable(
        np.array([0, 1]), np.array([-1, 0, 1]), np.array([[0, 1, 0], [0.5, 0, 0.5]])
    )
    noise = dk.MagnitudeNoise(ptable, keys="cell")
    sales, staff = (
        dk.perturb(
            dk.tabulate(
                records,
                by={"region": None},
                value=name,
                record_key="key",
                key_modulus=1000,
                largest=1,
            ),
            noise,
        ).published
        for name in ("sales", "staff")
    )
    assert (sales.value[1:] != [800, 900, 500]).all()
    found = ratio_estimates(sales, staff, [80, 40, 30, 10])
    assert found[1:] == pytest.approx([800, 900, 500], rel=0.06)  # staff is shown in whole persons


def test_measures_of_other_cells_have_no_ratio():
    wages, costs = shown([6, 1, 2, 3], name="wages"), shown([9, 2, 3, 4], name="costs")
    other = replace(costs, dimensions=(Dimension("town", FLAT.hierarchy),))
    women = replace(costs, where=Population.of({"sex": ("f",)}))
    later = replace(costs, vintage="2021")
    for wrong in (other, women, later):
        with pytest.raises(InputError, match="'wages' and 'costs' are not about the same cells"):
            ratio_estimates(wages, wrong, [1, 1, 1, 1])
    with pytest.raises(InputError, match=r"known= has the shape \(3,\), the tables \(4,\)"):
        ratio_estimates(wages, costs, [1, 1, 1])


def test_a_part_is_its_total_without_the_other_parts():
    drawn = np.random.default_rng(4).integers(0, 90, (len(DEEP), 4))
    hidden = [int(np.ravel_multi_index((4, 2), drawn.shape))]
    table = shown(drawn, DEEP, FLAT, hidden=hidden)
    found = difference_estimates(table)
    assert list(found) == ["branch", "region"]
    seen = np.where(table.suppressed, np.nan, drawn / 10)
    codes = DEEP.hierarchy.codes
    at = {code: i for i, code in enumerate(codes)}
    parent = {"a": "T", "b": "T", "a1": None, "b1": "b", "b2": "b", "T": None}
    other = {"a": "b", "b": "a", "b1": "b2", "b2": "b1"}
    for i, code in enumerate(codes):
        for j in range(4):
            above = parent[code]
            wanted = np.nan if above is None else seen[at[above], j] - seen[at[other[code]], j]
            assert found["branch"][i, j] == pytest.approx(wanted, nan_ok=True)
            rest = [k for k in (1, 2, 3) if k != j]
            wanted = np.nan if j == 0 else seen[i, 0] - seen[i, rest].sum()
            assert found["region"][i, j] == pytest.approx(wanted, nan_ok=True)


def test_a_simulation_has_its_limits_and_an_average_needs_answers():
    keys = np.zeros(3, dtype=np.uint64)
    for given, modulus in ((keys, 2**41), (np.zeros(2**20 + 1, dtype=np.uint64), 2**32)):
        with pytest.raises(InputError, match="a simulation takes up to a million records"):
            ask_partitions(lambda n, k: n * 0, given, modulus, queries=1)
    assert ask_partitions(lambda n, k: n * 0, keys, 2**40, queries=2).sum(axis=1).tolist() == [3, 3]
    with pytest.raises(InputError, match="at least one answer"):
        average_out([])
    with pytest.raises(InputError, match=r"answers are whole numbers; 4\.7 is none"):
        average_out([[4.0, 3], [4.7, 5]])
    assert average_out([4.0, 5.0]).value == 4.5
    assert average_out([7]).standard_error == np.inf and average_out([3, 5]).standard_error == 1
    assert average_out([7]).count is None and average_out([7, 7]).count is None
    assert average_out([[3, 4], [5, 3], [2, 5], [4, 3], [5, 2], [3, 4], [4, 3], [3, 4]]).count == 7
