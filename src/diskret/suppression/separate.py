"""What a pattern lacks, as inequalities that every safe pattern satisfies.

If a group is to move by U, then for any multipliers y of the equations A z = 0 the slopes
r = e - Aᵀy of the other groups must add up to it: Σ max(r, 0)·up·x + max(-r, 0)·down·x ≥ U.
Multipliers are taken from the attacker's linear program over a choice x in fractions; they
are rounded first, so that every inequality is valid whatever the solver's tolerances.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from diskret.suppression.exact import Reach
from diskret.suppression.linear import Program
from diskret.suppression.master import Cut
from diskret.suppression.reduce import Changeable

#: Multipliers are rounded to fractions with this denominator: all up to tenths.
_PARTS = 2520
#: Smaller weights are raised to this: the solver would take them for nothing.
_LEAST_WEIGHT = 1e-5
_VIOLATED = 1e-3


@dataclass(frozen=True)
class _Ask:
    """One movement that is required: of `group`, in one or both directions, by `need`."""

    group: int
    signs: tuple[int, ...]
    need: float


class Attacks:
    """The requirements that are not shown yet, asked as linear programs.

    Parameters
    ----------
    cells
        The groups and their requirements.
    shown
        What holds for every pattern.
    fixed
        Groups that every pattern hides, or may hide for nothing, bool, ``(g,)``.
    """

    def __init__(self, cells: Changeable, shown: Reach, fixed: NDArray[np.bool_]):
        self._cells = cells
        self.fixed = fixed
        self._transposed = sparse.csr_array(cells.equations.T)
        self._by_group = sparse.csc_array(cells.equations)
        self.asks = sorted(_asks(cells, shown), key=lambda ask: -ask.need)

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

    def of_choice(self, x: NDArray[np.float64], whole: bool) -> list[Cut]:
        """Inequalities that a choice violates; if it is whole and none is found, it has none."""
        x = np.where(self.fixed, 1.0, x)
        hidden = np.flatnonzero(x > 1e-7)
        equations = self._cells.equations[:, hidden]
        rows = np.flatnonzero(np.diff(equations.indptr))
        equations = equations[rows]
        m, k = equations.shape
        row, column = equations.nonzero()
        links = sparse.coo_array((np.ones(len(row), np.int8), (row, m + column)), (m + k, m + k))
        label = connected_components(links, directed=False)[1]
        of_group = np.full(len(x), -1)
        of_group[hidden] = label[m:]
        asks: dict[int, list[_Ask]] = {}
        for ask in self.asks:
            asks.setdefault(int(of_group[ask.group]), []).append(ask)
        cuts: list[Cut] = []
        for component, here in asks.items():
            columns = np.flatnonzero(label[m:] == component)
            its_rows = np.flatnonzero(label[:m] == component)
            attack = _Attack(
                self._cells, x, hidden[columns], rows[its_rows], equations[its_rows][:, columns]
            )
            for ask in here:
                for cut in self._against(attack, ask, whole):
                    cuts.append(cut)
                    if whole:
                        cuts += _cover(cut, x)
        return cuts

    def _against(self, attack: _Attack, ask: _Ask, whole: bool) -> Iterator[Cut]:
        if attack.met(ask):
            return
        for cap in (1.0, np.inf) if whole else (1.0,):
            found, duals = attack.furthest(ask, cap)
            if found >= 1 - (1e-9 if whole else _VIOLATED):
                return
            for parts in (_PARTS, 0):
                room = np.zeros(len(self._cells.down))
                for sign, dual in zip(ask.signs, duals, strict=True):
                    y = np.zeros(self._cells.equations.shape[0])
                    y[attack.rows] = np.rint(dual * parts) if parts else dual
                    slope = self._transposed @ y
                    slope[ask.group] += sign * (parts or 1)
                    room += self._room(np.arange(len(slope)), slope / (parts or 1), ask.need)
                group = np.flatnonzero(room)
                cuts = self._cut(group, room[group])
                for cut in cuts:
                    if cut.weight @ attack.x[cut.group] < cut.least - (1e-9 if whole else 1e-4):
                        yield cut
                        return

    def _room(
        self, group: NDArray[np.integer], slope: NDArray[np.float64], need: float
    ) -> NDArray[np.float64]:
        """What each group contributes at most to a movement, in units of the need."""
        room = np.where(slope > 0, self._cells.up[group], self._cells.down[group])
        out = np.zeros(len(group))
        moves = slope != 0
        out[moves] = np.abs(slope[moves]) * (room[moves] / need)
        return out

    def _cut(self, group: NDArray[np.integer], room: NDArray[np.float64]) -> list[Cut]:
        """The inequality over groups that can be chosen, as strong as it can be."""
        fixed = self.fixed[group]
        least = 1 - room[fixed].sum()
        if least <= 1e-9:
            return []
        chosen = ~fixed & (room > 0)
        weight = np.minimum(room[chosen] / least, 1)
        return [Cut(group[chosen].astype(np.int64), np.maximum(weight, _LEAST_WEIGHT), 1.0)]


class _Attack:
    """The attacker's linear program of one connected component of a choice."""

    def __init__(
        self,
        cells: Changeable,
        x: NDArray[np.float64],
        group: NDArray[np.int64],
        rows: NDArray[np.int64],
        equations: sparse.csr_array,
    ):
        self.x = x
        self.rows = rows
        self._group = group
        self._share = x[group]
        self._room_down, self._room_up = cells.down[group], cells.up[group]
        self._down, self._up = self._room_down * self._share, self._room_up * self._share
        self._lowest, self._highest = np.zeros(len(group)), np.zeros(len(group))
        self._program = Program(equations)
        self._everything = np.arange(len(group))

    def met(self, ask: _Ask) -> bool:
        """Whether a movement found already is enough."""
        at = int(np.searchsorted(self._group, ask.group))
        reached = sum(float((self._highest if s > 0 else -self._lowest)[at]) for s in ask.signs)
        return reached >= ask.need * (1 - 1e-9)

    def furthest(self, ask: _Ask, cap: float) -> tuple[float, list[NDArray[np.float64]]]:
        """How far a group can move, in units of the need, and the multipliers that limit it."""
        at = int(np.searchsorted(self._group, ask.group))
        index = np.array([at])
        down = np.minimum(self._room_down / ask.need, cap) * self._share
        up = np.minimum(self._room_up / ask.need, cap) * self._share
        down[at], up[at] = min(self._down[at] / ask.need, 1), min(self._up[at] / ask.need, 1)
        self._program.bound(self._everything, -down, up)
        total, duals = 0.0, []
        for sign in ask.signs:
            self._program.price(index, np.array([-float(sign)]))
            z = self._program.solve()
            dual = self._program.duals()
            self._program.price(index, np.zeros(1))
            if z is None:
                return 1.0, []
            total += sign * float(z[at])
            duals.append(dual)
            z = z * ask.need
            self._note(z)
            if np.all(-z <= self._up) and np.all(z <= self._down):
                self._note(-z)
        return total, duals

    def _note(self, z: NDArray[np.float64]) -> None:
        self._highest = np.maximum(self._highest, z)
        self._lowest = np.minimum(self._lowest, z)


def _asks(cells: Changeable, shown: Reach) -> Iterator[_Ask]:
    """The movements that are not shown, of primary groups."""
    for group in np.flatnonzero(shown.missing(cells) & cells.primary).tolist():
        below, above = int(cells.below[group]), int(cells.above[group])
        width = int(cells.width[group])
        if shown.up[group] < above:
            yield _Ask(group, (1,), above)
        if shown.down[group] < below:
            yield _Ask(group, (-1,), below)
        if shown.width[group] < width and width > max(above, below):
            yield _Ask(group, (1, -1), width)


def _cover(cut: Cut, x: NDArray[np.float64]) -> list[Cut]:
    """At least one of the groups must be chosen that a whole choice leaves out."""
    out = cut.group[x[cut.group] < 0.5]
    if len(out) == 0 or (len(out) == len(cut.group) and (cut.weight == 1).all()):
        return []
    return [Cut(out, np.ones(len(out)), 1.0)]
