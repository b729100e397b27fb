"""Numbers of records that are declared to be missing are added up by nobody."""

import pytest
from argus_jobs import BATCH, METADATA, RECORDS, written

from diskret import argus
from diskret.errors import JobError

DECLARED = METADATA.replace("Turnover 6 6", "Turnover 6 6 999999 -1")
FREE = '<SEPARATOR> ";"\n' + DECLARED.replace("Part 1 1", "Part 1").replace(
    "Region 3 1 9", "Region 1 9"
).replace("Size 5 1", "Size 1").replace("Turnover 6 6", "Turnover 6")


def run(folder, **files):
    return argus.run(written(folder, **files))


@pytest.mark.parametrize("number", ["999999", "-1", "-1.0", "-1,0"])
def test_a_number_that_is_declared_missing_is_refused_with_its_line(tmp_path, number):
    records = RECORDS.replace("N 2 L    30", f"N 2 L{number:>6}")
    with pytest.raises(JobError, match="firms.rda, line 10, variable 'Turnover': 1 record of") as e:
        run(tmp_path, **{"firms.asc": records, "firms.rda": DECLARED})
    assert f"firms.asc has {number.replace(',', '.')!r}" in str(e.value)
    assert "first in line 5" in str(e.value)
    assert not (tmp_path / "status.txt").exists()


def test_lines_are_counted_as_an_editor_does(tmp_path):
    lines = [";".join(line.split()) for line in RECORDS.splitlines()]
    lines[3] = "N;2;S;999999"
    free = "\n\n" + "\n".join(lines) + "\n"
    with pytest.raises(JobError, match="first in line 6"):
        run(tmp_path, **{"firms.asc": free, "firms.rda": FREE})


def test_what_no_record_has_changes_nothing(tmp_path):
    (plain,) = run(tmp_path).tables
    (declared,) = run(tmp_path, **{"firms.rda": DECLARED}).tables
    assert (plain.table.measure.sum == declared.table.measure.sum).all()


def test_a_code_of_a_category_stays_one(tmp_path):
    """9 is missing for regions; that a variable nobody asks for has such a number is no matter."""
    records = RECORDS.replace("S 4 L    10", "S 9 L999999")
    batch = BATCH.replace('"Turnover"', '"<freq>"').replace("P(10,1)|", "")
    (found,) = run(
        tmp_path, **{"firms.asc": records, "firms.rda": DECLARED, "job.arb": batch}
    ).tables
    at = found.table.dimensions[0].hierarchy.position["9"]
    assert found.table.count[at, 0] == 1


@pytest.mark.parametrize("role", ["WEIGHT", "HOLDING"])
def test_weights_and_holdings_are_looked_at_where_rules_ask_for_them(tmp_path, role):
    records = "\n".join(
        f"{line} {9 if at == 7 else 2}" for at, line in enumerate(RECORDS.splitlines())
    )
    metadata = METADATA + f"Other 13 1 9\n  <{role}>\n"
    files = {"firms.asc": records + "\n", "firms.rda": metadata}
    assert run(tmp_path, **files).tables
    rules = "P(10,1)|WGT(1)|" if role == "WEIGHT" else "P(0,0)|P(0,0)|P(10,1)|"
    batch = BATCH.replace("P(10,1)|FREQ(2,30)|", rules)
    with pytest.raises(JobError, match="variable 'Other': 1 record .*first in line 8"):
        run(tmp_path, **files, **{"job.arb": batch})


CELLS = "N;100;3\nS;999;5\n9;10;4\nT;1109;12\n"
OF_CELLS = '<SEPARATOR> ";"\nR{}\n<RECODEABLE>\n<TOTCODE> T\nV{}\n<NUMERIC>\nF{}\n<FREQUENCY>\n'
JUDGED = """\
<OPENTABLEDATA> "c.tab"
<OPENMETADATA> "c.rda"
<SPECIFYTABLE> "R"|"V"||
<SAFETYRULE> FREQ(5,20)|MIS(1)|
<READTABLE> 0
"""


def of_cells(folder, *after):
    files = {"job.arb": JUDGED, "c.tab": CELLS, "c.rda": OF_CELLS.format(*after)}
    (found,) = run(folder, **files).tables
    return dict(zip(found.table.cells["R"].to_pylist(), found.status.tolist(), strict=True))


def test_cells_of_codes_that_are_declared_missing_are_safe_with_mis(tmp_path):
    assert of_cells(tmp_path, ' "9"', "", "") == {"T": 1, "9": 1, "N": 5, "S": 1}


def test_a_width_in_the_metadata_of_cells_is_no_code_that_is_missing(tmp_path):
    """As one it would make the cell of code 9 safe, and 999 no value."""
    assert of_cells(tmp_path, " 9", " 999", " 3") == {"T": 1, "9": 5, "N": 5, "S": 1}


def test_a_number_of_a_file_of_cells_that_is_declared_missing_is_refused(tmp_path):
    with pytest.raises(JobError, match=r"variable 'V': 1 record of c.tab has '999'.*line 2"):
        of_cells(tmp_path, "", ' "999"', "")
    with pytest.raises(JobError, match=r"variable 'F': 1 record of c.tab has '12'.*line 4"):
        of_cells(tmp_path, "", ' 8 "7"', ' 3 "12"')
