"""The example of maps runs in both languages, and what leaves can be verified."""

import subprocess
import sys
from pathlib import Path

import pytest

import diskret as dk

EXAMPLE = Path(__file__).parents[2] / "examples" / "maps.py"


@pytest.mark.long
@pytest.mark.parametrize(("language", "said"), [("en", "unsafe sums"), ("de", "unsichere Summen")])
def test_the_example_runs(tmp_path, monkeypatch, language, said):
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "keys"))
    command = [sys.executable, EXAMPLE, tmp_path / "out", language]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8")
    assert said in shown.stdout
    folder = tmp_path / "out" / "release"
    assert dk.verify(folder).tables == ("cells", "municipalities")
    pages = [Path(line) for line in shown.stdout.splitlines() if line.endswith(".map.html")]
    assert [page.exists() for page in pages] == [True, True]
