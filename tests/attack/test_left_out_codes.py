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


AGES = pa.table({"age": list("o" + 20 * "x" + 9 * "y")})


def test_an_empty_cell_that_a_filter_leaves_out_hides_nothing():
    """Of 21 persons of o and x 20 are x: y is empty, as the filter says, so o has to hide it."""
    table = dk.tabulate(AGES, by={"age": flat("oxy")}, where={"age": ["o", "x"]})
    result = dk.suppress(table, dk.rules.GroupDisclosure(90), cost="value")
    assert result.public["count"].to_pylist() == [21, None, None, 0]
    whole = dk.tabulate(AGES.slice(0, 21), by={"age": flat("oxy")})
    other = dk.suppress(whole, dk.rules.GroupDisclosure(90), cost="value")
    assert other.public["count"].to_pylist() == [21, 1, None, None]


@pytest.mark.parametrize("recorded", [True, False])
def test_one_table_alone_tells_whom_its_filter_leaves_out(recorded):
    """Codes that need not be texts of the records may mean what the filter asks for."""
    table = dk.tabulate(AGES, by={"age": flat("oxy")}, where={"age": ["o", "x"]})
    published = publish(table, np.array([False, False, True, True]), "ages")
    found = examine(replace(published, recorded=recorded))
    assert found.upper.tolist() == ([20, 0] if recorded else [20, 20])
    assert found.lower.tolist() == ([20, 0] if recorded else [0, 0])
