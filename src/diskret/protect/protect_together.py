"""Protect and prove tables that are tied to each other: plan, pattern, attack, certificate."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Attacker, certify
from diskret.attack.earlier_tables import read_beside
from diskret.deadline import Deadline
from diskret.errors import ProtectionError
from diskret.keys import SecretKeys
from diskret.progress import Progress
from diskret.protect.crossed import crossings
from diskret.protect.earlier_tables import EarlierTables, Group, with_values
from diskret.protect.linked import of_each, sums_between
from diskret.protect.parts import subtraction_judge
from diskret.protect.plan import TableToProtect, plan, publish, requirements
from diskret.protect.prove import prove
from diskret.protect.result import Result
from diskret.protect.revealed_sums import found_once, how_judged, judge_of
from diskret.rules import Sensitivity
from diskret.suppression import Method, Pattern, Problem
from diskret.tables import MeasureSum, Publication, Table

if TYPE_CHECKING:
    from diskret.protect.insiders import InsiderJudge

#: Share of the time that is left at last for what only the outsider can tell.
_INTERVALS = 0.8


@dataclass(frozen=True, eq=False)
class Options:
    """How to protect; see `suppress`.

    `deadline`: of all that follows. `position`: the state of the ledger, if there is one.
    """

    method: Method
    attacker: Attacker
    keys: SecretKeys | None
    deadline: Deadline
    budget: int | None
    progress: Progress
    position: str | None


def protect(
    to_protect: Sequence[TableToProtect], group: Group, sums: Sequence[MeasureSum], options: Options
) -> list[Result]:
    """Protect and prove tables that are tied to each other, and to earlier ones."""
    tables = [one.table for one in to_protect]
    sums = (*sums_between(tables, sums), *group.sums)
    shown = [one.shown for one in to_protect]
    before = with_values(shown, sums, group.earlier, options.progress, options.deadline)
    names = [*(one.name for one in to_protect), *(e.name for e in group.earlier)]
    with _blamed_by_table(names, [*tables, *before.tables]):
        return _protected(to_protect, tables, sums, before, options)


@contextmanager
def _blamed_by_table(names: Sequence[str], tables: Sequence[Table]) -> Generator[None]:
    """Say of frozen cells that are to blame in which table they stand."""
    try:
        yield
    except ProtectionError as error:
        if not error.blamed or error.blamed_in:
            raise
        ends = np.cumsum([table.measure.sum.size for table in tables])
        place = np.searchsorted(ends, error.blamed, side="right")
        starts = np.append(0, ends)[place]
        own = tuple((np.array(error.blamed) - starts).tolist())
        of_table: list[int] = place.tolist()
        named = tuple(names[i] for i in of_table)
        where = f"; frozen in {', '.join(dict.fromkeys(named))}" if len(names) > 1 else ""
        raise ProtectionError(f"{error}{where}", own, named) from error


def _protected(
    to_protect: Sequence[TableToProtect],
    tables: Sequence[Table],
    sums: Sequence[MeasureSum],
    before: EarlierTables,
    options: Options,
) -> list[Result]:
    told = crossings(to_protect, before)
    to_protect = told.staying(to_protect, before)
    planned = partial(
        plan,
        to_protect,
        sums=sums,
        keys=options.keys,
        attacker=options.attacker,
        deadline=options.deadline,
        budget=options.budget,
        progress=options.progress,
        before=before,
    )
    problem = planned()

    def public(suppressed: NDArray[np.bool_]) -> Publication:
        parts = of_each(suppressed, tables)
        shown = (publish(o.table, p, o.name) for o, p in zip(to_protect, parts, strict=True))
        return read_beside(tuple(shown), sums, before.earlier)

    whom = options.attacker
    insiders = whom.contributor or any(e.unsafe is not None for e in before.earlier)
    judge = judge_of(to_protect, whom, before) if insiders else None
    parts = subtraction_judge(to_protect, before, problem.system, public, told)
    asked, pattern = found_once(problem, options.method, public, judge, parts)
    work = problem.work.done
    several = len(tables) + len(before.tables) > 2
    proven = prove(
        problem,
        asked,
        pattern,
        options.attacker,
        public,
        partial(planned, combinations=True) if several else None,
        before.earlier,
        judge,
        parts,
        _insiders(to_protect, whom, before),
    )
    certificates = certify(
        proven.publication,
        options.attacker,
        problem.requirements,
        proven.examination,
        problem.system.value[: proven.publication.starts[-1]],
        unsafe=proven.unsafe,
        sliding_only=[_sliding_only(o.table, o.sensitivity, options.attacker) for o in to_protect],
        repaired=proven.repaired,
        groups=[o.sensitivity.looks_for_groups for o in to_protect],
        parts=proven.parts,
        insiders=proven.insiders,
        rests=proven.rests,
        crossed=proven.crossed,
        unclaimed=proven.unclaimed,
        progress=options.progress,
        deadline=options.deadline.share(_INTERVALS),
    )
    price = _price(problem, pattern, proven.publication.suppressed)
    return [
        Result(
            replace(one.table, asked=None),  # results outlive the records
            one.sensitivity,
            certificate,
            _settings(one, pattern, price, work)
            | ({"ties": "keyed"} if options.keys else {})
            | (how_judged(one) if whom.contributor else {}),
            options.position,
        )
        for one, certificate in zip(to_protect, certificates, strict=True)
    ]


def _insiders(
    to_protect: Sequence[TableToProtect], attacker: Attacker, before: EarlierTables
) -> InsiderJudge | None:
    """Who the insiders of these tables are; None if no contributor attacks."""
    if not attacker.contributor:
        return None
    from diskret.protect.insiders import insider_judge

    return insider_judge(to_protect, attacker, before)


def _price(problem: Problem, pattern: Pattern, suppressed: NDArray[np.bool_]) -> dict[str, float]:
    """What the secondaries cost, and how much less a pattern can cost at the least.

    Where that is unknown: whether time or budget ended the search for a cheaper pattern.
    """
    if pattern.bound is None:
        return {"cut_short": True} if problem.limited and not pattern.complete else {}
    secondary = suppressed.copy()
    cell = problem.requirements.cell
    secondary[cell[cell < len(secondary)]] = False
    cost = float(problem.cost[: len(secondary)][secondary].sum())
    bound = min(pattern.bound, cost)
    return {"cost_of_secondaries": cost, "bound": bound, "gap": (cost - bound) / (cost or 1.0)}


def _settings(
    one: TableToProtect, pattern: Pattern, price: dict[str, float], work: int
) -> dict[str, Any]:
    """How a table was protected, for the office's files."""
    table = one.table
    settings: dict[str, Any] = {
        "rule": "given" if one.rule is one.sensitivity else repr(one.rule),
        "method": pattern.method,
        "cost": _text(one.cost),
        "work": work,
        **price,
        **({"where": str(table.where)} if table.where else {}),
        **({"weight": table.weight} if table.weight is not None else {}),
        **({"waiver": table.waiver_note or "not stated"} if "no_waiver" in table.marked else {}),
    }
    if table.recomputed:
        settings["recomputed_totals"] = [str(column) for column in table.recomputed]
    if table.count_within:
        settings["count_within"] = table.count_within
    if one.previous is not None:
        settings["suppressed_last_period"] = int(one.previous.sum())
        settings["previous_discount"] = one.discount
    if one.sensitivity.entries is not None:
        settings["apriori"] = one.sensitivity.entries.to_pydict()
    return settings


def _text(option: Any) -> str:
    return getattr(option, "__name__", "callable") if callable(option) else str(option)


def _sliding_only(table: Table, sensitivity: Sensitivity, attacker: Attacker) -> int:
    """Number of counts for which only "no exact value" can be claimed."""
    claimed = requirements(table, sensitivity, attacker)
    return int((claimed.lower < sensitivity.lower.ravel()[claimed.cell]).sum())
