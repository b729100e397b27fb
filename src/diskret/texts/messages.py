"""Errors, warnings and names of tasks in the language of the reader: one catalogue, by template.

Messages are raised in English, wherever something is wrong. At the edge, where they reach a
reader, a message is recognised by the template it was made from, and its parts, which may be
messages themselves, are put into the template of the other language. What the catalogue does not
know stays as it is.

The catalogue is the folder ``de/messages``: one TOML file for each folder of the package, a line
for each message, ``"English with {} gaps" = "Deutsch mit {0} Lücken"``. What depends on a number
has two forms, as in the code (`Count`): ``"{} {:row is|rows are} empty"`` is in German
``"{0} {0:Zeile ist|Zeilen sind} leer"``.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from string import Formatter

from diskret.texts.numbers import Figure, form

#: A gap that is a number: whole with groups of thousands, or with decimals; maybe a percentage.
_NUMBER = re.compile(r"([-+−]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+))( ?%)?")

#: A list in words: its items are single words or quoted texts; "Research and Development" is none.
_ITEM = r"(?:'[^']*'|[\w=%.+-]+)"
_LIST = re.compile(rf"({_ITEM}(?:, {_ITEM})*) (and|or) ({_ITEM})")
_GERMAN_LIST = {"and": "und", "or": "oder"}

#: Where a message may be cut: known parts may stand beside unknown ones.
_SIGNS = re.compile(r": |; |\. ")

#: Words of a message, and those of a template that are words of each message made from it.
_WORD = re.compile(r"\w+")
_INSIDE = re.compile(r"(?<=\W)\w+(?=\W)")

#: What may stand beside a lone word such as "of": quoted texts, numbers, files. Codes of a user
#: that look like a template, as "Bank of America" does, are left alone.
_NAMED = re.compile(r"'.*'|[-+−\d.,]+%?|\S+\.\w+|", re.DOTALL)
_LONE = 8

Entry = tuple[str, str, tuple[str, ...], str, str]  # begin, end, words between, both templates


def translated(message: str, language: str) -> str:
    """A message in the language of the reader.

    >>> translated("job.toml, line 3: the key 'by' is missing in [[tables]]", "de")
    "job.toml, Zeile 3: der Schlüssel 'by' fehlt in [[tables]]"
    >>> translated("something new", "de")
    'something new'
    """
    return _read(message)[1] if language == "de" else message


@lru_cache(10_000)
def _read(message: str) -> tuple[int, str]:
    """How many characters of a message are known, and its German: what knows most is right.

    A message may look like several templates: "job.toml, table 't': k= must be 2, not 3" like
    "{} must be {}, not {}", and like "{}, table {}: {}" with a known message in it.
    """
    if not message.strip():
        return 0, message
    if (number := _NUMBER.fullmatch(message)) is not None:
        percent = "\N{NO-BREAK SPACE}%" if number[2] else ""
        return 0, Figure(number[1]).written("de") + percent
    best = 0, message
    for begins, ends, words, english, german in _candidates(message):
        if (
            message.startswith(begins)
            and message.endswith(ends)
            and all(word in message for word in words)
            and (found := pattern(english).fullmatch(message)) is not None
        ):
            parts = [_read(part) for part in found.groups()]
            own = len(message) - sum(map(len, found.groups()))
            if (
                not begins
                and own < _LONE
                and not all(
                    parts[at][0] or _NAMED.fullmatch(part) for at, part in enumerate(found.groups())
                )
            ):
                continue
            known = own + sum(known for known, _ in parts)
            if known >= best[0]:  # of two readings that know as much, the one that wraps the other
                best = known, filled(german, [part for _, part in parts])
    if (found := _LIST.fullmatch(message)) is not None:
        known, before = _read(found[1])
        if known >= best[0]:
            best = known, f"{before} {_GERMAN_LIST[found[2]]} {found[3]}"
    for sign in _SIGNS.finditer(message):
        before, after = _read(message[: sign.start()]), _read(message[sign.end() :])
        if before[0] + after[0] > best[0]:
            best = before[0] + after[0], before[1] + sign[0] + after[1]
    return best


@cache
def catalogue() -> dict[str, str]:
    """German for what is raised in English: template of a message → the same in German."""
    german: dict[str, str] = {}
    for file in files("diskret.texts").joinpath("de", "messages").iterdir():
        if file.name.endswith(".toml"):
            german |= tomllib.loads(file.read_text(encoding="utf-8"))
    return german


def _candidates(message: str) -> list[Entry]:
    """Templates that a message may have been made from, those with the most words first."""
    entries, by_word = _entries()
    at = {at for word in {"", *_WORD.findall(message)} for at in by_word.get(word, ())}
    return [entries[i] for i in sorted(at)]


@cache
def _entries() -> tuple[list[Entry], dict[str, list[int]]]:
    """The catalogue, those with the most words of their own first; and where a word stands.

    Each is listed once, by a word that every message made from it has: its longest; "" if none
    stands apart from gaps, and from the ends, where a sign of something else may follow.
    """
    entries: list[Entry] = []
    for english, german in catalogue().items():
        parts = [*Formatter().parse(english)]
        words = tuple(text for text, _, _, _ in parts)
        ends = words[-1] if parts[-1][1] is None else ""
        entries.append((words[0], ends, words, english, german))
    entries.sort(key=lambda entry: (-sum(map(len, entry[2])), entry[3]))
    by_word: defaultdict[str, list[int]] = defaultdict(list)
    for at, (_, _, words, _, _) in enumerate(entries):
        inside = (word for text in words for word in _INSIDE.findall(text))
        by_word[max(inside, key=len, default="")].append(at)
    return entries, by_word


@cache
def pattern(template: str) -> re.Pattern[str]:
    """What messages of a template look like; its gaps are groups."""
    parts = Formatter().parse(template)
    return re.compile(
        "".join(re.escape(text) + _gap(gap, forms or "") for text, gap, forms, _ in parts),
        re.DOTALL,
    )


def _gap(gap: str | None, forms: str) -> str:
    if "|" in forms:
        return f"(?:{'|'.join(map(re.escape, forms.split('|')))})"
    return "" if gap is None else "(.*?)"


def filled(german: str, parts: Sequence[str]) -> str:
    """A German template with its gaps filled, and the forms that fit its numbers.

    >>> filled("{0} {0:Zeile ist|Zeilen sind} leer", ["1"])
    '1 Zeile ist leer'
    """
    return german.format(*map(_Part, parts))


class _Part(str):
    """What fills a gap; before a number may stand what an empty gap beside it left to it."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return form(self.split()[-1:] == ["1"], spec) if "|" in spec else str(self)
