"""Loops over pairs of items: who would agree if a value were missing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel


@kernel
def difference(codes: NDArray[np.int32], a: int, b: int) -> int:  # pragma: no cover - compiled
    """The keys in which two rows show different values, as a set."""
    differ = 0
    for q in range(codes.shape[1]):
        if codes[a, q] != codes[b, q] and codes[a, q] >= 0 and codes[b, q] >= 0:
            differ |= 1 << q
    return differ


@kernel
def differences(
    codes: NDArray[np.int32], row: int, first: int, end: int
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """The keys in which a row differs from each of some others, as sets."""
    found = np.zeros(end - first, dtype=np.int64)
    for other in range(first, end):
        found[other - first] = difference(codes, row, other)
    return found


@kernel
def sharing(
    codes: NDArray[np.int32],
    count: NDArray[np.int64],
    keys: NDArray[np.int64],
    hidden: NDArray[np.bool_],
    rows: NDArray[np.int64],
    first: NDArray[np.int64],
    end: NDArray[np.int64],
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """How many records agree in some keys with what each of some rows still shows, ``(r,)``.

    `codes`, `count`: of all rows, ``(c, m)`` and ``(c,)``. `keys`: positions. `hidden`: by row and
    key, ``(c, m)``. `first`, `end`: those that each of the rows is compared with, ``(r,)``.
    """
    found = np.zeros(len(rows), dtype=np.int64)
    for i in range(len(rows)):
        row = rows[i]
        for other in range(first[i], end[i]):
            agree = True
            for q in keys:
                own, their = codes[row, q], codes[other, q]
                if own != their and own >= 0 and their >= 0 and not hidden[row, q]:
                    agree = False
                    break
            if agree:
                found[i] += count[other]
    return found


@kernel
def add_subsets(values: NDArray[np.float64]) -> None:  # pragma: no cover - compiled
    """Give each set the sum over all its subsets; sets are numbers of bits."""
    bit = 1
    while bit < len(values):
        for s in range(len(values)):
            if s & bit:
                values[s] += values[s ^ bit]
        bit *= 2


@kernel
def best_gap(
    codes: NDArray[np.int32],
    count: NDArray[np.int64],
    short: NDArray[np.int64],
    subset: NDArray[np.int64],
    price: NDArray[np.float64],
    donors: NDArray[np.int64],
    wanting: NDArray[np.int64],
    weight: NDArray[np.float64],
) -> tuple[int, int]:  # pragma: no cover - compiled
    """The record and the set of keys that, if hidden, lessen what is short most for their price.

    `codes`, `count`: of the rows, ``(r, m)`` and ``(r,)``. `short`: how many records each row is
    short of for each condition, ``(t, r)``. `subset`: the keys of each condition as a set,
    ``(t,)``. `price`: of each set of keys, ``(2^m,)``; inf: not allowed. `donors`: the rows whose
    records may hide something. `wanting`, `weight`: the rows to be helped, and what that is worth.
    Returns row and set; set 0 if nothing helps.
    """
    sets = 1 << codes.shape[1]
    gain = np.zeros(sets)
    own = np.zeros(sets)
    best, chosen, row = 0.0, 0, 0
    for j in donors:
        gain[:] = 0.0
        for i in range(len(wanting)):
            u = wanting[i]
            differ = difference(codes, j, u)
            for t in range(len(subset)):
                if short[t, u] > 0 and differ & subset[t]:
                    gain[differ & subset[t]] += weight[i]
        add_subsets(gain)
        # a record that is alone helps itself, if what it then shows is common enough
        if count[j] == 1:
            for t in range(len(subset)):
                if short[t, j] <= 0:
                    continue
                own[:] = 0.0
                for u in range(len(count)):
                    differ = difference(codes, j, u)
                    if differ & subset[t]:
                        own[differ & subset[t]] += count[u]
                add_subsets(own)
                for s in range(sets):
                    gain[s] += min(own[s], float(short[t, j]))
        for s in range(1, sets):
            if gain[s] / price[s] > best * (1 + 1e-9):
                best, chosen, row = gain[s] / price[s], s, j
    return row, chosen


@kernel
def hide(
    codes: NDArray[np.int32],
    count: NDArray[np.int64],
    agree: NDArray[np.int64],
    subset: NDArray[np.int64],
    row: int,
    hidden: int,
    new: int,
) -> None:  # pragma: no cover - compiled
    """Hide some keys of one record of a row; it becomes row `new`, behind those in use.

    `agree`, how many records each row agrees with for each condition, ``(t, r)``, is kept up to
    date.
    """
    keys = codes.shape[1]
    for q in range(keys):
        codes[new, q] = -1 if hidden >> q & 1 else codes[row, q]
    for t in range(len(subset)):
        agree[t, new] = agree[t, row]
    count[row] -= 1
    for u in range(new):
        if count[u] == 0:
            continue
        differ = difference(codes, row, u)
        for t in range(len(subset)):
            apart = differ & subset[t]
            if apart and not apart & ~hidden:
                agree[t, u] += 1
                agree[t, new] += count[u]
    count[new] = 1


@kernel
def show(
    codes: NDArray[np.int32],
    count: NDArray[np.int64],
    agree: NDArray[np.int64],
    need: NDArray[np.int64],
    subset: NDArray[np.int64],
    rows: int,
    row: int,
    key: int,
    code: int,
    anyway: bool,
) -> bool:  # pragma: no cover - compiled
    """Show a hidden key of a row of one record again, if all that agree less have enough left.

    With `anyway` it is shown in any case. `codes` and `agree` change if it is.
    """
    lost = np.zeros(len(subset), dtype=np.int64)
    for change in range(2):
        for u in range(rows):
            if count[u] == 0 or u == row or codes[u, key] < 0 or codes[u, key] == code:
                continue
            apart = difference(codes, row, u)
            for t in range(len(subset)):
                if subset[t] >> key & 1 and not apart & subset[t]:
                    if change:
                        agree[t, u] -= 1
                    else:
                        lost[t] += count[u]
                        if not anyway and agree[t, u] <= need[t, u]:
                            return False
        if change == 0:
            for t in range(len(subset)):
                if not anyway and agree[t, row] - lost[t] < need[t, row]:
                    return False
    for t in range(len(subset)):
        agree[t, row] -= lost[t]
    codes[row, key] = code
    return True
