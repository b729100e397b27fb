"""The made-up survey has households, rare persons and consistent answers."""

import numpy as np
import pyarrow.compute as pc
import pytest

from diskret import Microdata
from diskret.datasets import survey
from diskret.errors import InputError

PERSONS = survey()
RECORDS = PERSONS.records


def column(name: str) -> np.ndarray:
    return RECORDS[name].to_numpy(zero_copy_only=False)


@pytest.mark.parametrize("n", [1, 2, 3, 777])
def test_as_many_persons_as_asked_for(n):
    records = survey(n).records
    assert records.num_rows == n
    assert pc.count_distinct(records["person"]).as_py() == n
    assert pc.count_distinct(records["insurance"]).as_py() == n
    assert all(records[name].null_count == 0 for name in records.column_names)


def test_same_seed_same_survey():
    assert survey(300, seed=3).records == survey(300, seed=3).records
    assert survey(300, seed=3).records != survey(300, seed=4).records


@pytest.mark.parametrize("arguments", [{"n": 0}, {"seed": -1}])
def test_impossible_arguments_are_refused(arguments):
    with pytest.raises(InputError):
        survey(**arguments)


def test_codes_are_leaves_of_their_trees():
    for name, tree in (("region", PERSONS.region), ("occupation", PERSONS.occupation)):
        assert set(RECORDS[name].unique().to_pylist()) <= {tree.codes[i] for i in tree.leaves}


def test_answers_are_consistent():
    age, income, occupation = column("age"), column("income"), column("occupation")
    assert age.min() >= 0 and age.max() <= 99
    assert (income[age < 16] == 0).all() and (occupation[age < 16] == "00").all()
    assert (column("marital")[age < 18] == "single").all()
    youngest_adult = [age[column("household") == h].max() for h in (1, 2, 3, 50)]
    assert min(youngest_adult) >= 18


def test_some_persons_stand_alone():
    md = Microdata(RECORDS, keys=["region", "age", "sex", "occupation"])
    alone = (md.keys().classes.count == 1).sum()
    assert 0.2 * md.n < alone < 0.8 * md.n
