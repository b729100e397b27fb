"""Errors, warnings and names of tasks in the language of the reader: one catalogue, by template.

Messages are raised in English, wherever something is wrong. At the edge, where they reach a
reader, a message is recognised by the template it was made from, and its parts, which may be
messages themselves, are put into the template of the other language. What the catalogue does not
know stays as it is.
"""

from __future__ import annotations

import re
from functools import cache
from string import Formatter

from diskret.cli.german import GERMAN


def translated(message: str, language: str) -> str:
    """A message in the language of the reader.

    Examples
    --------
    >>> translated("job.toml, line 3: the key 'by' is missing in [[tables]]", "de")
    "job.toml, Zeile 3: der Schlüssel 'by' fehlt in [[tables]]"
    >>> translated("something new", "de")
    'something new'
    """
    if language != "de":
        return message
    for pattern, german in _catalogue():
        if (found := pattern.fullmatch(message)) is not None:
            return german.format(*(translated(part, language) for part in found.groups()))
    for sign in (": ", "; ", ". "):  # a part that is known behind one that is not
        before, there, after = message.partition(sign)
        if there:
            return f"{translated(before, language)}{sign}{translated(after, language)}"
    return message


@cache
def _catalogue() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Patterns and what they become, those with the most words of their own first."""
    ordered = sorted(GERMAN, key=lambda one: -len(one.replace("{}", "")))
    return tuple((pattern(one), GERMAN[one]) for one in ordered)


def pattern(template: str) -> re.Pattern[str]:
    """What messages of a template look like; its gaps are groups."""
    parts = Formatter().parse(template)
    return re.compile(
        "".join(re.escape(text) + ("" if gap is None else "(.*?)") for text, gap, _, _ in parts),
        re.DOTALL,
    )
