"""The ways in which a publication is described, and what is asked about each."""

import openpyxl
import pyarrow as pa
import pytest
from plan_templates import publication, released, written

import diskret as dk
from diskret.errors import JobError
from diskret.plan.places import places
from diskret.texts import words_in


@pytest.fixture(autouse=True)
def own_keys(tmp_path, monkeypatch):
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "keys"))


def asked(plan):
    return [question.said.key for question in plan.questions]


def notes(plan):
    return [note.said.key for note in plan.notes]


CELLS = """\
TIME_PERIOD,INDICATOR,INDUSTRY,SIZE,UNIT
2024,ENT,_T,_T,NR
2024,ENT,A,_T,NR
2024,ENT,A1,_T,NR
2024,ENT,B,_T,NR
2024,ENT,_T,S,NR
2024,ENT,_T,L,NR
2024,ENT,A,S,NR
2024,ENT,A,L,NR
2024,ENT,B,S,NR
2024,ENT,B,L,NR
2024,SAL,_T,_T,EUR
2024,SAL,A,_T,EUR
2024,SAL,B,_T,EUR
"""
FIRMS = "TIME_PERIOD,INDUSTRY,SIZE,SAL\n" + "".join(
    f"{2024 if i % 4 else 2023},{industry},{'S' if i % 3 else 'L'},{17 * i + 3}\n"
    for i, industry in enumerate(["A1", "A2", "A2", "B", "B", "A1", "A3"] * 12)
)
TREE = "code,parent\nTotal,\nA,Total\nB,Total\nA1,A\nA2,A\nA3,A\n"
ANSWERS = """\
template = "cells.csv"
no_equation = ["ENT", "SAL"]
[hierarchies]
industry = { file = "industry.csv", total = "_T" }
[variables]
INDUSTRY.hierarchy = "industry"
SIZE.flat = true
[indicators]
ENT.count = true
[records]
path = "firms.csv"
[rules]
minimum_frequency = { n = 3 }
p_percent = { p = 10 }
"""
OF_FRANCE = CELLS.replace("NR", "FR").replace("EUR", "FR").replace("UNIT", "GEO")
OF_TWO = FIRMS.replace("SAL", "GEO,SAL").replace(",S,", ",S,FR,").replace(",L,", ",L,BE,")
HRC = "A\n@A1\n@A2\n@A3\nB\n"


def template(folder, cells=CELLS, answers=ANSWERS, firms=FIRMS):
    answers = answers.replace("industry.csv", "industry.hrc")
    files = {"cells.csv": cells, "publication.toml": answers, "firms.csv": firms}
    return written(folder, **files, **{"industry.hrc": HRC}) / "publication.toml"


def test_a_template_of_cells_is_released(tmp_path):
    plan = dk.plan.read(template(tmp_path))
    assert str(plan) == "6 tables asked for, 3 to protect in 2 clusters, 0 questions open"
    assert plan.asked.totals == {"INDUSTRY": "_T", "SIZE": "_T"}
    assert notes(plan) == ["of indicator", "added", "no unit"]
    assert dict(plan.notes[1].said.blanks) == {"code": "A other", "whole": "A"}
    results, _ = released(plan, tmp_path)
    assert [*results] == ["ENT_INDUSTRY", "ENT_INDUSTRY_SIZE", "SAL_INDUSTRY"]
    (alone,) = results["ENT_INDUSTRY"].published.dimensions
    assert alone.hierarchy.codes == ("_T", "A", "A1", "A other", "B")
    industries, sizes = results["ENT_INDUSTRY_SIZE"].published.dimensions
    assert industries.hierarchy.codes == ("_T", "A", "B")
    assert sizes.hierarchy.codes == ("_T", "L", "S")
    assert results["SAL_INDUSTRY"].published.dimensions[0].hierarchy.codes == ("_T", "A", "B")


def test_only_the_records_of_the_period_are_counted(tmp_path):
    plan = dk.plan.read(template(tmp_path))
    results, _ = released(plan, tmp_path)
    total = results["ENT_INDUSTRY_SIZE"].table.count.ravel()[0]
    assert total == sum(line.startswith("2024") for line in FIRMS.splitlines())


BIRTHS = "INDICATOR,SIZE\n" + "".join(
    f"{indicator},{size}\n"
    for indicator in ("ACTIVE", "BIRTHS", "SURVIVORS")
    for size in ("_T", "S", "L")
)


def test_births_and_survivors_are_the_active(tmp_path):
    firms = "SIZE,ACTIVE,BIRTHS,SURVIVORS\n" + "".join(
        f"{'S' if i % 4 else 'L'},1,{i % 5 // 4},{1 - i % 5 // 4}\n" for i in range(60)
    )
    answers = (
        'template = "cells.csv"\nequations = ["ACTIVE = BIRTHS + SURVIVORS"]\n'
        '[variables.SIZE]\nflat = true\n[records]\npath = "firms.csv"\n'
        "[rules]\nminimum_frequency = { n = 4 }\np_percent = { p = 10 }\n"
    )
    plan = dk.plan.read(template(tmp_path, BIRTHS, answers, firms))
    (table,) = plan.tables
    assert table.indicators == ("ACTIVE", "BIRTHS", "SURVIVORS") and not plan.questions
    assert [str(one) for one in plan.equations] == ["ACTIVE = BIRTHS + SURVIVORS"]
    results, _ = released(plan, tmp_path)
    job = (tmp_path / "plan" / "release.toml").read_text(encoding="utf-8")
    assert 'sums = ["ACTIVE = BIRTHS + SURVIVORS"]' in job
    assert {*results} == {"ACTIVE_SIZE", "BIRTHS_SIZE", "SURVIVORS_SIZE"}
    without = answers.replace("equations", "#")
    plan = dk.plan.read(template(tmp_path, BIRTHS, without, firms))
    assert asked(plan) == ["any sum"] and {*plan.questions[0].lines} == {*range(2, 11)}
    without = f'no_equation = ["ACTIVE", "BIRTHS", "SURVIVORS"]\n{without}'
    plan = dk.plan.read(template(tmp_path, BIRTHS, without, firms))
    assert asked(plan) == []
    assert [table.cluster for table in plan.tables] == [1, 2, 3]


def test_an_equation_with_something_that_is_not_published_ties_nothing(tmp_path):
    answers = f'equations = ["SAL = ENT + OTHER"]\n{ANSWERS}'
    plan = dk.plan.read(template(tmp_path, answers=answers))
    assert "not published" in notes(plan) and plan.equations == ()


@pytest.mark.parametrize(
    ("change", "key", "lines"),
    [
        ({"answers": ANSWERS.replace("SIZE.flat = true", "")}, "flat or tree", None),
        ({"answers": ANSWERS.replace("ENT.count = true", "")}, "which value", None),
        ({"answers": ANSWERS.replace("minimum_frequency = { n = 3 }", "")}, "rules of counts", ()),
        ({"cells": CELLS.replace("ENT,B,L", "ENT,B3,L")}, "not in tree", (11,)),
        ({"cells": CELLS.replace("SAL,B,_T", "SAL,b,_T")}, "alike", (5, 14)),
        ({"firms": FIRMS.replace(",L,", ",GE10,")}, "other codes", (7,)),
        ({"firms": FIRMS.replace("SIZE", "CLASS")}, "which column", None),
        ({"cells": OF_FRANCE, "firms": OF_TWO}, "which part", (2,)),
    ],
)  # fmt: skip
def test_what_only_a_person_can_tell_is_asked_with_its_line(tmp_path, change, key, lines):
    plan = dk.plan.read(template(tmp_path, **change))
    found = {question.said.key: question for question in plan.questions}
    assert key in found
    if lines is not None:
        assert found[key].lines == lines
    for question in plan.questions:
        assert question.said.en != question.said.de
        assert question.answer
    with pytest.raises(JobError, match="questions are open"):
        dk.plan.write(plan, tmp_path / "plan")


def test_a_part_that_is_meant_is_answered_with_a_filter(tmp_path):
    firms, cells = OF_TWO, OF_FRANCE
    where = ANSWERS.replace("[indicators]", '[fields."2024"]\nwhere = { GEO = "FR" }\n[indicators]')
    plan = dk.plan.read(template(tmp_path, cells, where, firms))
    assert asked(plan) == [] and "no record" not in notes(plan)
    results, _ = released(plan, tmp_path)
    counted = results["ENT_INDUSTRY_SIZE"].table.count.ravel()[0]
    assert counted == sum(line.startswith("2024") and ",FR," in line for line in firms.splitlines())
    everything = ANSWERS.replace("[indicators]", 'GEO.total = "FR"\n[indicators]')
    assert asked(dk.plan.read(template(tmp_path, cells, everything, firms))) == []


def test_codes_of_which_a_person_says_that_they_differ_are_not_asked_about(tmp_path):
    cells = CELLS.replace("SAL,B,_T", "SAL,b,_T")
    answers = f'different = [["B", "b"]]\n{ANSWERS}'
    assert asked(dk.plan.read(template(tmp_path, cells, answers))) == ["not in tree"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cells": CELLS + "2024,SAL,B,_T,EUR\n"}, "line 15: the cell stands already in line 14"),
        ({"cells": CELLS.replace("ENT,A1,_T", "ENT,,_T")}, "line 4: the column 'INDUSTRY' is"),
        ({"cells": CELLS.replace("2024,SAL,A", "2024,,A")}, "line 13: the column 'INDICATOR' is"),
        ({"cells": CELLS.replace("UNIT", "SIZE")}, "line 1: two columns are called 'SIZE'"),
        ({"cells": CELLS.replace("UNIT", "")}, "line 1: column 5 has no name"),
        ({"cells": CELLS.splitlines()[0]}, "cells.csv: there are no rows"),
        ({"firms": FIRMS.replace("A3", "A9")}, "holds 1 code that the tree 'industry' does not"),
        ({"firms": FIRMS.replace("A3", "A")}, "holds 'A1' and 'A', which lies above it"),
        ({"answers": ANSWERS.replace("SIZE.flat", "SISE.flat")}, "did you mean 'SIZE'?"),
        ({"answers": ANSWERS.replace('"ENT"', '"END"')}, "cells.csv has none of 'END'"),
        ({"answers": ANSWERS.replace("n = 3", "n = 1")}, "must be a whole number from 2 upwards"),
        ({"answers": ANSWERS.replace("[rules]", "[rule]")}, "line 12: unknown key 'rule'"),
    ],
)  # fmt: skip
def test_contradictions_are_said_with_line_and_remedy(tmp_path, change, said):
    path = template(tmp_path, **change)
    with pytest.raises(JobError) as error:
        dk.plan.write(dk.plan.read(path), tmp_path / "plan")
    assert said in str(error.value)
    assert not (tmp_path / "plan").exists()
    assert not [*tmp_path.glob(".plan-*")]


def test_names_that_collide_on_purpose(tmp_path):
    """Names of files are told apart whatever the case, and whatever a file name cannot hold."""
    folder = publication(tmp_path).parent
    names = ["sales/x", "sales:x", "Sales_X", "sales_x"]
    tables = "".join(
        f'[[tables]]\nname = "T{i}"\nindicator = "{name}"\nby = ["size"]\n'
        f'[indicators."{name}"]\nvalue = "{value}"\n'
        for i, (name, value) in enumerate(
            zip(names, ["sales", "domestic", "export", "trade"], strict=True)
        )
    )
    written(
        folder,
        **{
            "publication.toml": f"no_equation = {names}\n{tables}"
            "[variables.size]\nflat = true\n[records]\n"
            'path = "firms.csv"\n[rules]\nminimum_frequency = { n = 3 }\n'
        },
    )
    plan = dk.plan.read(folder / "publication.toml")
    own = [table.name for table in plan.tables]
    assert own == ["sales_x_size", "sales_x_size_2", "Sales_X_size_3", "sales_x_size_4"]
    released(plan, tmp_path)


# ── workbooks ───────────────────────────────────────────────────────────────────────────


def workbook(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    path.parent.mkdir(parents=True, exist_ok=True)
    book.save(path)


def region(code):
    sizes = ["_T", "S", "L"]
    return [["REGION", "SIZE", "SAL", "ENT"], *([code, size, None, None] for size in sizes)]


def test_a_folder_of_workbooks(tmp_path):
    """A region has a sheet each, a column of values each indicator."""
    workbook(tmp_path / "books" / "a.xlsx", total=region("_T"), north=region("N"))
    workbook(tmp_path / "books" / "b.xlsx", south=region("S"), empty=[])
    firms = FIRMS.replace("INDUSTRY", "REGION").replace("B,", "N,")
    for code in ("A1", "A2", "A3"):
        firms = firms.replace(code, "S")
    written(
        tmp_path,
        **{
            "firms.csv": firms,
            "publication.toml": 'template = "books"\nno_equation = ["SAL", "ENT"]\n'
            "[variables]\nREGION.flat = true\n"
            "SIZE.flat = true\n[indicators]\nENT.count = true\n[records]\n"
            'path = "firms.csv"\n[rules]\nminimum_frequency = { n = 3 }\n',
        },
    )
    plan = dk.plan.read(tmp_path / "publication.toml")
    assert [(one.indicators, [b.axis for b in one.by]) for one in plan.tables] == [
        (("SAL",), ["REGION", "SIZE"]),
        (("ENT",), ["REGION", "SIZE"]),
    ]
    results, _ = released(plan, tmp_path)
    assert results["SAL_REGION_SIZE"].published.dimensions[0].hierarchy.codes == ("_T", "N", "S")


def test_what_stands_on_two_sheets_is_asked_for_once(tmp_path):
    workbook(tmp_path / "a.xlsx", one=region("N"), summary=region("N")[:2])
    assert dk.plan.read(tmp_path).asked.rows == 8
    workbook(tmp_path / "a.xlsx", one=region("N"), two=[*region("S"), region("S")[1]])
    with pytest.raises(JobError, match=r"sheet 'two', row 5: the cell stands already in row 2"):
        dk.plan.read(tmp_path)


def test_lines_of_workbooks_name_their_sheet(tmp_path):
    workbook(tmp_path / "a.xlsx", one=region("N"), two=region("NN"))
    plan = dk.plan.read(tmp_path)
    question = next(one for one in plan.questions if one.said.key == "flat or tree")
    said = places(plan.asked, question.lines, words_in("en", "plan"))
    assert said == "a.xlsx, sheet 'one', row 2, 3; a.xlsx, sheet 'two', row 2, 4"


def test_numbers_that_may_be_codes_are_asked_about(tmp_path):
    rows = [["TIME_PERIOD", "CLASS", "SIZE", "SAL"]]
    rows += [[2024, 1 + i // 3, size, 9.5] for i, size in enumerate(["_T", "S", "L"] * 2)]
    workbook(tmp_path / "a.xlsx", one=rows)
    with pytest.raises(JobError, match=r"the numbers in column 'CLASS' may be codes or values"):
        dk.plan.read(tmp_path)
    text = 'template = "."\n[columns]\nvariables = ["CLASS", "SIZE"]\nfields = ["TIME_PERIOD"]\n'
    plan = dk.plan.read(written(tmp_path, **{"p.toml": text}) / "p.toml")
    assert {table.indicator for table in plan.asked.tables} == {"SAL"}
    assert [*plan.asked.fields] == ["2024"]


# ── frames ──────────────────────────────────────────────────────────────────────────────


def test_a_frame_is_planned_with_trees_and_records(tmp_path):
    folder = publication(tmp_path).parent
    frame = pa.table(
        {
            "table_name": ["T1", "T2"],
            "indicator": ["sales", "sales"],
            "spanning_1": ["nuts2", "nuts3"],
            "hrc_spanning_1": ["hrc_nuts", "hrc_nuts"],
        }
    )
    plan = dk.plan.read(frame, trees=folder / "trees", records=folder / "firms.csv")
    assert asked(plan) == ["which rules"]
    (table,) = plan.tables
    assert table.by[0].codes == {"N1", "N2", "N11", "N12", "N13", "N21", "N22"}
    with pytest.raises(JobError, match="only the plan of a template in a file or folder"):
        dk.plan.draft(plan, tmp_path / "plan")


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ({"table_name": ["T", "T"]}, "row 2: the table 'T' is there already in row 1"),
        ({"indicator": ["sales", None]}, "row 2: the column 'indicator' is empty"),
        ({"spanning_1": ["size", None]}, "row 2: the table has no variable"),
        ({"spanning_2": ["size", "kind"]}, "row 1: the variable 'size' is there twice"),
        ({"hrc_spanning_2": ["a", "b"]}, "row 1: hrc_spanning_2 is 'a', and spanning_2 is empty"),
        ({"hrc_spaning_1": ["a", "b"]}, "no column of a metadata frame is called 'hrc_spaning_1'"),
    ],
)  # fmt: skip
def test_a_metadata_frame_that_contradicts_itself(frame, said):
    usual = {
        "table_name": ["T1", "T2"],
        "indicator": ["sales", "staff"],
        "spanning_1": ["size", "size"],
        "spanning_2": [None, None],
    }
    with pytest.raises(JobError) as error:
        dk.plan.read(pa.table({**usual, **frame}))
    assert said in str(error.value)
