"""What is wrong is said with the line of the job file, and what to do as a job file writes it."""

import re

import pytest
from typer.testing import CliRunner

from diskret.cli.main import app
from diskret.errors import InputError
from diskret.jobs.run import run_job
from diskret.jobs.spelling import in_a_job
from diskret.texts.messages import catalogue

JOB = """[records]
path = "firms.csv"

[[tables]]
by = { region = "flat" }
value = "sales"
unit = "firm"
where = { year = "2025" }
rules.p_percent = { p = 10 }

[output]
folder = "out"
"""


@pytest.fixture
def job(tmp_path):
    (tmp_path / "firms.csv").write_text("region,sales,firm,year\nN,1.5,a,2025\nS,2,b,2025\n")
    return tmp_path / "job.toml"


@pytest.mark.parametrize(
    ("column", "line"), [("region", 5), ("sales", 6), ("firm", 7), ("year", 8)]
)
def test_a_column_that_is_missing_is_told_with_its_line(job, column, line):
    job.write_text(re.sub(rf'(?<=[ "]){column}(?=[ "])', f"{column}s", JOB))
    said = rf"job.toml, line {line}, table '.*': .*firms.csv: there is no column '{column}s'.*mean"
    with pytest.raises(InputError, match=f"{said} '{column}'"):
        run_job(job)


@pytest.mark.parametrize(("language", "say"), [("en", "state"), ("de", "angeben")])
def test_remedies_are_spelled_as_in_a_job(job, language, say):
    job.write_text(JOB)
    done = CliRunner().invoke(app, ["protect", str(job), "--language", language])
    assert done.exit_code == 1
    assert "decimals = 1" in done.output and say in done.output


def test_in_python_they_are_spelled_as_in_python(job):
    job.write_text(JOB)
    with pytest.raises(InputError, match="state decimals=1, or round"):
        run_job(job)


def test_cells_are_no_options():
    assert in_a_job("e.g. value=3, size=10-49, weight=T; name=") == (
        "e.g. value=3, size=10-49, weight=T; 'name'"
    )


def test_options_that_a_job_does_not_have_stay_in_python():
    assert in_a_job("give cell_keys=, or contributions=True") == (
        "give cell_keys=, or contributions=True"
    )


def test_no_message_names_an_option_of_a_job_otherwise():
    """But where the value that was wrong stands behind it."""
    for said in (text for pair in catalogue().items() for text in pair):
        left = re.findall(
            r"\b(?:value|weight|method|time_limit|decimal)=(?=[ ,;'\"])", in_a_job(said)
        )
        assert not left, said
