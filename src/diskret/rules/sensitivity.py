"""What a rule says about a table, and how rules are joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io.arrays import from_lists
from diskret.parameters import Declared
from diskret.tables import Table
from diskret.tables.from_cells import describe_some
from diskret.texts.numbers import Count

#: Names of the rules that compare a cell with its totals.
_OF_GROUPS = {"group_disclosure", "marginal_value"}


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Which cells are unsafe and how uncertain they have to become. Confidential.

    All arrays have the shape of the table. Levels are scaled integers (units of
    10**-decimals) and count where a cell is unsafe. Elsewhere they are 0, or what was set by
    hand in case that a rule finds the cell unsafe.

    Parameters
    ----------
    unsafe
        Whether a cell must not be published, bool.
    lower, upper
        An attacker must not be able to rule out ``value − lower`` and ``value + upper``.
    sliding
        The attacker's interval must be at least this wide.
    reason
        Index into `reasons` of the first rule that hit, −1 where safe, int8.
    reasons
        Names of the rules.
    zeros_may_hide
        Whether empty cells may be suppressed to protect others. By default they are always
        published; a rule that hides a cell because its neighbours are empty cannot do
        without them.
    safe
        Cells that no rule makes unsafe, bool; None: no cell.
    frozen
        Cells that must stay published, bool; None: no cell.
    cost
        What hiding a cell costs if that was set by hand, in the units of `cost=` of
        `suppress`; NaN where it was not. None: nowhere.
    entries
        What was set by hand and why, one row a cell, for the office's files.
    below
        How far noise must lower an unsafe sum if it lowers it: `upper`, and twice what is
        contributed by those whom the rule's own estimators don't know, beside the one they
        estimate; for from x̂ = X + N they find him wrong by N and by what these contribute.
        None: `upper`.
    """

    unsafe: NDArray[np.bool_]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    sliding: NDArray[np.int64]
    reason: NDArray[np.int8]
    reasons: tuple[str, ...]
    zeros_may_hide: bool = False
    safe: NDArray[np.bool_] | None = None
    frozen: NDArray[np.bool_] | None = None
    cost: NDArray[np.float64] | None = None
    entries: pa.Table | None = None
    below: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        levels = dict.fromkeys(("lower", "upper", "sliding", "below"), np.int64)
        marks = dict.fromkeys(("unsafe", "safe", "frozen"), np.bool_)
        from_lists(self, {**levels, **marks, "reason": np.int8, "cost": np.float64})
        object.__setattr__(self, "reasons", tuple(self.reasons))

    @property
    def looks_for_groups(self) -> bool:
        """Whether one of the rules looks for cells that hold nearly all of a total."""
        return not _OF_GROUPS.isdisjoint(self.reasons)

    def __repr__(self) -> str:
        return f"Sensitivity({int(self.unsafe.sum()):,} of {self.unsafe.size:,} cells unsafe)"

    def __or__(self, other: Sensitivity) -> Sensitivity:
        reasons = self.reasons + tuple(r for r in other.reasons if r not in self.reasons)
        theirs = np.array([reasons.index(r) for r in other.reasons] + [-1], dtype=np.int8)
        safe = _joined(self.safe, other.safe, np.logical_or)
        judged = np.True_ if safe is None else ~safe
        reason = np.where(self.reason >= 0, self.reason, theirs[other.reason])
        return Sensitivity(
            unsafe=(self.unsafe | other.unsafe) & judged,
            lower=np.maximum(self.lower, other.lower) * judged,
            upper=np.maximum(self.upper, other.upper) * judged,
            sliding=np.maximum(self.sliding, other.sliding) * judged,
            reason=np.where(judged, reason, -1).astype(np.int8),
            reasons=reasons,
            zeros_may_hide=self.zeros_may_hide or other.zeros_may_hide,
            safe=safe,
            frozen=_joined(self.frozen, other.frozen, np.logical_or),
            cost=_joined(self.cost, other.cost, np.fmax),
            entries=_joined(self.entries, other.entries, _one_below_the_other),
            below=np.maximum(self.noise_below, other.noise_below) * judged,
        )

    @property
    def noise_above(self) -> NDArray[np.int64]:
        """How far noise must raise an unsafe sum if it raises it."""
        return np.where(self.unsafe, np.maximum(self.upper, self.lower), 0)

    @property
    def noise_below(self) -> NDArray[np.int64]:
        """How far noise must lower an unsafe sum if it lowers it, see `below`."""
        known = 0 if self.below is None else self.below
        return np.where(self.unsafe, np.maximum(self.noise_above, known), 0)


class Rule(Protocol):
    """Any callable that judges a table. `largest`: how many contributions it looks at.

    A rule that looks at the contributors of a single cell only, and not at its codes or at other
    cells, may say so with an attribute ``judges_unions = True``: it then judges sums of cells
    as well. A method ``against(coalition)`` gives the rule against so many contributors who
    pool what they know.
    """

    @property
    def largest(self) -> int:
        """How many of the largest contributions of each cell the rule needs."""
        ...

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell of the table."""
        ...


class Joinable(Declared):
    """Gives a rule the operator ``|``."""

    #: Whether it looks at what contributors have, so that a count is not enough.
    of_sums: ClassVar[bool] = False

    @property
    def largest(self) -> int:
        """How many of the largest contributions the rule looks at: none by default."""
        return 0

    def __or__(self: Rule, other: Rule) -> AnyOf:
        if not callable(other) or isinstance(other, type):
            raise InputError(
                f"rules are joined with rules, not with {other!r}; write for example "
                "PPercent(5) | MinimumFrequency(3)"
            )
        return AnyOf((*parts(self), *parts(other)))


@dataclass(frozen=True)
class AnyOf(Joinable):
    """Several rules: a cell is unsafe if one says so and none declares it safe.

    The reason shown is that of the first rule by `rank`, which is the order of τ-ARGUS.
    """

    rules: tuple[Rule, ...]

    @property
    def largest(self) -> int:
        """The most that any of the rules needs."""
        return max(rule.largest for rule in self.rules)

    @property
    def rules_inside(self) -> tuple[Rule, ...]:
        """The rules that are joined."""
        return self.rules

    def with_rules(self, change: Callable[[Rule], Rule]) -> AnyOf:
        """Other rules, joined."""
        return AnyOf(tuple(part for rule in self.rules for part in parts(change(rule))))

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell by all rules."""
        alone = [own for rule in self.rules for own in single(rule)]
        found = [rule(table) for rule in sorted(alone, key=rank)]
        joined = reduce(lambda a, b: a | b, found)
        _refuse_contradictions(table, found, joined)
        return joined


@dataclass(frozen=True)
class NoRule(Joinable):
    """No cell is unsafe: for methods that look at no rule."""

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell of the table."""
        return declared(table, safe=np.zeros(table.shape, dtype=bool))


def _refuse_contradictions(table: Table, found: list[Sensitivity], joined: Sensitivity) -> None:
    """What the office set to unsafe must not become safe in passing."""
    for one in found:
        if one.entries is None or joined.safe is None:
            continue
        clash = np.flatnonzero(one.unsafe & joined.safe)
        if len(clash):
            shown = describe_some(table.dimensions, clash)
            number = Count(len(clash))
            raise InputError(
                f"{number} {number:cell is|cells are} set to unsafe by hand and declared safe by "
                f"another rule: {shown}. Take {number:it|them} out of one of the two"
            )


def _joined(one: Any, other: Any, by: Callable[[Any, Any], Any]) -> Any:
    """Both joined, or the one that is there."""
    if one is None or other is None:
        return other if one is None else one
    return by(one, other)


def _one_below_the_other(one: pa.Table, other: pa.Table) -> pa.Table:
    return pa.concat_tables([one, other], promote_options="default")


def parts(rule: Rule) -> tuple[Rule, ...]:
    """The rules that are joined, or the one."""
    return rule.rules if isinstance(rule, AnyOf) else (rule,)


def single(rule: Rule) -> tuple[Rule, ...]:
    """The rules that are judged one by one, each of which has one place among joined ones."""
    alone: Any = getattr(rule, "single", None)
    return (rule,) if alone is None else alone()


def everything_in(rule: Any) -> Iterator[Any]:
    """A rule and all rules inside of it, as joined rules and a shadow have some."""
    yield rule
    for one in getattr(rule, "rules_inside", ()):
        yield from everything_in(one)


def rebuilt(rule: Any, change: Callable[[Any], Any]) -> Any:
    """A rule of other rules: what is inside is changed first, then the rule itself."""
    if hasattr(rule, "with_rules"):
        rule = rule.with_rules(lambda one: rebuilt(one, change))
    return change(rule)


def rank(rule: Rule) -> int:
    """The place of a rule among joined ones; those that name none come last."""
    return getattr(rule, "rank", 99)


def judged(
    table: Table,
    name: str,
    unsafe: NDArray[np.bool_],
    level: NDArray[np.int64],
    *,
    upper: NDArray[np.int64] | None = None,
    unknown: NDArray[np.int64] | None = None,
    zeros_may_hide: bool = False,
) -> Sensitivity:
    """A sensitivity with the same level, at least one unit, on both sides; `upper` ≥ 0 if given.

    `unknown`: what is contributed by those whom the rule's estimators don't know, beside the one
    they estimate.
    """
    value = table.measure.sum
    level = np.where(unsafe, np.maximum(level, 1), 0)
    lower = np.minimum(level, value) if table.nonnegative else level
    return Sensitivity(
        unsafe=unsafe,
        lower=lower,
        upper=level if upper is None else np.where(unsafe, upper, 0),
        sliding=unsafe.astype(np.int64),
        reason=np.where(unsafe, 0, -1).astype(np.int8),
        reasons=(name,),
        zeros_may_hide=zeros_may_hide,
        below=None if unknown is None else np.where(unsafe, level + 2 * unknown, 0),
    )


def declared(table: Table, *, safe: NDArray[np.bool_]) -> Sensitivity:
    """A sensitivity that finds nothing unsafe and lets nobody find these cells unsafe."""
    zero = np.zeros(table.shape, dtype=np.int64)
    return Sensitivity(
        unsafe=np.zeros(table.shape, dtype=bool),
        lower=zero,
        upper=zero,
        sliding=zero,
        reason=np.full(table.shape, -1, dtype=np.int8),
        reasons=(),
        safe=safe,
    )
