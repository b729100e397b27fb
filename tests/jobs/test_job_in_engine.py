"""A job file that has counts perturbed where the records lie, and written block by block."""

import re

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

import diskret as dk
from diskret.cli.main import app
from diskret.errors import InputError, JobError
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job

KEYS = dk.SecretKeys(bytes(range(32)))
NOISE = {"method": '"cell_key"', "in_engine": "true", "record_key": '"key"'}
DESIGN = {"max_noise": "3", "variance": "1"}
OUTPUT = {"formats": '["parquet"]'}
random = np.random.default_rng(8)
RECORDS = pa.table(
    {
        "region": random.choice(["N", "S", "W"], 300),
        "year": random.choice([2024, 2025], 300),
        "key": random.integers(0, 2**32, 300),
        "person": np.arange(300),
    }
)


def job(folder, *, table=None, noise=NOISE | DESIGN, output=OUTPUT, top="", end=""):
    """A job file from the lines of its sections."""
    parquet.write_table(RECORDS, folder / "persons.parquet")
    table = {"name": '"persons"', "by": '{ region = "flat" }'} | (table or {})
    parts = {"[records]": {"path": '"persons.parquet"'}, "[[tables]]": table}
    parts |= {"[tables.noise]": noise, "[output]": output}
    lines = [top]
    for head, values in parts.items():
        lines += [head, *(f"{key} = {value}" for key, value in values.items())]
    path = folder / "job.toml"
    path.write_text("\n".join([*lines, end]), encoding="utf-8")
    return path


def test_the_release_is_that_of_the_job_with_true_counts_in_memory(tmp_path):
    table = {"where": "{ year = ['2025'] }"}
    noise = NOISE | DESIGN | {"threshold": "60"}
    written, results = run_job(job(tmp_path, table=table, noise=noise), keys=KEYS)
    assert results == [] and dk.verify(written, keys=KEYS).sealed
    streamed = dk.Published.read(written)
    del noise["in_engine"]
    run_job(job(tmp_path, table=table, noise=noise), folder=tmp_path / "held", keys=KEYS)
    held = dk.Published.read(tmp_path / "held", "persons")
    for one, other in ((streamed, held),):
        assert np.array_equal(one.value, other.value)
        assert np.array_equal(one.suppressed, other.suppressed)
        assert one.where == other.where and one.suppressed.any()


def test_units_are_counted(tmp_path):
    written, _ = run_job(job(tmp_path, table={"unit": '"person"'}), keys=KEYS)
    assert dk.Published.read(written).measure == "units"


def test_the_terminal_says_where_it_is_and_how_to_check_it(tmp_path):
    path = job(tmp_path)
    found = CliRunner().invoke(app, ["protect", str(path), "--language", "de"])
    assert found.exit_code == 0, found.output
    assert "persons.parquet" in found.output
    checked = CliRunner().invoke(app, ["verify", str(tmp_path / "out"), "--language", "de"])
    assert checked.exit_code == 0, checked.output
    assert "4 Felder blockweise gelesen" in re.sub(r"\s+", " ", checked.output)


REFUSED = {
    "true counts": ({"noise": NOISE | DESIGN | {"additive": '"ipf"'}}, "'additive' needs true"),
    "sums": ({"table": {"value": '"key"'}}, "'value' is not for counts"),
    "rules": ({"table": {"rules": "{ minimum_frequency = { n = 3 } }"}}, "'rules' is not for"),
    "derived keys": (
        {"noise": {"method": '"cell_key"', "in_engine": "true", "key_of": '"person"'} | DESIGN},
        "'key_of' needs true",
    ),
    "named total": (
        {"table": {"by": '{ region = { flat = true, total = "All" } }'}},
        "the total of 'region'",
    ),
    "formats left out": ({"output": {}}, "is written as Parquet"),
    "formats": ({"output": {"formats": '["csv", "parquet"]'}}, "is written as Parquet"),
    "a ledger": ({"output": OUTPUT | {"ledger": '"l.db"'}}, "'ledger' needs a table in memory"),
    "another table": (
        {"end": '[[tables]]\nby = { year = "flat" }\nrules = { minimum_frequency = { n = 3 } }'},
        "a release of its own",
    ),
    "an attacker": ({"end": "[attacker]\nzeros_known = true"}, "'attacker' needs a table"),
}


@pytest.mark.parametrize(("changes", "said"), REFUSED.values(), ids=REFUSED)
def test_what_needs_a_table_in_memory_is_refused_with_its_line(tmp_path, changes, said):
    with pytest.raises(JobError, match=rf"job\.toml, line \d+: .*{re.escape(said)}"):
        read_job(job(tmp_path, **changes))


def test_records_that_cannot_be_used_are_told_with_the_table(tmp_path):
    path = job(tmp_path)
    odd = RECORDS.set_column(2, "key", pa.array([-1, *range(299)]))
    parquet.write_table(odd, tmp_path / "persons.parquet")
    with pytest.raises(InputError, match=r"job\.toml, table 'persons': .*'key'"):
        run_job(path, keys=KEYS)
    assert not (tmp_path / "out").exists()
