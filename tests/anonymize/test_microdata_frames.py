"""The caller's own frame comes back: kind, types, order, index."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from diskret import DiskretError, Microdata
from diskret.anonymize.verb import Step

STEP = Step("hide", {})


def hidden(md: Microdata, name: str) -> Microdata:
    """The same with the first value missing."""
    first = np.arange(md.n) == 0
    return md.after({name: md.coded(name).without(first).column()}, STEP)


def test_pandas_keeps_index_and_types_and_makes_gaps_nullable():
    frame = pd.DataFrame(
        {
            "age": [31, 40, 31],
            "job": pd.Categorical(["b", "a", "b"], categories=["b", "a", "c"], ordered=True),
            "town": pd.Series(["x", "y", "y"], index=[7, 8, 9], dtype=object),
            "income": [1.5, 2.5, 3.5],
        },
        index=[7, 8, 9],
    )
    md = Microdata(frame, keys=["age", "job", "town"], numeric=["income"])
    made = hidden(hidden(hidden(md, "age"), "job"), "town").frame
    assert list(made.index) == [7, 8, 9] and list(made.columns) == list(frame.columns)
    assert str(made["age"].dtype) == "Int64" and made["age"].isna().tolist() == [True, False, False]
    assert made["job"].dtype == frame["job"].dtype and made["job"].isna().sum() == 1
    assert made["town"].dtype == frame["town"].dtype and made["town"].isna().sum() == 1
    assert made["income"] is not frame["income"] and made["income"].equals(frame["income"])
    assert frame.notna().all().all()
    assert md.frame.equals(frame)


def test_polars_keeps_categories():
    frame = pl.DataFrame({"age": [31, 40], "job": ["b", "a"]}).with_columns(
        pl.col("job").cast(pl.Enum(["b", "a"]))
    )
    made = hidden(hidden(Microdata(frame, keys=["age", "job"]), "age"), "job").frame
    assert made.schema == frame.schema
    assert made["age"].to_list() == [None, 40] and made["job"].to_list() == [None, "a"]


def test_arrow_keeps_dictionaries():
    frame = pa.table({"job": pa.array(["b", "a"]).dictionary_encode(), "n": [1, 2]})
    made = hidden(Microdata(frame, keys=["job"]), "job").frame
    assert pa.types.is_dictionary(made.schema.field("job").type)
    assert made.column("job").to_pylist() == [None, "a"]


def test_the_original_and_the_history_are_kept():
    md = Microdata(pa.table({"job": ["b", "a"], "sex": ["m", "f"]}), keys=["job"])
    made = hidden(md, "job")
    assert made.history == (replace(STEP, columns=("job",)),) and md.history == ()
    assert made.original is md and made.changed == {"job"}
    assert md.table.column("job").to_pylist() == ["b", "a"]


def test_floats_that_are_whole_numbers_are_categories():
    frame = pd.DataFrame({"age": [31.0, np.nan, 29.0]})
    assert Microdata(frame, keys=["age"]).coded("age").codes.tolist() == [1, -1, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"keys": ["job", "age"]}, "keys= names column 'age', which the records do not have"),
        ({"keys": ["job"], "sensitive": ["job"]}, "cannot be in keys= and in sensitive="),
        ({"keys": ["job", "job"]}, "twice"),
        ({"followers": {"job": "sex"}}, "which is no key"),
    ],
)
def test_roles_are_checked(arguments, message):
    with pytest.raises(DiskretError, match=message):
        Microdata(pa.table({"job": ["b"], "sex": ["m"]}), **arguments)


def test_weights_are_checked():
    frame = pa.table({"job": ["b", "a", "c"], "w": [1.0, 0.0, None]})
    with pytest.raises(DiskretError, match=r"2 weights in 'w' .*first in row 2"):
        Microdata(frame, keys=["job"], weight="w").weights()


def test_numbers_with_decimals_are_no_keys():
    with pytest.raises(DiskretError, match="2 distinct values of 'x'"):
        Microdata(pa.table({"x": [1.5, 2.5, 3.0]}), keys=["x"]).coded("x")


def test_numbers_have_gaps_but_no_infinity():
    frame = pa.table({"x": [1, None], "y": [0.5, 2.0], "z": [float("inf"), 1.0], "t": ["a", "b"]})
    md = Microdata(frame, numeric=["x", "y"])
    assert np.array_equal(md.numbers(), [[1, 0.5], [np.nan, 2]], equal_nan=True)
    with pytest.raises(DiskretError, match="1 value in 'z' is infinite"):
        md.numbers(["z"])
    large = Microdata(pa.table({"z": [1.0, 1e300]}), numeric=["z"])  # its square is infinite
    with pytest.raises(DiskretError, match="1 value in 'z' is infinite or beyond 10.100.*row 2"):
        large.numbers(["z"])
    with pytest.raises(DiskretError, match="values in 't' are not numbers"):
        md.numbers(["t"])
