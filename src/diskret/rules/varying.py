"""Rules that differ by category: which of them hold for a cell is said here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from diskret.errors import HierarchyError, InputError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.codes import as_code, some
from diskret.population import Bounds, Population
from diskret.rules.apriori import Apriori
from diskret.rules.missing_safe import MissingSafe
from diskret.rules.sensitivity import (
    AnyOf,
    Joinable,
    NoRule,
    Rule,
    Sensitivity,
    everything_in,
    parts,
    rank,
    rebuilt,
    single,
)
from diskret.tables import Table
from diskret.tables.made_of import MadeOf
from diskret.texts.numbers import Count

#: Stands for all categories that are not named.
OTHERS = "*"


@dataclass(frozen=True)
class Varying(Joinable):
    """Rules that differ by the category of one variable; totals are judged by all of theirs.

    A cell is judged by the rule of each category whose records it may hold: it is unsafe if any of
    these finds it unsafe, and its levels are the largest, as of rules joined with ``|``. Each rule
    looks at all contributors of the cell. So a category is judged by its own rule alone, and a
    total by those of all categories below it, whether or not these have records.

    Sums of hidden cells that published ones reveal are judged by all rules of their cells. Parts of
    categories that overlap and rests between variables of different tables, whose categories nobody
    keeps, are judged by all rules there are.

    Parameters
    ----------
    variable
        A variable of the table.
    rules
        Code → a rule, or several joined with ``|``, or None: no rule. The rule of a code in a tree
        holds for all categories below; where several codes above a category are named, the nearest
        decides. ``"*"`` stands for all categories without a rule; without it each needs one.

    Raises
    ------
    InputError
        A rule is none, or decides for single cells (`Apriori`, `MissingSafe`), which is joined from
        outside: ``Varying(...) | Apriori(...)``. On call: categories have no rule; or the table
        does not have the variable. Where several tables are protected together and another one
        has it, the rules are those of `strictest`.
    HierarchyError
        On call: the variable does not have a code.

    Notes
    -----
    A filter of the table on the variable counts: no rule is asked of categories that it leaves out.
    In a table that is filtered by the variable and not broken down by it, all rules hold if the
    filter lets through a code that is not named, as it may lie below one that is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret.rules import MinimumFrequency
    >>> cells = pa.table({"country": ["DE", "FR", "IT"], "firms": [9, 4, 2]})
    >>> table = Table.from_cells(cells, by={"country": None}, count="firms")
    >>> rule = Varying("country", {"DE": MinimumFrequency(10), "*": MinimumFrequency(3)})
    >>> dict(zip(table.cells["country"].to_pylist(), rule(table).unsafe.tolist()))
    {'Total': False, 'DE': True, 'FR': False, 'IT': True}
    """

    variable: str
    rules: Mapping[str, Rule | None]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rules", _checked(self.variable, self.rules))

    @property
    def rank(self) -> int:
        """The place of the first rule inside among joined rules."""
        return min((rank(rule) for rule in self._different), default=rank(NoRule()))

    @property
    def largest(self) -> int:
        """How many of the largest contributions the rules need: the most that any of them does."""
        return max((rule.largest for rule in self._different), default=0)

    @property
    def strictest(self) -> Rule:
        """All rules joined, as a table without the variable is judged: its cells hold them all."""
        rules = tuple(self._different)
        if len(rules) == 1:
            return rules[0]
        return AnyOf(rules) if rules else NoRule()

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell."""
        held = self.held(table)  # what is wrong with the codes is said whatever the rules are
        rules = self.rules_inside
        if not rules:
            return NoRule()(table)
        if self.single() == (self,):
            return _only_there(rules[0](table), held)
        return AnyOf(self.single())(table)

    def held(self, table: Table) -> NDArray[np.bool_]:
        """Cells that may hold records of a category with a rule, bool, shape of the table.

        Of unions of cells it is asked of their cells. Where nobody knows these, or a rule is for a
        code that their table does not have, they may hold records of any category.
        """
        made_of = table.made_of
        if made_of is None:
            found = self._in_table(table)
            return np.broadcast_to(found, table.shape)
        if made_of.cells is None:
            return np.ones(table.shape, dtype=bool)
        for axis, dimension in enumerate(made_of.dimensions):
            if dimension.name == self.variable:
                reading = _Reading(self, dimension.hierarchy, _filter(self.variable, made_of))
                if reading.strange or reading.unruled:
                    return np.ones(table.shape, dtype=bool)
                return made_of.somewhere(axis, reading.held).reshape(table.shape)
        return np.full(table.shape, self._let_through(made_of.where))

    def single(self) -> tuple[Varying, ...]:
        """The different rules inside one by one: each of them where it holds, and none elsewhere.

        >>> from diskret.rules import MinimumFrequency, ZeroCells
        >>> both = Varying("r", {"N": MinimumFrequency(3) | ZeroCells(1), "*": ZeroCells(1)})
        >>> both.single()[1]
        Varying(variable='r', rules={'N': ZeroCells(level=1), '*': ZeroCells(level=1)})
        """
        inside = {code: _single_rules(rule) for code, rule in self.rules.items()}
        return tuple(
            replace(self, rules={code: own if own in of else None for code, of in inside.items()})
            for own in self._different
        )

    def with_rules(self, change: Callable[[Rule], Rule]) -> Varying:
        """The same with other rules inside."""
        return replace(self, rules={c: one and change(one) for c, one in self.rules.items()})

    @property
    def rules_inside(self) -> tuple[Rule, ...]:
        """The rules of all categories."""
        return tuple(rule for rule in self.rules.values() if rule is not None)

    @property
    def _different(self) -> list[Rule]:
        found: list[Rule] = []
        for rule in self.rules.values():
            found += [own for own in _single_rules(rule) if own not in found]
        return found

    def _in_table(self, table: Table) -> NDArray[np.bool_]:
        """For the cells of a table, in a shape that can be broadcast to its own."""
        names = [dimension.name for dimension in table.dimensions]
        if self.variable in names:
            axis = names.index(self.variable)
            tree = table.dimensions[axis].hierarchy
            reading = _Reading(self, tree, _filter(self.variable, table))
            reading.refuse()
            return reading.held.reshape([-1 if i == axis else 1 for i in range(len(names))])
        if self.variable not in table.where.asked:
            raise InputError(
                f"rules differ by {self.variable!r}, which the table does not have"
                f"{_meant(self.variable, names)} It has {', '.join(map(repr, names))}. Break it "
                f"down by {self.variable!r}, or judge it by all of the rules: "
                "Varying(...).strictest"
            )
        return np.array(self._let_through(table.where))

    def _let_through(self, where: Population) -> bool:
        """Whether a filter may let records of a category with a rule through; without one it may.

        Nobody knows the tree, so a code that is not named may lie below any that is.
        """
        asked = where.asked.get(self.variable)
        if asked is None or isinstance(asked, Bounds):
            return True
        return any(code not in self.rules or self.rules[code] is not None for code in asked)


def for_tables(rules: Sequence[Any], tables: Sequence[Table]) -> list[Any]:
    """The rules of tables that are protected together, one for each.

    A cell of a table without a variable holds all of its categories: there rules that differ by
    it are those of `Varying.strictest`, if another of the tables has the variable. One rule for
    several tables stays one.

    >>> import pyarrow as pa
    >>> from diskret.rules import MinimumFrequency
    >>> one, other = (
    ...     Table.from_cells(pa.table({name: ["a"], "n": [5]}), by={name: None}, count="n")
    ...     for name in ("country", "branch")
    ... )
    >>> rule = Varying("country", {"*": MinimumFrequency(3)})
    >>> for_tables([rule, rule], [one, other])[1]
    MinimumFrequency(n=3, of=None, range=10, level=None)
    """
    known = {d.name for table in tables for d in table.dimensions}
    made: dict[tuple[int, frozenset[str]], Any] = {}

    def of(rule: Any, table: Table) -> Any:
        lacking = frozenset(known - {d.name for d in table.dimensions} - {*table.where.asked})
        if not any(_by_one_of(one, lacking) for one in everything_in(rule)):
            return rule
        key = id(rule), lacking
        if key not in made:
            made[key] = rebuilt(
                rule, lambda one: one.strictest if _by_one_of(one, lacking) else one
            )
        return made[key]

    return [of(rule, table) for rule, table in zip(rules, tables, strict=True)]


def check_codes(rule: Any, table: Table) -> None:
    """Refuse rules by categories that do not fit a table, before anything is judged."""
    for one in everything_in(rule):
        if isinstance(one, Varying):
            one.held(table)


def everywhere(rule: Any) -> Any:
    """A rule as it judges cells that may hold records of any category."""
    return rebuilt(rule, lambda one: one.strictest if isinstance(one, Varying) else one)


def _by_one_of(rule: Any, variables: frozenset[str]) -> bool:
    return isinstance(rule, Varying) and rule.variable in variables


# ── what a tree says of the codes that are named ────────────────────────────────────


class _Reading:
    """The codes of a rule as a tree understands them.

    held: codes of the tree that may hold records of a category with a rule, ``(codes,)``.
    strange: codes that the tree does not have.
    unruled: categories that no code and no ``"*"`` stands for.
    """

    def __init__(self, rule: Varying, tree: Hierarchy, asked: Callable[[str], bool]):
        self._rule, self._tree = rule, tree
        texts = {text for of in tree.members.values() for text in of}
        named = {code for code in rule.rules if code != OTHERS}
        self.strange = [c for c in named if c not in tree.position and c not in texts]
        self.unruled: list[str] = []
        self.held = np.zeros(len(tree), dtype=bool)
        nearest = list[str | None]()
        for code, parent in zip(tree.codes, tree.parent.tolist(), strict=True):
            above = nearest[parent] if parent >= 0 else None
            nearest.append(code if code in named else above)
        for leaf in tree.leaves.tolist():
            code = tree.codes[leaf]
            members = tree.members.get(code) or (code,)
            # a combination that is called as one of its categories is not that category
            around = nearest[tree.parent[leaf]] if code in members and leaf else nearest[leaf]
            for text in filter(asked, members):
                of = text if text in named else around
                if of is None and OTHERS not in rule.rules:
                    self.unruled.append(text)
                elif rule.rules[of or OTHERS] is not None:
                    self.held[leaf] = True
        for i in range(len(tree) - 1, 0, -1):
            self.held[tree.parent[i]] |= self.held[i]

    def refuse(self) -> None:
        """Refuse codes that there are not, and categories without a rule."""
        variable, codes = self._rule.variable, [*self._tree.codes]
        if self.strange:
            missing = sorted(self.strange)
            raise HierarchyError(
                f"rules differ by {variable!r}, which has no code {some([*map(repr, missing)])}"
                f"{_meant(missing[0], codes)} Name codes of its tree; if they have no records "
                "here, give a tree that has them when the table is made"
            )
        if self.unruled:
            number = Count(len(self.unruled))
            raise InputError(
                f"rules differ by {variable!r}, and {number} of its categories {number:has|have} "
                f"none: {some([*map(repr, self.unruled)])}; name {number:it|them}, or say what "
                'holds for all others: "*": a rule, or None for no rule (in a job file '
                '"none")'
            )


def _meant(word: str, known: Sequence[str]) -> str:
    """What a word may have meant, as the end of a sentence."""
    near = get_close_matches(word, known, 1, 0.5)
    return f"; did you mean {near[0]!r}?" if near else "."


def _filter(variable: str, of: Table | MadeOf) -> Callable[[str], bool]:
    """Whether the filter of a table lets a finest code of a variable through.

    Where codes may be groups of the texts of records, nobody knows, so all of them are let through.
    """
    asked = of.where.asked.get(variable) if of.recorded else None
    if asked is None:
        return lambda _: True
    if not isinstance(asked, Bounds):
        return frozenset(asked).__contains__
    inside = Population(((variable, asked),))
    return lambda code: inside.overlaps(Population(((variable, (code,)),)))


def _only_there(found: Sensitivity, held: NDArray[np.bool_]) -> Sensitivity:
    """What a rule says of some cells, and nothing of all others."""
    if found.entries is not None or any(
        of is not None and of.any() for of in (found.safe, found.frozen)
    ):
        raise InputError(
            "a rule that decides for single cells whatever other rules say stays outside: "
            "Varying(...) | rule"
        )
    unsafe = found.unsafe & held
    return Sensitivity(
        unsafe=unsafe,
        lower=np.where(held, found.lower, 0),
        upper=np.where(held, found.upper, 0),
        sliding=np.where(held, found.sliding, 0),
        reason=np.where(held, found.reason, -1).astype(np.int8),
        reasons=found.reasons,
        zeros_may_hide=found.zeros_may_hide and bool(unsafe.any()),
        below=None if found.below is None else np.where(held, found.below, 0),
    )


def _single_rules(rule: Rule | None) -> tuple[Rule, ...]:
    """The rules that are joined for a category, one by one."""
    return () if rule is None else tuple(own for part in parts(rule) for own in single(part))


def _checked(variable: str, given: Any) -> dict[str, Rule | None]:
    if not isinstance(given, Mapping) or not given:
        raise InputError(
            'Varying needs a mapping of codes to rules, e.g. {"DE": PPercent(10), "*": '
            f"PPercent(5)}}, not {given!r}"
        )
    rules: dict[str, Rule | None] = {}
    entries: Mapping[Any, Any] = given
    for name, rule in entries.items():
        code = as_code(name)
        if not code:
            raise InputError(f"{name!r} is no code of {variable!r}; give text or a whole number")
        if code in rules:
            raise InputError(f"the rule for {code!r} of {variable!r} is given twice; keep one")
        if rule is not None and (not callable(rule) or isinstance(rule, type)):
            raise InputError(
                f"the rule for {code!r} of {variable!r} is a rule, or None for no rule, not "
                f"{rule!r}"
            )
        single_cells = [
            one for one in everything_in(rule) if isinstance(one, Apriori | MissingSafe)
        ]
        if single_cells:
            kind = type(single_cells[0]).__name__
            raise InputError(
                f"{kind} decides for single cells whatever the rules are, so it stays outside: "
                f"Varying(...) | {kind}(...)"
            )
        rules[code] = cast(Any, rule)
    return rules
