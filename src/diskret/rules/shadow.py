"""Rules that look at one variable while the values of another are published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.rules.apriori import Apriori
from diskret.rules.percentages import LARGEST, ceil_divide
from diskret.rules.sensitivity import Joinable, Rule, Sensitivity, parts, rank
from diskret.tables import Measure, Table

#: Levels are computed in so many more decimals than the shadow has, so that what is rounded up
#: there does not matter.
_FINER = 6
_ROOM = 2**55


@dataclass(frozen=True)
class Shadow(Joinable):
    """Judge a table by the contributions to another variable, its shadow.

    The rule sees the sums and the largest contributions of the shadow: firms may be large by
    their employees while their investments are published. A cell is unsafe if the rule says so
    of the shadow. The levels keep their proportion: a level that is a share of the shadow's X
    becomes the same share of the published variable's, rounded up, at least one unit where it
    is not 0. X is the sum of absolute contributions. Where the shadow is 0 it says nothing of
    shares, and all of X is the level.

    Parameters
    ----------
    rule
        A rule, or several joined with ``|``. Absolute parameters, such as `minimum_level`,
        are in units of the shadow. An `Apriori` list is about the published values, so it
        stays outside: ``Shadow(PPercent(10), "employees") | Apriori(list)``.
    variable
        The shadow: another measure of the table. With [`tabulate`][diskret.tabulate] name
        both, ``value=["investment", "employees"]``, and choose what to publish,
        ``table["investment"]``; with [`Table.from_cells`][diskret.Table.from_cells] give
        ``shadow=``.

    Raises
    ------
    InputError
        The rule is none, or an a priori list is inside. On call: the table does not hold the
        shadow, or not what the rule needs of it.

    References
    ----------
    de Wolf et al., τ-ARGUS user's manual 4.1, shadow variable in the specification of a table.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret.rules import PPercent
    >>> cells = pa.table({"region": ["N", "S"], "investment": [700, 90], "employees": [100, 90],
    ...                   "x1": [80, 30], "x2": [15, 25]})
    >>> table = Table.from_cells(cells, by={"region": None}, value="investment",
    ...                          shadow="employees", largest=["x1", "x2"])
    >>> found = Shadow(PPercent(10), "employees")(table)
    >>> found.unsafe.tolist(), found.upper.tolist()  # 3 of 100 employees, so 21 of 700
    ([False, True, False], [0, 21, 0])
    """

    rule: Rule
    variable: str

    def __post_init__(self) -> None:
        if not callable(self.rule) or isinstance(self.rule, type):
            raise InputError(
                f"Shadow takes a rule, not {self.rule!r}; write for example "
                'Shadow(PPercent(10), "employees")'
            )
        if not isinstance(self.variable, str) or not self.variable:
            raise InputError(f"the shadow is the name of a measure, not {self.variable!r}")
        if any(isinstance(part, Apriori) for part in parts(self.rule)):
            raise InputError(
                "an a priori list is about the published values, so it stays outside: "
                f'Shadow(..., "{self.variable}") | Apriori(...)'
            )

    @property
    def rank(self) -> int:
        """The place of the first rule inside among joined rules."""
        return min(rank(part) for part in parts(self.rule))

    @property
    def largest(self) -> int:
        """How many of the largest contributions to the shadow the rule needs."""
        return self.rule.largest

    @property
    def rules_inside(self) -> tuple[Rule, ...]:
        """The rule that looks at the shadow."""
        return (self.rule,)

    def with_rules(self, change: Callable[[Rule], Rule]) -> Shadow:
        """Another rule that looks at the same shadow."""
        return replace(self, rule=change(self.rule))

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell."""
        shadow = _finer(_measure(table, self.variable))
        seen = replace(table, measures=(shadow,), chosen=shadow.name, rounding=1, shown=None)
        found = self.rule(seen)
        own, lower = table.measure, self._level(found.lower, found, shadow, table)
        one = np.where(found.unsafe, 1, 0)
        return replace(
            found,
            lower=np.minimum(lower, own.sum) if table.nonnegative else lower,
            upper=self._level(found.upper, found, shadow, table),
            sliding=np.where(
                found.sliding > 1, self._level(found.sliding, found, shadow, table), one
            ),
            below=self._level(found.noise_below, found, shadow, table),
        )

    def _level(
        self, level: NDArray[np.int64], found: Sensitivity, shadow: Measure, table: Table
    ) -> NDArray[np.int64]:
        """The same share of the published variable, rounded up; 0 where a level is 0."""
        out = np.zeros(table.shape, dtype=np.int64)
        asked = found.unsafe & (level > 0)
        size, of = table.measure.magnitude[asked], shadow.magnitude[asked]
        out[asked] = np.maximum(share_of(level[asked], of, size), 1)
        return out


def _measure(table: Table, variable: str) -> Measure:
    for measure in table.measures:
        if measure.name == variable:
            return measure
    names = ", ".join(repr(measure.name) for measure in table.measures)
    raise InputError(
        f"the shadow {variable!r} is no measure of the table, which holds "
        f"{names or 'counts only'}; name it when the table is made: value=[..., {variable!r}], or "
        f"shadow={variable!r} in Table.from_cells"
    )


def _finer(measure: Measure) -> Measure:
    """The same measure in more decimals; levels are not cut at 0."""
    more = more_decimals(measure.magnitude)
    factor = 10**more
    return Measure(
        measure.name,
        measure.decimals + more,
        measure.sum * factor,
        measure.magnitude * factor,
        measure.largest * factor,
        {mark: largest * factor for mark, largest in measure.marked.items()},
        signed=True,  # nothing says that the published variable cannot be less
    )


def more_decimals(size: NDArray[np.int64]) -> int:
    """In how many more decimals levels are computed, as many as 64 bits allow."""
    largest = int(size.max(initial=1))
    return next(n for n in range(_FINER, -1, -1) if largest * 10**n < _ROOM or n == 0)


def share_of(
    level: NDArray[np.int64], of: NDArray[np.int64], size: NDArray[np.int64]
) -> NDArray[np.int64]:
    """``level / of`` of a size, rounded up and exact; all of it where `of` is 0, without shares."""
    level, of = np.where(of > 0, level, 1), np.maximum(of, 1)
    largest = int(level.max(initial=0)) * int(size.max(initial=0))
    kind = np.int64 if largest < LARGEST else object
    return ceil_divide(level.astype(kind) * size.astype(kind), of)
