"""What is wrong with the data of a τ-ARGUS job is told with the job's line and that of the data."""

import re

import pytest
from argus_jobs import BATCH, METADATA, RECORDS, written

from diskret import Result, argus
from diskret.errors import InputError

FREE = re.sub(" +", ";", RECORDS)
OF_FREE = """\
<SEPARATOR> ";"
Part 1
<RECODEABLE>
Region 1
<RECODEABLE>
<HIERARCHICAL>
<HIERCODELIST> "region.hrc"
<HIERLEADSTRING> "@"
Size 1
<RECODEABLE>
Turnover 6
<NUMERIC>
"""


def refused(folder, **files):
    job = written(folder, **files)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(InputError) as error:
        argus.run(job)
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    return str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("   500", "   5x0", "firms.asc, line 5: 1 record: texts that are no numbers"),
        ("   500", "      ", "firms.asc, line 5: 1 record: nothing in column 'Turnover'"),
        ("N 2 L    30", "N 2 L", "firms.asc, line 6: 1 record: nothing in column 'Turnover'"),
        ("S 4 S", "S 7 S", "firms.asc, line 10: 1 record: 1 code in column 'Region' ('7')"),
        ("   500", " 500,5", "firms.asc, line 5: 1 record: values that are not finite"),
    ],
)
def test_a_record_in_fixed_places(tmp_path, old, new, said):
    records = RECORDS.replace("N 1 S    90", "N 1 S    90\nN 1 S     1").replace(old, new)
    message = refused(tmp_path, **{"firms.asc": records.replace("\n", "\r\n")})
    assert "job.arb, line 3, <SPECIFYTABLE>" in message and said in message


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("S;3;S;200", "S;3;S", "line 7: 3 fields with ';' between them, and the first line has 4"),
        ("S;3;S;200", 'S;3;"S;200', "line 7: a quotation mark is opened and never closed"),
        ("S;3;S;200\nS;3;S;", 'S;3;"S;200\nS;3;S";', "line 7: a quotation mark is opened here"),
        ("N;2;S;500", "N;2;S;k.A.", "line 5: 1 record: texts that are no numbers"),
    ],
)
def test_a_record_with_separators(tmp_path, old, new, said):
    """An empty line is passed over, and counted."""
    records = FREE.replace("N;1;S;90", "N;1;S;90\n").replace(old, new)
    message = refused(tmp_path, **{"firms.asc": records, "firms.rda": OF_FREE})
    assert "job.arb, line " in message and f"firms.asc, {said}" in message


def test_free_records_are_read_as_fixed_ones(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    fixed = argus.run(written(tmp_path / "a"))
    free = argus.run(written(tmp_path / "b", **{"firms.asc": FREE, "firms.rda": OF_FREE}))
    one, other = ({p.name: p.read_text("utf-8") for p in done.written} for done in (fixed, free))
    assert (
        one["public.txt"].replace('"9","Total",-\n"9","L",-\n"9","S",-\n', "")
        == other["public.txt"]
    )


@pytest.mark.parametrize("wrong", ["NUMRIC", "RECODEBLE", "HIERCODLIST", "DECIMAL"])
def test_an_option_that_is_nearly_one_is_told(tmp_path, wrong):
    """It would be passed over, and the variable be something else."""
    right = {"NUMRIC": "NUMERIC", "RECODEBLE": "RECODEABLE", "DECIMAL": "DECIMALS"}
    metadata = METADATA + f"  <{wrong}> 1\n"
    message = refused(tmp_path, **{"firms.rda": metadata})
    assert f"<{wrong}>: is no option" in message
    assert f"did you mean <{right.get(wrong, 'HIERCODELIST')}>" in message


def test_options_of_other_programs_are_passed_over(tmp_path):
    metadata = METADATA + "  <TRUNCABLE>\n  <IDLEVEL> 3\n  <HOUSEHOLD>\n"
    assert argus.run(written(tmp_path, **{"firms.rda": metadata})).written


CELLS = "N;100;3;{}\nS;50;5;12\nT;150;8;{}\n"
OF_CELLS = (
    '<SEPARATOR> ";"\nR\n<RECODEABLE>\n<TOTCODE> T\nV\n<NUMERIC>\nF\n<FREQUENCY>\n'
    "X1\n<NUMERIC>\n<MAXSCORE>\n"
)
JUDGED = """\
<OPENTABLEDATA> "c.tab"
<OPENMETADATA> "c.rda"
<SPECIFYTABLE> "R"|"V"||
<SAFETYRULE> {}
<READTABLE> 0
<SUPPRESS> OPT(1,1)
"""


def test_a_largest_contribution_that_is_not_told_is_no_zero(tmp_path):
    files = {"c.tab": CELLS.format("", "90"), "c.rda": OF_CELLS}
    message = refused(tmp_path, **{"job.arb": JUDGED.format("NK(1,75)"), **files})
    assert "c.tab, line 1" in message or "first in line 1" in message
    # no rule asks for it
    assert argus.run(written(tmp_path, **{"job.arb": JUDGED.format("FREQ(3,20)"), **files})).tables
    told = {"c.tab": CELLS.format("90", ""), "c.rda": OF_CELLS}
    (found,) = argus.run(written(tmp_path, **{"job.arb": JUDGED.format("NK(1,75)"), **told})).tables
    assert isinstance(found.result, Result)
    assert found.result.sensitivity.unsafe.tolist() == [False, True, False]


def test_a_job_without_data_that_goes_on_by_hand_is_told_what_it_lacks(tmp_path):
    assert "opens no data" in refused(tmp_path, **{"job.arb": "<GOINTERACTIVE>\n"})
    done = argus.run(
        written(tmp_path, **{"job.arb": BATCH.split("<SUPPRESS>")[0] + "<GOINTERACTIVE>\n"})
    )
    assert not done.written and done.interactive
    assert done.tables[0].unsafe == 9  # what it would have shown
