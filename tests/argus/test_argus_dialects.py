"""Small differences between the files of programs and of people: none is lost without a word."""

import numpy as np
import pytest
from argus_jobs import BATCH, METADATA, RECORDS, written

from diskret import argus
from diskret.errors import InputError

CELLS = """\
T;T;350.5;30;S
T;x;150.5;15;S
T;y;200.0;15;S
a;T;120.5;9;S
a;x;50.5;2;U
a;y;70.0;7;S
b;T;100.0;10;S
b;x;50.0;6;S
b;y;50.0;4;S
c;T;130.0;11;S
c;x;50.0;7;S
c;y;80.0;4;S
"""
OF_CELLS = """\
<SEPARATOR> ";"
R
<RECODEABLE>
<TOTCODE> "T"
S
<RECODEABLE>
<TOTCODE> "T"
V
<NUMERIC>
<DECIMALS> 1
F
<FREQUENCY>
St
<STATUS>
"""
JOB = """\
<OPENTABLEDATA> "t.tab"
<OPENMETADATA> "t.rda"
<SPECIFYTABLE> "R""S"|"V"||
<SAFETYRULE>
<READTABLE>
<SUPPRESS> OPT(1,1)
"""
KNOWN = '<APRIORI> "a.hst",1,"{}",1,0\n<SUPPRESS>'


def table(folder, job=JOB, **files):
    files = {"job.arb": job, "t.tab": CELLS, "t.rda": OF_CELLS} | files
    return argus.run(written(folder, **files)).tables[0]


def unsafe(found):
    trees = [dimension.hierarchy.codes for dimension in found.table.dimensions]
    places = np.argwhere(found.sensitivity.unsafe)
    return {tuple(codes[i] for codes, i in zip(trees, at, strict=True)) for at in places}


def test_a_job_on_one_line_too_many_is_not_half_carried_out(tmp_path):
    batch = BATCH.replace("<READMICRODATA>\n", '<READMICRODATA> <APRIORI> "a.hst",1\n')
    with pytest.raises(InputError, match="line 5, <READMICRODATA>: <APRIORI> stands behind it"):
        argus.run(written(tmp_path, **{"job.arb": batch}))


@pytest.mark.parametrize(("way", "hidden"), [("", 1), ("1", 1), ("1T", 1), ("0F", 0), ("1F", 0)])
def test_what_the_file_calls_unsafe_is_unsafe_unless_the_job_says_no(tmp_path, way, hidden):
    found = table(tmp_path, JOB.replace("<READTABLE>", f"<READTABLE> {way}"))
    assert unsafe(found) == ({("a", "x")} if hidden else set())


@pytest.mark.parametrize("separator", ["\t", "|", " "])
def test_separators_are_tabs_bars_and_blanks(tmp_path, separator):
    files = {
        "t.tab": CELLS.replace(";", separator),
        "t.rda": OF_CELLS.replace('";"', f'"{separator}"'),
        "a.hst": separator.join("byU") + "\n",
    }
    found = table(tmp_path, JOB.replace("<SUPPRESS>", KNOWN.format(separator)), **files)
    assert unsafe(found) == {("a", "x"), ("b", "y")}


def test_a_line_with_names_is_no_data(tmp_path):
    said = "t.tab: line 1 holds the names of the variables"
    with pytest.raises(InputError, match=said):
        table(tmp_path, **{"t.tab": f"R;s;V;F;St\n{CELLS}"})


@pytest.mark.parametrize("change", [(";50.0;6", ";x;6"), (";50.0;6", ";;6"), ("c;y;", "c;x;")])
def test_wrong_cells_are_said_with_their_file(tmp_path, change):
    with pytest.raises(InputError, match="line 3, <SPECIFYTABLE>: t.tab: .*(line 8|c, S=x)"):
        table(tmp_path, **{"t.tab": CELLS.replace(*change)})


def test_a_total_of_another_name_is_not_a_part_of_itself(tmp_path):
    metadata = OF_CELLS.replace('R\n<RECODEABLE>\n<TOTCODE> "T"\n', "R\n<RECODEABLE>\n")
    said = "t.tab: 'R' has no total 'Total', and 'T' is the sum of all others; .* in t.rda with"
    with pytest.raises(InputError, match=said):
        table(tmp_path, **{"t.rda": metadata})
    # who means it says so; and totals that are left out are computed
    found = table(tmp_path, JOB.replace("<READTABLE>", "<READTABLE> 1"), **{"t.rda": metadata})
    assert found.table.measure.sum[0, 0] == 7010
    parts = "".join(line for line in CELLS.splitlines(keepends=True) if "T;" not in line)
    found = table(tmp_path, **{"t.tab": parts, "t.rda": OF_CELLS.replace('"T"', '"All"')})
    assert found.table.measure.sum[0, 0] == 3505


def test_files_of_single_cells_may_be_empty_and_repeat_themselves(tmp_path):
    job = JOB.replace("<SUPPRESS>", KNOWN.format(";"))
    assert unsafe(table(tmp_path, job, **{"a.hst": ""})) == {("a", "x")}
    found = table(tmp_path, job, **{"a.hst": "b;y;U\r\nb;y;u\nb;y;pl;5,5;6,5\n"})
    assert unsafe(found) == {("a", "x"), ("b", "y")}
    at = tuple(d.hierarchy.position[c] for d, c in zip(found.table.dimensions, "by", strict=True))
    assert (found.sensitivity.lower[at], found.sensitivity.upper[at]) == (55, 65)
    with pytest.raises(InputError, match="line 2: the status of this cell is set in an earlier"):
        table(tmp_path, job, **{"a.hst": "b;y;u\nb;y;s\n"})


def test_a_wrong_separator_of_single_cells_is_no_unknown_code(tmp_path):
    said = "line 6, <APRIORI>: a.hst, line 1: 1 field with the separator ','; a line holds 2 codes"
    with pytest.raises(InputError, match=said):
        table(tmp_path, JOB.replace("<SUPPRESS>", KNOWN.format(",")), **{"a.hst": "b;y;u\n"})


def test_umlauts_are_one_character_or_two(tmp_path):
    files = {"firms.rda": METADATA.replace("Size", "Gro\u0308ße"), "firms.asc": RECORDS}
    batch = BATCH.replace('"Size"', '"GRÖßE"')
    (found,) = argus.run(written(tmp_path, **{"job.arb": batch, **files})).tables
    assert found.unsafe == 9


def test_labels_hold_commas_and_quotes_as_other_programs_write_them(tmp_path):
    metadata = METADATA.replace("Size 5 1\n", 'Size 5 1\n  <CODELIST> "size.cdl"\n')
    labels = 'S,"Small, ""very"""\nL,Large\nX,nobody\n'
    (found,) = argus.run(written(tmp_path, **{"firms.rda": metadata, "size.cdl": labels})).tables
    assert found.table.dimensions[1].hierarchy.labels == {"S": 'Small, "very"', "L": "Large"}


def test_what_is_written_with_awkward_codes_is_read_back(tmp_path):
    """Leading zeros, separators, umlauts and 300 characters."""
    codes = ("007", "07", "Größe, äöü", "a;b", "x" * 300, "ß's", "-x")
    records = "".join(f'"{c}"|{g}|{90 - 7 * i},5\n' for i, c in enumerate(codes) for g in "1120")
    metadata = (
        '<SEPARATOR> "|"\nR 300\n<RECODEABLE>\nS 2\n<RECODEABLE>\nV 5\n<NUMERIC>\n<DECIMALS> 1\n'
    )
    job = JOB.replace("TABLEDATA", "MICRODATA").replace("<SAFETYRULE>", "<SAFETYRULE> P(10,1)")
    job = job.replace("<READTABLE>", "<READMICRODATA>") + '<WRITETABLE> (1,5,AR+,"again.tab")\n'
    first = table(tmp_path, job, **{"t.tab": records, "t.rda": metadata})
    back = JOB.replace('"t.', '"again.')
    again = table(tmp_path, back)
    assert [d.hierarchy.codes for d in again.table.dimensions] == [
        d.hierarchy.codes for d in first.table.dimensions
    ]
    assert np.array_equal(again.table.measure.sum, first.table.measure.sum)
    assert first.unsafe > 0 and unsafe(again) == unsafe(first)
