"""What a rule says about a table, and how rules are joined."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from diskret.tables import Table


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Which cells are unsafe and how uncertain they have to become. Confidential.

    All arrays have the shape of the table. Levels are scaled integers (units of
    10**-decimals) and 0 where a cell is safe.

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
    """

    unsafe: NDArray[np.bool_]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    sliding: NDArray[np.int64]
    reason: NDArray[np.int8]
    reasons: tuple[str, ...]
    zeros_may_hide: bool = False

    def __repr__(self) -> str:
        return f"Sensitivity({int(self.unsafe.sum()):,} of {self.unsafe.size:,} cells unsafe)"

    def __or__(self, other: Sensitivity) -> Sensitivity:
        reasons = self.reasons + tuple(r for r in other.reasons if r not in self.reasons)
        theirs = np.array([reasons.index(r) for r in other.reasons] + [-1], dtype=np.int8)
        return Sensitivity(
            unsafe=self.unsafe | other.unsafe,
            lower=np.maximum(self.lower, other.lower),
            upper=np.maximum(self.upper, other.upper),
            sliding=np.maximum(self.sliding, other.sliding),
            reason=np.where(self.reason >= 0, self.reason, theirs[other.reason]).astype(np.int8),
            reasons=reasons,
            zeros_may_hide=self.zeros_may_hide or other.zeros_may_hide,
        )


class Rule(Protocol):
    """Any callable that judges a table. `largest`: how many contributions it looks at."""

    @property
    def largest(self) -> int:
        """How many of the largest contributions of each cell the rule needs."""
        ...

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell of the table."""
        ...


class Joinable:
    """Gives a rule the operator ``|``."""

    def __or__(self: Rule, other: Rule) -> AnyOf:
        return AnyOf((*_parts(self), *_parts(other)))


@dataclass(frozen=True)
class AnyOf(Joinable):
    """Several rules: a cell is unsafe if one of them says so.

    The reason shown is that of the first rule in the order dominance, p%, minimum
    frequency (the order of τ-ARGUS), marginal value, group disclosure, whatever the order
    they were joined in. The pq rule ranks with p%.
    """

    rules: tuple[Rule, ...]

    @property
    def largest(self) -> int:
        """The most that any of the rules needs."""
        return max(rule.largest for rule in self.rules)

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell by all rules."""
        ranked = sorted(self.rules, key=lambda rule: getattr(rule, "rank", 99))
        return reduce(lambda a, b: a | b, (rule(table) for rule in ranked))


def _parts(rule: Rule) -> tuple[Rule, ...]:
    return rule.rules if isinstance(rule, AnyOf) else (rule,)


def judged(
    table: Table,
    name: str,
    unsafe: NDArray[np.bool_],
    level: NDArray[np.int64],
    *,
    upper: NDArray[np.int64] | None = None,
    zeros_may_hide: bool = False,
) -> Sensitivity:
    """A sensitivity with the same level, at least one unit, on both sides.

    Where no value can be negative, the lower level is cut at the value itself. `upper`
    gives the upper side a level ≥ 0 of its own.
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
    )
