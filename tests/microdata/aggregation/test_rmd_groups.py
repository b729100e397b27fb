"""Groups around the records farthest from the bulk: compared with all distances."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diskret.microdata.aggregation import METHODS, groups
from diskret.microdata.aggregation.nearby import rmd
from diskret.risk.robust import robust_scale, robust_scatter


def by_all_distances(values, k):
    """The definition, with all distances at hand; what is left at the end is group -1."""
    center, scale = robust_scale(values)
    z = (values - center) / scale
    far = robust_scatter(values).distances(values).round(9)
    group = np.full(len(values), -1)
    made = 0
    while (group < 0).sum() >= k:
        left = np.flatnonzero(group < 0)
        leader = left[np.argmax(far[left])]
        others = left[left != leader]
        gap = (z[others] - z[leader]) * (z[others] - z[leader])
        distance = np.zeros(len(others))
        for column in gap.T:
            distance = distance + column
        near = others[np.argsort(distance, kind="stable")[: k - 1]]
        group[leader] = group[near] = made
        made += 1
    return group


@given(
    st.integers(0, 10**6),
    st.integers(2, 4),
    st.integers(4, 60),
    st.sampled_from([2, 5, 1000]),
    st.booleans(),
)
def test_groups_are_those_of_the_definition(seed, k, n, width, total):
    values = np.random.default_rng(seed).integers(0, width, (n, 3)).astype(float)
    if total:
        values = np.column_stack((values, values.sum(axis=1)))
    wanted = by_all_distances(values, k)
    group = rmd(values, k)
    assert group[wanted >= 0].tolist() == wanted[wanted >= 0].tolist()
    sizes = np.bincount(group)
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1


def test_groups_begin_with_outliers_that_do_not_hide_each_other():
    values = np.random.default_rng(2).normal(size=(100, 2))
    values[:30] = 50 + np.random.default_rng(3).normal(size=(30, 2)) / 10
    group = rmd(values, 3)
    # the usual distances are smaller for the far cloud than for the edge of the near one
    assert set(group[:30]) == set(range(10))


def test_units_do_not_matter():
    values = np.random.default_rng(5).normal(size=(60, 3))
    other = values * [1000, 0.01, 1] + 7
    assert rmd(other, 3).tolist() == rmd(values, 3).tolist()
    made = [groups(one, 3, METHODS["rmd"], scale=True) for one in (values, other)]
    raw = [groups(one, 3, METHODS["rmd"], scale=False) for one in (values, other)]
    assert raw[0].of.tolist() != raw[1].of.tolist()
    assert all(one.rows.tolist() == made[0].rows.tolist() for one in made)
    assert all(one.of.tolist() == made[0].of.tolist() for one in made)
