"""Job files that have values changed: what they may say, and what is made of it."""

import re
from pathlib import Path

import pytest

from diskret.errors import JobError
from diskret.workflow.job import read_job
from diskret.workflow.job_template import template

HEAD = """
[records]
path = "persons.csv"
[[tables]]
by = { region = "flat" }
"""
CELL_KEY = 'method = "cell_key"\nrecord_key = "key"\n'
DESIGN = "max_noise = 5\nvariance = 3\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "persons.csv").write_text("region,key\nN,1\n", encoding="utf-8")
    return tmp_path


def read(folder: Path, noise: str, table: str = ""):
    path = folder / "job.toml"
    path.write_text(f"{HEAD}{table}\n[tables.noise]\n{noise}", encoding="utf-8")
    return read_job(path).tables[0].noise


def test_a_designed_table(folder: Path):
    found = read(folder, f"{CELL_KEY}{DESIGN}small_counts = 2\nthreshold = 3\n")
    assert found is not None
    assert (found.record_key, found.key_modulus) == ("key", 2**32)
    assert found.design["max_noise"] == 5 and found.design["small_counts"] == 2
    assert found.options == {"threshold": 3}


@pytest.mark.parametrize("method", ["deterministic", "random", "controlled", "small_counts"])
def test_rounding_has_a_base(folder: Path, method: str):
    found = read(folder, f'method = "{method}"\nbase = 5\n')
    assert found is not None
    assert found.options == {"base": 5}


@pytest.mark.parametrize(
    ("noise", "table", "said"),
    [
        ("base = 5\n", "", "needs a 'method'"),
        ('method = "cell-key"\n', "", "did you mean 'cell_key'"),
        ('method = "random"\nsteps = 1\n', "", "unknown key 'steps'"),
        ('method = "random"\nbase = 0\n', "", "'base'"),
        ('method = "cell_key"\n', "", "either 'record_key'"),
        (f'{CELL_KEY}key_of = "id"\n', "", "either 'record_key'"),
        (CELL_KEY, "", "'max_noise' is missing"),
        (f"{CELL_KEY}max_noise = 5\n", "", "'variance' is missing"),
        (f'{CELL_KEY}table = "no.csv"\n', "", "does not exist"),
        (f'{CELL_KEY}table = "persons.csv"\nvariance = 1\n', "", "'variance' is that of the"),
        (f"{CELL_KEY}{DESIGN}", 'value = "v"', "it is missing"),
        (f"{CELL_KEY}{DESIGN}[tables.noise.magnitude]\n", "", "no 'value'"),
        (f"{CELL_KEY}{DESIGN}[tables.noise.magnitude]\nshares = [0]\n", 'value = "v"', "'shares'"),
        (f'{CELL_KEY}{DESIGN}layout = "abs"\n', "", "'layout' is about a 'table'"),
        (f'{CELL_KEY}table = "persons.csv"\nreuse = 2\n', "", "'reuse' is for the layouts"),
        (f'{CELL_KEY}{DESIGN}structural_zeros = "no.csv"\n', "", "does not exist"),
        ('method = "invariant"\nrecord_key = "key"\n', "", "'largest'"),
        ('method = "invariant"\nrecord_key = "key"\nlargest = 9\n', 'value = "v"', "for counts"),
        ('method = "adjustment"\n', "", r"\[tables.rules\] is missing"),
        ('method = "random"\n', 'cost = "cells"', "'cost' is for suppression"),
    ],
)
def test_what_makes_no_sense_has_a_line(folder: Path, noise: str, table: str, said: str):
    with pytest.raises(JobError, match=f"line [0-9]+: .*{said}"):
        read(folder, noise, table)


def test_every_example_of_the_template_is_admissible(folder: Path):
    lines = [line[2:] for line in template().splitlines() if line.startswith("##")]
    blocks = re.split(r"^\[tables\.noise\].*\n", "\n".join(lines) + "\n", flags=re.MULTILINE)[1:]
    assert len(blocks) == 4
    cell_key, controlled, invariant, adjustment = blocks

    def without(*keys: str) -> str:
        return "\n".join(line for line in cell_key.splitlines() if not line.startswith(keys))

    counts, sums = without("key_of").split("[tables.noise.magnitude]")
    assert read(folder, counts).options == {"threshold": 3}
    of_sums = without("key_of", "small_counts", "stay", "threshold", "additive")
    assert sums and read(folder, of_sums, 'value = "turnover"').magnitude["shares"] == (1.0, 0.5)
    assert read(folder, invariant).options["largest"] == 20
    assert read(folder, controlled).options == {"base": 5, "steps": 0}
    rules = "rules = { minimum_frequency = { n = 3 } }"
    assert read(folder, adjustment, rules).options == {"largest_change": 20}
