"""The cheapest safe pattern, with a proof that none is cheaper; and where that is not quick."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from diskret.errors import ProtectionError
from diskret.suppression.greedy import Prepared, in_sequence, modular, prepared
from diskret.suppression.optimal_search import Closing
from diskret.suppression.problem import Pattern, Problem, Work


def optimal(problem: Problem, steps: int | None = None, first: Pattern | None = None) -> Pattern:
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
    steps
        How many are taken after the first safe pattern at most, unless the budget ends before.
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
    return _searched(problem, prepared(problem), steps, first)


def _searched(
    problem: Problem, known: Prepared, steps: int | None, first: Pattern | None
) -> Pattern:
    """See `optimal`; `known`: what was found before anything was hidden."""
    search = Closing(problem, known)
    if first is not None:
        search.know(first)
    if problem.limited or (steps is not None and first is None):
        # with a safe pattern at hand, no time for another one is no failure
        with suppress(*([] if first is None else [ProtectionError])):
            search.begin()
    if steps is not None:
        search.end_after(steps)
    # a solver in trouble ends the search: the pattern is safe, and the bound holds
    try:
        with suppress(ProtectionError):
            if not (search.best.safe and problem.deadline.passed):
                search.run()
    except KeyboardInterrupt:
        search.pool.shutdown(wait=False, cancel_futures=True)
        raise
    search.pool.shutdown()
    if not search.best.safe:
        search.begin()
    search.finish()
    problem.work.done = search.problem.work.done
    return Pattern(
        search.cells.of_cells(search.best.hidden),
        "optimal",
        complete=search.best.proven,
        bound=search.best.bound,
        proposals=search.best.proposals,
    )


#: Up to so many cells the cheapest pattern is looked for, with as many steps for the proof as
#: the first pattern took, but no fewer and no more than these.
_LARGEST, _FEWEST, _STEPS = 2_000, 200, 300
#: Up to so many cells the pattern costs no more than that of `sequential`.
_SEQUENTIAL = 3_000


def auto(problem: Problem) -> Pattern:
    """Find the cheapest pattern where that is quick, else a good one.

    Up to 3,000 cells it is never dearer than that of
    [`sequential`][diskret.suppression.sequential], which comes first and whose steps do not count.

    Parameters
    ----------
    problem
        With a deadline or a budget it is solved by [`optimal`][diskret.suppression.optimal];
        without, up to 2,000 cells by `optimal` with as many steps as `sequential` took, but 200 to
        300, up to 3,000 by `sequential`, and larger ones by
        [`modular`][diskret.suppression.modular].

    Returns
    -------
    Pattern
        That of the method chosen, which `Pattern.method` names.
    """
    size = len(problem.cost)
    if size > _SEQUENTIAL:
        return optimal(problem) if problem.limited else modular(problem)
    # of no account: what it costs is known from the table, so budgets mean the proof
    work = Work()
    known = prepared(problem)
    first = in_sequence(replace(problem, work=work), known)
    if problem.limited:
        return _searched(problem, known, None, first)
    if size <= _LARGEST:
        return _searched(problem, known, min(max(work.done, _FEWEST), _STEPS), first)
    return first
