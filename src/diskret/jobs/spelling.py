"""Remedies as a job file writes them: messages speak Python, whose options have the same names."""

from __future__ import annotations

import re
from functools import cache

from diskret.jobs.template import template

#: What Python calls otherwise than a job does.
_CALLED = {
    "dk.rules.Apriori": "[tables.rules.apriori]",
    "Varying(...)": "[tables.rules.varying]",
    "suppress([...], rule)": "[[tables]]",
    "attacker=dk.Attacker()": "[attacker] contributor = false",
}
#: The code of a total, which stands beside the column in a job.
_TOTAL = re.compile(r"\btotal=\{'([^']*)': ['\"]([^'\"]*)['\"]\}")
#: A call around the one option that is named.
_CALL = re.compile(r"\b(?:DataFile\(path|Attacker\(\.\.\.), ([^()]*)\)")
#: The value of an option: a text, a list of texts, a truth value. Numbers only where no cell could
#: be meant: "size=1" is one.
_VALUE = r"\"[^\"]*\"|'[^']*'|\[[^][]*\]|True\b|False\b|(?<=decimals=)\d+|(?<=digits=)\d+"
_OPTION = re.compile(rf"\b([a-z][a-z_]*)=({_VALUE}|(?![^\s,;:.)])|(?=[:.](?:\s|$)))")


def in_a_job(message: str) -> str:
    """A message with options as a job file writes them, as far as a job has them.

    >>> in_a_job("raise time_limit=, or say round_values=True")
    "raise 'time_limit', or say round_values = true"
    >>> in_a_job("region=N, sex=Total: Attacker(..., mistaken='drop')")
    'region=N, sex=Total: mistaken = "drop"'
    """
    for python, job in _CALLED.items():
        message = message.replace(python, job)
    message = _TOTAL.sub(r'by = { \1 = { flat = true, total = "\2" } }', message)
    return _OPTION.sub(_written, _CALL.sub(r"\1", message))


def _written(found: re.Match[str]) -> str:
    name, value = found[1], found[2]
    if name not in _keys():
        return found[0]
    return f"{name} = {_in_toml(value)}" if value else f"'{name}'"


def _in_toml(value: str) -> str:
    return value.lower() if value in ("True", "False") else value.replace("'", '"')


@cache
def _keys() -> frozenset[str]:
    """Every key that a job may have."""
    return frozenset(re.findall(r"\b([a-z_]+) = ", template() + template("anonymize")))
