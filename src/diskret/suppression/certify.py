"""Certify what holds already if only some given cells are suppressed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.parallel import cores
from diskret.suppression.exact import Change, Part, Reach, checked, part, part_of
from diskret.suppression.linear import Program
from diskret.suppression.reduce import Changeable

#: Components are put together in programs of about so many groups.
_BUNDLE = 1_000
#: Largest number of programs with random directions.
_ROUNDS = 8


def certify(cells: Changeable, hidden: NDArray[np.bool_], one_by_one: bool = True) -> Reach:
    """Show how far the `hidden` groups can move, as far as it is required.

    A few programs move all groups at once in random directions; then every component is
    asked for one group after the other. All changes use hidden groups only, so what is
    shown stays true if more is hidden.

    Parameters
    ----------
    cells
        The groups and their requirements.
    hidden
        Which groups are suppressed, bool, ``(g,)``.
    one_by_one
        Whether to ask for what random directions leave open.
    """
    reach = Reach(len(cells.down))
    show(cells, hidden, reach, one_by_one)
    return reach


def show(
    cells: Changeable,
    hidden: NDArray[np.bool_],
    reach: Reach,
    one_by_one: bool = True,
) -> list[Change]:
    """Add to `reach` what the `hidden` groups can show of what is missing; the changes found.

    Without `one_by_one` only by random directions: quick, but some groups may be left.
    """
    with ThreadPoolExecutor(cores()) as pool:
        bundles = pool.map(
            lambda groups: _show(cells, part_of(cells, groups), reach, one_by_one),
            _bundles(part(cells, hidden)),
        )
        return [change for found in bundles for change in found]


def _bundles(here: Part) -> list[NDArray[np.int64]]:
    """The groups of some components together, so that programs are neither tiny nor huge."""
    order = np.argsort(here.component, kind="stable")
    ends = np.flatnonzero(np.diff(here.component[order], append=-1))
    # the last component that begins in each stretch of so many groups ends a bundle
    cuts = ends[np.flatnonzero(np.diff(ends // _BUNDLE, append=-1))] + 1
    return [np.sort(here.cell[own]) for own in np.split(order, cuts[:-1]) if len(own)]


def _show(cells: Changeable, here: Part, reach: Reach, one_by_one: bool) -> list[Change]:
    found: list[Change] = []
    _together(cells, here, reach, found)
    if one_by_one:
        _one_by_one(cells, here, reach, found)
    return found


def _together(cells: Changeable, here: Part, reach: Reach, found: list[Change]) -> None:
    """Move as many groups as possible as far as needed, in random directions."""
    random = np.random.default_rng(0)
    k = len(here.cell)
    needed = cells.need[here.cell].astype(np.float64)
    # z = first + second; only the first, up to the need, is rewarded
    program = Program(sparse.hstack([here.equations, here.equations], format="csr"), here.unit)
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


def _one_by_one(cells: Changeable, here: Part, reach: Reach, found: list[Change]) -> None:
    """Ask every component for one group at a time; one program asks all components."""
    program = Program(here.equations, here.unit)
    program.bound(np.arange(len(here.cell)), -here.down, here.up)
    needed = cells.need[here.cell].astype(np.float64)
    for sign in (1.0, -1.0):
        asked = np.zeros(len(here.cell), dtype=bool)
        while True:
            wanted = np.flatnonzero(reach.missing(cells, here.cell) & ~asked)
            if len(wanted) == 0:
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
