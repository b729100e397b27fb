"""What a suppressed value costs: mostly 1, a little more where the key is important."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError

#: Importance decides between sets of values that cost the same, so it weighs little.
_LITTLE = 1e-4


def prices(
    names: Sequence[str],
    sizes: Sequence[int],
    importance: Sequence[str] | Mapping[str, float] | None = None,
    costs: Mapping[str, float] | None = None,
    keep: Collection[str] = (),
) -> NDArray[np.float64]:
    """The price of suppressing one value of each key, ``(m,)``.

    Parameters
    ----------
    names, sizes
        The keys, and how many distinct values each has.
    importance
        Keys from the most important to the least, or key → rank (1: most important); of
        solutions that cost the same, the one is taken that spares important keys. Keys that are
        not named are less important than those that are: the fewer distinct values, the more
        important, and of equal numbers the one that stands first in `names`.
    costs
        Key → cost of one value, above 0; inf: never suppressed. Keys that are not named cost 1.
    keep
        Keys that are never suppressed.

    Raises
    ------
    InputError
        A name is no key, a key has no rank, or a cost is not above 0.

    Examples
    --------
    >>> prices(["sex", "age"], [2, 90]).round(6).tolist()
    [1.0001, 1.00005]
    >>> prices(["sex", "age"], [2, 90], costs={"age": 3.0}, keep=["sex"]).round(6).tolist()
    [inf, 3.00015]
    """
    costs = dict(costs or {})
    for given, role in ((costs, "costs"), (keep, "keep"), (importance or (), "importance")):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise InputError(
                f"{role}= names {unknown[0]!r}, which is no key here; the keys are "
                f"{', '.join(map(repr, names))}"
            )
    wrong = [name for name, cost in costs.items() if not cost > 0]
    if wrong:
        raise InputError(
            f"a suppressed value of {wrong[0]!r} cannot cost {costs[wrong[0]]!r}; a cost is above 0"
        )
    cost = np.array([np.inf if name in keep else costs.get(name, 1.0) for name in names])
    rank = _ranks(names, sizes, importance)
    unit = cost[np.isfinite(cost)].min(initial=np.inf)
    made: NDArray[np.float64] = cost + (unit if np.isfinite(unit) else 0.0) * _LITTLE * (
        1 - (rank - 1) / len(names)
    )
    return made


def _ranks(
    names: Sequence[str],
    sizes: Sequence[int],
    importance: Sequence[str] | Mapping[str, float] | None,
) -> NDArray[np.float64]:
    """From 1, the most important; equal values have equal ranks."""
    named = list(importance or ())
    if len(named) > len(set(named)):
        raise InputError("importance= names a key twice; name each once")
    others = [name for _, name in sorted(zip(sizes, names, strict=True), key=lambda one: one[0])]
    others = [name for name in others if name not in named]
    ranks = importance if isinstance(importance, Mapping) else {n: i for i, n in enumerate(named)}
    last = max(ranks.values(), default=0.0)
    place = {**ranks, **{name: last + 1 + i for i, name in enumerate(others)}}
    value = np.array([float(place[name]) for name in names])
    return (np.unique(value, return_inverse=True)[1] + 1).astype(float)


def of_sets(price: NDArray[np.float64]) -> NDArray[np.float64]:
    """The price of each set of keys, ``(2^m,)``; sets are numbers of bits."""
    total = np.zeros(1)
    for one in price:
        total = np.concatenate([total, total + one])
    return total
