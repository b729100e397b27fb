"""Probabilistic linkage: estimates, weights, links."""

import numpy as np
import pytest

from diskret import DiskretError
from diskret.risk.linkage import linked
from diskret.risk.neighbours import Seen
from diskret.risk.probabilistic_linkage import linked_by_weights


def persons(n=2_000, noise=0.05, seed=1):
    rng = np.random.default_rng(seed)
    original = rng.normal(size=(n, 3))
    return original, original + rng.normal(scale=noise, size=original.shape)


def test_small_noise_is_seen_through_and_independent_values_are_not():
    original, noisy = persons(noise=0.02)
    found = linked_by_weights(Seen(original), Seen(noisy))
    assert found.share > 0.8
    assert linked_by_weights(Seen(original), Seen(original)).share > 0.95
    _, other = persons(seed=2)
    assert linked_by_weights(Seen(original), Seen(other)).share < 0.005


def test_closer_numbers_tell_more():
    original, noisy = persons()
    for field in linked_by_weights(Seen(original), Seen(noisy)).fields:
        assert (np.diff(field.weights) < 0).all()
        assert field.weights[0] > 3 > 0 > field.weights[-1]
        assert field.m.sum() == pytest.approx(1) and field.u.sum() == pytest.approx(1)


@pytest.mark.parametrize("giant", [1e3, 1e9])
def test_beside_a_giant_the_others_are_still_linked(giant):
    """In standard deviations that he makes huge, all others agree with each other."""
    values = np.append(np.random.default_rng(4).lognormal(3, 1, (100, 2)), [[giant] * 2], axis=0)
    assert linked_by_weights(Seen(values), Seen(values)).share > 0.95


def test_chance_agreements_are_those_of_all_pairs():
    rng = np.random.default_rng(3)
    numbers = [np.where(rng.random((80, 1)) < 0.1, np.nan, rng.normal(size=(80, 1))) for _ in "ab"]
    keys = [rng.integers(-1, 4, (80, 1)).astype(np.int32) for _ in "ab"]
    found = linked_by_weights(Seen(numbers[0], keys[0]), Seen(numbers[1], keys[1]), near=(0.1, 0.5))
    sd = min(
        np.nanstd(numbers[0]),
        1.4826 * np.nanmedian(np.abs(numbers[0] - np.nanmedian(numbers[0]))),
    )
    away = np.abs(numbers[0] - numbers[1].T).ravel() / sd
    away = away[~np.isnan(away)]
    shares = [(away <= 0.1).mean(), ((away > 0.1) & (away <= 0.5)).mean(), (away > 0.5).mean()]
    np.testing.assert_allclose(found.fields[0].u, shares, atol=1e-8)
    both = (keys[0] >= 0) & (keys[1].T >= 0)
    agree = (keys[0] == keys[1].T)[both].mean()
    np.testing.assert_allclose(found.fields[1].u, [agree, 1 - agree], atol=1e-8)


def test_estimated_agreement_of_a_category_is_near_its_error_rate():
    original, noisy = persons()
    rng = np.random.default_rng(4)
    sex = rng.integers(0, 2, (2_000, 1)).astype(np.int32)
    told = np.where(rng.random((2_000, 1)) < 0.1, 1 - sex, sex).astype(np.int32)
    found = linked_by_weights(Seen(original, sex), Seen(noisy, told))
    assert found.fields[3].m[0] == pytest.approx(0.9, abs=0.06)
    assert found.share > linked_by_weights(Seen(original), Seen(noisy)).share


def test_blocks_keep_candidates_within_them():
    original, noisy = persons(400)
    block = np.arange(400, dtype=np.int32)[:, None] // 2
    found = linked_by_weights(Seen(original, blocks=block), Seen(noisy, blocks=block))
    assert found.pairs == 800
    assert found.share > 0.95
    other = linked_by_weights(Seen(original, blocks=block), Seen(noisy, blocks=block + 200))
    assert other.pairs == 0 and other.share == 0 and np.isnan(other.weight).all()


def test_a_missing_value_tells_nothing_and_equal_records_share_their_links():
    original, noisy = persons(600, noise=0.01)
    hidden = noisy.copy()
    hidden[::2, 0] = np.nan
    found = linked_by_weights(Seen(original), Seen(hidden))
    assert found.correct[1::2].mean() > found.correct[::2].mean() > 0.3
    twice = np.repeat(original[:50], 2, axis=0)
    assert linked_by_weights(Seen(twice), Seen(twice)).correct.max() == 0.5


def test_the_order_of_records_does_not_matter():
    original, noisy = persons(300)
    order = np.random.default_rng(5).permutation(300)
    plain = linked_by_weights(Seen(original), Seen(noisy)).correct
    np.testing.assert_allclose(
        linked_by_weights(Seen(original[order]), Seen(noisy[order])).correct, plain[order]
    )
    assert plain.mean() <= linked(Seen(original), Seen(noisy)).share + 0.1


def test_options_out_of_range_are_told():
    seen = Seen(np.zeros((3, 1)))
    with pytest.raises(DiskretError, match="ascending distances"):
        linked_by_weights(seen, seen, near=(0.2, 0.1))
    with pytest.raises(DiskretError, match="from 2"):
        linked_by_weights(seen, seen, neighbours=1)
    many = Seen(np.random.default_rng(0).normal(size=(5, 30)))
    with pytest.raises(DiskretError, match="compare fewer variables"):
        linked_by_weights(many, many)
