"""The best levels to show keys on: every class large enough, as little lost as possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from diskret.errors import ProtectionError
from diskret.io import Coded
from diskret.microdata.lattice import Ladder, Lattice, Node
from diskret.microdata.loss import Loss, Measure, Metric, measure
from diskret.parameters import Probability, Whole, reading
from diskret.progress import Progress, silent
from diskret.risk import Keys
from diskret.texts.numbers import Count

#: Which classes of a node satisfy something beyond their size, ``(c,)``.
Criterion = Callable[[Node], NDArray[np.bool_]]

_UNKNOWN, _UNSAFE, _SAFE, _EXAMINED = range(4)


@dataclass(frozen=True, eq=False)
class Generalised:
    """The best levels.

    Parameters
    ----------
    node
        Levels and classes.
    hidden
        For each class whether all its keys are to be suppressed, ``(c,)``.
    loss
        By the measure that was asked for.
    examined
        Combinations of levels whose classes were counted.
    lattice_size
        Combinations of levels that there are.
    """

    node: Node
    hidden: NDArray[np.bool_]
    loss: float
    examined: int
    lattice_size: int


@reading
def generalised(
    keys: Keys,
    ladders: Sequence[Ladder],
    k: Annotated[int, Whole(1)],
    suppression: Probability = 0.0,
    metric: Metric | Loss = "entropy",
    criterion: Criterion | None = None,
    monotone: bool = False,
    progress: Progress = silent,
) -> Generalised:
    """Find the combination of levels that loses least among those that are safe.

    A combination is safe if no more than a share of the records is in classes of fewer than
    `k`, or that do not satisfy the criterion; these records are to be suppressed. Records in
    small classes never become more on coarser levels, so a combination that is not safe rules
    out all finer ones, and one that is safe vouches for all coarser ones. The least loss is
    found by these marks and by lower bounds of the loss; it is the optimum of the whole lattice.
    Of equal losses that with the smallest sum of levels is taken, then that with the smallest
    levels of the first keys.

    Parameters
    ----------
    keys
        The records; a missing value is a category of its own.
    ladders
        The levels of each key.
    k
        Smallest number of records of a class.
    suppression
        Largest share of the records that may be suppressed, from 0 to 1.
    metric
        See `measure`.
    criterion
        Which classes of a node satisfy something more.
    monotone
        Whether records whose classes do not satisfy the criterion never become more on coarser
        levels; only then what is not safe because of it rules out finer ones.
    progress
        Called with ``("generalise", done, total)``: combinations ruled in or out.

    Raises
    ------
    InputError
        An option is not admissible.
    ProtectionError
        Not even the coarsest levels are safe.

    References
    ----------
    P. Samarati, "Protecting respondents' identities in microdata release", IEEE Transactions on
    Knowledge and Data Engineering 13 (2001); K. El Emam et al., "A globally optimal k-anonymity
    method for the de-identification of health data", Journal of the American Medical
    Informatics Association 16 (2009); F. Kohlmayer et al., "Flash: efficient, stable and optimal
    k-anonymity", IEEE PASSAT (2012).
    """
    lattice = Lattice(keys, ladders)
    search = _Search(
        lattice,
        k,
        floor(suppression * keys.n + 1e-9),
        measure(lattice, metric),
        criterion,
        monotone or criterion is None,
    )
    search.run(progress)
    if search.best is None:
        raise _impossible(search)
    node, hidden, loss = search.best
    return Generalised(node, hidden, loss, search.examined, search.state.size)


def distinct_values(keys: Keys, sensitive: Coded, least: int) -> Criterion:
    """The criterion that each class has so many distinct values of a sensitive variable.

    A missing value is a value of its own. Monotone: a class that satisfies it still does so
    together with others.
    """
    size = len(sensitive.categories) + 1
    pairs = np.unique(keys.classes.of.astype(np.int64) * size + (sensitive.codes + 1))

    def enough(node: Node) -> NDArray[np.bool_]:
        found = np.unique(node.merged[pairs // size].astype(np.int64) * size + pairs % size)
        return np.bincount(found // size, minlength=len(node.count)) >= least

    return enough


class _Search:
    """What is known of the combinations of levels, while they are searched."""

    def __init__(
        self,
        lattice: Lattice,
        k: int,
        limit: int,
        by: Measure,
        criterion: Criterion | None,
        monotone: bool,
    ) -> None:
        self.lattice, self.k, self.limit, self.by = lattice, k, limit, by
        self.criterion, self.monotone = criterion, monotone
        self.state = np.full(lattice.shape, _UNKNOWN, dtype=np.int8)
        self.bound = by.known.copy()
        self.order = _order(lattice.shape)
        self.examined = 0
        self.best: tuple[Node, NDArray[np.bool_], float] | None = None
        self._best_order = 0

    def run(self, progress: Progress) -> None:
        while (found := self._most_promising()) is not None:
            if self.state[found] == _SAFE or not self.monotone:
                self._examine(found)
            else:
                self._bisect(found)
            progress("generalise", int((self.state != _UNKNOWN).sum()), self.state.size)
        progress("generalise", self.state.size, self.state.size)

    def _open(self) -> NDArray[np.bool_]:
        """Where something better than the best can still be."""
        left = (self.state == _UNKNOWN) | (self.state == _SAFE)
        if self.best is None:
            return left
        loss = self.best[2]
        equal = (self.bound == loss) & (self.order < self._best_order)
        return left & ((self.bound < loss) | equal)

    def _most_promising(self) -> tuple[int, ...] | None:
        left = np.flatnonzero(self._open())
        if not len(left):
            return None
        bound = self.bound.ravel()[left]
        left = left[bound == bound.min()]
        at = left[np.argmin(self.order.ravel()[left])]
        return tuple(int(i) for i in np.unravel_index(at, self.state.shape))

    def _bisect(self, start: tuple[int, ...]) -> None:
        """Find where a path upwards becomes safe; what lies below and above is marked."""
        left = self._open() & (self.state == _UNKNOWN)
        path = [start]
        while True:
            at = path[-1]
            higher = [(*at[:i], at[i] + 1, *at[i + 1 :]) for i in range(len(at))]
            higher = [
                one for i, one in enumerate(higher) if one[i] < self.state.shape[i] and left[one]
            ]
            if not higher:
                break
            path.append(min(higher, key=lambda one: (self.bound[one], self.order[one])))
        low, high = 0, len(path)
        while low < high:
            middle = (low + high) // 2
            if self._examine(path[middle]):
                high = middle
            else:
                low = middle + 1

    def _examine(self, levels: tuple[int, ...]) -> bool:
        """Count the classes of a combination, mark what follows from them, keep the best."""
        node = self.lattice.node(levels)
        self.examined += 1
        small = node.count < self.k
        hidden = small if self.criterion is None else small | ~np.asarray(self.criterion(node))
        below = tuple(slice(None, level + 1) for level in levels)
        above = tuple(slice(level, None) for level in levels)
        decisive = hidden if self.monotone else small
        safe = bool(node.count[hidden].sum() <= self.limit)
        if node.count[decisive].sum() > self.limit:
            self.state[below] = _UNSAFE
        elif self.monotone:
            upper = self.state[above]
            upper[upper == _UNKNOWN] = _SAFE
        np.maximum(self.bound[above], self.by.bound(node), out=self.bound[above])
        if safe:
            loss, order = float(self.by.loss(node, hidden)), int(self.order[levels])
            if self.best is None or (loss, order) < (self.best[2], self._best_order):
                self.best, self._best_order = (node, hidden, loss), order
        self.state[levels] = _EXAMINED if safe else _UNSAFE
        return safe


def _order(shape: tuple[int, ...]) -> NDArray[np.int64]:
    """The rank of each combination by the sum of levels, then by the levels themselves."""
    height = np.zeros(shape, dtype=np.int64)
    for axis, size in enumerate(shape):
        height += np.arange(size).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    rank = np.empty(height.size, dtype=np.int64)
    rank[np.argsort(height.ravel(), kind="stable")] = np.arange(height.size)
    return rank.reshape(shape)


def _impossible(search: _Search) -> ProtectionError:
    top = search.lattice.node(tuple(size - 1 for size in search.state.shape))
    small = int(top.count[top.count < search.k].sum())
    fixed = [ladder.name for ladder in search.lattice.ladders if not ladder.height]
    if not small:
        return ProtectionError(
            "the further criterion fails on the coarsest levels, too; ask for less, or allow "
            "suppression="
        )
    stay = f" (no levels were given for {', '.join(map(repr, fixed))})" if fixed else ""
    return ProtectionError(
        f"even on the coarsest levels {small:,} of {search.lattice.keys.n:,} records "
        f"{Count(small):is|are} in classes of fewer than {search.k}{stay}; give levels for more "
        f"keys, allow suppression= of {small / search.lattice.keys.n:.2%} of the records, or ask "
        "for a smaller k"
    )
