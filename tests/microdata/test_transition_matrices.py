"""Transition matrices keep frequencies, what is forbidden, and what they promise of risk."""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from diskret import DiskretError
from diskret.microdata import TransitionMatrix


@st.composite
def matrices(draw):
    """Any matrix and any frequencies, some of them 0."""
    size = draw(st.integers(1, 6))
    weights = draw(
        st.lists(
            st.lists(st.integers(0, 9), min_size=size, max_size=size), min_size=size, max_size=size
        )
    )
    likely = np.array(weights, dtype=float)
    likely[likely.sum(axis=1) == 0, 0] = 1
    counts = draw(st.lists(st.integers(0, 10**6), min_size=size, max_size=size))
    made = TransitionMatrix(range(size), likely / likely.sum(axis=1, keepdims=True))
    return made, np.array(counts, dtype=float)


def assert_keeps(matrix, counts):
    assert np.abs(matrix.published(counts) - counts).max() <= 1e-12 * max(counts.sum(), 1)
    assert np.abs(matrix.probabilities.sum(axis=1) - 1).max() <= 1e-12
    assert matrix.probabilities.min() >= 0


@given(matrices(), st.floats(0, 1))
def test_two_steps_keep_frequencies(made, share):
    matrix, counts = made
    assert_keeps(matrix.two_step(counts, share), counts)


@given(matrices())
def test_two_steps_are_there_and_back(made):
    matrix, counts = made
    there = counts > 0
    joint = counts[:, None] * matrix.probabilities
    reached = np.where(joint.sum(axis=0) > 0, joint.sum(axis=0), 1)
    back = (joint / reached).T
    expected = (matrix.probabilities @ back)[there]
    np.testing.assert_allclose(matrix.two_step(counts).probabilities[there], expected, atol=1e-9)


@given(matrices())
def test_balance_keeps_frequencies_and_zeros_and_stays_at_least_as_often(made):
    matrix, counts = made
    balanced = matrix.balanced(counts)
    assert_keeps(balanced, counts)
    plain = matrix.probabilities
    others = ~np.eye(len(plain), dtype=bool)
    assert not balanced.probabilities[others & ((plain == 0) | (plain.T == 0))].any()
    assert (np.diag(balanced.probabilities) >= np.diag(plain) - 1e-12).all()


def test_rare_categories_stay_just_as_often_as_asked():
    balanced = TransitionMatrix.staying("abc", 0.7).balanced([100, 50, 2])
    assert np.diag(balanced.probabilities)[2] == pytest.approx(0.7)
    assert balanced.risk([100, 50, 2]).posterior == pytest.approx(np.diag(balanced.probabilities))


def test_bands_and_forbidden_pairs_are_zeros_both_ways():
    made = TransitionMatrix.staying([10, 20, 30, 40], 0.6, band=2, forbidden=[(20, 30)])
    zeros = [(0, 3), (3, 0), (1, 2), (2, 1)]
    assert [tuple(at) for at in np.argwhere(made.probabilities == 0).tolist()] == sorted(zeros)


def test_a_category_without_a_way_out_stays():
    made = TransitionMatrix.staying("ab", 0.6, forbidden=[("a", "b")])
    assert made.probabilities.tolist() == [[1, 0], [0, 1]]


def least_by_linear_programme(counts, most):
    """The least expected change over all invariant matrices, symmetric or not."""
    size = len(counts)
    pairs = [(k, to) for k in range(size) for to in range(size) if k != to]
    keeps = [[float(k == at) - float(to == at) for k, to in pairs] for at in range(size)]
    leaves = [[float(k == at) for k, _ in pairs] for at in range(size)]
    found = linprog(
        np.ones(len(pairs)),
        A_eq=keeps,
        b_eq=np.zeros(size),
        A_ub=[*leaves, *(-np.array(leaves))],
        b_ub=[*counts, *(-(1 - most) * counts)],
        bounds=(0, None),
    )
    return found.fun if found.status == 0 else None


@given(
    st.lists(st.integers(1, 100), min_size=2, max_size=5), st.sampled_from([0.5, 0.7, 0.8, 0.95])
)
def test_the_optimal_matrix_changes_least_of_all_invariant_ones(counts, most):
    counts = np.array(counts, dtype=float)
    least = least_by_linear_programme(counts, most)
    if least is None:
        with pytest.raises(DiskretError, match="no matrix keeps the frequencies"):
            TransitionMatrix.optimal(range(len(counts)), counts, most)
        return
    made = TransitionMatrix.optimal(range(len(counts)), counts, most)
    assert_keeps(made, counts)
    risk = made.risk(counts)
    assert risk.expected_changes.sum() == pytest.approx(least, abs=1e-6 * counts.sum())
    assert risk.posterior.max() <= most + 1e-7


def cheapest_corner(counts, most, cost):
    """Three categories: the cheapest corner of what three exchanges may be, by enumeration."""
    leave = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], dtype=float)
    planes = np.vstack([leave, leave, np.eye(3)])
    right = np.concatenate([counts, (1 - most) * counts, np.zeros(3)])
    corners = []
    for chosen in combinations(range(9), 3):
        if abs(np.linalg.det(planes[list(chosen)])) > 1e-9:
            corner = np.linalg.solve(planes[list(chosen)], right[list(chosen)])
            left = leave @ corner
            if (
                (corner >= -1e-9).all()
                and (left <= counts + 1e-9).all()
                and (left >= (1 - most) * counts - 1e-9).all()
            ):
                corners.append(2 * corner @ cost)
    return min(corners)


@pytest.mark.parametrize("counts", [(50, 30, 20), (60, 30, 10), (40, 40, 20), (34, 33, 33)])
@pytest.mark.parametrize("cost", [(1, 1, 1), (1, 2, 1), (5, 1, 3)])
def test_the_optimal_matrix_of_three_categories_is_the_cheapest_corner(counts, cost):
    counts = np.array(counts, dtype=float)
    most = np.array([0.8, 0.9, 0.7])
    prices = np.zeros((3, 3))
    prices[[0, 0, 1], [1, 2, 2]] = prices[[1, 2, 2], [0, 0, 1]] = cost
    made = TransitionMatrix.optimal("abc", counts, most, cost=prices)
    flow = counts[:, None] * made.probabilities
    expected = cheapest_corner(counts, most, np.array(cost, dtype=float))
    assert (flow * prices).sum() == pytest.approx(expected, abs=1e-6)


def test_optimal_matrices_respect_what_is_forbidden():
    made = TransitionMatrix.optimal("abc", [50, 40, 60], 0.8, forbidden=[("a", "b")])
    assert made.probabilities[0, 1] == made.probabilities[1, 0] == 0
    assert made.risk([50, 40, 60]).posterior.max() <= 0.8 + 1e-9


def test_a_category_too_frequent_to_be_mixed_is_named():
    with pytest.raises(DiskretError, match=r"'a', and those it may be exchanged with hold 10 %"):
        TransitionMatrix.optimal("ab", [90, 10], 0.5)


def test_risk_is_what_counting_all_joint_frequencies_says():
    counts = np.array([60, 30, 10])
    matrix = TransitionMatrix("abc", [[0.7, 0.2, 0.1], [0.5, 0.5, 0], [0, 0.4, 0.6]])
    joint = np.array([[42, 12, 6], [15, 15, 0], [0, 4, 6]])
    found = matrix.risk(counts)
    assert found.posterior == pytest.approx([42 / 57, 15 / 31, 6 / 12])
    assert found.expectation_ratio == pytest.approx([42 / 15, 15 / 16, 6 / 6])
    assert found.expected_changes == pytest.approx([18, 15, 4])
    entropies = [
        -sum(p * np.log2(p) for p in column[column > 0] / column.sum()) for column in joint.T
    ]
    assert found.entropy == pytest.approx(entropies)
    assert found.information_loss == pytest.approx(np.dot(entropies, joint.sum(axis=0)))
    assert found.table.column("published").to_pylist() == pytest.approx([57, 31, 12])


def test_nothing_changed_is_credible_and_costs_nothing():
    found = TransitionMatrix("ab", np.eye(2)).risk([3, 0])
    assert found.posterior[0] == 1 and np.isnan(found.posterior[1])
    assert found.expectation_ratio[0] == np.inf
    assert found.information_loss == 0
    assert found.table.column("posterior").null_count == 1


@pytest.mark.parametrize("categories", [["x", "y"], [3, 17], [("a", 1), ("b", 2)]])
def test_matrices_come_back_from_frames_and_job_files(categories):
    matrix = TransitionMatrix(categories, [[0.75, 0.25], [0, 1]])
    for again in (
        TransitionMatrix.from_frame(matrix.frame("pandas")),
        TransitionMatrix.given(matrix.plain()),
    ):
        assert again.categories == matrix.categories
        assert again.probabilities.tolist() == matrix.probabilities.tolist()


def rows(*transitions):
    return pa.Table.from_pylist(
        [
            dict(zip(("original", "published", "probability"), one, strict=True))
            for one in transitions
        ]
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TransitionMatrix("ab", [[0.9, 0.2], [0.5, 0.5]]), "'a': 1.1.*divide rounded"),
        (lambda: TransitionMatrix("ab", [[1.5, -0.5], [0.5, 0.5]]), "below 0 in the row of categ"),
        (lambda: TransitionMatrix("aa", np.eye(2)), "category 'a' twice"),
        (lambda: TransitionMatrix("abc", np.eye(2)), r"3 categories, but .* shape \(2, 2\)"),
        (lambda: TransitionMatrix.staying("ab", 1.2), "stay= must be a number from 0 to 1"),
        (lambda: TransitionMatrix.staying("ab", 0.5, band=0), "band="),
        (lambda: TransitionMatrix.staying(range(3001), 0.5), "9,006,001 probabilities; recode"),
        (lambda: TransitionMatrix.staying("ab", 0.5, forbidden=[("a", "z")]), "value 'z'"),
        (lambda: TransitionMatrix.staying("ab", 0.5, forbidden=["ab"]), "lists pairs"),
        (lambda: TransitionMatrix.staying("ab", 0.5).balanced([1]), "2 categories"),
        (lambda: TransitionMatrix.staying("ab", 0.5).balanced([1, -1]), "'b': -1"),
        (lambda: TransitionMatrix.staying("ab", 0.5).two_step([1, 1], 2), "share="),
        (lambda: TransitionMatrix.optimal("ab", [1, 1], 1.5), "most="),
        (lambda: TransitionMatrix.optimal("ab", [1, 1], 0.5, cost=[[0, 1], [2, 0]]), "symmetric"),
        (lambda: TransitionMatrix.given({"categories": ["a"]}), "'probabilities'"),
        (lambda: TransitionMatrix.from_frame(pa.table({"original": ["a"]})), "'published'"),
        (lambda: TransitionMatrix.from_frame(rows(("a", "a", 0.5), ("a", "a", 0.5))), "twice"),
        (lambda: TransitionMatrix.from_frame(rows(("a", None, 1.0))), "missing"),
        (lambda: TransitionMatrix.from_frame(rows(("a", "a", "x"))), "no numbers"),
        (lambda: TransitionMatrix.from_frame(rows(("a", 1, 1.0))), "different types"),
    ],
)
def test_mistakes_are_explained(make, message):
    with pytest.raises(DiskretError, match=message):
        make()


def test_a_matrix_that_takes_too_much_work_is_not_called_impossible(monkeypatch):
    counts = np.array([50, 30, 20.0, 10])
    monkeypatch.setattr("diskret.microdata.transition_programme._PIVOTS", 0)
    with pytest.raises(DiskretError, match="within the work that is allowed"):
        TransitionMatrix.optimal(range(4), counts, 0.6)
