"""What a pattern lacks, as inequalities that every safe pattern satisfies.

If a group is to move by U, then for any multipliers y of the equations A z = 0 the slopes
r = e - Aᵀy of the other groups must add up to it: Σ max(r, 0)·up·x + max(-r, 0)·down·x ≥ U.
Multipliers are taken from the attacker's linear program over a choice x in fractions; they
are rounded first, so that every inequality is valid whatever the solver's tolerances.

Groups that are hidden almost certainly may give the most of a movement. If all of them are
chosen the others have the rest u to give, and if not, more; so the weights of the others can be cut
down to u: Σ min(weight, u) x ≥ u over the others (knapsack cover inequalities: Carr, Fleischer,
Leung and Phillips 2000, "Strengthening integrality gaps for capacitated network design and
covering problems", SODA, 106-115). Where levels are large this says much more than the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import fsum, inf

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.suppression.attacked_choice import Ask, Component, View, components
from diskret.suppression.changeable import Changeable
from diskret.suppression.changes import Reach
from diskret.suppression.surroundings import Movement, entries
from diskret.suppression.zero_one_program import Cut

#: Multipliers are rounded to fractions with this denominator: all up to tenths.
_PARTS = 2520
#: Smaller weights are raised to this: the solver would take them for nothing.
_LEAST_WEIGHT = 1e-5
_VIOLATED = 1e-3
#: Whole choices are judged more closely than fractions.
_NEAR = 1e-9
#: Components with more hidden groups are asked in surroundings first.
_LARGE = 5000
#: Choices for which a group that asked in vain is not asked, at most.
_LONGEST_REST = 8
_NOBODY = np.empty(0, dtype=np.int64)


class Attacks:
    """The requirements that are not shown yet, asked as linear programs.

    `cells`: the groups and their requirements.
    `shown`: what holds for every pattern.
    `fixed`: groups that every pattern hides, or may hide for nothing, bool, ``(g,)``.
    `seconds`: time left; nothing more is asked when it is up.
    """

    def __init__(
        self,
        cells: Changeable,
        shown: Reach,
        fixed: NDArray[np.bool_],
        seconds: Callable[[], float] = lambda: inf,
    ):
        self._seconds = seconds
        self._cells = cells
        self.fixed = fixed
        self._by_group = sparse.csc_array(cells.equations)
        self.asks = sorted(_asks(cells, shown), key=lambda ask: -ask.need)
        # where any group can do all that is needed, certain ones deserve no regard of their own
        room = np.concatenate((cells.down, cells.up))
        need = self.asks[0].need if self.asks else 0
        self._alike = bool(room[room > 0].min(initial=np.inf) >= need)
        # of each ask: equations to begin with, groups that met it, and when it is due again
        self._rows: dict[int, NDArray[np.int64]] = {}
        self._moved: dict[int, NDArray[np.int64]] = {}
        self._idle: dict[int, int] = {}
        self._rest: dict[int, int] = {}
        self._round = 0

    def of_rows(self) -> list[Cut]:
        """What each equation alone says of the groups that must move."""
        equations, cuts = self._cells.equations, []
        for ask in self.asks:
            start, end = self._by_group.indptr[ask.group : ask.group + 2]
            for row in self._by_group.indices[start:end].tolist():
                members = slice(equations.indptr[row], equations.indptr[row + 1])
                group, factor = equations.indices[members], equations.data[members]
                own = factor[group == ask.group][0]
                room = np.zeros(len(group))
                for sign in ask.signs:
                    room += self._room(group, -sign * factor / own, ask.need)
                room[group == ask.group] = 0
                cuts += self._cut(group, room)
        return cuts

    def companions(self, x: NDArray[np.float64]) -> list[Cut]:
        """No group is hidden alone in an equation: x of one needs x of others."""
        equations = self._cells.equations
        settled = np.zeros(equations.shape[0], dtype=bool)
        row = np.repeat(np.arange(equations.shape[0]), np.diff(equations.indptr))
        settled[row[self.fixed[equations.indices]]] = True
        total = np.bincount(row, x[equations.indices], equations.shape[0])
        here = ~settled[row] & (2 * x[equations.indices] > total[row] + _VIOLATED)
        cuts: list[Cut] = []
        for entry in np.flatnonzero(here).tolist():
            members = slice(equations.indptr[row[entry]], equations.indptr[row[entry] + 1])
            group = equations.indices[members].astype(np.int64)
            weight = np.where(group == equations.indices[entry], -1.0, 1.0)
            cuts.append(Cut(group, weight, 0.0))
        return cuts

    def of_fractions(self, x: NDArray[np.float64]) -> list[Cut]:
        """Inequalities that a choice in fractions violates, as far as it is worth while."""
        view = View(self._cells, np.where(self.fixed, 1.0, x), self._seconds)
        if self._alike:
            cuts, left = self._of_components(view, _VIOLATED)
        else:
            cuts, left = [], list(range(len(self.asks)))
        self._round += 1
        due = [number for number in left if self._rest.get(number, 0) <= self._round]
        found = self._of_surroundings(view, due)
        if not cuts and not found and len(due) < len(left):
            found = self._of_surroundings(view, sorted(set(left) - set(due)))
        return cuts + found

    def of_choice(self, x: NDArray[np.float64]) -> list[Cut]:
        """Inequalities that a choice of 0 and 1 violates; none if it has none, or time is up."""
        view = View(self._cells, np.where(self.fixed, 1.0, x), self._seconds)
        return self._of_components(view, _NEAR)[0]

    def _of_components(self, view: View, near: float) -> tuple[list[Cut], list[int]]:
        """What a choice lacks, from all equations that hang together; asks that are left.

        Of fractions, large components are left.
        """
        label_of_row, label = components(view.equations)
        by_component: dict[int, list[int]] = {}
        for number, ask in enumerate(self.asks):
            if not self._met(view, number):
                by_component.setdefault(int(label[view.column[ask.group]]), []).append(number)
        cuts: list[Cut] = []
        left: list[int] = []
        for component, numbers in by_component.items():
            columns = np.flatnonzero(label == component)
            if len(columns) > _LARGE and near > _NEAR:
                left += numbers
                continue
            if len(columns) > _LARGE:
                found, numbers = self._whole_of_surroundings(view, numbers)
                cuts += found
            rows = np.flatnonzero(label_of_row == component)
            attack = Component(view, columns, rows, view.equations[rows][:, columns])
            for number in numbers:
                if not self._met(view, number):
                    cuts += self._of_component(view, attack, number, near)
        return cuts, sorted(left)

    def _met(self, view: View, number: int) -> bool:
        """Whether movements that were found already are enough, or time is up."""
        if self._seconds() <= 0:
            return True
        moved = self._moved.get(number)
        if moved is not None and view.certain[moved].all():
            return True
        moved = view.met(self.asks[number])
        if moved is not None:
            self._moved[number] = moved
        return moved is not None

    def _of_surroundings(self, view: View, numbers: Iterable[int]) -> list[Cut]:
        """What fractions lack in the surroundings of groups; who lacks nothing rests a while."""
        cuts: list[Cut] = []
        for number in numbers:
            if self._met(view, number):
                continue
            found = self._of_shares(view, number)
            cuts += found
            idle = 0 if found else self._idle.get(number, 0) + 1
            self._idle[number] = idle
            self._rest[number] = self._round + min(2**idle, _LONGEST_REST)
        return cuts

    def _of_shares(self, view: View, number: int) -> list[Cut]:
        """What fractions lack around a group, if certain groups alone are not enough."""
        ask = self.asks[number]
        moves = self._among_certain(view, number, 1 - 1e-6)
        # what the certain groups lack, others must have, and none of them more than all of it
        rest = 1 - fsum(move.distance for move in moves)
        if not moves or rest <= 1e-6:
            return []
        moves = view.furthest(ask, rest, moves[-1].rows, 1 - _VIOLATED)
        if not moves:
            return []
        self._rows[number] = moves[-1].rows
        if fsum(move.distance for move in moves) >= 1 - _VIOLATED:
            return []
        limits = [(move.rows, move.duals) for move in moves]
        return self._cuts(ask, limits, view, _VIOLATED)

    def _whole_of_surroundings(
        self, view: View, numbers: Sequence[int]
    ) -> tuple[list[Cut], list[int]]:
        """What a whole choice lacks around groups, and asks that this does not settle."""
        cuts: list[Cut] = []
        left: list[int] = []
        for number in numbers:
            if self._met(view, number):
                continue
            moves = self._among_certain(view, number, 1 - _NEAR)
            found: list[Cut] = []
            if moves and fsum(move.distance for move in moves) < 1 - _NEAR:
                limits = [(move.rows, move.duals) for move in moves]
                found = self._cuts(self.asks[number], limits, view, _NEAR)
            cuts += found
            if not found:
                left.append(number)
        return cuts, left

    def _among_certain(self, view: View, number: int, enough: float) -> list[Movement]:
        """The furthest movements of certain groups; noted if they are possible and all it needs.

        Movements shorter than `enough` are not followed.
        """
        ask = self.asks[number]
        moves = view.furthest(ask, 0.0, self._rows.get(number, _NOBODY), enough)
        if (
            moves
            and all(move.possible for move in moves)
            and fsum(move.distance for move in moves) >= 1 - _NEAR
        ):
            self._rows[number] = moves[-1].rows
            for move in moves:
                view.note(move.column, move.change * ask.need)
            self._moved[number] = view.hidden[np.concatenate([move.column for move in moves])]
        return moves

    def _of_component(self, view: View, attack: Component, number: int, near: float) -> list[Cut]:
        """What a choice lacks, from all equations that hang together."""
        ask = self.asks[number]
        for cap in (1.0, np.inf) if near == _NEAR else (1.0,):
            found, duals, moved = attack.furthest(ask, cap)
            if duals and found >= 1 - _NEAR:
                self._moved[number] = moved
            if found >= 1 - near:
                return []
            cuts = self._cuts(ask, [(attack.rows, dual) for dual in duals], view, near)
            if cuts:
                return cuts
        return []

    def _cuts(
        self,
        ask: Ask,
        limits: Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]],
        view: View,
        near: float,
    ) -> list[Cut]:
        """The inequalities of these multipliers that a choice violates.

        `limits`: equations and multipliers for each of its directions. `near`: by how much they
        must be violated.
        """
        for parts in (_PARTS, 0):
            group, room = self._limit(ask, limits, parts)
            out: list[Cut] = []
            for hidden in (self.fixed, view.certain):
                for cut in self._cut(group, room, hidden):
                    if cut.weight @ view.x[cut.group] < cut.least - near:
                        out.append(cut)
            if out:
                return out
        return []

    def _limit(
        self,
        ask: Ask,
        limits: Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]],
        parts: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Groups, and what each contributes at most to a movement in units of the need."""
        equations = self._cells.equations
        groups: list[NDArray[np.int64]] = []
        rooms: list[NDArray[np.float64]] = []
        for sign, (rows, duals) in zip(ask.signs, limits, strict=True):
            y = np.rint(duals * parts) if parts else duals
            rows, y = rows[y != 0], y[y != 0]
            entry, size = entries(equations.indptr, rows)
            member = np.append(equations.indices[entry], ask.group)
            factor = np.append(equations.data[entry] * np.repeat(y, size), sign * (parts or 1))
            group, where = np.unique(member, return_inverse=True)
            slope = np.bincount(where, factor, len(group)) / (parts or 1)
            groups.append(group.astype(np.int64))
            rooms.append(self._room(group, slope, ask.need))
        group, where = np.unique(np.concatenate(groups), return_inverse=True)
        room = np.bincount(where, np.concatenate(rooms)).astype(np.float64)
        return group.astype(np.int64), room

    def _room(
        self, group: NDArray[np.integer], slope: NDArray[np.float64], need: float
    ) -> NDArray[np.float64]:
        """What each group contributes at most to a movement, in units of the need."""
        room = np.where(slope > 0, self._cells.up[group], self._cells.down[group])
        out = np.zeros(len(group))
        moves = slope != 0
        out[moves] = np.abs(slope[moves]) * (room[moves] / need)
        return out

    def _cut(
        self,
        group: NDArray[np.integer],
        room: NDArray[np.float64],
        hidden: NDArray[np.bool_] | None = None,
    ) -> list[Cut]:
        """The inequality over groups that can be chosen, as strong as it can be.

        Whatever is chosen of `hidden`, and be it all, the others must have the rest, of which
        no one needs to have more than all. `hidden` includes the fixed groups, its default.
        """
        within = (self.fixed if hidden is None else hidden)[group]
        least = 1 - room[within].sum()
        if least <= 1e-9:
            return []
        chosen = ~within & (room > 0)
        weight = np.minimum(room[chosen] / least, 1)
        return [Cut(group[chosen].astype(np.int64), np.maximum(weight, _LEAST_WEIGHT), 1.0)]


def _asks(cells: Changeable, shown: Reach) -> Iterator[Ask]:
    """The movements that are not shown, of primary groups."""
    for group in np.flatnonzero(shown.missing(cells) & cells.primary).tolist():
        below, above = int(cells.below[group]), int(cells.above[group])
        width = int(cells.width[group])
        if shown.up[group] < above:
            yield Ask(group, (1,), above)
        if shown.down[group] < below:
            yield Ask(group, (-1,), below)
        if shown.width[group] < width and width > max(above, below):
            yield Ask(group, (1, -1), width)
