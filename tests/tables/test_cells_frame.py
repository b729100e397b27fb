"""Tables as frames: every cell once, exact values, no two columns of one name."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension, Measure, Published, Table
from diskret.tables.cells import codes_columns, in_published_units, public_columns

REGION = Dimension("region", Hierarchy.flat(["N", "S"]))
SIZE = Dimension("size", Hierarchy.flat(["small"]))
SUMS = np.array([[30, 30], [20, 20], [10, 10]])


def a_table(**changes):
    measure = Measure("turnover", 1, SUMS, SUMS, np.empty((3, 2, 0), dtype=np.int64))
    values = {"dimensions": (REGION, SIZE), "count": SUMS // 10, "measures": (measure,)}
    return Table(**{**values, **changes})


def test_one_row_for_each_combination_in_c_order():
    assert a_table().cells.to_pydict() == {
        "region": ["Total", "Total", "N", "N", "S", "S"],
        "size": ["Total", "small"] * 3,
        "count": [3, 3, 2, 2, 1, 1],
        "turnover": [3.0, 3.0, 2.0, 2.0, 1.0, 1.0],
    }


def test_known_units_and_holdings_follow_the_count():
    table = a_table(units=SUMS, holdings=SUMS)
    names = ["region", "size", "count", "units", "holdings", "turnover"]
    assert table.cells.column_names == names


def test_an_unknown_count_is_left_out():
    assert "count" not in a_table(count=None).cells.column_names


def test_the_frame_is_of_the_users_kind():
    pandas = pytest.importorskip("pandas", reason="optional: pandas is not installed")
    assert isinstance(a_table(frame_kind="pandas").cells, pandas.DataFrame)


@pytest.mark.parametrize("name", ["count", "turnover", "size"])
def test_no_two_columns_have_one_name(name):
    clash = Dimension(name, Hierarchy.flat(["N", "S"]))
    with pytest.raises(InputError, match=f"'{name}'"):
        _ = a_table(dimensions=(clash, SIZE)).cells


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20),
    st.integers(1, 18),
)
def test_published_units_are_the_nearest_floats(scaled, decimals):
    floats = in_published_units(np.array(scaled, dtype=np.int64), decimals)
    for number, exact in zip(floats.tolist(), scaled, strict=True):
        assert number == float(Fraction(exact, 10**decimals))


def test_values_without_decimals_stay_integers():
    assert in_published_units(np.array([2**60 + 1]), 0).tolist() == [2**60 + 1]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_codes_stand_in_the_order_of_the_arrays(sizes):
    dimensions = tuple(
        Dimension(f"v{i}", Hierarchy.flat([f"c{j}" for j in range(n)])) for i, n in enumerate(sizes)
    )
    columns = codes_columns(dimensions)
    shape = tuple(len(d) for d in dimensions)
    for flat, at in enumerate(np.ndindex(shape)):
        for dimension, i in zip(dimensions, at, strict=True):
            assert columns[dimension.name][flat].as_py() == dimension.hierarchy.codes[i]


def test_public_columns_hide_whatever_lies_under_a_suppressed_cell():
    suppressed = np.array([False, True, True])
    empty = np.array([False, False, False])
    value = np.array([12, 7654321, 5])
    published = Published("t", (REGION,), "n", True, 0, value, suppressed, empty)
    assert public_columns(published).to_pydict() == {
        "region": ["Total", "N", "S"],
        "n": [12, None, None],
        "status": ["published", "suppressed", "suppressed"],
    }
    assert public_columns(published)["n"].type == pa.int64()
    # not even in the memory below the nulls
    assert 7654321 not in np.frombuffer(public_columns(published)["n"].chunk(0).buffers()[1], "<i8")
