"""Lists of tables: written out, by a formula, with levels and margins."""

from itertools import chain, combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.errors import InputError
from diskret.tables.lists import table_list

NAMES = ["district", "state", "age", "sex", "job"]


@pytest.mark.parametrize("dimension", range(7))
def test_a_formula_has_every_set_of_variables_once(dimension):
    made = dk.tables_up_to(dimension, of=NAMES)
    assert len(made) == sum(comb(5, size) for size in range(dimension + 1))
    assert len({frozenset(table) for table in made}) == len(made)
    assert max(map(len, made)) == min(dimension, 5)


def test_variables_that_every_table_has_do_not_count_as_dimensions():
    made = dk.tables_up_to(1, of=["age", "sex"], always=["district"])
    assert made == [("district",), ("district", "age"), ("district", "sex")]


def test_lists_are_joined_by_plus_and_mean_the_same_in_a_job_file():
    joined = [*dk.tables_up_to(2, of=["age", "sex"]), ("state", "job")]
    written = [{"up_to": 2, "of": ["age", "sex"]}, ["job", "state"]]
    sets = [{frozenset(table) for table in table_list(one, NAMES)} for one in (joined, written)]
    assert sets[0] == sets[1]
    assert len(sets[0]) == 5


tables = st.lists(st.lists(st.sampled_from(NAMES), unique=True, max_size=4), max_size=4)


@given(tables)
def test_margins_are_all_tables_by_fewer_variables(listed):
    made = table_list(listed, NAMES, margins=True)
    wanted = {
        frozenset(part)
        for table in listed
        for part in chain.from_iterable(combinations(table, size) for size in range(len(table) + 1))
    }
    assert {frozenset(table) for table in made} == wanted
    assert len(made) == len(wanted)


def test_a_table_is_controlled_at_each_level_of_its_variables():
    made = table_list([("district", "age")], NAMES, levels={"district": ["state"], "age": ["job"]})
    assert [set(table) for table in made] == [
        {"district", "age"},
        {"district", "job"},
        {"state", "age"},
        {"state", "job"},
    ]


def test_two_levels_of_one_variable_in_a_table_are_one_table_with_the_finer():
    made = table_list([("district", "state")], NAMES, levels={"district": ["state"]})
    assert [set(table) for table in made] == [{"district", "state"}, {"state"}]


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ([("age", "town")], "'town', which the records do not have"),
        ([("age", "age")], "'age' twice"),
        ([(1, 2)], "names of variables, not 1"),
        ([{"up_to": 2, "off": ["age"]}], "cannot be read"),
        ([{"up_to": -1, "of": ["age"]}], "whole number from 0"),
        ([{"up_to": 1, "of": ["age"], "always": ["age"]}], "'age' twice"),
    ],
)
def test_what_is_no_table_is_refused(listed, message):
    with pytest.raises(InputError, match=message):
        table_list(listed, NAMES)
