"""An attacker who knows all rules of the noise: a Markov chain over all tables of whole numbers.

He knows that the same people have the same noise, how likely each noise is, and that empty cells
show 0. He asks planned tables: all variables but one, with a filter on it. Each answer is about
lines of the finest table, and how likely a line is as it is follows from the line alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
from _serve_answers import Seen
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

#: Log of how likely what cannot be is taken to be, so that the chain can pass through it.
_NEVER = -9.0
#: Counts whose frequencies are kept, from 0; the last stands for all larger ones.
KEPT = 4


def sampled(
    seen: Sequence[Seen],
    start: Floats,
    expected: Floats,
    noise: tuple[Counts, Floats],
    sweeps: int = 150,
    chains: int = 2,
) -> Floats:
    """How often each cell held 0, 1, 2, 3 or more people, shape ``(KEPT, cells)``.

    `start`: an estimate. `expected`: of each cell before its lines are looked at. `noise`: its
    values and the rows of their chances.
    """
    shape = start.shape
    filters, shown = [], []
    for axis in range(len(shape)):
        own = [one for one in seen if axis not in one.by]
        masks = [int(sum(1 << i for i in np.flatnonzero(one.kept[axis]))) for one in own]
        filters.append(np.array(masks, dtype=np.int64))
        lines = start.size // shape[axis]
        values = np.array([one.value.ravel() for one in own], dtype=np.int64).reshape(-1, lines)
        shown.append(np.ascontiguousarray(values.T))
    with np.errstate(divide="ignore"):
        rows = np.maximum(np.log(noise[1]), _NEVER)
    found = np.zeros((KEPT, start.size))
    for chain in range(chains):
        # where chains that begin elsewhere do not agree, nothing is sure
        draw = np.random.default_rng(chain)
        count = (draw.poisson(start) if chain else np.rint(start).astype(np.int64)).ravel()
        _chain(
            count, np.array(shape), *filters, *shown, rows, int(noise[0][0]),
            np.log(np.maximum(expected.ravel(), 1e-6)), sweeps, chain, found,
        )  # fmt: skip
    return found / found.sum(0)


_jit: Any = numba.njit(cache=False)

#: Shape of the gamma distribution that cells vary by around what is expected of them.
_SHAPE = 0.7


@_jit
def _log_prior(count: int, log_expected: float) -> float:
    """Negative binomial: few people, and now and then many."""
    mean = np.exp(log_expected)
    found = _SHAPE * np.log(_SHAPE / (_SHAPE + mean))
    for k in range(count):
        found += np.log((_SHAPE + k) / (k + 1.0) * mean / (_SHAPE + mean))
    return found


@_jit
def _line(line: Any, filters: Any, shown: Any, rows: Any, lowest: int, had: Any) -> float:
    """Log of how likely all answers about a line are."""
    filled = 0
    for i in range(len(line)):
        if line[i] > 0:
            filled |= 1 << i
    found = 0.0
    for j in range(len(filters)):
        own = filters[j] & filled
        had[j] = own
        if own == 0:
            if shown[j] != 0:
                found += _NEVER
            continue
        before = -1
        for k in range(j):
            if had[k] == own:
                before = k
                break
        if before >= 0:
            if shown[before] != shown[j]:
                found += _NEVER
            continue
        number = 0
        for i in range(len(line)):
            if own >> i & 1:
                number += line[i]
        at = shown[j] - number - lowest
        if at < 0 or at >= rows.shape[1]:
            found += _NEVER - 0.3 * abs(shown[j] - number)
        else:
            found += rows[min(number, rows.shape[0] - 1), at]
    return found


@_jit
def _chain(
    count: Any, shape: Any, f0: Any, f1: Any, f2: Any, f3: Any, y0: Any, y1: Any, y2: Any, y3: Any,
    rows: Any, lowest: int, log_expected: Any, sweeps: int, seed: int, found: Any,
) -> None:  # fmt: skip
    """Gibbs steps for single cells, and steps that move somebody along a line; in place."""
    np.random.seed(seed)  # noqa: NPY002
    strides = np.ones(4, dtype=np.int64)
    for axis in range(2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    line, had = np.zeros(64, dtype=np.int64), np.zeros(4096, dtype=np.int64)
    place = np.zeros(4, dtype=np.int64)
    options, weight = np.zeros(8, dtype=np.int64), np.zeros(8)
    for sweep in range(sweeps):
        for step in range(2 * len(count)):
            cell = step % len(count)
            rest = cell
            for axis in range(4):
                place[axis] = rest // strides[axis]
                rest -= place[axis] * strides[axis]
            other = -1
            if step >= len(count):
                axis = np.random.randint(4)  # noqa: NPY002
                code = np.random.randint(shape[axis])  # noqa: NPY002
                other = cell + (code - place[axis]) * strides[axis]
                if count[cell] == 0 or other == cell:
                    continue
            number = 0
            if other < 0:
                for value in range(max(count[cell] - 2, 0), count[cell] + 3):
                    options[number] = value
                    number += 1
                if options[0] > 0:
                    options[number] = 0
                    number += 1
            else:
                options[0], options[1], number = count[cell], count[cell] - 1, 2
            was, other_was = count[cell], count[other] if other >= 0 else 0
            for option in range(number):
                count[cell] = options[option]
                weight[option] = _log_prior(count[cell], log_expected[cell])
                if other >= 0:
                    count[other] = other_was + was - count[cell]
                    weight[option] += _log_prior(count[other], log_expected[other])
                for who in range(2 if other >= 0 else 1):
                    centre = cell if who == 0 else other
                    for axis in range(4):
                        along = (centre // strides[axis]) % shape[axis]
                        if who == 1 and centre - along * strides[axis] == (
                            cell - place[axis] * strides[axis]
                        ):
                            continue  # the line of both
                        first = centre - along * strides[axis]
                        for i in range(shape[axis]):
                            line[i] = count[first + i * strides[axis]]
                        above = first // (strides[axis] * shape[axis])
                        at = above * strides[axis] + first % strides[axis]
                        own = line[: shape[axis]]
                        if axis == 0:
                            weight[option] += _line(own, f0, y0[at], rows, lowest, had)
                        elif axis == 1:
                            weight[option] += _line(own, f1, y1[at], rows, lowest, had)
                        elif axis == 2:
                            weight[option] += _line(own, f2, y2[at], rows, lowest, had)
                        else:
                            weight[option] += _line(own, f3, y3[at], rows, lowest, had)
            top = weight[:number].max()
            total = 0.0
            for option in range(number):
                weight[option] = np.exp(weight[option] - top)
                total += weight[option]
            drawn = np.random.random() * total  # noqa: NPY002
            chosen = 0
            while chosen < number - 1 and drawn >= weight[chosen]:
                drawn -= weight[chosen]
                chosen += 1
            if other < 0 and sweep >= sweeps // 2:
                # the chance of each option, not only of the one that is drawn
                for option in range(number):
                    found[min(options[option], len(found) - 1), cell] += weight[option] / total
            count[cell] = options[chosen]
            if other >= 0:
                count[other] = other_was + was - count[cell]
