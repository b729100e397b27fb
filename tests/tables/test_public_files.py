"""The public files: what is read is what was published, and damage is named."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.publish.formats.data_files import write_csv
from diskret.publish.json_files import write_json
from diskret.tables import Dimension, Published
from diskret.tables.public_files import (
    check_file_name,
    decimal_text,
    public_cells,
    structure,
)
from diskret.tables.read_public import of_structure

TREE = Hierarchy(
    ("Total", "01", "01a", "01b", "02"),
    np.array([-1, 0, 1, 1, 0]),
    {"Total": "Alle", "01": 'Ärzte, "freie"'},
)
REGION = Dimension("region", TREE)
SIZE = Dimension("size", Hierarchy.flat(["small"]))


def a_published(**changes):
    value = np.arange(10).reshape(5, 2) * 125
    suppressed = np.zeros((5, 2), dtype=bool)
    suppressed[2:4, 1] = True
    empty = np.zeros((5, 2), dtype=bool)
    empty[0, 0] = True
    values = {
        "name": "firms",
        "dimensions": (REGION, SIZE),
        "measure": "turnover",
        "frequency": False,
        "decimals": 2,
        "value": np.where(suppressed, 0, value),
        "suppressed": suppressed,
        "empty": empty,
    }
    return Published(**{**values, **changes})


def write(published, folder):
    write_csv(published, folder / f"{published.name}.csv")
    write_json(structure(published), folder / f"{published.name}.structure.json")


def same(a, b):
    plain = ("name", "dimensions", "measure", "frequency", "decimals", "nonnegative")
    arrays = ("value", "suppressed", "empty")
    labels = [[d.hierarchy.labels for d in p.dimensions] for p in (a, b)]
    return (
        all(getattr(a, n) == getattr(b, n) for n in plain)
        and all(np.array_equal(getattr(a, n), getattr(b, n)) for n in arrays)
        and labels[0] == labels[1]
    )


# ── round trip ──────────────────────────────────────────────────────────────────────

TEXTS = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"), max_size=6
)


@st.composite
def trees(draw):
    codes = draw(st.lists(TEXTS, min_size=1, max_size=5, unique=True))
    parent = [-1] + [draw(st.integers(0, i - 1)) for i in range(1, len(codes))]
    labelled = draw(st.sets(st.sampled_from(codes)))
    labels = {code: draw(TEXTS) for code in codes if code in labelled}
    return Hierarchy(tuple(codes), np.array(parent), labels)


@st.composite
def tables(draw):
    reserved = {"status"}
    names = draw(
        st.lists(TEXTS.filter(lambda t: t not in reserved), min_size=2, max_size=4, unique=True)
    )
    dimensions = tuple(Dimension(name, draw(trees())) for name in names[1:])
    shape = tuple(len(d) for d in dimensions)
    n = int(np.prod(shape))
    nonnegative = draw(st.booleans())
    low = 0 if nonnegative else -(2**63)
    value = np.array(draw(st.lists(st.integers(low, 2**63 - 1), min_size=n, max_size=n)))
    status = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    return Published(
        name="table",
        dimensions=dimensions,
        measure=names[0],
        frequency=False,
        decimals=draw(st.integers(0, 18)),
        value=np.where(status == 0, value, 0).astype(np.int64).reshape(shape),
        suppressed=(status == 1).reshape(shape),
        empty=(status == 2).reshape(shape),
        nonnegative=nonnegative,
    )


@given(tables())
def test_what_is_read_is_what_was_published(tmp_path_factory, published):
    folder = tmp_path_factory.mktemp("public")
    write(published, folder)
    assert same(Published.read(folder), published)


def test_rows_may_stand_in_any_order(tmp_path):
    write(a_published(), tmp_path)
    path = tmp_path / "firms.csv"
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([head, *reversed(rows)]), encoding="utf-8")
    assert same(Published.read(tmp_path), a_published())


def test_the_folder_above_public_will_do(tmp_path):
    (tmp_path / "public").mkdir()
    write(a_published(), tmp_path / "public")
    assert same(Published.read(tmp_path), a_published())


def test_a_table_is_chosen_by_name(tmp_path):
    write(a_published(), tmp_path)
    write(a_published(name="other"), tmp_path)
    assert Published.read(tmp_path, "other").name == "other"
    with pytest.raises(InputError, match="2 published tables.*'firms', 'other'"):
        Published.read(tmp_path)


# ── what is written ─────────────────────────────────────────────────────────────────


def test_nothing_of_a_suppressed_or_empty_cell_is_written():
    value = np.full((5, 2), 7654321)
    cells = public_cells(a_published(value=value))
    assert cells["turnover"][0].as_py() == "0.00"
    assert cells["turnover"][5].as_py() == ""
    assert cells["status"][5].as_py() == "suppressed"


def test_labels_of_other_codes_are_not_published():
    tree = replace(TREE, labels={**TREE.labels, "secret": "Meier KG"})
    published = a_published(dimensions=(Dimension("region", tree), SIZE))
    assert structure(published) == structure(a_published())


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20), st.integers(0, 18))
def test_decimal_text_is_exact(scaled, decimals):
    texts = decimal_text(np.array(scaled, dtype=np.int64), decimals).to_pylist()
    for text, number in zip(texts, scaled, strict=True):
        assert int(text.replace(".", "")) == number
        assert len(text.partition(".")[2]) == decimals


@pytest.mark.parametrize("name", ["status", "turnover", "size"])
def test_columns_must_differ(name):
    clash = Dimension(name, TREE)
    with pytest.raises(InputError, match=f"'{name}'"):
        structure(a_published(dimensions=(clash, SIZE)))


@pytest.mark.parametrize("text", ["a\nb", "a\r", "\x00", "\ud800"])
def test_control_characters_are_refused(text):
    with pytest.raises(InputError, match="control characters, e.g. .* in .*; remove"):
        public_cells(a_published(dimensions=(REGION, Dimension(text, SIZE.hierarchy))))
    code = Hierarchy.flat(["a", f"{text}b"])
    with pytest.raises(InputError, match="control characters, e.g. .* in 'kind'; remove"):
        public_cells(a_published(dimensions=(REGION, Dimension("kind", code))))


@pytest.mark.parametrize(
    "name", ["", ".hidden", "a/b", "..", "a\\b", "a:b", "x" * 101, "a ", "a\n"]
)
def test_names_that_no_file_can_have_are_refused(name):
    with pytest.raises(InputError, match="cannot be used for files"):
        check_file_name(name)


@pytest.mark.parametrize("name", ["Umsätze 2025", "t-1_b.c", "a" * 100])
def test_ordinary_names_are_fine(name):
    check_file_name(name)


# ── damage ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Total,small,1.25", "Total,huge,1.25", r"firms\.csv, line 3, column 'size': 'huge'"),
        ("1.25", "1.250", r"line 3, column 'turnover': '1\.250' .* exactly 2 decimals"),
        ("1.25", "1,25", r"cannot be read as CSV.*Row #3"),
        ("1.25", "", r"line 3, column 'turnover': '' is not a number"),
        ("1.25", "-1.25", r"line 3, column 'turnover': '-1\.25' is negative"),
        ("1.25", "9" * 20 + ".00", r"column 'turnover': out of range"),
        ("1.25,published", "1.25,secret", r"line 3, column 'status': 'secret' is none of"),
        ("1.25,published", "1.25,suppressed", r"line 3, column 'turnover': .* must be empty"),
        ("0.00,empty", "1.00,empty", r"line 2, column 'turnover': .* must be 0"),
        ("Total,small,1.25", "Total,Total,1.25", r"more than once, e\.g\. in lines 2 and 3"),
        ("Total,small,1.25,published\n", "", r"1 of 10 cells is missing.*region=Total, size=sm"),
        ("02,small,11.25,published\n", "", r"1 of 10 cells is missing.*region=02, size=small"),
        ("turnover,status", "status,turnover", r"line 1: the columns must be region, size, turn"),
        ("Total,small,1.25,published\n", "\n", r"line 3, column 'region': '' is not a code"),
    ],
)
def test_damaged_cells_are_named_by_file_line_and_column(tmp_path, old, new, message):
    write(a_published(), tmp_path)
    path = tmp_path / "firms.csv"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        Published.read(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "diskret/structure/2"}, "only 'diskret/structure/1' can be read"),
        ({"name": "other"}, "says its name is 'other'"),
        ({"frequency": 1}, "'frequency' is missing or is not of type bool"),
        ({"decimals": True}, "'decimals' is missing or is not of type int"),
        ({"decimals": 19}, "must be 0 to 18"),
        ({"frequency": True}, "0 for counts"),
        ({"dimensions": []}, "'dimensions' is empty"),
        ({"dimensions": ["region"]}, "'name' is missing"),
        ({"measure": "size"}, "more than one column would be called 'size'"),
        ({"measure": None}, "'measure' is missing"),
    ],
)
def test_damaged_structure_is_named(tmp_path, change, message):
    write(a_published(), tmp_path)
    path = tmp_path / "firms.structure.json"
    path.write_text(json.dumps({**structure(a_published()), **change}), encoding="utf-8")
    with pytest.raises(InputError, match=f"firms.structure.json.*{message}"):
        Published.read(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parents": [None, "Total", "01", "nowhere", "Total"]}, "'nowhere' that is not a code"),
        ({"parents": ["01", "Total", "01", "01", "Total"]}, "null the parent of the total"),
        ({"codes": ["Total", "01", "01", "01b", "02"]}, "no tree.*twice"),
        ({"parents": [None, "02", "01", "01", "Total"]}, "no tree.*before its children"),
        ({"codes": ["Total", 1, "01a", "01b", "02"]}, "must be text"),
    ],
)
def test_a_damaged_code_tree_is_named(tmp_path, change, message):
    write(a_published(), tmp_path)
    content = structure(a_published())
    content["dimensions"][0] |= change
    write_json(content, tmp_path / "firms.structure.json")
    with pytest.raises(InputError, match=message):
        Published.read(tmp_path)


def test_broken_json_is_named_with_its_line(tmp_path):
    write(a_published(), tmp_path)
    (tmp_path / "firms.structure.json").write_text('{\n"schema": ?', encoding="utf-8")
    with pytest.raises(InputError, match="line 2, column 11: not valid JSON"):
        Published.read(tmp_path)


def test_missing_files_are_named(tmp_path):
    with pytest.raises(InputError, match="no published table here"):
        Published.read(tmp_path)
    write_json(structure(a_published()), tmp_path / "firms.structure.json")
    with pytest.raises(InputError, match="firms.csv: the file is missing"):
        Published.read(tmp_path)


def test_other_encodings_are_refused(tmp_path):
    write(a_published(measure="Umsätze"), tmp_path)
    path = tmp_path / "firms.csv"
    path.write_bytes(path.read_text(encoding="utf-8").encode("latin-1"))
    with pytest.raises(InputError, match="firms.csv: cannot be read as CSV in UTF-8"):
        Published.read(tmp_path)


def test_an_absurd_structure_takes_no_memory(tmp_path):
    codes = ["Total", *map(str, range(9_999))]
    parents = [None, *["Total"] * 9_999]
    outline = {"codes": codes, "parents": parents, "labels": {}}
    content = structure(a_published())
    content["dimensions"] = [{"name": f"d{i}", **outline} for i in range(8)]
    write_json(content, tmp_path / "firms.structure.json")
    header = ",".join([*(f"d{i}" for i in range(8)), "turnover", "status"])
    row = ",".join(["Total"] * 8 + ["1.00", "published"])
    (tmp_path / "firms.csv").write_text(f"{header}\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError, match="more than can be read"):
        Published.read(tmp_path)


def test_a_structure_and_its_arrays_agree_about_published_intervals():
    table = a_published()
    bounds = np.zeros(table.shape, dtype=np.int64)
    arrays = (table.value, table.suppressed, table.empty)
    said = structure(table)
    assert of_structure(Published, said, *arrays).sides == ()
    with pytest.raises(InputError, match="'intervals'"):
        of_structure(Published, said | {"intervals": True}, *arrays)
    with pytest.raises(InputError):
        of_structure(Published, said, *arrays, bounds, bounds)
