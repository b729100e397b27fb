"""What rules, noise and steps take, told to the page, which draws a form of it.

All of it is what job files are read by, so a form has no more and no less than a job.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diskret.anonymize.data import Microdata
from diskret.anonymize.verb import VERBS
from diskret.jobs.noise import METHODS, noise_parameters
from diskret.parameters import (
    REQUIRED,
    AnyPercentage,
    Choice,
    ColumnName,
    Flag,
    Function,
    Kind,
    Names,
    Number,
    Parameter,
    Several,
    Text,
    Whole,
    parameters,
)
from diskret.rules import BY_NAME

#: Texts that name a column, or a file.
_COLUMNS = ("record_key", "key_of", "variable")
_FILES = ("table",)
#: Steps that are a section of their own in a job.
_NO_STEP = ("safe",)


def forms() -> dict[str, Any]:
    """Rules, methods that change values (of counts, and of sums), and steps on records."""
    rules = {
        name: {"sums": rule.of_sums, "takes": _told(parameters(rule))}
        for name, rule in BY_NAME.items()
        if name not in ("apriori", "varying", "missing_safe")
    }
    noise = {
        kind: {one: _told(noise_parameters(one, kind == "sums")) for one in METHODS}
        for kind in ("counts", "sums")
    }
    return {"rules": rules, "noise": noise, "steps": _steps()}


def _steps() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for verb in VERBS:
        if verb in _NO_STEP:
            continue
        declared = dict([*parameters(getattr(Microdata, verb)).items()][1:])
        declared.pop("progress", None)
        found[verb] = _told(declared)
    return found


def _told(declared: Mapping[str, Parameter]) -> list[dict[str, Any]]:
    return [
        {"key": key, **_parameter(one)}
        for key, one in declared.items()
        if not (one.kinds and all(isinstance(kind, Function) for kind in one.kinds))
    ]


def _parameter(one: Parameter) -> dict[str, Any]:
    kinds = [kind for kind in one.kinds if not isinstance(kind, Function)]
    if one.name in _FILES:
        told: dict[str, Any] = {"kind": "file"}
    elif one.name in _COLUMNS:
        told = {"kind": "column"}
    else:
        told = _kind(kinds[0]) if len(kinds) == 1 else {"kind": "any"}
        # a number, or one for each of many: the number is what a form has
        if len(kinds) == 2 and isinstance(kinds[1], Several):  # noqa: PLR2004
            told = _kind(kinds[0])
    default = one.default
    if isinstance(default, tuple):
        default = [*default]
    simple = isinstance(default, (str, int, float, bool, list))
    required = one.default is REQUIRED
    return {**told, "required": required, "usual": default if simple and not required else None}


def _kind(kind: Kind) -> dict[str, Any]:
    match kind:
        case Whole():
            return {"kind": "whole", "low": kind.low, "high": kind.high}
        case AnyPercentage():
            return {"kind": "percent", "high": kind.high}
        case Number():
            return {"kind": "number", "low": kind.low, "high": kind.high or kind.below}
        case Choice():
            return {"kind": "choice", "words": [*kind.words]}
        case Flag():
            return {"kind": "flag"}
        case ColumnName():
            return {"kind": "column"}
        case Names():
            return {"kind": "columns"}
        case Text():
            return {"kind": "text"}
        case _:
            return {"kind": "any"}
