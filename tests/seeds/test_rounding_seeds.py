"""The rounded tables that the lecture (Heinzl) and Rothe (2015) print."""

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk

SCHOOL = ["without", "at school", "basic", "middle", "college", "university"]
RELIGION = ["catholic", "protestant", "orthodox", "jewish", "other"]
COUNTS = [
    [13, 10, 2, 0, 22],
    [8, 8, 0, 0, 7],
    [136, 128, 3, 0, 89],
    [76, 90, 3, 0, 12],
    [24, 24, 1, 0, 30],
    [58, 60, 4, 4, 82],
]
# rows as printed: five religions, then the total
PRINTED_BASE_10 = [
    [10, 10, 0, 0, 20, 50],
    [10, 10, 0, 0, 10, 20],
    [140, 130, 0, 0, 90, 360],
    [80, 90, 0, 0, 10, 180],
    [20, 20, 0, 0, 30, 80],
    [60, 60, 0, 0, 80, 210],
    [320, 320, 10, 0, 240, 890],
]
# Rothe, tables 1 and 2: age by sex (women, men, all), the total last
ROTHE = [[3, 3, 6], [8, 9, 17], [12, 9, 21], [4, 1, 5], [27, 22, 49]]
ROTHE_BASE_3 = [[3, 3, 6], [9, 9, 18], [12, 9, 21], [3, 0, 6], [27, 21, 48]]


def table_of(rows, columns, counts):
    cells = [(r, c, counts[i][j]) for i, r in enumerate(rows) for j, c in enumerate(columns)]
    row, column, n = zip(*cells, strict=True)
    frame = pa.table({"row": row, "column": column, "n": n})
    return dk.Table.from_cells(frame, by={"row": None, "column": None}, count="n")


def printed(result, rows, columns):
    """Published values in the order of the printed table, totals last."""
    cells = {(c["row"], c["column"]): c["count"] for c in result.public.to_pylist()}
    return [[cells[r, c] for c in [*columns, "Total"]] for r in [*rows, "Total"]]


@pytest.fixture
def lecture():
    return table_of(SCHOOL, RELIGION, COUNTS)


def test_lecture_base_10(lecture):
    result = dk.round_table(lecture, base=10, method="deterministic")
    assert printed(result, SCHOOL, RELIGION) == PRINTED_BASE_10


def test_rothe_base_3():
    ages, sexes = ["0-13", "14-49", "50-75", "75+"], ["women", "men"]
    table = table_of(ages, sexes, [row[:2] for row in ROTHE[:4]])
    result = dk.round_table(table, base=3, method="deterministic")
    assert printed(result, ages, sexes) == ROTHE_BASE_3


def test_random_rounding_of_the_lecture_is_admissible(lecture):
    result = dk.round_table(lecture, base=10, method="random", keys=dk.SecretKeys(bytes(range(32))))
    noise = result.noise[lecture.count % 10 != 0]
    assert np.all(result.published.value % 10 == 0)
    assert np.all(np.abs(noise) < 10)
    assert np.all(result.noise[lecture.count % 10 == 0] == 0)
    assert np.any(noise > 5) or np.any(noise < -5)  # not simply the nearest multiple


@pytest.mark.parametrize(("base", "distance"), [(3, 28), (5, 50), (10, 100)])
def test_controlled_rounding_of_the_lecture_adds_up(lecture, base, distance):
    keys = dk.SecretKeys(bytes(range(32)))
    result = dk.round_table(lecture, base=base, method="controlled", keys=keys)
    value = result.published.value
    assert (result.settings["steps"], result.settings["gap"]) == (0, 0)
    assert np.array_equal(value[0], value[1:].sum(axis=0))
    assert np.array_equal(value[:, 0], value[:, 1:].sum(axis=1))
    assert np.abs(result.noise).sum() == result.settings["distance"] == distance
