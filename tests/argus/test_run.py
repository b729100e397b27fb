"""Jobs from files to files: tables, rules, methods, outputs, refusals."""

import stat

import numpy as np
import pytest
from argus_jobs import BATCH, METADATA, RECORDS, TREE, files_of, written

import diskret as dk
from diskret import argus
from diskret.errors import DiskretError, JobError

HEAD, TABLE = BATCH.split("<SPECIFYTABLE>")[0], '<SPECIFYTABLE> "Region""Size"|"Turnover"||\n'
READ = "<READMICRODATA>\n"


@pytest.fixture
def run(tmp_path):
    """Run a job in a folder of its own."""

    def done(batch=BATCH, options=None, **files):
        return argus.run(written(tmp_path, **{"job.arb": batch, **files}), **(options or {}))

    return done


def rows(path):
    return path.read_text(encoding="utf-8").splitlines()


def status(found, *codes):
    """Status of a cell by its number in τ-ARGUS."""
    table = found.table
    at = zip(table.dimensions, codes, strict=True)
    return int(found.status[tuple(d.hierarchy.position[code] for d, code in at)])


# ── the whole way ───────────────────────────────────────────────────────────────────


def test_records_become_a_proven_table_and_two_files(run, tmp_path):
    done = run()
    (found,) = done.tables
    assert found.table.shape == (8, 3)  # the code of what is not known is in the tree
    assert found.table.measure.sum[0, 0] == 1615
    # 1: S 100 + 90; 2: S 500, L 30, one record each; 3: L 190, 4: S 60
    assert status(found, "2", "S") == status(found, "1", "S") == 3
    assert status(found, "4", "Total") == 1 and status(found, "9", "Total") == 14
    assert isinstance(found.result, dk.Result)
    assert found.unsafe == found.result.certificate.primaries
    assert [done.written[tmp_path / name] for name in ("status.txt", "public.txt")] == [True, False]
    assert stat.S_IMODE((tmp_path / "status.txt").stat().st_mode) == 0o600
    lines = rows(tmp_path / "status.txt")
    assert lines[:2] == ['"Region","Size","Turnover","Status"', '"Total","Total",1615,1']
    assert '"2","S",500,3' in lines and '"9","Total",-,14' in lines
    public = rows(tmp_path / "public.txt")
    assert len(public) == 24 and '"2","S",x' in public and '"9","L",-' in public
    hidden = [line.rsplit(",", 1)[0] for line in public if line.endswith(",x")]
    assert len(hidden) == int(found.result.published.suppressed.sum())
    # what is public says nothing of why
    assert not any(line.count(",") != 2 for line in public)


def test_the_same_job_gives_the_same_files_and_no_others(run, tmp_path):
    run()
    first = {name: (tmp_path / name).read_bytes() for name in files_of(tmp_path)}
    run()
    assert first == {name: (tmp_path / name).read_bytes() for name in files_of(tmp_path)}


def test_files_are_found_whatever_their_case_and_folder(tmp_path):
    (tmp_path / "data").mkdir()
    job = written(
        tmp_path,
        **{
            "job.arb": BATCH.replace('"firms.asc"', '"C:\\survey\\FIRMS.ASC"').replace(
                '"firms.rda"', '"..\\Data\\Firms.RDA"'
            )
        },
    )
    for name in ("firms.asc", "firms.rda", "region.hrc"):
        (tmp_path / name).rename(tmp_path / "data" / name.capitalize())
    (tmp_path / "jobs").mkdir()
    job = job.rename(tmp_path / "jobs" / "job.arb")
    done = argus.run(job, data=tmp_path / "data")
    assert done.tables[0].unsafe == 9
    # a bare name is written with the data
    assert (tmp_path / "data" / "public.txt").exists()


def test_a_release_of_our_own(run, tmp_path):
    done = run(options={"folder": tmp_path / "out", "keys": dk.SecretKeys(bytes(range(32)))})
    assert done.folder == tmp_path / "out"
    assert dk.verify(tmp_path / "out")
    published = dk.Published.read(tmp_path / "out" / "public")
    assert np.array_equal(published.suppressed, done.tables[0].result.published.suppressed)


def test_logbook_and_version(run, tmp_path):
    done = run(batch='<LOGBOOK> "job.log"\n<VERSIONINFO> "v.txt"\n' + BATCH)
    assert done.written[tmp_path / "job.log"]
    assert "table 1: Region × Size | Turnover: 24 cells" in rows(tmp_path / "job.log")[1]
    assert rows(tmp_path / "v.txt") == [f"diskret {dk.__version__}"]
    run(batch='<LOGBOOK> "job.log"\n' + BATCH, options={"logbook": tmp_path / "other.log"})
    assert (tmp_path / "other.log").exists()


def test_a_job_that_goes_on_by_hand_says_what_it_would_have_shown(run, tmp_path):
    before = {"job.arb", "firms.asc", "firms.rda", "region.hrc"}
    done = run(batch=HEAD + TABLE + "<SAFETYRULE> P(10,1)\n" + READ + "<GOINTERACTIVE>\n")
    assert done.interactive and done.tables[0].result is None
    assert done.tables[0].unsafe > 0 and {*files_of(tmp_path)} == before


# ── data ────────────────────────────────────────────────────────────────────────────


def test_free_format_with_decimal_commas_says_the_same(run):
    fixed = run()
    lines = [line.split() for line in RECORDS.splitlines()]
    text = "".join(f"{a} ; {b};{c}; {v},00;\r\r\n" for a, b, c, v in lines)
    metadata = (
        '<SEPARATOR> ";"\nPart 1\n<RECODEABLE>\nREGION 1 9\n<RECODEABLE> <HIERARCHICAL>\n'
        "<HIERCODELIST> region.hrc\nSize 1\n<RECODEABLE>\nTurnover 6\n<NUMERIC>\n<DECIMALS> 2\n"
    )
    free = run(**{"firms.asc": text, "firms.rda": metadata})
    assert np.array_equal(free.tables[0].status, fixed.tables[0].status)
    assert free.tables[0].table.measure.sum[0, 0] == 161500


def test_a_tree_in_the_digits_of_the_code(run):
    records = "".join(f"{c}{v:5}\n" for c, v in [("011", 7), ("012", 9), ("021", 4), ("999", 3)])
    metadata = "Nace 1 3 999\n<RECODEABLE>\n<HIERARCHICAL>\n<HIERLEVELS> 2 1 0\nV 4 5\n<NUMERIC>\n"
    batch = HEAD + '<SPECIFYTABLE> "Nace"|"V"\n<SAFETYRULE> FREQ(2,10)|MIS(1)\n' + READ
    (found,) = run(batch, **{"firms.asc": records, "firms.rda": metadata}).tables
    tree = found.table.dimensions[0].hierarchy
    assert tree.codes == ("Total", "01", "011", "012", "02", "021", "999")
    assert tree.parent[-1] == 0 and status(found, "999") == 1


def test_a_code_above_others_may_stand_twice_in_a_tree(run, tmp_path):
    tree = "A\n@X\n@@1\n@@2\nB\n@X\n@@3\n@@4\n"
    batch = HEAD + '<SPECIFYTABLE> "Region"|"Turnover"\n<SAFETYRULE> MAN(20)\n' + READ
    batch += '<WRITETABLE> (1,3,AS+,"t.txt")\n'
    (found,) = run(batch, **{"region.hrc": tree}).tables
    assert found.table.dimensions[0].hierarchy.codes[5:7] == ("B", "X (2)")
    assert sum(line.startswith('"X",') for line in rows(tmp_path / "t.txt")) == 2
    with pytest.raises(DiskretError, match="region.hrc, line 3: the code '1' stands twice"):
        run(batch, **{"region.hrc": "A\n@1\n@1\n"})


def test_weights_count_as_equal_contributions(run):
    records = "a  10 2.5\na   4 1.0\nb   9 1.0\nb   8 1.5\n"
    metadata = "R 1 1\n<RECODEABLE>\nV 2 4\n<NUMERIC>\nW 6 4\n<WEIGHT>\n<DECIMALS> 1\n"
    batch = HEAD + '<SPECIFYTABLE> "R"|"V"\n<SAFETYRULE> P(10,1)|WGT({})\n' + READ
    files = {"firms.asc": records, "firms.rda": metadata}
    plain, weighted = (run(batch.format(w), **files).tables[0] for w in (0, 1))
    assert plain.table.measure.sum.tolist() == [31, 14, 17]
    assert weighted.table.measure.sum.tolist() == [500, 290, 210]  # one decimal more


def test_cells_of_a_file_with_status_and_levels(run, tmp_path):
    cells = 'T;T;20,5;9;S;0;0\nT;a;12,5;5;S;0;0\nT;b;8;4;S;0;0\n' + (
        "1;T;9;4;S;0;0\n1;a;5;2;U;1,5;2\n1;b;4;2;S;0;0\n2;T;11,5;5;S;0;0\n2;a;7,5;3;S;0;0\n"
        "2;b;4;2;P;0;0\n"
    )  # fmt: skip
    metadata = (
        '<SEPARATOR> ";"\nR\n<RECODEABLE>\n<TOTCODE> T\nS "9"\n<RECODEABLE>\n<TOTCODE> "T"\nV\n'
        "<NUMERIC>\n<DECIMALS> 1\nF\n<FREQUENCY>\nSt\n<STATUS>\nL\n<NUMERIC> <LOWERPL>\nU\n"
        "<NUMERIC> <UPPERPL>\n"
    )
    batch = (
        '<OPENTABLEDATA> "c.tab"\n<OPENMETADATA> "c.rda"\n<SPECIFYTABLE> "R""S"|"V"\n<READTABLE>\n'
        '{}<WRITETABLE> (1,5,AS+,"again.tab")\n'
    )
    files = {"c.tab": cells, "c.rda": metadata}
    (found,) = run(batch.format(""), **files).tables
    at = found.table.dimensions[0].hierarchy.position["1"], 1
    assert (found.sensitivity.lower[at], found.sensitivity.upper[at]) == (15, 20)
    assert status(found, "1", "a") == 9 and status(found, "2", "b") == 10
    stays = run(batch.format("<SUPPRESS> OPT(1,1)\n"), **files).tables[0]
    assert status(stays, "2", "b") == 10 and stays.secondary >= 3
    files["c.tab"] = cells.replace("P;", "S;")
    (hidden,) = run(batch.format("<SUPPRESS> OPT(1,1)\n"), **files).tables
    assert (hidden.unsafe, hidden.secondary) == (1, 3)
    assert (
        "1;a" not in rows(tmp_path / "again.tab")
        and '"1";"a";5.0;2;' in (tmp_path / "again.tab").read_text()
    )
    # an intermediate file is read back with its status and levels
    again = run(
        '<OPENTABLEDATA> "again.tab"\n<OPENMETADATA> "again.rda"\n<SPECIFYTABLE> "R""S"|"V"\n'
        "<READTABLE> 1T\n<SUPPRESS> OPT(1,1)\n"
    ).tables[0]
    assert np.array_equal(again.status, hidden.status)
    assert again.sensitivity.upper[at] == 20


def test_totals_that_do_not_add_up_are_refused_or_computed(run):
    cells = "Total,21\na,12\nb,8\n"
    metadata = '<SEPARATOR> ","\nR\n<RECODEABLE>\nV\n<NUMERIC>\n'
    batch = '<OPENTABLEDATA> "c"\n<OPENMETADATA> "c.rda"\n<SPECIFYTABLE> "R"|"V"\n<READTABLE> {}\n'
    files = {"c": cells, "c.rda": metadata}
    with pytest.raises(dk.errors.AdditivityError, match="job.arb, line 3, <SPECIFYTABLE>"):
        run(batch.format(0), **files)
    done = run(batch.format(1), **files)
    assert done.tables[0].table.measure.sum.tolist() == [20, 12, 8]
    assert done.notes[0].startswith("table 1: 1 of 1 totals of 'V' changed")
    # off by less than rounding could be
    assert run(batch.format(2), **files).tables[0].table.measure.sum.tolist() == [200, 120, 80]


# ── coarser codes ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("recode", "codes"),
    [
        ('"Region",1', ("Total", "North", "South", "9")),
        ('"Region",2', ("Total", "North", "1", "2", "South", "3", "4", "9")),
        ('Region,"close.grc"', ("Total", "North", "South", "3", "4", "9")),
        ('size,"all.grc"', ("Total", "1")),
    ],
)
def test_recoding(run, recode, codes):
    batch = f"{HEAD}{TABLE}<SAFETYRULE> P(10,1)\n{READ}<RECODE> 1,{recode}\n"
    groups = {"close.grc": "<TREERECODE>\nNorth\n", "all.grc": "1: -Z\n\n9\n<MISSING> 9\n"}
    if "all" in recode:  # a group of everything would be the total
        with pytest.raises(DiskretError, match="line 6, <RECODE>.*holds all codes below"):
            run(batch, **groups)
        groups["all.grc"] = "1: S-\n"
        codes = ("Total", "L", "1")
    (found,) = run(batch, **groups).tables
    assert found.table.dimensions["size" in recode].hierarchy.codes == codes
    assert found.table.measure.sum[0, 0] == 1615


def test_recoding_that_cannot_be(run):
    batch = f"{HEAD}{TABLE}{READ}<RECODE> 1,{{}}\n"
    for recode, files, said in [
        ("Part,1", {}, "table 1 has no variable 'Part'"),
        ("Nobody,1", {}, "has no variable 'Nobody'"),
        ('Region,"g.grc"', {}, "there is no file 'g.grc'"),
        ('Region,"g.grc"', {"g.grc": "1: 1-2\n"}, "groups are for variables without one"),
        ('Region,"g.grc"', {"g.grc": "<TREERECODE>\n77\n"}, "'77' is not in the tree"),
        ('Size,"g.grc"', {"g.grc": "1: X\n"}, "groups no code of the data"),
    ]:
        with pytest.raises(DiskretError) as error:
            run(batch.format(recode), **files)
        assert said in str(error.value)


# ── rules, costs, methods ───────────────────────────────────────────────────────────


def test_what_is_known_of_single_cells(run):
    batch = f'{HEAD}{TABLE}<SAFETYRULE> P(10,1)\n{READ}<APRIORI> "a.hst",1,";"{{}}\n'
    hst = "2;S;s\n77;S;u\n1;;u\n3;S;c;5\n"
    (found,) = run(batch.format(""), **{"a.hst": hst}).tables
    assert status(found, "2", "S") == 2 and status(found, "1", "Total") in (3, 9)
    with pytest.raises(DiskretError, match="line 6, <APRIORI>.*'77'"):
        run(batch.format(",0"), **{"a.hst": hst})


def test_rules_of_records_and_of_holdings_are_joined(run):
    records = "xa  50\nxa  49\nya  48\nzb  90\nyb   5\n"
    metadata = "H 1 1\n<HOLDING>\nR 2 1\n<RECODEABLE>\nV 3 4\n<NUMERIC>\n"
    batch = HEAD + '<SPECIFYTABLE> "R"|"V"\n<SAFETYRULE> {}\n' + READ
    files = {"firms.asc": records, "firms.rda": metadata}

    def unsafe(rules):
        return run(batch.format(rules), **files).tables[0].sensitivity.unsafe.tolist()

    assert unsafe("P(10,1)") == [False, False, True]
    assert unsafe("P(0,0)|P(0,0)|P(10,1)") == [False, True, True]
    assert unsafe("NK(1,80)|NK(0,0)|P(0,0)|P(0,0)|P(10,1)") == [False, True, True]
    assert unsafe("NK(1,80)|NK(0,0)|NK(2,78)") == [True, True, True]
    assert unsafe("NK(1,80)") == [False, False, True]


def test_counts_get_a_share_of_the_count_as_level(run):
    batch = HEAD + '<SPECIFYTABLE> "Region"|"<freq>"\n<SAFETYRULE> FREQ(6,50)\n' + READ
    (found,) = run(batch).tables
    count, says = found.table.measure.sum, found.sensitivity
    assert says.unsafe.tolist() == ((count > 0) & (count < 6)).tolist()
    assert says.upper[says.unsafe].tolist() == [-(-c // 2) for c in count[says.unsafe].tolist()]


def test_a_share_of_zero_still_asks_for_one_unit(run):
    batch = f"{HEAD}{TABLE}<SAFETYRULE> FREQ(3,0)\n{READ}"
    (found,) = run(batch).tables
    assert {*found.sensitivity.upper[found.sensitivity.unsafe].tolist()} == {1}


@pytest.mark.parametrize("cost", ['"Turnover",0', '"Part"', "-1", "-2", "-2,0.5", '"Turnover",2'])
def test_costs(run, cost):
    metadata = METADATA.replace("Part 1 1\n  <RECODEABLE>", "Part 1 1\n  <NUMERIC>")
    records = "".join(f"1{line[1:]}\n" for line in RECORDS.splitlines())
    batch = BATCH.replace('"Turnover"||', f'"Turnover"||{cost}')
    (found,) = run(batch, **{"firms.rda": metadata, "firms.asc": records}).tables
    assert found.secondary >= 1


def test_shadow_variables_are_what_rules_look_at(run):
    metadata = METADATA.replace("Part 1 1\n  <RECODEABLE>", "Part 1 1\n  <NUMERIC>")
    records = "".join(f"1{line[1:]}\n" for line in RECORDS.splitlines())
    batch = BATCH.replace('"Turnover"||', '"Turnover"|"Part"|').replace("FREQ(2,30)|", "")
    (found,) = run(batch, **{"firms.rda": metadata, "firms.asc": records}).tables
    # everybody contributes 1, so cells of one or two are unsafe
    count = found.table.count
    assert np.array_equal(found.sensitivity.unsafe, (count > 0) & (count < 3))


@pytest.mark.parametrize("method", ["GH(1,100)", "NET(1)", "OPT(1)", "MOD(1,5,1,1,1)", "MOD(0,5)"])
def test_methods_that_hide_prove_what_they_hide(run, method):
    (found,) = run(BATCH.replace("MOD(1,5)", method)).tables
    assert found.secondary > 0
    assert found.result.certificate.primaries == found.unsafe
    attacked = dk.attack.intervals(found.result.published).to_pylist()
    assert all(cell["upper"] is None or cell["lower"] < cell["upper"] for cell in attacked)


def test_singletons_are_looked_at_where_the_job_asks(run):
    asked, not_asked = (
        run(BATCH.replace("MOD(1,5)", method)).tables[0].result.certificate.attacker.contributor
        for method in ("MOD(1,5,1,0,0)", "MOD(1,5,0,0,0)")
    )
    assert asked and not not_asked
    told = run(BATCH, options={"contributor": True}).tables[0].result
    assert told.certificate.attacker.contributor


@pytest.mark.parametrize("method", ["RND(1,500)", "CTA(1)"])
def test_methods_that_change_values(run, tmp_path, method):
    batch = BATCH.replace("MOD(1,5)", method).replace("AS+FL+", "FL+")
    done = run(batch)
    assert isinstance(done.tables[0].result, dk.PerturbedResult)
    shown = [line.rsplit(",", 1)[1] for line in rows(tmp_path / "public.txt")]
    assert "x" not in shown
    if method.startswith("RND"):
        assert all(float(value) % 500 == 0 for value in shown if value != "-")
    # with the status the true values stand beside
    run(BATCH.replace("MOD(1,5)", method))
    assert rows(tmp_path / "status.txt")[0] == '"Region","Size","Original","Turnover"'
    assert rows(tmp_path / "status.txt")[1].startswith('"Total","Total",1615,')
    with pytest.raises(JobError, match="line 8, <WRITETABLE>: values of this table are changed"):
        run(BATCH.replace("MOD(1,5)", method).replace("(1,3,,", "(1,4,,"))


def test_linked_tables_are_protected_together_and_others_are_noted(run):
    second = '<SPECIFYTABLE> "Part""Size"|"Turnover"\n<SAFETYRULE> P(10,1)|FREQ(2,30)\n'
    batch = BATCH.replace(READ, second + READ)
    linked = run(batch.replace("MOD(1,5)", "MOD(0,5)"))
    assert linked.notes == () and len(linked.tables) == 2
    assert linked.tables[0].result.proof is linked.tables[1].result.proof
    alone = run(batch.replace("<SUPPRESS> MOD(1,5)", "<SUPPRESS> MOD(1,5)\n<SUPPRESS> OPT(2,1)"))
    assert alone.notes[0].startswith("tables 1, 2 are made of the same records")


# ── files ───────────────────────────────────────────────────────────────────────────


def test_every_type_of_file(run, tmp_path):
    batch = BATCH + (
        '<WRITETABLE> (1,1,,"csv.txt")\n<WRITETABLE> (1,2,,"pivot.txt")\n'
        '<WRITETABLE> (1,3,QU-SE+,"plain.txt")\n<WRITETABLE> (1,3,SO+,"only.txt")\n'
        '<WRITETABLE> (1,4,HL+,"sbs.txt")\n<WRITETABLE> (1,5,,"all.tab")\n'
    )
    written_files = run(batch).written
    assert rows(tmp_path / "csv.txt")[0] == '"Region","Total","L","S"'
    assert rows(tmp_path / "csv.txt")[2].startswith('"North",')
    assert rows(tmp_path / "pivot.txt")[0] == '"Region","Size","Turnover"'
    assert rows(tmp_path / "plain.txt")[0] == "Total,Total,1615"
    assert not any(line.endswith("-") for line in rows(tmp_path / "plain.txt"))
    assert rows(tmp_path / "only.txt")[0] == '"Total","Total",1'
    sbs = rows(tmp_path / "sbs.txt")
    assert sbs[0] == '"Total","Total",0,0,1615,12,V'
    assert '"2","S",2,1,500,1,F,100.0000,0.0000' in sbs
    assert rows(tmp_path / "all.tab")[0].startswith('"Total";"Total";1615;12;1615;1615;500;210;')
    internal = {path.name for path, inside in written_files.items() if inside}
    assert {"only.txt", "sbs.txt", "all.tab", "all.rda", "all_1.hrc", "status.txt"} == internal


def test_layers_of_a_csv_file(run, tmp_path):
    batch = BATCH.replace('"Region""Size"', '"Part""Size""Region"')
    run(batch + '<WRITETABLE> (1,1,,"csv.txt")\n')
    lines = rows(tmp_path / "csv.txt")
    assert lines[0] == 'Var 3,"Total"' and sum(line.startswith("Var 3,") for line in lines) == 8


@pytest.mark.parametrize(
    ("batch", "said"),
    [
        (BATCH.replace("<SUPPRESS> MOD(1,5)\n", ""), "line 7, <WRITETABLE>: table 1 is not prot"),
        (BATCH.replace('"public.txt"', '"STATUS.txt/../status.txt"'), "there is no folder"),
        (BATCH.replace('"public.txt"', '"status.txt"'), "status.txt would be written twice"),
        (BATCH.replace('"public.txt"', '"firms.asc"'), "firms.asc is read by the job"),
        (BATCH.replace('"public.txt"', '"region.hrc"'), "region.hrc is read by the job"),
        (BATCH.replace('"public.txt"', '"job.arb"'), "job.arb is read by the job"),
        (BATCH.replace('(1,3,,"pu', '(1,5,,"fi').replace("blic.txt", "rms.tab"), "firms.rda is"),
        (BATCH.replace('(1,3,,"pu', '(1,7,,"pu'), "files of type 7 hold what the cell key"),
        (BATCH.replace('"public.txt"', '"nowhere/public.txt"'), "there is no folder"),
        (BATCH.replace('"public.txt"', '".."'), "is a folder; name a file"),
        (BATCH.replace("firms.asc", "firm.asc"), "<OPENMICRODATA>: there is no file"),
        (BATCH.replace('"Region""Size"', '"Area""Size"'), "has no variable 'Area'; it has 'Part'"),
        (BATCH.replace("P(10,1)", "P(0,0)|P(0,0)|P(10,1)"), "marked <HOLDING>, and firms.rda"),
        (BATCH.replace("P(10,1)", "P(90,50,1)"), "line 4, <SAFETYRULE>: p must be below q"),
        (BATCH.replace("P(10,1)", "P(9,1.5)"), "P counts contributors, so 1.5 must be"),
        (BATCH.replace("P(10,1)", "REQ(50,40,0)"), "marked <REQUEST>"),
        (BATCH.replace("FREQ(2,30)", "FREQ(2,30)|WGT(1)"), "marked <WEIGHT>"),
        (BATCH.replace('"Turnover"||', '"<freq>"'), "line 4, <SAFETYRULE>: P judges sums"),
        (BATCH.replace('"Turnover"||', '"Turnover"||-3'), "costs by distance (-3)"),
        (BATCH.replace("MOD(1,5)", 'CKM(1) "p.txt"'), "<SUPPRESS>: needs one variable that is"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_before_anything_is_written(tmp_path, batch, said):
    job = written(tmp_path, **{"job.arb": batch})
    before = {name: (tmp_path / name).read_bytes() for name in files_of(tmp_path)}
    with pytest.raises(DiskretError) as error:
        argus.run(job)
    assert said in str(error.value)
    assert before == {name: (tmp_path / name).read_bytes() for name in files_of(tmp_path)}


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ("", "firms.rda: names no variable"),
        ("<RECODEABLE>\n", "firms.rda, line 1, <RECODEABLE>: stands before the first variable"),
        ("Size\n", "line 1: the variable 'Size' needs its first character and its width"),
        ("Size 0 1\n", "has no room; positions begin with 1"),
        ("Size 1 1\nsize 2 1\n", "line 2: the variable 'size' stands twice"),
        ("Size 1 1\n<DECIMALS> two\n", "line 2, <DECIMALS>: 'two' is no number of decimals"),
        ("Size 1 1\n<HIERLEVELS> a b\n", "are no numbers of digits"),
        ("Size 1 1\n<HIERCODELIST>\n", "line 2, <HIERCODELIST>: says nothing"),
        ("<SPSS>\nSize 1 1\n", "files of SPSS are not read here"),
        ('<SEPARATOR> ";;"\nSize 1\n', "is no separator; give one character"),
        ('<SEPARATOR> ";"\n' + METADATA.replace(" 6 6", " 6"), "the first line has 1 field"),
    ],
)
def test_metadata_that_cannot_be_understood(run, metadata, said):
    with pytest.raises(DiskretError) as error:
        run(**{"firms.rda": metadata})
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ("", "holds no codes"),
        ("A\n@@1\n", "region.hrc, line 2: the code '1' lies more than one level below"),
        ("A\n@\n", "region.hrc, line 2: '' cannot be a code"),
        ("Total\n@1\n", "'Total' cannot be a code"),
        ("A\n@1\n", "not in"),
    ],
)
def test_trees_that_cannot_be_understood(run, tree, said):
    with pytest.raises(DiskretError) as error:
        run(**{"region.hrc": tree})
    assert said in str(error.value)


def test_labels_reach_the_release(run):
    metadata = METADATA.replace('  <HIERLEADSTRING> "@"', '  <CODELIST> "REGION.CDL"')
    labels = "1,First\n 2,Zweite Größe\nNorth,The north\n77,nowhere\n".encode("latin-1")
    (found,) = run(**{"firms.rda": metadata, "region.cdl": labels}).tables
    assert found.table.dimensions[0].hierarchy.label("2") == "Zweite Größe"
    assert TREE.startswith("North")


def test_the_command_says_what_it_did_in_both_languages(tmp_path):
    from typer.testing import CliRunner

    from diskret.cli.main import app

    job = written(tmp_path)
    done = CliRunner().invoke(app, ["argus", str(job)], env={"COLUMNS": "500"})
    assert done.exit_code == 0, done.output
    assert "Table 1, Region × Size | Turnover: 24 cells, 9 unsafe" in done.output
    assert "Stays in the office: " in done.output and "May leave the office: " in done.output
    done = CliRunner().invoke(app, ["argus", str(job), "--language", "de"])
    assert "24 Felder, davon 9 unsicher" in done.output
    job.write_text(BATCH.replace("MOD(1,5)", "NET(0)"), encoding="utf-8")
    done = CliRunner().invoke(app, ["argus", str(job), "--language", "de"], env={"COLUMNS": "500"})
    assert done.exit_code == 1
    assert "job.arb, Zeile 6, <SUPPRESS>: NET schützt eine Tabelle" in done.output
    log = tmp_path / "τ.log"
    job.write_text(
        BATCH.replace("<SUPPRESS> MOD(1,5)\n", "").split("<WRITE")[0] + "<GOINTERACTIVE>"
    )
    done = CliRunner().invoke(app, ["argus", str(job), str(log), str(tmp_path), str(tmp_path)])
    assert done.exit_code == 0 and "goes on by hand" in done.output and log.exists()
