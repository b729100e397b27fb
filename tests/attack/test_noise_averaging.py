"""Averages of many answers, and hidden parameters: exactly, and through real cell keys."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from noise_tables import perturbed, published, random_table, seed_table, tiny_table, with_totals

from diskret.attack import (
    ask_partitions,
    average_out,
    hidden_parameters,
    queries_needed,
    recovery_probability,
)
from diskret.cellkey import PerturbationTable
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension, Published


@given(
    st.integers(0, 10_000), st.integers(1, 3), st.lists(st.integers(0, 5), min_size=1, max_size=2)
)
def test_recovery_is_the_share_of_all_outcomes(seed, queries, parts):
    table = random_table(np.random.default_rng(seed), largest=1)
    cells = parts * queries
    expected = 0.0
    for noises in product((-1, 0, 1), repeat=len(cells)):
        if abs(sum(noises)) < queries / 2:
            expected += np.prod(
                [table.probability(c, v) for c, v in zip(cells, noises, strict=True)]
            )
    assert recovery_probability(table, parts, queries) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("parts", "queries"), [((2,), 28), ((2,), 31), ((1, 2, 5), 4)])
def test_recovery_from_many_answers_is_that_of_noise_added_up(parts, queries):
    """Sums farther away than half the answers must not come round to where they count."""
    for table in (
        PerturbationTable(np.arange(2), [-1, 0, 1], [[0, 1, 0], [0.5, 0, 0.5]]),
        PerturbationTable(np.arange(3), [-2, 0, 2], [[0, 1, 0], [0, 0.9, 0.1], [0.5, 0, 0.5]]),
    ):
        largest = int(table.noise[-1])
        noise = range(-largest, largest + 1)
        rows = [[table.probability(n, v) for v in noise] for n in parts]
        chance = np.ones(1)
        for row in rows * queries:
            chance = np.convolve(chance, row)
        total = np.arange(len(chance)) - len(parts) * queries * largest
        expected = chance[2 * np.abs(total) < queries].sum()
        assert recovery_probability(table, parts, queries) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("parts", [(9,), (9, 9), (3, 5, 9)])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_queries_needed_reach_the_confidence_and_not_before(parts, confidence):
    table = seed_table()
    needed = queries_needed(table, parts, confidence)
    assert recovery_probability(table, parts, needed) >= confidence
    assert recovery_probability(table, parts, needed - 2) < confidence
    # (2 z σ)², the answer of the normal distribution
    variance = sum(table.variances[min(n, 7)] for n in parts)
    z = {0.8: 1.2816, 0.95: 1.95996, 0.999: 3.2905}[confidence]
    assert needed == pytest.approx(4 * z**2 * variance, rel=0.15, abs=3)


def test_two_hundred_answers_suffice_as_published():
    # Asghar & Kaafar: recovered from fewer than 200 queries
    assert queries_needed(seed_table(), (50, 70)) < 200


def test_no_noise_needs_one_answer_and_biased_noise_none():
    none = PerturbationTable(np.arange(2), np.array([0]), np.ones((2, 1)))
    assert queries_needed(none, (4, 4)) == 1
    one_up = PerturbationTable(np.arange(2), np.array([0, 1]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert queries_needed(one_up, (4,)) is None


def test_noise_whose_mean_is_hardly_less_than_half_a_unit_needs_too_many_answers():
    def leaning(by):  # up by one in so many cases
        rows = np.array([[1.0, 0.0], [1 - by, by]])
        return PerturbationTable(np.arange(2), np.array([0, 1]), rows)

    assert queries_needed(leaning(0.5), (1,)) is None
    assert queries_needed(leaning(0.25), (1, 1)) is None
    assert queries_needed(leaning(0.4999), (1,)) is None
    some = queries_needed(leaning(0.45), (1,)) or 0
    assert recovery_probability(leaning(0.45), (1,), some) >= 0.95
    assert recovery_probability(leaning(0.45), (1,), some - 2) < 0.95
    assert (0.5 - 0.45) * some == pytest.approx(1.645 * np.sqrt(0.45 * 0.55 * some), rel=0.02)


def test_partitions_average_out_through_real_keys():
    lookup, draw = seed_table().lookup(), np.random.default_rng(8)
    needed = queries_needed(lookup.table(), (20, 20), 0.9999)
    for trial in range(12):
        keys = draw.integers(2**32, size=40, dtype=np.uint64)
        answers = ask_partitions(lookup, keys, 2**32, queries=needed, seed=trial)
        found = average_out(answers)
        assert found.distinct > 1
        assert round(found.value) == 40
        assert abs(found.value - 40) < 5 * found.standard_error
        assert found.count in (40, None)


def test_answers_vary_as_the_variances_say():
    # any two different cells have independent noise, so variances add up, whatever the parts
    lookup = seed_table().lookup()
    keys = np.random.default_rng(4).integers(2**32, size=60, dtype=np.uint64)
    answers = ask_partitions(lookup, keys, 2**32, queries=20_000, parts=3, seed=1)
    noise = answers.sum(axis=1) - 60
    error = np.sqrt(noise.var() / len(noise))
    assert abs(noise.mean()) < 4 * error
    squares = (noise - noise.mean()) ** 2
    assert abs(squares.mean() - 3 * 2.25) < 4 * squares.std() / np.sqrt(len(noise))


def test_standard_error_falls_with_the_root_of_the_answers():
    lookup = seed_table().lookup()
    keys = np.random.default_rng(4).integers(2**32, size=60, dtype=np.uint64)
    answers = ask_partitions(lookup, keys, 2**32, queries=6400)
    few, many = average_out(answers[:400]), average_out(answers)
    assert few.standard_error / many.standard_error == pytest.approx(4, rel=0.15)
    assert many.count == 60


def test_the_same_question_again_says_nothing_new():
    lookup = seed_table().lookup()
    count, key = np.array([17]), np.array([123_456_789], dtype=np.uint64)
    answers = [(count + lookup(count, key)).item() for _ in range(500)]
    assert average_out(answers).distinct == 1
    assert average_out(answers).count is None


def test_noise_that_is_drawn_anew_breaks_by_repetition():
    table, draw = seed_table(), np.random.default_rng(5)
    answers = perturbed(table, np.full(500, 17), draw)
    assert average_out(answers).count == 17


def test_an_average_needs_answers():
    with pytest.raises(InputError, match="at least one answer"):
        average_out([])
    with pytest.raises(InputError, match="confidence="):
        queries_needed(seed_table(), (5,), 1.0)
    with pytest.raises(InputError, match="answers of at least one cell"):
        recovery_probability(seed_table(), (), 5)


def test_variance_and_small_counts_follow_from_published_tables():
    draw = np.random.default_rng(6)
    true = with_totals(draw.poisson(14, size=(3, 3, 60)))
    found = hidden_parameters(published(perturbed(seed_table(), true, draw)))
    assert found.equations > 100
    assert found.variance == pytest.approx(2.25, rel=0.15)
    small = with_totals(draw.poisson(0.7, size=(60, 60)))
    shown = perturbed(seed_table(), small, draw)
    assert hidden_parameters(published(shown)).missing == 2
    assert hidden_parameters(published(perturbed(tiny_table(), small, draw))).missing == 0


def test_variance_is_that_of_what_totals_and_several_large_parts_miss_each_other_by():
    """T = a + b misses by 4, b = b1 + b2 by 6; a1 is the same cell as a, c has a small part."""
    codes, parent = ["T", "a", "a1", "b", "b1", "b2", "c", "c1", "c2"], [-1, 0, 1, 0, 3, 3, 0, 6, 6]
    tree = Hierarchy(tuple(codes), np.array(parent))
    value = np.array([90, 30, 28, 44, 20, 18, 12, 10, 9])
    none = np.zeros(9, dtype=bool)
    by = (Dimension("branch", tree),)
    table = Published("t", by, "count", True, 0, value, none, none, changed="cell_key")
    found = hidden_parameters(table)
    assert (found.equations, found.missing) == (2, 8)
    assert found.variance == pytest.approx((4**2 / 4 + 6**2 / 3) / 2)
    more = hidden_parameters(table, large=9)
    assert more.equations == 3
    assert more.variance == pytest.approx((4**2 / 4 + 6**2 / 3 + 7**2 / 3) / 3)
    fewer = hidden_parameters(replace(table, suppressed=np.arange(9) == 4), large=9)
    assert fewer.equations == 2
    for gone in (value * 0, np.where(value == 90, 90, 0)):
        empty = hidden_parameters(replace(table, value=gone, suppressed=gone == 0))
        assert (empty.equations, empty.missing) == (0, max(int(gone.max()) - 1, 0))


def test_a_table_without_large_counts_tells_no_variance():
    found = hidden_parameters(published([4, 3, 1]))
    assert np.isnan(found.variance)
    assert found.equations == 0
