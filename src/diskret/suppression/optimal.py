"""The cheapest safe pattern, with a proof that none is cheaper; and where that is not quick."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from diskret.effort import counted
from diskret.errors import ProtectionError
from diskret.suppression.greedy import Prepared, in_sequence, modular, prepared
from diskret.suppression.optimal_search import KEPT, Closing
from diskret.suppression.problem import Pattern, Problem, Work


def optimal(problem: Problem, first: Pattern | None = None) -> Pattern:
    """Find the cheapest safe pattern, and prove that none is cheaper.

    A 0-1 program chooses the groups to hide. It knows only some inequalities at first; attacks
    on its choices, first in fractions, then whole, give those that it lacks, until its
    cheapest choice is safe. Choices in fractions and whole ones guide the search for patterns;
    in large tables these are improved block by block as well. Under a deadline a pattern found
    quickly comes first, as `sequential` finds it.

    Parameters
    ----------
    problem
        Cells that cost nothing are free: they are hidden where that spares others, and
        published where no requirement needs them.
    first
        A safe pattern of the problem; the one found is no dearer.

    Returns
    -------
    Pattern
        No safe pattern costs less than `bound`. `complete` is False if the deadline came before
        the cost was within 0.01 % of it, or nearer than whole costs can differ.

    References
    ----------
    Cuts from the attackers' linear programs, their strengthening, and heuristics guided by
    fractions: Fischetti and Salazar (2001), "Solving the cell suppression problem on tabular
    data with linear constraints", Management Science 47(7), 1008-1027. Blocks: Shaw (1998),
    "Using constraint programming and local search methods to solve vehicle routing problems", CP,
    417-431.
    """
    return _searched(problem, prepared(problem), first)


def _searched(
    problem: Problem, known: Prepared, first: Pattern | None, kept: float = KEPT
) -> Pattern:
    """See `optimal`; `known`: what is known at first; `kept`: see `Closing.run`."""
    search = Closing(problem, known)
    if first is not None:
        search.know(first)
    if problem.limited:
        # with a safe pattern at hand, no time for another one is no failure
        with suppress(*([] if first is None else [ProtectionError])):
            search.begin()
    # a solver in trouble ends the search: the pattern is safe, and the bound holds
    try:
        with suppress(ProtectionError):
            if not (search.best.safe and problem.deadline.passed):
                search.run(kept)
    except KeyboardInterrupt:
        search.pool.shutdown(wait=False, cancel_futures=True)
        raise
    search.pool.shutdown()
    if not search.best.safe:
        search.begin()
    search.finish()
    return Pattern(
        search.cells.of_cells(search.best.hidden),
        "optimal",
        complete=search.best.proven,
        bound=search.best.bound,
        proposals=search.best.proposals,
    )


#: Up to so many cells the pattern costs no more than that of `sequential`.
_LARGEST = 3_000
#: Up to so many a cheaper one is looked for, with this share of the work that the first one took.
_SEARCHED, _SHARE = 2_000, 0.75
#: Or with so much: a fifth of a second; more for tables that are tied, whose proof takes longer.
_LEAST, _LEAST_TIED = 4 * 10**7, 5 * 10**8
#: To make a pattern takes as much as the first one took, but this share of the work at most.
_PATTERN = 0.85


def auto(problem: Problem) -> Pattern:
    """Find the cheapest pattern where that is quick, else a good one.

    Up to 3,000 cells it is never dearer than that of
    [`sequential`][diskret.suppression.sequential], which comes first and whose steps do not count.

    Parameters
    ----------
    problem
        With a deadline or a budget it is solved by [`optimal`][diskret.suppression.optimal];
        without, up to 2,000 cells by `optimal` with less work than `sequential` took (counted, so
        that the pattern is the same on every computer), up to 3,000 by `sequential`, and larger
        ones by [`modular`][diskret.suppression.modular].

    Returns
    -------
    Pattern
        That of the method chosen, which `Pattern.method` names.
    """
    if left_to_modular(problem):
        return modular(problem)
    if len(problem.cost) > _LARGEST:
        return optimal(problem)
    # of no account: what it costs is known from the table, so budgets mean the proof
    with counted() as taken:
        known = prepared(problem)
        first = in_sequence(replace(problem, work=Work()), known)
    if problem.limited:
        return _searched(problem, known, first)
    if len(problem.cost) > _SEARCHED:
        return first
    most = max(_SHARE * taken.done, _LEAST_TIED if problem.tied else _LEAST)
    with counted(most) as effort:
        own = Work(effort=effort)
        kept = min(taken.done / most, _PATTERN)
        found = _searched(replace(problem, work=own), known, first, kept)
    problem.work.step(own.done)
    return found


def left_to_modular(problem: Problem) -> bool:
    """Whether `auto` takes [`modular`][diskret.suppression.modular]: it is large, without limit."""
    return len(problem.cost) > _LARGEST and not problem.limited
