"""The batch language: what is understood, and what is said of the rest."""

from pathlib import Path

import pytest

from diskret.argus.batch import read_batch
from diskret.argus.rule_text import RuleSet, read_rules
from diskret.argus.text import Place, encoding_of, unquoted
from diskret.errors import JobError

BEGIN = '<OPENMICRODATA> "a.asc"\n<OPENMETADATA> "a.rda"\n'
TABLE = '<SPECIFYTABLE> "A""B"|"V"||\n<SAFETYRULE> P(10,1)\n<READMICRODATA>\n'


@pytest.fixture
def read(tmp_path):
    def done(text):
        path = tmp_path / "job.arb"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_batch(path)

    return done


@pytest.mark.parametrize(
    ("text", "by", "response", "shadow", "cost", "power"),
    [
        ('"A""B"|"V"||', ("A", "B"), "V", "", "", 1),
        ('"A" "B" | "V"', ("A", "B"), "V", "", "", 1),
        ('"A"|"V"|"S"|"C"', ("A",), "V", "S", "C", 1),
        ('"A"|"V"|"S"|-2,0.5', ("A",), "V", "S", "-2", 0.5),
        ('"A"|"V"|"S"|-1|0', ("A",), "V", "S", "-1", 0),
        ('"A"|"V"|""|""', ("A",), "V", "", "", 1),
        ('"A"|"<freq>"', ("A",), "<freq>", "", "", 1),
        ('"A"|<FREQ>||', ("A",), "<FREQ>", "", "", 1),
        ("A, B|V", ("A", "B"), "V", "", "", 1),
        ('"Size class""B"|"V"', ("Size class", "B"), "V", "", "", 1),
    ],
)
def test_tables_are_specified_with_and_without_bars(read, text, by, response, shadow, cost, power):
    table = read(f"{BEGIN}<SPECIFYTABLE> {text}\n").tables[0]
    assert (table.by, table.response, table.shadow) == (by, response, shadow)
    assert (table.cost, table.power) == (cost, power)


def test_case_tabs_blanks_and_comments_do_not_matter(read):
    text = (
        "// a comment\r\n\\\\ another\r\n\r\n"
        '\t<openmicrodata>\t"a.asc"\r\n  < OpenMetaData > "a.rda"  \r\n'
        '<specifytable> "A"|"V"\n<safetyrule> p( 10 , 1 ) | freq(3,30) |\n'
        '<suppress>\tmod( 1, 5, 1, 1, 1 )\n<WriteTable> ( 1 , 3 , as+ fl- , "o.txt" )\n'
    )
    found = read(text)
    assert [rule.kind for rule in found.tables[0].rules.rules] == ["P", "FREQ"]
    assert (found.suppress[0].method, found.suppress[0].options) == ("MOD", (5, 1, 1, 1))
    assert found.writes[0].options == {"AS": True, "FL": False}
    assert found.writes[0].file == "o.txt"


@pytest.mark.parametrize(
    "by", ['"A""B"', '"A" "B"', '"A","B"', "A B", "A,B", '"A"B', 'A"B"', '\t"A"\tB\t']
)
def test_no_variable_is_lost_whatever_is_quoted(read, by):
    found = read(f'<OPENMICRODATA> a\n<OPENMETADATA> b\n<SPECIFYTABLE> {by}|V|""|C,0,5\n')
    assert (found.tables[0].by, found.tables[0].response) == (("A", "B"), "V")
    assert (found.tables[0].cost, found.tables[0].power) == ("C", 0.5)


def test_options_may_be_left_out_and_separators_be_blanks(read):
    found = read(
        '<OPENMICRODATA> a\n<OPENMETADATA> b\n<SPECIFYTABLE> "A"|"V"\n'
        '<OPENMICRODATA> "C:\\other\\A"\n<READMICRODATA>\n<APRIORI> "h.hst",1,"\t",0,0\n'
        '<APRIORI> "h.hst",1," "\n<APRIORI> "h.hst",1,\\t\n<SUPPRESS> OPT(1)\n'
        '<WRITETABLE> (1,1,"c.csv")\n<WRITETABLE> (1,3,0,"d.txt")\n'
    )
    assert [one.separator for one in found.apriori] == ["\t", " ", "\t"]
    assert [(dict(one.options), one.file) for one in found.writes] == [({}, "c.csv"), ({}, "d.txt")]


def test_what_stands_after_two_slashes_is_a_comment(read):
    found = read(
        BEGIN.replace('"a.asc"', '"a //b.asc" // records')
        + "<COMMENT> nothing at all\n"
        + TABLE.replace("READMICRODATA>", "READMICRODATA> // now")
        + "<SUPPRESS> MOD(1,5)// no blank before it belongs to the command\n"[:19]
        + "\t// and here\n"
    )
    assert found.data[0].file.name == "a //b.asc"
    assert found.suppress[0].options == (5,)


def test_the_perturbation_tables_of_the_cell_key_method(read):
    text = BEGIN + TABLE + "<SUPPRESS> CKM(1) {}\n"
    asked = [read(text.format(more)).suppress[0] for more in ("", '"p.txt"', '"c"|"s"|0.5', "c||")]
    assert [one.files for one in asked] == [(), ("p.txt",), ("c", "s"), ("c", "")]
    assert [one.options for one in asked] == [(), (), (0.5,), ()]


def test_old_encodings_are_read(read):
    for encoding in ("utf-8", "utf-8-sig", "cp1252", "latin-1"):
        table = read((BEGIN + '<SPECIFYTABLE> "Größe"|"Umsatz"\n').encode(encoding)).tables[0]
        assert table.by == ("Größe",)
    assert encoding_of(bytes([0x81, 0xE9])) == "latin-1"


def test_other_commands(read):
    found = read(
        '<LOGBOOK> "l.log"\n<VERSIONINFO> "v.txt"\n<SILENT>\n<ANCO>\n<SOLVER> FREE,""\n'
        + BEGIN
        + TABLE
        + '<RECODE> 1, A, "g.grc"\n<RECODE> 1,"B",2\n<APRIORY> "x.hst",1,";",0,1\n'
        '<APRIORI> "y.hst",1\n<SUPPRESS> HYPERCUBE(1)\n<GOINTERACTIVE>\n'
    )
    assert (found.logbook.name, found.version.name) == ("l.log", "v.txt")
    assert [(r.variable, r.file, r.level) for r in found.recodes] == [
        ("A", "g.grc", 0),
        ("B", "", 2),
    ]
    assert [(a.file, a.separator, a.ignore_unknown) for a in found.apriori] == [
        ("x.hst", ";", False),
        ("y.hst", ",", True),
    ]
    assert found.suppress[0].method == "GH"
    assert found.interactive.line == 16


def test_several_files_of_cells_and_what_was_cleared(read):
    cells = '<OPENTABLEDATA> "{0}.tab"\n<OPENMETADATA> "{0}.rda"\n<SPECIFYTABLE> "A"|"V"\n'
    found = read(
        cells.format("a")
        + "<READTABLE> 1T\n<CLEAR>\n"
        + cells.format("b")
        + cells.format("c")
        + "<READTABLE> 1\n<SUPPRESS> MOD(0,5)\n"
    )
    assert [[data.file.name for data in part.data] for part in found.parts] == [
        ["a.tab"],
        ["b.tab", "c.tab"],
    ]
    assert [table.number for table in found.tables] == [1, 2]
    assert (found.cleared[0].data[0].additivity, found.cleared[0].data[0].status) == (1, True)
    # what the office found unsafe is not safe because totals are computed
    assert (found.data[0].additivity, found.data[0].status) == (1, True)
    found = read(cells.format("a") + "<READTABLE> 1F\n")
    assert (found.data[0].additivity, found.data[0].status) == (1, False)


def test_records_that_are_opened_again_are_the_same(read):
    assert len(read(BEGIN + TABLE + BEGIN + TABLE).data) == 1


# ── rules ───────────────────────────────────────────────────────────────────────────

HERE = Place(Path("job.arb"), 4, "SAFETYRULE")


def rules(text):
    return [(r.kind, r.numbers, r.holdings) for r in read_rules(text, HERE).rules]


def test_rules_of_a_kind_look_at_holdings_from_the_third_on():
    assert rules("P(0,0)|P(0,0)|P(10,1)|P(0,0)|ZERO(10)|MIS(1)|MAN(10)") == [
        ("P", (10, 1), True),
        ("ZERO", (10,), False),
    ]
    assert rules("NK(3,75)|NK(1,90)|NK(2,80)") == [
        ("NK", (3, 75), False),
        ("NK", (1, 90), False),
        ("NK", (2, 80), True),
    ]
    assert rules("FREQ(0,0)|FREQ(3,10)") == [("FREQ", (3, 10), True)]
    assert rules("REQ(50,40,3,10)") == [("REQ", (50, 40, 3, 10), False)]
    assert rules("P(10,80,2)") == [("P", (10, 80, 2), False)]
    assert rules("P(10)") == [("P", (10, 1), False)]  # nobody else is in the coalition


def test_what_is_not_said_of_rules():
    assert read_rules("", HERE) == RuleSet()
    found = read_rules("MIS(1)|WGT(1)|MAN(5)", HERE)
    assert (found.missing_safe, found.weighted, found.by_hand) == (True, True, 5)
    assert read_rules("MIS(0)|WGT(0)", HERE) == RuleSet()


# ── what is wrong is said with file, line and command ───────────────────────────────


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "job.arb: opens no data; begin with <OPENMICRODATA>"),
        ("hello\n", "job.arb, line 1: 'hello' is no command"),
        ("<SUPRESS> MOD(1)\n", "line 1, <SUPRESS>: is no command; did you mean <SUPPRESS>?"),
        ("<XYZ>\n", "line 1, <XYZ>: is no command; known are LOGBOOK"),
        ("<JJ>\n", "line 1, <JJ>: is for the inside of τ-ARGUS"),
        ('<OPENMETADATA> "a.rda"', "line 1, <OPENMETADATA>: stands before the data"),
        ('<SPECIFYTABLE> "A"|"V"', "line 1, <SPECIFYTABLE>: stands before the data"),
        ("<OPENMICRODATA>", "line 1, <OPENMICRODATA>: names no file"),
        ('<OPENMICRODATA> "a"', "line 1, <OPENMICRODATA>: its metadata are not opened"),
        (BEGIN, "line 1, <OPENMICRODATA>: no table is made of it"),
        (BEGIN + '<OPENMICRODATA> "b.asc"', "line 3, <OPENMICRODATA>: records are opened already"),
        (BEGIN + '<SPECIFYTABLE> "A"', "line 3, <SPECIFYTABLE>: '\"A\"' names no table"),
        (BEGIN + '<SPECIFYTABLE> "A""a"|"V"', "a variable stands twice"),
        (BEGIN + '<SPECIFYTABLE> "A"|"V"||"C",x', "'x' is no number"),
        (BEGIN + "<SAFETYRULE> P(1,1)", "line 3, <SAFETYRULE>: stands before its table"),
        (BEGIN + "<READMICRODATA>", "line 3, <READMICRODATA>: there is no table yet"),
        (BEGIN + '<SPECIFYTABLE> "A"|"V"\n<READTABLE>', "does not fit the data"),
        (BEGIN + TABLE + "<SUPPRESS> MAGIC(1)", "line 6, <SUPPRESS>: 'MAGIC(1)' is no way"),
        (BEGIN + TABLE + "<SUPPRESS> OPT(2,1)", "'2' is no number of a table; 1 tables"),
        (BEGIN + TABLE + "<SUPPRESS> NET(0)", "NET protects one table and 0 stands for all"),
        (BEGIN + TABLE + "<SUPPRESS> CTA(0)", "CTA protects one table and 0 stands for all"),
        (BEGIN + TABLE + "<SUPPRESS> NET(1,2)", "NET takes from 1 to 1 numbers, not 2"),
        (BEGIN + TABLE + "<SUPPRESS> OPT()", "there are no numbers between the brackets"),
        (BEGIN + TABLE + '<SUPPRESS> CKM(1) a|b|0|c', "are no perturbation tables; write one"),
        (BEGIN + TABLE + '<WRITETABLE> (1,3,3,"o")', "options by number, 3, are of older"),
        (BEGIN + TABLE + "<SUPPRESS> OPT(1)\n<RECODE> 1,A,1", "table 1 is protected already; rec"),
        (BEGIN + TABLE + "<RECODE> 1,A", "is no recoding"),
        (BEGIN + TABLE + "<APRIORI> ", "line 6, <APRIORI>: names no file"),
        (BEGIN + TABLE + "<WRITETABLE> out.txt", "'out.txt' is no file to write"),
        (BEGIN + TABLE + '<WRITETABLE> (1,9,,"o")', "9 is no type of file"),
        (BEGIN + TABLE + '<WRITETABLE> (1,3,XY+,"o")', "the options 'XY+' are not known"),
        (BEGIN + TABLE + '<WRITETABLE> (1,3,AS,"o")', "the options 'AS' are not known"),
    ],
)  # fmt: skip
def test_what_cannot_be_understood_is_said_with_its_place(read, text, said):
    with pytest.raises(JobError) as error:
        read(text)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Q(1)", "'Q(1)' is no rule; known are P, NK"),
        ("P 10,1", "is no rule"),
        ("P(10,1,1,1)", "P takes from 1 to 3 numbers that are not negative, not '10,1,1,1'"),
        ("P(-1,1)", "not negative"),
        ("P(a,1)", "'a' is no number"),
        ("P(1e400,1)", "is no number, or too large"),
        ("ZERO(1)|ZERO(2)", "ZERO stands more than 1 times"),
    ],
)
def test_rules_that_cannot_be_understood(text, said):
    with pytest.raises(JobError) as error:
        read_rules(text, HERE)
    assert str(error.value).startswith("job.arb, line 4, <SAFETYRULE>: ")
    assert said in str(error.value)


def test_a_job_that_is_no_text(read, tmp_path):
    with pytest.raises(JobError, match="is no text"):
        read(b"<OPEN\0")
    with pytest.raises(JobError, match="cannot be read"):
        read_batch(tmp_path / "nowhere.arb")


def test_quotes():
    assert [unquoted(text) for text in ('"a"', " a ", '" a', '""', "")] == ["a", "a", "a", "", ""]
