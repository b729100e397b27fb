"""Labels in several languages: where they come from, and which one is shown."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.errors import HierarchyError, InputError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.coarser import combine
from diskret.tables import Dimension, Published
from diskret.tables.public_files import structure

TREE = Hierarchy.flat(["N", "S"])
BOTH = {"N": {"en": "North", "de": "Norden"}, "S": {"en": "South", "de": "Süden"}}


def shown(tree, language):
    return [tree.label(code, language) for code in tree.codes]


@pytest.mark.parametrize(
    "labels",
    [
        BOTH,
        {"code": ["N", "S", "N", "S"], "label": ["North", "South", "Norden", "Süden"],
         "language": ["en", "en", "de", "de"]},
        pd.DataFrame({"code": ["N", "S", "N", "S"], "label": ["North", "South", "Norden", "Süden"],
                      "language": ["en", "en", "de", "de"]}),
    ],
)  # fmt: skip
def test_labels_come_from_mappings_and_frames(labels):
    tree = TREE.with_labels(labels)
    assert shown(tree, "en") == ["", "North", "South"]
    assert shown(tree, "de") == ["", "Norden", "Süden"]
    assert tree == TREE


def test_labels_come_from_files(tmp_path):
    both, classic = tmp_path / "both.csv", tmp_path / "region.cdl"
    both.write_text('language,code,label\nen,N,"North, far"\nen,S,South\n', encoding="utf-8")
    classic.write_bytes(" N,Norden, weit\r\n S,Süden\r\n".encode("latin-1"))
    tree = TREE.with_labels(both).with_labels(classic, "de", encoding="latin-1")
    assert shown(tree, "en") == ["", "North, far", "South"]
    assert shown(tree, "de") == ["", "Norden, weit", "Süden"]


def test_the_labels_of_tau_argus_are_read(reference_data):
    path = next(reference_data.rglob("region.cdl"))
    codes = [line.split(",")[0] for line in path.read_text("latin-1").splitlines() if line.strip()]
    tree = Hierarchy.flat(codes).with_labels(path, "nl", "latin-1")
    assert tree.label("1", "nl") == "Groningen"
    assert all(shown(tree, "nl")[1:])


def test_a_missing_language_falls_back_to_none_in_particular_then_to_another():
    tree = TREE.with_labels({"N": "the north"}).with_labels(BOTH)
    assert tree.label("N", "de") == "Norden"
    assert tree.label("N", "fr") == "the north"
    assert tree.label("S", "fr") == "Süden"
    assert tree.label("Total", "fr") == ""


@pytest.mark.parametrize(
    ("labels", "language", "message"),
    [
        ({"X": "x"}, None, "none of the 1 labelled codes"),
        ({}, None, "there are no labels"),
        ({"N": 3}, None, "write text, or a mapping"),
        (BOTH, "de", "leave out language="),
        ({"N": "North"}, "English", "languages that are none"),
        ({"code": ["N"], "text": ["x"]}, None, "label of 'code' is"),
        ({"code": ["N", "N"], "label": ["a", "b"]}, None, "two labels in one language"),
    ],
)
def test_what_cannot_be_labels_is_refused(labels, language, message):
    with pytest.raises(HierarchyError, match=message):
        TREE.with_labels(labels, language)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "code,label\nN,North,far\n", "put labels that hold a comma in quotes"),
        ("a.csv", "", "the file is empty"),
        ("a.csv", "code;label\nN;North\n", "the columns must be"),
        ("a.cdl", "N;Norden\n", "line 1"),
        ("a.txt", "N,Norden\n", "must end in"),
    ],
)
def test_what_is_no_file_of_labels_is_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(HierarchyError, match=message):
        TREE.with_labels(tmp_path / name)


def test_combined_codes_lose_their_labels_in_every_language():
    tree = combine(
        Hierarchy.flat(["N", "S", "W"]).with_labels({**BOTH, "W": {"de": "Westen"}}),
        {"other": ["N", "S"]},
    ).hierarchy
    assert tree.label("other", "de") == tree.label("N", "de") == ""
    assert tree.label("W", "de") == "Westen"


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=5)


@given(st.dictionaries(st.sampled_from(["en", "de", "fr"]), TEXT), st.booleans())
def test_the_structure_file_carries_all_languages(tmp_path_factory, texts, foreign):
    labels = {"N": texts, "S": "South", **({"secret": {"en": "Meier KG"}} if foreign else {})}
    published = of(TREE.with_labels(labels))
    assert "Meier" not in str(structure(published))
    folder = tmp_path_factory.mktemp("out")
    write(published, folder)
    tree = Published.read(folder).dimensions[0].hierarchy
    for language in ("en", "de", "fr", ""):
        assert tree.label("N", language) == published.dimensions[0].hierarchy.label("N", language)
    assert tree.labels == {"S": "South"}


def test_a_structure_file_without_languages_is_as_before():
    assert "translations" not in structure(of(TREE.with_labels({"N": "x"})))["dimensions"][0]


@pytest.mark.parametrize("broken", [{"en": "North"}, {"en": {"N": 3}}, []])
def test_broken_languages_are_named(tmp_path, broken):
    published = of(TREE)
    write(published, tmp_path, translations=broken)
    with pytest.raises(InputError, match="translations|must be text"):
        Published.read(tmp_path)


def of(tree):
    nowhere = np.zeros(3, dtype=bool)
    value = np.array([3, 1, 2])
    return Published("t", (Dimension("region", tree),), "count", True, 0, value, nowhere, nowhere)


def write(published, folder, **changes):
    from diskret.publish.formats.data_files import write_csv
    from diskret.publish.json_files import write_json

    content = structure(published)
    content["dimensions"][0].update(changes)
    write_csv(published, folder / "t.csv")
    write_json(content, folder / "t.structure.json")


def test_lines_of_a_csv_file_end_in_any_way(tmp_path):
    path = tmp_path / "labels.csv"
    for end in ("\n", "\r\n", "\r"):
        path.write_bytes(f"code,label{end}N,North{end}".encode())
        assert Hierarchy.flat(["N"]).with_labels(path).label("N") == "North"
    path.write_bytes(b'code,label\nN,"' + b"x" * 200_000)
    with pytest.raises(HierarchyError, match="cannot be read as CSV"):
        Hierarchy.flat(["N"]).with_labels(path)
