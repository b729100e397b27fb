"""What is lost when keys are shown on coarser levels, as a share of all there is to lose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from diskret.microdata.lattice import Lattice, Node
from diskret.parameters import reading

#: Measures of loss by name, see `measure`.
Metric = Literal["entropy", "precision", "height", "discernibility", "class_size"]
#: Of a node and its hidden classes: the loss.
Loss = Callable[[Node, NDArray[np.bool_]], float]


@dataclass(frozen=True, eq=False)
class Measure:
    """A way to measure what is lost.

    Without hidden records the loss must not fall from any level to a coarser one, and hiding
    records must not make it smaller; so it bounds the loss of everything above from below.

    Parameters
    ----------
    known
        A lower bound of the loss of every combination of levels that is known beforehand, in the
        shape of the lattice.
    bound
        Of a node: the loss if nothing were hidden, or less if that is not known.
    loss
        Of a node and a mask of its hidden classes.
    """

    known: NDArray[np.float64]
    bound: Callable[[Node], float]
    loss: Loss


@reading
def measure(lattice: Lattice, metric: Metric | Loss) -> Measure:
    """A measure by its name.

    Parameters
    ----------
    lattice
        The keys and their levels.
    metric
        ``"entropy"``: bits needed to get from what is shown to the true values, by the
        frequencies of each key (de Waal and Willenborg 1999; non-uniform entropy of Gionis and
        Tassa 2009). ``"precision"``: mean share of the levels climbed (Sweeney 2002).
        ``"height"``: sum of levels climbed (Samarati 2001). ``"discernibility"``: for each record
        the number it is not told from, for a hidden one all (Bayardo and Agrawal 2005).
        ``"class_size"``: records for each class, hidden ones being one class (LeFevre et al.
        2006). All from 0 or above 0 to 1. Or a function of a node and its hidden classes; then
        every node that is safe is looked at.

    Raises
    ------
    InputError
        There is no such measure.
    """
    if callable(metric):
        return Measure(np.full(lattice.shape, -np.inf), lambda node: -np.inf, metric)
    if metric == "entropy":
        return _separable(lattice, *_entropy(lattice))
    if metric in ("precision", "height"):
        return _separable(lattice, *_climbed(lattice, weighted=metric == "precision"))
    if metric == "discernibility":
        return Measure(np.zeros(lattice.shape), _discernibility, _discernibility)
    return Measure(np.zeros(lattice.shape), _class_size, _class_size)


# ── losses that add up over keys and records ────────────────────────────────────────

#: For each key and level: what all records lose, and what a code of it still has to lose.
_Tables = list[list[tuple[float, NDArray[np.float64]]]]


def _separable(lattice: Lattice, tables: _Tables, everything: float) -> Measure:
    known = np.zeros(lattice.shape)
    for axis, levels in enumerate(tables):
        lost = np.array([loss for loss, _ in levels])
        known = known + lost.reshape([-1 if i == axis else 1 for i in range(known.ndim)])
    known /= everything or 1.0

    def bound(node: Node) -> float:
        return float(known[node.levels])

    def loss(node: Node, hidden: NDArray[np.bool_]) -> float:
        if not hidden.any():
            return bound(node)
        left = np.zeros(int(hidden.sum()))
        for levels, level, codes in zip(tables, node.levels, node.codes, strict=True):
            left += levels[level][1][codes[hidden]]
        return bound(node) + float(left @ node.count[hidden]) / (everything or 1.0)

    return Measure(known, bound, loss)


def _entropy(lattice: Lattice) -> tuple[_Tables, float]:
    n = lattice.keys.n
    tables: _Tables = []
    everything = 0.0
    for ladder, codes in zip(lattice.ladders, lattice.base.codes, strict=True):
        # a missing value has code -1, so it is counted last
        at = np.where(codes < 0, ladder.size, codes)
        single = np.bincount(at, weights=lattice.base.count, minlength=ladder.size + 1)
        there = single > 0
        levels: list[tuple[float, NDArray[np.float64]]] = []
        for size, lookup in zip(ladder.sizes, ladder.codes, strict=True):
            shown = np.where(lookup < 0, size, lookup)
            together = np.bincount(shown, weights=single, minlength=size + 1)
            lost = single[there] @ np.log2(together[shown[there]] / single[there])
            with np.errstate(divide="ignore"):
                levels.append((float(lost), np.log2(n / together)))
        tables.append(levels)
        everything += float(single[there] @ np.log2(n / single[there]))
    return tables, everything


def _climbed(lattice: Lattice, weighted: bool) -> tuple[_Tables, float]:
    n = lattice.keys.n
    tables: _Tables = []
    everything = 0.0
    for ladder in lattice.ladders:
        height = max(1, ladder.height)
        unit = 1 / height if weighted else 1.0
        tables.append(
            [
                (n * level * unit, np.full(size + 1, (height - level) * unit))
                for level, size in enumerate(ladder.sizes)
            ]
        )
        everything += n * height * unit
    return tables, everything


# ── losses by the size of classes ───────────────────────────────────────────────────


def _discernibility(node: Node, hidden: NDArray[np.bool_] | None = None) -> float:
    n, count = node.lattice.keys.n, node.count.astype(np.float64)
    alike = count if hidden is None else np.where(hidden, n, count)
    return float(count @ alike) / n**2


def _class_size(node: Node, hidden: NDArray[np.bool_] | None = None) -> float:
    number = 0 if hidden is None else int(hidden.sum())
    return 1 / (len(node.count) - number + bool(number))
