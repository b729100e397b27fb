"""Which noise a perturbation table may have, and what variance that allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.texts.numbers import Count


@dataclass(frozen=True, eq=False)
class Admissible:
    """What every row of a perturbation table has to satisfy, besides a mean of 0.

    `counts`: what the rows stand for, the first of them 0; ``(rows,)``, int64. `noise`: values of
    the table, ascending, in units of 1/`step`; ``(m,)``, int64. `allowed`: which of them a row may
    have; ``(rows, m)``, bool. `stay`: least probability of no noise; ``(rows,)``, float64.
    `monotone`: rows whose probabilities must not fall from the lowest noise up to no noise;
    ``(rows,)``, bool.
    """

    counts: NDArray[np.int64]
    noise: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    stay: NDArray[np.float64]
    monotone: NDArray[np.bool_]
    step: int = 1

    def variance_bounds(self) -> NDArray[np.float64]:
        """Least and largest variance of each row, shape ``(rows, 2)``.

        A linear programme over the probabilities of the row: sum 1, mean 0, `stay`,
        `monotone`; its objective is the variance.
        """
        found = self.bounds_or_nan()
        wrong = np.isnan(found[:, 0])
        if wrong.any():
            raise unbalanced(int(self.counts[wrong][0]))
        return found

    def bounds_or_nan(self) -> NDArray[np.float64]:
        """As `variance_bounds`; nan for rows that cannot have a mean of 0."""
        return np.array([self._bounds(row) for row in range(len(self.counts))])

    def least_variance(self) -> NDArray[np.float64]:
        """Least variance of each row, shape ``(rows,)``; inf where no mean of 0 is possible.

        0 where a row may leave its count as it is, else the product of the nearest noise on
        both sides: i · (small_counts + 1 - i) for counts.
        """
        size = np.where(self.allowed, np.abs(self.noise) / self.step, np.inf)
        below = size[:, self.noise <= 0].min(axis=1)
        above = size[:, self.noise >= 0].min(axis=1)
        with np.errstate(invalid="ignore"):
            return np.where((below == 0) | (above == 0), 0.0, below * above)

    def extreme(self, row: int, largest: bool) -> NDArray[np.float64] | None:
        """Probabilities of a row with the least or largest variance; None: no mean of 0."""
        from scipy.optimize import linprog  # slow to import, and most tables do not need it

        values = self.noise[self.allowed[row]] / self.step
        equal = np.array([np.ones(len(values)), values])
        lowest = np.where(values == 0, self.stay[row], 0.0)
        left = np.flatnonzero(values <= 0)[:-1] if self.monotone[row] else np.empty(0, np.int64)
        falls = np.zeros((len(left), len(values)))
        falls[np.arange(len(left)), left] = 1
        falls[np.arange(len(left)), left + 1] = -1
        answer = linprog(
            (-1 if largest else 1) * values**2,
            A_ub=falls,
            b_ub=np.zeros(len(left)),
            A_eq=equal,
            b_eq=[1, 0],
            bounds=np.column_stack([lowest, np.ones(len(values))]),
        )
        if answer.status != 0:
            return None
        found = np.zeros(len(self.noise))
        found[self.allowed[row]] = answer.x
        return found

    def _bounds(self, row: int) -> tuple[float, float]:
        found = [self.extreme(row, largest) for largest in (False, True)]
        squares = (self.noise / self.step) ** 2
        low, high = (np.nan if one is None else float(one @ squares) + 0.0 for one in found)
        return low, high

    def rows(self, chosen: NDArray[np.bool_]) -> Admissible:
        """Some rows besides that of 0; `chosen` has an entry for each of them."""
        kept = np.concatenate([[True], chosen])
        return Admissible(
            self.counts[kept],
            self.noise,
            self.allowed[kept],
            self.stay[kept],
            self.monotone[kept],
            self.step,
        )


def admissible_counts(
    max_noise: int,
    small_counts: int,
    stay: float | Sequence[float],
    monotone: bool | Sequence[bool],
) -> Admissible:
    """What may happen to counts: never below 0, never to 1, …, `small_counts`."""
    counts = count_rows(max_noise, small_counts)
    least = np.array(for_rows(stay, len(counts) - 1, "stay"), dtype=np.float64)
    noise = np.arange(-max_noise, max_noise + 1)
    target = counts[:, None] + noise
    allowed = (target == 0) | (target > small_counts)
    stays = np.where(counts > small_counts, np.concatenate([[0.0], least]), 0.0)
    return _admissible(counts, noise, allowed, stays, monotone, 1)


def count_rows(max_noise: int, small_counts: int) -> NDArray[np.int64]:
    """The counts that have noise of their own, 0 included; larger ones have that of the last."""
    return np.arange(max_noise + (small_counts + 2 if small_counts else 1))


def admissible_magnitudes(
    max_noise: int, rows: Sequence[int], step: int, monotone: bool | Sequence[bool]
) -> Admissible:
    """What may happen to multiples of a contribution's noise: the total never falls below 0."""
    if sorted(set(rows)) != list(rows) or rows[0] != 1 or rows[-1] != max_noise:
        raise InputError(
            f"rows must ascend from 1 to the largest noise, {max_noise}; they are "
            f"{', '.join(str(row) for row in rows)}"
        )
    counts = np.array([0, *rows])
    noise = np.arange(-max_noise * step, max_noise * step + 1)
    allowed = counts[:, None] * step + noise >= 0
    return _admissible(counts, noise, allowed, np.zeros(len(counts)), monotone, step)


def check_whole(number: object, name: str, least: int) -> None:
    """A parameter is a whole number."""
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {number!r}")


def unbalanced(count: int) -> InputError:
    """No admissible noise of a row has mean 0."""
    return InputError(
        f"no noise with mean 0 is admissible in row {count}: what it may become lies on one side, "
        "or too far away; raise max_noise, or lower small_counts or stay"
    )


def _admissible(
    counts: NDArray[np.int64],
    noise: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    stay: NDArray[np.float64],
    monotone: bool | Sequence[bool],
    step: int,
) -> Admissible:
    allowed[0] = noise == 0
    rows = for_rows(monotone, len(counts) - 1, "monotone")
    return Admissible(counts, noise, allowed, stay, np.array([False, *rows]), step)


def for_rows(given: Any, rows: int, name: str) -> list[Any]:
    """One value for each row besides that of 0: those that are given, or the same for all."""
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        return [given] * rows
    if len(given) != rows:
        number = Count(len(given))
        raise InputError(
            f"{name}= holds {number} {number:value|values}; there are {rows} rows besides that of "
            "0: give one for each, or a single one for all"
        )
    return list(given)
