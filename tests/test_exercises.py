"""Exercises and pages for kinds of users say in both languages what runs."""

import ast
import re
from pathlib import Path

import pytest
from test_docs import FENCE, blocks
from write_outputs import with_outputs

DOCS = Path(__file__).parent.parent / "docs"
GERMAN = {
    "exercises/index.md": "de/uebungen/index.md",
    "exercises/business.md": "de/uebungen/wirtschaft.md",
    "exercises/census.md": "de/uebungen/volkszaehlung.md",
    "exercises/survey.md": "de/uebungen/erhebung.md",
    "for/index.md": "de/fuer/index.md",
    "for/publisher.md": "de/fuer/tabellen.md",
    "for/tau-argus.md": "de/fuer/tau-argus.md",
    "for/sdcmicro.md": "de/fuer/sdcmicro.md",
    "for/research-data-centre.md": "de/fuer/forschungsdatenzentrum.md",
    "for/census.md": "de/fuer/volkszaehlung.md",
    "for/warehouse.md": "de/fuer/warehouse.md",
    "for/checker.md": "de/fuer/pruefer.md",
    "for/head.md": "de/fuer/leitung.md",
}
FOLDERS = {"exercises": "de/uebungen", "for": "de/fuer"}
NUMBER = re.compile(r"(?<![\w.,])\d[\d.,]*\d|(?<![\w.,])\d(?!\w)")


def test_every_page_is_there_in_both_languages():
    for english, german in FOLDERS.items():
        there = {f"{english}/{page.name}" for page in (DOCS / english).glob("*.md")}
        assert there == {page for page in GERMAN if page.startswith(f"{english}/")}
        there = {f"{german}/{page.name}" for page in (DOCS / german).glob("*.md")}
        assert there == {page for page in GERMAN.values() if page.startswith(f"{german}/")}


def programs(page: Path) -> list[str]:
    """What the page runs: texts in it may be told in another language."""
    told = []
    for block in blocks(page):
        if block.language == "python":
            tree = ast.parse(block.text)
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    node.value = ""
            told.append(ast.dump(tree))
        else:
            told += re.findall(r"^\$ diskret .+$", block.text, re.MULTILINE)
    return told


@pytest.mark.parametrize(("english", "german"), GERMAN.items())
def test_both_languages_run_the_same(english, german):
    assert programs(DOCS / english) == programs(DOCS / german)


def digits(number: str) -> str:
    """The same for 1,234, 1.234 and 1234, and for 0.95 and 95 %."""
    return re.sub(r"[.,]", "", number).lstrip("0")


def unfounded(page: Path) -> list[str]:
    """Numbers of two digits and more in the prose that no program and no output of the page has."""
    text = page.read_text(encoding="utf-8")
    shown = "\n".join(block.text for block in blocks(page))
    known = {digits(number) for number in NUMBER.findall(shown.replace("_", ""))}
    prose = re.sub(r"\(\S+\)|`[^`]+`", "", FENCE.sub("", text))
    prose = re.sub(r"^#.*$", "", prose, flags=re.MULTILINE)
    told = [digits(number) for number in NUMBER.findall(prose)]
    return [number for number in told if len(number) > 1 and number not in known]


WITH_PROGRAMS = [
    page for page in [*GERMAN, *GERMAN.values()] if programs(DOCS / page) or "index" in page
]


@pytest.mark.parametrize("page", WITH_PROGRAMS)
def test_numbers_in_the_text_come_from_what_runs(page):
    assert unfounded(DOCS / page) == []


@pytest.mark.parametrize("page", [page for page in WITH_PROGRAMS if re.search("for/|fuer/", page)])
def test_ten_lines_are_ten(page):
    """The last program of a page for a kind of user; what stands before it makes up data."""
    texts = [block.text for block in blocks(DOCS / page) if block.language == "python"]
    assert all(len(text.strip().splitlines()) <= 10 for text in texts[-1:])


def test_who_signs_needs_no_program():
    assert programs(DOCS / "for/head.md") == programs(DOCS / "de/fuer/leitung.md") == []


def test_a_wrong_number_and_another_program_are_noticed(tmp_path):
    page = DOCS / "exercises/business.md"
    wrong = tmp_path / "page.md"
    wrong.write_text(page.read_text().replace("off by what the third has: by 6.5 %", "by 6.7 %"))
    assert unfounded(wrong) == ["67"]
    wrong.write_text(page.read_text().replace("PPercent(10)", "PPercent(11)"))
    assert programs(wrong) != programs(page)


def test_outputs_are_written_where_they_belong():
    page = "    ```python\n    print(2 + 3)\n    ```\n\n    ```output\n    4\n    ```\n\nEnd.\n"
    assert with_outputs(page, "page.md") == page.replace("    4\n", "    5\n")
