"""Progress is drawn for those who wait in front of a terminal, and for nobody else."""

import io
import json

from rich.console import Console

from diskret.cli.progress import progress_bars
from diskret.progress import LINES, silent


def console(terminal: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=80)


def test_nothing_is_drawn_into_a_file():
    with progress_bars(console(terminal=False)) as progress:
        assert progress is silent


def test_nothing_is_drawn_for_short_work():
    screen = console(terminal=True)
    with progress_bars(screen, patience=60) as progress:
        progress("attack", 1, 2)
    assert "attack" not in screen.file.getvalue()  # type: ignore[attr-defined]


def test_long_work_gets_a_bar_for_each_task():
    screen = console(terminal=True)
    with progress_bars(screen, patience=0) as progress:
        progress("tabulate", 1, 2)
        progress("attack", 3, 70)
    drawn = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "tabulate" in drawn
    assert "3/70" in drawn


def test_what_is_said_of_a_task_changes_in_its_bar():
    screen = console(terminal=True)
    with progress_bars(screen, patience=0) as progress:
        progress("search: largest 17, mean 4.20", 1, 9)
        progress("search: largest 13, mean 2.55", 8, 9)
    drawn = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "8/9" in drawn
    last = drawn.rsplit("8/9", 1)[0].rsplit("search", 1)[1]
    assert "largest 13" in last
    assert "1/9" not in drawn.rsplit("largest 13", 1)[1]


def test_a_program_that_started_this_one_is_told_in_lines(monkeypatch, capsys):
    monkeypatch.setenv(LINES, "1")
    with progress_bars(language="de") as progress:
        progress("tabulate", 0, 2)
        progress("tabulate", 1, 2)  # too soon to be told
        progress("tabulate", 2, 2)
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [one["done"] for one in told] == [0, 2]
    assert told[0]["task"] != "tabulate" and told[0]["total"] == 2
