"""The rules of a table of a τ-ARGUS job as a job file names them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa

from diskret.argus.data import Made, cost_of_cells
from diskret.argus.rules import FewWeighted, FewWithRange, OnRecords
from diskret.errors import JobError
from diskret.rules import BY_NAME, Apriori, MissingSafe, NoRule, Rule, Shadow
from diskret.rules.parents import same_cell
from diskret.rules.sensitivity import parts

_NAMES = {kind: name for name, kind in BY_NAME.items()}
#: Writes a frame beside the job, by a name for it; the name of the file.
Copy = Callable[[str, pa.Table], str]
_Rule = dict[str, Any]


@dataclass(frozen=True)
class JobRules:
    """What a job says of the rules of a table.

    by_name: name of a rule → its parameters, as often as it stands.
    shadow: the variable that rules of sums look at; "" for what is published.
    of_sums: whether a rule looks at sums and contributions.
    priced: whether a file says what hiding each cell costs.
    """

    by_name: dict[str, list[_Rule]]
    shadow: str = ""
    of_sums: bool = False
    priced: bool = False


def job_rules(number: int, one: Made, of_cells: bool, hides: bool, copy: Copy) -> JobRules:
    """The rules of a table; refuses what a job cannot say."""
    found: dict[str, list[_Rule]] = {}
    looked_at: set[str] = set()
    for part in parts(one.rule):
        if isinstance(part, NoRule):
            continue
        rule = part.rule if isinstance(part, Shadow) else part
        name, given = _rule(rule, one, lambda frame: copy(f"apriori_{number}", frame))
        found.setdefault(name, []).append(given)
        if getattr(rule, "of_sums", False):
            looked_at.add(part.variable if isinstance(part, Shadow) else "")
    if len(looked_at) > 1:
        raise JobError(
            f"{one.text.place}: a job looks at the shadow variable in all rules of sums, and "
            "τ-ARGUS looks at the published values in ZERO; leave ZERO or the shadow out"
        )
    if not found and of_cells and hides:
        # the file says what is unsafe, and nothing is
        names = [axis.variable.name for axis in one.axes]
        nothing = {name: pa.array([], pa.string()) for name in (*names, "status")}
        found["apriori"] = [{"file": copy(f"apriori_{number}", pa.table(nothing))}]
    if not found:
        raise JobError(
            f"{one.text.place}: a job needs a rule, and this table has none; add <SAFETYRULE>"
        )
    shadow = next(iter(looked_at), "")
    if shadow and not of_cells:
        _check_decimals(one, shadow)
    priced = hides and _priced_apart(one)
    if priced:
        file = copy(f"costs_{number}", _costs(one))
        found.setdefault("apriori", []).append({"file": file})
    return JobRules(found, shadow, bool(looked_at), priced)


def _rule(rule: Rule, one: Made, copy: Callable[[pa.Table], str]) -> tuple[str, _Rule]:
    """One rule by its name in a job, and its parameters."""
    if isinstance(rule, OnRecords):
        raise JobError(
            f"{one.text.place}: a job judges holdings or records, not both in one table; leave one "
            "kind of rules out"
        )
    if isinstance(rule, FewWeighted):
        raise JobError(
            f"{one.text.place}: a job counts records without their weights; leave FREQ or WGT out"
        )
    if isinstance(rule, FewWithRange):
        # a job asks for one unit of a count
        if -(-(rule.n - 1) * rule.range // 100) > 1:
            raise JobError(
                f"{one.text.place}: the range of FREQ is more than one unit of a count below "
                f"{rule.n}, which a job cannot say; use at most {100 / (rule.n - 1):g} percent"
            )
        return "minimum_frequency", {"n": rule.n, "of": "records"}
    if isinstance(rule, Apriori):
        return "apriori", {"file": copy(rule.entries), "range": rule.range}
    if isinstance(rule, MissingSafe):
        return "missing_safe", {name: list(codes) for name, codes in rule.codes.items()}
    given: _Rule = {}
    for parameter in fields(rule):  # type: ignore[arg-type]
        if parameter.init and parameter.name[0] != "_":
            value = getattr(rule, parameter.name)
            if parameter.default is MISSING or value != parameter.default:
                given[parameter.name] = value
    return _NAMES[type(rule)], given


def _check_decimals(one: Made, shadow: str) -> None:
    if one.table.measure.decimals != one.table[shadow].measure.decimals:
        raise JobError(
            f"{one.text.place}: a job reads the shadow variable with as many decimals as the "
            "response; give both the same <DECIMALS>"
        )


def _priced_apart(one: Made) -> bool:
    """Whether costs are none that a job names, or have decimals of their own."""
    if not isinstance(one.cost, str):
        return True
    if one.cost in ("value", "count", "cells"):
        return False
    own = 0 if one.text.frequency else one.table.measure.decimals
    return one.table[one.cost].measure.decimals != own


def _costs(one: Made) -> pa.Table:
    """Costs of all cells; of several codes that are one cell the finest stands for them."""
    price = cost_of_cells(one)
    trees = [axis.tree for axis in one.axes]
    finest = np.ix_(*(np.unique(same_cell(tree)) for tree in trees))
    cell = np.arange(price.size).reshape(price.shape)[finest].ravel()
    columns: dict[str, list[Any]] = {
        axis.variable.name: [axis.tree.codes[i] for i in places]
        for axis, places in zip(one.axes, np.unravel_index(cell, price.shape), strict=True)
    }
    return pa.table({**columns, "cost": price.ravel()[cell].tolist()})
