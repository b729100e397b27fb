"""Jobs and samples that come with τ-ARGUS: what it expects of cells, values and costs.

Its own batch files are run as they are. What was clicked there is written as batch files here.
"""

import csv
import shutil

import numpy as np
import pytest

from diskret import argus
from diskret.argus.batch import read_batch
from diskret.argus.metadata import read_metadata
from diskret.protect.result import Result

UNSAFE = {"3", "4", "5", "6", "9"}
SMALL = (
    '<OPENMICRODATA> "TAU_TESTW.asc"\n<OPENMETADATA> "tau_testW.rda"\n'
    '<SPECIFYTABLE> "Size""{1}"|"Var2"{2}\n<SAFETYRULE> {3}\n<READMICRODATA>\n'
    '<SUPPRESS> {0}\n<WRITETABLE> (1,3,AS+,"out1.txt")\n'
)
HOLDINGS = "P(0,0)|P(0,0)|P(10,1)|P(0,0)|ZERO(10)|MIS(1)|MAN(10)|"


@pytest.fixture(scope="module")
def samples(reference_data):
    return reference_data / "data" / "tauargus"


@pytest.fixture
def folder(samples, tmp_path):
    """All files of the samples in one folder; nothing is written where they come from."""
    found = (samples / name for name in ("tauargus", "checkTauArgus/simple2d"))
    more = (samples / "checkTauArgus" / name for name in ("enterprise", "gui_expected"))
    for one in (*found, *more):
        for path in one.iterdir():
            if path.is_file():
                shutil.copy(path, tmp_path / path.name)
    return tmp_path


def run(folder, text, **options):
    (folder / "job.arb").write_text(text, encoding="utf-8")
    return argus.run(folder / "job.arb", **options)


def cells(path):
    with path.open(encoding="ascii", newline="") as file:
        return [tuple(field.rstrip() for field in row) for row in csv.reader(file)]


def agrees(theirs, ours, cost=True):
    """Codes, values and primaries are equal cell for cell; secondaries are no dearer."""
    assert [row[:3] for row in theirs] == [row[:3] for row in ours]
    assert [row[3] in UNSAFE for row in theirs] == [row[3] in UNSAFE for row in ours]
    assert [row[3] == "14" for row in theirs] == [row[3] == "14" for row in ours]
    if cost:
        assert secondaries(ours) <= secondaries(theirs)


def secondaries(rows):
    return sum(float(row[2]) for row in rows if row[3] == "11")


def test_every_batch_file_and_all_metadata_are_understood(samples):
    jobs = sorted(path for path in samples.rglob("*") if path.suffix.lower() == ".arb")
    assert len(jobs) == 4
    assert all(read_batch(path).data for path in jobs)
    metadata = sorted(path for path in samples.rglob("*") if path.suffix.lower() == ".rda")
    assert len(metadata) == 9
    for path in metadata:
        cells = path.name.startswith(("pp", "metadata_ex1"))
        assert read_metadata(path, "cells" if cells else "records").variables


@pytest.mark.parametrize(("name", "unsafe"), [("batch_ex1", 1), ("batch_ex2", 1)])
def test_batch_files_with_a_result(samples, tmp_path, name, unsafe):
    shutil.copytree(samples / "checkTauArgus" / name, tmp_path / name)
    done = argus.run(tmp_path / name / f"{name}.arb")
    (found,) = done.tables
    assert (found.table.count is None, found.unsafe, found.secondary) == (name[-1] == "1", 1, 3)
    assert isinstance(found.result, Result) and found.result.certificate.primaries == unsafe
    status = found.status.ravel().tolist()
    if name == "batch_ex1":  # s s s s x u s s s s x x s s s
        assert "".join("su"[s == 9] if s != 11 else "x" for s in status) == "ssssxussssxxsss"
    assert done.written[tmp_path / name / f"tabout_ex{name[-1]}.txt"]
    assert (tmp_path / name / f"arguslog_ex{name[-1]}.log").exists()


def test_jobs_that_go_on_by_hand(samples, folder):
    done = argus.run(folder / "TestRecode.arb")
    assert done.interactive and not done.written
    assert [table.status.shape for table in done.tables] == [(7, 18), (18, 706)]
    shutil.copytree(samples / "tauargus" / "tableinput", folder / "cells")
    done = argus.run(folder / "cells" / "TestTable.arb")
    assert done.interactive
    assert [(table.status.size, table.unsafe) for table in done.tables] == [(162, 9)]


@pytest.mark.parametrize("method", ["MOD(1,5,1,1,1)", "OPT(1,1)", "GH(1,100,0,1)"])
def test_the_sample_of_two_dimensions(folder, method):
    """Nine unsafe cells; against contributors, whom its three singleton options look at."""
    done = run(folder, SMALL.format(method, "Region", "||", "P(15,1)|MAN(20)|"))
    (found,) = done.tables
    assert (found.status.size, found.unsafe) == (162, 9)
    assert isinstance(found.result, Result)
    assert found.result.certificate.attacker.contributor == (not method.startswith("OPT"))
    agrees(cells(folder / "expected_Simple2D.txt"), cells(folder / "out1.txt"))


@pytest.mark.parametrize(
    ("by", "rules", "unsafe", "most"),
    [("Region", "P(20,3)|FREQ(3,30)|ZERO(20)", 15, 10),
     ("Year", "NK(3,70)|FREQ(3,30)|ZERO(20)", 13, 5)],
)  # fmt: skip
def test_the_log_of_the_manual(folder, by, rules, unsafe, most):
    (found,) = run(folder, SMALL.format("MOD(1,5)", by, "|Var3|Var3", rules)).tables
    assert (found.unsafe, found.secondary <= most) == (unsafe, True)


ENTERPRISE = [
    (['"act""product"'], "GH(1,100)", ["test_1.txt"], [283], ""),
    (['"act""product"', '"act""region"'], "MOD(0,5)", ["test_2a.txt", "test_2b.txt"],
     [283, 339], ""),
    (['"region""mun"'], "MOD(1,5)", ["test_3a.txt"], [36], ""),
    (['"region""product"'], "MOD(1,5)", ["test_3b.txt"], [17], '<APRIORI> "test_3a.hst",1,","\n'),
]  # fmt: skip


@pytest.mark.parametrize(
    ("tables", "method", "names", "unsafe", "more"), ENTERPRISE, ids=[c[2][0] for c in ENTERPRISE]
)
def test_the_sample_of_enterprises_with_holdings(folder, tables, method, names, unsafe, more):
    text = '<OPENMICRODATA> "example_enterprise.asc"\n<OPENMETADATA> "example_enterprise.rda"\n'
    for by in tables:
        text += f'<SPECIFYTABLE> {by}|"turnover"||\n<SAFETYRULE> {HOLDINGS}\n'
    text += f"<READMICRODATA>\n{more}<SUPPRESS> {method}\n"
    for number, name in enumerate(names, start=1):
        text += f'<WRITETABLE> ({number},3,AS+,"out_{name}")\n'
    done = run(folder, text)
    assert [table.unsafe for table in done.tables] == unsafe
    results = [table.result for table in done.tables if isinstance(table.result, Result)]
    assert [result.certificate.primaries for result in results] == unsafe
    theirs = [cells(folder / name) for name in names]
    ours = [cells(folder / f"out_{name}") for name in names]
    for their, our in zip(theirs, ours, strict=True):
        agrees(their, our, cost=False)
    assert sum(map(secondaries, ours)) <= sum(map(secondaries, theirs))
    if more:
        assert (done.tables[0].status == 10).sum() == 15
        assert not (
            done.tables[0].result.published.suppressed & (done.tables[0].status == 10)
        ).any()


def test_an_intermediate_file_of_the_sample_is_read_back(folder):
    batch = SMALL.format("OPT(1,1)", "Region", "||", "P(15,1)|")
    first = run(folder, batch + '<WRITETABLE> (1,5,AS+,"again.tab")\n').tables[0]
    again = run(
        folder,
        '<OPENTABLEDATA> "again.tab"\n<OPENMETADATA> "again.rda"\n'
        '<SPECIFYTABLE> "Size""Region"|"Var2"||\n<SAFETYRULE>\n<READTABLE> 1T\n'
        "<SUPPRESS> OPT(1,1)\n",
    ).tables[0]
    assert np.array_equal(again.table.measure.sum[:, :-1], first.table.measure.sum[:, :-1])
    assert np.array_equal(again.sensitivity.unsafe, first.sensitivity.unsafe)
    assert np.array_equal(again.sensitivity.upper, first.sensitivity.upper)
    assert np.array_equal(again.status == 11, first.status == 11)
