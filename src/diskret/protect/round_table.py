"""Rounding as a method of protection: round, check, attack, certify."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from os import PathLike
from typing import Annotated, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack import Requirements, certify_rounding
from diskret.deadline import Deadline
from diskret.errors import InputError
from diskret.keys import SecretKeys
from diskret.parallel import stage
from diskret.parameters import Positive, Whole, reading
from diskret.progress import Progress, silent
from diskret.protect.arguments import check_rule, checked_tables, rules_for
from diskret.protect.linked import default_names, of_each
from diskret.protect.perturbed_result import PerturbedResult
from diskret.rounding import (
    Controlled,
    cell_draws,
    cells_of,
    controlled,
    deterministic,
    random,
    small_counts,
)
from diskret.rules import Rule, Sensitivity
from diskret.system import System, joint_system
from diskret.tables import Noise, Perturbed, Table
from diskret.tables.add_up import leaf_mask
from diskret.tables.dimension import describe_some
from diskret.tables.from_cells import scaled_unit
from diskret.tables.perturbed import published_with
from diskret.texts.numbers import Count

Rounding = Literal["deterministic", "random", "controlled", "small_counts"]
#: Tables of more cells are attacked only where a rule asks for it.
_EXAMINED = 20_000
#: Draws compare 32 bits with the share of a base.
_LARGEST_BASE = 2**31
_EXAMPLES = 3
#: Share of a time limit that the search for a better rounding may use.
_SEARCH = 0.5


@overload
def round_table(
    table: Table,
    base: float = ...,
    method: Rounding = ...,
    *,
    rule: Rule | Sensitivity | None = ...,
    steps: int | None = ...,
    inner: Table | None = ...,
    keys: SecretKeys | str | PathLike[str] | None = ...,
    time_limit: float | None = ...,
    budget: int | None = ...,
    name: str | None = ...,
    progress: Progress = ...,
) -> PerturbedResult: ...


@overload
def round_table(
    table: Sequence[Table],
    base: float = ...,
    method: Rounding = ...,
    *,
    rule: Rule | Sequence[Rule | Sensitivity] | None = ...,
    steps: int | None = ...,
    inner: Table | None = ...,
    keys: SecretKeys | str | PathLike[str] | None = ...,
    time_limit: float | None = ...,
    budget: int | None = ...,
    name: Sequence[str] | None = ...,
    progress: Progress = ...,
) -> list[PerturbedResult]: ...


@reading
def round_table(
    table: Table | Sequence[Table],
    base: Positive = 3,
    method: Rounding = "deterministic",
    *,
    rule: Any = None,
    steps: Annotated[int, Whole(0)] | None = None,
    inner: Table | None = None,
    keys: SecretKeys | str | PathLike[str] | None = None,
    time_limit: Positive | None = None,
    budget: Annotated[int, Whole(1)] | None = None,
    name: Any = None,
    progress: Progress = silent,
) -> PerturbedResult | list[PerturbedResult]:
    """Protect a table by rounding it, and prove what that is worth.

    Parameters
    ----------
    table
        A complete table with one measure to protect (see `Table.__getitem__`), or a list of such
        tables of the same records, which are rounded and attacked together.
    base
        Published values are multiples of it, in the measure's own unit; for ``"small_counts"``
        no published count lies between 0 and it.
    method
        ``"deterministic"``: each cell to its nearest multiple, half a base upwards; consistent,
        not additive. ``"random"``: up or down by a keyed draw that makes the mean the true value;
        equal cells are rounded alike in all tables; not additive. ``"controlled"``: multiples
        that add up, as near to the true values as possible. ``"small_counts"``: only counts below
        the base change, everything else is added up.
    rule
        What is sensitive, for a list one rule for all or a list with one for each. The attacker's
        interval of each sensitive cell must reach its levels. None: no rule.
    steps
        For ``"controlled"``: 0 lets multiples stay and others become an adjacent multiple; K lets
        all move up to K multiples farther. None: as few steps as possible.
    inner
        For ``"small_counts"`` of several tables: a frequency table of the same records by all
        their variables, whose leaf combinations are rounded; it need not be published. None: the
        one among the tables that has all variables.
    keys
        The office's secret keys (see `SecretKeys`), for draws and the order of searches; the same
        keys give the same values. Not used for ``"deterministic"``. None: the keys of
        ``DISKRET_KEYS`` or of the user's file.
    time_limit
        For ``"controlled"``: seconds until the proven result. After half of them the best rounding
        so far is taken; after all of them intervals become outer bounds, and what was not shown
        by then is not claimed, as the certificate says, or refused where a rule asks for it.
    budget
        The same in steps of the search; `settings` of a result say how many were made.
    name
        Name of the published table and its files; by default the measure's name. For several
        tables a list; by default measure and variables.
    progress
        Called with ``("round" | "attack", done, total)``.

    Returns
    -------
    PerturbedResult or list of PerturbedResult
        With original and rounded values and the certificate; one for each table.

    Raises
    ------
    InputError
        An option cannot be used with this table, or tables contradict each other.
    ProtectionError
        There is no additive rounding with so many steps, or none was found in time.
    ProofError
        Cells are not as uncertain as claimed.

    Notes
    -----
    Tables of more than 20,000 cells are attacked only if there is a `rule`; the certificate says
    so.

    References
    ----------
    Hundepool et al. (2012), "Statistical Disclosure Control", section 5.4; Langsrud
    and Heldal (2018), "An algorithm for small count rounding of tabular data".

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = pa.table({"region": ["N", "S", "W"], "firms": [7, 2, 4]})
    >>> table = Table.from_cells(cells, by={"region": None}, count="firms")
    >>> round_table(table, base=3).public.to_pydict()["count"]
    [12, 6, 3, 3]
    """
    alone = isinstance(table, Table)
    tables = checked_tables(table, "round_table")
    names = default_names(tables, [name] if alone else name)
    _check(tables, base, method, steps, inner)
    _check_alike(tables, names)
    scaled = [scaled_unit(base, one.measure.decimals, one.measure.name) for one in tables]
    settings: dict[str, Any] = {"method": method, "base": base}
    perturbed = Perturbed(method, base=base)
    deadline = Deadline.after(time_limit)
    cut = [False] * len(tables)  # whether cells are sums of finer ones that were rounded
    if method == "deterministic":
        values = [deterministic(t.measure.sum, b) for t, b in zip(tables, scaled, strict=True)]
    elif method == "random":
        secret = SecretKeys.load(keys)
        values = [
            random(t.measure.sum, b, cell_draws(t, secret))
            for t, b in zip(tables, scaled, strict=True)
        ]
    elif method == "controlled":
        if len(tables) == 1:
            system = System.of_table(tables[0])
        else:
            system = joint_system(tables, deadline=deadline)
        seed = SecretKeys.load(keys).seed("controlled rounding")
        search = deadline.share(_SEARCH)
        found = controlled(
            system,
            scaled[0],
            steps=steps,
            time_limit=search.seconds() if search.limited else None,
            budget=budget,
            draw=seed,
            progress=progress,
        )
        values = of_each(found.value, tables)
        settings |= _how(found, tables[0].measure.decimals)
        perturbed = Perturbed("controlled", base=base, steps=found.steps)
    else:
        finest = _finest(tables) if inner is None else inner
        secret = SecretKeys.load(keys)
        # what has to be compiled at the first use on a computer takes seconds
        rounded = partial(_small_counts, finest, tables, scaled[0], secret)
        values = stage(rounded, progress, "round")
        cut = [one is not finest for one in tables]
    published = [
        published_with(t, Noise.of(v), name=n, changed="rounding")
        for t, v, n in zip(tables, values, names, strict=True)
    ]
    found_unsafe = [] if rule is None else _sensitivities(rule, tables)
    ruled = None if rule is None else [_requirements(found) for found in found_unsafe]
    if any(cut) and ruled is not None:
        raise InputError(
            "rule= cannot be proven for counts that are sums of rounded finer ones; round the "
            'table of all variables alone, or take method="controlled"'
        )
    size = sum(one.value.size for one in published)
    certificates = certify_rounding(
        published,
        [one.measure.sum for one in tables],
        perturbed,
        ruled,
        examined=(ruled is not None or size <= _EXAMINED) and not any(cut),
        groups=any(found.looks_for_groups for found in found_unsafe),
        progress=progress,
        deadline=deadline,
    )
    results = [
        PerturbedResult(one, certificate, settings, None if sums else perturbed)
        for one, certificate, sums in zip(tables, certificates, cut, strict=True)
    ]
    return results[0] if alone else results


# ── options ──────────────────────────────────────────────────────────────────────────


def _check(
    tables: Sequence[Table],
    base: float,
    method: str,
    steps: int | None,
    inner: Any,
) -> None:
    """Refuse what does not go together."""
    if not tables:
        raise InputError("there is no table to round")
    if steps is not None and method != "controlled":
        raise InputError('steps= is for method="controlled" only')
    if inner is not None and (method != "small_counts" or not isinstance(inner, Table)):
        raise InputError('inner= is a table of counts, for method="small_counts" only')
    for table in tables if inner is None else (*tables, inner):
        measure = table.measure
        if method == "small_counts" and not table.frequency:
            raise InputError(
                f'method="small_counts" is for counts, not for {measure.name!r}; choose them with '
                'table["count"], or take another method'
            )
        if table.rounding > 1 or table.shown is not None:
            raise InputError(
                f"{measure.name!r} is to be shown rounded already; round the exact table"
            )
        if not 2 <= scaled_unit(base, measure.decimals, measure.name) <= _LARGEST_BASE:
            raise InputError(
                f"base={base:g} is not possible for {measure.name!r}: it is at least 2 and at most "
                f"{_LARGEST_BASE:,} units of the last decimal"
            )


def _check_alike(tables: Sequence[Table], names: Sequence[str]) -> None:
    """Refuse counts beside sums, and sums with different decimals: nothing of them is one unit."""
    if len({(table.frequency, table.measure.decimals) for table in tables}) > 1:
        listed = ", ".join(
            f"{name!r} ({'counts' if table.frequency else f'decimals={table.measure.decimals}'})"
            for table, name in zip(tables, names, strict=True)
        )
        raise InputError(
            "tables that are rounded together hold counts all of them, or all of them sums with "
            f"the same decimals; here are {listed}. Round counts and sums in calls of their own, "
            "and tabulate sums with the same decimals="
        )


def _requirements(says: Sensitivity) -> Requirements:
    """What the rules ask for."""
    cell = np.flatnonzero(says.unsafe)
    return Requirements(
        cell, *(side.ravel()[cell] for side in (says.lower, says.upper, says.sliding))
    )


def _sensitivities(rule: Any, tables: Sequence[Table]) -> list[Sensitivity]:
    """What the rules find, table by table."""
    found: list[Sensitivity] = []
    says: Any
    for given, table in zip(rules_for(rule, tables), tables, strict=True):
        check_rule(given)
        says = given if isinstance(given, Sensitivity) else given(table)
        found.append(says)
    return found


# ── controlled ───────────────────────────────────────────────────────────────────────


def _how(found: Controlled, decimals: int) -> dict[str, Any]:
    return {
        "steps": found.steps,
        "fewest_steps": found.fewest,
        "distance": found.distance / 10**decimals,
        "gap": found.gap,
        "work": found.work,
    }


# ── small counts ─────────────────────────────────────────────────────────────────────


def _finest(tables: Sequence[Table]) -> Table:
    """The table that has all variables."""
    names = {dimension.name for table in tables for dimension in table.dimensions}
    for table in sorted(tables, key=lambda one: -int(np.prod(one.shape))):
        if {dimension.name for dimension in table.dimensions} == names:
            return table
    raise InputError(
        f"none of the {len(tables)} tables has all variables ({', '.join(sorted(names))}); give "
        "the table of the same records by all of them as inner=, so that all tables are sums of "
        "the same rounded counts; it need not be published"
    )


def _small_counts(
    finest: Table, tables: Sequence[Table], base: int, keys: SecretKeys
) -> list[NDArray[np.int64]]:
    """Every table as sums of the same leaf combinations, some of them rounded."""
    for table in tables:
        if (table.where, table.vintage) != (finest.where, finest.vintage):
            raise InputError(
                "tables whose small counts are rounded together must be about the same records, "
                "with the same where= and vintage="
            )
    count = finest.measure.sum
    leaf = leaf_mask(finest.dimensions) & (count > 0)
    parts = count[leaf]
    cells = [cells_of(finest.dimensions, np.argwhere(leaf), table.dimensions) for table in tables]
    for table, own in zip(tables, cells, strict=True):
        wrong = np.flatnonzero(own @ parts != table.measure.sum.ravel())
        if len(wrong):
            examples = describe_some(table.dimensions, wrong, _EXAMPLES)
            number = Count(len(wrong))
            raise InputError(
                f"{number} {number:count is|counts are} not the sums of the finest ones, e.g. "
                f"{examples}; all tables must come from the same records"
            )
    together = sparse.csr_array(sparse.vstack(cells, format="csr"))
    rounded = small_counts(parts, together, base, cell_draws(finest, keys)[leaf])
    return of_each(together @ rounded, tables)
