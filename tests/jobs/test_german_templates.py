"""The German templates are the English ones with other comments."""

import re
import tomllib

import pytest
from typer.testing import CliRunner

from diskret.cli.main import app
from diskret.jobs.template import template

JOBS = ("protect", "anonymize", "safe")
COMMANDS = (*JOBS, "serve")
#: What a German template says by itself.
OWN = '#language = "en"', 'language = "de"'


def code(text: str) -> list[str]:
    """The lines without their comments; options that a # leaves out stay."""
    lines = [re.split(r"\s+# ", line)[0].rstrip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("# ")]


@pytest.mark.parametrize("command", JOBS)
def test_keys_and_examples_are_the_same(command):
    english, german = (code(template(command, language)) for language in ("en", "de"))
    assert len(english) > 20
    assert german == [OWN[1] if line == OWN[0] else line for line in english]


@pytest.mark.parametrize("command", JOBS)
def test_it_is_a_job_in_german(command):
    english, german = (tomllib.loads(template(command, language)) for language in ("en", "de"))
    place = "output" if command == "protect" else "release"
    assert german == {**english, place: {**english[place], "language": "de"}}


def test_options_of_a_service_are_the_same():
    """Its template shows options as ``# key = value``, as users of services are used to."""
    english, german = (
        [re.split(r"\s+# ", line)[0] for line in template("serve", language).splitlines()]
        for language in ("en", "de")
    )
    assert sum(line.startswith("# [") for line in english) > 3
    assert english[2:] == german[2:]


@pytest.mark.parametrize("command", COMMANDS)
def test_comments_are_as_many_and_none_is_left_in_english(command):
    """A line that adds a comment in English has one in German; the same words are the exception."""

    def comments(language):
        lines = [
            re.split(r"(?:^|\s+)# ", line, maxsplit=1)
            for line in template(command, language).splitlines()
        ]
        return {found[1] for found in lines if len(found) > 1}

    english, german = comments("en"), comments("de")
    assert abs(len(english) - len(german)) < 6
    kept = {line for line in english & german if re.search(r"\b(the|and|or|by|is)\b", line)}
    assert kept == set()


def test_the_commands_print_it():
    for command in COMMANDS:
        said = CliRunner().invoke(app, [command, "--template", "--language", "de"])
        assert (said.exit_code, said.output) == (0, template(command, "de"))
        assert CliRunner().invoke(app, [command, "--template"]).output == template(command)
