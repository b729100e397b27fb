"""Attackers of counts with noise. They start from answers, and share nothing with the service.

All see tables (`Seen`) and know codes. What else each knows stands with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from _serve_answers import Seen, by_finest
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, linprog, milp
from scipy.sparse import block_array, csr_array, eye_array

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


# ── the equations that answers are ──────────────────────────────────────────────────


class Equations:
    """Answers as sums of the cells of the finest table, those of the same variables together."""

    def __init__(self, seen: Sequence[Seen], shape: tuple[int, ...]):
        self.shape = shape
        #: Order of axes, cells of the finest table → rows that are shown, and filters.
        self._groups: list[tuple[tuple[int, ...], Any, Floats]] = []
        self.shown: list[Floats] = []
        of: dict[tuple[Any, ...], list[Seen]] = {}
        for one in seen:
            coarse = tuple((axis, one.coarse[axis].tobytes()) for axis in sorted(one.coarse))
            of.setdefault((one.by, coarse), []).append(one)
        for (by, _), group in of.items():
            rest = tuple(i for i in range(len(shape)) if i not in by)
            filters = np.empty((int(np.prod([shape[i] for i in rest])), len(group)))
            for at, one in enumerate(group):
                inside = np.ones(1)
                for axis in rest:
                    inside = np.outer(inside, one.kept[axis]).ravel()
                filters[:, at] = inside
            row = np.zeros(1, dtype=np.int64)
            for axis in by:
                own = group[0].coarse.get(axis, np.arange(shape[axis]))
                row = np.add.outer(row * (own.max() + 1), own).ravel()
            rows = csr_array((np.ones(len(row)), (row, np.arange(len(row)))))
            self._groups.append(((*by, *rest), rows, filters))
            self.shown.append(np.stack([one.value.ravel() for one in group], 1).astype(np.float64))

    def sums(self, cells: Floats) -> list[Floats]:
        """What the tables show of these cells without noise."""
        return [
            (rows @ cells.transpose(order).reshape(-1, len(filters))) @ filters
            for order, rows, filters in self._groups
        ]

    def back(self, parts: Sequence[Floats]) -> Floats:
        """For each cell, the sum of what belongs to the equations that it is in."""
        found = np.zeros(self.shape)
        for (order, rows, filters), part in zip(self._groups, parts, strict=True):
            own = (rows.T @ (part @ filters.T)).reshape([self.shape[i] for i in order])
            found += own.transpose(np.argsort(order).tolist())
        return found

    def ones(self) -> list[Floats]:
        """The same weight for all equations."""
        return [np.ones_like(part) for part in self.shown]

    def alike(self, filled: NDArray[np.bool_]) -> list[Floats]:
        """Weights: those that seem to hold the same records are one, as they have one noise.

        `filled`: the cells of the finest table that seem to hold somebody.
        """
        names = np.where(filled, np.random.default_rng(13).random(self.shape), 0.0)
        sets = [np.round(part, 9) for part in self.sums(names)]
        every = np.concatenate([part.ravel() for part in sets])
        _, at, number = np.unique(every, return_inverse=True, return_counts=True)
        found, start = list[Floats](), 0
        for part in sets:
            own = number[at[start : start + part.size]].reshape(part.shape)
            found.append(np.where(part > 0, 1 / own, 1.0))
            start += part.size
        return found

    def split(self) -> tuple[Equations, Equations]:
        """Four of five tables, and the fifth."""
        return self._some(lambda number: np.arange(number) % 5 != 4), self._some(
            lambda number: np.arange(number) % 5 == 4
        )

    def with_shown(self, shown: list[Floats]) -> Equations:
        """The same questions with other answers."""
        other = copy(self)
        other.shown = shown
        return other

    def _some(self, which: Callable[[int], NDArray[np.bool_]]) -> Equations:
        other = copy(self)
        chosen = [which(filters.shape[1]) for _, _, filters in self._groups]
        other._groups = [
            (order, rows, filters[:, keep])
            for (order, rows, filters), keep in zip(self._groups, chosen, strict=True)
        ]
        other.shown = [part[:, keep] for part, keep in zip(self.shown, chosen, strict=True)]
        return other


# ── estimates of all cells ──────────────────────────────────────────────────────────


def averaged(equations: Equations) -> Floats:
    """Who averages: what answers with a cell show beyond what is likely, less those without it."""
    cells = likely(equations)
    sums = equations.sums(cells)
    beyond = [y - s for y, s in zip(equations.shown, sums, strict=True)]
    number = equations.back(equations.ones())
    # the mean over all tables of the same variables stands for what is shown with half a cell
    mean = equations.back([np.repeat(b.mean(1)[:, None], b.shape[1], 1) for b in beyond])
    return np.maximum(cells + 2 * (equations.back(beyond) - mean) / np.maximum(number, 1), 0)


def likely(equations: Equations, rounds: int = 60) -> Floats:
    """What makes the answers most likely, were they Poisson counts: never below 0.

    Richardson (1972), "Bayesian-based iterative method of image restoration", JOSA 62; Lucy (1974).
    """
    sizes = equations.back([np.ones_like(part) for part in equations.shown])
    totals = [float(part.sum(0).max()) for part in equations.shown]
    cells = np.full(equations.shape, max(totals) / np.prod(equations.shape))
    for _ in range(rounds):
        sums = equations.sums(cells)
        ratio = [y / np.maximum(s, 1e-9) for y, s in zip(equations.shown, sums, strict=True)]
        cells *= np.where(sizes > 0, equations.back(ratio) / np.maximum(sizes, 1e-9), 1)
    return cells


@dataclass(frozen=True)
class Fit:
    """Estimates of all cells, and the variance of the noise that was used for them."""

    cells: Floats
    variance: float


def least_squares(equations: Equations, variance: float | None) -> Fit:
    """Least squares beside what is likely: cells not below 0, the same records counted once.

    `variance`: of the noise; None: unknown, the one that tells most of tables that are left out.
    """
    start = likely(equations)
    if variance is None:
        known, asked = equations.split()
        begun = likely(known)
        missed = dict[float, float]()
        for guess in (1.0, 3.0, 10.0):
            sums = asked.sums(_fitted(known, begun, guess, known.ones()))
            missed[guess] = sum(
                float(((y - s) ** 2).sum()) for y, s in zip(asked.shown, sums, strict=True)
            )
        variance = min((1.0, 3.0, 10.0), key=missed.__getitem__)
    cells = _fitted(equations, start, variance, equations.ones())
    for _ in range(2):
        cells = _fitted(equations, cells, variance, equations.alike(cells > 0.5))
    return Fit(cells, variance)


def _fitted(
    equations: Equations,
    start: Floats,
    variance: float,
    share: Sequence[Floats],
    steps: int = 30,
    passes: int = 3,
) -> Floats:
    """The least Σ w (y − Ax)²/V + Σ (x − start)²/τ, conjugate gradients; what is below 0 is 0."""
    weight = 1 / (start + 0.3 * np.sqrt(start) + 1e-3)
    free = np.ones(equations.shape, dtype=bool)
    cells = start
    scale = equations.back(share) / variance + weight
    for _ in range(passes):
        base = np.where(free, start, 0.0)
        sums = equations.sums(base)
        missing = [w * (y - s) for w, y, s in zip(share, equations.shown, sums, strict=True)]
        move, rest = np.zeros_like(base), np.where(free, equations.back(missing) / variance, 0.0)
        ahead = rest / scale
        along, now = ahead, float((rest * ahead).sum())
        for _ in range(steps):
            if now < 1e-9:
                break
            sums = equations.sums(along)
            turned = equations.back([w * s for w, s in zip(share, sums, strict=True)]) / variance
            turned = np.where(free, turned + weight * along, 0.0)
            length = now / float((along * turned).sum())
            move, rest = move + length * along, rest - length * turned
            ahead = rest / scale
            before, now = now, float((rest * ahead).sum())
            along = ahead + now / before * along
        cells = base + move
        free &= cells > 0
        cells = np.maximum(cells, 0)
    return cells


# ── how sure an attacker may be of an estimate ──────────────────────────────────────


@dataclass(frozen=True)
class Rehearsal:
    """Estimates of made-up cells whose counts the attacker knows, as he made them himself."""

    count: Counts
    estimate: Floats

    def between(self, low: int, estimate: Floats) -> Floats:
        """How likely a cell holds low + 1 and not low, both as likely before."""
        return self._chances(estimate, (low, low + 1), alike=True)[1]

    def chances(self, estimate: Floats) -> Floats:
        """How likely a cell holds 0, 1, 2 or more, shape ``(4, …)``."""
        return self._chances(estimate, (0, 1, 2, 3), alike=False)

    def _chances(self, estimate: Floats, counts: tuple[int, ...], alike: bool) -> Floats:
        """Frequencies of counts among made-up cells with much the same estimate."""
        count = np.minimum(self.count.ravel(), 3)
        own = [np.sort(self.estimate.ravel()[count == k]) for k in counts]
        inner = np.concatenate([part[:: max(len(part) // 60, 1)] for part in own])
        edges = np.unique(inner)
        found = []
        for part in own:
            cumulative = np.concatenate(([0], np.searchsorted(part, edges), [len(part)]))
            in_bin = _smoothed(np.diff(cumulative))
            found.append((in_bin + 0.5) / (len(part) + 0.5 * len(in_bin)) if alike else in_bin)
        chance = np.stack(found)
        if not alike:
            chance = chance + 0.2 * chance.sum(1, keepdims=True) / max(chance.sum(), 1)
        chance = chance / chance.sum(0)
        return chance[:, np.searchsorted(edges, estimate, side="right")]


def _smoothed(numbers: Counts) -> Floats:
    """Each beside its neighbours."""
    return np.convolve(np.pad(numbers, 1, mode="edge"), np.ones(3) / 3, mode="valid")


def same_noise(
    equations: Equations,
    made: Counts,
    sums: Sequence[Floats],
    noise: tuple[Counts, Floats] | float,
    draw: np.random.Generator,
) -> list[Floats]:
    """What an attacker's own service would show of people whom he made up.

    `noise`: its values and the rows of their chances, or no more than a variance.
    """
    names = np.where(made > 0, draw.random(made.shape), 0.0)
    sets = [np.round(part, 9) for part in equations.sums(names)]
    own, at = np.unique(np.concatenate([part.ravel() for part in sets]), return_inverse=True)
    count = np.zeros(len(own), dtype=np.int64)
    count[at] = np.rint(np.concatenate([part.ravel() for part in sums])).astype(np.int64)
    if isinstance(noise, tuple):
        values, rows = noise
        row = np.minimum(count, len(rows) - 1)
        drawn = (draw.random(len(own))[:, None] >= rows.cumsum(1)[row]).sum(1)
        shown = count + values[np.minimum(drawn, len(values) - 1)]
    else:
        shown = np.rint(count + draw.normal(0, np.sqrt(noise), count.shape))
        shown = np.where(count == 0, 0, np.maximum(shown, 0))
    ends = np.cumsum([part.size for part in sets])[:-1]
    apart = zip(np.split(shown[at], ends), sets, strict=True)
    return [values.reshape(part.shape).astype(np.float64) for values, part in apart]


def rehearsed(
    equations: Equations,
    cells: Floats,
    noise: tuple[Counts, Floats] | float,
    attack: Callable[[Equations], Floats],
    seed: int = 7,
) -> Rehearsal:
    """Make up people that look like the estimate, answer the same questions, and attack that."""
    draw = np.random.default_rng(seed)
    made = draw.poisson(cells)
    sums = equations.sums(made.astype(np.float64))
    own = equations.with_shown(same_noise(equations, made, sums, noise, draw))
    return Rehearsal(made, attack(own))


# ── who knows all other records ─────────────────────────────────────────────────────


def knows_all_others(
    seen: Sequence[Seen],
    others: Counts,
    target: NDArray[np.int64],
    present: NDArray[np.bool_],
    rows: Floats,
    noise: Counts,
    *,
    same: bool = True,
    most: int | None = None,
) -> tuple[Floats, Counts]:
    """How likely each target is there, both as likely before; and how many tables would count it.

    Parameters
    ----------
    seen
        Answers.
    others
        The finest table without any target. Of each target all others are known, other targets too.
    target
        Cells of the targets, by number, none twice.
    present
        Which are there. Of a target itself it decides nothing but which answers are real.
    rows, noise
        ``rows[n, i]``: how likely n records have the noise ``noise[i]``.
    same
        Whether cells of the same records are known to have one noise; else each is its own draw.
    most
        How many tables that would count a target are used: those that tell most, chosen before
        anything of them is known but who else is in them. None: all.
    """
    seen = [part for one in seen for part in by_finest(one)]
    draw = np.random.default_rng(11)
    name = draw.integers(1, 2**63, size=others.size, dtype=np.uint64).reshape(others.shape)
    true = others.copy()
    true.ravel()[target] += present
    place = np.array(np.unravel_index(target, others.shape))
    nobody = others.ravel()[target] == 0
    own_name = np.where(nobody, name.ravel()[target], 0).astype(np.uint64)
    filled = np.where(true > 0, name, 0).astype(np.uint64)

    sets, values = [], []
    counts_it = np.ones((len(seen), len(target)), dtype=bool)
    rest_set = np.zeros(counts_it.shape, dtype=np.uint64)
    size, shown = (np.zeros(counts_it.shape, dtype=np.int64) for _ in range(2))
    for i, one in enumerate(seen):
        rest = tuple(axis for axis in range(others.ndim) if axis not in one.by)
        inside = np.ones(1, dtype=bool)
        for axis in rest:
            inside = np.outer(inside, one.kept[axis]).ravel()
            counts_it[i] &= one.kept[axis][place[axis]]
        order, rows_of = (*one.by, *rest), one.value.size
        own_sets, own_size = (
            part.transpose(order).reshape(rows_of, -1)[:, inside].sum(1, dtype=part.dtype)
            for part in (filled, true)
        )
        at = np.zeros(len(target), dtype=np.int64)
        for axis in one.by:
            at = at * others.shape[axis] + place[axis]
        sets.append(own_sets)
        values.append(one.value.ravel())
        # the set of others in the cell of each target, how many they are, and what is shown
        rest_set[i] = own_sets[at] - np.where(present, own_name, 0).astype(np.uint64)
        size[i], shown[i] = own_size[at] - present, values[-1][at]
    every, first, number = np.unique(np.concatenate(sets), return_index=True, return_counts=True)
    value_of = np.concatenate(values)[first]

    evidence = np.zeros(len(target))
    for i in range(len(target)):
        kept = np.flatnonzero(counts_it[:, i])
        times = np.ones(len(kept), dtype=np.int64)
        if same and len(kept):
            _, one_each, times = np.unique(rest_set[kept, i], return_index=True, return_counts=True)
            kept = kept[one_each]
        n, y, of = size[kept, i], shown[kept, i], rest_set[kept, i]
        twin = np.zeros(len(kept), dtype=bool)
        at = np.minimum(np.searchsorted(every, of), len(every) - 1)
        if same and nobody[i]:
            # cells of the same others that the target is not in: one draw if it is absent
            found = np.where(every[at] == of, number[at], 0)
            twin = (n > 0) & (found > (0 if present[i] else times))
        with np.errstate(divide="ignore"):
            there, absent = (np.log(_chance(rows, noise, k, y)) for k in (n + 1, n))
        absent = np.where(twin, np.where(value_of[at] == y, 0.0, -np.inf), absent)
        if most is not None:
            chosen = np.lexsort((n, ~twin))[:most]
            there, absent, counts_it[:, i] = there[chosen], absent[chosen], False
            counts_it[kept[chosen], i] = True
        evidence[i] = np.clip(there - absent, -700, 700).sum()
    return 1 / (1 + np.exp(-np.clip(evidence, -700, 700))), counts_it.sum(0)


def _chance(rows: Floats, noise: Counts, size: Counts, shown: Counts) -> Floats:
    """How likely each count is shown as it is."""
    at = shown - size - noise[0]
    fits = (at >= 0) & (at < len(noise))
    row = np.minimum(size, len(rows) - 1)
    return np.where(fits, rows[row, np.clip(at, 0, len(noise) - 1)], 0.0)


# ── who tries all small tables that fit ─────────────────────────────────────────────


@dataclass(frozen=True)
class Fitting:
    """Whole numbers that fit best, and the least and largest of each that fits at all."""

    best: Counts
    lower: Counts
    upper: Counts


def fitting(seen: Sequence[Seen], shape: tuple[int, ...], largest: int, everybody: int) -> Fitting:
    """All tables of whole numbers that fit the answers.

    `largest`: no noise is larger. `everybody`: no cell holds more.

    Dinur and Nissim (2003), "Revealing information while preserving privacy", PODS.
    """
    equations = Equations(seen, shape)
    size = int(np.prod(shape))
    columns = [
        np.concatenate([part.ravel() for part in equations.sums(unit.reshape(shape))])
        for unit in np.eye(size)
    ]
    matrix = np.stack(columns, 1)
    shown = np.concatenate([part.ravel() for part in equations.shown])
    lowest = np.where(shown > 0, np.maximum(shown - largest, 1), 0)
    one = eye_array(len(shown))
    off = block_array([[matrix, -one], [-matrix, -one]], format="csc")
    best = milp(
        np.concatenate((np.zeros(size), np.ones(len(shown)))),
        integrality=np.concatenate((np.ones(size), np.zeros(len(shown)))),
        constraints=[
            LinearConstraint(off, ub=np.concatenate((shown, -shown))),  # pyright: ignore
            LinearConstraint(
                block_array([[matrix, 0 * one]], format="csc"), lowest, shown + largest
            ),  # pyright: ignore
        ],
        options={"node_limit": 50, "mip_rel_gap": 0.02},
    )
    ends = []
    for sign in (1, -1):
        for unit in np.eye(size):
            found = linprog(
                sign * unit,
                A_ub=np.concatenate((matrix, -matrix)),
                b_ub=np.concatenate((shown + largest, -lowest)),
                bounds=(0, everybody),
            )
            ends.append(sign * found.fun)
    lower, upper = np.array(ends).reshape(2, size)
    return Fitting(
        np.rint(best.x[:size]).astype(np.int64).reshape(shape),
        np.ceil(lower - 1e-6).astype(np.int64).reshape(shape),
        np.floor(upper + 1e-6).astype(np.int64).reshape(shape),
    )
