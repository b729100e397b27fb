"""Against contributors: no sum of suppressed cells that totals reveal may be unsafe."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack import Attacker, Proposals, Requirements, UnsafeSums, revealed_sums
from diskret.deadline import OutOfTime
from diskret.errors import InputError, ProofError, ProtectionError
from diskret.graphs import connected
from diskret.parallel import stage
from diskret.protect.earlier_tables import EarlierTables
from diskret.protect.parts import PartsJudge
from diskret.protect.plan import TableToProtect
from diskret.rules import Rule, Sensitivity
from diskret.rules.unions import judge_unions, rules_for_unions
from diskret.suppression import (
    Method,
    Pattern,
    Problem,
    Work,
    auto,
    hypercube,
    left_to_modular,
    modular,
    network,
    optimal,
    untidied,
)
from diskret.system import with_sums
from diskret.tables import Earlier, Publication, Table
from diskret.tables.unions import union_table, unions_exact

#: The task of judging what a pattern reveals.
JUDGING = "judge sums"
#: Shares of the time left for a first pattern that tells what is revealed, for the pattern itself,
#: and for one repair; the rest is that of the proof.
_FIRST, _SEARCH, _REPAIR = 0.2, 0.5, 0.3
#: The first two where tables are tied, as no cubes stand for a pattern, and for the pattern itself
#: against contributors, whose attack takes longer than all searches.
_FIRST_TIED, _SEARCH_TIED, _SEARCH_JUDGED = 0.4, 0.7, 0.2
#: How often a cheapest pattern is looked for anew because the last one reveals parts.
_AGAIN = 20
#: The unsafe sums of a publication, and which of them everybody knows exactly.
Judge = Callable[[Publication], tuple[UnsafeSums, NDArray[np.bool_]]]


def check_judged(rules: Sequence[object], tables: Sequence[Table]) -> None:
    """Refuse what cannot be judged by its contributors."""
    if any(isinstance(rule, Sensitivity) for rule in rules):
        raise InputError(
            "against a contributor sums of cells have to be judged too, which a Sensitivity does "
            "not say; give the rule itself, or attacker=dk.Attacker()"
        )
    weighted = [table for table in tables if table.weight is not None]
    if weighted:
        raise InputError(
            f"{len(weighted):,} tables are weighted, by {weighted[0].weight!r}: what a contributor "
            "to several cells knows of their sum cannot be told there; use "
            "attacker=dk.Attacker(), or leave weight= out"
        )


def judge_of(
    to_protect: Sequence[TableToProtect], attacker: Attacker, before: EarlierTables
) -> Judge:
    """What a rule says of the sums that the published tables reveal, by their contributors.

    What was unsafe among the sums of an earlier table stays so. Those that a new table makes
    smaller than they were are judged by the rule for a new table of the same measure, and by
    those who contribute to the earlier one, if these were kept.

    to_protect: the tables, with their rules as they judge single cells against this attacker.
    before: what was published before; its tables stand behind the new ones.
    """
    whoever = [
        *(_judge_of_new(one, attacker) for one in to_protect),
        *(_judge_of_earlier(e, table, to_protect, attacker) for e, table in before.pairs),
    ]

    def judge(publication: Publication) -> tuple[UnsafeSums, NDArray[np.bool_]]:
        sums = revealed_sums(publication)
        levels = np.zeros((3, len(sums)), dtype=np.int64)
        unsafe = np.zeros(len(sums), dtype=bool)
        ends = pairwise(publication.starts.tolist())
        for own, (start, stop) in zip(whoever, ends, strict=True):
            member = sparse.csr_array(sums.member[:, start:stop])
            rows = np.flatnonzero(np.diff(member.indptr))
            if len(rows):
                unsafe[rows], levels[:, rows] = own(sparse.csr_array(member[rows]))
        every = UnsafeSums(sums.member, *levels, judged=len(sums))
        return every.only(unsafe), sums.known[unsafe]

    return judge


def how_judged(one: TableToProtect) -> dict[str, Any]:
    """By which rules and by whose contributions sums of a table's cells were judged."""
    used, left = rules_for_unions(one.rule)
    return {
        "sums_judged_by": [repr(rule) for rule in used],
        "rules_without_sums": [repr(rule) for rule in left],
        "contributors_of_sums": "exact" if unions_exact(one.table) else "taken for different",
    }


#: Which sums of a table's cells are unsafe, and their levels, ``(3, s)``.
_OfTable = Callable[[sparse.csr_array], tuple[NDArray[np.bool_], NDArray[np.int64]]]


def _judge_of_new(one: TableToProtect, attacker: Attacker) -> _OfTable:
    if not attacker.contributor:
        return _nothing
    return lambda member: _judged(one.rule, one.table, member, attacker)


def _judge_of_earlier(
    earlier: Earlier, table: Table, to_protect: Sequence[TableToProtect], attacker: Attacker
) -> _OfTable:
    """What was judged when the table was published stays; other sums are judged now."""
    known = earlier.unsafe
    rules = [o.rule for o in to_protect if o.table.measure.name == earlier.published.measure]
    untold = earlier.contributions is None and not earlier.published.frequency
    told = not (untold or earlier.perturbed or earlier.original is None or earlier.weight)
    judges = told and len(rules) > 0 and not isinstance(rules[0], Sensitivity)
    if known is None and not (attacker.contributor and judges):
        return _nothing
    before = _sets_of(revealed_sums(earlier.published).member)
    settled = dict.fromkeys(before, (False, 0, 0, 0))
    if known is not None:
        levels = zip(
            known.lower.tolist(), known.upper.tolist(), known.sliding.tolist(), strict=True
        )
        settled |= {
            cells: (True, *own) for cells, own in zip(_sets_of(known.member), levels, strict=True)
        }

    def judge(member: sparse.csr_array) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        sets = _sets_of(member)
        found = np.array([settled.get(cells, (False, 0, 0, 0)) for cells in sets], dtype=np.int64)
        unsafe, levels = found[:, 0] > 0, found[:, 1:].T.copy()
        new = np.flatnonzero([cells not in settled for cells in sets])
        if len(new) and judges:
            judged = _with_contributors(earlier, table, rules[0].largest)
            own = sparse.csr_array(member[new])
            unsafe[new], levels[:, new] = _judged(rules[0], judged, own, attacker)
        return unsafe, levels

    return judge


def _nothing(member: sparse.csr_array) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    sums = member.shape[0]
    return np.zeros(sums, dtype=bool), np.zeros((3, sums), dtype=np.int64)


def _with_contributors(earlier: Earlier, table: Table, largest: int) -> Table:
    """An earlier table as rules judge it: room for the largest contributions that they need."""
    room = np.zeros((*table.shape, largest), dtype=np.int64)
    measures = tuple(replace(measure, largest=room) for measure in table.measures)
    return replace(table, measures=measures, contributions=earlier.contributions)


def _sets_of(member: sparse.csr_array) -> list[frozenset[int]]:
    """The cells of each sum."""
    parts = np.split(member.indices, member.indptr[1:-1])
    return [frozenset(part.tolist()) for part in parts[: member.shape[0]]]


def _judged(
    rule: Rule, table: Table, member: sparse.csr_array, attacker: Attacker
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which sums of a table's cells are unsafe, and their levels, ``(3, s)``."""
    sensitivity = judge_unions(rule, union_table(table, member))
    # the first cell of a table of unions is the total of its variable
    lower, upper, sliding = (
        levels.ravel()[1:] for levels in (sensitivity.lower, sensitivity.upper, sensitivity.sliding)
    )
    if attacker.zeros_known and table.frequency:
        least = np.diff(member.indptr)  # every hidden count is at least 1
        lower = np.minimum(lower, member @ table.measure.sum.ravel() - least)
    return sensitivity.unsafe.ravel()[1:], np.stack([lower, upper, sliding])


def cleared(
    problem: Problem,
    pattern: Pattern,
    public: Callable[[NDArray[np.bool_]], Publication],
    judge: Judge | None,
    parts: PartsJudge | None = None,
) -> tuple[Problem, Pattern, UnsafeSums | None]:
    """Extend a pattern until nothing that everybody can compute is unsafe.

    Such a sum of cells, or a part of a category, becomes a cell that nobody publishes and that
    has to stay uncertain, so that more has to be suppressed. What is hidden then reveals other
    sums. Patterns grow until there are no more.

    public: what the world sees when these cells are suppressed.
    judge: which sums of cells are unsafe; None: no contributor attacks.
    parts: which parts of categories are unsafe; None: no categories overlap.
    """
    while True:
        problem, unsafe, more, named = _asking(problem, public(pattern.suppressed), judge, parts)
        if not more:
            return problem, pattern, unsafe
        with _parts_named(named):
            pattern = extended(problem, pattern, keep=True)


def found_once(
    problem: Problem,
    method: Method,
    public: Callable[[NDArray[np.bool_]], Publication],
    judge: Judge | None,
    parts: PartsJudge | None = None,
) -> tuple[Problem, Pattern]:
    """The pattern of a method that is told at once what a quick pattern reveals, and what it is.

    Every safe pattern keeps these sums and parts uncertain, so a bound of its cost stays one.
    Parameters as of `cleared`.
    """
    # other methods know tables only
    known = method not in (hypercube, network) and not (judge is None and parts is None)
    named = ""
    quick: Pattern | None = None
    if known:
        first = problem.deadline.share(_FIRST_TIED if problem.tied else _FIRST)
        quick = untidied(replace(problem, deadline=first, work=Work()))
        problem, _, _, named = _asking(problem, public(quick.suppressed), judge, parts)
    asked_again = _AGAIN if method is optimal and known and judge is None else 0
    while True:
        with _parts_named(named):
            pattern = _searched(problem, method, quick, judge is not None)
        if not asked_again:
            return problem, pattern
        # a cheapest pattern that has to grow is none: it is looked for anew
        asked_again -= 1
        more, _, reveals, found = _asking(problem, public(pattern.suppressed), None, parts)
        if not reveals:
            return problem, pattern
        problem, named = more, "; ".join(filter(None, (named, found)))


def _searched(problem: Problem, method: Method, quick: Pattern | None, judged: bool) -> Pattern:
    """The pattern of a method; if time is up before it has one, what a quick one grows to."""
    part = _SEARCH if quick is not None or not problem.tied else _SEARCH_TIED
    search = replace(problem, deadline=problem.deadline.share(_SEARCH_JUDGED if judged else part))
    # others take cells that are free of charge at first for ones that cost nothing
    if quick and (method is modular or (method is auto and left_to_modular(problem))):
        search = _beginning(search, quick)
    try:
        return checked_pattern(problem, method(search))
    except OutOfTime:
        if quick is None or not search.deadline.passed:
            raise
        return replace(extended(problem, quick, keep=True), complete=False)


def _asking(
    problem: Problem, seen: Publication, judge: Judge | None, parts: PartsJudge | None
) -> tuple[Problem, UnsafeSums | None, bool, str]:
    """The problem with what is revealed, all unsafe sums, whether it asks for more, named parts."""
    unsafe, asked, named = None, list[UnsafeSums](), ""
    if judge is not None:
        unsafe, known = stage(partial(judge, seen), problem.progress, JUDGING)
        asked.append(unsafe.only(known))
    if parts is not None:
        found = stage(partial(parts, seen), problem.progress, JUDGING)
        asked.append(found.sums)
        named = found.named
    for sums in asked:
        problem = asking_for(problem, sums) if len(sums) else problem
    return problem, unsafe, any(len(sums) for sums in asked), named


@contextmanager
def _parts_named(named: str) -> Generator[None]:
    """Say which parts of categories had to be protected."""
    try:
        yield
    except ProtectionError as error:
        if not named:
            raise
        raise ProtectionError(
            f"{error}. Asked for were parts of categories, or what is left beside a filter or "
            f"beside another variable, that published cells would reveal by subtraction: {named}",
            error.blamed,
            error.blamed_in,
        ) from error


def asking_for(problem: Problem, sums: UnsafeSums) -> Problem:
    """The problem with a requirement for each sum."""
    number = len(sums)
    size = sums.member.shape[1]
    # a sum is bounded by what bounds its cells
    signed: Any = bool(np.any(problem.lower[:size] < 0))
    if sums.signed is not None:
        signed = sums.signed | signed
    system = with_sums(problem.system, sums.member, signed=signed)
    needs, n = problem.requirements, len(problem.cost)
    none = np.zeros(n, dtype=bool) if problem.start is None else problem.start
    return replace(
        problem,
        system=system,
        requirements=Requirements(
            np.append(needs.cell, n + np.arange(number)),
            np.append(needs.lower, sums.lower),
            np.append(needs.upper, sums.upper),
            np.append(needs.sliding, sums.sliding),
        ),
        cost=np.append(problem.cost, np.zeros(number)),
        frozen=np.append(problem.frozen, np.zeros(number, dtype=bool)),
        lower=np.append(problem.lower, system.lowest[len(system.lowest) - number :]),
        upper=np.append(problem.upper, np.full(number, np.inf)),
        start=np.append(none, np.ones(number, dtype=bool)),
        ties=None if problem.ties is None else np.append(problem.ties, np.zeros(number)),
    )


def extended(problem: Problem, pattern: Pattern, keep: bool) -> Pattern:
    """A pattern for a problem that asks for more; cells hidden before are free of charge.

    With `keep` they stay hidden, so that patterns only grow and there is a last one.
    """
    search = _beginning(problem, pattern)
    if keep:
        hidden = np.flatnonzero(pattern.suppressed)
        search = replace(search, requirements=_keeping(problem.requirements, hidden))
    elif problem.integer:  # looked for anew, which takes little and finds cheaper changes
        search = replace(search, known=None)
    # however many steps the search for a cheap pattern may take, a safe one has to be found
    found = modular(replace(search, deadline=problem.deadline.share(_REPAIR), work=Work()))
    return replace(checked_pattern(problem, found), bound=pattern.bound)


def _beginning(problem: Problem, pattern: Pattern) -> Problem:
    """The problem from a pattern on that was found when less was asked for."""
    hidden = np.zeros(len(problem.cost), dtype=bool)
    hidden[: len(pattern.suppressed)] = pattern.suppressed
    start = hidden if problem.start is None else problem.start | hidden
    return replace(problem, start=start, known=_reaching(problem, pattern.proposals))


def _reaching(problem: Problem, proposals: Proposals | None) -> Proposals | None:
    """The same changes with what they do to sums that are asked for since."""
    if proposals is None:
        return None
    difference = proposals.difference
    size = difference.shape[1]
    # each sum stands behind all others, and so does its equation
    since = sparse.csr_array(problem.system.equations[:, :size], dtype=np.int64)
    since = since[max(0, since.shape[0] - (len(problem.cost) - size)) :]
    more = sparse.csr_array(-(difference @ since.T))
    return replace(
        proposals, difference=sparse.csr_array(sparse.hstack([difference, more], format="csr"))
    )


def everything_around(problem: Problem, pattern: Pattern, cells: NDArray[np.int64]) -> Pattern:
    """A pattern that hides all that may be hidden and is connected with some cells."""
    n = len(pattern.suppressed)
    movable = ~problem.frozen
    movable[:n] |= pattern.suppressed
    inside = abs(problem.system.equations) * movable.astype(np.int64)[None]
    inside = sparse.csr_array(inside)
    inside.eliminate_zeros()
    label = connected(inside.T @ inside)
    around = movable & np.isin(label, label[cells])
    return replace(pattern, suppressed=pattern.suppressed | around[:n])


def _keeping(requirements: Requirements, hidden: NDArray[np.int64]) -> Requirements:
    """The same, and that these cells are hidden."""
    cell = np.union1d(requirements.cell, hidden)
    at = np.searchsorted(cell, requirements.cell)

    def spread(levels: NDArray[np.int64]) -> NDArray[np.int64]:
        out = np.zeros(len(cell), dtype=np.int64)
        out[at] = levels
        return out

    return Requirements(
        cell,
        spread(requirements.lower),
        spread(requirements.upper),
        spread(requirements.sliding),
    )


def checked_pattern(problem: Problem, pattern: Pattern) -> Pattern:
    """Refuse a pattern that breaks the contract of methods."""
    suppressed = pattern.suppressed
    if suppressed.shape != problem.frozen.shape or suppressed.dtype != bool:
        raise ProofError(f"method {pattern.method!r} returned no pattern for this table")
    if not suppressed[problem.requirements.cell].all():
        raise ProofError(f"method {pattern.method!r} would publish unsafe cells")
    if np.any(suppressed & problem.frozen):
        raise ProofError(f"method {pattern.method!r} suppresses cells that must stay published")
    return pattern
