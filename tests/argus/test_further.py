"""Less usual parts of jobs: secondaries taken over, weighted frequencies, files for solvers."""

import numpy as np
import pytest
from argus_jobs import BATCH, METADATA, RECORDS, files_of, written
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret import argus
from diskret.argus.batch import read_batch
from diskret.argus.data import cost_of_cells
from diskret.argus.distance import costs_by_distance, steps_between
from diskret.argus.plan import planned
from diskret.argus.protection import tables_of
from diskret.argus.text import Folders
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
    with pytest.raises(DiskretError, match="line 6, <APRIORI>.*is empty"):
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


def test_options_that_say_nothing_for_a_file_are_passed_over_with_a_word(tmp_path):
    done = run(tmp_path, BATCH + '<WRITETABLE> (1,6,AS+HL+SE-,"table.jj")\n')
    assert done.notes == (
        "job.arb, line 9, <WRITETABLE>: AS+, HL+ says nothing for files of type 6 and was passed "
        "over, as in τ-ARGUS",
    )


def test_trivial_levels_are_dropped_from_a_problem(tmp_path):
    files = {"region.hrc": "North\n@1\n@2\nSouth\n@3\nEast\n@4\n"}
    batch = BATCH.replace('(1,3,,"public.txt")', '(1,6,{},"table.jj")')
    run(tmp_path, batch.format(""), **files)
    whole, _ = problem(tmp_path / "table.jj")
    run(tmp_path, batch.format("TR+"), **files)
    cells, equations = problem(tmp_path / "table.jj")
    # South and 3, East and 4 are the same cells: of nine codes of Region seven are left
    assert (len(whole), len(cells)) == (9 * 3, 7 * 3)
    assert [int(cell["at"]) for cell in cells] == [*range(21)]
    values = [int(cell["value"]) for cell in cells]
    assert all(sum(values[c] * sign for c, sign in terms.items()) == 0 for terms in equations)
    assert len(equations) == 7 + 3 * 2 and all(len(terms) > 2 for terms in equations)


# ── intermediate files ──────────────────────────────────────────────────────────────


def test_an_intermediate_file_with_what_an_audit_finds(tmp_path):
    batch = BATCH + '<WRITETABLE> (1,5,AS+AR+,"all.tab")\n'
    (found,) = run(tmp_path, batch).tables
    lines = [
        [field.strip('"') for field in line.split(";")]
        for line in (tmp_path / "all.tab").read_text(encoding="utf-8").splitlines()
    ]
    by_codes = {(line[0], line[1]): line for line in lines}
    for cell in dk.attack.intervals(found.result.published).to_pylist():
        low, high, width, *shares = by_codes[cell["Region"], cell["Size"]][-6:]
        assert low == str(cell["lower"])
        assert (high, width) == (
            ("", "")
            if cell["upper"] is None
            else (str(cell["upper"]), str(cell["upper"] - cell["lower"]))
        )
        value = int(by_codes[cell["Region"], cell["Size"]][2])
        assert float(shares[0]) == pytest.approx(100 * cell["lower"] / value, abs=1e-4)
    assert by_codes["Total", "Total"][-6:] == [
        "1615",
        "1615",
        "0",
        "100.0000",
        "100.0000",
        "0.0000",
    ]
    again = run(
        tmp_path,
        '<OPENTABLEDATA> "all.tab"\n<OPENMETADATA> "all.rda"\n'
        '<SPECIFYTABLE> "Region""Size"|"Turnover"\n<READTABLE> 0T\n<SUPPRESS> OPT(1,1)\n',
    ).tables[0]
    assert again.unsafe == found.unsafe
    bare = BATCH.replace("<SUPPRESS> MOD(1,5)", "").replace('(1,3,,"', '(1,5,AR+,"')
    with pytest.raises(JobError, match="line 8, <WRITETABLE>: AR\\+ writes what an audit finds"):
        run(tmp_path, bare)


def test_an_intermediate_file_counts_holdings(tmp_path):
    metadata = METADATA.replace("Part 1 1\n  <RECODEABLE>", "Part 1 1\n  <HOLDING>")
    batch = BATCH.replace("P(10,1)", "P(0,0)|P(0,0)|P(10,1)")
    batch += '<WRITETABLE> (1,5,HI+,"all.tab")\n'
    run(tmp_path, batch, **{"firms.rda": metadata})
    first = (tmp_path / "all.tab").read_text(encoding="utf-8").splitlines()[0].split(";")
    assert first[2:5] == ["1615", "12", "2"]  # 12 records of N and S
    assert '"FreqHolding"' in (tmp_path / "all.rda").read_text(encoding="utf-8")
    done = run(tmp_path, BATCH + '<WRITETABLE> (1,5,HI+,"all.tab")\n')
    assert "HI+ counts holdings, and no rule of table 1 looks at them" in done.notes[0]
    assert "FreqHolding" not in (tmp_path / "all.rda").read_text(encoding="utf-8")


# ── costs by distance ───────────────────────────────────────────────────────────────


def near(metadata=METADATA):
    metadata = metadata.replace("Region 3 1 9\n", "Region 3 1 9\n  <DISTANCE> 1 3 5 7 9\n")
    return metadata.replace("Size 5 1\n", "Size 5 1\n  <DISTANCE> 2,4\n")


def test_costs_by_distance_keep_secondaries_near(tmp_path):
    batch = BATCH.replace('"Turnover"||', '"Turnover"||-3')
    (found,) = run(tmp_path, batch, **{"firms.rda": near()}).tables
    price = cost_of_cells(made_by_hand(tmp_path))
    unsafe = found.sensitivity.unsafe
    assert (price[unsafe] == 0).all() and (price[~unsafe] > 0).all()
    # the total of region 4 is two steps from 3 × L, L being one step from the total of sizes
    steps = steps_between(found.table.dimensions[0].hierarchy)
    codes = found.table.dimensions[0].hierarchy.position
    assert steps[codes["3"], codes["4"]] == 1 and steps[codes["2"], codes["3"]] == 3
    assert steps[codes["North"], codes["2"]] == 1 and steps[codes["Total"], codes["2"]] == 2
    assert (steps == steps.T).all() and found.secondary > 0


def made_by_hand(folder):
    batch = read_batch(folder / "job.arb")
    part, read = planned(batch, Folders(folder))
    return tables_of(part, read)[0]


@given(st.data())
def test_costs_are_those_of_the_nearest_unsafe_cell(data):
    trees = [
        dk.Hierarchy.from_parents({"code": [*"TABcde"], "parent": [None, *"TTAAB"]}),
        dk.Hierarchy.flat(["x", "y", "z"]),
    ]
    shape = tuple(len(tree) for tree in trees)
    flags = data.draw(st.lists(st.booleans(), min_size=24, max_size=24))
    unsafe = np.array(flags).reshape(shape)
    prices = [(1.0, 2.5, 9.0), (2.0,)]
    found = costs_by_distance(unsafe, trees, prices)
    steps = [steps_between(tree) for tree in trees]
    for at in np.ndindex(*shape):
        ways = [
            sum(
                0 if s == 0 else p[min(s, len(p)) - 1]
                for s, p in zip(
                    (m[a, b] for m, a, b in zip(steps, at, to, strict=True)), prices, strict=True
                )
            )
            for to in np.argwhere(unsafe).tolist()
        ]
        assert found[at] == (min(ways) if ways else 1)


@pytest.mark.parametrize(
    ("batch", "metadata", "said"),
    [
        (BATCH, METADATA, "line 3, <SPECIFYTABLE>: costs by distance (-3) need what 1, 2"),
        (BATCH.replace("MOD", "OPT"), near(), "line 6, <SUPPRESS>: costs by distance (-3) go with"),
        (BATCH, near().replace("2,4", "0 1"), "line 10, <DISTANCE>: '0 1' are no costs of"),
        (BATCH, near().replace("2,4", "1 2 3 4 5 6"), "are no costs of 1, 2, … steps"),
    ],
)
def test_costs_by_distance_that_cannot_be(tmp_path, batch, metadata, said):
    batch = batch.replace('"Turnover"||', '"Turnover"||-3')
    with pytest.raises(JobError) as error:
        run(tmp_path, batch, **{"firms.rda": metadata})
    assert said in str(error.value)


# ── several ways, one after the other ───────────────────────────────────────────────


def test_a_table_is_protected_in_several_ways_as_in_the_manual(tmp_path):
    batch = BATCH.split("<SUPPRESS>")[0] + (
        '<WRITETABLE> (1,3,AS+,"before.txt")\n'
        '<SUPPRESS> GH(1,75)\n<WRITETABLE> (1,3,,"gh.txt")\n'
        '<SUPPRESS> RND(1,500)\n<WRITETABLE> (1,3,AS+,"round.txt")\n'
        '<SUPPRESS> OPT(1,5)\n<WRITETABLE> (1,3,AS-,"opt.txt")\n'
    )
    done = run(tmp_path, batch)
    internal = {path.name for path, inside in done.written.items() if inside}
    # what another way hides is shown in the last one
    assert internal == {"before.txt", "gh.txt", "round.txt"} and len(done.written) == 4
    assert done.notes[0].startswith("table 1 is protected 3 times in different ways; only the")
    assert "x" not in (tmp_path / "round.txt").read_text()
    assert '"Total","Total",1615,1500' in (tmp_path / "round.txt").read_text()
    alone = run(tmp_path, BATCH.replace("MOD(1,5)", "OPT(1,5)")).tables[0]
    assert np.array_equal(alone.status, done.tables[0].status)
    hidden = (tmp_path / "opt.txt").read_text().count(",x")
    assert hidden == alone.result.published.suppressed.sum()
    before = (tmp_path / "before.txt").read_text().splitlines()
    assert not any(line.endswith(",11") for line in before)
    with pytest.raises(JobError, match="table 1 is protected in another way above"):
        argus.to_job(written(tmp_path, **{"job.arb": batch}), tmp_path / "mine.toml")


def test_a_rounded_zero_looks_like_a_true_one(tmp_path):
    records = RECORDS + "N 9 L     3\n"
    batch = BATCH.replace("MOD(1,5)", "RND(1,500)").replace("P(10,1)|FREQ(2,30)|", "")
    batch = batch.replace("AS+FL+", "SE+")
    run(tmp_path, batch, **{"firms.asc": records})
    shown = (tmp_path / "public.txt").read_text(encoding="utf-8")
    assert '"9","L",0\n' in shown and '"9","S",0\n' in shown and "-" not in shown
    assert shown == (tmp_path / "status.txt").read_text(encoding="utf-8")


# ── hypercubes of linked tables, totals that do not add up ──────────────────────────


def test_hypercubes_of_linked_tables_are_proven_together(tmp_path):
    second = '<SPECIFYTABLE> "Part""Size"|"Turnover"\n<SAFETYRULE> P(10,1)|FREQ(2,30)\n'
    batch = BATCH.replace("<READ", second + "<READ").replace("MOD(1,5)", "GH(0,75)")
    done = run(tmp_path, batch)
    assert done.tables[0].result.proof is done.tables[1].result.proof and done.notes == ()
    for number, found in enumerate(done.tables, start=1):
        alone = run(
            tmp_path,
            batch.replace("GH(0,75)", f"GH({number},75)")
            .replace('<WRITETABLE> (1,3,,"', f'<WRITETABLE> ({number},3,,"')
            .replace('<WRITETABLE> (1,3,AS+FL+,"', f'<WRITETABLE> ({number},3,AS+FL+,"'),
        ).tables[number - 1]
        assert found.unsafe == alone.unsafe
        cells = dk.attack.intervals(found.result.published).to_pylist()
        assert all(c["upper"] is None or c["upper"] > c["lower"] for c in cells)
        assert found.result.settings["method"] == "hypercube"
    argus.to_job(written(tmp_path, **{"job.arb": batch}), tmp_path / "mine.toml")
    _, made = dk.run_job(tmp_path / "mine.toml")
    for found, one in zip(done.tables, made, strict=True):
        assert (found.result.published.suppressed == one.published.suppressed).all()


CELLS = '<OPENTABLEDATA> "c"\n<OPENMETADATA> "c.rda"\n<SPECIFYTABLE> "R"|"V"\n<READTABLE> 2\n'


def test_totals_that_differ_by_rounding_are_let_through(tmp_path):
    files = {
        "c": "Total,21.1,S\na,12.3,S\nb,6.7,U\nc,2,S\n",  # the parts are 21.0
        "c.rda": '<SEPARATOR> ","\nR\n<RECODEABLE>\nV\n<NUMERIC>\n<DECIMALS> 1\nS\n<STATUS>\n',
    }
    batch = CELLS + '<SUPPRESS> OPT(1)\n<WRITETABLE> (1,3,,"o.txt")\n'
    batch += '<WRITETABLE> (1,3,AS+,"s.txt")\n'
    done = run(tmp_path, batch, **files)
    assert done.notes[0].startswith("table 1: totals do not add up, so every value is taken as")
    # each value may be off by half a unit, and so 6.7 with all that hides it
    assert done.tables[0].unsafe == 1 and done.tables[0].secondary == 1
    shown = (tmp_path / "o.txt").read_text().splitlines()
    assert shown[0] == '"Total",21.1' and shown.count('"b",x') == 1
    assert '"b",6.7,9' in (tmp_path / "s.txt").read_text()
    with pytest.raises(JobError, match="totals that do not add up .* are for the batch file"):
        argus.to_job(tmp_path / "job.arb", tmp_path / "mine.toml")
    # where they add up nothing is taken as rounded
    exact = run(tmp_path, batch, **{**files, "c": files["c"].replace("21.1", "21.0")})
    assert exact.notes == () and exact.tables[0].table.rounding == 1


def test_totals_that_are_off_by_more_are_refused(tmp_path):
    files = {
        "c": "Total,25\na,12\nb,8\n",
        "c.rda": '<SEPARATOR> ","\nR\n<RECODEABLE>\nV\n<NUMERIC>\n',
    }
    with pytest.raises(dk.errors.AdditivityError, match="job.arb, line 3, <SPECIFYTABLE>"):
        run(tmp_path, CELLS, **files)
