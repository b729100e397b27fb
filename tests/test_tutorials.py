"""Each tutorial from top to bottom as newcomers do it: empty folder, no keys, real command."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from test_docs import PAGES, ROOT, blocks, name, runs_something

#: Pages of these look things up and are no tutorials.
NOT_FOLLOWED = {"reference", "decisions", "lectures"}
TUTORIALS = [
    page
    for page in PAGES
    if runs_something(page) and page.parent != ROOT and not NOT_FOLLOWED & set(page.parts)
]
COMMAND = [sys.executable, "-c", "from diskret.cli import run; run()"]


def script(page: Path) -> str:
    """What the reader does, one thing after the other, as a program."""
    steps = ["import pathlib, subprocess", "there = {'__name__': '__main__'}"]
    for block in blocks(page):
        if block.title:
            steps.append(
                f"pathlib.Path({block.title!r}).write_text({block.text!r}, encoding='utf-8')"
            )
        if block.language == "python":
            source = "\n" * block.line + block.text
            steps.append(f"exec(compile({source!r}, {str(page)!r}, 'exec'), there)")
        for command in re.findall(r"^\$ diskret (.+)$", block.text, re.MULTILINE):
            steps.append(f"subprocess.run({[*COMMAND, *shlex.split(command)]!r}, check=True)")
    return "\n".join(steps)


def followed(page: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    fresh, home = folder / "fresh", folder / "home"
    fresh.mkdir()
    home.mkdir()
    kept = {key: os.environ[key] for key in ("PATH", "SYSTEMROOT", "TMPDIR") if key in os.environ}
    environment = kept | {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONUTF8": "1",
    }
    steps = folder / "steps.py"
    steps.write_text(script(page), encoding="utf-8")
    return subprocess.run(
        [sys.executable, str(steps)],
        cwd=fresh,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=name)
def test_tutorial_in_an_empty_folder(page, tmp_path):
    done = followed(page, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.long
def test_what_goes_wrong_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n```\n\n```console\n$ diskret verify out\n```\n")
    done = followed(page, tmp_path)
    assert done.returncode == 1
    assert "out" in done.stderr


def test_the_pages_for_newcomers_are_tutorials():
    told = {name(page) for page in TUTORIALS}
    assert {
        "docs/quickstart.md",
        "docs/de/quickstart.md",
        "docs/exercises/business.md",
        "docs/for/publisher.md",
    } <= told
