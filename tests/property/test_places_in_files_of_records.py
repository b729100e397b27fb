"""Counted records are tried as contributors wherever they may be: the place of each is tried."""

from itertools import count, islice

import numpy as np
import pytest
from campaign.draws import draw
from campaign.releases import made
from campaign.world import Records
from profiles import scaled

from diskret.protect.plan import publish
from diskret.protect.unpublished_cells import unpublished
from diskret.tables import Publication
from diskret.tables.shares import cell_of, place_of


def linked():
    """Cases of several tables of counts that are not listed."""
    for seed in count(1):
        case = draw(seed)
        plain = not (case.summed or case.ledger or case.noise or case.cells_given or case.waivers)
        if plain and len(case.layouts) > 1:
            yield seed


def inside(case, layout, table):
    """Which records each cell of a table holds, in the order of its cells."""
    records = Records(case, None)
    found = np.zeros((*table.shape, len(records.value)), dtype=bool)
    for codes in case.cells(layout):
        at = zip(codes, table.dimensions, strict=True)
        place = tuple(d.hierarchy.position[code] for code, d in at)
        found[place] = records.inside(case.box(layout, codes))
    return found.reshape(-1, len(records.value))


@pytest.mark.parametrize("seed", [*islice(linked(), scaled(200))])
def test_every_record_is_tried_where_it_is(seed):
    case = draw(seed)
    tables = [made(case, layout) for layout in case.layouts]
    nothing = [np.zeros(table.shape, dtype=bool) for table in tables]
    names = [layout.name for layout in case.layouts]
    shown = map(publish, tables, nothing, names)
    publication = Publication(tuple(shown))
    original = np.concatenate([table.measure.sum.ravel() for table in tables])
    found = unpublished(tables, publication, original, 1)
    if found is None:
        return
    member = np.concatenate(
        [inside(case, *pair) for pair in zip(case.layouts, tables, strict=True)]
    )
    starts = publication.starts.tolist()
    of_table, leaf = place_of(found.names), cell_of(found.names)
    there = found.amounts.low > 0
    tried = np.zeros((len(found.names), len(member)), dtype=bool)
    public = there & (found.amounts.cell < len(member))
    tried[found.amounts.who[public], found.amounts.cell[public]] = True
    for i, start in enumerate(starts[:-1]):
        told = found.told[i][found.told[i] < len(member)]
        own = np.flatnonzero(of_table == i)
        for record in np.flatnonzero(member[start]).tolist():
            rows = own[member[start + leaf[own], record]]
            if len(rows):  # else it is in no cell that has to do with other tables
                assert (tried[np.ix_(rows, told)] == member[told, record]).all(axis=1).any()
