"""What records that agree show of a sensitive variable: l-diversity, t-closeness, likeness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from diskret.parameters import Whole, reading
from diskret.risk.distributions import Distributions

#: Increases of shares that come from rounding alone.
_ROUNDING = 1e-9


def distinct(found: Distributions) -> NDArray[np.float64]:
    """Number of different values, ``(b,)``: the largest l of distinct l-diversity.

    Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007).
    """
    return np.bincount(found.owner, minlength=len(found.rows)).astype(float)


def entropy(found: Distributions) -> NDArray[np.float64]:
    r"""Exponential of the entropy, ``(b,)``: the largest l of entropy l-diversity.

    $\exp(-\sum_v p_v \log p_v)$ with the shares of the values; it is the number of values if
    all are as frequent. Source: Machanavajjhala et al. (2007).
    """
    parts = found.share * np.log(found.share)
    return np.exp(-np.add.reduceat(parts, found.start))


@reading
def recursive(
    found: Distributions,
    l: Annotated[int, Whole(1)] = 2,  # noqa: E741
) -> NDArray[np.float64]:
    r"""Ratio of the largest frequency to all from the l-th on, ``(b,)``.

    Records are recursively (c, l)-diverse for every c above it: $r_1 < c (r_l + … + r_m)$ with
    descending frequencies; infinite with fewer than l values. Source: Machanavajjhala et al.
    (2007).

    Raises
    ------
    InputError
        l is below 1.
    """
    largest = np.maximum.reduceat(found.count, found.start)
    rest = found.total - largest if l == 2 else _from(found, l)
    with np.errstate(divide="ignore"):
        return largest / rest


def _from(found: Distributions, l: int) -> NDArray[np.int64]:  # noqa: E741
    """Records with the l-th most frequent value of each class, or a rarer one, ``(b,)``."""
    order = np.lexsort((-found.count, found.owner))
    place = np.arange(len(order)) - found.start[found.owner]
    return np.add.reduceat(np.where(place >= l - 1, found.count[order], 0), found.start)


def largest_share(found: Distributions) -> NDArray[np.float64]:
    """Share of the most frequent value, ``(b,)``: the smallest α of (α, k)-anonymity.

    Source: Wong, Li, Fu and Wang (2006).
    """
    return np.maximum.reduceat(found.count, found.start) / found.total


def nominal(found: Distributions) -> NDArray[np.float64]:
    """Earth mover's distance if all values are equally far from each other, ``(b,)``.

    Half the sum of absolute differences of the shares. Source: Li, Li and Venkatasubramanian
    (2007).
    """
    expected = found.expected[found.value]
    more = np.maximum(found.share - expected, 0.0)  # only values that are shown can have more
    return np.add.reduceat(more, found.start)


def ordered(found: Distributions, beside: Annotated[int, Whole(0)] = 0) -> NDArray[np.float64]:
    r"""Earth mover's distance of values on a line, relative to its length, ``(b,)``.

    $\frac{1}{m-1} \sum_j |P_j - Q_j|$ with the cumulated shares of the m values, those of the
    records that agree and those of the file. Source: Li et al. (2007).

    `beside`: so many values, the first, are no points of the line: missing, or codes for that. Each
    is as far from all others as the line is long.

    Between two values that are shown P stands still while Q ascends, so the sum is taken piece
    by piece from sums of Q: the time depends on the values shown, not on m.
    """
    if beside:
        from diskret.risk.line_kernels import beside_a_line

        return beside_a_line(found.start, found.value, found.share, found.expected, beside)
    m, n = len(found.overall), int(found.overall.sum())
    if m == 1:
        return np.zeros(len(found.rows))
    upto = np.cumsum(found.overall) / n
    below = np.concatenate([[0.0], np.cumsum(upto)])  # sums of Q before each value
    counted = np.cumsum(found.count)
    counted -= (counted - found.count)[found.start][found.owner]
    total = found.total[found.owner]
    here = counted / total
    end = np.append(found.value[1:], m)
    end[found.start[1:] - 1] = m
    # Q is below P up to the turn, the value of the record with that rank, above from there on
    rank = -(-counted * n // total)
    ranked = np.repeat(np.arange(m), found.overall)
    turn = np.clip(ranked[rank - 1], found.value, end)
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


def likeness(found: Distributions) -> NDArray[np.float64]:
    """Largest relative increase of a share, ``(b,)``: the smallest β of basic β-likeness.

    (p - q) / q with the share p of a value among the records that agree, and q in the file.
    Source: Cao and Karras (2012).
    """
    expected = found.expected[found.value]
    increase = np.maximum(found.share / expected - 1, 0.0)
    return np.maximum.reduceat(increase, found.start)


def enhanced_likeness(found: Distributions) -> NDArray[np.float64]:
    """The smallest β of enhanced β-likeness, ``(b,)``; infinite if there is none.

    The increase of a value with share q in the file may not exceed -log q either, which bounds what
    is learned of frequent values. Source: Cao and Karras (2012).
    """
    expected = found.expected[found.value]
    beyond = found.share / expected - 1 > -np.log(expected) + _ROUNDING
    return np.where(np.logical_or.reduceat(beyond, found.start), np.inf, likeness(found))


def disclosure(found: Distributions) -> NDArray[np.float64]:
    """Largest size of log(p / q), ``(b,)``: δ-disclosure privacy holds for every δ above it.

    Infinite if a value of the file does not occur among the records that agree, since its share
    is 0 there. Source: Brickell and Shmatikov (2008).
    """
    size = np.abs(np.log(found.share / found.expected[found.value]))
    complete = np.bincount(found.owner, minlength=len(found.rows)) == len(found.overall)
    return np.where(complete, np.maximum.reduceat(size, found.start), np.inf)
