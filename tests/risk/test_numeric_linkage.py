"""Distance-based linkage against brute force, and what it must not depend on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from diskret import DiskretError
from diskret.risk.linkage import assigned, linked
from diskret.risk.neighbours import Seen, distinct, space

METRICS = ["standardised", "robust", "mahalanobis", "robust_mahalanobis", "gower"]


def brute(original, protected, metric, candidates=1):
    """Probability that the own original is among the nearest, by looking at every pair."""
    scale = space(original.numbers, metric)
    found = np.zeros(protected.n)
    for i in range(protected.n):
        near = []
        for j in range(original.n):
            shown = np.flatnonzero(~np.isnan(protected.numbers[i]))
            keys = np.flatnonzero(protected.keys[i] >= 0)
            blocks = np.flatnonzero(protected.blocks[i] >= 0)
            lacks = np.isnan(original.numbers[j, shown]).any()
            lacks |= (original.keys[j, keys] < 0).any()
            other = (original.blocks[j, blocks] != protected.blocks[i, blocks]).any()
            if lacks or other:
                near.append(np.inf)
                continue
            away = scale.coordinates(original.numbers[[j]], shown) - scale.coordinates(
                protected.numbers[[i]], shown
            )
            if scale.power == 2:
                near.append(np.sqrt((away**2).sum()))
            else:
                differ = (original.keys[j, keys] != protected.keys[i, keys]).sum()
                near.append((np.abs(away).sum() + differ) / max(len(shown) + len(keys), 1))
        near = np.array(near)
        if np.isinf(near[i]):
            continue
        closer = (near < near[i] - 1e-7).sum()
        tied = (np.abs(near - near[i]) <= 1e-7).sum()
        found[i] = np.clip((candidates - closer) / tied, 0, 1)
    return found


@st.composite
def files(draw):
    """Small whole numbers, so that there are ties, with gaps, keys and blocks."""
    n, p = draw(st.integers(2, 14)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    made = []
    for _ in range(2):
        numbers = rng.integers(0, 5, (n, p)).astype(float)
        numbers[rng.random((n, p)) < draw(st.sampled_from([0, 0.2]))] = np.nan
        keys = rng.integers(-1, 3, (n, draw(st.just(1)))).astype(np.int32)
        blocks = rng.integers(-1, 2, (n, 1)).astype(np.int32)
        made.append((numbers, keys, blocks))
    return made


@given(files(), st.sampled_from(METRICS), st.booleans(), st.integers(1, 4))
def test_links_are_those_of_looking_at_every_pair(both, metric, with_blocks, candidates):
    seen = [
        Seen(
            numbers,
            **({"keys": keys} if metric == "gower" else {}),
            **({"blocks": blocks} if with_blocks else {}),
        )
        for numbers, keys, blocks in both
    ]
    first, second = seen
    found = linked(first, second, metric, candidates)
    np.testing.assert_allclose(found.correct, brute(first, second, metric), atol=1e-12)
    near = brute(first, second, metric, candidates)
    np.testing.assert_allclose(found.among, near, atol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_an_unprotected_file_is_linked_completely(metric):
    values = np.random.default_rng(3).lognormal(size=(500, 3))
    found = linked(Seen(values), Seen(values), metric)
    assert found.share == 1 and found.share_among == 1
    assert found.distance.max() == 0


def test_records_that_cannot_be_told_apart_share_their_links():
    values = np.repeat([[1.0, 2.0], [3.0, 4.0]], [4, 6], axis=0)
    found = linked(Seen(values), Seen(values), candidates=5)
    assert found.correct.tolist() == [0.25] * 4 + [1 / 6] * 6
    assert found.expected == pytest.approx(2)
    assert found.among.tolist() == [1] * 4 + [5 / 6] * 6


@pytest.mark.parametrize("metric", METRICS)
def test_values_drawn_anew_lead_nowhere(metric):
    rng = np.random.default_rng(5)
    original, other = rng.normal(size=(2, 2_000, 3))
    found = linked(Seen(original), Seen(other), metric, candidates=20)
    # one correct link is expected; more than eight have a probability of a millionth
    assert found.expected <= 8
    assert found.share_among < 0.03


@pytest.mark.parametrize("metric", METRICS)
def test_units_do_not_matter(metric):
    rng = np.random.default_rng(6)
    euro = rng.lognormal(10, 1, (800, 3))
    noisy = euro * rng.normal(1, 0.05, euro.shape)
    unit = np.array([1e-3, 1.0, 1e6])
    plain = linked(Seen(euro), Seen(noisy), metric)
    other = linked(Seen(euro * unit + 7), Seen(noisy * unit + 7), metric)
    np.testing.assert_allclose(plain.correct, other.correct)
    assert 0.05 < plain.share < 0.95


def test_a_total_beside_its_parts_does_not_stop_mahalanobis():
    rng = np.random.default_rng(7)
    parts = rng.lognormal(size=(300, 2))
    values = np.column_stack([parts, parts.sum(axis=1), np.full(300, 4.0)])
    noisy = values + rng.normal(scale=0.01, size=values.shape)
    for metric in ("mahalanobis", "robust_mahalanobis"):
        assert linked(Seen(values), Seen(noisy), metric).share > 0.7
        assert linked(Seen(values), Seen(values), metric).share == 1


def test_hundreds_of_equal_distances_are_counted_to_the_last():
    # protected values in the middle of a ring of originals
    angle = np.linspace(0, 2 * np.pi, 240, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    found = linked(Seen(ring), Seen(np.zeros_like(ring)), candidates=3)
    np.testing.assert_allclose(found.correct, 1 / 240)
    np.testing.assert_allclose(found.among, 3 / 240)


def test_distinct_rows_are_those_of_sorting():
    rng = np.random.default_rng(8)
    rows = rng.integers(-1, 3, (500, 3)).astype(float) * 0.1
    rows[:5] = -0.0
    found, of, first = distinct(rows)
    assert len(found) == len(np.unique(rows, axis=0))
    assert (found[of] == rows).all() and (rows[first] == found).all()
    assert (np.diff(first) > 0).all()


def test_the_assignment_is_the_cheapest_and_a_sample_is_drawn_by_its_seed():
    rng = np.random.default_rng(9)
    original = rng.normal(size=(60, 2))
    protected = original + rng.normal(scale=0.3, size=original.shape)
    scale = original.std(axis=0)
    cost = np.linalg.norm((protected / scale)[:, None] - original / scale, axis=2)
    _, expected = linear_sum_assignment(cost)
    found = assigned(Seen(original), Seen(protected), seed=1)
    assert found.records == 60
    assert found.correct == (expected == np.arange(60)).sum()
    small = [
        assigned(Seen(original), Seen(protected), sample=20, seed=s).correct for s in (1, 1, 2)
    ]
    assert small[0] == small[1]
    assert 0 < small[2] <= 20


def test_assignment_shares_links_between_equal_records_and_keeps_blocks():
    values = np.repeat([[1.0], [2.0]], 3, axis=0)
    assert assigned(Seen(values), Seen(values), seed=4).correct == pytest.approx(2)
    block = np.array([[0], [1], [2], [0], [1], [2]], np.int32)
    same = Seen(values, blocks=block)
    assert assigned(same, same, seed=4).correct == 6
    swapped = Seen(values, blocks=block[::-1].copy())
    assert assigned(same, swapped, seed=4).share < 1


def test_what_cannot_be_compared_is_told():
    two, three = Seen(np.zeros((3, 2))), Seen(np.zeros((3, 3)))
    with pytest.raises(DiskretError, match="3 records with 2 variables, and 3 with 3"):
        linked(two, three)
    with pytest.raises(DiskretError, match="no distance between categories"):
        with_keys = Seen(np.zeros((3, 1)), np.zeros((3, 1), np.int32))
        linked(with_keys, with_keys)
    with pytest.raises(DiskretError, match="metric= must be 'standardised', 'robust'"):
        linked(two, two, "manhattan")
    with pytest.raises(DiskretError, match="from 1 to 10000"):
        assigned(two, two, sample=20_000, seed=1)
    with pytest.raises(DiskretError, match="candidates="):
        linked(two, two, candidates=0)


@pytest.mark.parametrize("metric", ["standardised", "robust", "gower", "mahalanobis"])
@pytest.mark.parametrize("giant", [1e6, 1e13])
def test_beside_a_giant_the_others_are_still_told_apart(metric, giant):
    """In standard deviations that he makes huge, all others lie at nearly one place."""
    values = np.r_[7.0 * np.arange(1, 101), giant][:, None]
    nearest = np.abs(values - values.T).argsort(axis=1)[:, 0]
    assert (nearest == np.arange(101)).all()  # as they are, each is nearest to itself alone
    assert linked(Seen(values), Seen(values), metric).correct.tolist() == [1.0] * 101
    off = values.copy()
    off[:100] += 1e-13 * values[:100]  # by rounding alone
    assert linked(Seen(values), Seen(off), metric).share == 1.0
