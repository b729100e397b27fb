"""How far sensitive values of records that agree in their keys are from those of the file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.risk.distributions import Distributions


def nominal(found: Distributions) -> NDArray[np.float64]:
    """Earth mover's distance if all values are equally far from each other, ``(b,)``.

    Half the sum of absolute differences of the shares. Source: Li, Li and Venkatasubramanian
    (2007).
    """
    expected = found.expected[found.value]
    more = np.maximum(found.share - expected, 0.0)  # only values that are shown can have more
    return np.add.reduceat(more, found.start)


def ordered(found: Distributions) -> NDArray[np.float64]:
    r"""Earth mover's distance of values on a line, relative to its length, ``(b,)``.

    $\frac{1}{m-1} \sum_j |P_j - Q_j|$ with the cumulated shares of the m values, those of the
    records that agree and those of the file. Source: Li et al. (2007).

    Between two values that are shown P stands still while Q ascends, so the sum is taken piece
    by piece from sums of Q: the time depends on the values shown, not on m.
    """
    m = len(found.overall)
    if m == 1:
        return np.zeros(len(found.rows))
    upto = np.cumsum(found.overall) / found.overall.sum()
    below = np.concatenate([[0.0], np.cumsum(upto)])  # sums of Q before each value
    counted = np.cumsum(found.count)
    here = (counted - (counted - found.count)[found.start][found.owner]) / found.total[found.owner]
    last = np.append(found.start[1:], len(found.value)) - 1
    end = np.append(found.value[1:], m)
    end[last] = m
    # Q is below P up to the turn, above from there on
    turn = np.clip(np.searchsorted(upto, here), found.value, end)
    moved = here * (2 * turn - found.value - end)
    moved += below[found.value] + below[end] - 2 * below[turn]
    moved[found.start] += below[found.value[found.start]]  # before the first, P is 0
    return np.maximum(np.add.reduceat(moved, found.start), 0.0) / (m - 1)


def hierarchical(
    found: Distributions, ancestors: Sequence[NDArray[np.intp]]
) -> NDArray[np.float64]:
    r"""Earth mover's distance of values in a tree, ``(b,)``.

    Two values are as far apart as the lowest common node is high, relative to the height of the
    tree. The distance is then half the sum, over all nodes but the root, of the absolute
    differences of the nodes' shares, divided by the height. Source: Li et al. (2007).

    Parameters
    ----------
    found
        The distributions of v values.
    ancestors
        For each level below the root, from the leaves upwards, the number of the ancestor of each
        value on that level, ``(v,)`` each; as many as the tree is high.
    """
    total = np.zeros(len(found.rows))
    width = int(max(level.max() for level in ancestors)) + 1
    for level in ancestors:
        expected = np.bincount(level, weights=found.expected)
        node, of = np.unique(found.owner * width + level[found.value], return_inverse=True)
        share = np.bincount(of, weights=found.share)
        owner, at = np.divmod(node, width)
        total += np.bincount(owner, weights=np.maximum(share - expected[at], 0.0))
    return total / len(ancestors)
