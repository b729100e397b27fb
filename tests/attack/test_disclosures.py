"""What a table shows of small counts and groups, and what of it is true."""

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as arrays_of

from diskret.attack.disclosures import disclosures, read_off
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.protect.plan import publish
from diskret.tables import Published, Table

CELLS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4), st.booleans()),
    max_size=25,
)


def arrays(cells):
    group, original, published, hidden = (
        np.array([cell[i] for cell in cells], dtype=kind)
        for i, kind in enumerate((np.int64, np.int64, np.int64, bool))
    )
    return group, original, published, hidden


@given(CELLS, st.integers(2, 4), st.integers(1, 3))
def test_counted_by_hand(cells, below, least):
    group, original, published, hidden = arrays(cells)
    found = read_off(group, original, published, hidden=hidden, below=below, least=least)
    shown = [(g, o, 1 if h else p, h) for g, o, p, h in cells]
    assert found.small == sum(not h and 0 < p < below for _, _, p, h in shown)
    assert found.true_small == sum(
        not h and 0 < p < below and 0 < o < below for _, o, p, h in shown
    )
    assert found.true_uniques == sum(not h and o == p == 1 for _, o, p, h in shown)
    rows = defaultdict(list)
    for number, (g, o, p, _) in enumerate(shown):
        rows[g].append((number, o, p))
    seen = true = there = 0
    for row in rows.values():
        full = [number for number, _, p in row if p]
        truly = [number for number, o, _ in row if o]
        apparent = len(full) == 1 and sum(p for _, _, p in row) >= least
        seen += apparent
        true += apparent and truly == full
        there += len(truly) == 1 and sum(o for _, o, _ in row) >= least
    assert (found.groups, found.true_groups, found.original_groups) == (seen, true, there)


def test_a_table_as_it_is_discloses_what_is_true():
    group, counts = np.array([0, 0, 1, 1, 2, 2]), np.array([3, 0, 1, 2, 0, 1])
    found = read_off(group, counts, counts)
    assert (found.groups, found.true_groups, found.uniques, found.small) == (2, 2, 2, 3)
    assert found.credible_small == found.credible_groups == 1
    assert read_off(group, counts, counts, least=2).groups == 1


def test_a_single_hidden_cell_tells_where_a_group_is_and_not_how_many():
    group, counts = np.array([0, 0, 0]), np.array([0, 2, 0])
    found = read_off(group, counts, counts, hidden=counts == 2)
    assert (found.small, found.groups, found.true_groups) == (0, 1, 1)
    assert read_off(group, counts, counts, hidden=counts == 2, least=2).groups == 0
    two = np.array([0, 2, 1])
    assert read_off(group, two, two, hidden=two > 0).groups == 0


def test_three_for_one_and_none_for_one_are_not_believable():
    """What SAFE does: ones become 0 or 3."""
    group = np.array([0, 0, 1, 1])
    found = read_off(group, np.array([1, 9, 1, 1]), np.array([0, 9, 3, 0]))
    assert (found.small, found.groups, found.true_groups) == (0, 2, 0)
    assert found.credible_groups == 0
    assert np.isnan(found.credible_small)


def test_a_group_in_another_category_than_it_seems_is_none():
    found = read_off(np.array([0, 0]), np.array([2, 0]), np.array([0, 2]))
    assert (found.groups, found.true_groups, found.original_groups) == (1, 0, 1)


def test_arrays_that_do_not_fit_are_refused():
    one = np.array([1])
    with pytest.raises(InputError, match="equally long"):
        read_off(np.array([0]), one, np.array([1, 2]))
    with pytest.raises(InputError, match="at least 0"):
        read_off(np.array([0]), one, -one)


def by_town_and_job(counts):
    cells = {"town": ["A", "A", "B", "B"], "job": ["baker", "smith", "baker", "smith"]}
    return Table.from_cells(
        pa.table({**cells, "n": counts}), by={"town": None, "job": None}, count="n"
    )


@given(arrays_of(np.int64, (2, 2), elements=st.integers(0, 4)), st.sampled_from(["town", "job"]))
def test_groups_of_a_table_are_the_codes_of_the_other_variables(counts, category):
    table = by_town_and_job([1, 2, 0, 3])
    shown = np.zeros((3, 3), dtype=np.int64)
    shown[1:, 1:] = counts
    shown[0, 1:], shown[1:, 0], shown[0, 0] = counts.sum(0), counts.sum(1), counts.sum()
    found = disclosures(table, shown, category)
    rows = shown[:, 1:] if category == "job" else shown[1:, :].T
    assert found.groups == sum((row > 0).sum() == 1 for row in rows)
    assert found.small == ((rows > 0) & (rows < 3)).sum()


def test_a_published_table_and_an_array_tell_the_same():
    table = by_town_and_job([1, 4, 0, 5])
    public = table.measure.sum.astype(float)
    hidden = np.zeros(table.shape, dtype=bool)
    hidden[1, 1:] = True
    public[hidden] = np.nan
    value = np.where(hidden, 0, table.measure.sum)
    published = Published("t", table.dimensions, "count", True, 0, value, hidden, value < 0)
    found = disclosures(table, published, "job")
    assert found == disclosures(table, public, "job")
    assert (found.original_uniques, found.uniques) == (2, 1)  # the baker, as a total as well
    assert (found.groups, found.true_groups) == (1, 1)  # town B has no baker


def test_tables_that_do_not_fit_are_refused():
    table = by_town_and_job([1, 4, 0, 5])
    count = table.measure.sum
    with pytest.raises(InputError, match="none of the variables of the table: town, job"):
        disclosures(table, count, "sex")
    with pytest.raises(InputError, match=r"shape \(3,\), the table has \(3, 3\)"):
        disclosures(table, count[0], "job")
    with pytest.raises(InputError, match="whole numbers"):
        disclosures(table, count / 2, "job")
    sums = Table.from_cells(
        pa.table({"town": ["A", "B"], "pay": [100, 70]}), by={"town": None}, value="pay"
    )
    with pytest.raises(InputError, match="values of 'pay'"):
        disclosures(sums, sums.measure.sum, "town")


def test_another_table_of_the_same_shape_is_not_published_in_place_of_this_one():
    cells = {"town": ["A", "A", "B", "B"], "job": ["x", "y", "x", "y"], "n": [1, 4, 0, 5]}

    def table(*names, total="Total", **more):
        by = {name: Hierarchy.flat(sorted({*cells[name]}), total=total) for name in names}
        return Table.from_cells(pa.table(cells), by=by, **({"count": "n"} | more))

    own = table("town", "job")
    shown = publish(own, own.count < 0, "t")
    assert disclosures(own, shown, "job").uniques == 2
    wrong = [
        publish(other, np.zeros(own.shape, dtype=bool), "t")
        for other in (
            table("job", "town"),
            table("town", "job", total="All"),
            table("town", "job", count=None, value="n"),
        )
    ]
    for other in wrong:
        with pytest.raises(InputError, match="'t' is not published in place of this table"):
            disclosures(own, other, "job")
