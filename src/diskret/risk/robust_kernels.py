"""Distances of many short rows, and the shape of those nearby, compiled: see `robust`."""

from __future__ import annotations

from typing import Any

import numpy as np

from diskret.kernel import kernel

#: Rows that are looked at together, variable by variable.
_TOGETHER = 256


@kernel
def squared_distances(columns: Any, center: Any, sphere: Any) -> Any:  # pragma: no cover - compiled
    """Squared length of ``(row - center) @ sphere`` for each row, ``(n,)``.

    columns: the rows, variable by variable, ``(p, n)``. center: ``(p,)``. sphere: ``(p, r)``.
    """
    p, n = columns.shape
    found = np.zeros(n)
    along = np.empty(_TOGETHER)
    for start in range(0, n, _TOGETHER):
        here = found[start : start + _TOGETHER]
        for k in range(sphere.shape[1]):
            along[:] = 0.0
            for j in range(p):
                column = columns[j, start : start + _TOGETHER]
                middle, weight = center[j], sphere[j, k]
                for i in range(len(column)):
                    along[i] += (column[i] - middle) * weight
            for i in range(len(here)):
                here[i] += along[i] * along[i]
    return found


@kernel
def moments(columns: Any, squared: Any, limit: float) -> Any:  # pragma: no cover - compiled
    """Mean ``(p,)`` and covariance ``(p, p)`` of the rows whose distance is at most a limit.

    columns: the rows, variable by variable, ``(p, n)``.
    """
    p, n = columns.shape
    # about half of the rows count, in no order: adding nothing is quicker than a branch
    counts = (squared <= limit).astype(np.float64)
    number = counts.sum()
    center, covariance = np.zeros(p), np.zeros((p, p))
    sums = np.zeros((p, p, _TOGETHER))  # many sums at a time, which processors do at once
    for start in range(0, n, _TOGETHER):
        count = counts[start : start + _TOGETHER]
        for j in range(p):
            column, total = columns[j, start : start + _TOGETHER], sums[j, 0]
            for i in range(len(column)):
                total[i] += count[i] * column[i]
    for j in range(p):
        center[j] = sums[j, 0].sum() / number
    sums[:] = 0.0
    for start in range(0, n, _TOGETHER):
        count = counts[start : start + _TOGETHER]
        for j in range(p):
            first, middle = columns[j, start : start + _TOGETHER], center[j]
            for k in range(j + 1):
                second, other = columns[k, start : start + _TOGETHER], center[k]
                total = sums[j, k]
                for i in range(len(first)):
                    total[i] += count[i] * (first[i] - middle) * (second[i] - other)
    for j in range(p):
        for k in range(j + 1):
            covariance[j, k] = covariance[k, j] = sums[j, k].sum() / number
    return center, covariance
