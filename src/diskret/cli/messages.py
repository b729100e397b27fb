"""Errors, warnings and names of tasks in the language of the reader: one catalogue, by template.

Messages are raised in English, wherever something is wrong. At the edge, where they reach a
reader, a message is recognised by the template it was made from, and its parts, which may be
messages themselves, are put into the template of the other language. What the catalogue does not
know stays as it is.

The catalogue is the folder ``german``: one TOML file for each folder of the package, a line for
each message, ``"English with {} gaps" = "Deutsch mit {0} Lücken"``.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from string import Formatter

#: A gap that is a number: whole with groups of thousands, or with decimals; maybe a percentage.
_NUMBER = re.compile(r"([-+−]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+))( ?%)?")
_GERMAN_NUMBER = str.maketrans({",": "\N{NO-BREAK SPACE}", ".": ","})

#: A list in words: its last item is one word or one quoted text.
_LIST = re.compile(r"(.+) (and|or) ([^\s']+|'[^']*')", re.DOTALL)
_GERMAN_LIST = {"and": "und", "or": "oder"}

Entry = tuple[str, str, int, str, str]  # how it begins and ends, its least length, both templates


def translated(message: str, language: str) -> str:
    """A message in the language of the reader.

    Examples
    --------
    >>> translated("job.toml, line 3: the key 'by' is missing in [[tables]]", "de")
    "job.toml, Zeile 3: der Schlüssel 'by' fehlt in [[tables]]"
    >>> translated("something new", "de")
    'something new'
    """
    if language != "de" or not message.strip():
        return message
    if (number := _NUMBER.fullmatch(message)) is not None:
        return number[1].translate(_GERMAN_NUMBER) + ("\N{NO-BREAK SPACE}%" if number[2] else "")
    for begins, ends, least, english, german in _entries():
        if len(message) >= least and message.startswith(begins) and message.endswith(ends):
            if (found := pattern(english).fullmatch(message)) is not None:
                return german.format(*(translated(part, language) for part in found.groups()))
    if (found := _LIST.fullmatch(message)) is not None:
        before, joined, last = found.groups()
        return f"{translated(before, language)} {_GERMAN_LIST[joined]} {last}"
    for sign in (": ", "; ", ". "):  # a part that is known behind one that is not
        before, there, after = message.partition(sign)
        if there:
            return f"{translated(before, language)}{sign}{translated(after, language)}"
    return message


@cache
def catalogue() -> dict[str, str]:
    """German for what is raised in English: template of a message → the same in German."""
    german: dict[str, str] = {}
    for file in files("diskret.cli").joinpath("german").iterdir():
        if file.name.endswith(".toml"):
            german |= tomllib.loads(file.read_text(encoding="utf-8"))
    return german


@cache
def _entries() -> tuple[Entry, ...]:
    """The catalogue, those with the most words of their own first."""
    entries = []
    for english, german in catalogue().items():
        words = [text for text, _, _, _ in Formatter().parse(english)]
        ends = "" if english.endswith("{}") else words[-1]
        entries.append((words[0], ends, sum(map(len, words)), english, german))
    return tuple(sorted(entries, key=lambda entry: (-entry[2], entry[3])))


@cache
def pattern(template: str) -> re.Pattern[str]:
    """What messages of a template look like; its gaps are groups."""
    parts = Formatter().parse(template)
    return re.compile(
        "".join(re.escape(text) + ("" if gap is None else "(.*?)") for text, gap, _, _ in parts),
        re.DOTALL,
    )
