"""Intervals of hidden cells of several tables, against programmes of all kinds of records."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from kinds_of_records import KINDS, Shown, ends, publication, random_tables
from profiles import scaled

from diskret.attack import examine, recheck
from diskret.attack.all_cells import all_cells
from diskret.attack.ties import same_cells, shown_somewhere
from diskret.errors import InputError
from diskret.tables import Publication


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


@pytest.mark.parametrize("seed", range(6))
def test_each_filter_says_how_many_there_are_at_least(seed):
    """Women and old ones overlap: a hidden cell has as many as the more of them; apart, both."""
    draw = np.random.default_rng(seed)
    counts = draw.integers(0, 9, len(KINDS))
    everybody = Shown(["region"], {}, counts)
    everybody.hidden[:] = True
    filters = [{"sex": ["f"]}, {"age": ["o"]}, {"sex": ["m"], "age": ["x"]}, {"age": ["o", "x"]}]
    parts = [Shown(["region"], where, counts) for where in filters]
    for some in ((0, 1), (0, 2), (0, 1, 2), (1, 2), (0, 1, 2, 3)):
        shown = [everybody, *(parts[i] for i in some)]
        found = examine(publication(shown, frequency=False))
        for i, cell in enumerate(found.cell.tolist()):
            least = ends(shown, counts, [cell], [1])[0]
            of_pairs = pairs_at_least([one.members[cell] for one in shown[1:]], counts)
            assert of_pairs <= found.lower[i] <= least + 1e-6
            if len(some) == 2:
                assert found.lower[i] == pytest.approx(least)


def pairs_at_least(members, counts):
    """The most that single sets of records and those that have none in common add up to."""
    size = [sum(counts[k] for k in one) for one in members]
    apart = [a + b for (one, a), (other, b) in combinations(zip(members, size, strict=True), 2)
             if not one & other]  # fmt: skip
    return max([*size, *apart])


def test_values_that_cannot_be_added_up_in_64_bits_are_refused():
    """Four codes along one variable, two along another; so many terms for each table more."""
    counts = np.zeros(len(KINDS), dtype=np.int64)
    counts[0] = 1
    for tables, terms in ((1, 5), (2, 6)):
        for size, fits in ((2**62 // terms - 2**12, True), (2**62 // terms + 2**12, False)):
            shown = [Shown(["age", "region"], {}, counts * size) for _ in range(tables)]
            public = publication(shown, frequency=False)
            if fits:
                assert not len(examine(public).cell)
            else:
                with pytest.raises(InputError, match="too large to be added up"):
                    examine(public)


def test_circles_of_values_that_may_cancel_out_are_not_complete():
    """An empty cell says nothing of its parts where one of them may be negative."""
    counts = np.ones(len(KINDS), dtype=np.int64)
    around = [
        Shown(by, {}, counts) for by in (["sex", "age"], ["age", "region"], ["region", "sex"])
    ]
    assert all_cells(publication(around, frequency=False)).complete
    for place in range(3):
        tables = list(publication(around, frequency=False).tables)
        tables[place] = replace(tables[place], nonnegative=False)
        seen = all_cells(Publication(tuple(tables)))
        assert not seen.complete and not seen.crossed
