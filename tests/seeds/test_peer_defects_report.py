"""Defects of a peer that releases of microdata do not share.

Numbers are those of the list of reproduced defects of the reference package.
"""

import random

import numpy as np
import pyarrow as pa

import diskret as dk
from diskret.attack.microdata.claims import KAnonymity

FRAME = pa.table(
    {"no": list(range(40)), "hid": [i // 2 for i in range(40)], "sex": ["m", "f"] * 20}
)


def release(keys):
    md = dk.Microdata(FRAME, keys=["sex"], household="hid", id="no")
    return md.release(KAnonymity(20), id=True, household=True, keys=keys)


def test_20_random_numbers_neither_use_nor_change_a_global_state_nor_leave_files(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    keys = dk.SecretKeys(bytes(range(32)))
    np.random.seed(1)
    random.seed(1)
    before = np.random.get_state()[1].tolist(), random.getstate()
    first = release(keys)
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before
    np.random.seed(2)
    assert release(keys).table.equals(first.table)
    assert not release(dk.SecretKeys(bytes(31) + b"1")).table.equals(first.table)
    assert not list(tmp_path.iterdir())


def test_20_methods_keep_what_was_done():
    """The peer returns its object and drops the details; here the release holds the history."""
    made = release(dk.SecretKeys(bytes(range(32))))
    assert made.microdata.original.table.equals(FRAME)
    assert made.arguments["household"] is True and made.order.tolist() != list(range(40))
