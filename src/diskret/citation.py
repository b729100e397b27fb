"""Where methods come from: the references of docstrings, found by name or by what was done."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from diskret import __version__
from diskret.errors import InputError

#: Of diskret itself, as ``CITATION.cff`` says it.
SOFTWARE = (
    f"The diskret developers, diskret {__version__}: statistical disclosure control with proof "
    "[computer software]"
)
#: Folders in which methods are looked for by name.
_FOLDERS = (
    *("rules", "suppression", "rounding", "adjustment", "cellkey", "safe", "microdata", "spatial"),
    *("risk", "utility", "attack", "outputs", "tables", "protect", "anonymize", "remote", "serve"),
)
_DEFINED = re.compile(r"^(?:def|class) ([A-Za-z]\w*)", re.MULTILINE)
_SECTION = re.compile(
    r"^(?:References|Sources?)\n-{3,}\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)", re.MULTILINE | re.DOTALL
)
#: Said within a sentence, up to the end of the paragraph.
_SAID = re.compile(r"\bSources?: (.*?)(?=\n\s*\n|\Z)", re.DOTALL)
#: The verb of results whose settings name a method of it.
_VERBS = {
    "rounding": "round_table",
    "cell_key": "perturb",
    "invariant": "perturb_invariant",
    "adjustment": "adjust",
}
#: Another docstring that says it, as the documentation links it.
_SEE = re.compile(r"See \[`?\w+`?\]\[(diskret[\w.]*)\.(\w+)\]\.?")
_RULE = re.compile(r"\b([A-Z]\w+)\(")


def cite(*what: Any) -> tuple[str, ...]:
    """How to cite diskret and the methods that were used: one text for each source.

    Parameters
    ----------
    what
        Functions, classes and methods of diskret; their names, e.g. ``"mdav"``, with the folder
        before it where several things are called so, as ``"suppression.optimal"``; or protected
        tables and microdata, for all that was done to them. Nothing: diskret alone.

    Returns
    -------
    tuple of str
        diskret first, then the references of the methods, in the order given and each once. Methods
        of diskret's own have none.

    Raises
    ------
    InputError
        There is no method of that name; similar names are told.

    Examples
    --------
    >>> import diskret as dk
    >>> print(dk.cite("hypercube")[1][:69])
    Repsilber (1994), "Preservation of confidentiality in aggregated data
    >>> len(dk.cite(dk.rules.PPercent, dk.Microdata.pram, "pram"))
    3
    """
    found = [SOFTWARE]
    for one in what:
        for thing in _meant(one):
            found += references(thing)
    return tuple(dict.fromkeys(found))


def references(thing: object) -> list[str]:
    """What the docstring of a function or class says of its source; each on one line."""
    text = inspect.getdoc(thing) or ""
    parts = [part for section in _SECTION.findall(text) for part in re.split(r"\n\s*\n", section)]
    parts += _SAID.findall(_SECTION.sub("", text))
    found = list[str]()
    for said in (" ".join(part.split()) for part in parts if part.strip()):
        there = _SEE.fullmatch(said)
        found += [said] if there is None else references(_at(*there.groups()))
    return found


def _meant(one: Any) -> Iterable[object]:
    if isinstance(one, str):
        return _named(one)
    if callable(one):
        return [one]
    one = getattr(one, "microdata", one)  # what was released, with all that was done to it
    settings, history = (getattr(one, name, None) for name in ("settings", "history"))
    if settings is None and history is None:
        raise InputError(
            f"{type(one).__name__} is no method and no result; give a function, its name, or "
            "what was protected"
        )
    names = [*_of_tables(one)] if isinstance(settings, Mapping) else []
    found = [thing for name in names for thing in _named(name, known=False)]
    return found + [thing for step in history or () for thing in _of_step(step)]


def _of_tables(result: Any) -> Iterator[str]:
    """The names of verb, rules and method."""
    settings: Mapping[str, Any] = result.settings
    family: str = getattr(result.certificate, "family", "")
    yield f"protect.{_VERBS.get(family, 'suppress')}"
    yield from (f"rules.{name}" for name in _RULE.findall(str(settings.get("rule", ""))))
    yield f"suppression.{settings.get('method', '')}"


def _of_step(step: Any) -> Iterator[object]:
    """A verb on microdata, and the way to group if it is one that groups."""
    [verb] = _named(f"anonymize.{step.verb}")
    yield verb
    if step.verb == "microaggregate":
        groupings: Mapping[str, Any] = _at("diskret.microdata.aggregation", "METHODS")
        usual = inspect.signature(verb).parameters["method"].default
        yield groupings[step.arguments.get("method", usual)].partition


def _named(name: str, *, known: bool = True) -> list[Any]:
    """All functions and classes of that name; `known`: there has to be one."""
    folder, _, last = name.rpartition(".")
    homes = _homes()
    modules = [
        module for module in homes.get(last, ()) if f"{module}.".startswith(f"diskret.{folder}")
    ]
    if not modules and known:
        near = get_close_matches(last, homes, n=3)
        more = f"; did you mean {', '.join(near)}?" if near else ""
        raise InputError(f"diskret has no method {name!r}{more}")
    return [_at(module, last) for module in modules]


def _at(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


@cache
def _homes() -> dict[str, tuple[str, ...]]:
    """Name → the modules that define it; they are read as text, since few are needed."""
    package, found = Path(__file__).parent, dict[str, tuple[str, ...]]()
    for folder in _FOLDERS:
        for path in sorted((package / folder).rglob("*.py")):
            module = ".".join(("diskret", *path.relative_to(package).with_suffix("").parts))
            for name in _DEFINED.findall(path.read_text(encoding="utf-8")):
                found[name] = (*found.get(name, ()), module.removesuffix(".__init__"))
    return found
