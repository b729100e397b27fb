"""What a researcher asks for: tables, figures and models, as a file that holds no code."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diskret.jobs.schema import Section, section_of

MODELS = ("ols", "logit", "probit", "poisson")
KINDS = ("table", "chart", "histogram", *MODELS)
#: Statistics of parts that add up to those of all.
ADDING = ("count", "sum")
STATISTICS = ("count", "sum", "mean", "median")
#: Factors within which a value is said to be close.
FACTORS = (1.1, 1.25, 1.5, 2.0)

_NAME = r"[A-Za-z_]\w*"
_FACTOR = re.compile(rf"(?:(C|log)\(\s*({_NAME})\s*\)|({_NAME}))")
#: A number of records, and one of results in a query.
_MOST = 50


@dataclass(frozen=True)
class Asked:
    """One result that is asked for.

    Parameters
    ----------
    name
        What it is called.
    kind
        One of `KINDS`.
    by
        Columns that make the cells of a table.
    figures
        Column and statistic of each figure of a table; none: records are counted.
    column, bins
        Of a histogram.
    formula
        Of a model, checked to hold names of columns only.
    where
        Column → the texts that count, or the two ends that numbers lie between.
    within
        The factor within which a value is said to be close.
    """

    name: str
    kind: str
    by: tuple[str, ...] = ()
    figures: tuple[tuple[str, str], ...] = ()
    column: str = ""
    bins: tuple[float, ...] = ()
    formula: str = ""
    where: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    within: float = 1.25

    @property
    def canonical(self) -> str:
        """The question as text, whatever it is called."""
        said = {
            "kind": self.kind,
            "by": self.by,
            "figures": self.figures,
            "column": self.column,
            "bins": self.bins,
            "formula": self.formula,
            "where": {name: self.where[name] for name in sorted(self.where)},
            "within": self.within,
        }
        return json.dumps(said, ensure_ascii=False, sort_keys=True)


@dataclass(frozen=True)
class Query:
    """What is asked of one data set for a project."""

    project: str
    data: str
    results: tuple[Asked, ...]
    text: str


def read_query(text: str, where: str = "query.toml") -> Query:
    """Read a query; nothing of it is carried out.

    Raises
    ------
    JobError
        A key is unknown or missing, or a value is not admissible; says in which line.
    """
    whole = section_of(text, Path(where))
    whole.check(required=("project", "data", "results"))
    sections = whole.sections("results")
    if not 0 < len(sections) <= _MOST:
        raise whole.error(f"there must be 1 to {_MOST} [[results]]", "results")
    results = tuple(_asked(one) for one in sections)
    for position, one in enumerate(results):
        if one.name in {other.name for other in results[:position]}:
            raise whole.error(f"the result '{one.name}' is there twice", "results", position)
    return Query(whole.text("project", ""), whole.text("data", ""), results, text)


_KEYS = {
    "table": ("by", "figures"),
    "chart": ("by", "figures"),
    "histogram": ("column", "bins"),
    **dict.fromkeys(MODELS, ("formula",)),
}


def _asked(section: Section) -> Asked:
    kind = section.choice("kind", "", KINDS)
    if not kind:
        raise section.error(f"the key 'kind' is missing in {section.name}")
    needed = [key for key in _KEYS[kind] if key != "figures"]
    section.check(
        required=("name", "kind", *needed),
        optional=("figures", "where", "within") if "by" in needed else ("where", "within"),
    )
    figures = _figures(section.section("figures"))
    if len({what in ADDING for _, what in figures}) > 1:
        raise section.error(
            "'figures' that add up (count, sum) and others are two results; ask one by one",
            "figures",
        )
    return Asked(
        section.text("name", ""),
        kind,
        section.texts("by"),
        figures,
        section.text("column", ""),
        _bins(section),
        _formula(section),
        {name: _where(section.section("where"), name) for name in section.section("where").values},
        _within(section),
    )


def _figures(section: Section) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(section.choice(name, "", STATISTICS))) for name in section.values)


def _within(section: Section) -> float:
    value = section.values.get("within", 1.25)
    if isinstance(value, bool) or value not in FACTORS:
        raise section.unfit("within", "one of " + ", ".join(map(str, FACTORS)))
    return float(value)


def _bins(section: Section) -> tuple[float, ...]:
    values = section.values.get("bins", [])
    if not isinstance(values, list) or not all(map(_is_number, values)):
        raise section.unfit("bins", "a list of numbers")
    if "bins" in section and (len(values) < 2 or sorted({*values}) != values):
        raise section.error("'bins' must name two ends at least, each above the one before", "bins")
    return tuple(map(float, values))


def _where(section: Section, name: str) -> tuple[Any, ...]:
    """Texts as they are; the two ends of numbers as floats."""
    value = section.values[name]
    if isinstance(value, dict):
        ends = section.section(name)
        ends.check(optional=("from", "to"))
        if not value or not all(map(_is_number, value.values())):
            raise section.unfit(name, "texts in a list, or { from = number, to = number }")
        return float(value.get("from", "-inf")), float(value.get("to", "inf"))
    return section.texts(name)


def _formula(section: Section) -> str:
    """A formula of names, `C(name)` and `log(name)`: patsy would run whatever stands there."""
    text = section.text("formula", "")
    if not text:
        return ""
    left, tilde, right = text.partition("~")
    terms = [term.strip() for term in right.split("+")]
    factors = [one.strip() for term in terms for one in re.split(r"[:*]", term)]
    plain = [left.strip(), *(one for one in factors if one not in ("0", "1"))]
    if not tilde or not all(_FACTOR.fullmatch(one) for one in plain):
        raise section.error(
            "'formula' must be names of columns, C(name) and log(name), joined by ~, +, : and *, "
            f'not "{text}"',
            "formula",
        )
    return " ".join(text.split())


def names_in(formula: str) -> tuple[list[str], list[str]]:
    """The columns that a formula names, and those of which it takes the logarithm.

    >>> names_in("pay ~ C(region) * log(age)")
    (['pay', 'region', 'age'], ['age'])
    """
    found = [
        (what, inside or name) for what, inside, name in _FACTOR.findall(formula.replace("~", "+"))
    ]
    names = [name for _, name in found]
    return [*dict.fromkeys(names)], [name for what, name in found if what == "log"]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
