"""How uncertain originals are, given what is published."""

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.utility import entropy_loss


def test_entropy_by_hand():
    # published a: 3 of a, 1 of b; published b: 4 of b
    a = 3 * np.log2(4 / 3) + 1 * np.log2(4)
    assert entropy_loss([[3, 0], [1, 4]]) == pytest.approx(a)
    assert entropy_loss([[3, 0], [1, 4]], published=[8, 1]) == pytest.approx(2 * a)
    before, after = pa.table({"v": list("aaabbbbb")}), pa.table({"v": list("aaaabbbb")})
    assert dk.utility.compare(before, after).entropy["v"] == pytest.approx(a)
    assert dk.utility.compare(before, after).figures["ebil"] == pytest.approx(a / 8)


def test_what_pram_counts_is_what_its_matrix_expects():
    jobs = np.repeat(["a", "b", "c"], [5000, 3000, 2000])
    md = dk.Microdata(pa.table({"job": jobs}), keys=["job"])
    frequencies = np.array([5000, 3000, 2000])
    matrix = next(iter(md.transitions("job").risks.values())).matrix
    expected = entropy_loss(frequencies[:, None] * matrix.probabilities)
    counted = md.pram("job", seed=1).compare().entropy["job"]
    assert counted == pytest.approx(expected, rel=0.05) and counted > 0
    assert md.compare().entropy["job"] == 0


@pytest.mark.parametrize(
    ("joint", "published", "message"),
    [([1, 2], None, "joint="), ([[-1, 2]], None, "joint="), ([[1, 2]], [1], "published=")],
)
def test_numbers_that_are_no_frequencies_are_refused(joint, published, message):
    with pytest.raises(dk.DiskretError, match=message):
        entropy_loss(joint, published)
