"""What the slides say of SAFE and of record swapping, on a made-up census."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.safe import ControlTable, SafeProblem
from diskret.safe.hoehne import hoehne

NAMES = ["district", "municipality", "age_group", "sex", "marital"]
TABLES = dk.tables_up_to(3, of=NAMES[1:])


@pytest.fixture(scope="module")
def census() -> dk.Microdata:
    persons = dk.datasets.census(4_000, seed=2).persons
    return dk.Microdata(
        persons.select([*NAMES, "household_size", "household"]), household="household"
    )


@pytest.fixture(scope="module")
def safe(census) -> dk.Microdata:
    return census.safe(TABLES, columns=["district"], seed=1, sweeps=60)


def rows(table: pa.Table) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(table.column(name).to_pylist() for name in NAMES), strict=True))


def test_every_combination_that_is_there_is_there_three_times(census, safe):
    """Lecture, goals of SAFE; slides, "only triplets"."""
    assert min(rows(census.table).values()) == 1
    assert min(rows(safe.table).values()) == 3


def test_the_solution_is_one_step_and_all_analyses_agree(safe):
    """Slides: "Solution in one step", "based on the same source and are consistent"."""
    fine = rows(safe.table)
    for keep in ([1], [2, 3], [1, 4]):
        coarse = Counter()
        for row, n in fine.items():
            coarse[tuple(row[v] for v in keep)] += n
        names = [NAMES[v] for v in keep]
        counted = Counter(zip(*(safe.table.column(n).to_pylist() for n in names), strict=True))
        assert coarse == counted


def test_the_largest_deviation_is_known_and_relative_ones_fall_with_the_size_of_cells(safe):
    """Slides, interpretation of results 2 and 3."""
    found = safe.deviations().controlled
    step = safe.history[-1].found["deviations"]["all"]
    assert found.overall.largest == step["largest"]
    relative = found.by_size.relative
    assert len(relative) >= 3
    assert (np.diff(relative) < 0).all()


def test_certain_conclusions_about_groups_become_uncertain(census, safe):
    """Slides, interpretation 4 and 5: what looks like a group of one kind need not be one."""
    seen = alone = 0
    before = group(census.table)
    for town, statuses in group(safe.table).items():
        if len(statuses) == 1:
            seen += 1
            alone += before[town] == statuses
    assert seen > alone


def group(table: pa.Table) -> dict[tuple[str, str], set[str]]:
    found: dict[tuple[str, str], set[str]] = {}
    for row in rows(table):
        found.setdefault((row[1], row[2]), set()).add(row[4])
    return found


def test_the_four_steps_raise_the_error_when_they_stagnate():
    """Lecture: sort and merge, admit an error, go through the file, raise it on stagnation."""
    codes = np.array([[a, b] for a in range(6) for b in range(6)], dtype=np.int32)
    count = np.tile([1, 1, 2, 1, 5, 1], 6)
    tables = tuple(ControlTable(columns) for columns in ((), (0,), (1,)))
    problem = SafeProblem(("region", "age"), codes, count, (6, 6), tables)
    trace = hoehne(problem, seed=1, error=0).trace
    assert len(trace) > 1  # no error at all admits nothing
    assert [largest for _, largest, _ in trace] == sorted(largest for _, largest, _ in trace)


def test_swapping_keeps_every_distribution_but_not_those_with_the_region(census):
    """Lecture, properties of swapping."""
    made = census.swap_records(
        ["district", "municipality"],
        seed=1,
        risk_variables=["age_group", "sex"],
        similar=[["household_size"]],  # so that areas keep their persons, not only households
    )
    for name in NAMES:
        before, after = (Counter(md.table.column(name).to_pylist()) for md in (census, made))
        assert before == after
    assert rows(made.table) != rows(census.table)
    without = [name for name in NAMES if name not in ("district", "municipality")]
    pairs = [
        Counter(zip(*(md.table.column(name).to_pylist() for name in without), strict=True))
        for md in (census, made)
    ]
    assert pairs[0] == pairs[1]
