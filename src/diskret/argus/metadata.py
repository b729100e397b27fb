"""Metadata of τ-ARGUS (``.rda``): the variables of a file and what they are for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Literal
from unicodedata import normalize

from diskret.argus.rule_text import numbers
from diskret.argus.text import Place, text_of, unquoted
from diskret.errors import JobError

_OPTION = re.compile(r"<\s*(\w+)\s*>([^<]*)")
_FIELDS = re.compile(r'"[^"]*"|\S+')
#: What a variable is for; several may be said of one.
_ROLES = {
    "RECODEABLE": "code",
    "RECODABLE": "code",
    "NUMERIC": "numeric",
    "WEIGHT": "weight",
    "HOLDING": "holding",
    "REQUEST": "request",
    "FREQUENCY": "frequency",
    "MAXSCORE": "largest",
    "STATUS": "status",
    "LOWERPL": "lower",
    "UPPERPL": "upper",
    "SHADOW": "shadow",
    "COST": "cost",
    "COSTVAR": "cost",
    "RECORDKEY": "key",
    "HIERARCHICAL": "tree",
}


#: What the perturbation tables are for.
_NOISE = {"PFILE": "counts", "PFILE_FREQ": "counts", "PFILE_CONT": "sums", "PFILE_SEP": "small"}
_STEPS = 5
#: Options of a variable that have values of their own kind.
_OTHERS = ("DECIMALS", "HIERLEVELS", "DISTANCE", "CKM", "SCALING", "PARITY", "SEPARATION")
_CHANGES = re.compile(r"([A-Za-z])\s*(?:\(([^()]*)\))?")
_YES = {"Y": True, "N": False}


@dataclass(frozen=True)
class SumNoise:
    """How the cell key method changes sums of a variable.

    of: T: by the largest contributions, M: the mean, D: the range, V: the value; N: not at all.
    largest: how many of the largest contributions count.
    zeros: whether the keys of those count who contribute 0.
    parity: whether cells with an odd number of contributors have a table of their own.
    separation: whether small cells have a table of their own.
    scaling: F: shares fall with size, N: they are constant; "" where nothing is said.
    numbers: of the scaling.
    """

    of: str = "N"
    largest: int = 1
    zeros: bool = True
    parity: bool = False
    separation: bool = False
    scaling: str = ""
    numbers: tuple[float, ...] = ()


@dataclass(frozen=True)
class Variable:
    """A column of the data.

    start, width: its place in a line of fixed format; None in free format.
    missing: the codes of what is not known.
    levels: digits that each level of the code adds.
    tree, labels: names of files.
    requests: codes of who asks for protection, at the first and the second level.
    distances: what hiding a cell costs that is 1, 2, … steps away from an unsafe one.
    noise: the perturbation tables of the cell key method, by what they are for.
    changed: how the cell key method changes sums.
    """

    name: str
    place: Place
    start: int | None = None
    width: int | None = None
    missing: tuple[str, ...] = ()
    roles: frozenset[str] = frozenset()
    total: str = "Total"
    decimals: int = 0
    levels: tuple[int, ...] = ()
    tree: str = ""
    lead: str = "@"
    labels: str = ""
    requests: tuple[str, ...] = ()
    distances: tuple[float, ...] = ()
    noise: Mapping[str, str] = field(default_factory=dict[str, str])
    changed: SumNoise | None = None

    def __str__(self) -> str:
        return f"{self.place}, variable {self.name!r}"


@dataclass(frozen=True)
class Metadata:
    """The variables in the order of the columns.

    separator: what stands between fields; "" in fixed format.
    status: codes of what the file says of a cell: safe, unsafe, protected.
    """

    path: Path
    variables: tuple[Variable, ...]
    separator: str = ""
    status: dict[str, str] = field(
        default_factory=lambda: {"safe": "S", "unsafe": "U", "protected": "P"}
    )

    def named(self, name: str, place: Place) -> Variable:
        """A variable, whatever the case of its name."""
        for variable in self.variables:
            if _alike(variable.name) == _alike(name):
                return variable
        raise JobError(
            f"{place}: {self.path.name} has no variable {name!r}; it has "
            f"{', '.join(repr(v.name) for v in self.variables)}"
        )

    def of_role(self, role: str) -> tuple[Variable, ...]:
        """The variables that are for something."""
        return tuple(v for v in self.variables if role in v.roles)


def _alike(name: str) -> str:
    """A name whatever its case, and whether its umlauts are one character or two."""
    return normalize("NFC", name).casefold()


def read_metadata(path: Path, kind: Literal["records", "cells"]) -> Metadata:
    """Read the metadata of records or of cells."""
    variables: list[Variable] = []
    separator = "" if kind == "records" else ","
    status = {"safe": "S", "unsafe": "U", "protected": "P"}
    for number, line in enumerate(text_of(path).split("\n"), start=1):
        line, place = line.strip(), Place(path, number)
        if not line or line.startswith("//"):
            continue
        if not line.startswith("<"):
            variables.append(_variable(line, place, kind, separator))
            continue
        for keyword, text in _OPTION.findall(line):
            keyword, place = keyword.upper(), Place(path, number, keyword.upper())
            if keyword == "SEPARATOR":
                separator = _separator(text, place)
            elif keyword == "SPSS":
                raise JobError(
                    f"{place}: files of SPSS are not read here; save the records as text with "
                    "<SEPARATOR>"
                )
            elif keyword in ("SAFE", "UNSAFE", "PROTECT"):
                status["protected" if keyword == "PROTECT" else keyword.lower()] = unquoted(text)
            elif not variables:
                raise JobError(f"{place}: stands before the first variable")
            else:
                variables[-1] = _with_option(variables[-1], keyword, text, place)
    _check(variables, path)
    return Metadata(path, tuple(variables), separator, status)


def _separator(text: str, place: Place) -> str:
    said = text.strip()
    said = said[1:-1] if len(said) > 2 and said[0] == said[-1] == '"' else said.strip('"')
    said = "\t" if said.lower() in ("\\t", "tab") or (not said and text.strip()) else said
    if len(said) != 1:
        raise JobError(f"{place}: {text.strip()!r} is no separator; give one character in quotes")
    return said


def _variable(line: str, place: Place, kind: str, separator: str) -> Variable:
    name, *rest = (_FIELDS.findall(line) or [line])[:5]
    name = unquoted(name)
    if not name:
        raise JobError(f"{place}: a variable has no name")
    if kind == "cells":
        # a number without quotes is a width: as a code that is not known it would make cells safe
        width = bool(rest) and re.fullmatch("[0-9]{1,6}", rest[0]) is not None
        return Variable(name, place, missing=_codes(rest[width:]))
    numbers = 1 if separator else 2
    given = [field for field in rest[:numbers] if re.fullmatch("[0-9]{1,6}", field)]
    if len(given) < numbers:
        asked = "its width" if separator else "its first character and its width"
        raise JobError(
            f"{place}: the variable {name!r} needs {asked} as whole numbers, not {' '.join(rest)!r}"
        )
    start = None if separator else int(given[0])
    width = int(given[-1])
    if width < 1 or start == 0:
        raise JobError(f"{place}: the variable {name!r} has no room; positions begin with 1")
    return Variable(name, place, start, width, _codes(rest[numbers:]))


def _codes(fields: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(code for code in map(unquoted, fields) if code))


def _with_option(variable: Variable, keyword: str, text: str, place: Place) -> Variable:
    """A variable with one option more; what only the screen of τ-ARGUS shows is passed over."""
    value = unquoted(text)
    if keyword in _ROLES:
        variable = replace(variable, roles=variable.roles | {_ROLES[keyword]})
        if keyword == "REQUEST":
            asked = _codes(_FIELDS.findall(text))[:2]
            variable = replace(variable, requests=asked)
        return variable
    if keyword == "DECIMALS":
        if not re.fullmatch("[0-9]{1,2}", value) or int(value) > 18:
            raise JobError(f"{place}: {value!r} is no number of decimals; give 0 to 18")
        return replace(variable, decimals=int(value))
    if keyword == "HIERLEVELS":
        digits = re.findall(r"\S+", value)
        if not digits or not all(re.fullmatch("[0-9]{1,3}", digit) for digit in digits):
            raise JobError(f"{place}: {value!r} are no numbers of digits, e.g. 3 1 1")
        return replace(variable, levels=tuple(int(d) for d in digits if int(d)))
    if keyword == "DISTANCE":
        steps = numbers(",".join(value.replace(",", " ").split()), place)
        if len(steps) > _STEPS or min(steps) <= 0:
            raise JobError(
                f"{place}: {value!r} are no costs of 1, 2, … steps; give up to {_STEPS} numbers "
                "above 0, e.g. 1 2 3 4 5"
            )
        return replace(variable, distances=steps)
    if keyword in ("CKM", "SCALING", "INCLUDEZEROS", "PARITY", "SEPARATION"):
        return _with_noise(variable, keyword, text.strip(), place)
    field_of = {
        "TOTCODE": "total",
        "HIERCODELIST": "tree",
        "HIERLEADSTRING": "lead",
        "CODELIST": "labels",
    }
    if keyword not in field_of and keyword not in _NOISE:
        known = (*_ROLES, *_OTHERS, *field_of, *_NOISE)
        if near := get_close_matches(keyword, known, 1, 0.8):
            raise JobError(
                f"{place}: is no option of a variable; did you mean <{near[0]}>? Correct it or "
                "remove it"
            )
        return variable
    if not value:
        raise JobError(f"{place}: says nothing; give a value after it or remove it")
    if keyword in _NOISE:
        return replace(variable, noise={**variable.noise, _NOISE[keyword]: value})
    return replace(variable, **{field_of[keyword]: value})


def _with_noise(variable: Variable, keyword: str, text: str, place: Place) -> Variable:
    """A variable with one option more of how the cell key method changes its sums."""
    how = variable.changed
    if keyword == "CKM":
        how = SumNoise()
    elif how is None:
        raise JobError(f"{place}: stands before <CKM>, which says how sums are changed")
    said = _CHANGES.fullmatch(text)
    letter = said[1].upper() if said else ""
    inside = said[2] if said and said[2] else ""
    if keyword == "CKM":
        largest = numbers(inside, place)[0] if letter == "T" and inside else 1
        if letter not in ("N", "T", "M", "D", "V") or largest not in range(1, _STEPS + 2):
            raise JobError(
                f"{place}: {text!r} is no way to change sums; write N (not at all), T(3) (by the "
                "3 largest contributions, at most 6), M (by the mean), D (by the range) or V (by "
                "the value)"
            )
        return replace(variable, changed=SumNoise(letter, int(largest)))
    if keyword == "SCALING":
        if letter not in ("F", "N") or not inside:
            raise JobError(
                f"{place}: {text!r} is no scaling; write F(share of large contributions, of small "
                "ones, flex point, power, …) or N(share, …)"
            )
        return replace(
            variable, changed=replace(how, scaling=letter, numbers=numbers(inside, place))
        )
    if text.upper() not in _YES:
        raise JobError(f"{place}: {text!r} is neither Y nor N")
    name = {"INCLUDEZEROS": "zeros"}.get(keyword, keyword.lower())
    return replace(variable, changed=replace(how, **{name: _YES[text.upper()]}))


def _check(variables: list[Variable], path: Path) -> None:
    if not variables:
        raise JobError(f"{path.name}: names no variable")
    seen: set[str] = set()
    for variable in variables:
        if variable.name.casefold() in seen:
            raise JobError(f"{variable.place}: the variable {variable.name!r} stands twice")
        seen.add(variable.name.casefold())
