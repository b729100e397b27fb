"""How far two records are apart, which a protected one may be, and the nearest of them."""

# scipy has no type information for its trees.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.parallel import cores
from diskret.parameters import reading
from diskret.risk.keys import grouped
from diskret.risk.products import product
from diskret.risk.robust import robust_scale, robust_scatter

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

Codes = NDArray[np.int32]
Numbers = NDArray[np.float64]

#: More columns than this are a mistake; patterns of missing values are bits of an integer.
_MOST = 62

#: How distances are measured.
Metric = Literal["standardised", "robust", "mahalanobis", "robust_mahalanobis", "gower"]
#: Directions with less than this share of the largest variance count as none.
_FLAT = 1e-9
#: Numbers are right but for this share of themselves.
_ROUNDED = 1e-12


def _none() -> Codes:
    return np.zeros((0, 0), np.int32)


@dataclass(frozen=True, eq=False)
class Seen:
    """What an attacker sees of n records, or knows of them.

    Parameters
    ----------
    numbers
        Numeric variables, ``(n, p)``, NaN where missing.
    keys
        Codes of categorical variables, -1 where missing, ``(n, q)``; a difference counts as much
        as the whole range of a numeric variable.
    blocks
        Codes of categorical variables in which records have to agree, ``(n, b)``.
    """

    numbers: Numbers
    keys: Codes = field(default_factory=_none)
    blocks: Codes = field(default_factory=_none)

    def __post_init__(self) -> None:
        for name in ("keys", "blocks"):
            if not getattr(self, name).size:
                object.__setattr__(self, name, np.zeros((self.n, 0), np.int32))
        if self.width > _MOST:
            raise InputError(f"{self.width} variables are compared; choose at most {_MOST}")

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.numbers)

    @property
    def width(self) -> int:
        """Number of variables of all kinds."""
        return self.numbers.shape[1] + self.keys.shape[1] + self.blocks.shape[1]

    def take(self, rows: NDArray[np.intp]) -> Seen:
        """Some of the records."""
        return Seen(self.numbers[rows], self.keys[rows], self.blocks[rows])

    @cached_property
    def shown(self) -> NDArray[np.int64]:
        """The variables that each record shows, as bits, ``(n,)``."""
        there = [~np.isnan(self.numbers), self.keys >= 0, self.blocks >= 0]
        return np.concatenate(there, axis=1) @ (1 << np.arange(self.width, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Protected records that show the same variables, beside the originals that show them, too.

    Records that lie at the same place are put together.
    """

    rows: NDArray[np.intp]  # the protected records, (r,)
    #: where they lie, (a, d), for each record which of these places, (r,), and for each place one
    #: record of the file that lies there, (a,)
    points: Numbers
    of: NDArray[np.intp]
    first: NDArray[np.intp]
    #: the same of the originals: (b, d), (n,) with -1 for originals that are not compared, how many
    #: lie at each place, (b,), and one of them
    known: Numbers
    known_of: NDArray[np.intp]
    count: NDArray[np.int64]
    known_first: NDArray[np.intp]
    #: distance of each protected record to its original, (r,), infinite if that is not compared
    own: Numbers
    blur: Numbers  # by how much distances of each of them may be off, because numbers are rounded
    power: int  # see `Space`
    reach: float  # originals so far away or farther are of another block

    @cached_property
    def _tree(self) -> cKDTree:
        from scipy.spatial import cKDTree

        return cKDTree(self.known)

    @cached_property
    def _beside(self) -> NDArray[np.intp]:
        """For each place where in the tree the original lies of a record that lies there, (a,)."""
        at = np.empty(len(self.known), np.intp)
        at[self._tree.indices] = np.arange(len(at))
        return at[self.known_of[self.first]]

    def nearest(self, places: NDArray[np.intp], number: int) -> tuple[Numbers, NDArray[np.intp]]:
        """Distances and positions of the nearest places of originals, nearest first.

        `places`: positions in `points`. `number`: how many are wanted, at most b. Returns each
        ``(len(places), number)``.
        """
        if not self.known.shape[1]:  # nothing is shown: all lie at one place
            shape = (len(places), 1)
            return np.zeros(shape), np.zeros(shape, np.intp)
        wanted = np.arange(1, number + 1)
        # who lies close together is looked up one after another, in the same part of memory
        order = np.argsort(self._beside[places])
        near = self.points[places[order]]
        found = self._tree.query(near, k=wanted, p=self.power, workers=cores())
        distance, known = np.empty(found[0].shape), np.empty(found[1].shape, np.intp)
        distance[order], known[order] = found
        return distance, known


def comparisons(
    original: Seen, protected: Seen, space: Space, between: float = 1.0
) -> Iterator[Comparison]:
    """Compare protected records by what they show with the originals that show it, too.

    A protected record with a missing value is compared by its other variables. The records are
    looked at together with those that show the same variables.

    `original`, `protected`: the same n records before and after protection. `space`: of the numeric
    variables. `between`: how far two categories of a key are apart.
    """
    p, q = original.numbers.shape[1], original.keys.shape[1]
    for pattern in np.unique(protected.shown).tolist():
        rows = np.flatnonzero(protected.shown == pattern)
        candidates = np.flatnonzero((original.shown & pattern) == pattern)
        if not len(candidates):
            continue
        shown = np.array([at for at in range(original.width) if pattern >> at & 1], np.intp)
        numbers, keys, blocks = (
            shown[shown < p],
            shown[(shown >= p) & (shown < p + q)] - p,
            shown[shown >= p + q] - p - q,
        )
        both = original.take(candidates), protected.take(rows)
        place = [space.coordinates(seen.numbers, numbers) for seen in both]
        blur = space.blur(both[1].numbers, numbers)
        if len(keys):
            place = _with_keys(place, [seen.keys[:, keys] for seen in both], between)
        if space.power == 1:  # Gower's distance is a mean
            place = [at / max(len(numbers) + len(keys), 1) for at in place]
        own_at = np.full(original.n, -1, np.intp)
        own_at[candidates] = np.arange(len(candidates))
        own_at = own_at[rows]
        own = _distance(place[0][own_at], place[1], space.power)
        own[own_at < 0] = np.inf
        reach = np.inf
        if len(blocks):
            place, block, reach = _apart(place, [seen.blocks[:, blocks] for seen in both])
            own[block[0][own_at] != block[1]] = np.inf
        known, of_candidates, known_first = distinct(place[0])
        points, of, first = distinct(place[1])
        known_of = np.full(original.n, -1, np.intp)
        known_of[candidates] = of_candidates
        yield Comparison(
            rows,
            points,
            of,
            rows[first],
            known,
            known_of,
            np.bincount(of_candidates).astype(np.int64),
            candidates[known_first],
            own,
            blur,
            space.power,
            reach,
        )


def distinct(points: Numbers) -> tuple[Numbers, NDArray[np.intp], NDArray[np.intp]]:
    """The distinct rows, for each row which of them it is, and where each is first.

    >>> rows, of, first = distinct(np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 2.0]]))
    >>> rows.tolist(), of.tolist(), first.tolist()
    ([[1.0, 2.0], [0.0, 2.0]], [0, 1, 0], [0, 1])
    """
    number = np.zeros(len(points), np.uint64)
    for column in np.ascontiguousarray((points + 0.0).T):  # -0.0 becomes 0.0
        number = _mixed(number ^ column.view(np.uint64))
    ordered = np.sort(number)
    if (ordered[1:] != ordered[:-1]).all():  # equal rows have equal numbers
        every = np.arange(len(points))
        return points, every, every.copy()
    _, first, of = np.unique(number, return_index=True, return_inverse=True)
    if not np.array_equal(points[first][of], points):  # two rows with one number
        _, first, of = np.unique(points, axis=0, return_index=True, return_inverse=True)
        of = of.reshape(-1)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return points[first[order]], rank[of], first[order]


def _mixed(number: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread the bits of numbers over all 64 (a one-to-one mixing, modulo 2⁶⁴)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        number = (number ^ (number >> np.uint64(shift))) * np.uint64(factor)
    return number ^ (number >> np.uint64(31))


def _distance(one: Numbers, other: Numbers, power: int) -> Numbers:
    away = np.abs(one - other)
    return away.sum(axis=1) if power == 1 else np.sqrt(np.square(away).sum(axis=1))


def _with_keys(place: Sequence[Numbers], keys: Sequence[Codes], between: float) -> list[Numbers]:
    """Two categories are equally far apart, whichever they are."""
    made: list[Numbers] = []
    sizes = np.maximum(keys[0].max(axis=0), keys[1].max(axis=0)) + 1
    for at, codes in zip(place, keys, strict=True):
        columns = [
            # of two categories one coordinate tells enough
            between * (column[:, None] if size <= 2 else (column[:, None] == np.arange(size)) / 2)
            for column, size in zip(codes.T, sizes, strict=True)
        ]
        made.append(np.concatenate([at, *columns], axis=1))
    return made


def _apart(
    place: Sequence[Numbers], blocks: Sequence[Codes]
) -> tuple[list[Numbers], list[NDArray[np.intp]], float]:
    """One more coordinate that puts blocks farther apart than any two records of one block."""
    whole = np.concatenate(blocks)
    number, _ = grouped(list(whole.T), (whole.max(axis=0) + 1).tolist())
    low = np.minimum(place[0].min(axis=0), place[1].min(axis=0))
    high = np.maximum(place[0].max(axis=0), place[1].max(axis=0))
    gap = 2 * float((high - low).sum()) + 1
    block = [number[: len(place[0])], number[len(place[0]) :]]
    made: list[Numbers] = [
        np.column_stack([at, one * gap]).astype(np.float64)
        for at, one in zip(place, block, strict=True)
    ]
    return made, block, gap


@dataclass(frozen=True, eq=False)
class Space:
    """Where records lie, so that plain distances between them are those of a metric."""

    #: of each variable, (p,); a value is placed at (value - center) / width
    center: Numbers
    width: Numbers
    #: covariance of values placed so, (p, p), where the metric takes it out; else None
    scatter: Numbers | None
    power: int  # distances are Euclidean (2) or sums of absolute differences (1)

    def coordinates(self, values: Numbers, shown: NDArray[np.intp]) -> Numbers:
        """Where records lie by some of the variables.

        `values`: ``(n, p)``, complete in the variables `shown`. `shown`: positions of variables.
        Returns ``(n, d)``, with d at most the number of variables shown.
        """
        placed = (values[:, shown] - self.center[shown]) / self.width[shown]
        if self.scatter is None or not len(shown):
            return placed
        return product(placed, self._directions(self.scatter, shown))

    def blur(self, values: Numbers, shown: NDArray[np.intp]) -> Numbers:
        """How far rounding may move the coordinates of records, ``(n,)``; see `coordinates`.

        In relation to the values: where one of them is huge, all others lie at nearly one place.
        """
        center, width = self.center[shown], self.width[shown]
        moved = _ROUNDED * ((np.abs(values[:, shown]) + np.abs(center)) / width)
        if self.scatter is None or not len(shown):
            return moved.sum(axis=1)
        return (moved @ np.abs(self._directions(self.scatter, shown))).sum(axis=1)

    def _directions(self, scatter: Numbers, shown: NDArray[np.intp]) -> Numbers:
        """What takes variances and correlations out, ``(shown, d)``."""
        size, direction = np.linalg.eigh(scatter[np.ix_(shown, shown)])
        varies = size > _FLAT * max(size[-1], 0.0)
        return direction[:, varies] / np.sqrt(size[varies])


@reading
def space(original: Numbers, metric: Metric = "standardised") -> Space:
    """The scale of a metric, taken from the original values alone.

    Parameters
    ----------
    original
        Values before protection, ``(n, p)``, NaN where missing.
    metric
        ``"standardised"``: Euclidean distance in standard deviations. ``"robust"``: in median
        absolute deviations (standard deviations where that is 0). ``"mahalanobis"``: Euclidean,
        with variances and correlations taken out. ``"robust_mahalanobis"``: with those of the bulk
        of records. ``"gower"``: sum of absolute differences in ranges. Directions in which the
        original values do not vary, as with a total beside its parts, tell no record from another.

    Raises
    ------
    InputError
        The metric is unknown.

    Notes
    -----
    If both files were put on scales of their own, values that are all 20 % too high would count
    as unprotected, and a few outliers added to one file as protection.

    Examples
    --------
    >>> incomes = np.array([[1000.0, 1.0], [2000.0, 2.0], [3000.0, 6.0]])
    >>> space(incomes, "gower").coordinates(incomes, np.array([0, 1])).round(2).tolist()
    [[-0.5, -0.2], [0.0, 0.0], [0.5, 0.8]]
    """
    columns = [column[~np.isnan(column)] for column in original.T]
    scales = [_scale(column, metric) for column in columns]
    center, width = (np.array([scale[at] for scale in scales]) for at in (0, 1))
    scatter: Numbers | None = None
    if metric.endswith("mahalanobis"):
        whole = original[~np.isnan(original).any(axis=1)]
        placed = (whole - center) / width
        scatter = np.eye(len(width))
        if metric == "robust_mahalanobis" and len(placed):
            scatter = robust_scatter(placed).covariance
        elif len(placed):
            scatter = np.cov(placed, rowvar=False, bias=True).reshape(scatter.shape)
    return Space(center, width, scatter, 1 if metric == "gower" else 2)


def _scale(values: Numbers, metric: Metric) -> tuple[float, float]:
    """Centre and unit of one variable; the unit is 1 where all values agree."""
    if not len(values) or np.ptp(values) == 0:
        return (float(values[0]) if len(values) else 0.0), 1.0
    if metric.startswith("robust"):
        center, width = robust_scale(values[:, None])
        return float(center[0]), float(width[0])
    if metric == "gower":
        return float(np.median(values)), float(np.ptp(values))
    return float(values.mean()), float(values.std())
