"""The cheapest change that moves one group, given what is hidden already."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.suppression.changeable import Changeable
from diskret.suppression.changes import Change, Part, Reach, checked
from diskret.suppression.detours import Detours
from diskret.suppression.linear import Program
from diskret.suppression.near_fraction import near_fraction

#: What a free movement costs where the shortest is looked for; the least price is about 1.
_LITTLE = 1e-3
#: The share of all room that is used where an answer is to have others beside it.
_INSIDE = 1 - 2.0**-10


def fulfil(
    search: Search,
    cells: Changeable,
    reach: Reach,
    group: int,
    seconds: Callable[[], float] | None = None,
    near: Callable[[bool], NDArray[np.float64] | None] | None = None,
    detours: Detours | None = None,
) -> Iterator[Change]:
    """Find changes that let a group move as far as required, one by one.

    Each is added to `reach` before it is given; whether they were enough is for the caller
    to read there. What the caller hides in between is free of charge for the next one.

    `seconds`: time left for programs in whole numbers; None leaves these out. `near`: a movement of
    the group up, or down, to which the nearest is looked for in place of the cheapest, if it knows
    one; groups that are published may have been part of it. `detours`: how other such movements led
    around these groups; no programme is asked where one of them is enough. Afterwards
    `search.cut_short` says whether there may be changes that an answer had no time or work for.
    """
    search.cut_short = False
    index = int(np.searchsorted(search.here.cell, group))
    if index == len(search.here.cell) or search.here.cell[index] != group:
        return

    asked = set[tuple[bool, int]]()

    def missing() -> int:
        return max(int(cells.width[group] - reach.width[group]), 0)

    def show(up: bool, distance: int) -> Iterator[Change]:
        shown = reach.up if up else reach.down
        if shown[group] >= distance or (up, distance) in asked:
            return
        asked.add((up, distance))
        begin = None if near is None else near(up)
        signed = distance if up else -distance
        for proposal, divisor in _proposals(search, index, signed, seconds, begin, detours):
            for change in checked(search.here, proposal, divisor):
                moves = (change.up if up else change.down)[change.cell == group]
                # what is not given to the caller must not count either
                if moves.max(initial=0) > shown[group]:
                    reach.add(change)
                    asked.clear()  # what the caller hides now may help
                    yield change
                if shown[group] >= distance:
                    return

    yield from show(True, int(cells.above[group]))
    yield from show(False, int(cells.below[group]))
    yield from show(True, int(reach.up[group]) + missing())
    yield from show(False, int(reach.down[group]) + missing())
    if missing():
        # neither side alone is enough: as far up as possible, then down for the rest
        furthest = search.furthest(index, int(reach.up[group]) + missing())
        yield from show(True, int(furthest + 1e-6))
        yield from show(False, int(reach.down[group]) + missing())


def _proposals(
    search: Search,
    index: int,
    distance: float,
    seconds: Callable[[], float] | None,
    near: NDArray[np.float64] | None = None,
    detours: Detours | None = None,
) -> Iterator[tuple[NDArray[np.float64], int | None]]:
    """Movements of a group, and what makes them whole if that is known.

    The nearest to one, the cheapest, one with small denominators near by, whole ones along it, or
    any.
    """
    if near is not None:
        if detours is not None:
            for proposal in detours.around(search.here, near):
                if proposal[index] * np.sign(distance) >= abs(distance) - 1e-6:
                    yield proposal, None
        proposal = search.nearest(index, distance, near)
        if proposal is None:
            return
        if detours is not None:
            detours.learn(search.here, near, proposal)
        yield proposal, None
    proposal = search.cheapest(index, distance)
    if proposal is None:
        return
    yield proposal, None
    if seconds is None:
        return
    if not search.here.whole:
        inside = search.cheapest_inside(index, distance)
        found = None if inside is None else near_fraction(search.here, inside, index)
        if found is not None:
            yield found
    along = search.cheapest_along(index, distance, proposal, seconds())
    # as cheap as fractions, up to the least price of a unit: there is nothing to look for
    if along is not None and search.paid(along) <= search.paid(proposal) + 1:
        yield along, None
    untouched = search.untouched(proposal)
    search.publish(untouched)
    nearby = search.cheapest_whole(index, distance, seconds())
    search.publish(untouched, False)
    whole = [found for found in (nearby, along) if found is not None]
    # what was cut short may be dearer than what is along the fraction, else it never is
    for found in sorted(whole, key=search.paid) if search.cut_short else whole:
        yield found, None
    proposal = search.cheapest_whole(index, distance, seconds())
    if proposal is not None:
        yield proposal, None


class Search:
    """Changes z = plus - minus of the groups of a part at least cost Σ price·|z|.

    Both halves start at their lower bound 0, so that the slack basis is the unchanged
    table and only the wanted movement violates it: few pivots lead to an optimum.

    `here`: what can change. `hidden`: which groups of the part move free of charge, bool, ``(k,)``.
    `price`: price of moving any other group by one unit, ``(k,)``. `seconds`: time left for an
    answer; None: all that it takes. `falling`: how many times as dear it is to move down.

    `cut_short`: whether an answer had too little time or work, since somebody last said no.
    """

    def __init__(
        self,
        here: Part,
        hidden: NDArray[np.bool_],
        price: NDArray[np.float64],
        seconds: Callable[[], float] | None = None,
        falling: NDArray[np.float64] | float = 1.0,
    ):
        self.here = here
        self._k = len(here.cell)
        self._price = np.where(hidden, 0, price)
        self._falling = np.broadcast_to(falling, self._k)
        self._fixed = np.zeros(self._k, dtype=bool)
        self._room = 1.0
        halves = sparse.hstack([here.equations, -here.equations], format="csr")
        self._program = Program(halves, here.unit, seconds)
        self.cut_short = False
        everything = np.arange(self._k)
        self._bound(everything)
        self._charge(everything)

    @cached_property
    def _by_group(self) -> sparse.csc_array:
        return sparse.csc_array(self.here.equations)

    @property
    def work(self) -> int:
        """What all answers took so far, see `Program`."""
        return self._program.work

    @contextmanager
    def all_it_takes(self) -> Generator[None]:
        """Let answers in fractions take as much work as they need, until time is up."""
        self._program.endless = True
        try:
            yield
        finally:
            self._program.endless = False

    def hide(self, index: NDArray[np.int64]) -> None:
        """Let these groups move free of charge from now on."""
        self._price[index] = 0
        self._charge(index)

    def publish(self, index: NDArray[np.int64], published: bool = True) -> None:
        """Fix these groups to their values, or release them again."""
        self._fixed[index] = published
        self._bound(index)

    def cheapest(self, index: int, distance: float) -> NDArray[np.float64] | None:
        """Proposal that moves a group at least this far (down if negative), or None."""
        if not self._aim(index, distance):
            return None
        proposal = self._answer(self._program.solve(cold=True))
        self._bound(np.array([index]))
        return proposal

    def cheapest_inside(self, index: int, distance: float) -> NDArray[np.float64] | None:
        """The same a little inside of the bounds of all other groups."""
        everything = np.arange(self._k)
        self._room = _INSIDE
        self._bound(everything)
        proposal = self.cheapest(index, distance)
        self._room = 1.0
        self._bound(everything)
        return proposal

    def nearest(
        self, index: int, distance: float, near: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """Proposal that differs least from a movement `near`, at its price; or None.

        What has to be different is as a rule little, and then few pivots lead there. There is
        such a proposal if and only if there is a cheapest one.
        """
        room = self.here.up[index] if distance > 0 else self.here.down[index]
        if abs(distance) > room or self._fixed[index]:
            return None
        at = np.union1d(np.flatnonzero(near), [index])
        here = near[at]
        stays = (
            np.where(self._fixed[at], 0, self.here.up[at]),
            np.where(self._fixed[at], 0, -self.here.down[at]),
        )
        most, least = stays[0] - here, stays[1] - here
        own = int(np.searchsorted(at, index))
        if distance > 0:
            least[own] = distance - here[own]
        else:
            most[own] = distance - here[own]
        self._program.bound(at, np.maximum(least, 0), np.maximum(most, 0))
        self._program.bound(at + self._k, np.maximum(-most, 0), np.maximum(-least, 0))
        change = self._answer(self._program.solve(cold=True))
        self._bound(at)
        return None if change is None else near + change

    def cheapest_whole(
        self, index: int, distance: float, seconds: float
    ) -> NDArray[np.float64] | None:
        """The same in whole units; where time or work runs out, the best found if there is one."""
        if not self._aim(index, distance):
            return None
        proposal = self._answer(self._program.solve_whole(seconds))
        self._bound(np.array([index]))
        return proposal

    def paid(self, movement: NDArray[np.float64]) -> float:
        """What a movement costs, beside what is free."""
        return float(self._price @ np.abs(movement))

    def cheapest_along(
        self, index: int, distance: float, proposal: NDArray[np.float64], seconds: float
    ) -> NDArray[np.float64] | None:
        """A short one in whole units, of what a proposal moves and what is free beside it.

        These are few, whatever the size of the part. There may be a cheaper one elsewhere.
        """
        moves = np.flatnonzero(proposal)
        rows = np.unique(self._by_group[:, moves].indices)
        beside = np.unique(self.here.equations[rows].indices)
        kept = np.union1d(moves, beside[(self._price[beside] == 0) & ~self._fixed[beside]])
        equations = sparse.csr_array(self._by_group[:, kept])
        few = replace(
            self.here,
            cell=self.here.cell[kept],
            equations=equations[np.diff(equations.indptr) > 0],
            down=self.here.down[kept],
            up=self.here.up[kept],
        )
        price = np.maximum(self._price[kept], _LITTLE)
        search = Search(few, np.zeros(len(kept), dtype=bool), price)
        short = search.cheapest_whole(int(np.searchsorted(kept, index)), distance, seconds)
        if short is None:
            return None
        out = np.zeros(self._k)
        out[kept] = short
        return out

    def untouched(self, proposal: NDArray[np.float64]) -> NDArray[np.int64]:
        """The groups that neither move free of charge nor in the proposal."""
        return np.flatnonzero((self._price > 0) & (proposal == 0) & ~self._fixed)

    def furthest(self, index: int, distance: float) -> float:
        """How far a group can move towards `distance` (down if negative)."""
        at, everything = np.array([index]), np.arange(self._k)
        room = self.here.up[index] if distance > 0 else self.here.down[index]
        far = np.array([min(abs(distance), room)])
        nothing = np.zeros(1)
        price, self._price = self._price, np.zeros(self._k)
        self._charge(everything)
        half, other = (at, at + self._k) if distance > 0 else (at + self._k, at)
        self._program.bound(half, nothing, far)
        self._program.bound(other, nothing, nothing)
        self._program.price(half, np.array([-1.0]))
        proposal = self._answer(self._program.solve(cold=True))
        self._price = price
        self._charge(everything)
        self._bound(at)
        return 0.0 if proposal is None else abs(float(proposal[index]))

    def _aim(self, index: int, distance: float) -> bool:
        """Demand the movement of one group; False if its own bounds forbid it."""
        room = self.here.up[index] if distance > 0 else self.here.down[index]
        if abs(distance) > room or self._fixed[index]:
            return False
        lower = np.array([distance, 0.0]) if distance > 0 else np.array([0.0, -distance])
        upper = np.array([room, 0.0]) if distance > 0 else np.array([0.0, room])
        self._program.bound(np.array([index, index + self._k]), lower, upper)
        return True

    def _bound(self, index: NDArray[np.int64]) -> None:
        free = ~self._fixed[index]
        nothing = np.zeros(len(index))
        up, down = (self._room * room[index] for room in (self.here.up, self.here.down))
        self._program.bound(index, nothing, np.where(free, up, 0))
        self._program.bound(index + self._k, nothing, np.where(free, down, 0))

    def _charge(self, index: NDArray[np.int64]) -> None:
        self._program.price(index, self._price[index])
        self._program.price(index + self._k, self._price[index] * self._falling[index])

    def _answer(self, answer: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        self.cut_short |= self._program.cut_short
        return None if answer is None else answer[: self._k] - answer[self._k :]
