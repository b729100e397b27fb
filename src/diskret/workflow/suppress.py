"""Judge, protect, attack, repair, certify: one table of records becomes a proven result."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from diskret.attack import (
    Attacker,
    certify,
)
from diskret.engines.filters import told
from diskret.errors import InputError, ProtectionError
from diskret.keys import SecretKeys
from diskret.progress import Progress, silent
from diskret.rules import Rule, Sensitivity
from diskret.rules.unions import against
from diskret.suppression import (
    Method,
    Pattern,
    Problem,
    auto,
    hypercube,
    modular,
    network,
    optimal,
    sequential,
)
from diskret.tables import MeasureSum, Publication, Published, Table
from diskret.workflow.beforehand import check_names
from diskret.workflow.beside import Beside, Group, KnownBefore, beside, groups, read_beside
from diskret.workflow.empty_cells import known_empty
from diskret.workflow.linked import default_names, linked, sums_between
from diskret.workflow.orders import Order, checked_tables, for_each, orders
from diskret.workflow.parts import parts_judge
from diskret.workflow.plan import Cost, plan, publish, requirements
from diskret.workflow.prove import prove
from diskret.workflow.result import Result
from diskret.workflow.revealed import check_judged, how_judged, judge_of
from diskret.workflow.sound import sound

METHODS: dict[str, Method] = {
    "auto": auto,
    "sequential": sequential,
    "modular": modular,
    "optimal": optimal,
    "hypercube": hypercube,
    "network": network,
}


@overload
def suppress(
    table: Table,
    rule: Rule | Sensitivity,
    *,
    method: str | Method = ...,
    cost: Cost = ...,
    attacker: Attacker | None = ...,
    frozen: Any = ...,
    previous: Any = ...,
    previous_discount: float = ...,
    ledger: KnownBefore | None = ...,
    keys: SecretKeys | str | PathLike[str] | None = ...,
    time_limit: float | None = ...,
    budget: int | None = ...,
    name: str | None = ...,
    progress: Progress = ...,
) -> Result: ...


@overload
def suppress(
    table: Sequence[Table],
    rule: Rule | Sequence[Rule | Sensitivity],
    *,
    sums: Sequence[str] = ...,
    method: str | Method = ...,
    cost: Cost | Sequence[Cost] = ...,
    attacker: Attacker | None = ...,
    frozen: Sequence[Any] | None = ...,
    previous: Sequence[Any] | None = ...,
    previous_discount: float | Sequence[float] = ...,
    ledger: KnownBefore | None = ...,
    keys: SecretKeys | str | PathLike[str] | None = ...,
    time_limit: float | None = ...,
    budget: int | None = ...,
    name: Sequence[str] | None = ...,
    progress: Progress = ...,
) -> list[Result]: ...


def suppress(
    table: Table | Sequence[Table],
    rule: Any,
    *,
    sums: Sequence[str] = (),
    method: str | Method = "auto",
    cost: Any = "value",
    attacker: Attacker | None = None,
    frozen: Any = None,
    previous: Any = None,
    previous_discount: Any = 0,
    ledger: KnownBefore | None = None,
    keys: SecretKeys | str | PathLike[str] | None = None,
    time_limit: float | None = None,
    budget: int | None = None,
    name: Any = None,
    progress: Progress = silent,
) -> Result | list[Result]:
    """Protect a table by cell suppression, and prove the protection by attacking it.

    Several tables of the same records are protected and attacked together: cells with the
    same definition (measure, vintage, population, codes) get the same status, and nothing
    that the tables say of each other undoes the protection.

    Parameters
    ----------
    table
        A complete table with one measure to protect (see `Table.__getitem__`), or a list of
        such tables.
    rule
        What is unsafe: a rule, several joined with ``|``, or a `Sensitivity`. For a list of
        tables one rule for all, or a list with one for each.
    sums
        Equations between the measures of several tables, e.g.
        ``["revenue = domestic + export"]``.
    method
        ``"auto"``: the cheapest pattern where it can be found quickly, else a good one.
        ``"sequential"``: a good pattern; ``"modular"``: the same for tables of any size, quickly.
        ``"optimal"``: the cheapest one, with a proof; it can take very long on large tables, so
        give a `time_limit` or a `budget`.
        ``"hypercube"``: Repsilber's method, for comparison with τ-ARGUS; one table only.
        ``"network"``: shortest paths, for one table of two variables of which one is flat. Or
        any callable ``Problem → Pattern``. A pattern that fails the attack is extended until
        it holds.
    cost
        What hiding a cell costs: ``"value"``, ``"count"``, ``"cells"`` (each the same), the
        name of a measure, or a callable that takes the table and returns an array; or a
        list of these, one for each table.
    attacker
        Against whom to protect; None: the plain outsider, ``Attacker()``. With
        ``Attacker(contributor=True)`` sums of suppressed cells that totals reveal satisfy the
        rule too, judged by those who contribute to them: tabulate with ``contributions=True``
        where units or holdings can be in several cells.
    frozen
        Cells that must stay published: a frame with the code columns, one row a cell, or a
        bool array of the table's shape; for several tables a list, one for each (or None).
    previous
        What was suppressed last period: its `Result` or `Published`, or a frame with the code
        columns and a row for each suppressed cell; for several tables a list, one for each
        (or None). Of cells at equal cost those are hidden that were hidden then. Cells are
        matched by their codes; codes that only one of the periods has match nothing.
    previous_discount
        Percent by which hiding a cell costs less if it was hidden last period, at least 0
        and below 100; or a list, one for each table. 0: ties only.
    ledger
        What was published before, see [`Ledger`][diskret.Ledger]: all earlier tables that are
        tied to the new ones are protected and attacked together with them, as they were
        published. A cell that was published before stays so; what earlier releases hide stays
        as uncertain as was required of it.
    keys
        The office's secret keys (see `SecretKeys`): among cells that still cost the same a
        keyed hash of their definitions decides, so that nobody without the keys can replay
        the choice. The same keys give the same pattern. None: a fixed choice, no secret.
    time_limit
        Seconds after which the search for a cheaper pattern stops. The protection is always
        proven, whatever the limit; `Result.gap` says how much cheaper a pattern could be, if
        the method knows. An impossible limit is an error.
    budget
        The same in steps instead of seconds, at least 1: the same pattern on every computer.
        ``Result.work`` says how many steps a search took; given as the budget, that number
        repeats what a `time_limit` had cut short (not for ``"optimal"``, whose course depends on
        a limit in seconds).
    name
        Name of the published table and its files; by default the measure's name. For
        several tables a list; by default measure and variables.
    progress
        Called with ``("suppress" | "publish again" | "prove" | "attack", done, total)``.

    Returns
    -------
    Result or list of Result
        With the public and the internal table and the certificate; one for each table.

    Raises
    ------
    InputError
        An option cannot be used with this table, or tables contradict each other.
    ProtectionError
        No pattern satisfies the requirements, or none within the time limit. Where frozen
        cells are the reason, ``blamed`` and ``blamed_in`` of the error hold the positions (C
        order) and the tables of a set of them that makes protection impossible, and that
        would not if any one of them were released. There may be smaller sets. A cell of an
        earlier release stands in a table called ``release/table``.
    ProofError
        The protection could not be proven.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = pa.table({"region": ["N", "S", "W"], "firms": [7, 2, 5]})
    >>> table = Table.from_cells(cells, by={"region": None}, count="firms")
    >>> from diskret.rules import MinimumFrequency
    >>> suppress(table, MinimumFrequency(3)).public.to_pydict()["count"]
    [14, 7, None, None]
    """
    alone = isinstance(table, Table)
    tables = [table] if alone else checked_tables(table)
    named = [name] if alone else name
    rules = for_each(rule, tables, "rule")
    whom = _check_attacker(Attacker() if attacker is None else attacker)
    if whom.contributor:
        check_judged(rules, tables)
        rules = [against(one, whom.coalition) for one in rules]
    ordered = orders(
        tables,
        rules=rules,
        costs=for_each(cost, tables, "cost"),
        frozen=for_each([frozen] if alone else frozen, tables, "frozen"),
        previous=for_each([previous] if alone else previous, tables, "previous"),
        discounts=for_each(previous_discount, tables, "previous_discount"),
        names=default_names(tables, named),
    )
    check_names(whom, [order.name for order in ordered])
    equations = tuple(MeasureSum.read(text) for text in sums)
    options = _Options(
        _method(method),
        whom,
        None if keys is None else SecretKeys.load(keys),
        time_limit,
        _check_budget(budget),
        progress,
        None if ledger is None else ledger.position,
    )
    results: dict[int, Result] = {}
    waiting = found = _groups(ordered, equations, ledger)
    shown = [o.table.empty & (not o.sensitivity.zeros_may_hide) for o in ordered]
    while waiting:
        for group in waiting:
            stays = _empty_elsewhere(ordered, shown)
            staying = [ordered[i].staying(stays[i]) for i in group.new]
            of_group = _protect(staying, group, equations, options)
            for i, result in zip(group.new, of_group, strict=True):
                results[i] = result
                shown[i] |= result.published.empty
        # a table that was protected later may show what an earlier one hides
        stays = _empty_elsewhere(ordered, shown)
        hidden = {i for i, r in results.items() if (r.published.suppressed & stays[i]).any()}
        waiting = [group for group in found if hidden & {*group.new}]
    done = [results[i] for i in range(len(ordered))]
    return done[0] if alone else done


def _empty_elsewhere(
    orders: Sequence[Order], shown: Sequence[NDArray[np.bool_]]
) -> list[NDArray[np.bool_]]:
    """Empty cells that need not be hidden, as some table shows them."""
    if len(orders) == 1 or not any(order.sensitivity.zeros_may_hide for order in orders):
        return [np.zeros(order.table.shape, dtype=bool) for order in orders]
    return known_empty([order.table for order in orders], shown)


@dataclass(frozen=True, eq=False)
class _Options:
    method: Method
    attacker: Attacker
    keys: SecretKeys | None
    time_limit: float | None
    budget: int | None
    progress: Progress
    position: str | None


def _check_budget(budget: Any) -> int | None:
    if budget is None or (isinstance(budget, int) and budget >= 1):
        return budget
    raise InputError(f"budget= is a number of steps, at least 1, not {budget!r}")


def _check_attacker(attacker: Any) -> Attacker:
    if not isinstance(attacker, Attacker):
        raise InputError(f"attacker= is a dk.Attacker, e.g. dk.Attacker(), not {attacker!r}")
    return attacker


def _groups(
    orders: Sequence[Order], sums: Sequence[MeasureSum], ledger: KnownBefore | None
) -> list[Group]:
    """Which tables are tied to each other, and to what was published before."""
    tables = [order.table for order in orders]
    found = linked(tables, sums)
    if ledger is None:
        return [Group(tuple(group), ()) for group in found]
    shown = [_shown(order) for order in orders]
    return groups(shown, sums, ledger.earlier(shown, sums))


def _shown(order: Order) -> Published:
    """A table with nothing suppressed."""
    return publish(order.table, np.zeros(order.table.shape, dtype=bool), order.name)


def _protect(
    orders: Sequence[Order], group: Group, sums: Sequence[MeasureSum], options: _Options
) -> list[Result]:
    """Protect and prove tables that are tied to each other, and to earlier ones."""
    tables = [order.table for order in orders]
    sums = (*sums_between(tables, sums), *group.sums)
    before = beside([_shown(order) for order in orders], sums, group.earlier)
    names = [*(order.name for order in orders), *(e.name for e in group.earlier)]
    with _blamed_by_table(names, [*tables, *before.tables]):
        return _protected(orders, tables, sums, before, options)


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
    orders: Sequence[Order],
    tables: Sequence[Table],
    sums: Sequence[MeasureSum],
    before: Beside,
    options: _Options,
) -> list[Result]:
    planned = partial(
        plan,
        tables,
        [order.sensitivity for order in orders],
        names=[order.name for order in orders],
        sums=sums,
        costs=[order.cost for order in orders],
        frozen=[order.frozen for order in orders],
        previous=[order.previous for order in orders],
        discounts=[order.discount for order in orders],
        keys=options.keys,
        attacker=options.attacker,
        time_limit=options.time_limit,
        budget=options.budget,
        progress=options.progress,
        before=before,
    )
    problem = planned()
    pattern = sound(problem, options.method(problem))
    work = problem.work.done

    def public(suppressed: NDArray[np.bool_]) -> Publication:
        ends = np.cumsum([table.measure.sum.size for table in tables])
        parts = np.split(suppressed[: ends[-1]], ends[:-1])
        shown = (publish(o.table, p, o.name) for o, p in zip(orders, parts, strict=True))
        return read_beside(tuple(shown), sums, before.earlier)

    whom = options.attacker
    insiders = whom.contributor or any(e.unsafe is not None for e in before.earlier)
    judge = judge_of(orders, whom, before) if insiders else None
    parts = parts_judge(orders, before, problem.system, public)
    several = len(tables) + len(before.tables) > 2
    proven = prove(
        problem,
        pattern,
        options.attacker,
        public,
        partial(planned, combinations=True) if several else None,
        before.earlier,
        judge,
        _anew(options.method),
        parts,
    )
    certificates = certify(
        proven.publication,
        options.attacker,
        problem.requirements,
        proven.examination,
        proven.targets,
        problem.system.value[: proven.publication.starts[-1]],
        unsafe=proven.unsafe,
        sliding_only=[_sliding_only(o.table, o.sensitivity, options.attacker) for o in orders],
        repaired=proven.repaired,
        parts=proven.parts,
        unclaimed=proven.unclaimed,
        progress=options.progress,
    )
    price = _price(problem, pattern, proven.publication.suppressed)
    return [
        Result(
            order.table,
            order.sensitivity,
            certificate,
            _settings(order, pattern, price, work)
            | ({"ties": "keyed"} if options.keys else {})
            | (how_judged(order) if whom.contributor else {}),
            options.position,
        )
        for order, certificate in zip(orders, certificates, strict=True)
    ]


def _price(problem: Problem, pattern: Pattern, suppressed: NDArray[np.bool_]) -> dict[str, float]:
    """What the secondaries cost, and how much less a pattern can cost at the least."""
    if pattern.bound is None:
        return {}
    secondary = suppressed.copy()
    cell = problem.requirements.cell
    secondary[cell[cell < len(secondary)]] = False
    cost = float(problem.cost[: len(secondary)][secondary].sum())
    bound = min(pattern.bound, cost)
    return {"cost_of_secondaries": cost, "bound": bound, "gap": (cost - bound) / (cost or 1.0)}


def _settings(order: Order, pattern: Pattern, price: dict[str, float], work: int) -> dict[str, Any]:
    """How a table was protected, for the office's files."""
    table = order.table
    settings: dict[str, Any] = {
        "rule": "given" if order.rule is order.sensitivity else repr(order.rule),
        "method": pattern.method,
        "cost": _text(order.cost),
        "work": work,
        **price,
        **({"where": told(table.where)} if table.where else {}),
        **({"weight": table.weight} if table.weight is not None else {}),
        **({"waiver": table.waiver_note or "not stated"} if "no_waiver" in table.marked else {}),
    }
    if table.recomputed:
        settings["recomputed_totals"] = [str(column) for column in table.recomputed]
    if order.previous is not None:
        settings["suppressed_last_period"] = int(order.previous.sum())
        settings["previous_discount"] = order.discount
    if order.sensitivity.entries is not None:
        settings["apriori"] = order.sensitivity.entries.to_pydict()
    return settings


def _method(method: str | Method) -> Method:
    if callable(method):
        return method
    if method not in METHODS:
        raise InputError(
            f"method must be one of {', '.join(METHODS)} or a callable, not {method!r}"
        )
    return METHODS[method]


def _anew(method: Method) -> Method:
    """What finds a pattern where sums of cells are asked for: some methods know tables only."""
    return modular if method in (hypercube, network) else method


def _text(option: Any) -> str:
    return getattr(option, "__name__", "callable") if callable(option) else str(option)


def _sliding_only(table: Table, sensitivity: Sensitivity, attacker: Attacker) -> int:
    """Number of counts for which only "no exact value" can be claimed."""
    claimed = requirements(table, sensitivity, attacker)
    return int((claimed.lower < sensitivity.lower.ravel()[claimed.cell]).sum())
