"""Intervals of hidden cells of several tables, against programmes of all kinds of records."""

import numpy as np
import pytest
from kinds_of_records import ends, publication, random_tables
from profiles import scaled

from diskret.attack import examine, recheck
from diskret.attack.all_cells import all_cells
from diskret.attack.ties import same_cells, shown_somewhere


def members_of(shown):
    return [one for table in shown for one in table.members]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_intervals_are_those_that_the_records_leave(number):
    compared = narrower = 0
    for seed in range(scaled(200)):
        counts, shown = random_tables(np.random.default_rng(seed), number, hide=0.5)
        public = publication(shown, frequency=False)
        found = examine(public)
        recheck(public, found)
        complete = all_cells(public).complete
        for i, cell in enumerate(found.cell.tolist()):
            low, high = ends(shown, counts, [cell], [1])
            assert found.lower[i] <= low + 1e-6 and found.upper[i] >= high - 1e-6
            if complete:
                compared += 1
                assert found.lower[i] == pytest.approx(low, abs=1e-6), seed
                assert found.upper[i] == pytest.approx(high, abs=1e-6), seed
            else:
                narrower += found.lower[i] < low - 1e-6 or found.upper[i] > high + 1e-6
    assert compared


@pytest.mark.parametrize("number", [1, 2, 3])
def test_cells_of_the_same_records_are_the_same_cell(number):
    """And what one table shows of it everybody knows, whatever others hide."""
    hidden_elsewhere = 0
    for seed in range(scaled(200)):
        _, shown = random_tables(np.random.default_rng(seed), number, hide=0.5)
        public = publication(shown)
        label, known = same_cells(public), shown_somewhere(public)
        members = members_of(shown)
        hidden = np.concatenate([table.hidden for table in shown])
        # else a total may be all that a filter lets through of one code
        plain = all(set(table.where).isdisjoint(table.by) for table in shown)
        assert len(label) == len(members) == len(known)
        for i, one in enumerate(members):
            alike = [j for j in range(len(members)) if label[i] == label[j]]
            assert all(members[j] == one for j in alike)
            if one and plain:
                assert alike == [j for j, other in enumerate(members) if other == one]
            assert known[i] == any(not hidden[j] for j in alike)
            hidden_elsewhere += bool(hidden[i] and known[i])
    assert hidden_elsewhere or number == 1
