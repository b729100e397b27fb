"""What is public takes lists and columns like arrays, or says in a sentence what is wrong."""

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.tables import Dimension

ROWS = [[0, 1, 0], [0.5, 0, 0.5]]
TABLE = dk.PerturbationTable(np.array([0, 1]), np.array([-1, 0, 1]), np.array(ROWS))
BOUNDS, NOISE = [[1000, 1000], [500, 1000]], [[0, 0], [-1, 1]]
SIZES = Dimension("size", dk.Hierarchy(["Total", "S", "M"], [-1, 0, 0]))


@pytest.mark.parametrize("of", [list, tuple, pa.array, np.float64])
def test_perturbation_tables(of):
    made = dk.PerturbationTable(of([0, 1]), of([-1, 0, 1]), [list(row) for row in ROWS])
    assert np.array_equal(made.lookup(1000).bounds, TABLE.lookup(1000).bounds)
    assert str(made.check()) == str(TABLE.check())
    assert made.counts.dtype == made.noise.dtype == np.int64


def test_lookups():
    made = dk.Lookup([0, 1], 1000, BOUNDS, NOISE)
    assert made(np.array([1, 1]), np.array([499, 500], dtype=np.uint64)).tolist() == [-1, 1]


def test_noise_on_sums():
    made = dk.MagnitudeNoise(TABLE, scale=[0.25, 0.05], shares=np.array([1, 0.5]))
    assert made.scales == (0.25, 0.05) and made.shares == (1, 0.5)
    rows = dk.PerturbationTable.for_magnitudes(5, 1, rows=np.array([1, 5]))
    assert rows.counts.tolist() == [0, 1, 5]


def test_tables_and_sensitivities():
    assert hash(SIZES.hierarchy) == hash(dk.Hierarchy(("Total", "S", "M"), np.array([-1, 0, 0])))
    table = dk.Table((SIZES,), [9, 2, 7])
    unsafe = dk.Sensitivity(
        [False, True, False], [0, 1, 0], [0, 1, 0], [0, 1, 0], [-1, 0, -1], ["r"]
    )
    result = dk.suppress(table, unsafe, name="t")
    assert result.published.suppressed.tolist() == [False, True, True]
    shown = dk.Published(
        "t", (SIZES,), "count", True, 0, [9, 0, 0], [False, True, True], [False] * 3
    )
    assert shown.value.dtype == np.int64 and "2 suppressed" in repr(shown)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: dk.PerturbationTable([0, 1], [-1, 0, 1], [[0, 1, 0], [0.5]]), "equal length"),
        (lambda: dk.PerturbationTable(["0", "x"], [-1, 0, 1], ROWS), "list of numbers"),
        (lambda: dk.PerturbationTable(None, [-1, 0, 1], ROWS), "list of numbers"),
        (lambda: dk.PerturbationTable([0, 1.5], [-1, 0, 1], ROWS), "type int64"),
        (lambda: dk.PerturbationTable([1, 2], [-1, 0, 1], ROWS), "from 0 on"),
        (lambda: dk.PerturbationTable([0, 1], [-1, 0], ROWS), "a column for each of 2"),
        (lambda: dk.PerturbationTable([0, 1], [1, 0, -1], ROWS), "must ascend"),
        (lambda: dk.PerturbationTable([0, 1], [-1, 0, 1], [ROWS[0], [2, -1, 0]]), "from 0 to 1"),
        (lambda: dk.PerturbationTable([0, 1], [-1, 0, 1], [ROWS[0], [np.nan] * 3]), "from 0 to 1"),
        (lambda: dk.PerturbationTable([0, 1], [-1, 0, 1], ROWS[::-1]), "0 stays 0"),
        (lambda: dk.PerturbationTable([0, 1], [-1, 0, 1], ROWS, 0), "step must be"),
        (lambda: TABLE.probability("1", 0), "count must be"),
        (lambda: dk.PerturbationTable.from_matrix([], noise=[0]), "one row or more"),
        (lambda: dk.PerturbationTable.from_matrix([0.5, 0.5], noise=[0, 1]), "one row or more"),
        (lambda: dk.PerturbationTable.from_matrix(None, noise=[0, 1]), "one row or more"),
        (lambda: dk.PerturbationTable.from_matrix([[1]], noise=["a"]), "noise must be a list"),
        (lambda: dk.PerturbationTable.maximum_entropy(2, "1"), "a number above 0, not '1'"),
        (lambda: dk.PerturbationTable.maximum_entropy(2, None), "variance= must be a number"),
        (lambda: dk.Lookup([0, 1], "9", BOUNDS, NOISE), "the modulus"),
        (lambda: dk.Lookup([0, 1], 1000, [[1000, 1000], [-1, 1000]], NOISE), "type uint64"),
        (lambda: dk.Lookup([0, 1], 1000, BOUNDS[0], NOISE[0]), "as many rows"),
        (lambda: dk.Lookup.from_cumulative([0.5, 1], noise=[0, 1]), "one row or more"),
        (lambda: dk.MagnitudeNoise(ROWS), "ptable= is a PerturbationTable"),
        (lambda: dk.MagnitudeNoise(TABLE, counts=[1]), "counts= is a PerturbationTable"),
        (lambda: dk.MagnitudeNoise(TABLE, scale="a"), "scale must be"),
        (lambda: dk.MagnitudeNoise(TABLE, scale=[0.1] * 3), "scale= is a positive share"),
        (lambda: dk.MagnitudeNoise(TABLE, shares=1), "shares must be"),
        (lambda: dk.Hierarchy.flat(None), "codes must be a list"),
        (lambda: dk.Table((SIZES,), [9, 2, 7]).recode("size", ["S"]), "groups must name"),
        (lambda: dk.SecretKeys("x" * 32), "32 bytes"),
    ],
)
def test_what_is_none_is_refused(make, what):
    with pytest.raises(dk.DiskretError, match=what):
        make()
