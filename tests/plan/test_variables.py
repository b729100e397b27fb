"""Levels of trees, several trees of one variable, fields that lie in each other."""

import pyarrow as pa
import pytest
from plan_templates import released, written

import diskret as dk
from diskret.errors import JobError


@pytest.fixture(autouse=True)
def own_keys(tmp_path, monkeypatch):
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "keys"))


def asked(plan):
    return [question.said.key for question in plan.questions]


FIRMS = "year,place,size,sales\n" + "".join(
    f"{2024 + i % 2},{place},{'S' if i % 3 else 'L'},{13 * i + 5}\n"
    for i, place in enumerate(["A1", "A2", "B1", "B2", "B1", "A1"] * 20)
)
ADMIN = "land,place\nA,A1\nA,A2\nB,B1\nB,B2\n"
RIVERS = "river,place\nRhine,A1\nRhine,B1\nElbe,A2\nElbe,B2\n"
BASIS = """\
[hierarchies]
admin = { file = "admin.csv", levels = ["land", "place"] }
[records]
path = "firms.csv"
[rules]
minimum_frequency = { n = 3 }
"""


def read(folder, text, **files):
    files = {"admin.csv": ADMIN, "rivers.csv": RIVERS, "firms.csv": FIRMS, **files}
    return dk.plan.read(written(folder, **files, **{"p.toml": text}) / "p.toml")


def table(name, *by, field=""):
    about = f'field = "{field}"\n' if field else ""
    return f'[[tables]]\nname = "{name}"\nindicator = "sales"\nby = {[*by]}\n{about}'


@pytest.mark.parametrize("level", ['"land"', "1"])
def test_a_level_of_a_tree_is_what_is_published(tmp_path, level):
    text = f'{BASIS}[variables.place]\nhierarchy = "admin"\nlevel = {level}\n{table("T", "place")}'
    plan = read(tmp_path, text)
    (planned,) = plan.tables
    assert planned.by[0].codes == {"A", "B"}
    results, _ = released(plan, tmp_path)
    assert results["sales_admin"].published.dimensions[0].hierarchy.codes == ("Total", "A", "B")


def test_levels_that_no_file_names_are_asked_about(tmp_path):
    hierarchy = BASIS.replace('admin.csv", levels = ["land", "place"]', 'admin.hrc"')
    text = (
        f'{hierarchy}[variables]\nland = {{ hierarchy = "admin" }}\n'
        f'place = {{ hierarchy = "admin" }}\n{table("T", "place")}{table("U", "land")}'
    )
    files = {"admin.hrc": "A\n@A1\n@A2\nB\n@B1\n@B2\n"}
    plan = read(tmp_path, text, **files)
    assert asked(plan) == ["which level"]
    assert "level of records" in [note.said.key for note in plan.notes]
    assert "level = 1" in plan.questions[0].answer
    answered = text.replace(
        'land = { hierarchy = "admin"', 'land = { level = 1, hierarchy = "admin"'
    )
    plan = read(tmp_path, answered, **files)
    assert asked(plan) == [] and len(plan.tables) == 1


TWO_TREES = BASIS.replace(
    "[records]", 'rivers = { file = "rivers.csv", levels = ["river", "place"] }\n[records]'
)
PLACES = "INDICATOR,place,size\n" + "".join(
    f"sales,{place},{size}\n"
    for place in ("_T", "A", "B", "Rhine", "Elbe")
    for size in ("_T", "S", "L")
)
CELLS = 'template = "cells.csv"\n'
LISTED = "[variables]\nplace = {{ hierarchy = {trees} }}\nsize = {{ flat = true }}\n"


def test_codes_of_two_trees_are_two_tables_of_one_cluster(tmp_path):
    text = CELLS + TWO_TREES + LISTED.format(trees='["admin", "rivers"]')
    plan = read(tmp_path, text, **{"cells.csv": PLACES})
    assert asked(plan) == []
    found = [(table.cluster, table.by[0].tree, table.by[0].codes) for table in plan.tables]
    assert found == [(1, "admin", {"A", "B"}), (1, "rivers", {"Rhine", "Elbe"})]
    results, _ = released(plan, tmp_path)
    codes = [one.published.dimensions[0].hierarchy.codes for one in results.values()]
    assert codes == [("_T", "A", "B"), ("_T", "Rhine", "Elbe")]


def test_codes_that_one_tree_lacks_are_asked_about(tmp_path):
    text = CELLS + TWO_TREES + LISTED.format(trees='"admin"')
    plan = read(tmp_path, text, **{"cells.csv": PLACES})
    (question,) = [one for one in plan.questions if one.said.key == "not in tree"]
    assert dict(question.said.blanks)["codes"] == "Rhine, Elbe"
    assert question.lines == (11, 14)


def test_a_code_with_two_meanings_is_asked_about(tmp_path):
    rivers = RIVERS.replace("Rhine", "A").replace("Elbe", "River")
    text = CELLS + TWO_TREES + LISTED.format(trees='["admin", "rivers"]')
    cells = PLACES.replace("Rhine", "River").replace(
        "sales,Elbe,_T\nsales,Elbe,S\nsales,Elbe,L\n", ""
    )
    plan = read(tmp_path, text, **{"cells.csv": cells, "rivers.csv": rivers})
    assert "two meanings" in asked(plan)


def test_a_variable_of_two_trees_in_a_template_is_asked_about():
    plan = dk.plan.read(
        pa.table(
            {
                "table_name": ["T", "U"],
                "indicator": ["sales", "sales"],
                "spanning_1": ["place", "place"],
                "hrc_spanning_1": ["admin", "rivers"],
            }
        )
    )
    assert "two trees" in asked(plan)


# ── fields ──────────────────────────────────────────────────────────────────────────────

OLD_AND_NEW = table("T", "size", field="old") + table("U", "size", field="new")
YEARS = f"{BASIS}[variables.size]\nflat = true\n{OLD_AND_NEW}"


def test_which_records_fields_are_about_is_asked(tmp_path):
    plan = read(tmp_path, YEARS)
    assert asked(plan) == ["which field", "which field"]
    assert [question.lines for question in plan.questions] == [(9,), (14,)]


@pytest.mark.parametrize(
    ("old", "new", "clusters"),
    [
        ('{ year = "2024" }', '{ year = "2025" }', 2),
        ('{ year = "2024" }', '{ year = ["2024", "2025"] }', 1),
    ],
)
def test_fields_hang_together_where_they_have_records_in_common(tmp_path, old, new, clusters):
    text = f"[fields.old]\nwhere = {old}\n[fields.new]\nwhere = {new}\n"
    plan = read(tmp_path, YEARS.replace("[[tables]]", text + "[[tables]]", 1))
    assert asked(plan) == [] and len(plan.clusters) == clusters
    results, _ = released(plan, tmp_path)
    assert [*results] == ["old_sales_size", "new_sales_size"]
    totals = [one.table.count.ravel()[0] for one in results.values()]
    assert totals == [60, 60 if clusters == 2 else 120]


def test_separators_and_marks_of_editors(tmp_path):
    text = "\ufefftable_name;indicator;spanning_1\n\nT;sales;size\n"
    plan = dk.plan.read(written(tmp_path, **{"t.csv": text}) / "t.csv")
    assert [table.lines for table in plan.asked.tables] == [(3,)]
    with pytest.raises(JobError, match="t.csv, line 2: not UTF-8"):
        (tmp_path / "t.csv").write_bytes(b"a\n\xff")
        dk.plan.read(tmp_path / "t.csv")
