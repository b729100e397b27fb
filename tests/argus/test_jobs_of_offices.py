"""Jobs as offices keep them: files of Windows, decimal commas, several responses, linked cells.

Cells are added up from records here, so that what a job should find unsafe is known without it.
"""

import random
from itertools import product

import pytest

import diskret as dk
from diskret import argus
from diskret.jobs.run import run_job
from diskret.protect import result

REGIONS = {"Nord": ["N1", "N2"], "Süd": ["S1", "S2", "S3"]}
ACTS = {"A": ["A1", "A2"], "B": ["B1", "B2"]}
SIZES = {size: [] for size in "kmg"}
TREES = (REGIONS, ACTS, SIZES)
NAMES = ("Région", "Act", "Größe")
FILES = {"Région": "C:\\Daten\\Hierarchien\\REG.HRC", "Act": "act.hrc"}
COLUMNS = """\
Umsatz 12
  <NUMERIC>
  <DECIMALS> 1
Anz 5
  <NUMERIC>
  <FREQUENCY>
Beschäftigte 6
  <NUMERIC>
Top1 10
  <NUMERIC>
  <MAXSCORE>
Top2 10
  <NUMERIC>
  <MAXSCORE>
St 1
  <STATUS>
Kosten 3
  <NUMERIC>
  <COST>
"""


def leaves(tree):
    return [code for top, below in tree.items() for code in (below or [top])]


def records():
    """Region, activity, size, turnover in tenths, staff, weight."""
    chance = random.Random(5)
    found = []
    for codes in product(*map(leaves, TREES)):
        for _ in range(chance.choice([0, 1, 2, 4, 6])):
            numbers = chance.randint(10, 9009), chance.randint(1, 40), chance.randint(1, 3)
            found.append((*codes, *numbers))
    rare = [record for record in found if record[0] == "S3" and record[2] == "g"]
    return [record for record in found if record not in rare[2:]]


RECORDS = records()


def inside(record, places, codes):
    """Whether a record is in a cell."""
    below = (
        [record[i]] if code == "Ensemble" else (TREES[i].get(code) or [code])
        for i, code in zip(places, codes, strict=True)
    )
    return all(record[i] in known for i, known in zip(places, below, strict=True))


def cells(places):
    """Codes of every cell that is not empty, and its records."""
    trees = [TREES[i] for i in places]
    codes = [
        ["Ensemble", *dict.fromkeys(c for top, below in tree.items() for c in (top, *below))]
        for tree in trees
    ]
    for of_cell in product(*codes):
        own = [record for record in RECORDS if inside(record, places, of_cell)]
        if own:
            yield of_cell, own


def status(codes, own):
    return "U" if len(own) < 3 else "P" if codes == ("Nord", "Ensemble") else "S"


def tenths(number, comma):
    return f"{number // 10}{',' if comma else '.'}{number % 10}"


@pytest.fixture
def office(tmp_path):
    """The folder of an office: cells of three tables, records, trees."""

    def put(name, lines, encoding="cp1252"):
        (tmp_path / name).write_bytes("".join(f"{line}\r\n" for line in lines).encode(encoding))

    for name, tree in (("reg.hrc", REGIONS), ("act.hrc", ACTS)):
        put(name, [x for top, below in tree.items() for x in (top, *(f"@{c}" for c in below))])
    for name, places, comma in (("t1", (0, 2), True), ("t2", (1, 2), False), ("t3", (0, 1), True)):
        lines = []
        for codes, own in cells(places):
            top = [*sorted((record[3] for record in own), reverse=True)[:2], 0, 0]
            fields = [f'"{code}"' for code in codes]
            fields += [tenths(sum(record[3] for record in own), comma), str(len(own))]
            fields += [str(sum(record[4] for record in own)), tenths(top[0], comma)]
            fields += [tenths(top[1], comma), status(codes, own), "7"]
            lines.append(";".join(fields))
        put(f"{name}.tab", lines, "cp1252" if comma else "utf-8")
        metadata = ['   <SEPARATOR> ";"', "   <SAFE> S", "   <UNSAFE> U", "   <PROTECT> P"]
        for variable in (NAMES[i] for i in places):
            metadata += [f"{variable} 8", "  <RECODEABLE>", "  <TOTCODE> Ensemble"]
            if variable in FILES:
                metadata += ["  <HIERARCHICAL>", f'  <HIERCODELIST> "{FILES[variable]}"']
                metadata.append('  <HIERLEADSTRING> "@"')
        put(f"{name}.rda", [*metadata, *COLUMNS.splitlines()])
    put(
        "m.asc",
        [
            f"{a:>4}{b:>3}{c:>2}{tenths(v, True):>8}{staff:>4}{weight:>2}"
            for a, b, c, v, staff, weight in RECORDS
        ],
    )
    total = ["<RECODEABLE>", "<TOTCODE> Ensemble"]
    tree = ["<HIERARCHICAL>", "<HIERLEADSTRING> @", "<HIERCODELIST>"]
    put(
        "m.rda",
        ["Région 1 4", *total, *tree[:2], f"{tree[2]} reg.hrc", "Act 5 3", *total, *tree[:2]]
        + [f"{tree[2]} act.hrc", "Größe 8 2 99", *total, "Umsatz 10 8", "<NUMERIC>"]
        + ["<DECIMALS> 1", "Besch 18 4", "<NUMERIC>", "Gew 22 2", "<NUMERIC>", "<WEIGHT>"],
    )

    def done(*lines):
        put("job.arb", lines)
        return argus.run(tmp_path / "job.arb")

    return done


def opened(name, by, response="Umsatz", more="||"):
    return [
        f'<OPENTABLEDATA> "D:\\Data\\{name.upper()}.TAB"',
        f'<OPENMETADATA> "D:\\Data\\{name}.RDA"',
        f'<SPECIFYTABLE> {by}|"{response}"{more}',
    ]


def unsafe_cells(found):
    trees = [dimension.hierarchy for dimension in found.table.dimensions]
    return {
        tuple(tree.codes[i] for tree, i in zip(trees, at, strict=True))
        for at in zip(*found.sensitivity.unsafe.nonzero(), strict=True)
    }


def few(places, least=3):
    return {codes for codes, own in cells(places) if len(own) < least}


MICRO = ['<OPENMICRODATA> "C:\\x\\m.asc"', '<OPENMETADATA> "C:\\x\\M.rda"']
ONE, TWO, THREE = '"Région""Größe"', '"Act""Größe"', '"Région""Act"'


def test_given_status_keeps_what_is_protected(office, tmp_path):
    (found,) = office(
        *opened("t1", ONE), "<SAFETYRULE>", "<READTABLE> 1T", "<SUPPRESS> OPT(1)",
        '<WRITETABLE> (1,3,AS+QU-,"a.txt")', '<WRITETABLE> (1,5,AS+AR+,"a5.tab")',
    ).tables  # fmt: skip
    assert unsafe_cells(found) == few((0, 2)) and found.secondary >= 3
    assert "Nord,Ensemble," in (tmp_path / "a.txt").read_text(encoding="utf-8")
    (kept,) = [x for x in (tmp_path / "a.txt").read_text("utf-8").splitlines() if ",10" in x[-3:]]
    assert kept.startswith("Nord,Ensemble,")


def test_linked_cells_of_three_files_are_one_system(office, tmp_path):
    parts = [
        line
        for name, by in (("t1", ONE), ("t2", TWO), ("t3", THREE))
        for line in (*opened(name, by), "<SAFETYRULE> MAN(10)")
    ]
    done = office(
        *parts, "<READTABLE> 0T", "<SUPPRESS> MOD(0,5,1,1,1)",
        *(f'<WRITETABLE> ({i},4,AS+,"b{i}.csv")' for i in (1, 2, 3)),
    )  # fmt: skip
    places = ((0, 2), (1, 2), (0, 1))
    assert [unsafe_cells(found) for found in done.tables] == [few(of) for of in places]
    assert len({id(found.result.proof) for found in done.tables}) == 1
    # totals that two of them share are hidden in both or in none
    hidden = [found.result.published.suppressed for found in done.tables]
    assert (hidden[0][0] == hidden[1][0]).all() and (hidden[0][:, 0] == hidden[2][:, 0]).all()
    # a table in which nothing is unsafe is part of the job, too
    argus.to_job(tmp_path / "job.arb", tmp_path / "mine.toml")
    run_job(tmp_path / "mine.toml")


def test_rules_judge_cells_by_their_contributions_and_costs_are_a_column(office, tmp_path):
    done = office(
        *opened("t1", ONE, more='|""|"Kosten"'), "<SAFETYRULE> P(15)|FREQ(3,20)|",
        "<READTABLE> 0F", "<SUPPRESS> MOD(1)", '<WRITETABLE> (1,2,AS-,"c.csv")',
    )  # fmt: skip
    p = set()
    for codes, own in cells((0, 2)):
        x = sorted((record[3] for record in own), reverse=True)
        if sum(x[2:]) * 100 < 15 * x[0]:
            p.add(codes)
    assert unsafe_cells(done.tables[0]) == p | few((0, 2))
    assert not done.written[tmp_path / "c.csv"]


def test_several_responses_of_one_file(office, tmp_path):
    """The largest contributions of the file are those of one of them."""
    second = opened("t1", ONE)[-1]
    done = office(
        *opened("t1", ONE, "Beschäftigte"), second, "<READTABLE>", "<SUPPRESS> MOD(1)",
        "<SUPPRESS> GH(2,50,0,1)", '<WRITETABLE> (1,1,,"d1.csv")', '<WRITETABLE> (2,1,,"d2.csv")',
    )  # fmt: skip
    assert [found.table.measure.name for found in done.tables] == ["Beschäftigte", "Umsatz"]
    assert all(unsafe_cells(found) == few((0, 2)) for found in done.tables)
    assert done.tables[0].table.measure.sum[0, 0] == sum(record[4] for record in RECORDS)
    # a rule that looks at them does not judge another variable by them
    with pytest.raises(dk.errors.InputError, match="<SPECIFYTABLE>: t1.tab: the largest contrib"):
        office(*opened("t1", ONE, "Beschäftigte"), "<SAFETYRULE> P(10,1)", "<READTABLE> 0F")


def test_counts_of_a_file_are_rounded(office, tmp_path):
    (found,) = office(
        *opened("t2", TWO, "<freq>"), "<SAFETYRULE> FREQ(3,20)", "<READTABLE> 0F",
        "<SUPPRESS> RND(1,5,0,10,0,2)", '<WRITETABLE> (1,3,AS+FL+,"e.csv")',
    ).tables  # fmt: skip
    lines = (tmp_path / "e.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == '"Act","Größe","Original","<freq>"'
    assert lines[1].startswith(f'"Ensemble","Ensemble",{len(RECORDS)},')
    assert all(int(line.rsplit(",", 1)[1]) % 5 == 0 for line in lines[1:])
    assert unsafe_cells(found) == few((1, 2))


def test_records_with_recoding_costs_and_a_problem_for_solvers(office, tmp_path):
    done = office(
        *MICRO, '<SPECIFYTABLE> "Région""Act""Größe"|"Umsatz"|"Besch"|"Besch",0.5',
        "<SAFETYRULE> NK(1,85)|NK(0,0)|FREQ(3,10)|ZERO(10)|MIS(1)|WGT(0)|MAN(20)",
        '<SPECIFYTABLE> "Région""Größe"|"<freq>"', "<SAFETYRULE> FREQ(3,10)", "<READMICRODATA>",
        '<RECODE> 1,"Région",1', "<SUPPRESS> MOD(1,5,1,1,1)", '<WRITETABLE> (1,2,AS+,"f.csv")',
        '<WRITETABLE> (1,6,,"f.jj")', "<SUPPRESS> CTA(2)", '<WRITETABLE> (2,3,,"f2.csv")',
    )  # fmt: skip
    first, second = done.tables
    assert first.table.shape == (3, 7, 4)
    expected = set()
    for codes, own in cells((0, 1, 2)):
        staff = [record[4] for record in own]
        if max(staff) * 100 > 85 * sum(staff) or len(own) < 3:
            expected.add(codes)
    kept = {"Ensemble", *REGIONS}
    assert unsafe_cells(first) == {codes for codes in expected if codes[0] in kept}
    assert isinstance(first.result, result.Result) and unsafe_cells(second) == few((0, 2))
    assert done.notes[0].startswith("tables 1, 2 are made of the same records")


def test_weighted_records(office):
    (found,) = office(
        *MICRO, '<SPECIFYTABLE> "Région""Größe"|"Umsatz"||-1',
        "<SAFETYRULE> P(10)|FREQ(5,10)|WGT(1)", "<READMICRODATA>", "<SUPPRESS> NET(1)",
    ).tables  # fmt: skip
    expected = set()
    for codes, own in cells((0, 2)):
        x = sorted((r[3] for r in own for _ in range(r[5])), reverse=True)
        if sum(x[2:]) * 10 < x[0] or len(x) < 5:
            expected.add(codes)
    assert unsafe_cells(found) == expected


def test_totals_are_computed_and_single_cells_named(office, tmp_path):
    hst = 'N1;A1;u\r\n"S1";"B";u\r\nEnsemble;A2;c;1\r\nSüd;;s\r\nX9;A1;u\r\n'
    (tmp_path / "i.hst").write_bytes(hst.encode("cp1252"))

    def unsafe(way):
        (found,) = office(
            *opened("t3", THREE), way, '<APRIORI> "I.HST",1,";",1,1',
            "<SUPPRESS> MOD(1,5,1,0,0)", '<WRITETABLE> (1,4,AS+HL+,"i.csv")',
        ).tables  # fmt: skip
        return unsafe_cells(found)

    by_hand = {("N1", "A1"), ("S1", "B")}
    assert unsafe("<READTABLE> 1F") == by_hand
    # computing totals makes no cell safe that the file calls unsafe
    assert unsafe("<READTABLE> 1") == by_hand | {("S3", "B1"), ("S2", "B2")}
    lines = (tmp_path / "i.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1].startswith('"Ensemble","A",0,1,')
