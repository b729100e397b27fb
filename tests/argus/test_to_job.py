"""A batch file of τ-ARGUS as a job file: both release the same."""

import numpy as np
import pytest
from argus_jobs import BATCH, METADATA, RECORDS, files_of, written

from diskret import argus, verify
from diskret.errors import DiskretError, JobError
from diskret.jobs.noise import changed_tables
from diskret.jobs.read import read_job
from diskret.jobs.run import protected, run_job, tables_of
from diskret.protect.result import Result

HEAD, TABLE = BATCH.split("<SPECIFYTABLE>")[0], '<SPECIFYTABLE> "Region""Size"|"Turnover"||\n'
LIGHT = {
    "firms.rda": METADATA.replace("Part 1 1\n  <RECODEABLE>", "Part 1 1\n  <NUMERIC>"),
    "firms.asc": "".join(f"1{line[1:]}\n" for line in RECORDS.splitlines()),
}
HOLDINGS = {
    "firms.asc": "xa  50\nxa  49\nya  48\nzb  90\nyb   5\nzc   9\nyc   8\nxc  70\n",
    "firms.rda": "H 1 1\n<HOLDING>\nR 2 1\n<RECODEABLE>\nV 3 4\n<NUMERIC>\n",
}
CELLS = {
    "c": "T;N;120,5;9\na;N;100;4\nb;N;20,5;5\nT;T;200,5;19\na;T;150;9\nb;T;50,5;10\n"
    "T;S;80;10\na;S;50;5\nb;S;30;5\n",
    "c.rda": '<SEPARATOR> ";"\nR\n<RECODEABLE>\n<TOTCODE> T\nS\n<RECODEABLE>\n<TOTCODE> T\n'
    "V\n<NUMERIC>\n<DECIMALS> 1\nF\n<FREQUENCY>\n",
}


def both(folder, batch=BATCH, options=None, **files):
    """What a batch file and the job made of it release."""
    folder = folder / f"{len([*folder.iterdir()])}"
    folder.mkdir()
    path = written(folder, **{"job.arb": batch, **files})
    before = {*files_of(folder)}
    names = argus.to_job(path, folder / "mine.toml", **(options or {}))
    assert {*files_of(folder)} - before == {name.name for name in names}
    text = names[0].read_text(encoding="utf-8")
    ours = argus.run(path, **(options or {}))
    job = read_job(folder / "mine.toml")
    tables = tables_of(job)
    changed = [one for one in tables if one.wanted.noise is not None]
    results = changed_tables(changed) if changed else protected(tables)
    theirs = [table for table in ours.tables if table.result is not None]
    assert len(theirs) == len(results)
    for their, our in zip(theirs, results, strict=True):
        same(their.result, our)
    return text


def same(theirs, ours):
    assert [d.hierarchy.codes for d in theirs.published.dimensions] == [
        d.hierarchy.codes for d in ours.published.dimensions
    ]
    if not isinstance(theirs, Result):
        assert np.array_equal(theirs.published.value, ours.published.value)
        return
    assert np.array_equal(theirs.published.suppressed, ours.published.suppressed)
    for name in ("unsafe", "lower", "upper", "sliding"):
        assert np.array_equal(getattr(theirs.sensitivity, name), getattr(ours.sensitivity, name))
    assert theirs.certificate.attacker == ours.certificate.attacker


@pytest.mark.parametrize(
    "change",
    [
        ("MOD(1,5)", "MOD(1,5)"),
        pytest.param(("MOD(1,5)", "MOD(1,5,1,1,1)"), marks=pytest.mark.long),
        ("MOD(1,5)", "OPT(1,1)"),
        pytest.param(("MOD(1,5)", "GH(1,100,0,0)"), marks=pytest.mark.long),
        pytest.param(("MOD(1,5)", "NET(1)"), marks=pytest.mark.long),
        ("FREQ(2,30)", "FREQ(3,30)|ZERO(10)|MIS(1)"),
        ("FREQ(2,30)", "NK(2,80)|NK(1,90)"),
        ("P(10,1)", "P(10,50,1)|P(5,2)"),
        ("P(10,1)|FREQ(2,30)", "FREQ(2,0)"),
    ],
)
def test_methods_and_rules_release_the_same_pattern(tmp_path, change):
    text = both(tmp_path, BATCH.replace(*change))
    assert "# line 4: <SAFETYRULE>" in text and '(1,3,,"public.txt")' in text


@pytest.mark.parametrize("method", ["RND(1,500)", "RND(1,500,2,1)", "CTA(1)"])
def test_methods_that_change_values_release_the_same_values(tmp_path, method):
    both(tmp_path, BATCH.replace("MOD(1,5)", method).replace("AS+FL+", "FL+"))


@pytest.mark.parametrize(
    "cost", ['"Turnover",0', '"Part"', "-1", "-2", "-2,0.5", '"Turnover",2', '"Part",0.5']
)
def test_costs_are_those_of_the_batch_file(tmp_path, cost):
    both(tmp_path, BATCH.replace('"Turnover"||', f'"Turnover"||{cost}'), **LIGHT)


def test_costs_of_another_number_of_decimals(tmp_path):
    decimals = LIGHT["firms.rda"].replace("<NUMERIC>\nRegion", "<NUMERIC>\n<DECIMALS> 2\nRegion")
    batch = BATCH.replace('"Turnover"||', '"Turnover"||"Part"')
    both(tmp_path, batch, **LIGHT | {"firms.rda": decimals})
    batch = BATCH.replace('"Turnover"||', '"Turnover"|"Part"|')
    with pytest.raises(JobError, match="line 3, <SPECIFYTABLE>: a job reads the shadow"):
        both(tmp_path, batch, **LIGHT | {"firms.rda": decimals})


def test_shadows_holdings_requests_and_weights(tmp_path):
    batch = BATCH.replace('"Turnover"||', '"Turnover"|"Part"|').replace("FREQ(2,30)|", "")
    assert 'shadow = "Part"' in both(tmp_path, batch, **LIGHT)
    plain = HEAD + '<SPECIFYTABLE> "R"|"V"\n<SAFETYRULE> {}\n<READMICRODATA>\n<SUPPRESS> OPT(1,1)\n'
    text = both(tmp_path, plain.format("P(0,0)|P(0,0)|P(10,1)|FREQ(0,0)|FREQ(2,10)"), **HOLDINGS)
    assert 'holding = "H"' in text and 'of = "holdings"' in text
    asking = {"firms.rda": HOLDINGS["firms.rda"].replace("<HOLDING>", '<REQUEST> "x" "y"')}
    text = both(tmp_path, plain.format("REQ(40,30,0)"), **HOLDINGS | asking)
    assert 'request = { H = ["x", "y"] }' in text
    weighted = {
        "firms.rda": "W 1 3\n<WEIGHT>\n<DECIMALS> 1\nR 4 1\n<RECODEABLE>\nV 5 4\n<NUMERIC>\n",
        "firms.asc": "1.5a  50\n2.0a  40\n1.0a  48\n1.0b  90\n1.5b   5\n1.0c  30\n2.5c  29\n",
    }
    text = both(tmp_path, plain.format("P(10,1)|WGT(1)"), **weighted)
    assert "weight_decimals = 1" in text


def test_counts_and_coarser_codes(tmp_path):
    batch = HEAD + (
        '<SPECIFYTABLE> "Region""Size"|"<freq>"\n<SAFETYRULE> FREQ(3,30)\n<READMICRODATA>\n'
        "<SUPPRESS> OPT(1,1)\n"
    )
    both(tmp_path, batch)
    records = RECORDS + "N 1 M    70\nS 3 M    70\nN 2 M    10\nS 4 M    12\n"
    recode = '<RECODE> 1,Size,"g.grc"\n<SUPPRESS>'
    groups = {"g.grc": "big: L-M\n", "firms.asc": records}
    text = both(tmp_path, BATCH.replace("<SUPPRESS>", recode), **groups)
    assert 'recode = { Size = { big = ["L", "M"] } }' in text


def test_trees_are_named_where_they_are_or_copied(tmp_path):
    text = both(tmp_path)  # the code of what is not known is below the total
    assert 'Region = { file = "mine_Region.csv" }' in text
    text = both(tmp_path, **{"firms.rda": METADATA.replace("3 1 9", "3 1")})
    assert 'file = "region.hrc", total = "Total", lead = "@"' in text
    digits = {
        "firms.rda": "A 1 2\n<RECODEABLE>\n<HIERARCHICAL>\n<HIERLEVELS> 1 1 0\nV 3 4\n<NUMERIC>\n",
        "firms.asc": "11  50\n11  40\n12   8\n21  90\n21  30\n22  25\n22   9\n21  70\n",
    }
    batch = HEAD + '<SPECIFYTABLE> "A"|"V"\n<SAFETYRULE> P(10,1)\n<READMICRODATA>\n'
    both(tmp_path, batch + "<SUPPRESS> OPT(1,1)\n", **digits)


def test_records_that_a_job_cannot_read_are_copied(tmp_path):
    free = "".join(f"{';'.join(line.split())},00\n" for line in RECORDS.splitlines())
    metadata = (
        ('<SEPARATOR> ";"\n' + METADATA.replace(" 1 1", " 1").replace(" 3 1 9", " 1 9"))
        .replace(" 5 1", " 1")
        .replace(" 6 6", " 6")
    )
    text = both(tmp_path, **{"firms.asc": free, "firms.rda": metadata})
    assert 'path = "mine_records.csv"' in text
    commas = RECORDS.replace("100\n", "100,5\n").replace(" 100,5", "100,5")
    both(tmp_path, **{
        "firms.asc": commas, "firms.rda": METADATA + "  <DECIMALS> 1\n",
    })  # fmt: skip


def test_tables_of_cells_with_what_is_set_by_hand(tmp_path):
    batch = (
        '<OPENTABLEDATA> "c"\n<OPENMETADATA> "c.rda"\n<SPECIFYTABLE> "R""S"|"V"{}\n'
        "<SAFETYRULE> {}MAN(10)\n<READTABLE> {}\n{}<SUPPRESS> OPT(1,1)\n"
    )
    both(tmp_path, batch.format("", "FREQ(5,30)|", 0, ""), **CELLS)
    hst = {"a.hst": "b;S;u\na;N;c;1000\nT;N;p\n"}
    known = '<APRIORI> "a.hst",1,";"\n'
    text = both(tmp_path, batch.format("", "", 1, known), **CELLS, **hst)
    assert "mine_apriori_1.csv" in text and 'additivity = "totals"' in text
    both(tmp_path, batch.format("||-1,0", "", 0, known), **CELLS, **hst)


@pytest.mark.parametrize(
    ("separator", "text"),
    [
        (";", "2;S;s\n"),  # safe, although a rule says otherwise
        (",", "3,L,c,3\n2,S,pl,3,4\n4,L,w,5\n"),
        ("\t", "1\tS\tU\nSouth\t\tP\n4\tS\tml\n"),
        (";", "4;S;m\n3;;s\nNorth;L;u\n3;L;c;0\n"),
    ],
)
def test_files_of_single_cells_of_records_go_into_the_job(tmp_path, separator, text):
    known = f'<APRIORI> "a.hst",1,"{separator}"\n<SUPPRESS>'
    written_job = both(tmp_path, BATCH.replace("<SUPPRESS>", known), **{"a.hst": text})
    assert "mine_apriori_1.csv" in written_job


def test_a_later_file_of_single_cells_overrules_the_earlier_in_the_job_too(tmp_path):
    known = '<APRIORI> "a.hst",1,";"\n<APRIORI> "b.hst",1,";"\n<SUPPRESS>'
    files = {"a.hst": "1;S;u\n3;S;p\n", "b.hst": "1;S;s\n"}
    batch = BATCH.replace("<SUPPRESS>", known).replace("P(10,1)|", "")
    both(tmp_path, batch, **files)


def test_linked_tables_and_tables_alone(tmp_path):
    second = '<SPECIFYTABLE> "Part""Size"|"Turnover"\n<SAFETYRULE> P(10,1)|FREQ(2,30)\n'
    batch = BATCH.replace("<READMICRODATA>", second + "<READMICRODATA>")
    both(tmp_path, batch.replace("MOD(1,5)", "MOD(0,5)"))
    text = both(tmp_path, batch)
    assert "# Not protected by it, and so not in the job: table 2." in text
    alone = batch.replace("<SUPPRESS> MOD(1,5)", "<SUPPRESS> MOD(1,5)\n<SUPPRESS> OPT(2,1)")
    with pytest.raises(JobError, match="line 9, <SUPPRESS>: tables 1 and 2 are made of the same"):
        both(tmp_path, alone)


def test_against_whom_is_said(tmp_path):
    assert "contributor = true" in both(tmp_path, options={"contributor": True})
    assert "contributor = false" in both(tmp_path)


BOTH_KINDS = HEAD + (
    '<SPECIFYTABLE> "R"|"V"\n<SAFETYRULE> P(10,1)|P(0,0)|P(10,1)\n<READMICRODATA>\n'
    "<SUPPRESS> OPT(1,1)\n"
)


@pytest.mark.parametrize(
    ("batch", "files", "said"),
    [
        (BOTH_KINDS, HOLDINGS, "line 3, <SPECIFYTABLE>: a job judges holdings or records"),
        (BATCH.replace('"Turnover"||', '"Turnover"|"Part"|').replace("FREQ(2,30)", "ZERO(10)"),
         LIGHT, "line 3, <SPECIFYTABLE>: a job looks at the shadow variable in all rules"),
        (BATCH.replace("<SUPPRESS>", "<RECODE> 1,Region,1\n<SUPPRESS>"), {},
         "line 6, <RECODE>: a job does not make a tree coarser"),
        (BATCH.replace('"Turnover"||', '"<freq>"').replace("P(10,1)|FREQ(2,30)", "FREQ(9,50)"),
         {}, "the range of FREQ is more than one unit"),
        (BATCH.replace("P(10,1)|FREQ(2,30)|", ""), {}, "a job needs a rule"),
        (HEAD + TABLE + "<SAFETYRULE> P(10,1)\n<READMICRODATA>\n", {}, "protects no table"),
        (BATCH + "<CLEAR>\n" + BATCH.replace("status", "s").replace("public", "p"), {},
         "line 10, <OPENMICRODATA>: other data after <CLEAR>"),
    ],
)  # fmt: skip
def test_what_a_job_cannot_say_is_refused(tmp_path, batch, files, said):
    path = written(tmp_path, **{"job.arb": batch, **files})
    before = files_of(tmp_path)
    with pytest.raises(DiskretError) as error:
        argus.to_job(path, tmp_path / "mine.toml")
    assert said in str(error.value)
    assert files_of(tmp_path) == before


def test_the_job_is_not_written_where_it_cannot_be(tmp_path):
    path = written(tmp_path)
    with pytest.raises(JobError, match="ends in .toml"):
        argus.to_job(path, tmp_path / "job.txt")
    with pytest.raises(JobError, match="there is no folder"):
        argus.to_job(path, tmp_path / "nowhere" / "job.toml")


def test_names_that_need_quotes_are_read_as_they_are(tmp_path):
    metadata = METADATA.replace("Size", '"Größe ""1"').replace('""1"', '1"')
    batch = BATCH.replace("Size", "Größe 1")
    assert '"Größe 1" = {' in both(tmp_path, batch, **{"firms.rda": metadata})


def test_the_job_releases_what_the_batch_file_does(tmp_path):
    path = written(tmp_path)
    argus.to_job(path, tmp_path / "mine.toml")
    out, (ours,) = run_job(tmp_path / "mine.toml")
    assert out == tmp_path / "mine_out" and verify(out)
    same(argus.run(path).tables[0].result, ours)


def test_the_command_writes_a_job(tmp_path):
    from typer.testing import CliRunner

    from diskret.cli.main import app

    path, job = written(tmp_path), tmp_path / "mine.toml"
    done = CliRunner().invoke(app, ["argus", str(path), "--to", str(job)], env={"COLUMNS": "500"})
    assert done.exit_code == 0 and job.exists() and str(job) in done.output, done.output
    assert not (tmp_path / "public.txt").exists()
    done = CliRunner().invoke(app, ["protect", str(job)])
    assert done.exit_code == 0 and verify(tmp_path / "mine_out"), done.output
    again = ["argus", str(path), "--to", str(job), "--folder", "out", "--language", "de"]
    done = CliRunner().invoke(app, again)
    assert done.exit_code == 2 and "--to führt nichts aus" in done.output
