"""A job file is understood as written, and what is wrong with it is said with its line."""

import dataclasses
import json
import os
import re
from functools import reduce
from operator import or_
from pathlib import Path

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import diskret as dk
from diskret.attack import Attacker
from diskret.errors import InputError, JobError
from diskret.io import Column, DataFile, PostgresTable
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job
from diskret.jobs.template import template
from diskret.jobs.values import DatabaseRecords, HierarchyFile, Output, Records
from diskret.population import Population
from diskret.protect.result import Result
from diskret.publish.formats.symbols import SymbolSet
from diskret.rules import (
    PQ,
    Apriori,
    Dominance,
    GroupDisclosure,
    MarginalValue,
    MinimumFrequency,
    MissingSafe,
    PPercent,
    Request,
    ZeroCells,
)
from diskret.rules.sensitivity import AnyOf

JOB = """\
[records]
path = "firms.asc"
format = "fixed"
encoding = "latin-1"
[[records.columns]]
name = "region"
start = 1
width = 2
[[records.columns]]
name = "size"
start = 3
width = 1
[[records.columns]]
name = "turnover"
start = 5
width = 8
[[records.columns]]
name = "firm_id"
start = 14
width = 4
[[records.columns]]
name = "group_id"
start = 19
width = 4

[hierarchies]
region = { file = "region.hrc", total = "All", lead = "@@", encoding = "latin-1" }
size = { file = "size.csv", total = "All" }

[[tables]]
name = "firms 2025"
by = { size = "flat", region = "region" }
value = "turnover"
decimals = 2
unit = "firm_id"
holding = "group_id"
vintage = "2025"
title = { en = "Turnover", de = "Umsatz" }
method = "sequential"
cost = "count"
time_limit = 60
[tables.rules]
p_percent = { p = 15, minimum_level = 2.5 }
minimum_frequency = { n = 3, of = "holdings", range = 20 }
dominance = { n = 3, k = 70 }
[[tables.frozen]]
at = { region = "All", size = "Total" }
[[tables.frozen]]
at = { region = "N", size = "1" }

[[tables]]
by = { size = "size" }
rules = { minimum_frequency = { n = 4 } }

[attacker]
zeros_known = true
relative = 50

[output]
folder = "public files"
formats = ["xlsx"]
language = "de"
symbols = "px"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "firms.asc").write_text("N 1 12.50    A    G1  \n", encoding="latin-1")
    (tmp_path / "firms.csv").write_text("region;size;turnover\n01;1;5\n", encoding="utf-8")
    (tmp_path / "region.hrc").write_text("N\nS\n", encoding="utf-8")
    (tmp_path / "nace.hrc").write_text("A\nB\n", encoding="utf-8")
    (tmp_path / "kind.hrc").write_text("a\nb\n", encoding="utf-8")
    (tmp_path / "kind_en.csv").write_text("code,label\na,first\n", encoding="utf-8")
    (tmp_path / "kind_de.cdl").write_text("a,erste\nb,zweite\n", encoding="utf-8")
    (tmp_path / "layout.xlsx").touch()
    (tmp_path / "isco.csv").write_text("code\n1101\n12\n", encoding="utf-8")
    (tmp_path / "size.csv").write_text(
        "code;parent;label\nT;;All\n01;T;small\n02;T;big\n", encoding="utf-8"
    )
    pq.write_table(pa.table({"region": ["N"]}), tmp_path / "firms.parquet")
    (tmp_path / "apriori.hst").write_text("N,1,p\n", encoding="utf-8")
    (tmp_path / "firms.dat").write_text("", encoding="utf-8")
    (tmp_path / "firms.xls").write_text("", encoding="utf-8")
    (tmp_path / "out-2020").mkdir()
    return tmp_path


def written(folder: Path, text: str) -> Path:
    path = folder / "job.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_key_is_understood(folder: Path):
    job = read_job(written(folder, JOB))
    assert isinstance(job.records, Records)
    assert job.records.file.path == folder / "firms.asc"
    assert job.records.file.format == "fixed"
    assert job.records.file.encoding == "latin-1"
    assert job.records.file.columns[2] == Column("turnover", 5, 8)
    first, second = job.tables
    assert first.name == "firms 2025"
    assert list(first.by.items()) == [
        ("size", None),
        ("region", HierarchyFile(folder / "region.hrc", "All", "@@", "latin-1")),
    ]
    rules = [PPercent(15, 2.5), MinimumFrequency(3, "holdings", 20), Dominance(3, 70)]
    assert first.rule == reduce(or_, rules)
    assert (first.value, first.decimals, first.unit) == ("turnover", 2, "firm_id")
    assert (first.holding, first.vintage) == ("group_id", "2025")
    assert first.title == {"en": "Turnover", "de": "Umsatz"}
    assert (first.method, first.cost, first.time_limit) == ("sequential", "count", 60)
    assert first.frozen == ({"size": "Total", "region": "All"}, {"size": "1", "region": "N"})
    assert second.rule == MinimumFrequency(4)
    assert job.attacker == Attacker(relative=50, zeros_known=True)
    assert job.output == Output(folder / "public files", ("xlsx",), "de", "px")


FILTERED = 'vintage = "2025"\nwhere = { size = ["2", "1"], turnover = { min = 0.5 } }\n'


def test_a_filter_is_understood(folder: Path):
    text = JOB.replace('vintage = "2025"\n', FILTERED)
    where = read_job(written(folder, text)).tables[0].where
    assert where == Population.of({"size": ["1", "2"], "turnover": {"min": "0.5"}})
    for wrong, said in [
        ("turnover = { low = 1 }", "bounds of column 'turnover'"),
        ("turnover = 1.5", "is no code for column 'turnover'"),
        ("turnovr = 1", "did you mean 'turnover'"),
        ("turnover = []", "no code is given"),
    ]:
        with pytest.raises(JobError, match=f"line 38: .*{said}"):
            read_job(written(folder, text.replace("turnover = { min = 0.5 }", wrong, 1)))


def test_a_weighted_table_of_a_job_is_protected(folder: Path):
    (folder / "sample.csv").write_text(
        "region,turnover,w\nN,10,2.4\nN,6,3.0\nS,5,1.5\nS,5,1.5\n", encoding="utf-8"
    )
    text = """
    [records]
    path = "sample.csv"
    [[tables]]
    by = { region = "flat" }
    value = "turnover"
    weight = "w"
    weight_decimals = 1
    rounding = 1
    rules = { p_percent = { p = 5 } }
    """
    job = read_job(written(folder, text))
    assert (job.tables[0].weight, job.tables[0].weight_decimals) == ("w", 1)
    written_, (result,) = run_job(job, keys=folder / "keys")
    assert result.public["turnover"].to_pylist() == [57, 42, 15]
    certificate = json.loads(
        (written_ / "internal" / "turnover.certificate.json").read_text(encoding="utf-8")
    )
    assert certificate["weight"] == "w"
    schema = Path(__file__).parents[2] / "docs/schema/certificate-internal.schema.json"
    jsonschema.validate(certificate, json.loads(schema.read_text(encoding="utf-8")))


def test_requests_and_waivers_are_understood(folder: Path):
    marked = (
        'vintage = "2025"\nrequest = { size = ["1", "2"] }\nwaiver = "region"\n'
        'waiver_note = "letters"\n'
    )
    text = JOB.replace('vintage = "2025"\n', marked)
    text = text.replace("k = 70 }", "k = 70 }\nrequest = { share = 70, second = 60 }")
    table = read_job(written(folder, text)).tables[0]
    assert (table.request, table.waiver) == ({"size": ["1", "2"]}, "region")
    assert table.waiver_note == "letters"
    assert isinstance(table.rule, AnyOf) and Request(70, 60) in table.rule.rules
    for right, wrong, said in [
        ('waiver = "region"', "waiver = 5", "line 39: 'waiver' .*a column in quotes"),
        ('waiver = "region"', 'waiver = "regin"', "line 39: .*did you mean 'region'"),
        ('["1", "2"] }', '["1", "2", "3"] }', "line 38: .*3 codes"),
        ('request = { size = ["1", "2"] }', "", "line 49: the rule 'request' needs 'request'"),
    ]:
        with pytest.raises(JobError, match=said):
            read_job(written(folder, text.replace(right, wrong)))


def test_tables_without_a_common_record_may_share_a_measure(folder: Path):
    head = '[records]\npath = "firms.csv"\n'
    one, two = (
        f'[[tables]]\nname = "{name}"\nby = {{ region = "flat" }}\nwhere = {{ size = "{name}" }}\n'
        "rules = { minimum_frequency = { n = 3 } }\n"
        for name in "12"
    )
    assert len(read_job(written(folder, head + one + two)).tables) == 2


def test_what_is_left_out_has_its_default(folder: Path):
    job = read_job(written(folder, JOB))
    second = job.tables[1]
    assert (second.name, second.measure, second.value, second.decimals) == (
        ("count", "count", None, 0)
    )
    assert (second.method, second.cost, second.time_limit) == ("auto", "value", None)
    short = written(
        folder,
        '[records]\npath = "firms.csv"\n[[tables]]\nvalue = "turnover"\n'
        'by = { region = "flat" }\nrules = { p_percent = { p = 5 } }\n',
    )
    job = read_job(short)
    assert job.tables[0].name == "turnover"
    assert job.attacker == Attacker()
    assert job.output == Output(folder / "out", ("csv", "xlsx"), "en", "de-classic")


RULES = [
    # (a rule for the table of counts, what it is)
    ("marginal_value = {}", MarginalValue()),
    (
        'marginal_value = { distance = 2, variables = ["size"], strict = true, range = 5 }',
        MarginalValue(2, ["size"], True, 5),
    ),
    ("minimum_frequency = { n = 9, level = 4 }", MinimumFrequency(9, level=4)),
    ("group_disclosure = { percent = 80 }", GroupDisclosure(80)),
    (
        "group_disclosure = { percent = 80, minimum_parent = 5, range = 20 }",
        GroupDisclosure(80, 5, 20),
    ),
    ('missing_safe = { size = ["99", "x"] }', MissingSafe({"size": ["99", "x"]})),
]


@pytest.mark.parametrize(("text", "rule"), RULES)
def test_rules_of_counts_are_understood(folder: Path, text: str, rule: object):
    job = read_job(written(folder, JOB.replace("minimum_frequency = { n = 4 }", text)))
    assert job.tables[1].rule == rule


def test_the_pq_rule_is_understood(folder: Path):
    text = JOB.replace("dominance = { n = 3, k = 70 }", "pq = { p = 5, q = 50, minimum_level = 1 }")
    rules = [PPercent(15, 2.5), MinimumFrequency(3, "holdings", 20), PQ(5, 50, 1)]
    assert read_job(written(folder, text)).tables[0].rule == reduce(or_, rules)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("pq = { p = 5, q = 50, coalition = 2 }", PQ(5, 50, coalition=2)),
        ("zero_cells = { level = 0.5 }", ZeroCells(0.5)),
    ],
)
def test_rules_of_sums_are_understood(folder: Path, text: str, rule: object):
    job = JOB.replace("dominance = { n = 3, k = 70 }", text)
    rules = [PPercent(15, 2.5), MinimumFrequency(3, "holdings", 20), rule]
    assert read_job(written(folder, job)).tables[0].rule == reduce(or_, rules)


def test_a_coalition_is_understood(folder: Path):
    job = JOB.replace("minimum_level = 2.5", "minimum_level = 2.5, coalition = 3")
    rules = [PPercent(15, 2.5, 3), MinimumFrequency(3, "holdings", 20), Dominance(3, 70)]
    assert read_job(written(folder, job)).tables[0].rule == reduce(or_, rules)


def test_cells_set_by_hand_are_seen_from_the_job_file(folder: Path):
    (folder / "set.csv").write_text("size,cost\n1,3\n", encoding="utf-8")
    job = JOB.replace("minimum_frequency = { n = 4 }", 'apriori = { file = "set.csv" }')
    assert read_job(written(folder, job)).tables[1].rule == Apriori(folder / "set.csv")
    options = 'reason = "consent", who = "A", date = "2025-12-31"'
    text = f'apriori = {{ file = "apriori.hst", range = 20, {options}, separator = "," }}'
    job = JOB.replace("minimum_frequency = { n = 4 }", text)
    assert read_job(written(folder, job)).tables[1].rule == Apriori(
        folder / "apriori.hst", 20, "consent", "A", "2025-12-31", ","
    )


def test_the_engine_is_one_line(folder: Path):
    records = read_job(written(folder, JOB)).records
    moved = read_job(written(folder, JOB.replace('"fixed"', '"fixed"\nengine = "spark"'))).records
    assert isinstance(records, Records)
    assert records.engine == "duckdb"
    assert moved == dataclasses.replace(records, engine="spark")


@pytest.mark.parametrize("name", ["firms.csv", "firms.parquet"])
def test_the_suffix_tells_the_format(folder: Path, name: str):
    job = read_job(
        written(
            folder,
            f'[records]\npath = "{name}"\n[[tables]]\nby = {{ region = "flat" }}\n'
            "rules = { minimum_frequency = { n = 3 } }\n",
        )
    )
    assert isinstance(job.records, Records)
    assert job.records.file.format == Path(name).suffix[1:]
    assert "region" in job.records.open().columns


def test_fixed_records_are_opened_with_their_columns(folder: Path):
    opened = read_job(written(folder, JOB)).records.open()
    assert opened.arrow is not None
    assert opened.arrow.to_pylist() == [
        {"region": "N", "size": "1", "turnover": "12.50", "firm_id": "A", "group_id": "G1"}
    ]


def test_trees_are_read_with_their_options(folder: Path):
    hrc = HierarchyFile(folder / "region.hrc", total="All").read()
    assert hrc.codes == ("All", "N", "S")
    tree = HierarchyFile(folder / "size.csv").read()
    assert tree.codes == ("T", "01", "02")
    assert tree.labels["02"] == "big"


@pytest.mark.parametrize(
    ("labels", "german"),
    [
        ('{ en = "kind_en.csv", de = "kind_de.cdl" }', "erste"),
        ('"kind_en.csv"', "first"),
    ],
)
def test_trees_have_labels_in_several_languages(folder: Path, labels: str, german: str):
    text = JOB.replace(
        "[[tables]]", f'kind = {{ file = "kind.hrc", labels = {labels} }}\n[[tables]]', 1
    )
    text = text.replace('by = { size = "size" }', 'by = { size = "kind" }')
    tree = read_job(written(folder, text)).tables[1].by["size"].read()
    assert tree.label("a", "en") == "first"
    assert tree.label("a", "de") == german


OWN = """{ suppressed = "( )", nothing = "–", \
en = { suppressed = "protected", nothing = "nothing" }, \
de = { suppressed = "geschützt", nothing = "nichts vorhanden" } }"""


def test_an_office_may_have_symbols_and_a_layout_of_its_own(folder: Path):
    output = f'[output]\nsymbols = {OWN}\ntemplate = "layout.xlsx"\n'
    found = read_job(written(folder, JOB.partition("[output]")[0] + output)).output
    assert found.template == folder / "layout.xlsx"
    assert isinstance(found.symbols, SymbolSet)
    assert found.symbols.legend["de"] == {"( )": "geschützt", "–": "nichts vorhanden"}


def test_symbols_may_be_written_line_by_line(folder: Path):
    lines = ["[output]", 'symbols.suppressed = "c"', 'symbols.nothing = "-"']
    lines += [f'symbols.{la} = {{ suppressed = "x", nothing = "y" }}' for la in ("en", "de")]
    text = JOB.partition("[output]")[0] + "\n".join(lines)
    found = read_job(written(folder, text)).output.symbols
    assert isinstance(found, SymbolSet)
    assert (found.suppressed, found.legend["en"]) == ("c", {"c": "x", "-": "y"})


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        (OWN.replace("geschützt", "primär geheim"), "tells sensitive cells"),
        (OWN.replace('"–"', '"( )"'), "two different symbols"),
        ('{ suppressed = "c", nothing = "-" }', "the key 'en' is missing"),
        ('"classic"', "must not be 'classic'"),
    ],
)
def test_symbols_that_give_something_away_have_a_line(folder: Path, symbols: str, message: str):
    text = JOB.partition("[output]")[0] + f"[output]\nsymbols = {symbols}\n"
    with pytest.raises(JobError, match=f"line {text.count(chr(10))}: .*{message}"):
        read_job(written(folder, text))


@pytest.mark.parametrize("labels", ['"no.csv"', '{ de = "no.csv" }', '{ fr = "kind_en.csv" }'])
def test_files_of_labels_that_are_not_there_have_a_line(folder: Path, labels: str):
    text = JOB.replace(
        "[[tables]]", f'kind = {{ file = "kind.hrc", labels = {labels} }}\n[[tables]]', 1
    )
    with pytest.raises(JobError, match=r"line 30: .*(no\.csv does not exist|unknown key 'fr')"):
        read_job(written(folder, text))


@pytest.mark.parametrize(
    "way",
    ['levels = ["broad", "fine"]', 'column = "fine", prefix = [1, 1]'],
)
def test_trees_may_lie_in_columns_or_in_codes(folder: Path, way: str):
    (folder / "fine.csv").write_text("fine,broad\n01,0\n02,0\n1,1\n", encoding="utf-8")
    job = JOB.replace('file = "size.csv", total', f'file = "fine.csv", {way}, total')
    tree = read_job(written(folder, job)).tables[1].by["size"].read()
    assert tree.codes == ("All", "0", "01", "02", "1")


def test_a_level_that_is_no_column_is_named(folder: Path):
    with pytest.raises(InputError, match="no column 'broad'"):
        HierarchyFile(folder / "size.csv", levels=("broad",)).read()


def test_paths_are_seen_from_the_job_file(folder: Path, monkeypatch: pytest.MonkeyPatch):
    path = written(folder, JOB)
    monkeypatch.chdir(folder.parent)
    job = read_job(path.relative_to(folder.parent))
    assert isinstance(job.records, Records)
    assert Path(job.records.file.path).is_file()
    assert job.output.folder.resolve() == (folder / "public files").resolve()


def test_a_byte_order_mark_does_no_harm(folder: Path):
    path = folder / "job.toml"
    path.write_text(JOB, encoding="utf-8-sig")
    assert len(read_job(path).tables) == 2


def test_a_job_is_a_value(folder: Path):
    path = written(folder, JOB)
    job = read_job(path)
    assert job == read_job(path)
    with pytest.raises(dataclasses.FrozenInstanceError):
        job.path = path  # type: ignore[misc]


# ── the template ────────────────────────────────────────────────────────────────────


def test_the_template_is_a_job(folder: Path):
    job = read_job(written(folder, template()))
    assert job.tables[0].by["size"] is None


def test_every_option_of_the_template_is_admissible(folder: Path):
    options = [line[1:] if line.startswith("#") else line for line in template().splitlines()]
    options = ["# " + line if line.startswith(" ") else line for line in options]
    fixed = options.index('encoding = "utf-8"')
    del options[fixed : fixed + 5]
    without = ("url =", "table =", "weight", "cells =")  # not with path, request and waiver
    options = [line for line in options if not line.startswith(without)]
    last = dk.Table.from_cells(
        pa.table({"a": ["x"], "turnover": [1]}), by={"a": None}, value="turnover"
    )
    dk.round_table(last, base=5, method="deterministic").write(
        folder / "out-2020", ["csv"], keys=folder / "keys"
    )
    (folder / "regions.gpkg").touch()
    job = read_job(written(folder, "\n".join(options)))
    assert isinstance(job.records, Records)
    assert job.records.engine == "duckdb"
    assert job.tables[0].frozen == ({"region": "Total", "size": "Total"},)
    assert job.attacker == Attacker(relative=50)


def test_the_template_shows_weights(folder: Path):
    options = [line for line in template().splitlines() if line.startswith("#weight")]
    lines = [line for line in template().splitlines() if line not in options]
    at = lines.index('value = "turnover"            # column to sum; left out: a frequency table')
    lines[at + 1 : at + 1] = [line[1:] for line in options]
    table = read_job(written(folder, "\n".join(lines))).tables[0]
    assert (table.weight, table.weight_decimals) == ("w", 0)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ('value = "v"\nweight_decimals = 2', "'weight_decimals' needs a 'weight'"),
        ('weight = "w"', "'weight' needs a 'value'"),
        ('value = "v"\nweight = "w"\nwaiver = "a"', "'weight' and 'waiver' cannot be combined"),
        ('value = "v"\nweight = "w"\nweight_decimals = 10', "'weight_decimals'"),
    ],
)
def test_weights_that_make_no_sense_have_a_line(folder: Path, keys: str, said: str):
    text = '[records]\npath = "firms.csv"\n[[tables]]\nby = { region = "flat" }\n'
    text += keys + "\nrules = { minimum_frequency = { n = 3 } }\n"
    with pytest.raises(JobError, match=f"line [0-9]+.*{said}"):
        read_job(written(folder, text))


def test_the_template_shows_fixed_format(folder: Path):
    lines = template().splitlines()
    start = lines.index('#encoding = "utf-8"')
    block = [line[1:] for line in lines[start : start + 5]]
    text = '[records]\npath = "firms.asc"\n' + "\n".join(block) + "\n"
    text += '[[tables]]\nby = { region = "flat" }\nrules = { minimum_frequency = { n = 3 } }\n'
    assert read_job(written(folder, text)).records == Records(
        DataFile(folder / "firms.asc", "fixed", columns=(Column("region", 9, 2),), encoding="utf-8")
    )


def test_the_template_shows_a_database(folder: Path):
    lines = template().splitlines()
    path = next(line for line in lines if line.startswith("path ="))
    lines.remove(path)
    shown = [line[1:] if line.startswith(("#url", "#table =")) else line for line in lines]
    records = read_job(written(folder, "\n".join(shown))).records
    assert records == DatabaseRecords(
        PostgresTable("postgresql://clerk@db.example/register", "firms")
    )
    assert records.open().database == PostgresTable(
        "postgresql://clerk@db.example/register", "firms"
    )


def test_the_template_names_every_rule(folder: Path):
    for text in [
        "pq = { p = ",
        "zero_cells = { level = ",
        "coalition = ",
        *(text for text, _ in RULES),
    ]:
        for key in {*re.findall(r"(\w+) =", text)} - {"size"}:
            assert f"{key} = " in template(), key


def test_the_template_names_every_key(folder: Path):
    for field in JOB.splitlines():
        key = field.split("=")[0].strip()
        if "=" in field and " = " in field:
            assert key in template(), key


# ── records in a database ───────────────────────────────────────────────────────────

DATABASE = """\
[records]
url = "postgresql://clerk:s3cret@db.example/register"
table = "firms"
[[tables]]
by = { region = "flat" }
rules = { minimum_frequency = { n = 3 } }
"""


def test_a_password_is_not_shown_with_the_job(folder: Path):
    job = read_job(written(folder, DATABASE))
    assert "s3cret" not in repr(job)
    assert "db.example/register" in repr(job)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ('table = "firms"\n', "", 1, ["'table' is missing in [records]"]),
        ('"firms"', '"a.b.c"', 3, ["'a.b.c' names no table", "schema.firms"]),
        ("postgresql:", "mysql:", 2, ["'url'", "postgresql://user@host"]),
        ("s3cret", "s3cret@", 2, ["'url'", "%40 for @"]),
        ('table = "firms"', 'tabel = "firms"', 3, ["'tabel'", "did you mean 'table'"]),
        ('table = "firms"', 'table = "firms"\npath = "firms.csv"', 4, ["'path' is for records"]),
        ('table = "firms"', 'table = "firms"\nformat = "csv"', 4, ["'format' is for records"]),
        ('url = "postgresql', 'usl = "postgresql', 2, ["'usl'", "did you mean 'url'"]),
    ],
)
def test_what_is_wrong_with_a_database(folder: Path, old, new, line, words):
    assert old in DATABASE
    with pytest.raises(JobError) as error:
        read_job(written(folder, DATABASE.replace(old, new)))
    assert f"job.toml, line {line}: " in str(error.value)
    assert [word for word in words if word not in str(error.value)] == []
    assert "s3cret" not in str(error.value)


# ── what is wrong is said with its line ─────────────────────────────────────────────

BROKEN = [
    # (text in JOB, what it becomes, line, words of the message)
    ('path = "firms.asc"', 'path = "nothing.asc"', 2, ["'path'", "nothing.asc", "does not exist"]),
    ('path = "firms.asc"', 'path = "."', 2, ["'path'", "is a folder"]),
    ('path = "firms.asc"', "path = 3", 2, ["'path'", "text in quotes", "not 3"]),
    ("[records]", '[records]\nunit = "u"', 2, ["belongs to [[tables]], and stands in"]),
    ('path = "firms.asc"', 'path = ""', 2, ["'path'", "text in quotes"]),
    ('path = "firms.asc"', 'pfad = "firms.asc"', 2, ["'pfad'", "[records]", "path, format"]),
    ('path = "firms.asc"', "", 1, ["'path' is missing", "[records]"]),
    ('"fixed"', '"fixd"', 3, ["'format'", "'fixd'", "did you mean 'fixed'", "parquet, csv"]),
    ('"fixed"', '["fixed"]', 3, ["'format'", "a list", "parquet, csv, fixed"]),
    ('"fixed"', '"csv"', 5, ["'columns' are names", "fixed"]),
    ('"fixed"', '"fixed"\nengine = "sparc"', 4, ["'engine'", "did you mean 'spark'", "duckdb"]),
    ("start = 3", "start = 0", 11, ["'start'", "whole number from 1", "not 0"]),
    ("start = 3", "start = 3.0", 11, ["'start'", "whole number", "not 3.0"]),
    ("start = 3", "start = true", 11, ["'start'", "not true"]),
    ("width = 1", 'width = "1"', 12, ["'width'", "[[records.columns]]", 'text "1"']),
    ("width = 1", "widht = 1", 12, ["'widht'", "did you mean 'width'"]),
    ('name = "size"', 'name = "region"', 10, ["'region'", "twice"]),
    ('"region.hrc"', '"regoin.hrc"', 27, ["'file'", "regoin.hrc", "does not exist"]),
    ('"region.hrc"', '"firms.asc"', 27, ["'file'", ".hrc or .csv"]),
    ('lead = "@@"', 'leed = "@@"', 27, ["'leed'", "[hierarchies.region]", "'lead'"]),
    ('size = { file = "size.csv", total = "All" }', 'size = "size.csv"', 28, ["'size'", "section"]),
    ('"size.csv", total', '"size.csv", lead', 28, ["'lead'", ".hrc files only"]),
    ('"size.csv", total', '"size.csv", levels = "a", total', 28, ["'levels'", "list of texts"]),
    ('"size.csv", total', '"size.csv", levels = [], total', 28, ["'levels'", "list of texts"]),
    ('"size.csv", total', '"size.csv", levels = [1], total', 28, ["'levels'", "list of texts"]),
    ('"size.csv", total', '"size.csv", levels = ["a", "a"], total', 28, ["'a' twice"]),
    ('"size.csv", total', '"size.csv", column = "a", prefix = [0], total', 28,
     ["'prefix'", "whole numbers from 1"]),
    ('"size.csv", total', '"size.csv", prefix = [2], total', 28, ["'prefix' needs 'column'"]),
    ('"size.csv", total', '"size.csv", column = "a", total', 28, ["'column' needs 'prefix'"]),
    ('"size.csv", total', '"size.csv", levels = ["a"], column = "a", total', 28, ["keep one"]),
    ('"region.hrc", total', '"region.hrc", levels = ["a"], total', 27, [".csv files only"]),
    ("size = { file", "flat = { file", 28, ["'flat'", "another name"]),
    ('name = "firms 2025"', 'name = "a/b"', 31, ["'a/b'", "name of a file"]),
    ('name = "firms 2025"', 'name = "../up"', 31, ["name of a file"]),
    ('name = "firms 2025"', 'name = "COUNT"', 51, ["'count'", "taken", "line 30"]),
    ('"flat", region', '"falt", region', 32, ["'size'", "'falt'", "did you mean 'flat'", "region"]),
    ('"flat", region', '"flat", regoin', 32, ["'regoin'", "did you mean 'region'"]),
    ('{ size = "flat", region = "region" }', "{}", 32, ["'by'", "at least one column"]),
    ('by = { size = "flat", region = "region" }', "", 30, ["'by' is missing", "[[tables]]"]),
    ('value = "turnover"', 'value = "tunrover"', 33, ["'value'", "did you mean 'turnover'"]),
    ('value = "turnover"', 'value = "size"', 33, ["'value'", "'by'"]),
    ('value = "turnover"', "", 34, ["'decimals'", "'value'"]),
    ("decimals = 2", "decimals = -1", 34, ["'decimals'", "from 0 to 12"]),
    ("decimals = 2", "decimal = 2", 34, ["'decimal'", "did you mean 'decimals'"]),
    ('unit = "firm_id"', 'unit = "firmid"', 35, ["'unit'", "did you mean 'firm_id'"]),
    ("title = {", "title = { fr = 'x',", 38, ["'fr'", "[tables.title]", "en, de"]),
    ('"sequential"', '"optimum"', 39, ["'method'", "'optimum'", "optimal, hypercube, network"]),
    ('cost = "count"', 'cost = "coutn"', 40, ["'cost'", "did you mean 'count'"]),
    ("time_limit = 60", "time_limit = 0", 41, ["'time_limit'", "number above 0", "not 0"]),
    ("time_limit = 60", "time_limit = inf", 41, ["'time_limit'", "number above 0"]),
    ("time_limit = 60", "time_limit = nan", 41, ["'time_limit'", "number above 0"]),
    ("p_percent", "p_precent", 43, ["'p_precent'", "did you mean 'p_percent'", "dominance"]),
    ("{ p = 15,", "{ p = 0,", 43, ["'p'", "[tables.rules.p_percent]", "from 1 upwards"]),
    ("{ p = 15,", "{ q = 15,", 43, ["'q'", "p, minimum_level"]),
    ("{ p = 15,", "{", 43, ["'p' is missing"]),
    ("minimum_level = 2.5", "minimum_level = -1", 43, ["'minimum_level'", "from 0 to"]),
    ("{ p = 15, minimum_level = 2.5 }", "15", 43, ["'p_percent'", "{ key = value }", "not 15"]),
    ("{ n = 3, of", "{ n = 1, of", 44, ["'n'", "whole number from 2", "not 1"]),
    ('of = "holdings"', 'of = "holding"', 44, ["'of'", "did you mean 'holdings'"]),
    ("range = 20", "range = 0", 44, ["'range'", "above 0"]),
    ("k = 70", "k = 101", 45, ["'k'", "to 100", "not 101"]),
    ('holding = "group_id"', "", 44, ["holdings", "needs 'holding'"]),
    ('at = { region = "All", size', 'at = { siz = "1", size', 47, ["'siz'", "'size'"]),
    ('region = "N", size = "1"', 'size = "1"', 49, ["'region' is missing"]),
    ('region = "N", size = "1"', 'region = "N", size = 1', 49, ["'size'", "in quotes", "not 1"]),
    ("{ minimum_frequency = { n = 4 } }", "{ zero_cells = { level = 1 } }", 53,
     ["needs a 'value'"]),
    ("{ minimum_frequency = { n = 4 } }", "{ missing_safe = {} }", 53, ["columns of 'by'"]),
    ("{ minimum_frequency = { n = 4 } }", '{ missing_safe = { siz = ["9"] } }', 53,
     ["'siz'", "did you mean 'size'"]),
    ("{ minimum_frequency = { n = 4 } }", '{ missing_safe = { size = "9" } }', 53,
     ["'size'", "list of texts"]),
    ("{ minimum_frequency = { n = 4 } }", '{ apriori = { file = "none.csv" } }', 53,
     ["none.csv", "does not exist"]),
    ("{ minimum_frequency = { n = 4 } }", '{ apriori = { file = "firms.csv" } }', 53,
     ["firms.csv", "at least one of 'status'"]),
    ("{ minimum_frequency = { n = 4 } }", '{ apriori = { file = "apriori.hst" } }', 53,
     ["apriori.hst", "does not say its reason"]),
    ("minimum_level = 2.5", "coalition = 0", 43, ["'coalition'", "whole number from 1", "not 0"]),
    ("dominance = { n = 3, k = 70 }", "zero_cells = {}", 45, ["'level' is missing"]),
    ("{ minimum_frequency = { n = 4 } }", "{}", 53, ["at least one rule", "p_percent"]),
    ("{ minimum_frequency = { n = 4 } }", "{ dominance = {} }", 53, ["'dominance'", "count"]),
    ("{ n = 3, k = 70 }", "{ n = 3, k = 70 }\npq = { p = 5 }", 46, ["'q' is missing"]),
    ("{ n = 3, k = 70 }", "{ n = 3, k = 70 }\npq = { p = 50, q = 5 }", 46,
     ["'pq'", "p must be below q"]),
    ("{ n = 3, k = 70 }", "{ n = 3, k = 70 }\nmarginal_value = { strict = true }", 46,
     ["'strict'", "counts"]),
    ("{ n = 3, k = 70 }", '{ n = 3, k = 70 }\nmarginal_value = { variables = ["sise"] }', 46,
     ["'variables'", "did you mean 'size'"]),
    ("minimum_frequency = { n = 4 }", "marginal_value = { distance = -1 }", 53, ["from 0 to"]),
    ("minimum_frequency = { n = 4 }", "group_disclosure = {}", 53, ["'percent' is missing"]),
    ("minimum_frequency = { n = 4 }", "group_disclosure = { percent = 120 }", 53, ["to 100"]),
    ("minimum_frequency = { n = 4 }", "pq = { p = 5, q = 50 }", 53, ["'pq'", "not a count"]),
    ("zeros_known = true", 'zeros_known = "yes"', 56, ["'zeros_known'", "true or false", '"yes"']),
    ("relative = 50", "relativ = 50", 57, ["'relativ'", "did you mean 'relative'"]),
    ("relative = 50", "relative = -1", 57, ["'relative'", "above 0"]),
    ('["xlsx"]', '["xls"]', 61, ["'formats'", "did you mean 'xlsx'", "csv, parquet, xlsx"]),
    ('["xlsx"]', '["csv", "csv"]', 61, ["'formats'", "twice"]),
    ('["xlsx"]', "[]", 61, ["'formats'", "a list of csv, parquet, xlsx"]),
    ('["xlsx"]', '"xlsx"', 61, ["'formats'", "a list of csv, parquet, xlsx"]),
    ('language = "de"', 'language = "fr"', 62, ["'language'", "'fr'", "en, de"]),
    ('symbols = "px"', 'symbols = "dots"', 63, ["'symbols'", "de-classic, de-letters"]),
    ("[output]", "[outptu]", 59, ["'outptu'", "did you mean 'output'", "records, tables"]),
    ("[output]", "[output", 59, ["not valid TOML"]),
    ("relative = 50", "relative = 5 0", 57, ["not valid TOML"]),
    ("relative = 50", "zeros_known = true", 57, ["not valid TOML"]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "words"), BROKEN, ids=lambda x: str(x)[:40])
def test_what_is_wrong_is_named_with_its_line(
    folder: Path, old: str, new: str, line: int, words: list[str]
):
    assert old in JOB
    path = written(folder, JOB.replace(old, new, 1))
    with pytest.raises(JobError) as caught:
        read_job(path)
    message = str(caught.value)
    assert message.startswith(f"{path}, line {line}: "), message
    for word in words:
        assert word in message


@pytest.mark.parametrize("dropped", ["records", "tables"])
def test_a_missing_section_is_named(folder: Path, dropped: str):
    sections = {
        "records": '[records]\npath = "firms.csv"\n',
        "tables": '[[tables]]\nby = { a = "flat" }\nrules.minimum_frequency.n = 3\n',
    }
    del sections[dropped]
    with pytest.raises(JobError, match=f"'{dropped}' is missing"):
        read_job(written(folder, "".join(sections.values())))


def test_tables_must_be_a_list(folder: Path):
    with pytest.raises(JobError, match=r"line 3: 'tables'.*\[\[tables\]\]"):
        read_job(written(folder, '[records]\npath = "firms.csv"\n[tables]\nname = "x"\n'))


@pytest.mark.parametrize(("name", "words"), [
    ("firms.dat", "add format"),
    ("firms.parquet", "a csv file must end in .csv or .txt or .tsv"),
    ("firms.xls", "line 2: firms.xls is read as .xlsx only; open it"),
])  # fmt: skip
def test_suffix_and_format_must_fit(folder: Path, name: str, words: str):
    given = "" if name == "firms.dat" else 'format = "csv"\n'
    with pytest.raises(JobError, match=words):
        read_job(written(folder, f'[records]\npath = "{name}"\n{given}[[tables]]\n'))


def test_fixed_format_needs_columns(folder: Path):
    with pytest.raises(JobError, match="columns"):
        read_job(written(folder, '[records]\npath = "firms.asc"\nformat = "fixed"\n[[tables]]\n'))


def test_no_job_file(tmp_path: Path):
    with pytest.raises(JobError, match="there is no job file nothing.toml in"):
        read_job(tmp_path / "nothing.toml")
    with pytest.raises(JobError, match="is a folder; name the job file in it"):
        read_job(tmp_path)
    with pytest.raises(JobError, match="not from -; save what comes through a pipe first"):
        read_job(Path("-"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("-", "- is no file; save what comes through a pipe as a file first"),
        ("pipe", "pipe is no file"),
        ("firm.csv", "does not exist; did you mean 'firms.csv'?"),
        ("x/y.csv", "does not exist; paths are seen from the folder of the job file"),
        ("firms.csv.gz", "is packed; unpack it"),
    ],
)
def test_records_that_are_no_file_are_refused_with_what_to_do(tmp_path: Path, name, words):
    (tmp_path / "firms.csv").touch()
    (tmp_path / "firms.csv.gz").touch()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(JobError, match=re.escape(words)):
        read_job(written(tmp_path, f'[records]\npath = "{name}"\n[[tables]]\n'))


def test_a_job_in_another_encoding_is_refused_with_its_line(folder: Path):
    path = folder / "job.toml"
    path.write_bytes(JOB.replace("Umsatz", "Umsätze").encode("latin-1"))
    with pytest.raises(JobError, match="line 38: not UTF-8"):
        read_job(path)


# ── contributors ────────────────────────────────────────────────────────────────────


def with_attacker(tmp_path, attacker, table=""):
    (tmp_path / "firms.csv").write_text(
        "firm,region,turnover,w\n1,N,5,1\n2,S,7,1\n3,S,9,1\n", encoding="utf-8"
    )
    path = tmp_path / "job.toml"
    path.write_text(
        f"""[records]
path = "firms.csv"

[[tables]]
name = "turnover"
by = {{ region = "flat" }}
value = "turnover"
unit = "firm"
rules = {{ minimum_frequency = {{ n = 2 }} }}
{table}

[[tables]]
name = "firms"
by = {{ region = "flat" }}
rules = {{ minimum_frequency = {{ n = 2 }} }}

[attacker]
{attacker}
""",
        encoding="utf-8",
    )
    return path


def kinds(path, tmp_path):
    _, results = run_job(read_job(path), folder=tmp_path / "out", keys=tmp_path / "keys")
    return {r.name: r.certificate.attacker for r in results if isinstance(r, Result)}


def test_contributors_attack_where_values_are_summed(tmp_path):
    found = kinds(with_attacker(tmp_path, ""), tmp_path)
    assert found == {"turnover": Attacker(contributor=True), "firms": Attacker()}


def test_contributors_attack_where_the_job_says_so(tmp_path):
    two = Attacker(contributor=True, coalition=2)
    found = kinds(with_attacker(tmp_path, "contributor = true\ncoalition = 2"), tmp_path)
    assert found == {"turnover": two, "firms": two}
    found = kinds(with_attacker(tmp_path, "contributor = false"), tmp_path)
    assert found == {"turnover": Attacker(), "firms": Attacker()}
    found = kinds(with_attacker(tmp_path, "coalition = 2"), tmp_path)
    assert found == {"turnover": two, "firms": Attacker()}


def test_weighted_tables_are_protected_against_outsiders(tmp_path):
    found = kinds(with_attacker(tmp_path, "", 'weight = "w"'), tmp_path)
    assert found == {"turnover": Attacker(), "firms": Attacker()}


@pytest.mark.parametrize(
    ("attacker", "table", "what"),
    [
        ("contributor = false\ncoalition = 2", "", "line 19: 'coalition' needs contributor"),
        ("coalition = 0", "", "line 18"),
        ("contributor = true", 'weight = "w"', "'turnover' is weighted"),
        ("coalition = 2", 'weight = "w"', "no table sums an unweighted value"),
        ('contributor = "yes"', "", "true or false"),
    ],
)
def test_contributors_that_cannot_be_are_told_with_their_line(tmp_path, attacker, table, what):
    with pytest.raises(JobError, match=what):
        read_job(with_attacker(tmp_path, attacker, table))


def test_what_is_wrong_in_a_record_has_its_file_and_line(folder: Path):
    """As an editor numbers the lines: with titles above the names, and the names themselves."""
    text = "Erhebung 2025;;\n\nregion;size;turnover\nA;1;1,5\n\nB;2;1,5 €\n"
    (folder / "umsatz.csv").write_text(text, encoding="cp1252")
    job = (
        '[records]\npath = "umsatz.csv"\nencoding = "cp1252"\nheader = 3\ndecimal = ","\n'
        '[[tables]]\nby = { region = "flat" }\nvalue = "turnover"\ndecimals = 1\n'
        "rules = { minimum_frequency = { n = 3 } }\n"
    )
    with pytest.raises(InputError, match=r"umsatz\.csv: .*the first in line 6: '1,5 €'"):
        run_job(read_job(written(folder, job)), keys=folder / "keys")


@pytest.mark.parametrize(
    "line", ['Größe = "flat"', 'Umsatz (TEUR) = "flat"', 'path = "C:\\Daten\\x.csv"']
)
def test_what_toml_does_not_take_is_said(folder: Path, line: str):
    said = "job.toml, line 2: not valid TOML.*names too that have .*an umlaut.*paths with /"
    with pytest.raises(JobError, match=said):
        read_job(written(folder, f"[records]\n{line}\n"))
