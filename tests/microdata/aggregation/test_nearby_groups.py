"""Groups of near records are exactly those of the definition, ties included."""

import groups_by_definition as definition
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.errors import InputError, ProofError
from diskret.microdata.aggregation import METHODS, Method, groups
from diskret.microdata.aggregation.nearby import (
    gower,
    led,
    mdav,
    mdav_mixed,
    random_groups,
    random_nearest,
    rmd,
    vmdav,
)
from diskret.risk.robust import robust_scale, robust_scatter

NEARBY = ["mdav", "mdav_mixed", "gower", "vmdav", "random", "random_nearest"]


@st.composite
def files(draw):
    """Values with many ties, or with many digits."""
    n, p = draw(st.integers(2, 70)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    whole = rng.integers(0, draw(st.integers(1, 20)), (n, p)).astype(float)
    unit = draw(st.sampled_from([1.0, 1 / 3, 1e-6]))
    return whole * unit if draw(st.booleans()) else rng.lognormal(0, 3, (n, p)) * unit


@given(files(), st.integers(2, 6))
def test_mdav_is_the_definition(values, k):
    if len(values) >= k:
        assert mdav(values, k).tolist() == definition.mdav(values, k)


@pytest.mark.parametrize("levels", [3, 40, 10**9])
def test_mdav_is_the_definition_when_boxes_are_made_anew(levels):
    values = np.random.default_rng(levels).integers(0, levels, (700, 3)) / 7
    assert mdav(values, 3).tolist() == definition.mdav(values, 3)


def test_the_centre_does_not_drift():
    # plain subtraction of the large values would leave nothing of the small ones
    rng = np.random.default_rng(7)
    values = np.r_[rng.normal(size=(200, 1)) * 1e16, rng.normal(size=(200, 1))]
    assert mdav(values, 2).tolist() == definition.mdav(values, 2)


@examples(60)
@given(files(), st.integers(2, 5), st.data())
def test_categories_and_gower_are_the_definition(values, k, data):
    p = values.shape[1]
    scales = data.draw(
        st.lists(st.sampled_from(["number", "ordinal", "nominal"]), min_size=p, max_size=p)
    )
    codes = [np.unique(values[:, j], return_inverse=True)[1] for j in range(p)]
    values = np.column_stack(
        [values[:, j] if scales[j] == "number" else codes[j] for j in range(p)]
    ).astype(float)
    if len(values) < k:
        return
    for method, power in ((mdav_mixed, 2), (gower, 1)):
        distance, centre = definition.mixed(values, scales, power)
        expected = definition.mdav(values, k, distance, centre)
        assert method(values, k, scales=scales).tolist() == expected


@examples(60)
@given(files(), st.integers(2, 5), st.sampled_from([0.0, 0.2, 1.1, 3.0]))
def test_led_groups_are_the_definition(values, k, gamma):
    if len(values) < k:
        return
    leaders = np.random.default_rng(len(values)).permutation(len(values))
    made = led(values, leaders, k, gamma=gamma)
    assert made.tolist() == definition.led(values, leaders.tolist(), k, gamma)


def test_vmdav_begins_outside_and_grows_where_others_are_near():
    # two clusters of 3 and 4: the fourth would otherwise have to join in the end
    values = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2], [9.3]])
    assert vmdav(values, 3, gamma=1.1).tolist() == [0, 0, 0, 1, 1, 1, 1]
    with pytest.raises(InputError, match="gamma="):
        vmdav(values, 3, gamma=-1)


@pytest.mark.parametrize("method", [random_groups, random_nearest])
@pytest.mark.parametrize(("n", "k"), [(2, 2), (11, 3), (100, 7)])
def test_drawn_groups_have_k_to_2k_minus_1_records(method, n, k):
    values = np.random.default_rng(n).normal(size=(n, 2))
    made = method(values, k, seed=1)
    size = np.bincount(made)
    assert size.min() >= k and size.max() < 2 * k
    assert made.tolist() == method(values, k, seed=1).tolist()
    if n > k:
        assert made.tolist() != method(values, k, seed=2).tolist()


def test_progress_counts_records_up_to_all():
    told = []
    mdav(np.arange(1000.0)[:, None], 3, progress=lambda *now: told.append(now))
    done = [now[1] for now in told]
    assert done == sorted(done) and told[-1] == ("groups", 1000, 1000) and len(told) > 20


# ── strata, gaps, proof ─────────────────────────────────────────────────────────────


@examples(60)
@given(files(), st.integers(2, 4), st.integers(0, 1000), st.sampled_from(NEARBY))
def test_groups_are_large_enough_and_keep_to_strata_and_gaps(values, k, seed, method):
    rng = np.random.default_rng(seed)
    strata = rng.integers(0, 2, len(values)).astype(np.int32)
    values = np.where(rng.random(values.shape) < 0.1, np.nan, values)
    made = groups(values, k, METHODS[method], strata=[strata], seed=seed)
    assert made.sizes.min(initial=k) >= k
    block = [(s, tuple(gap)) for s, gap in zip(strata, np.isnan(values).tolist(), strict=True)]
    number = {one: block.count(one) for one in block}
    for name in range(len(made.sizes)):
        assert len({block[i] for i in made.rows[made.of == name]}) == 1
    assert sorted(made.rows.tolist()) == [
        i for i, one in enumerate(block) if number[one] >= k and not all(one[1])
    ]
    assert sorted(made.alone.tolist()) == [
        i for i, one in enumerate(block) if number[one] < k and not all(one[1])
    ]


@examples(40)
@given(files(), st.sampled_from(NEARBY), st.randoms(use_true_random=False))
def test_what_groups_hold_does_not_depend_on_the_order_of_records(values, method, rng):
    def content(x):
        made = groups(x, 2, METHODS[method], seed=3)
        return sorted(
            sorted(map(tuple, x[made.rows[made.of == name]].tolist()))
            for name in range(len(made.sizes))
        )

    order = list(range(len(values)))
    rng.shuffle(order)
    assert content(values) == content(values[order])


@pytest.mark.parametrize("wrong", [[0, 0, 0, 1], [0, 0, -1, 0], [0, 0, 2, 2]])
def test_a_method_that_makes_too_small_groups_is_caught(wrong):
    broken = Method(lambda values, k, **_: np.array(wrong))
    with pytest.raises(ProofError, match="fewer than 2"):
        groups(np.arange(4.0)[:, None], 2, broken)


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
