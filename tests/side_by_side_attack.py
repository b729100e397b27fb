"""An attack on several published tables with equations of its own, for the tests.

Cells are known by their codes, totals left out; every total is the sum of its parts.
"""

from itertools import product

import numpy as np
from scipy import sparse
from scipy.optimize import linprog


def unprotected(results):
    """Primary cells that the tables together narrow down too far, and all that are exact."""
    cells, value, equations = {}, {}, []
    low, high, width = {}, {}, {}
    for result in results:
        published, trees = result.published, [d.hierarchy for d in result.published.dimensions]
        names = [d.name for d in published.dimensions]
        number = np.empty(published.shape, dtype=object)
        for at in product(*map(range, published.shape)):
            key = frozenset(
                (name, tree.codes[i]) for name, tree, i in zip(names, trees, at, strict=True) if i
            )
            number[at] = key
            true = int(result.table.measure.sum[at])
            if published.suppressed[at]:
                cells.setdefault(key, len(cells))
                assert value.setdefault(key, true) == true
                needs = result.sensitivity
                if needs.unsafe[at]:
                    low[key] = max(low.get(key, 0), int(needs.lower[at]))
                    high[key] = max(high.get(key, 0), int(needs.upper[at]))
                    width[key] = max(width.get(key, 0), int(needs.sliding[at]))
            else:
                assert published.value[at] == true
                assert key not in cells, "published here, hidden there"
                value[key] = true
        for axis, tree in enumerate(trees):
            for code, children in enumerate(tree.children):
                if len(children):
                    total, *parts = (np.take(number, [c], axis).ravel() for c in (code, *children))
                    equations += zip(total, *parts, strict=True)
    return _narrow(cells, value, equations, low, high, width)


def _narrow(cells, value, equations, low, high, width):
    rows, columns, signs, right = [], [], [], []
    for total, *parts in equations:
        terms = [(total, 1), *((part, -1) for part in parts)]
        hidden = [(cells[key], sign) for key, sign in terms if key in cells]
        if hidden:
            rows += [len(right)] * len(hidden)
            columns += [at for at, _ in hidden]
            signs += [sign for _, sign in hidden]
            right.append(-sum(sign * value[key] for key, sign in terms if key not in cells))
    matrix = sparse.csr_array((signs, (rows, columns)), shape=(len(right), len(cells)))
    true = np.array([value[key] for key in cells], dtype=float)
    assert np.array_equal(matrix @ true, right)
    unit = true.max()
    least, most = true.copy(), true.copy()
    broken = []
    for key, at in cells.items():
        need = (low.get(key, 0), high.get(key, 0), max(width.get(key, 0), 1))
        for sign, far in ((1, need[0]), (-1, need[1])):
            if sign * (true[at] - [least, most][sign < 0][at]) >= max(far, 1) * (1 - 1e-6):
                continue
            price = np.zeros(len(cells))
            price[at] = sign
            answer = linprog(price, A_eq=matrix, b_eq=np.array(right) / unit, method="highs")
            if answer.status == 3:  # no end
                [least, most][sign < 0][at] = -sign * np.inf
                continue
            assert answer.status == 0, answer.message
            least, most = np.minimum(least, answer.x * unit), np.maximum(most, answer.x * unit)
        room = true[at] - least[at], most[at] - true[at], most[at] - least[at]
        if any(has < wants * (1 - 1e-6) for has, wants in zip(room, need, strict=True)):
            broken.append((sorted(key), room, need))
    return broken
