"""Small cells beside their total: how often what is published gives true values away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from diskret.attack.noise.chances import NoiseTable, chances, largest_noise
from diskret.errors import InputError
from diskret.parameters import Number, Probability, Whole, reading

#: The largest part looked at.
UpTo = Annotated[int, Whole(1)]
#: From which probability on a true value counts as given away.
Certainty = Annotated[float, Number(above=0.5, high=1)]

_MOST_PARTS = 4


@dataclass(frozen=True)
class Constellation:
    """Small cells that add up to their total, and how risky it is to publish them. Confidential.

    Parameters
    ----------
    parts
        True values, ascending; their sum is the total.
    risk
        Probability of publishing values that give one of the small true values away.
    parts_shown, total_shown
        The likeliest published values that do so; empty and None if none do.
    """

    parts: tuple[int, ...]
    risk: float
    parts_shown: tuple[int, ...] = ()
    total_shown: int | None = None

    def __str__(self) -> str:
        true = f"({', '.join(map(str, self.parts))} | {sum(self.parts)})"
        if self.total_shown is None:
            return true
        return f"{true} → ({', '.join(map(str, self.parts_shown))} | {self.total_shown})"


@dataclass(frozen=True)
class ConstellationRisk:
    """The risk of all small constellations. Confidential.

    Parameters
    ----------
    constellations
        Every constellation, the riskiest first.
    limit
        The risk that the office accepts.
    certainty
        From which probability on a true value counts as given away; 1: for certain.
    """

    constellations: tuple[Constellation, ...]
    limit: float
    certainty: float

    @property
    def worst(self) -> Constellation:
        """The riskiest constellation."""
        return self.constellations[0]

    @property
    def above(self) -> tuple[Constellation, ...]:
        """Constellations whose risk is above the limit."""
        return tuple(c for c in self.constellations if c.risk > self.limit)


@reading
def constellation_risk(
    table: NoiseTable,
    *,
    parts: Annotated[int, Whole(2, _MOST_PARTS)] = 2,
    up_to: UpTo = 3,
    limit: Probability = 0.01,
    certainty: Certainty = 1.0,
    prior: Any = None,
) -> ConstellationRisk:
    """How often publishing small cells with their total gives a small true value away.

    The attacker knows the whole perturbation table. Of every published (x1, …, xp | y) he
    computes the probability of each true value by Bayes' theorem. A value from 1 to `up_to`, of a
    part or of the total, is given away if its probability reaches `certainty`. The total of
    (1, 1 | 2) published as 0 beside parts that are not 0 does so if the largest noise is 2: no
    other values add up.

    Parameters
    ----------
    table
        The perturbation table.
    parts
        Number of parts, 2 to 4.
    up_to
        The largest part looked at, at least 1.
    limit
        The risk that the office accepts, between 0 and 1.
    certainty
        From which probability on a true value counts as given away, above 0.5 and up to 1.
    prior
        How frequent the counts 0, 1, 2, … are among cells, e.g. in the tables to be published;
        larger counts are as frequent as the last. None: all the same. Unless a count never
        occurs, this does not change what is certain.

    Raises
    ------
    InputError
        A parameter out of its range.

    Notes
    -----
    Probabilities of the cells are multiplied, as in the literature: the keys of any two of them
    are independent. Exactly, the key of the total is the sum of those of its parts, see decision
    29. A total of which only one part holds anybody is the same cell and shown as that part is.

    References
    ----------
    Enderle, Giessing & Tent (2018), Designing confidentiality on the fly methodology: three
    aspects, LNCS 11126; (2020), Calculation of risk probabilities for the cell key method, LNCS
    12276.

    Examples
    --------
    >>> class Tiny:
    ...     counts, noise, step, reuse = np.arange(3), np.arange(-2, 3), 1, 1
    ...     probabilities = np.array([[0, 0, 1, 0, 0], [0, 0.3, 0.5, 0.1, 0.1],
    ...                               [0.1, 0.2, 0.4, 0.2, 0.1]])
    >>> worst = constellation_risk(Tiny()).worst
    >>> str(worst), round(worst.risk, 3)
    ('(1, 1 | 2) → (1, 1 | 0)', 0.091)
    """
    largest = largest_noise(table)
    counts = up_to + 2 * largest + 1  # what could be published as a part up to `up_to`
    chance = chances(table, parts * (counts - 1))
    of_parts = chance[:counts, : up_to + largest + 1]
    of_total = chance[:, : parts * up_to + largest + 1]
    weighted = _weights(prior, counts)[:, None] * of_parts
    told = _Told(
        _part_told(weighted, of_total, parts, up_to, certainty),
        _total_told(weighted, of_total, parts, up_to, certainty),
    )
    found = [
        _constellation(true, of_parts, of_total, told)
        for true in combinations_with_replacement(range(up_to + 1), parts)
        if any(true)
    ]
    found.sort(key=lambda c: (-c.risk, sum(c.parts), c.parts))
    return ConstellationRisk(tuple(found), limit, certainty)


@dataclass(frozen=True)
class _Told:
    """Which small value published ones give away, 0 for none; axes: parts shown, total shown."""

    first: NDArray[np.int64]  # of the first part
    total: NDArray[np.int64]


def _constellation(
    true: tuple[int, ...],
    of_parts: NDArray[np.float64],
    of_total: NDArray[np.float64],
    told: _Told,
) -> Constellation:
    joint = np.ones(())
    for value in true:
        joint = joint[..., None] * of_parts[value]
    if sum(value > 0 for value in true) == 1:
        joint = _same_cell(joint, of_total.shape[1])
    else:
        joint = joint[..., None] * of_total[sum(true)]
    away = told.total == sum(true)
    for axis, value in enumerate(true):
        if value:
            away = away | (np.moveaxis(told.first, 0, axis) == value)
    joint = np.where(away, joint, 0)
    risk = float(joint.sum())
    if risk == 0:
        return Constellation(true, 0.0)
    # of equally likely ones, up to rounding, that which changes the parts least
    best = np.argwhere(joint >= joint.max() * (1 - 1e-9))
    nearest = np.abs(best[:, :-1] - np.array(true)).sum(axis=1)
    *shown, total = (int(i) for i in best[np.argmin(nearest)])
    return Constellation(true, min(risk, 1.0), tuple(shown), total)


def _same_cell(joint: NDArray[np.float64], totals: int) -> NDArray[np.float64]:
    """Add the total shown where one part at most holds anybody: it is shown as that part is."""
    shown = np.indices(joint.shape).sum(axis=0)  # the other parts are shown as 0
    return joint[..., None] * (shown[..., None] == np.arange(totals))


def _part_told(
    weighted: NDArray[np.float64],
    of_total: NDArray[np.float64],
    parts: int,
    up_to: int,
    certainty: float,
) -> NDArray[np.int64]:
    """What is given away of the first part."""
    alone, several = _sums(weighted, parts - 1)
    shape = (weighted.shape[1], *alone.shape[1:], of_total.shape[1])

    def joint() -> Iterator[NDArray[np.float64]]:
        for value, shown in enumerate(weighted):
            if value == 0:
                same, rest = alone.sum(axis=0), several
            else:  # no other part holds anybody, or some do
                same, rest = alone[0], several + alone
                rest[0] = several[0]
            flat = rest.reshape(len(rest), -1)
            beside = (flat.T @ of_total[value : value + len(flat)]).reshape(shape[1:])
            first = shown.reshape(-1, *[1] * (len(shape) - 1))
            yield (
                _same_cell(shown.reshape(-1, *[1] * same.ndim) * same, shape[-1]) + first * beside
            )

    return given_away(joint(), shape, up_to, certainty)


def _total_told(
    weighted: NDArray[np.float64],
    of_total: NDArray[np.float64],
    parts: int,
    up_to: int,
    certainty: float,
) -> NDArray[np.int64]:
    """What is given away of the total."""
    alone, several = _sums(weighted, parts)
    shape = (*alone.shape[1:], of_total.shape[1])
    joint = (
        _same_cell(alone[value], shape[-1]) + several[value][..., None] * of_total[value]
        for value in range(len(alone))
    )
    return given_away(joint, shape, up_to, certainty)


def _sums(
    weighted: NDArray[np.float64], parts: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Joint weight of the sum of some parts and of what is shown of them, the sum first.

    Where one of them at most holds anybody, and where several do.
    """
    counts, shown = weighted.shape
    alone, several = weighted, np.zeros_like(weighted)
    for _ in range(parts - 1):
        shape = (len(alone) + counts - 1, *alone.shape[1:], shown)
        single, more = np.zeros(shape), np.zeros(shape)
        single[: len(alone)] = alone[..., None] * weighted[0]
        more[: len(alone)] = several[..., None] * weighted[0]
        for value in range(1, counts):
            single[value] += alone[0][..., None] * weighted[value]
            more[value + 1 : value + len(alone)] += alone[1:, ..., None] * weighted[value]
            more[value : value + len(alone)] += several[..., None] * weighted[value]
        alone, several = single, more
    return alone, several


def given_away(
    joint: Iterator[NDArray[np.float64]], shape: tuple[int, ...], up_to: int, certainty: float
) -> NDArray[np.int64]:
    """Which value from 1 to `up_to` reaches the certainty, 0 where none does."""
    total, best = np.zeros(shape), np.zeros(shape)
    value = np.zeros(shape, dtype=np.int64)
    possible = np.zeros(shape, dtype=np.int16)
    for number, weight in enumerate(joint):
        total += weight
        possible += weight > 0
        value[weight > best] = number
        np.maximum(best, weight, out=best)
    sure = possible == 1 if certainty == 1 else (best >= certainty * total) & (possible > 0)
    return np.where(sure & (value <= up_to), value, 0)


def _weights(prior: Any, counts: int) -> NDArray[np.float64]:
    if prior is None:
        return np.ones(counts)
    given = np.asarray(prior, dtype=np.float64)
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all() or given.min() < 0:
        raise InputError("prior= lists how frequent the counts 0, 1, 2, … are: numbers from 0 up")
    if not given[:counts].any():
        raise InputError(f"prior= says that no cell has any of the counts 0 to {counts - 1}")
    padded = np.pad(given[:counts], (0, max(counts - len(given), 0)), mode="edge")
    return padded / padded.max()
