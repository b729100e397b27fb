"""Which categories may become each other, and the matrix that then changes least (HiGHS)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from diskret.errors import InputError
from diskret.io.columns import some
from diskret.parameters import Whole
from diskret.solver import Solver, Status

#: Matrices that are made have at most so many rows.
_MOST_CATEGORIES = 3_000
#: Steps of the simplex method at most.
_PIVOTS = 200_000
#: Two values that do not become each other.
Forbidden = Iterable[Sequence[Any]]
#: So many places a value may move.
Band = Annotated[int, Whole(1)]


def least_change(
    categories: Sequence[Hashable],
    counts: NDArray[np.float64],
    most: float | Sequence[float],
    others: NDArray[np.bool_],
    cost: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Probabilities that keep frequencies, and values credible at most so much, at least cost.

    `counts`: True frequencies t, ``(L,)``. `most`: largest P(true = k | published = k), one or
    ``(L,)``. `others`: which category each may become, symmetric, ``(L, L)``. `cost`: of a change,
    symmetric, ``(L, L)``; None: 1.

    Because t R = t, the posterior of k is R_kk. Let x_kl = t_k r_kl be what goes from k to l.
    With costs and admissible transitions that are symmetric, x and its transpose are equally
    good and so is their mean: it is enough to look for a symmetric x, a number for each pair.
    Then t R = t holds by itself, and what is left is

        min Σ c_kl (x_kl + x_lk)  with  (1 − most_k) t_k ≤ Σ_l x_kl ≤ t_k.
    """
    size = len(categories)
    bound = np.broadcast_to(np.asarray(most, dtype=np.float64), (size,))
    if not ((bound >= 0) & (bound <= 1)).all():
        raise InputError(f"most= are probabilities, from 0 to 1, not {most!r}")
    price = np.ones((size, size)) if cost is None else np.asarray(cost, dtype=np.float64)
    if price.shape != (size, size) or not np.array_equal(price, price.T) or (price < 0).any():
        raise InputError(
            f"cost= is a symmetric matrix of numbers from 0, of shape ({size}, {size})"
        )
    there = counts > 0
    first, second = np.nonzero(np.triu(others & there & there[:, None]))
    share = counts / max(float(counts.sum()), 1.0)  # numbers near 1 suit the solver
    needed = (1 - bound) * share
    flow = np.zeros((size, size))
    if needed.any():
        found = _solved(size, first, second, price[first, second], needed, share)
        if found is None:
            raise _impossible(categories, needed, share, others)
        flow[first, second] = flow[second, first] = found
    return from_flow(flow, share)


def _solved(
    size: int,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    price: NDArray[np.float64],
    least: NDArray[np.float64],
    largest: NDArray[np.float64],
) -> NDArray[np.float64] | None:
    """What goes between each pair, or None if there is no way."""
    pairs = len(first)
    if not pairs:
        return None
    solver = Solver()
    pair, both = np.arange(0, 2 * pairs + 1, 2), np.stack([first, second], axis=1).ravel()
    matrix = sparse.csc_array((np.ones(2 * pairs), both, pair), shape=(size, pairs))
    most = np.minimum(largest[first], largest[second])
    solver.load(price, matrix, columns=(0, most), rows=(least, largest))
    status = solver.run(pivots=_PIVOTS)
    if status is Status.OUT_OF_WORK:
        raise InputError(
            f"what goes between {size} categories was not found within the work that is allowed; "
            "allow fewer transitions, or combine rare categories"
        )
    if status is not Status.OPTIMAL:
        return None
    return np.maximum(solver.x, 0.0)


def _impossible(
    categories: Sequence[Hashable],
    needed: NDArray[np.float64],
    share: NDArray[np.float64],
    others: NDArray[np.bool_],
) -> InputError:
    """Why nothing fits: a category that has too little to exchange with, if there is one."""
    short = np.flatnonzero(needed > others @ share)
    why = "the categories that may become each other are too few"
    if len(short):
        named = [categories[at] for at in short.tolist()]
        first = int(short[0])
        why = (
            f"{100 * needed[first]:.3g} % of all records would have to leave "
            f"{some('category', named)}, and those it may be exchanged with hold "
            f"{100 * (others[first] @ share):.3g} %"
        )
    return InputError(
        f"no matrix keeps the frequencies and makes values as little credible as most= says: {why};"
        " allow more transitions, or give frequent categories a larger most="
    )


def from_flow(flow: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities by a symmetric number of records that go from row to column.

    What does not go stays. A category without records stays as it is.
    """
    there = counts > 0
    made = np.where(there[:, None], flow / np.where(there, counts, 1.0)[:, None], 0.0)
    np.fill_diagonal(made, 0.0)
    made /= np.maximum(made.sum(axis=1, keepdims=True), 1.0)  # above 1 by the last digit
    np.fill_diagonal(made, np.maximum(1 - made.sum(axis=1), 0.0))
    return made


def admissible(
    categories: tuple[Hashable, ...], band: int | None, forbidden: Forbidden
) -> NDArray[np.bool_]:
    """Which other category each may become, ``(L, L)``; symmetric, the diagonal is False."""
    size = len(categories)
    if size > _MOST_CATEGORIES:
        raise InputError(
            f"there are {size:,} categories, so the matrix would have {size**2:,} probabilities; "
            f"recode the variable first, or change fewer variables together (up to "
            f"{_MOST_CATEGORIES:,} categories)"
        )
    others = ~np.eye(size, dtype=bool)
    if band is not None:
        places = np.arange(size)
        others &= np.abs(places[:, None] - places) <= band
    at = {value: place for place, value in enumerate(categories)}
    for pair in forbidden:
        first, second = _pair(pair, at)
        others[first, second] = others[second, first] = False
    return others


def category(value: Any) -> Hashable:
    """A category as it is compared: of several variables a tuple, numbers as Python has them."""
    if isinstance(value, list | tuple):
        return tuple(category(one) for one in value)  # pyright: ignore[reportUnknownVariableType]
    return value.item() if isinstance(value, np.generic) else value


def _pair(pair: Sequence[Any], at: Mapping[Hashable, int]) -> tuple[int, int]:
    if isinstance(pair, str) or len(pair) != 2:
        raise InputError(f"forbidden= lists pairs of values, [[a, b], …], not {pair!r}")
    values = [category(one) for one in pair]
    unknown = [value for value in values if value not in at]
    if unknown:
        raise InputError(
            f"forbidden= names {some('value', unknown)}, which does not occur; the values are "
            f"{_listed(list(at))}"
        )
    return at[values[0]], at[values[1]]


def _listed(values: Sequence[Any]) -> str:
    more = f", … ({len(values)} in all)" if len(values) > 8 else ""
    return ", ".join(map(repr, values[:8])) + more
