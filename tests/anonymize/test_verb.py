"""Methods of microdata are functions of other modules, imported when they are first used."""

import re
import subprocess
import sys

import pyarrow as pa
import pytest

import diskret as dk
from diskret import Microdata
from diskret.anonymize.recode import drop
from diskret.anonymize.verb import METHODS

LATER = """
import sys
from diskret import Microdata
name = "diskret.anonymize.pram"
assert name not in sys.modules
assert Microdata.pram.__module__ == name and name in sys.modules
"""


def test_a_method_is_the_function_of_its_module():
    assert Microdata.drop is drop


def test_modules_are_imported_when_they_are_first_used():
    subprocess.run([sys.executable, "-c", LATER], check=True)


#: Their arguments are records, files and steps, which are not judged by type, range or choice.
FREE = {"replay", "save_job", "deviations"}


def test_every_method_declares_its_parameters():
    undeclared = {name for name in METHODS if not hasattr(getattr(Microdata, name), "__wrapped__")}
    assert undeclared == FREE


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("risk", {"alpha": 2}, "alpha= must be a number from 0 to 1, not 2"),
        ("risk", {"compat": "argus"}, "compat= must be 'lecture' or 'sdcmicro', not 'argus'"),
        ("risk", {"keys": [1]}, "keys= must be one or several names of columns, not"),
        ("suda", {"max_size": 0}, "max_size= must be a whole number from 1 upwards, not 0"),
        ("suda", {"dis_fraction": 5}, "a number above 0 and at most 1, such as 0.05 for 5 %"),
        ("anonymity", {"l": 0}, "l= must be a whole number from 1 upwards, not 0"),
        ("population_uniques", {"fraction": 0}, "fraction= must be a number above 0"),
        ("numeric_risk", {"k": (0.05,)}, "k= must be 2 values, each a number from 0 upwards"),
        ("numeric_risk", {"sample": 10**6}, "sample= must be a whole number from 1 to 10000"),
        ("risky_combinations", {"size": 0}, "size= must be a whole number from 1 upwards"),
        ("risky_combinations", {"weighted": 1}, "weighted= must be True or False, not 1"),
        ("recode_candidates", {"k": 1}, "k= must be a whole number from 2 upwards"),
        ("explore", {"choices": {}, "risk": {"a": 1}}, "risk= must be a function, not 1 for 'a'"),
        ("checklist", {"level": "none"}, "level= must be 'formal', 'factual' or 'absolute'"),
        ("release", {"weight": "w"}, "weight= must be True or False, not 'w'"),
        ("transitions", {"variable": "job", "stay": 2}, "stay= must be a number from 0 to 1"),
        ("generalise", {"hierarchies": {}, "diversity": 0}, "diversity= must be a whole number"),
        ("recode", {"variable": "job", "width": 0}, "width= must be a number above 0, not 0"),
        ("microaggregate", {"gamma": -1}, "gamma= must be a number from 0 upwards, not -1"),
    ],
)
def test_what_is_not_admissible_is_told_before_anything_is_done(method, arguments, message):
    md = Microdata(pa.table({"job": ["a", "b"], "income": [1, 2]}), keys=["job"])
    with pytest.raises(dk.DiskretError, match=re.escape(message)):
        getattr(md, method)(**arguments)


def test_names_of_columns_may_come_one_by_one():
    records = pa.table({"job": ["a", "b"], "sex": ["f", "m"]})
    md = Microdata(records, keys=iter(["job", "sex"]), followers={"job": iter(["sex"])})
    assert md.roles.keys == ("job", "sex") and md.roles.followers == {"job": ("sex",)}
    assert md.risk(keys=iter(["job"])).keys == md.risk(keys="job").keys == ("job",)


def test_a_stream_of_records_is_no_list():
    people = pa.table({"job": ["a", "b", "b"]})
    md = Microdata(pa.table({"job": ["a", "b"]}), keys=["job"])
    assert md.risk(population=people.to_reader()).risk.tolist() == [1, 0.5]
