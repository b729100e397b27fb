"""The methods of `Microdata`: where they are, what all verbs do alike, and the step each leaves."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from diskret.parameters import checked

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata
    from diskret.publish.pages.microdata_outline import Family


@dataclass(frozen=True)
class Step:
    """One call of a method of [`Microdata`][diskret.Microdata]. Confidential.

    Parameters
    ----------
    verb
        Name of the method.
    arguments
        Its arguments by name, as a job file can hold them: text, numbers, logical values,
        lists and mappings of these; what was left at its default is left out.
    found
        Figures it reported, JSON-ready: how many values were suppressed, say.
    columns
        The columns that it gave new values, in the order of the file.
    """

    verb: str
    arguments: Mapping[str, Any]
    found: Mapping[str, Any] = field(default_factory=dict[str, Any])
    columns: tuple[str, ...] = ()


P = ParamSpec("P")

#: Verb, a method that returns protected microdata → the module that has it, and what it does to
#: values, in general words; None: the column is not there afterwards.
VERBS: Mapping[str, tuple[str, Family | None]] = {
    "recode": ("recode", "recoded"),
    "drop": ("recode", None),
    "remove_identifiers": ("recode", None),
    "generalise": ("generalise", "recoded"),
    "local_suppression": ("suppress", "suppressed"),
    "pram": ("pram", "randomised"),
    "microaggregate": ("microaggregate", "aggregated"),
    "add_noise": ("noise", "noisy"),
    "rank_swap": ("rank_swap", "exchanged"),
    "shuffle": ("shuffle", "exchanged"),
    "swap": ("swap", "exchanged"),
    "swap_records": ("swap_records", "exchanged"),
    "top_code": ("top_code", "cut"),
    "top_code_together": ("top_code", "cut"),
    "dp_noise": ("dp_noise", "randomised"),
    "safe": ("safe", "replaced"),
    "sample": ("sample", "sampled"),
}
#: Method → the module below `diskret.anonymize` in which it has the same name.
METHODS: Mapping[str, str] = {
    **{name: module for name, (module, _) in VERBS.items()},
    "transitions": "pram",
    "replay": "history",
    "save_job": "history",
    **{
        name: name
        for name in (
            *("release", "checklist", "explore", "deviations"),
            *("risk", "suda", "risky_combinations", "population_uniques", "anonymity"),
            *("numeric_risk", "recode_candidates"),
        )
    },
}
#: What a step does not tell: it changes nothing of the result.
_UNTOLD = ("progress", "checkpoint")


class Method:
    """A function ``name(md, …)`` as a method, imported when it is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        module = import_module(f"{__package__}.{METHODS[self._name]}")
        function = getattr(module, self._name)
        setattr(owner, self._name, function)
        return function if instance is None else function.__get__(instance, owner)


def verb(
    *told: str,
) -> Callable[
    [Callable[Concatenate[Microdata, P], Microdata]], Callable[Concatenate[Microdata, P], Microdata]
]:
    """A verb: its arguments are read as it declares them, and its step tells those that count.

    The function says of its `Step` only what differs from what it was given: variables that it
    found itself, say. A default is told only for the parameters `told`.
    """

    def declared(
        function: Callable[Concatenate[Microdata, P], Microdata],
    ) -> Callable[Concatenate[Microdata, P], Microdata]:
        signature = inspect.signature(function)
        first, *others = signature.parameters.values()
        defaults = {
            one.name: one.default
            for one in others
            if one.name not in told and one.default is not one.empty
        }

        @wraps(function)
        def carried_out(md: Microdata, *args: P.args, **kwargs: P.kwargs) -> Microdata:
            try:
                bound = signature.bind(md, *args, **kwargs)
            except TypeError:
                return function(md, *args, **kwargs)  # which says what is missing, or too much
            del bound.arguments[first.name]
            read = checked(function, bound.arguments)
            made = function(md, **read)  # pyright: ignore[reportCallIssue]
            *before, step = made.history
            arguments = {one.name: one.default for one in others} | read | {**step.arguments}
            made.history = (*before, replace(step, arguments=_told(arguments, defaults)))
            return made

        return carried_out

    return declared


def _told(arguments: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that differ from their defaults, tuples as lists."""
    listed = {name: _listed(value) for name, value in arguments.items() if name not in _UNTOLD}
    return {
        name: value
        for name, value in listed.items()
        if name not in defaults or value != _listed(defaults[name])
    }


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
