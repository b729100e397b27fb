"""Individual risk with sampling weights, that of households, and how large both may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import Coded
from diskret.parameters import Share, reading
from diskret.risk.keys import sums, total
from diskret.texts.numbers import Count

#: Whose figures to give instead of the exact ones.
Compat = Literal["lecture", "sdcmicro"]

#: What an old release of sdcMicro, and with it the lecture, took off every p.
_SHIFT = 0.0001
#: From so many records on, or where p is at least a half, the series needs few terms.
_MANY = 32
_TERMS = 60
_PAIRS = 4096


@reading
def individual_risk(
    sample: NDArray[np.float64],
    population: NDArray[np.float64],
    compat: Compat | None = None,
) -> NDArray[np.float64]:
    """Expected risk that a record is recognised, given how often its keys occur.

    Somebody who knows the keys of a person and that F persons of the population share them is
    right with probability 1/F. F is not known; given the f records of the sample it follows a
    negative binomial distribution with p estimated by f over the sum of the weights, so that
    the risk is ``E(1/F | f) = p^f / f · 2F1(f, f; f + 1; 1 - p)``. That mean is computed exactly
    for every real f ≥ 1; the model is no more than one, and its sum over sample uniques is too
    low where keys depend on each other and the sample is small.

    Parameters
    ----------
    sample
        f of each record, at least 1, ``(n,)``; fractions where a match counts less than 1.
    population
        Sum F of the weights of these records, above 0, ``(n,)``. Where it is not above f, the
        sample is all of the population that shares the keys, and the risk is 1/f.
    compat
        None: exact. ``"sdcmicro"``: what the R package gives, p / (f - (1 - p)) for f > 2.
        ``"lecture"``: as an old release of it, and the lecture, which also took 0.0001 off p
        (where p is larger than that).

    Returns
    -------
    numpy.ndarray
        Above 0 and at most 1, ``(n,)``.

    Raises
    ------
    InputError
        A frequency is impossible, or `compat` unknown.

    References
    ----------
    Benedetti and Franconi (1998), Statistical and technological solutions for controlled data
    dissemination; Franconi and Polettini (2004), Individual risk estimation in μ-Argus: a
    review.

    Examples
    --------
    >>> individual_risk(np.array([1.0, 2.0]), np.array([17.0, 110.0])).round(8).tolist()
    [0.17707583, 0.01714426]
    """
    wrong = np.flatnonzero(~((sample >= 1) & (population > 0) & np.isfinite(sample + population)))
    if len(wrong):
        number = Count(len(wrong))
        raise InputError(
            f"{number} {number:record has|records have} impossible frequencies (the first is "
            f"record {wrong[0] + 1}: {sample[wrong[0]]:g} in the sample, {population[wrong[0]]:g} "
            "in the population); a record counts itself, and its weight is above 0"
        )
    f, total, of = _distinct(sample, population)
    p = np.minimum(f / total, 1.0)
    if compat is None:
        return expected_inverse(f, p)[of]
    shifted = np.where((compat == "lecture") & (p > _SHIFT), p - _SHIFT, p)
    risk = expected_inverse(f, shifted)
    risk = np.where(f > 2, shifted / (f - (1 - shifted)), risk)
    return np.where(p < 1, risk, 1 / f)[of]


def expected_inverse(f: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    """E(1/F) where F - f is negative binomial: f successes, each with probability p.

    Euler's transformation gives ``p/f · 2F1(1, 1; f + 1; 1 - p)``, a series of positive terms.
    Where it converges slowly (f < 32 and p < 1/2), the recurrence
    ``r(f + 1) = p / (1 - p) · (1/f - r(f))`` is used, which damps errors there; it starts from
    ``r(1) = p / (1 - p) · ln(1/p)``, or from the integral below where f is no whole number.

    Parameters
    ----------
    f
        At least 1, ``(k,)``.
    p
        Above 0 and at most 1, ``(k,)``.

    Examples
    --------
    >>> expected_inverse(np.array([3.0, 1.5]), np.array([1.0, 0.25])).round(6).tolist()
    [0.333333, 0.2636]
    """
    slow = (f < _MANY) & (p < 0.5)
    made = np.empty(len(f))
    made[~slow] = _series(f[~slow], p[~slow])
    made[slow] = _recurrence(f[slow], p[slow])
    return made


def _series(f: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    term = np.ones(len(f))
    total = np.ones(len(f))
    for n in range(1, _TERMS):
        term *= n / (f + n) * (1 - p)
        total += term
    return p / f * total


def _recurrence(f: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    odds = p / (1 - p)
    steps = np.floor(f) - 1
    start = f - steps
    risk = odds * -np.log(p)
    broken = np.flatnonzero(start > 1)
    for at in range(0, len(broken), _PAIRS):
        some = broken[at : at + _PAIRS]
        risk[some] = _integral(start[some], p[some])
    for step in range(int(steps.max(initial=0))):
        risk = np.where(step < steps, odds * (1 / (start + step) - risk), risk)
    return risk


def _integral(f: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    """``p ∫ u^(f - 1) / (p + (1 - p) u) du`` over (0, 1), by doubly exponential quadrature.

    With ``p + (1 - p) u = p e^t`` it is ``p / (1 - p) ∫ u^(f - 1) dt`` over (0, ln(1/p)).
    """
    width = 1 / 32
    s = np.arange(-3.5, 3.5 + width, width)[:, None]
    below = np.exp(-np.pi * np.sinh(s))
    length, odds = -np.log(p), p / (1 - p)
    t = length / (1 + below)
    weight = length * np.pi * np.cosh(s) * below / (1 + below) ** 2
    return odds * width * ((odds * np.expm1(t)) ** (f - 1) * weight).sum(axis=0)


def _distinct(
    sample: NDArray[np.float64], population: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]:
    """Pairs that occur, and which of them each record has."""
    pairs = np.stack([sample, population], axis=1)
    kind = pa.binary(pairs.itemsize * 2)
    encoded = pa.Array.from_buffers(
        kind, len(pairs), [None, pa.py_buffer(pairs)]
    ).dictionary_encode()
    found = np.frombuffer(encoded.dictionary.buffers()[1], dtype=np.float64)
    f, total = found[: 2 * len(encoded.dictionary)].reshape(-1, 2).T
    return f, total, encoded.indices.to_numpy()


@dataclass(frozen=True, eq=False)
class Households:
    """Households of the sample, and the risk that at least one member is recognised.

    Parameters
    ----------
    of
        For each record its household, ``(n,)``, intp.
    size
        Number of records of each household, ``(h,)``, int64.
    risk
        1 - Π (1 - r) over its members, ``(h,)``.
    """

    of: NDArray[np.intp]
    size: NDArray[np.int64]
    risk: NDArray[np.float64]

    @property
    def records(self) -> NDArray[np.float64]:
        """The risk of its household for each record, ``(n,)``."""
        return self.risk[self.of]

    @property
    def expected(self) -> float:
        """Expected number of households in which somebody is recognised."""
        return total(self.risk)

    @property
    def expected_persons(self) -> float:
        """Expected number of persons who are recognised, alone or through their household."""
        return total(self.risk * self.size)


def household_risk(risk: NDArray[np.float64], household: Coded) -> Households:
    """Put individual risks together by household.

    Members are recognised independently of each other, and one suffices:
    ``1 - Π (1 - r)``. It is summed up in logarithms, so that neither many members nor tiny
    risks are a problem; who has risk 1 makes that of the household exactly 1.

    Parameters
    ----------
    risk
        Individual risks from 0 to 1, ``(n,)``.
    household
        The household of each record, numbers or text; a record without one is a household of
        its own.

    References
    ----------
    Franconi and Polettini (2004), Individual risk estimation in μ-Argus: a review.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret.io import coded
    >>> flat = coded(pa.chunked_array([["b", "a", "b", None]]), "flat")
    >>> found = household_risk(np.array([0.5, 0.1, 0.5, 0.2]), flat)
    >>> found.records.round(3).tolist(), round(found.expected, 3), round(found.expected_persons, 3)
    ([0.75, 0.1, 0.75, 0.2], 1.05, 1.8)
    """
    alone = household.codes < 0
    of = household.codes.astype(np.intp)
    of[alone] = len(household.categories) + np.arange(alone.sum())
    size = np.bincount(of, minlength=len(household.categories))
    sure = risk >= 1  # there is no logarithm of 0
    joint = -np.expm1(sums(of, np.log1p(-np.where(sure, 0, risk)), len(size)))
    joint[of[sure]] = 1
    there = size > 0
    rank = np.cumsum(there) - 1
    return Households(rank[of], size[there], joint[there])


@reading
def individual_threshold(risk: NDArray[np.float64], global_risk: Share) -> float:
    """The largest risk any record may have so that the file as a whole is below a target.

    The global risk is the mean of the individual risks, the expected share of records that are
    recognised. Once the records above the threshold are protected, each of them has at most the
    threshold, so that the global risk is at most the mean of ``min(r, threshold)``. The
    largest threshold for which this mean does not exceed the target is found exactly, with one
    sort of the risks.

    Parameters
    ----------
    risk
        Individual risks, ``(n,)``.
    global_risk
        The target, above 0 and at most 1.

    Returns
    -------
    float
        1 if the file is below the target as it is.

    Raises
    ------
    InputError
        The target is not between 0 and 1.

    References
    ----------
    Franconi and Polettini (2004), Individual risk estimation in μ-Argus: a review.

    Examples
    --------
    >>> round(individual_threshold(np.array([0.5, 0.1, 0.02, 0.02]), 0.06), 6)
    0.1
    """
    ascending = np.sort(risk)
    # with the threshold at the j-th risk: those up to there, and the rest cut to it
    rest = len(risk) - np.arange(len(risk))
    before = np.concatenate([[0.0], np.cumsum(ascending)])[:-1]
    cut = (before + rest * ascending) / len(risk)
    j = int(np.searchsorted(cut, global_risk, side="right"))
    if j == len(risk):
        return 1.0
    return float((global_risk * len(risk) - before[j]) / rest[j])


@reading
def person_thresholds(
    household_risk: Share, of: NDArray[np.intp], size: NDArray[np.int64]
) -> NDArray[np.float64]:
    """What each person may have so that no household has more than a given risk.

    The risk of a household is at most the sum of those of its members, so that the risk
    divided by their number is enough.

    Parameters
    ----------
    household_risk
        What a household may have, above 0 and at most 1.
    of, size
        Household of each record ``(n,)``, and number of records of each household ``(h,)``.

    Raises
    ------
    InputError
        The risk is not between 0 and 1.

    Examples
    --------
    >>> person_thresholds(0.06, np.array([0, 1, 1]), np.array([1, 2])).tolist()
    [0.06, 0.03, 0.03]
    """
    return household_risk / size[of]
