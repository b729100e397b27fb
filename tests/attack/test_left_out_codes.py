"""Codes that a filter leaves out hold nobody, whatever intervals are published for them."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.attack import examine
from diskret.protect.plan import publish
from diskret.tables import Publication

FIRST = {"age": ["w", "x"]}


def flat(codes):
    return dk.Hierarchy.flat(list(codes), total="T")


def rounded(counts, key):
    keys = dk.SecretKeys(bytes(range(key, key + 32)))
    return dk.round_table(counts, 3, "random", keys=keys, name="first").remembered("r").published


@pytest.mark.parametrize("key", range(6))
def test_what_was_rounded_bounds_the_whole(key):
    """u and v lie outside the filter of the first release: all its a and b are w or x."""
    records = pa.table({"job": list("abb"), "age": list("xxx")})
    by = {"age": flat("uvwx"), "job": flat("ab")}
    before = rounded(dk.tabulate(records, by=by, where=FIRST), key)
    later = dk.tabulate(records, by=by, where={"age": ["u", "w", "x"]})
    later = later.recode("age", {"Other": ["u", "w", "x"]})
    ages, jobs = (d.hierarchy.codes for d in later.dimensions)
    hidden = np.array([[age != "v" and job != "T" for job in jobs] for age in ages])
    new = publish(later, hidden, "later")
    found = examine(Publication((new, replace(before, name="r/first")), (), (("r", "first"),)))
    start = new.value.size
    least = dict(zip(found.cell.tolist(), found.lower.tolist(), strict=True))
    for job in (1, 2):
        assert least[job] >= before.lower[0, job]
    for age in (1, 2):  # u and v
        cells = start + np.ravel_multi_index(([age] * 3, range(3)), before.shape)
        there = np.isin(found.cell, cells)
        assert not found.lower[there].any()
        assert not found.upper[there].any()
