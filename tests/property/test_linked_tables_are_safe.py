"""Tables of the same records: nothing that they say of each other undoes protection."""

import numpy as np
from finest_combinations import (
    FAR,
    GROUPS,
    ends,
    linked_table,
    made,
    published,
    records,
    sums_of_atoms,
)
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.attack import examine, recheck
from diskret.errors import ProofError, ProtectionError
from diskret.population import EVERYBODY


@given(records(), linked_table(), linked_table())
def test_cells_of_two_tables_are_protected_together(count, first, second):
    protected_together(count, [first, second])


@examples(50)
@given(records(), st.sampled_from(GROUPS), st.sampled_from(GROUPS))
def test_cells_of_tables_in_a_circle_are_protected_together(count, first, second):
    """Each two of them may belong to records that the third one rules out."""
    around = [(("x", "y"), first), (("y", "f"), None), (("x", "f"), second)]
    protected_together(count, [(*table, EVERYBODY) for table in around])


@examples(50)
@given(records(), st.lists(linked_table(), min_size=3, max_size=4))
def test_cells_of_more_tables_are_protected_together(count, tables):
    protected_together(count, tables)


def protected_together(count, described):
    tables = [made(count, *table) for table in described]
    names = [f"t{i}" for i in range(len(tables))]
    try:
        results = dk.suppress(tables, dk.rules.MinimumFrequency(3), name=names)
    except (ProtectionError, ProofError):
        return
    rows = sums_of_atoms(tables)
    value = rows @ count
    hidden = np.concatenate([r.published.suppressed.ravel() for r in results])
    status = np.concatenate([r.status.ravel() for r in results])
    alike = {}
    for row, mark in zip(rows, hidden, strict=True):
        if count @ row > 0:
            assert alike.setdefault(row.tobytes(), mark) == mark
    said = results[0].certificate.public()["not_claimed"]["en"]
    if any("three or more" in line for line in said):
        return  # filters differ
    for cell in np.flatnonzero(hidden):
        low, high = ends(rows, value, hidden, cell)
        assert low < high
        if status[cell] == "primary":
            assert low <= max(value[cell] - 1, 0) and high >= value[cell] + 1


@given(records(), linked_table(), linked_table(), st.data())
def test_intervals_of_two_tables_hold_every_possible_value(count, first, second, data):
    tables = [made(count, *first), made(count, *second)]
    rows = sums_of_atoms(tables)
    value = rows @ count
    hide = st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))
    hidden = np.array(data.draw(hide)) & (value > 0)
    publication = published(tables, hidden)
    found = examine(publication)
    recheck(publication, found)
    for i, cell in enumerate(found.cell):
        low, high = ends(rows, value, hidden, cell)
        assert found.lower[i] <= low
        assert found.upper[i] >= min(high, FAR)
        # linear bounds are close to those of whole numbers, so nothing is lost on the way
        assert found.witness_lower[i] >= low
        assert found.witness_upper[i] <= high or high >= FAR / 2
