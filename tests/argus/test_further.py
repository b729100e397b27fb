"""Less usual parts of jobs: secondaries taken over, weighted frequencies, files for solvers."""

import numpy as np
import pytest
from argus_jobs import BATCH, METADATA, RECORDS, files_of, written

import diskret as dk
from diskret import argus
from diskret.errors import DiskretError, JobError

HEAD, TABLE = BATCH.split("<SPECIFYTABLE>")[0], '<SPECIFYTABLE> "Region""Size"|"Turnover"||\n'


def run(folder, batch=BATCH, **files):
    return argus.run(written(folder, **{"job.arb": batch, **files}))


def place(found, *codes):
    return tuple(
        d.hierarchy.position[code] for d, code in zip(found.table.dimensions, codes, strict=True)
    )


@pytest.mark.parametrize("kind", ["m", "ML"])
def test_secondaries_that_are_taken_over_stay_hidden_and_are_called_so(tmp_path, kind):
    batch = BATCH.replace("<SUPPRESS>", '<APRIORI> "a.hst",1,";"\n<SUPPRESS>')
    first = run(tmp_path, BATCH).tables[0]
    hst = f"4;;{kind}\n2;S;{kind}\n"
    (found,) = run(tmp_path, batch, **{"a.hst": hst}).tables
    at = place(found, "4", "Total")
    assert first.status[at] == 1 and not first.result.published.suppressed[at]
    assert found.status[at] == 11 and found.result.published.suppressed[at]
    # what a rule finds stays unsafe
    assert found.status[place(found, "2", "S")] == first.status[place(first, "2", "S")] == 3
    assert found.unsafe == first.unsafe and found.secondary > first.secondary
    # nobody knows it, nor any other hidden cell, to the unit
    cells = dk.attack.intervals(found.result.published).to_pylist()
    assert all(c["upper"] is None or c["upper"] > c["lower"] for c in cells)
    assert '"4","Total",x' in (tmp_path / "public.txt").read_text()


def test_an_empty_cell_is_not_taken_over(tmp_path):
    batch = BATCH.replace("<SUPPRESS>", '<APRIORI> "a.hst",1,";"\n<SUPPRESS>')
    with pytest.raises(DiskretError, match="line 6, <APRIORI>.*are empty"):
        run(tmp_path, batch, **{"a.hst": "9;S;m\n"})


WEIGHTED = "W 1 3\n<WEIGHT>\n<DECIMALS> 1\nR 4 1\n<RECODEABLE>\nV 5 4\n<NUMERIC>\n"


@pytest.mark.parametrize(("n", "few"), [(2, []), (3, ["b"]), (4, ["b"]), (5, ["b", "c"])])
def test_frequencies_are_weighted_where_weights_are_on(tmp_path, n, few):
    records = "1.5a  50\n2.0a  40\n1.5a  48\n1.0b  90\n1.5b  95\n1.0c  30\n3.5c  29\n"
    batch = f'{HEAD}<SPECIFYTABLE> "R"|"V"\n<SAFETYRULE> FREQ({n},10)|WGT(1)\n<READMICRODATA>\n'
    files = {"firms.asc": records, "firms.rda": WEIGHTED}
    (found,) = run(tmp_path, batch, **files).tables
    codes = np.array(found.table.dimensions[0].hierarchy.codes)
    assert codes[found.sensitivity.unsafe].tolist() == few  # a: 5.0, b: 2.5, c: 4.5
    assert (found.status[found.sensitivity.unsafe] == 5).all()
    if few:
        level = found.sensitivity.upper[place(found, "b")]
        assert level == 233  # 10 % of 90 + 142.5, in tenths and rounded up
        job = batch + "<SUPPRESS> OPT(1,1)\n"
        path = written(tmp_path, **{"job.arb": job, **files})
        with pytest.raises(JobError, match="a job counts records without their weights"):
            argus.to_job(path, tmp_path / "mine.toml")


def test_holdings_have_no_weights(tmp_path):
    batch = BATCH.replace("FREQ(2,30)", "FREQ(2,30)|FREQ(2,30)|WGT(1)")
    metadata = METADATA.replace("Part 1 1\n  <RECODEABLE>", "Part 1 1\n  <HOLDING>")
    with pytest.raises(DiskretError, match="line 4, <SAFETYRULE>: holdings have no weights"):
        run(tmp_path, batch, **{"firms.rda": metadata})
    assert "public.txt" not in files_of(tmp_path)
    assert RECORDS


def problem(path):
    """A file for solvers: cells as dicts, and equations as {cell: sign}."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "0"
    names = ("at", "value", "cost", "status", "low", "high", "lower", "upper", "width")
    count = int(lines[1])
    cells = [dict(zip(names, line.split(), strict=True)) for line in lines[2 : 2 + count]]
    equations = []
    for line in lines[3 + count :]:
        head, _, body = line.partition(" : ")
        parts = body.replace("(", "").replace(")", "").split()
        terms = {int(a): int(b) for a, b in zip(parts[::2], parts[1::2], strict=True)}
        assert head == f"0 {len(terms)}" and parts[1] == "-1"
        equations.append(terms)
    assert len(equations) == int(lines[2 + count])
    return cells, equations


def test_a_file_for_solvers(tmp_path):
    done = run(tmp_path, BATCH + '<WRITETABLE> (1,6,,"table.jj")\n')
    (found,) = done.tables
    assert done.written[tmp_path / "table.jj"]  # it prints what is unsafe
    cells, equations = problem(tmp_path / "table.jj")
    assert len(cells) == 24 and [int(cell["at"]) for cell in cells] == [*range(24)]
    values = [int(cell["value"]) for cell in cells]
    assert values == found.table.measure.sum.ravel().tolist()
    # 8 totals of Size, and 3 of Region for each of its three codes
    assert len(equations) == 8 + 3 * 3
    assert all(sum(values[c] * sign for c, sign in terms.items()) == 0 for terms in equations)
    letters = {1: "s", 3: "u", 5: "u", 11: "m", 14: "z"}
    status = found.status.ravel().tolist()
    assert [cell["status"] for cell in cells] == [letters[code] for code in status]
    assert max(int(cell["cost"]) for cell in cells) == 20000
    assert {(cell["low"], cell["high"]) for cell in cells} == {("0", "2423")}
    for cell, unsafe, upper in zip(
        cells, found.sensitivity.unsafe.ravel(), found.sensitivity.upper.ravel(), strict=True
    ):
        assert int(cell["upper"]) == (max(upper, 1) if unsafe else 0) and cell["width"] == "0"


@pytest.mark.parametrize("options", ["TR+", "AS+"])
def test_files_for_solvers_take_no_options(tmp_path, options):
    with pytest.raises(JobError, match="is not offered for files of type 6; it takes none"):
        run(tmp_path, BATCH + f'<WRITETABLE> (1,6,{options},"table.jj")\n')
