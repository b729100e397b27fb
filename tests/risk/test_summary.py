"""The summary counts what its names say, and lists the riskiest combinations first."""

import numpy as np
import pyarrow as pa

from diskret.io import coded
from diskret.risk import Keys
from diskret.risk.summary import riskiest, summary


def column(values, name):
    return coded(pa.chunked_array([values]), name)


KEYS = Keys((column(["a", "a", "b", "c", None, "a"], "town"), column([1, 1, 2, 2, 2, 1], "sex")))


def test_records_below_k_with_and_without_the_help_of_missing_values():
    found = summary(KEYS)
    assert found.sample.tolist() == [3, 3, 2, 2, 3, 3]
    assert (found.uniques, found.below(3), found.below_shown(3)) == (0, 2, 3)
    assert dict(found.groups()) == {
        (1, 1): 0,
        (2, 2): 2,
        (3, 4): 4,
        (5, 9): 0,
        (10, 99): 0,
        (100, None): 0,
    }


def test_risk_without_weights_is_one_over_the_frequency():
    found = summary(KEYS, household=column([1, 1, 2, 3, 4, 5], "hid"))
    assert np.allclose(found.risk, 1 / found.sample)
    assert abs(found.expected - 7 / 3) < 1e-12 and found.largest == 0.5
    expected = (1 - (2 / 3) ** 2) + 1 / 2 + 1 / 2 + 1 / 3 + 1 / 3
    assert abs((found.households or 0) - expected) < 1e-12


def test_the_riskiest_combinations_come_first():
    found = riskiest(KEYS, summary(KEYS))
    assert [one.values for one in found] == [("b", "2"), ("c", "2"), (None, "2"), ("a", "1")]
    assert [(one.records, one.frequency) for one in found] == [(1, 2), (1, 2), (1, 3), (3, 3)]
