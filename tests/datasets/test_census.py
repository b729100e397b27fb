"""The made-up census is consistent, of the shape of a real one, and the same each time."""

from functools import cache

import numpy as np
import pyarrow as pa
import pytest

from diskret import Microdata
from diskret.datasets import Census, census
from diskret.datasets.census_codes import NOT_ASKED
from diskret.errors import InputError

#: Seed: tests of SAFE with the census of 1987, persons (tables, cells, cells by size in %).
CELLS_A_PERSON = 10_219_270 / 63_202_834
SIZES = (37.1, 31.8, 19.8, 8.7, 2.3, 0.4)
#: Cells of tables with 1, 2, 3 and 4 or 5 variables, in %.
DIMENSIONS = (0.1, 3.4, 35.3, 61.2)
OF_THE_EMPLOYED = ("employment", "occupation", "industry", "hours", "commuting", "transport")


@cache
def made(n: int = 30_000, seed: int = 1) -> Census:
    return census(n, seed)


def codes(table: pa.Table, name: str) -> np.ndarray:
    return table[name].combine_chunks().indices.to_numpy()


def names(table: pa.Table, name: str) -> list[str]:
    return table[name].combine_chunks().dictionary.to_pylist()


def texts(name: str, found: Census | None = None) -> np.ndarray:
    table = (found or made()).persons
    return np.array(names(table, name))[codes(table, name)]


def cells(table: pa.Table, columns: tuple[str, ...]) -> np.ndarray:
    """Counts of the non-empty cells."""
    key = np.zeros(table.num_rows, dtype=np.int64)
    for name in columns:
        key = key * len(names(table, name)) + codes(table, name)
    return np.unique(key, return_counts=True)[1]


@pytest.mark.parametrize("n", [1, 2, 5, 40, 777])
def test_any_number_of_persons(n):
    found = made(n)
    assert found.persons.num_rows == n
    assert len(found.tables) == len(set(found.tables)) == 430
    assert sum(len(set(tables)) for tables in found.dwelling_tables.values()) == 119
    for table in (found.persons, found.dwellings):
        assert all(table[name].null_count == 0 for name in table.column_names)
        table.validate(full=True)


def test_same_seed_same_census():
    one, again, other = census(2_000, 3), census(2_000, 3), census(2_000, 4)
    assert one.persons == again.persons and one.dwellings == again.dwellings
    assert one.tables == again.tables and one.dwelling_tables == again.dwelling_tables
    assert one.persons != other.persons and one.tables != other.tables


@pytest.mark.parametrize("arguments", [{"n": 0}, {"seed": -1}])
def test_impossible_arguments_are_refused(arguments):
    with pytest.raises(InputError):
        census(**arguments)


def test_21_variables_28_with_coarser_levels():
    persons, levels = made().persons, made().levels
    columns = set(persons.column_names) - {"household", "dwelling"}
    coarser = {level for above in levels.values() for level in above}
    assert len(columns) == 28 and len(columns - coarser) == 21
    columns = set(made().dwellings.column_names)
    columns -= {"dwelling_id", "building_id", "dwelling", "building"}
    assert len(columns) == 15 and len(columns - coarser) == 7


def test_who_is_not_asked_has_no_answer():
    activity, age = texts("activity"), texts("age").astype(int)
    employed = activity == "employed"
    assert 0.3 < employed.mean() < 0.6
    for name in OF_THE_EMPLOYED:
        answered = ~np.isin(texts(name), [NOT_ASKED, "00"])
        assert (answered == employed).all(), name
    assert not employed[age < 15].any() and not employed[activity == "pensioner"].any()
    assert (texts("second_job")[~employed] == "no").all()
    assert (texts("second_job")[employed] == "yes").any()
    assert ((texts("school") == NOT_ASKED) == (age < 15)).all()
    assert ((activity == "child") == (age < 15)).all()
    assert (texts("marital")[age < 18] == "single").all()


def test_households_are_whole():
    household = made().persons["household"].to_numpy()
    begin = np.flatnonzero(np.diff(household, prepend=0))
    assert (np.unique(household) == np.arange(1, household[-1] + 1)).all()
    for name in ("municipality", "household_type", "household_size"):
        values = codes(made().persons, name)
        assert (np.minimum.reduceat(values, begin) == np.maximum.reduceat(values, begin)).all()
    size = np.bincount(household)[household]
    assert (codes(made().persons, "household_size") == np.minimum(size, 7) - 1).all()
    age = texts("age").astype(int)
    assert (np.maximum.reduceat(age, begin) >= 18).all()
    assert (texts("reference") == "reference person").sum() == len(begin)
    oldest = np.maximum.reduceat(age, begin)[household - 1]
    assert (oldest[age < 15] - age[age < 15] >= 15).all()


def test_coarser_levels_follow_from_finer_ones():
    found = made()
    for name, above in found.levels.items():
        for table in (found.persons, found.dwellings):
            finer = name
            for level in above if name in table.column_names else ():
                pairs = set(zip(codes(table, finer), codes(table, level), strict=True))
                assert len(pairs) == len({code for code, _ in pairs}), (finer, level)
                assert len({code for _, code in pairs}) < len(pairs)
                finer = level


def test_codes_are_leaves_of_their_trees():
    found = made()
    assert set(found.hierarchies) == set(found.levels)
    for name, tree in found.hierarchies.items():
        leaves = {tree.codes[i] for i in tree.leaves}
        for table in (found.persons, found.dwellings):
            if name in table.column_names:
                assert set(table[name].unique().to_pylist()) <= leaves
                for level in found.levels[name]:
                    assert set(table[level].unique().to_pylist()) <= set(tree.codes)


def test_few_municipalities_are_large():
    size = np.sort(np.bincount(codes(made().persons, "municipality")))[::-1]
    assert size[0] > 0.2 * size.sum()
    assert size[len(size) // 2 :].sum() < 0.25 * size.sum()


def test_dwellings_of_persons_and_vacant_ones():
    found = made()
    dwellings = found.dwellings
    number = dwellings.num_rows
    assert (dwellings["dwelling_id"].to_numpy() == np.arange(1, number + 1)).all()
    lived_in = np.bincount(found.persons["dwelling"].to_numpy(), minlength=number + 1)[1:] > 0
    vacant = np.array(names(dwellings, "tenure"))[codes(dwellings, "tenure")] == "vacant"
    assert (vacant == ~lived_in).all() and vacant.any()
    at = found.persons["dwelling"].to_numpy() - 1
    assert (codes(dwellings, "municipality")[at] == codes(found.persons, "municipality")).all()
    shared = len(np.unique(found.persons["household"])) - lived_in.sum()
    assert 0 < shared < 0.02 * number


def test_each_building_is_counted_once():
    dwellings = made().dwellings
    building, counted = dwellings["building_id"].to_numpy(), dwellings["building"].to_numpy()
    assert (dwellings["dwelling"].to_numpy() == 1).all()
    assert (np.bincount(building, weights=counted)[1:] == 1).all()
    begin = np.flatnonzero(np.diff(building, prepend=0))
    for name in ("municipality", "year", "building_size", "heating"):
        values = codes(dwellings, name)
        assert (np.minimum.reduceat(values, begin) == np.maximum.reduceat(values, begin)).all()
    of = np.bincount(building)[building]
    size = np.array(names(dwellings, "building_size"))[codes(dwellings, "building_size")]
    assert (of[size == "2 dwellings"] == 2).all() and (
        of[size == "21 dwellings or more"] > 20
    ).all()


def test_tables_have_one_level_of_a_variable():
    found = made()
    family = {level: name for name, above in found.levels.items() for level in above}
    for tables in (found.tables, *found.dwelling_tables.values()):
        for table in tables:
            assert len({family.get(name, name) for name in table}) == len(table) <= 5
    alone = {table[0] for table in found.tables if len(table) == 1}
    assert alone == set(found.persons.column_names) - {"household", "dwelling"}


@pytest.mark.parametrize("seed", [1, 2])
def test_a_small_census_has_a_few_more_cells_than_its_share(seed):
    found = made(30_000, seed)
    number = sum(len(cells(found.persons, table)) for table in found.tables)
    assert 0.75 < number / (30_000 * CELLS_A_PERSON) < 1.25


@pytest.mark.slow
@pytest.mark.parametrize("n", [300_000, 1_000_000])
def test_cells_are_as_many_and_as_large_as_in_1987(n):
    found = made(n)
    by_size, by_dimension = np.zeros(8), np.zeros(4)
    for table in found.tables:
        count = cells(found.persons, table)
        by_size += np.bincount(np.log10(count).astype(int), minlength=8)
        by_dimension[min(len(table), 4) - 1] += len(count)
    assert by_size.sum() == pytest.approx(n * CELLS_A_PERSON, rel=0.1)
    assert 100 * by_size[:6] / by_size.sum() == pytest.approx(SIZES, abs=4)
    assert 100 * by_dimension / by_dimension.sum() == pytest.approx(DIMENSIONS, abs=4)


def test_most_persons_are_alone_with_all_their_answers():
    table = made().persons
    columns = [name for name in table.column_names if name not in ("household", "dwelling")]
    md = Microdata(table, keys=columns, household="household")
    assert 0.6 < len(md.keys().classes.count) / md.n < 0.95
