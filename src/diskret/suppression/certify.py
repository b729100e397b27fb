"""Show what holds if only some given cells are suppressed, to methods and to the attack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack import Proposals, Requirements
from diskret.parallel import in_order, nothing
from diskret.suppression.blocks import Blocks, hide_in_blocks
from diskret.suppression.changeable import Changeable, changeable
from diskret.suppression.changes import Change, Part, Reach, change_of, checked, part, part_of
from diskret.suppression.linear import Program
from diskret.suppression.problem import Problem, Work

#: Components are put together in programs of about so many groups.
_BUNDLE = 1_000
#: Largest number of programs with random directions.
_ROUNDS = 8
#: Share of the time left for what primary groups show alone: the rest is asked for near them.
_ALONE = 0.25


def certify(
    cells: Changeable,
    hidden: NDArray[np.bool_],
    one_by_one: bool = True,
    seconds: Callable[[], float] | None = None,
    waiting: Callable[[], None] = nothing,
) -> Reach:
    """Show how far the `hidden` groups can move, as far as it is required.

    A few programs move all groups at once in random directions; then every component is
    asked for one group after the other. All changes use hidden groups only, so what is
    shown stays true if more is hidden.

    `hidden`: which groups are suppressed, bool, ``(g,)``. `seconds`: time left; None: all that it
    takes. `waiting`: called from time to time.
    """
    reach = Reach(len(cells.down))
    reach.by = tuple(show(cells, hidden, reach, one_by_one, seconds, waiting))
    return reach


def shown_alone(problem: Problem, cells: Changeable, one_by_one: bool = True) -> Reach:
    """What the primary groups of a problem show without secondaries, as far as there is time."""
    share = problem.deadline.share(_ALONE)
    return certify(
        cells,
        cells.primary,
        one_by_one,
        lambda: min(problem.seconds(), share.seconds()),
        problem.waiting,
    )


def show(
    cells: Changeable,
    hidden: NDArray[np.bool_],
    reach: Reach,
    one_by_one: bool = True,
    seconds: Callable[[], float] | None = None,
    waiting: Callable[[], None] = nothing,
) -> list[Change]:
    """Add to `reach` what the `hidden` groups can show of what is missing; the changes found.

    Without `one_by_one` only by random directions: quick, but some groups may be left.
    """
    bundles = in_order(
        lambda groups: _show(cells, part_of(cells, groups), reach, one_by_one, seconds),
        _bundles(part(cells, hidden)),
        waiting,
    )
    return [change for found in bundles for change in found]


def _bundles(here: Part) -> list[NDArray[np.int64]]:
    """The groups of some components together, so that programs are neither tiny nor huge."""
    order = np.argsort(here.component, kind="stable")
    ends = np.flatnonzero(np.diff(here.component[order], append=-1))
    # the last component that begins in each stretch of so many groups ends a bundle
    cuts = ends[np.flatnonzero(np.diff(ends // _BUNDLE, append=-1))] + 1
    return [np.sort(here.cell[own]) for own in np.split(order, cuts[:-1]) if len(own)]


def _show(
    cells: Changeable,
    here: Part,
    reach: Reach,
    one_by_one: bool,
    seconds: Callable[[], float] | None,
) -> list[Change]:
    found: list[Change] = []
    _together(cells, here, reach, found, seconds)
    if one_by_one:
        _one_by_one(cells, here, reach, found, seconds)
    return found


def _together(
    cells: Changeable,
    here: Part,
    reach: Reach,
    found: list[Change],
    seconds: Callable[[], float] | None,
) -> None:
    """Move as many groups as possible as far as needed, in random directions."""
    random = np.random.default_rng(0)
    k = len(here.cell)
    needed = cells.need[here.cell].astype(np.float64)
    # z = first + second; only the first, up to the need, is rewarded
    both = sparse.hstack([here.equations, here.equations], format="csr")
    program = Program(both, here.unit, seconds)
    everything = np.arange(2 * k)
    wanted = reach.missing(cells, here.cell)
    below = wanted & (reach.down[here.cell] < needed)
    above = wanted & (reach.up[here.cell] < needed)
    for _ in range(_ROUNDS):
        rise = np.where(below & above | ~wanted, random.random(k) < 0.5, above)
        ahead, behind = np.where(rise, here.up, here.down), np.where(rise, here.down, here.up)
        need = np.where(wanted, np.minimum(needed, ahead), ahead)
        rest = np.where(wanted, ahead, 0) - np.where(wanted, need, 0)
        program.bound(
            everything,
            np.concatenate((np.where(rise, -behind, -need), np.where(rise, 0, -rest))),
            np.concatenate((np.where(rise, need, behind), np.where(rise, rest, 0))),
        )
        program.price(everything[:k], np.where(wanted, np.where(rise, -1.0, 1.0), 0))
        answer = program.solve(cold=True)
        if answer is None:
            return
        for change in checked(here, answer[:k] + answer[k:]):
            reach.add(change)
            found.append(change)
        before = below.sum() + above.sum()
        wanted = reach.missing(cells, here.cell)
        below = wanted & (reach.down[here.cell] < needed)
        above = wanted & (reach.up[here.cell] < needed)
        if before - below.sum() - above.sum() <= 0.02 * before:
            return


def _one_by_one(
    cells: Changeable,
    here: Part,
    reach: Reach,
    found: list[Change],
    seconds: Callable[[], float] | None,
) -> None:
    """Ask every component for one group at a time; one program asks all components."""
    program = Program(here.equations, here.unit, seconds)
    program.bound(np.arange(len(here.cell)), -here.down, here.up)
    needed = cells.need[here.cell].astype(np.float64)
    for sign in (1.0, -1.0):
        asked = np.zeros(len(here.cell), dtype=bool)
        while True:
            wanted = np.flatnonzero(reach.missing(cells, here.cell) & ~asked)
            if len(wanted) == 0 or (seconds is not None and seconds() <= 0):
                break
            now = wanted[np.unique(here.component[wanted], return_index=True)[1]]
            asked[now] = True
            # without this cap an unbounded attacker's program is unbounded too
            lower, upper = -here.down[now], here.up[now]
            far = needed[now]
            program.bound(
                now,
                lower if sign > 0 else np.maximum(lower, -far),
                np.minimum(upper, far) if sign > 0 else upper,
            )
            program.price(now, np.full(len(now), -sign))
            answer = program.solve()
            program.bound(now, lower, upper)
            program.price(now, np.zeros(len(now)))
            if answer is not None:
                for change in checked(here, answer):
                    reach.add(change)
                    found.append(change)


# ── alternative tables that show what a pattern is worth, for the attack to check ─────


def propose(problem: Problem, suppressed: NDArray[np.bool_]) -> Proposals:
    """Look for changes of the suppressed cells that show every requirement.

    An attack that has to look for them itself knows nothing of blocks and original values. It
    checks each proposal, so a wrong or missing one costs time, never safety. Whole numbers that are
    hard to find are left to it: they take longer here, where nothing is known of what it found.

    `problem`: what is required; secondaries must be able to move by one unit. `suppressed`: A
    pattern of any method, bool, ``(n,)``. Gives not necessarily for every requirement.
    """
    within = replace(
        problem,
        requirements=_of_all(problem.requirements, np.flatnonzero(suppressed)),
        frozen=~suppressed,
        start=None,
        work=Work(),
    )
    cells = changeable(within)
    own = np.zeros(len(suppressed), dtype=bool)
    own[problem.requirements.cell] = True
    primary = np.zeros(len(cells.down), dtype=bool)
    primary[cells.group[own & (cells.group >= 0)]] = True
    reach = Reach(len(cells.down))
    changes = show(
        cells, primary, reach, one_by_one=False, seconds=within.seconds, waiting=problem.waiting
    )
    blocks = Blocks(problem.system.tables, cells.group)
    everything = np.ones(len(cells.down), dtype=bool)
    changes += hide_in_blocks(within, cells, blocks, everything, reach, share=1.0, whole=False)
    return proposals_of(cells, changes)


def _of_all(requirements: Requirements, cell: NDArray[np.int64]) -> Requirements:
    """The requirements, and one unit for all other cells."""
    at = np.searchsorted(cell, requirements.cell)

    def spread(levels: NDArray[np.int64], least: int) -> NDArray[np.int64]:
        out = np.full(len(cell), least, dtype=np.int64)
        out[at] = np.maximum(levels, least)
        return out

    return Requirements(
        cell,
        spread(requirements.lower, 0),
        spread(requirements.upper, 0),
        spread(requirements.sliding, 1),
    )


def proposals_of(cells: Changeable, changes: Sequence[Change]) -> Proposals:
    """Changes of groups, there and back, as differences of cells."""
    group: list[NDArray[np.int64]] = []
    step: list[NDArray[np.int64]] = []
    divisor: list[int] = []
    for change in changes:
        for possible, sign in ((change.there, 1), (change.back, -1)):
            if possible.any():
                group.append(change.cell[possible])
                step.append(sign * cells.scale * change.step[possible])
                divisor.append(change.divisor)
    starts = np.cumsum([0, *map(len, group)])
    members = np.flatnonzero(cells.group >= 0)
    shape = len(cells.down), len(cells.group)
    belongs = sparse.csr_array(
        (np.ones(len(members), dtype=np.int64), (cells.group[members], members)), shape=shape
    )
    moves = sparse.csr_array(
        (np.concatenate([*step, []]).astype(np.int64), np.concatenate([*group, []]), starts),
        shape=(len(group), shape[0]),
    )
    return Proposals(sparse.csr_array(moves @ belongs), np.array(divisor, dtype=np.int64))


def changes_of(cells: Changeable, proposals: Proposals) -> list[Change]:
    """The changes of groups that differences of cells are, without those that break anything."""
    steps = sparse.csr_array(proposals.difference.astype(np.int64))
    members = np.flatnonzero(cells.group >= 0)
    first = np.zeros(len(cells.down), dtype=np.int64)
    first[cells.group[members][::-1]] = members[::-1]
    own = sparse.csr_array(steps[:, first])
    own.data //= cells.scale
    belongs = sparse.csr_array(
        (np.ones(len(members), dtype=np.int64), (cells.group[members], members)),
        shape=(len(first), steps.shape[1]),
    )
    right = np.ones(steps.shape[0], dtype=bool)
    for left in (cells.scale * own @ belongs - steps, own @ cells.equations.T):
        left.eliminate_zeros()
        right &= np.diff(left.indptr) == 0
    found: list[Change] = []
    seen = set[bytes]()
    for row in np.flatnonzero(right).tolist():
        entries = slice(*own.indptr[row : row + 2].tolist())
        order = np.argsort(own.indices[entries])
        at, step = own.indices[entries][order].astype(np.int64), own.data[entries][order]
        at, step = at[step != 0], step[step != 0]
        if len(at):
            step = step * np.sign(step[0])  # the way back is told by the same change
        mark = at.tobytes() + step.tobytes()
        divisor = int(proposals.denominator[row])
        if mark not in seen and not (cells.whole and divisor > 1):
            seen.add(mark)
            found += change_of(cells, at, step, divisor)
    return found
