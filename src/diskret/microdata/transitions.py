"""Transition matrices: what a category may become, and how likely. Confidential."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from diskret.errors import InputError
from diskret.io import FrameKind, from_arrow
from diskret.io.columns import some
from diskret.microdata import transition_frames
from diskret.microdata.transition_figures import (
    PramEstimate,
    TransitionRisk,
    estimate_counts,
    transition_risk,
)
from diskret.microdata.transition_programme import Band, Forbidden, admissible, category
from diskret.parameters import Probability, reading
from diskret.texts.numbers import Count

#: So far a row may be from a sum of 1.
_NEAR = 1e-9


@dataclass(frozen=True, eq=False, init=False)
class TransitionMatrix:
    """How likely each category is published for each true one. Confidential unless published.

    Who knows it can tell how likely a published value is true, and estimate what the true
    frequencies are; who does not, can do neither.

    Parameters
    ----------
    categories
        L distinct values in the type of the variable; for several variables that change
        together, tuples of values.
    probabilities
        P(published = column | true = row), ``(L, L)``, float64; rows sum up to 1.

    Raises
    ------
    InputError
        The shape does not fit, or a row is no distribution.

    References
    ----------
    Gouweleeuw, Kooiman, Willenborg and de Wolf (1998), "Post randomisation for statistical
    disclosure control: theory and implementation", Journal of Official Statistics 14.

    Examples
    --------
    >>> plain = TransitionMatrix(["a", "b"], [[0.9, 0.1], [0.2, 0.8]])
    >>> plain, plain.published([30, 10]).tolist()
    (TransitionMatrix(2 categories, stays: 0.8 to 0.9), [29.0, 11.0])
    """

    categories: tuple[Hashable, ...]
    probabilities: NDArray[np.float64]

    def __init__(self, categories: Iterable[Any], probabilities: ArrayLike) -> None:
        object.__setattr__(self, "categories", tuple(category(one) for one in categories))
        object.__setattr__(self, "probabilities", np.array(probabilities, dtype=np.float64))
        _check(self.categories, self.probabilities)

    def __repr__(self) -> str:
        stays = np.diag(self.probabilities)
        return (
            f"TransitionMatrix({len(stays)} categories, "
            f"stays: {stays.min(initial=1):.3g} to {stays.max(initial=0):.3g})"
        )

    # ── making one ──────────────────────────────────────────────────────────────────

    @classmethod
    @reading
    def staying(
        cls,
        categories: Iterable[Any],
        stay: Probability,
        *,
        band: Band | None = None,
        forbidden: Forbidden = (),
    ) -> TransitionMatrix:
        """A value stays with one probability, and else becomes each other one equally likely.

        Parameters
        ----------
        categories
            The values; for `band` in their order.
        stay
            From 0 to 1.
        band
            A value moves by so many places at most: 1 for the next higher and lower ones.
        forbidden
            Pairs of values that do not become each other, in either direction.

        Raises
        ------
        InputError
            `stay` is no probability, `band` is below 1, or a pair names an unknown value.

        Examples
        --------
        >>> ages = TransitionMatrix.staying(["0-17", "18-64", "65+"], 0.8, band=1)
        >>> ages.probabilities.round(2).tolist()
        [[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.0, 0.2, 0.8]]
        """
        named = tuple(category(one) for one in categories)
        return spread(named, stay, admissible(named, band, forbidden))

    @classmethod
    @reading
    def optimal(
        cls,
        categories: Iterable[Any],
        frequencies: ArrayLike,
        most: float | Sequence[float],
        *,
        band: Band | None = None,
        forbidden: Forbidden = (),
        cost: ArrayLike | None = None,
    ) -> TransitionMatrix:
        """The invariant matrix that changes least while no published value is too credible.

        Parameters
        ----------
        categories, band, forbidden
            As for `staying`.
        frequencies
            Of the true categories, ``(L,)``; the matrix keeps them in expectation.
        most
            Largest P(true = k | published = k), for all categories or for each.
        cost
            What a change from row to column costs, symmetric, ``(L, L)``; None: 1.

        Raises
        ------
        InputError
            There is no such matrix: a category is too frequent to be mixed with others so much.

        Examples
        --------
        >>> made = TransitionMatrix.optimal(["a", "b", "c"], [50, 30, 20], 0.8)
        >>> made.risk([50, 30, 20]).posterior.round(3).tolist()
        [0.8, 0.8, 0.8]
        """
        from diskret.microdata.transition_programme import least_change

        named = tuple(category(one) for one in categories)
        counts = _frequencies(frequencies, named)
        others = admissible(named, band, forbidden)
        return cls(named, least_change(named, counts, most, others, cost))

    @classmethod
    def from_frame(cls, frame: Any) -> TransitionMatrix:
        """A matrix that somebody wrote down: one row for each transition.

        Parameters
        ----------
        frame
            Any frame with columns ``original``, ``published`` and ``probability``; transitions
            that are left out are impossible. For several variables that change together
            ``original_1``, ``original_2``, …, ``published_1``, …

        Raises
        ------
        InputError
            A column is missing, a transition is there twice, or a row does not sum up to 1.
        """
        return cls(*transition_frames.read(frame))

    def frame(self, kind: FrameKind = "pyarrow") -> Any:
        """The matrix as `from_frame` reads it, without transitions of probability 0.

        Examples
        --------
        >>> TransitionMatrix(["a", "b"], [[1, 0], [0.5, 0.5]]).frame().to_pylist()[1]
        {'original': 'b', 'published': 'a', 'probability': 0.5}
        """
        return from_arrow(self.arrow(), kind)

    def arrow(self) -> pa.Table:
        """The same as an Arrow table."""
        return transition_frames.written(self.categories, self.probabilities)

    # ── invariance ──────────────────────────────────────────────────────────────────

    def published(self, frequencies: ArrayLike) -> NDArray[np.float64]:
        """Expected published frequencies t P, ``(L,)``, of true ones t."""
        return _frequencies(frequencies, self.categories) @ self.probabilities

    @reading
    def two_step(self, frequencies: ArrayLike, share: Probability = 1.0) -> TransitionMatrix:
        """Randomise twice: by this matrix P, and back by its Bayes inverse Q.

        R = P Q with Q(k → l) = t_l p_lk / (t P)_k keeps the frequencies: t R = t. Transitions
        that P forbids may come about through a third category.

        Parameters
        ----------
        frequencies
            True ones, t.
        share
            From 0 to 1: the result is share · R + (1 − share) · I.

        Examples
        --------
        >>> made = TransitionMatrix.staying(["a", "b", "c"], 0.8).two_step([60, 30, 10])
        >>> made.published([60, 30, 10]).round(12).tolist()
        [60.0, 30.0, 10.0]
        """
        counts, step = _frequencies(frequencies, self.categories), self.probabilities
        reached = counts @ step
        flow = (counts[:, None] * step) / np.sqrt(np.where(reached > 0, reached, 1.0))
        return self._with_flow(share * (flow @ flow.T), counts)

    def balanced(self, frequencies: ArrayLike) -> TransitionMatrix:
        """Let as many records go from one category to another as come back.

        Of k and l, min(t_k p_kl, t_l p_lk) records change in each direction, so t R = t. What P
        forbids stays forbidden (both ways), and no value stays less often than P says: rare
        categories as often, frequent ones more often.

        Parameters
        ----------
        frequencies
            True ones, t.

        References
        ----------
        Metropolis et al. (1953), "Equation of state calculations by fast computing machines",
        Journal of Chemical Physics 21: the rule that makes a given distribution stationary.

        Examples
        --------
        >>> made = TransitionMatrix.staying(["a", "b"], 0.8).balanced([90, 10])
        >>> made.probabilities.round(4).tolist()
        [[0.9778, 0.0222], [0.2, 0.8]]
        """
        counts = _frequencies(frequencies, self.categories)
        flow = counts[:, None] * self.probabilities
        return self._with_flow(np.minimum(flow, flow.T), counts)

    def _with_flow(
        self, flow: NDArray[np.float64], counts: NDArray[np.float64]
    ) -> TransitionMatrix:
        from diskret.microdata.transition_programme import from_flow

        return replace(self, probabilities=from_flow(flow, counts))

    # ── what it means ───────────────────────────────────────────────────────────────

    def risk(self, frequencies: ArrayLike) -> TransitionRisk:
        """How credible published values are, and what was lost; `frequencies` are the true ones."""
        return transition_risk(self, _frequencies(frequencies, self.categories))

    def estimate(self, counts: ArrayLike) -> PramEstimate:
        """True frequencies, estimated from published ones.

        Parameters
        ----------
        counts
            How many records are published with each category, ``(L,)``. For several variables,
            for weights, and for records instead of counts see
            [`pram_estimate`][diskret.microdata.pram_estimate].

        Examples
        --------
        >>> plain = TransitionMatrix(["a", "b"], [[0.9, 0.1], [0.2, 0.8]])
        >>> plain.estimate([29, 11]).estimate.round(6).tolist()
        [30.0, 10.0]
        """
        published = _frequencies(counts, self.categories)
        return estimate_counts(("value",), (self,), published, published)

    # ── in a job file ───────────────────────────────────────────────────────────────

    def plain(self) -> dict[str, Any]:
        """Lists of categories and probabilities, as a job file can hold them."""
        return {
            "categories": [list(one) if isinstance(one, tuple) else one for one in self.categories],
            "probabilities": self.probabilities.tolist(),
        }

    @classmethod
    def given(cls, matrix: Any) -> TransitionMatrix:
        """A matrix in any form: a matrix, the lists of `plain`, or a frame as in `from_frame`."""
        if isinstance(matrix, TransitionMatrix):
            return matrix
        if isinstance(matrix, Mapping):
            if set(matrix) != {"categories", "probabilities"}:  # pyright: ignore[reportUnknownArgumentType]
                raise InputError("a matrix in a job file has 'categories' and 'probabilities'")
            return cls(matrix["categories"], matrix["probabilities"])  # pyright: ignore[reportUnknownArgumentType]
        return cls.from_frame(matrix)


def spread(
    categories: tuple[Hashable, ...], stay: float, others: NDArray[np.bool_]
) -> TransitionMatrix:
    """A value stays with one probability, and else becomes each admissible one equally likely."""
    ways = others.sum(axis=1, keepdims=True)
    made = others * ((1 - stay) / np.maximum(ways, 1))
    np.fill_diagonal(made, np.where(ways[:, 0] > 0, stay, 1.0))
    return TransitionMatrix(categories, made)


def _frequencies(given: ArrayLike, categories: tuple[Hashable, ...]) -> NDArray[np.float64]:
    counts = np.asarray(given, dtype=np.float64)
    if counts.shape != (len(categories),):
        number = Count(len(categories))
        raise InputError(
            f"there are {number} {number:category|categories}, but frequencies of shape "
            f"{counts.shape}; give one for each category, in the order of categories"
        )
    wrong = np.flatnonzero(~(np.isfinite(counts) & (counts >= 0)))
    if len(wrong):
        raise InputError(
            f"{len(wrong)} frequencies are missing or below 0 (first that of "
            f"{categories[wrong[0]]!r}: {counts[wrong[0]]})"
        )
    return counts


def _check(categories: tuple[Hashable, ...], probabilities: NDArray[np.float64]) -> None:
    size = len(categories)
    if len(set(categories)) < size:
        twice = [one for place, one in enumerate(categories) if one in categories[:place]]
        raise InputError(f"the matrix has {some('category', twice)} twice")
    if probabilities.shape != (size, size):
        raise InputError(
            f"the matrix has {size} categories, but probabilities of shape {probabilities.shape}; "
            f"they are a row and a column for each category, ({size}, {size})"
        )
    wrong = ~(np.isfinite(probabilities) & (probabilities >= 0)).all(axis=1)
    if wrong.any():
        rows = [categories[row] for row in np.flatnonzero(wrong)]
        raise InputError(
            f"probabilities are missing or below 0 in the row of {some('category', rows)}"
        )
    sums = probabilities.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1) > _NEAR)
    if len(off):
        first = off[0]
        number = Count(len(off))
        raise InputError(
            f"{number} of {size} rows of the matrix {number:does|do} not sum up to 1 (first that "
            f"of {categories[first]!r}: {sums[first]:.12g}); divide rounded probabilities by the "
            "sum of their row"
        )
