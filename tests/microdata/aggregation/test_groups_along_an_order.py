"""Groups of records that follow each other: by a variable, a component, within clusters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.errors import InputError
from diskret.microdata.aggregation import METHODS, groups
from diskret.microdata.aggregation.clustered import clustered_pca, clustered_projection
from diskret.microdata.aggregation.ranked import (
    optimal,
    pca,
    pca_robust,
    principal,
    principal_robust,
    pursued,
    single,
)

ALONG = (
    "single",
    "pca",
    "pca_robust",
    "projection",
    "clustered_pca",
    "clustered_projection",
)


@st.composite
def files(draw, least=2):
    """Numbers with many ties, constant columns and columns that follow from others, and k."""
    k = draw(st.integers(2, 5))
    n = draw(st.integers(k, 40))
    p = draw(st.integers(least, 4))
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    values = generator.integers(0, draw(st.sampled_from([1, 3, 1000])) + 1, (n, p)).astype(float)
    if draw(st.booleans()):
        values[:, -1] = values[:, :-1].sum(axis=1)
    return values, k


def as_sets(group):
    return {frozenset(np.flatnonzero(group == g).tolist()) for g in range(group.max() + 1)}


@given(files(), st.sampled_from(ALONG))
def test_groups_have_k_to_2k_minus_1_records_and_are_numbered_from_0(file, method):
    values, k = file
    group = METHODS[method].partition(values, k)
    assert group.dtype == np.int64
    sizes = np.bincount(group)
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1


@given(files(), st.sampled_from((*ALONG, "rmd")), st.randoms(use_true_random=False))
def test_the_order_of_the_records_does_not_matter(file, method, random):
    values, k = file
    order = list(range(len(values)))
    random.shuffle(order)

    def contents(of):
        """The values of the records of each group, whatever its number."""
        made = groups(of, k, METHODS[method])
        return sorted(
            sorted(map(tuple, of[made.rows[made.of == g]].tolist())) for g in range(len(made.sizes))
        )

    assert contents(values[order]) == contents(values)


@given(files())
def test_pca_cuts_the_order_along_the_first_singular_vector(file):
    values, k = file
    away = values - values.mean(axis=0)
    _, size, right = np.linalg.svd(away, full_matrices=False)
    if size[0] - size[1] < 1e-6 * (1 + size[0]):
        return  # no first component
    direction = principal(values)
    assert abs(direction @ right[0]) == pytest.approx(1, abs=1e-9)
    along = values @ direction
    group = pca(values, k)
    for g in range(group.max()):
        assert along[group == g].max() <= along[group == g + 1].min()
        assert (group == g).sum() == k


def test_weights_turn_the_component_to_what_they_stand_for():
    values = np.array([[0.0, 0], [1, 0.1], [2, -0.1], [0.1, 10], [-0.1, -10]])
    assert abs(principal(values)[1]) > 0.99
    weights = np.array([1e6, 1e6, 1e6, 1, 1])
    assert abs(principal(values, weights)[0]) > 0.98
    often = np.repeat(values, [3, 1, 2, 1, 4], axis=0)
    assert principal(often) == pytest.approx(principal(values, np.array([3.0, 1, 2, 1, 4])))
    assert as_sets(pca(values, 2)) != as_sets(pca(values, 2, weights=weights))


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_a_few_extreme_records_turn_only_the_usual_component(share):
    generator = np.random.default_rng(3)
    values = generator.normal(size=(500, 3)) * [5, 1, 1]
    values[: int(500 * share)] = generator.normal(size=(int(500 * share), 3)) + [0, 200, 0]
    assert abs(principal(values)[0]) < 0.1
    assert abs(principal_robust(values)[0]) > 0.99
    assert abs(pursued(values)[0]) > 0.9
    assert as_sets(pca(values, 3)) != as_sets(pca_robust(values, 3))


@given(files())
def test_projection_takes_the_widest_of_all_directions_to_records(file):
    values, _ = file

    def width(direction):
        on = values @ direction
        return np.median(np.abs(on - np.median(on)))

    away = values - np.median(values, axis=0)
    length = np.sqrt((away**2).sum(axis=1))
    widths = [width(one / size) for one, size in zip(away, length, strict=True) if size > 0]
    direction = pursued(values)
    assert np.linalg.norm(direction) == pytest.approx(1)
    assert width(direction) == pytest.approx(max(widths, default=0.0), abs=1e-9)


def test_where_half_of_the_records_agree_components_are_those_of_all():
    values = np.zeros((9, 2))
    values[:4] = [[1, 2], [2, 4], [3, 6], [4, 8.0]]
    assert principal_robust(values) == pytest.approx(np.array([1, 2]) / 5**0.5)
    assert pursued(values) == pytest.approx(np.array([1, 2]) / 5**0.5)
    assert len(np.bincount(pca_robust(np.ones((7, 3)), 3))) == 2


def test_large_files_are_searched_by_a_part_of_their_records():
    generator = np.random.default_rng(8)
    values = generator.normal(size=(50_000, 3)) @ np.diag([1, 4, 1])
    direction = pursued(values)
    assert direction[1] > 0.95


def test_clusters_are_found_before_records_are_ordered():
    generator = np.random.default_rng(1)
    centers = np.array([[0, 0], [100, 0], [0, 100], [100, 100]])
    cluster = np.arange(80) % 4
    values = centers[cluster] + generator.normal(size=(80, 2))
    for method in (clustered_pca, clustered_projection):
        group = method(values, 3, clusters=4)
        # 20 records make five groups of three and one of five
        assert sorted(np.bincount(group)) == [3] * 20 + [5] * 4
        assert all(len(set(cluster[group == g])) == 1 for g in range(24))


@given(files())
def test_one_cluster_is_the_whole_file(file):
    values, k = file
    assert clustered_pca(values, k, clusters=1).tolist() == pca(values, k).tolist()


def test_a_cluster_of_fewer_than_k_joins_the_nearest():
    values = np.array([[0.0], [1], [2], [50], [51], [52], [53], [1000]])
    group = clustered_pca(values, 3, clusters=3)
    assert as_sets(group) == {frozenset({0, 1, 2}), frozenset({3, 4, 5, 6, 7})}


def test_more_clusters_than_groups_are_not_made():
    assert np.bincount(clustered_pca(np.arange(7.0)[:, None], 3, clusters=50)).min() == 3


def test_single_is_the_order_of_the_first_variable():
    values = np.array([[5.0, 1], [1, 9], [3, 0], [2, 5], [4, 4]])
    assert as_sets(single(values, 2)) == {frozenset({1, 3}), frozenset({2, 4, 0})}


def test_what_has_no_meaning_is_refused():
    values = np.arange(8.0)[:, None]
    with pytest.raises(InputError, match="clusters= must be a whole number from 1 upwards, not 0"):
        clustered_pca(values, 2, clusters=0)
    with pytest.raises(InputError, match="transform= must be 'none', 'log' or 'rank', not 'sqrt'"):
        clustered_projection(values, 2, transform="sqrt")


def squares(values, group):
    return sum(((values[group == g] - values[group == g].mean()) ** 2).sum() for g in set(group))


def divisions(records, k):
    """All ways to divide records into sets of k and more, whatever their values."""
    if not records:
        yield []
    elif len(records) >= k:
        first, rest = records[0], records[1:]
        for chosen in range(2 ** len(rest)):
            own = [first, *(one for i, one in enumerate(rest) if chosen >> i & 1)]
            if len(own) >= k:
                for others in divisions([one for one in rest if one not in own], k):
                    yield [own, *others]


@pytest.mark.long
@given(st.integers(2, 3), st.lists(st.integers(-20, 20), min_size=3, max_size=8))
def test_no_division_into_groups_of_k_loses_less(k, numbers):
    values = np.array(numbers, dtype=float)
    group = optimal(values[:, None], k)
    assert k <= np.bincount(group).min() <= np.bincount(group).max() <= 2 * k - 1
    least = min(
        sum(((values[one] - values[one].mean()) ** 2).sum() for one in division)
        for division in divisions(list(range(len(values))), k)
    )
    assert squares(values, group) == pytest.approx(least, abs=1e-9)


@given(
    st.integers(2, 6),
    st.lists(st.floats(-1e6, 1e6), min_size=12, max_size=60),
    st.sampled_from([0.0, 1e9]),
)
def test_nothing_is_lost_against_cutting_the_order_nor_far_from_zero(k, numbers, offset):
    values = np.array(numbers) + offset
    group = optimal(values[:, None], k)
    ordered = group[np.argsort(values, kind="stable")]
    assert (np.diff(ordered) >= 0).all() and np.bincount(group).min() >= k
    cut = single(values[:, None], k)
    assert squares(values, group) <= squares(values, cut) * (1 + 1e-9) + 1e-6
    # the plain recursion over all ends and all beginnings
    x = np.sort(values) - offset
    least = np.array([0.0] + [np.inf] * len(x))
    for j in range(k, len(x) + 1):
        least[j] = min(least[i] + len(x[i:j]) * x[i:j].var() for i in range(j - k + 1))
    assert squares(values, group) == pytest.approx(least[-1], rel=1e-6, abs=1e-3)


def test_groups_follow_gaps():
    values = np.array([1.0, 2, 3, 20, 21, 22, 23, 24, 60, 61])
    assert optimal(values[::-1, None], 2).tolist() == [3, 3, 2, 2, 2, 1, 1, 0, 0, 0]
    assert optimal(values[:, None], 3).tolist() == [0, 0, 0, 1, 1, 1, 1, 2, 2, 2]


def test_several_variables_are_refused():
    with pytest.raises(InputError, match="one variable only, not for 2"):
        optimal(np.zeros((5, 2)), 2)
