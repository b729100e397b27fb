"""What should break breaks: the attacks on what the literature warns of, with its own figures.

Simon (2022), Statistische Geheimhaltung: Cell Key Methode, appendix A, with the matrix of
Höhne & Höninger (2019); the rows that the vignette of R's ptable prints for D = 2, V = 1.
"""

from itertools import product

import numpy as np
import pytest
from noise_tables import published, seed_table, tiny_table

from diskret.attack import (
    average_out,
    constellation_risk,
    feasible_counts,
    privacy_loss,
    queries_needed,
)
from diskret.tables import Perturbed

MODULUS = 2**32


def listing(count, key, p0, draw):
    """The listing's noise: looked up by the key, then kept or dropped by a second draw."""
    cumulative = np.cumsum(seed_table().probabilities[min(count, 7)])
    noise = int(np.flatnonzero(cumulative > key / MODULUS)[0]) - 4
    return count + int(draw.choice([noise, 0], p=[1 - p0, p0]))


def keyed_rounding(count, key, base):
    """Random rounding, unbiased, driven by the cell key."""
    rest = count % base
    return count - rest + (base if key * base < rest * MODULUS else 0)


def test_rounding_drawn_anew_for_each_query_breaks():
    draw = np.random.default_rng(1)
    for count in (11, 13, 17, 24):
        keys = draw.integers(MODULUS, size=600)
        answers = [keyed_rounding(count, int(key), 5) for key in keys]
        assert set(answers) <= {count // 5 * 5, count // 5 * 5 + 5}
        assert average_out(answers).count == count


def test_rounding_driven_by_the_cell_key_does_not_break_by_repetition():
    draw = np.random.default_rng(1)
    for count in (11, 13, 17, 24):
        key = int(draw.integers(MODULUS))
        answers = [keyed_rounding(count, key, 5) for _ in range(600)]
        assert average_out(answers).count is None
        assert average_out(answers).distinct == 1


def test_second_draw_of_the_listing_gives_one_cell_several_values():
    draw = np.random.default_rng(2)
    assert {listing(3, 0.9 * MODULUS, 0.5, draw) for _ in range(40)} == {3, 5}
    # without it (p0 = 0, as the paper runs it) the same cell always has the same value
    assert {listing(3, 0.9 * MODULUS, 0.0, draw) for _ in range(40)} == {5}
    # and by its default, p0 = 1, nothing is perturbed at all
    assert {listing(count, 0.9 * MODULUS, 1.0, draw) for count in range(1, 8)} == set(range(1, 8))


def candidates(p0, trials=300, tables=40):
    """Of two parts and their total: values seen in many tables, and the true ones."""
    draw = np.random.default_rng(3)
    for _ in range(trials):
        keys = [int(key) for key in draw.integers(MODULUS, size=2)]
        counts = [int(count) for count in draw.integers(1, 8, size=2)]
        true = (*counts, sum(counts))
        keys.append(sum(keys) % MODULUS)
        yield (
            true,
            [
                {listing(count, key, p0, draw) for _ in range(tables)}
                for count, key in zip(true, keys, strict=True)
            ],
        )


def solved(seen):
    """The true values, where one choice of the values seen adds up; None elsewhere."""
    sums = [values for values in product(*seen) if values[0] + values[1] == values[2]]
    return sums[0] if len(sums) == 1 else None


def test_second_draw_of_the_listing_breaks_with_the_margins():
    found = [(true, solved(seen)) for true, seen in candidates(p0=0.5)]
    right = sum(true == guess for true, guess in found)
    wrong = sum(guess is not None and true != guess for true, guess in found)
    assert right > 0.7 * len(found)
    assert wrong == 0  # what adds up alone is the truth: it is always among the values seen


@pytest.mark.long
def test_without_the_second_draw_margins_do_not_break_it():
    found = [(true, solved(seen)) for true, seen in candidates(p0=0.0)]
    # values seldom add up, and where they do they are as a rule not the true ones
    assert sum(true == guess for true, guess in found) < 0.1 * len(found)


def test_all_counts_shown_with_tiny_noise_breaks():
    # D = 2, V = 1, js = 0: (1, 1 | 2) published as (1, 1 | 0), the handbook's example
    found = constellation_risk(tiny_table(), limit=0.01)
    assert [c.parts for c in found.above][:1] == [(1, 1)]
    attacked = feasible_counts(published([0, 1, 1]), Perturbed("noise", largest=2))
    assert attacked.lower.tolist() == [2, 1, 1]
    assert attacked.pinned.all()


def test_the_paper_s_matrix_does_not_break_in_the_same_way():
    found = constellation_risk(seed_table(), limit=0.01)
    assert found.above == ()
    assert found.worst.parts == (1, 3)
    attacked = feasible_counts(published([0, 3, 3]), Perturbed("noise", largest=4))
    assert not attacked.pinned.any()


def test_exact_probabilities_of_the_handbook_s_example():
    # as printed for R's ptable: 1 stays with .3665, 2 becomes 0 with .0638
    table = tiny_table()
    assert table.probability(1, 0) ** 2 * table.probability(2, -2) == pytest.approx(
        0.00857, abs=5e-5
    )


def test_the_paper_s_matrix_in_figures():
    table = seed_table()
    assert queries_needed(table, (75, 91)) == 71
    assert privacy_loss(table).delta(np.inf) == pytest.approx(0.3125)
    # the last row is ±4 with .02 each: what it reaches alone tells n and n + 1 apart
    assert privacy_loss(table).deltas(np.inf)[-1] == pytest.approx(0.02)
