"""Distances of many short rows, and the shape of those nearby, compiled: see `robust`."""

from __future__ import annotations

from typing import Any

import numpy as np

from diskret.kernel import kernel


@kernel
def squared_distances(rows: Any, center: Any, sphere: Any) -> Any:  # pragma: no cover - compiled
    """Squared length of ``(row - center) @ sphere`` for each row, ``(n,)``.

    rows: ``(n, p)``. center: ``(p,)``. sphere: ``(p, r)``.
    """
    n, p = rows.shape
    r = sphere.shape[1]
    found = np.empty(n)
    away = np.empty(p)
    for i in range(n):
        for j in range(p):
            away[j] = rows[i, j] - center[j]
        total = 0.0
        for k in range(r):
            along = 0.0
            for j in range(p):
                along += away[j] * sphere[j, k]
            total += along * along
        found[i] = total
    return found


@kernel
def moments(rows: Any, squared: Any, limit: float) -> Any:  # pragma: no cover - compiled
    """Mean ``(p,)`` and covariance ``(p, p)`` of the rows whose distance is at most a limit."""
    n, p = rows.shape
    center, covariance = np.zeros(p), np.zeros((p, p))
    number = 0
    for i in range(n):
        if squared[i] <= limit:
            number += 1
            for j in range(p):
                center[j] += rows[i, j]
    center /= number
    away = np.empty(p)
    for i in range(n):
        if squared[i] <= limit:
            for j in range(p):
                away[j] = rows[i, j] - center[j]
            for j in range(p):
                for k in range(j + 1):
                    covariance[j, k] += away[j] * away[k]
    for j in range(p):
        for k in range(j + 1):
            covariance[j, k] /= number
            covariance[k, j] = covariance[j, k]
    return center, covariance
