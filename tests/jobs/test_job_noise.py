"""Job files that have values changed: what they may say, and what is made of it."""

import re
from pathlib import Path

import numpy as np
import pytest

import diskret as dk
from diskret.errors import JobError
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job
from diskret.jobs.template import template

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


def test_each_count_may_have_its_own_stay_and_rule(folder: Path):
    lists = (
        "small_counts = 0\nstay = [0, 0.1, 0.2, 0.3, 0.4]\n"
        "monotone = [true, true, false, true, true]\n"
        'variance_rule = ["at_most", "at_most", "at_most", "exact", "exact"]\n'
    )
    found = read(folder, f"{CELL_KEY}{DESIGN}{lists}")
    assert found is not None
    table = dk.PerturbationTable.maximum_entropy(**found.design)
    stays = table.probabilities[1:, 5]
    short = np.array([0, 0.1, 0.2, 0.3, 0.4]) - stays
    assert short.max() < 1e-12  # the last digit depends on the processor
    assert table.variances[4:].round(6).tolist() == [3, 3]
    assert table.variances[1] < 3


def test_keys_may_have_digits(folder: Path):
    found = read(folder, f"{CELL_KEY}{DESIGN}key_digits = 8\n")
    assert found is not None and found.key_digits == 8
    (folder / "persons.csv").write_text(
        "region,key\nN,0.12345678\nN,0.5\nS,0.99999999\n", encoding="utf-8"
    )
    read(folder, f"{CELL_KEY}{DESIGN}key_digits = 8\n")
    _, [result] = run_job(read_job(folder / "job.toml"), keys=dk.SecretKeys(bytes(range(32))))
    assert result.table.key_modulus == 10**8
    assert result.table.key_sum.tolist() == [62345677, 62345678, 99999999]


@pytest.mark.parametrize("method", ["deterministic", "random", "controlled", "small_counts"])
def test_rounding_has_a_base(folder: Path, method: str):
    found = read(folder, f'method = "{method}"\nbase = 5\n')
    assert found is not None
    assert found.options == {"base": 5}


def test_a_default_that_is_said_asks_for_the_same(folder: Path):
    said, silent = (read(folder, f'method = "controlled"\n{base}') for base in ("base = 3\n", ""))
    assert said is not None and silent is not None
    assert said.arguments == silent.arguments and said.options != silent.options


def test_a_single_share_needs_no_list(folder: Path):
    sums = "[tables.noise.magnitude]\nshares = 1\nscale = [0.3]\n"
    found = read(folder, f"{CELL_KEY}{DESIGN}{sums}", 'value = "v"')
    assert found is not None
    assert found.magnitude == {"shares": (1.0,), "scale": 0.3}


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
        (f"{CELL_KEY}{DESIGN}stay = [0.1]\n", "", "'stay' .* a list of 5"),
        (f"{CELL_KEY}{DESIGN}stay = [0, 0, 0, 0, 2]\n", "", "'stay' .* from 0 to below 1"),
        (f'{CELL_KEY}{DESIGN}variance_rule = ["exact", 1, 1, 1, 1]\n', "", "'variance_rule'"),
        (f"{CELL_KEY}{DESIGN}key_digits = 19\n", "", "'key_digits'"),
        (f"{CELL_KEY}{DESIGN}key_digits = 8\nkey_modulus = 9\n", "", "10\\^key_digits"),
        ('method = "cell_key"\nkey_of = "id"\nkey_digits = 8\n', "", "modulus of their own"),
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
        (
            'method = "adjustment"\ncost = "cells"\n',
            "rules = { minimum_frequency = { n = 3 } }",
            "'cost' must not be 'cells' in .*. Admissible: value, relative",
        ),
        ('method = "random"\n', 'cost = "cells"', "'cost' is for suppression"),
    ],
)
def test_what_makes_no_sense_has_a_line(folder: Path, noise: str, table: str, said: str):
    with pytest.raises(JobError, match=f"line [0-9]+: .*{said}"):
        read(folder, noise, table)


def test_every_example_of_the_template_is_admissible(folder: Path):
    lines = [line[2:] for line in template().splitlines() if line.startswith("##")]
    blocks = re.split(r"^\[tables\.noise\].*\n", "\n".join(lines) + "\n", flags=re.MULTILINE)[1:]
    assert len(blocks) == 5
    cell_key, in_engine, controlled, invariant, adjustment = blocks

    def without(*keys: str) -> str:
        return "\n".join(line for line in cell_key.splitlines() if not line.startswith(keys))

    counts, sums = without("key_of").split("[tables.noise.magnitude]")
    assert read(folder, counts).options == {"threshold": 3}
    of_sums = without("key_of", "small_counts", "stay", "threshold", "additive")
    assert sums and read(folder, of_sums, 'value = "turnover"').magnitude["shares"] == (1.0, 0.5)
    assert "in_engine = true" in in_engine
    path = folder / "job.toml"
    path.write_text(
        f'{HEAD}[tables.noise]\n{in_engine}\n[output]\nformats = ["parquet"]', encoding="utf-8"
    )
    assert read_job(path).tables[0].noise.in_engine
    assert read(folder, invariant).options["largest"] == 20
    assert read(folder, controlled).options == {"base": 5, "steps": 0}
    rules = "rules = { minimum_frequency = { n = 3 } }"
    assert read(folder, adjustment, rules).options == {"largest_change": 20}
