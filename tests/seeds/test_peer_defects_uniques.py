"""Defect 14 of the microdata reference is not shared: no table or buffer has a fixed size."""

import numpy as np
import pyarrow as pa

from diskret import Microdata


def test_any_codes_may_be_keys_and_none_stands_for_missing():
    md = Microdata(
        pa.table(
            {
                "code": [-999, -999, 9_007_199_254_740_993, 2**40],
                "text": ["", "a'b", "a'b", None],
                "flag": [True, False, False, True],
            }
        ),
        keys=["code", "text", "flag"],
    )
    found = md.suda()
    assert found.msus(0) == (("code", "text"), ("code", "flag"))
    assert found.msus(3) == (("code",),)
    assert found.records["msus"].to_pylist()[2] == 1


def test_as_many_keys_and_sets_as_there_are():
    """24 keys of 300 persons: tens of thousands of sets, none of them lost."""
    random = np.random.default_rng(1)
    table = random.integers(0, 40, (300, 24))
    names = [f"k{j}" for j in range(24)]
    md = Microdata(pa.table(dict(zip(names, table.T, strict=True))), keys=names)
    found = md.suda(max_size=3)
    sets = found.records["msus"].to_numpy().sum()
    assert sets > 50_000
    # every pair of keys, counted apart
    alone = [(np.bincount(column, minlength=40)[column] == 1) for column in table.T]
    pairs = 0
    for first in range(24):
        for second in range(first):
            both = table[:, first] * 40 + table[:, second]
            own = np.bincount(both, minlength=1600)[both] == 1
            pairs += int((own & ~alone[first] & ~alone[second]).sum())
    two = md.suda(max_size=2).records["msus"].to_numpy().sum()
    assert two == pairs + sum(int(column.sum()) for column in alone)


def test_a_million_values_of_one_key():
    n = 200_000
    number = np.arange(n) % (n - 1)  # the first and the last agree
    md = Microdata(pa.table({"number": number, "sex": np.arange(n) % 2}), keys=["number", "sex"])
    found = md.suda()
    assert found.special == n and found.msus(0) == (("number", "sex"),)
    assert found.msus(1) == (("number",),)
