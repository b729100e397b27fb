"""A made-up survey of persons in households, to protect and to attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.datasets.classifications import STATES, region_tree
from diskret.hierarchy import Hierarchy
from diskret.parameters import Seed, Whole, reading

#: Sub-major groups of ISCO-08: code, label, share of the employed in per mille.
OCCUPATIONS = (
    ("11", "Chief executives, senior officials", 8),
    ("12", "Administrative and commercial managers", 25),
    ("21", "Science and engineering professionals", 60),
    ("22", "Health professionals", 40),
    ("23", "Teaching professionals", 60),
    ("26", "Legal, social, cultural professionals", 40),
    ("31", "Science and engineering technicians", 70),
    ("33", "Business and administration associates", 110),
    ("34", "Legal, social, cultural associates", 25),
    ("41", "General and keyboard clerks", 90),
    ("42", "Customer services clerks", 35),
    ("51", "Personal service workers", 45),
    ("52", "Sales workers", 80),
    ("53", "Personal care workers", 55),
    ("61", "Market-oriented agricultural workers", 14),
    ("71", "Building workers", 55),
    ("72", "Metal and machinery workers", 65),
    ("81", "Plant and machine operators", 40),
    ("83", "Drivers and mobile plant operators", 45),
    ("91", "Cleaners and helpers", 38),
)
MAJOR_GROUPS = {
    "1": "Managers",
    "2": "Professionals",
    "3": "Technicians, associate professionals",
    "4": "Clerical support workers",
    "5": "Service and sales workers",
    "6": "Skilled agricultural workers",
    "7": "Craft workers",
    "8": "Plant and machine operators",
    "9": "Elementary occupations",
}
#: Code of those without an occupation: children, pensioners and others.
NONE = "00"
_MARITAL = ("single", "married", "divorced", "widowed")
_EDUCATION = ("none", "lower", "middle", "higher", "university")
_HEALTH = ("good", "fair", "poor", "severe")


@dataclass(frozen=True, eq=False)
class Survey:
    """Persons with the code trees of their classifications.

    Parameters
    ----------
    records
        One row for each person: ``person`` (int64, unique), ``insurance`` (text, a direct
        identifier), ``household`` (int64), ``region`` (text, state), ``age`` (int64, 0 to 99),
        ``sex`` (``"f"``, ``"m"``), ``marital``, ``education``, ``occupation`` (text, ``"00"``:
        none), ``income`` (int64, euros a month), ``health`` (text), ``weight`` (float64).
    region
        Total → 4 parts of the country → the 16 German states by their official codes.
    occupation
        Total → major groups of ISCO-08 → sub-major groups.
    """

    records: pa.Table
    region: Hierarchy
    occupation: Hierarchy


@reading
def survey(n: Annotated[int, Whole(1)] = 5_000, seed: Seed = 1) -> Survey:
    """Make up a survey of `n` persons in households.

    Couples are of similar age, children live with adults, the old are rarely employed; large
    states give many persons and few occupations stand alone. Every figure is made up.

    Parameters
    ----------
    n
        Number of persons, at least 1.
    seed
        The same `n` and `seed` give the same survey.

    Raises
    ------
    InputError
        `n` is below 1 or `seed` is negative.

    Examples
    --------
    >>> persons = survey(1_000, seed=7)
    >>> persons.records.num_rows
    1000
    >>> persons.occupation.labels["22"]
    'Health professionals'
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    household, place = _households(rng, n)
    region = _regions(rng, int(household[-1]) + 1)[household]
    age = _ages(rng, household, place)
    drawn = rng.integers(0, 2, n)
    sex = np.where(place == 1, 1 - _first(drawn, household), drawn)
    couple = (place <= 1) & (np.bincount(household)[household] > 1) & (age >= 20)
    marital = _marital(rng, age, couple)
    education = _education(rng, age)
    occupation = _occupations(rng, age, education)
    income = _incomes(rng, age, education, occupation)
    health = np.minimum(
        (rng.random(n)[:, None] > _health_bounds(age)).sum(axis=1), len(_HEALTH) - 1
    )
    weight = np.round(rng.uniform(60, 140, int(household[-1]) + 1), 1)[household]
    number = rng.permutation(n) + 1
    insurance = [
        f"{a:08d}{'ABCDEFGH'[a % 8]}{b:03d}"
        for a, b in zip(
            (number * 7919 % 10**8).tolist(), rng.integers(0, 1000, n).tolist(), strict=True
        )
    ]
    records = pa.table(
        {
            "person": number,
            "insurance": insurance,
            "household": household + 1,
            "region": _text([row[0] for row in STATES], region),
            "age": age,
            "sex": _text(("f", "m"), sex),
            "marital": _text(_MARITAL, marital),
            "education": _text(_EDUCATION, education),
            "occupation": _text((NONE, *(row[0] for row in OCCUPATIONS)), occupation),
            "income": income,
            "health": _text(_HEALTH, health),
            "weight": weight,
        }
    )
    return Survey(records, region_tree(), occupation_tree())


def occupation_tree() -> Hierarchy:
    """Total → major groups of ISCO-08 → sub-major groups, and those without an occupation."""
    codes = [NONE, *MAJOR_GROUPS, *(row[0] for row in OCCUPATIONS)]
    parent = [None, *(None for _ in MAJOR_GROUPS), *(row[0][0] for row in OCCUPATIONS)]
    labels = ["No occupation", *MAJOR_GROUPS.values(), *(row[1] for row in OCCUPATIONS)]
    return Hierarchy.from_parents({"code": codes, "parent": parent, "label": labels})


def _households(rng: np.random.Generator, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number of each person's household from 0, and the person's place in it."""
    size = rng.choice([1, 2, 3, 4, 5], size=n, p=[0.40, 0.33, 0.12, 0.10, 0.05])
    household = np.repeat(np.arange(n), size)[:n]
    begin = np.searchsorted(household, household)
    return household, np.arange(n) - begin


def _regions(rng: np.random.Generator, households: int) -> NDArray[np.int64]:
    share = np.array([row[3] for row in STATES], dtype=float)
    return rng.choice(len(STATES), size=households, p=share / share.sum())


def _first(values: NDArray[np.int64], household: NDArray[np.int64]) -> NDArray[np.int64]:
    """The value of the first person of each one's household."""
    return values[np.searchsorted(household, household)]


def _ages(
    rng: np.random.Generator, household: NDArray[np.int64], place: NDArray[np.int64]
) -> NDArray[np.int64]:
    n = len(household)
    alone = np.clip(rng.normal(52, 19, n), 18, 99)
    with_children = np.clip(rng.normal(42, 7, n), 22, 60)
    large = np.bincount(household)[household] > 2
    first = _first(np.where(large, with_children, alone).astype(np.int64), household)
    partner = np.clip(first + np.rint(rng.normal(0, 4, n)), 18, 99)
    child = np.clip(first - rng.integers(20, 38, n), 0, 30)
    return np.where(place == 0, first, np.where(place == 1, partner, child)).astype(np.int64)


def _marital(
    rng: np.random.Generator, age: NDArray[np.int64], couple: NDArray[np.bool_]
) -> NDArray[np.intp]:
    drawn = rng.random(len(age))
    widowed = (age > 65) & (drawn < 0.45)
    divorced = (age > 30) & (drawn > 0.75)
    alone = np.where(widowed, 3, np.where(divorced, 2, 0))
    return np.where(couple & (drawn < 0.8), 1, alone).astype(np.intp)


def _education(rng: np.random.Generator, age: NDArray[np.int64]) -> NDArray[np.intp]:
    bounds = np.where(age[:, None] < 60, [0.05, 0.25, 0.55, 0.78], [0.08, 0.50, 0.75, 0.88])
    found = (rng.random(len(age))[:, None] > bounds).sum(axis=1)
    return np.where(age < 16, 0, np.where(age < 24, np.minimum(found, 3), found)).astype(np.intp)


def _occupations(
    rng: np.random.Generator, age: NDArray[np.int64], education: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Position in ``(NONE, *OCCUPATIONS)``; graduates are professionals more often."""
    share = np.array([row[2] for row in OCCUPATIONS], dtype=float)
    highly = np.array([row[0] < "30" for row in OCCUPATIONS])
    usual = np.cumsum(share * np.where(highly, 0.5, 1.0))
    graduate = np.cumsum(share * np.where(highly, 6.0, 1.0))
    drawn = rng.random(len(age))
    found = np.where(
        education == len(_EDUCATION) - 1,
        np.searchsorted(graduate / graduate[-1], drawn),
        np.searchsorted(usual / usual[-1], drawn),
    )
    employed = (age >= 16) & (rng.random(len(age)) < np.where(age < 65, 0.8, 0.08))
    return np.where(employed, found + 1, 0).astype(np.intp)


def _incomes(
    rng: np.random.Generator,
    age: NDArray[np.int64],
    education: NDArray[np.intp],
    occupation: NDArray[np.intp],
) -> NDArray[np.int64]:
    typical = np.where(occupation > 0, 1_900 + 420 * education, 900 + 110 * education)
    manager = (occupation == 1) | (occupation == 2)
    typical = typical * np.where(manager, 2.2, 1.0)
    drawn = typical * np.exp(rng.normal(0, 0.45, len(age)))
    return np.where(age < 16, 0, 10 * np.rint(drawn / 10)).astype(np.int64)


def _health_bounds(age: NDArray[np.int64]) -> NDArray[np.float64]:
    frail = np.clip(age / 100, 0, 1)
    return np.stack([0.9 - 0.5 * frail, 0.985 - 0.2 * frail, 0.998 - 0.05 * frail], axis=1)


def _text(codes: tuple[str, ...] | list[str], position: NDArray[np.intp]) -> pa.Array:
    return pa.array(codes, pa.string()).take(pa.array(position))
