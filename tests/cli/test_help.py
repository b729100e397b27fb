"""``--help`` says in German all that it says in English."""

import runpy
import sys

import pytest
from typer import rich_utils
from typer.main import get_command
from typer.testing import CliRunner

from diskret.cli.help import _TYPERS, catalogue, german_help, texts_of
from diskret.cli.main import app, main

SIGNS_OF_TYPER = {
    "Usage:",
    "Show this message and exit.",
    *(getattr(rich_utils, name) for name in _TYPERS),
}


def said(*arguments: str) -> str:
    shown = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    return shown.output


def test_every_text_has_german_and_no_german_is_left_over():
    english = {text for text in texts_of(get_command(app)) if text}
    assert english - catalogue().keys() == set()
    assert catalogue().keys() - english == SIGNS_OF_TYPER


@pytest.mark.parametrize(
    "arguments",
    [
        ("cellkey", "design", "--help", "--language", "de"),
        ("cellkey", "--language", "de", "design", "--help"),
        ("--language=de", "cellkey", "design", "--help"),
    ],
)
def test_the_language_may_stand_anywhere(arguments: tuple[str, ...]):
    shown = said(*arguments)
    for german in ("Aufruf:", "[OPTIONEN]", "Varianz der Überlagerung. [nötig]", "[Vorgabe: 0]"):
        assert german in shown
    assert "Diese Hilfe zeigen." in shown
    assert not any(english in shown for english in ("Usage", "Options", "default", "required"))


@pytest.mark.parametrize("program", ["diskret", "python -m diskret"])
def test_without_arguments_the_program_shows_its_commands(program, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [program])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("diskret", run_name="__main__") if "-m" in program else main()
    assert ended.value.code in (0, 2)
    shown = capsys.readouterr()
    assert "Usage: diskret" in shown.out + shown.err and "protect" in shown.out + shown.err


def test_commands_of_a_group_are_named_in_german():
    shown = said("ledger", "--help", "--language", "de")
    assert "BEFEHL [ARGUMENTE]..." in shown and "Alle Veröffentlichungen auflisten" in shown


def test_english_stays_english_afterwards():
    said("--help", "--language", "de")
    shown = said("map", "--help", "--language", "en")
    assert "Usage: diskret map [OPTIONS]" in shown and "A job file that has places" in shown


def test_no_text_loses_what_stands_in_brackets():
    """Typer takes words in brackets for styles, and leaves them out."""
    for english, german in catalogue().items():
        if english not in SIGNS_OF_TYPER:
            assert "[" not in english + german


def test_what_typer_says_is_restored_after_an_error():
    before = [getattr(rich_utils, name) for name in _TYPERS]
    with pytest.raises(RuntimeError), german_help(get_command(app), {}):
        raise RuntimeError
    assert [getattr(rich_utils, name) for name in _TYPERS] == before
