"""What the documentation shows works: its programs run, its links lead somewhere."""

import re
import shlex
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from diskret.cli.main import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

# blocks may lie in a folded one, which is indented
FENCE = re.compile(r"^( *)```(\w+)?([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its title and its text, with the line it starts on."""

    language: str
    title: str | None
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        title = re.search(r'title="([^"]+)"', match[3])
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(match[2] or "", title and title[1], textwrap.dedent(match[4]), line))
    return found


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def runs_something(page: Path) -> bool:
    return any(b.language == "python" or "$ diskret" in b.text for b in blocks(page))


#: English pages that take longer than a second, but for the two that are read first.
LONG = {
    *("comparison.md", "editions.md", "pictures.md", "programme.md", "safe.md"),
    *("remote.md", "reference/remote.md", "several-tables.md", "signature.md"),
    "workbook-templates.md",
    *("exercises/business.md", "exercises/census.md"),
    *("argus.md", "cell-key.md", "checker.md", "derived.md", "grids.md", "three-months.md"),
}


def german(page: Path) -> bool:
    return "de" in page.parts


def to_run():
    """Pages that run something; German ones run what English ones do, some to the letter."""
    shown = set()
    for page in sorted(PAGES, key=german):
        program = tuple((b.language, b.title, b.text) for b in blocks(page))
        if runs_something(page) and program not in shown:
            shown.add(program)
            long = german(page) or name(page).removeprefix("docs/") in LONG
            marks = [pytest.mark.long] if long else []
            yield pytest.param(page, id=name(page), marks=marks)


@pytest.mark.parametrize("page", [*to_run()])
def test_page_runs(page, tmp_path, monkeypatch, capsys):
    """Python blocks and `$ diskret` commands run in turn; a block with a title is a file.

    A block in the language `output` is what Python printed since the one before.
    """
    monkeypatch.chdir(tmp_path)
    follow(page, capsys)


def follow(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    namespace = {"__name__": "__main__"}
    for block in blocks(page):
        if block.title:
            Path(block.title).write_text(block.text, encoding="utf-8")
        if block.language == "python":
            # blank lines before it make a traceback point into the page
            source = "\n" * block.line + block.text
            exec(compile(source, str(page), "exec"), namespace)
        for command in re.findall(r"^\$ diskret (.+)$", block.text, re.MULTILINE):
            diskret(shlex.split(command))
        if block.language == "output":
            assert without_blanks(capsys.readouterr().out) == without_blanks(block.text)


def test_another_output_is_noticed(tmp_path, capsys):
    page = tmp_path / "page.md"
    folded = "    ```python\n    print(2 + 3)\n    ```\n\n    ```output\n    {}\n    ```\n"
    page.write_text(folded.format(5), encoding="utf-8")
    follow(page, capsys)
    page.write_text(folded.format(4), encoding="utf-8")
    with pytest.raises(AssertionError):
        follow(page, capsys)


def diskret(arguments: list[str]) -> None:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, f"diskret {' '.join(arguments)}\n{done.output}{done.exception!r}"


def without_blanks(text: str) -> list[str]:
    """The lines without blanks at their ends and without empty ones around them."""
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def test_internal_links_lead_somewhere():
    broken = []
    for page in PAGES:
        for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
            path, _, _ = target.partition("#")
            if path and "://" not in path and not path.startswith("mailto:"):
                if not (page.parent / path).exists():
                    broken.append(f"{name(page)}: {target}")
    assert broken == []


def test_every_defect_has_the_test_it_names():
    there = {
        test
        for file in (ROOT / "tests").rglob("test_*.py")
        for test in re.findall(r"def (test_\w+)", file.read_text(encoding="utf-8"))
    }
    page = (ROOT / "docs" / "defects.md").read_text(encoding="utf-8")
    named = re.findall(r"`(test_\w+)`", page)
    assert named
    assert [test for test in named if test not in there] == []
