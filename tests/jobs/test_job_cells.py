"""Jobs about tables that exist already."""

import json

import pytest

import diskret as dk
from diskret.cli.command import Language
from diskret.cli.show import show_results
from diskret.errors import AdditivityError, InputError, JobError
from diskret.io import DataFile
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job
from diskret.jobs.values import CellsFile
from diskret.protect.result import Result
from diskret.rules import MinimumFrequency, PPercent, Shadow

KEYS = dk.SecretKeys(bytes(range(32)))
CELLS = """\
region,sales,staff,firms,x1,x2
Total,{total},300,13,80,30
N,700,100,3,80,15
S,90,90,5,30,30
W,200,110,5,30,30
"""
JOB = """\
[[tables]]
by = { region = "flat" }
value = "sales"
shadow = "staff"
[tables.cells]
file = "cells.csv"
count = "firms"
largest = ["x1", "x2"]
additivity = "totals"
[tables.rules]
p_percent = { p = 10 }
minimum_frequency = { n = 3 }
[output]
formats = ["csv"]
"""


def job(tmp_path, text=JOB, total=990):
    (tmp_path / "cells.csv").write_text(CELLS.format(total=total), encoding="utf-8")
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    return read_job(tmp_path / "job.toml")


def test_a_job_without_records_reads_a_file_of_cells(tmp_path):
    read = job(tmp_path, total=1000)
    assert read.records is None
    assert read.tables[0].cells == CellsFile(
        DataFile(tmp_path / "cells.csv"), count="firms", largest=("x1", "x2"), additivity="totals"
    )
    assert read.tables[0].rule == Shadow(PPercent(10), "staff") | MinimumFrequency(3)
    folder, [result] = run_job(read, keys=KEYS)
    assert isinstance(result, Result)
    assert result.sensitivity.upper.tolist() == [0, 21, 0, 0]
    assert result.public.to_pydict()["sales"] == [990, None, None, 200]
    internal = json.loads((folder / "internal" / "sales.certificate.json").read_text("utf-8"))
    assert internal["recomputed_totals"][1] == (
        "1 of 1 totals of 'sales' changed; the largest change: region=Total from 1,000 to 990"
    )


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "1 of 1 totals of sales in the file were not"),
        ("de", "1 von 1 Summen von sales in der Datei waren nicht"),
    ],
)
def test_the_terminal_says_how_many_totals_were_wrong(tmp_path, capsys, language, said):
    read = job(tmp_path, total=1000)
    folder, results = run_job(read, keys=KEYS)
    show_results(results, folder, Language(language))
    shown = " ".join(capsys.readouterr().out.split())
    assert said in shown
    assert "of firms in the file" not in shown


def test_totals_that_do_not_add_up_are_told_with_table_and_file(tmp_path):
    read = job(tmp_path, JOB.replace('additivity = "totals"\n', ""), total=1000)
    with pytest.raises(AdditivityError, match=r"table 'sales': cells\.csv: 1 of 1 equations"):
        run_job(read, keys=KEYS)


def test_a_table_of_counts(tmp_path):
    text = JOB.replace('value = "sales"\nshadow = "staff"\n', "").replace("largest", "#")
    _, [result] = run_job(job(tmp_path, text.replace("p_percent", "#")), keys=KEYS)
    assert result.name == "count"
    assert result.table.frequency


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("[tables.cells]\n", 'unit = "x"\n[tables.cells]\n', 5, "'unit' is for records"),
        ("largest =", "top =", 8, "unknown key 'top'"),
        ('value = "sales"\nshadow = "staff"\n', "", 6, "'largest' is for sums"),
        ("additivity", "rounding = 10\nadditivity", 10, "nothing is computed anew"),
        ('"totals"', '"repair"', 9, "must not be 'repair'"),
        ("cells.csv", "other.csv", 6, "does not exist"),
        ("[tables.cells]\n", "[tables.sells]\n", 1, "'records' is missing"),
    ],
)
def test_what_makes_no_sense_has_a_line(tmp_path, old, new, line, said):
    with pytest.raises(JobError, match=said) as error:
        job(tmp_path, JOB.replace(old, new))
    assert f"line {line}:" in str(error.value)


def test_a_price_that_the_file_does_not_hold_is_told(tmp_path):
    read = job(tmp_path, JOB.replace("[tables.cells]", 'cost = "wages"\n[tables.cells]'))
    with pytest.raises(InputError, match="cost='wages' is not known here"):
        run_job(read, keys=KEYS)
