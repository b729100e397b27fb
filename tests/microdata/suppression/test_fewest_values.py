"""As few suppressed values as possible, if missing values agree with everything."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from suppression_files import agreeing, files, least_number, problem_of

from diskret.errors import InputError, ProtectionError
from diskret.microdata.suppression import fewest_gaps, fewest_values, record_by_record, too_rare


@given(files(), st.integers(1, 4))
def test_every_record_agrees_with_enough_and_no_value_is_suppressed_in_vain(rows, k):
    if len(rows) < k:
        return
    mask = fewest_values(problem_of(rows, k), rounds=3)
    assert not mask[rows < 0].any()
    assert agreeing(np.where(mask, -1, rows)).min() >= k
    assert mask.sum() <= (k - 1) * rows.shape[1]
    for i, q in np.argwhere(mask).tolist():
        fewer = mask.copy()
        fewer[i, q] = False
        assert agreeing(np.where(fewer, -1, rows)).min() < k


@given(files(), st.data())
def test_subsets_strata_records_needs_and_kept_keys_hold_together(rows, data):
    n, m = rows.shape
    group = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    least = np.array(data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))
    sets = data.draw(
        st.lists(
            st.sets(st.integers(0, m - 1), min_size=1).map(sorted).map(tuple),
            min_size=1,
            max_size=3,
        )
    )
    price = np.array(data.draw(st.lists(st.sampled_from([1, 2.5, np.inf]), min_size=m, max_size=m)))
    problem = problem_of(rows, [least for _ in sets], price, group, sets)
    everything = np.where(np.isfinite(price), -1, rows)
    possible = all((agreeing(everything[:, of], group) >= least).all() for of in sets)
    try:
        mask = fewest_values(problem, rounds=2)
    except ProtectionError as error:
        assert not possible and "too rare" in str(error)
        return
    assert possible and not mask[:, ~np.isfinite(price)].any()
    hidden = np.where(mask, -1, rows)
    for of in sets:
        assert (agreeing(hidden[:, of], group) >= least).all()


@given(files(), st.integers(2, 3), st.randoms(use_true_random=False))
def test_the_order_of_records_changes_nothing(rows, k, random):
    if len(rows) < k:
        return
    order = list(range(len(rows)))
    random.shuffle(order)
    straight = np.where(fewest_values(problem_of(rows, k), rounds=3), -1, rows)
    turned = np.where(fewest_values(problem_of(rows[order], k), rounds=3), -1, rows[order])
    assert sorted(map(tuple, straight.tolist())) == sorted(map(tuple, turned.tolist()))


def small_files(number, most):
    random = np.random.default_rng(1)
    for _ in range(number):
        n, m = int(random.integers(8, most)), int(random.integers(2, 5))
        k = int(random.integers(2, 4))
        yield np.stack([random.integers(0, random.integers(2, 5), n) for _ in range(m)], 1), k


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "most"), [(25, 13), pytest.param(200, 26, marks=pytest.mark.slow)]
)
def test_small_files_are_near_the_exact_optimum(number, most):
    found, least = [], []
    for rows, k in small_files(number, most):
        found.append(int(fewest_values(problem_of(rows, k)).sum()))
        least.append(least_number(rows, k))
    assert all(0 <= one - best <= 2 for one, best in zip(found, least, strict=True))
    assert sum(found) <= 1.02 * sum(least)
    assert sum(least) > number


def test_one_missing_value_helps_two_rare_classes_at_once():
    # two classes of two and a common one that differ in one key: one gap there serves both
    rows = np.array([[0, 0]] * 2 + [[0, 1]] * 2 + [[0, 2]] * 5)
    mask = fewest_values(problem_of(rows, 3))
    assert np.argwhere(mask).tolist() == [[4, 1]]
    assert record_by_record(problem_of(rows, 3)).sum() == 4


def test_k_minus_one_records_that_show_nothing_are_enough_for_any_file():
    rows = np.array([[i, i] for i in range(30)])
    assert fewest_values(problem_of(rows, 3)).sum() == 4
    assert too_rare(problem_of(rows, 3), fewest_values(problem_of(rows, 3))) == 28


def test_of_equal_costs_the_important_key_is_spared():
    rows = np.array([[0, 0]] * 4 + [[0, 1]] + [[1, 1]] * 4)
    for price, hidden in (([1.1, 1.0], [4, 1]), ([1.0, 1.1], [4, 0])):
        mask = fewest_values(problem_of(rows, 2, price))
        assert np.argwhere(mask).tolist() == [hidden]


def test_a_value_that_is_missing_already_helps():
    rows = np.array([[0, 0]] * 3 + [[-1, 1], [0, 1], [1, 1]])
    assert not fewest_values(problem_of(rows, 2)).any()
    assert record_by_record(problem_of(rows, 2)).sum() == 0


def test_the_records_of_a_class_that_lose_values_are_chosen_by_the_caller():
    rows = np.array([[0, 0]] * 2 + [[0, 1]] * 2 + [[0, 2]] * 5)
    mask = fewest_values(problem_of(rows, 3), order=lambda rows: rows[::-1])
    assert np.argwhere(mask).tolist() == [[8, 1]]


def test_large_files_are_sampled_and_still_safe(monkeypatch):
    monkeypatch.setattr(fewest_gaps, "_SAMPLE", 5)
    monkeypatch.setattr(fewest_gaps, "_CHOICE", 1)
    rows = np.random.default_rng(3).integers(0, 4, (200, 4)).astype(np.int32)
    mask = fewest_values(problem_of(rows, 4, [1.0, 1.0, 2.0, np.inf]), rounds=2)
    assert agreeing(np.where(mask, -1, rows)).min() >= 4
    assert 0 < mask.sum() <= 4 * 3 * 3


def test_more_keys_than_sets_can_be_tried_for_are_refused():
    with pytest.raises(InputError, match="21 keys are too many for matches='wildcard'"):
        fewest_values(problem_of(np.zeros((3, 21), dtype=np.int32), 2))
    with pytest.raises(InputError, match="63 keys are too many"):
        problem_of(np.zeros((3, 63), dtype=np.int32), 2)


def test_what_no_suppression_makes_safe_is_refused():
    rows = np.array([[0, 0], [0, 1], [1, 0]])
    with pytest.raises(ProtectionError, match=r"too rare, .*: 1 record \(row 3\)"):
        fewest_values(problem_of(rows, 2, [np.inf, 1.0]))
    with pytest.raises(ProtectionError, match=r"too rare, .*: 1 record \(row 3\)"):
        record_by_record(problem_of(rows, 2, [np.inf, 1.0]))
