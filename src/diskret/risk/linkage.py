"""Distance-based record linkage: whose original is nearest to a protected record."""

# scipy has no type information for its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.parameters import Seed, Whole, reading
from diskret.risk.keys import total
from diskret.risk.neighbours import Comparison, Metric, Numbers, Seen, comparisons, space
from diskret.texts.numbers import Count

#: Distances that differ by less, in relation, or by what rounding explains, are the same.
_SAME = 1e-9
#: Pairs of places that are looked at together.
_BLOCK = 4_000_000
#: So many of the nearest are looked at.
Candidates = Annotated[int, Whole(1)]
#: Records of a sample; a matrix of the most of them squared takes 800 MB.
SampleSize = Annotated[int, Whole(1, 10_000)]


@dataclass(frozen=True, eq=False)
class Links:
    """How well protected records lead to their originals. Confidential.

    Parameters
    ----------
    correct
        For each protected record the probability that the nearest original is its own, ``(n,)``:
        1/m if m originals are nearest and its own is among them, else 0.
    among
        The same for a random choice of as many of the nearest originals as there are `candidates`.
    distance
        Of each record to its own original, ``(n,)``; NaN if they cannot be compared.
    candidates
        See above.
    """

    correct: Numbers
    among: Numbers
    distance: Numbers
    candidates: int

    @property
    def expected(self) -> float:
        """Expected number of correct links."""
        return total(self.correct)

    @property
    def share(self) -> float:
        """Expected share of correct links."""
        return self.expected / len(self.correct)

    @property
    def share_among(self) -> float:
        """Expected share of records whose own original is among the candidates."""
        return total(self.among) / len(self.among)


@reading
def linked(
    original: Seen, protected: Seen, metric: Metric = "standardised", candidates: Candidates = 1
) -> Links:
    """Link every protected record with the nearest original.

    Parameters
    ----------
    original, protected
        The same n records before and after protection, in the same order.
    metric
        See [`space`][diskret.risk.neighbours.space]; keys need ``"gower"``.
    candidates
        An attacker with other means to choose looks at so many of the nearest.

    Raises
    ------
    InputError
        The files do not have the same records or variables, or an option is out of range.

    Notes
    -----
    A record with a missing value is compared by its other variables, with the originals that show
    these. Memory is proportional to n; a k-d tree finds the nearest.

    References
    ----------
    Pagliuca and Seri (1999), "Some results of individual ranking method on the system of enterprise
    accounts annual survey"; Domingo-Ferrer and Torra (2001), "A quantitative comparison of
    disclosure control methods for microdata".

    Examples
    --------
    >>> original = Seen(np.array([[1.0], [2.0], [3.0], [9.0]]))
    >>> protected = Seen(np.array([[1.5], [1.5], [3.1], [2.9]]))
    >>> linked(original, protected).correct.tolist()
    [0.5, 0.5, 1.0, 0.0]
    """
    _check(original, protected, metric)
    found = Links(
        np.zeros(protected.n),
        np.zeros(protected.n),
        np.full(protected.n, np.nan),
        candidates,
    )
    for one in comparisons(original, protected, space(original.numbers, metric)):
        comparable = np.isfinite(one.own)
        found.distance[one.rows[comparable]] = one.own[comparable]
        closer, tied = _closer(one, candidates)
        there = one.rows[tied > 0]
        closer, tied = closer[tied > 0], tied[tied > 0]
        found.correct[there] = (closer == 0) / tied
        found.among[there] = np.clip((candidates - closer) / tied, 0.0, 1.0)
    return found


def _closer(one: Comparison, candidates: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Originals closer than its own to each record, and as close; 0 as close if nobody asks."""
    closer, tied = np.zeros((2, len(one.rows)), np.int64)
    todo = np.flatnonzero(np.isfinite(one.own))
    number = min(candidates + 1, len(one.known))
    while len(todo):
        later: list[NDArray[np.intp]] = []
        todo = todo[np.argsort(one.of[todo], kind="stable")]
        size = max(_BLOCK // number, 1)
        for start in range(0, len(todo), size):
            rows = todo[start : start + size]
            places, at = np.unique(one.of[rows], return_inverse=True)
            far, who = one.nearest(places, number)
            count = one.count[who]
            own = one.own[rows][:, None]
            slack = _SAME * own + one.blur[rows][:, None]
            less, same = far[at] < own - slack, np.abs(far[at] - own) <= slack
            closer[rows] = (count[at] * less).sum(axis=1)
            tied[rows] = (count[at] * same).sum(axis=1)
            hopeless = closer[rows] >= candidates
            tied[rows[hopeless]] = 0
            open_ = ~hopeless & (less | same)[:, -1] & (number < len(one.known))
            later.append(rows[open_])
        todo = np.concatenate(later)
        number = min(2 * number, len(one.known))
    return closer, tied


@dataclass(frozen=True)
class Assignment:
    """One-to-one links of a sample of records. Confidential.

    Parameters
    ----------
    records
        Size of the sample.
    correct
        Expected number of correct links; records that cannot be told apart share theirs.
    """

    records: int
    correct: float

    @property
    def share(self) -> float:
        """Share of correct links among the records of the sample."""
        return self.correct / self.records


@reading
def assigned(
    original: Seen,
    protected: Seen,
    metric: Metric = "standardised",
    *,
    sample: SampleSize = 1_000,
    seed: Seed,
) -> Assignment:
    """Link protected records and originals of a sample one to one, with the least sum of distances.

    Parameters
    ----------
    original, protected, metric
        As for [`linked`][diskret.risk.linkage.linked].
    sample
        Number of records that are drawn, at most 10,000; memory grows with its square. The fewer,
        the easier are they told apart: the share is that of an attacker who knows that just these
        records are in the file.
    seed
        Of the draw.

    Raises
    ------
    InputError
        As for `linked`; or the sample is too large.

    Examples
    --------
    >>> original = Seen(np.array([[1.0], [2.0], [3.0], [9.0]]))
    >>> protected = Seen(np.array([[1.9], [2.1], [3.1], [4.0]]))
    >>> linked(original, protected).share, assigned(original, protected, seed=1).share
    (0.5, 1.0)
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    _check(original, protected, metric)
    made = space(original.numbers, metric)
    draw = np.random.default_rng([seed, 0])
    # in a random order, which settles ties
    chosen = draw.permutation(original.n)[:sample].astype(np.intp)
    m = len(chosen)
    cost = np.full((m, m), np.inf)
    sampled = original.take(chosen), protected.take(chosen)
    blocks = _blocks_agree(sampled[0], sampled[1])
    for one in comparisons(*sampled, made):
        there = np.flatnonzero(one.known_of >= 0)
        between = cdist(one.points, one.known, "cityblock" if made.power == 1 else "euclidean")
        cost[np.ix_(one.rows, there)] = between[np.ix_(one.of, one.known_of[there])]
    cost[~blocks] = np.inf
    possible = np.isfinite(cost)
    never = 1 + 2 * m * float(cost[possible].max(initial=0.0))
    whose = draw.permutation(m)
    row, found = linear_sum_assignment(np.where(possible, cost, never)[:, whose])
    found = whose[found]
    alike = _alike(sampled[0])
    right = (alike[row] == alike[found]) & possible[row, row]
    return Assignment(m, total(right / np.bincount(alike)[alike[row]]))


def _blocks_agree(original: Seen, protected: Seen) -> NDArray[np.bool_]:
    agree = np.ones((protected.n, original.n), bool)
    for mine, theirs in zip(protected.blocks.T, original.blocks.T, strict=True):
        agree &= (mine[:, None] == theirs) | (mine[:, None] < 0)
    return agree


def _alike(seen: Seen) -> NDArray[np.intp]:
    """Numbers of records, the same for those that show the same."""
    table = np.concatenate(
        [np.nan_to_num(seen.numbers, nan=np.inf), seen.keys, seen.blocks], axis=1
    )
    return np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)


def _check(original: Seen, protected: Seen, metric: Metric) -> None:
    same = (
        original.numbers.shape == protected.numbers.shape
        and original.keys.shape == protected.keys.shape
        and original.blocks.shape == protected.blocks.shape
    )
    if not same:
        number = Count(original.n)
        many = Count(original.width)
        raise InputError(
            f"the two files do not have the same records and variables: {number} "
            f"{number:record|records} with {many} {many:variable|variables}, and {protected.n:,} "
            f"with {protected.width}"
        )
    if original.keys.shape[1] and metric != "gower":
        raise InputError(
            f"metric={metric!r} has no distance between categories; choose metric='gower', or "
            "name the keys as blocks"
        )
