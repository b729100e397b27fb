"""What a group shows: means, medians and modes, weighted or not."""

import statistics

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from pytest import approx

from diskret.microdata.aggregation import aggregate, median, mode

GROUPS = st.lists(
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4)), min_size=1, max_size=6),
    min_size=1,
    max_size=4,
)


@examples(60)
@given(GROUPS, st.randoms(use_true_random=False))
def test_a_whole_weight_counts_as_so_many_records(made, rng):
    rows = [(x, w, of) for of, group in enumerate(made) for x, w in group]
    rng.shuffle(rows)
    x, w, of = (np.array(column) for column in zip(*rows, strict=True))
    each = [[x for x, w in group for _ in range(w)] for group in made]
    values, weights = x.astype(float), w.astype(float)
    assert aggregate(values, of, weights).tolist() == approx(list(map(statistics.mean, each)))
    middle = aggregate(values, of, weights, "median").tolist()
    assert middle == list(map(statistics.median, each))
    lower, upper = median(values, of, weights * 0.1)
    assert lower.tolist() == list(map(statistics.median_low, each))
    assert upper.tolist() == list(map(statistics.median_high, each))
    assert mode(x, of, weights).tolist() == [min(statistics.multimode(one)) for one in each]


def test_equal_values_are_kept_to_the_last_digit():
    values, of = np.full(6, 0.1), np.array([0, 0, 0, 1, 1, 1])
    weights = np.array([0.3, 7.0, 1.1, 1.0, 1.0, 1.0])
    for measure in ("mean", "median"):
        assert aggregate(values, of, weights, measure).tolist() == [0.1, 0.1]
