"""Sums by group are right to the last digit, in any order."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diskret.risk.keys import sums, total

VALUES = st.one_of(
    st.floats(0.001, 1e6), st.floats(-1e3, 1e3).filter(lambda v: v == 0 or abs(v) > 1e-3)
)


@given(st.lists(st.tuples(st.integers(0, 3), VALUES), max_size=30))
def test_sums_are_the_exact_ones_rounded_once(pairs):
    of = np.array([group for group, _ in pairs], dtype=np.intp)
    values = np.array([value for _, value in pairs], dtype=float)
    exact = [sum((Fraction(v) for g, v in pairs if g == i), Fraction(0)) for i in range(4)]
    assert sums(of, values, 4).tolist() == [float(value) for value in exact]


@given(st.lists(VALUES, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_the_order_does_not_matter(values, random):
    turned = random.sample(values, len(values))
    assert total(np.array(turned)) == total(np.array(values))


def test_a_million_decimals_in_two_orders():
    values = np.random.default_rng(4).uniform(0, 100, 1_000_000).round(1)
    assert values.sum() != np.sort(values).sum()
    assert total(values) == total(np.sort(values)) == total(values[::-1])
