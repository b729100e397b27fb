"""Judge, protect, attack, repair, certify: tables become proven results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Attacker
from diskret.deadline import Deadline
from diskret.errors import InputError
from diskret.keys import SecretKeys
from diskret.progress import Progress, silent
from diskret.protect.arguments import Asked, checked_tables, for_each, rules_for, tables_to_protect
from diskret.protect.attackers import default_attacker
from diskret.protect.earlier_tables import Group, groups, with_records
from diskret.protect.linked import check_measures, default_names, known_empty, linked
from diskret.protect.plan import Cost, TableToProtect
from diskret.protect.protect_together import Options, protect
from diskret.protect.result import Result
from diskret.protect.revealed_sums import check_judged
from diskret.rules import Rule, Sensitivity
from diskret.rules.unions import against
from diskret.suppression import (
    Method,
    auto,
    hypercube,
    modular,
    network,
    optimal,
    sequential,
)
from diskret.tables import KnownBefore, MeasureSum, Table

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
        ``"hypercube"``: Repsilber's method, for comparison with τ-ARGUS; linked tables in
        turn.
        ``"network"``: shortest paths, for one table of two variables of which one is flat. Or
        any callable ``Problem → Pattern``. A pattern that fails the attack is extended until
        it holds.
    cost
        What hiding a cell costs: ``"value"``, ``"count"``, ``"cells"`` (each the same), the
        name of a measure, or a callable that takes the table and returns an array; or a
        list of these, one for each table.
    attacker
        Against whom to protect; None: a contributor, ``Attacker(contributor=True)``, where values
        of units are summed (`unit=` of [`tabulate`][diskret.tabulate]), else the plain outsider,
        ``Attacker()``. A contributor knows what is its own in every cell, and where nobody else
        is: cells, and sums of suppressed cells that totals reveal, stay as uncertain to it as the
        rule asks for those who are left. To leave contributors out, say so:
        ``attacker=dk.Attacker()``. There is a warning where the contributions of units are not
        listed, or cannot be judged, so that only an outsider is withstood.
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
        Seconds from the beginning to the proven result; the search for a cheaper pattern gets
        half of them, against contributors a fifth. Where no pattern was found by then, cells
        around each unsafe one are hidden that protect it without any programme; for several
        tables together there are no such cells, so a first pattern that gets 40 % before stands
        for the other. The protection is always proven; what is only told
        gives way: intervals become outer bounds, as the certificate says. What cannot be proven in
        time is an error. `Result.gap` says how much cheaper a pattern could be, if the method
        knows.
    budget
        The same in steps instead of seconds, at least 1: the same pattern on every computer.
        ``Result.work`` says how many steps a search took; given as the budget, that number
        repeats what a `time_limit` had cut short (not for ``"optimal"``, whose course depends on
        a limit in seconds, nor where time was up before there was a first pattern).
    name
        Name of the published table and its files; by default the measure's name. For
        several tables a list; by default measure and variables.
    progress
        Called with ``("suppress" | "publish again" | "cheaper" | "prove" | "attack", done,
        total)``, at least every few seconds.

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
    tables = checked_tables(table, "suppress", changed=False)
    asked = [
        Asked(*of_table)
        for of_table in zip(
            tables,
            rules_for(rule, tables),
            default_names(tables, [name] if alone else name),
            for_each(cost, tables, "cost"),
            for_each([frozen] if alone else frozen, tables, "frozen"),
            for_each([previous] if alone else previous, tables, "previous"),
            for_each(previous_discount, tables, "previous_discount"),
            strict=True,
        )
    ]
    results = suppress_tables(
        asked,
        sums=[MeasureSum.read(text) for text in sums],
        method=method,
        attacker=attacker,
        ledger=ledger,
        keys=keys,
        deadline=Deadline.after(time_limit),
        budget=budget,
        progress=progress,
    )
    return results[0] if alone else results


def suppress_tables(
    given: Sequence[Asked],
    *,
    sums: Sequence[MeasureSum],
    method: str | Method,
    attacker: Attacker | None,
    ledger: KnownBefore | None,
    keys: SecretKeys | str | PathLike[str] | None,
    deadline: Deadline,
    budget: int | None,
    progress: Progress,
) -> list[Result]:
    """See `suppress`: tables with what is asked for each."""
    whom = None if attacker is None else _check_attacker(attacker)
    if whom is not None and whom.contributor:
        check_judged([one.rule for one in given], [one.table for one in given])
        given = [replace(one, rule=against(one.rule, whom.coalition)) for one in given]
    asked = tables_to_protect(given)
    (whom or Attacker()).check_names([one.name for one in asked])
    options = Options(
        _method(method),
        whom or Attacker(),
        None if keys is None else SecretKeys.load(keys),
        deadline,
        _check_budget(budget),
        progress,
        None if ledger is None else ledger.position,
    )
    results: dict[int, Result] = {}
    waiting = found = _groups(asked, sums, ledger)
    shown = [o.table.empty & (not o.sensitivity.zeros_may_hide) for o in asked]
    while waiting:
        for place, group in enumerate(waiting):
            options = replace(options, deadline=deadline.share(1 / (len(waiting) - place)))
            stays = _empty_elsewhere(asked, shown)
            staying = [asked[i].staying(stays[i]) for i in group.new]
            if whom is None:
                together = [asked[i] for i in group.new]
                default = default_attacker([o.table for o in together], [o.rule for o in together])
                options = replace(options, attacker=default)
            of_group = protect(staying, group, sums, options)
            for i, result in zip(group.new, of_group, strict=True):
                results[i] = result
                shown[i] |= result.published.empty
        # a table that was protected later may show what an earlier one hides
        stays = _empty_elsewhere(asked, shown)
        hidden = {i for i, r in results.items() if (r.published.suppressed & stays[i]).any()}
        waiting = [group for group in found if hidden & {*group.new}]
    every = [results[i] for i in range(len(asked))]
    check_measures(every)
    return every


def _empty_elsewhere(
    to_protect: Sequence[TableToProtect], shown: Sequence[NDArray[np.bool_]]
) -> list[NDArray[np.bool_]]:
    """Empty cells that need not be hidden, as some table shows them."""
    if len(to_protect) == 1 or not any(one.sensitivity.zeros_may_hide for one in to_protect):
        return [np.zeros(one.table.shape, dtype=bool) for one in to_protect]
    return known_empty([one.table for one in to_protect], shown)


def _check_budget(budget: Any) -> int | None:
    if budget is None or (isinstance(budget, int) and budget >= 1):
        return budget
    raise InputError(f"budget= is a number of steps, at least 1, not {budget!r}")


def _check_attacker(attacker: Any) -> Attacker:
    if not isinstance(attacker, Attacker):
        raise InputError(f"attacker= is a dk.Attacker, e.g. dk.Attacker(), not {attacker!r}")
    return attacker


def _groups(
    to_protect: Sequence[TableToProtect], sums: Sequence[MeasureSum], ledger: KnownBefore | None
) -> list[Group]:
    """Which tables are tied to each other, and to what was published before."""
    tables = [one.table for one in to_protect]
    found = linked(tables, sums)
    if ledger is None:
        return [Group(tuple(group), ()) for group in found]
    shown = [one.shown for one in to_protect]
    earlier = [with_records(one, tables) for one in ledger.earlier(shown, sums)]
    return groups(shown, sums, earlier)


def _method(method: str | Method) -> Method:
    if callable(method):
        return method
    if method not in METHODS:
        raise InputError(
            f"method must be one of {', '.join(METHODS)} or a callable, not {method!r}"
        )
    return METHODS[method]
