"""The pages of the lectures: short examples, the same in both languages."""

import pytest
from test_docs import ROOT, blocks

FOLDER = ROOT / "docs" / "lectures"
NAMES = ("heinzl", "meindl", "rothe", "safe", "simon")


def python(page):
    return [block.text for block in blocks(page) if block.language == "python"]


def test_every_document_has_a_page_in_both_languages():
    assert sorted(page.stem for page in FOLDER.glob("*.md")) == sorted((*NAMES, "index"))
    assert sorted(page.stem for page in (FOLDER / "de").glob("*.md")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_show_the_same_examples(name):
    english, german = (python(folder / f"{name}.md") for folder in (FOLDER, FOLDER / "de"))
    assert english == german
    assert sum("assert" in block for block in english) > 5


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_short(name):
    for block in python(FOLDER / f"{name}.md"):
        assert len([line for line in block.splitlines() if line.strip()]) <= 10


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_show_the_same_pictures(name):
    english, german = ((folder / f"{name}.md") for folder in (FOLDER, FOLDER / "de"))
    shown = [page.read_text(encoding="utf-8").count("pictures/") for page in (english, german)]
    assert shown[0] == shown[1]
