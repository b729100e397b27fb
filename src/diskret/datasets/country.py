"""A made-up country: where its people live, and the borders of its areas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.datasets.country_map import Lattice, Square
from diskret.hierarchy import Hierarchy
from diskret.parameters import Seed, Whole, reading
from diskret.spatial import Areas, locate

#: South-western corner, metres of ETRS89-LAEA.
_WEST, _SOUTH = 4_300_000, 2_700_000
#: Municipalities on each side of a district, districts on each side of a region.
_BLOCK = 3
_REGION = 4
#: Shares of households with 1, 2, … persons.
_PERSONS = np.array([0.41, 0.33, 0.12, 0.1, 0.03, 0.01])


@dataclass(frozen=True, eq=False)
class Country:
    """People with the places where they live, and the areas of their country.

    Coordinates are metres of ETRS89-LAEA (EPSG:3035), the system of the European grid.

    Parameters
    ----------
    persons
        One row for each person: ``person``, ``household`` (text), ``x``, ``y`` (east and north of
        the house, float64), ``municipality``, ``postal`` (text), ``age`` (int64), ``income`` in
        euros a year (int64, 0 for children; a few are very rich).
    municipalities, districts, postal_areas
        Borders. Municipalities and districts cover the land without gaps, municipalities lie in
        districts; postal areas cut across.
    stations
        ``station`` (text), ``x``, ``y`` of places in the larger towns.
    tree
        Total → regions → districts → municipalities, by the beginning of their codes.
    """

    persons: pa.Table
    municipalities: Areas
    districts: Areas
    postal_areas: Areas
    stations: pa.Table
    tree: Hierarchy


@reading
def country(n: Annotated[int, Whole(1)] = 20_000, seed: Seed = 1) -> Country:
    """Make up a country of `n` persons with coordinates and borders.

    Towns of very different sizes lie among villages and land where nobody lives: most grid
    cells of 1 km are empty, many hold one house, a few hold thousands of persons. Everything
    is made up.

    Parameters
    ----------
    n
        Number of persons, at least 1.
    seed
        The same `n` and `seed` give the same country.

    Raises
    ------
    InputError
        `n` is below 1 or `seed` is negative.

    Examples
    --------
    >>> land = country(1_000, seed=7)
    >>> land.persons.num_rows
    1000
    >>> land.municipalities.codes[:2], land.persons.column_names[:4]
    (('A0101', 'A0102'), ['person', 'household', 'x', 'y'])
    """
    rng = np.random.default_rng(seed)
    number = int(np.clip(round(np.sqrt(n) / 12), 6, 60))
    width = max(20_000, 210 * np.sqrt(n)) / number
    lattice = Lattice(rng, _WEST, _SOUTH, width, number)
    squares = _land(rng, lattice)
    codes = _codes(squares)
    municipalities = Areas(codes, [lattice.rings([square]) for square in squares])
    district = dict[str, list[Square]]()
    for code, square in zip(codes, squares, strict=True):
        district.setdefault(code[:3], []).append(square)
    districts = Areas(tuple(district), [lattice.rings(own) for own in district.values()])
    half = Lattice(rng, _WEST - width, _SOUTH - width, width * 1.6, int(number / 1.6) + 2)
    every = [(row, column) for row in range(half.number) for column in range(half.number)]
    postal_areas = Areas(
        tuple(f"{10_000 + 7 * at}" for at in range(len(every))),
        [half.rings([square]) for square in every],
    )
    size = rng.pareto(0.9, len(codes)) + 0.05
    persons = _persons(rng, n, lattice, squares, municipalities, size / size.sum(), width)
    persons = locate(persons, postal_areas, name="postal").select(
        ["person", "household", "x", "y", "municipality", "postal", "age", "income"]
    )
    largest = np.argsort(-size, kind="stable")[: max(2, len(codes) // 10)]
    middles = np.array([lattice.middle(squares[at]) for at in largest.tolist()])
    stations = pa.table(
        {
            "station": [f"S{at + 1:02d}" for at in range(len(largest))],
            "x": np.rint(middles[:, 0]),
            "y": np.rint(middles[:, 1]),
        }
    )
    tree = Hierarchy.from_prefix(codes, (1, 2, 2))
    return Country(persons, municipalities, districts, postal_areas, stations, tree)


def _land(rng: np.random.Generator, lattice: Lattice) -> list[Square]:
    """Squares within a coast that winds around the middle."""
    waves = rng.uniform(-0.12, 0.12, 5)
    angles = rng.uniform(0, 2 * np.pi, 5)
    found = list[Square]()
    for row in range(lattice.number):
        for column in range(lattice.number):
            up, right = (2 * (at + 0.5) / lattice.number - 1 for at in (row, column))
            angle = np.arctan2(up, right)
            coast = 0.95 + (waves * np.cos(np.arange(1, 6) * angle + angles)).sum()
            if np.hypot(up, right) <= coast:
                found.append((row, column))
    return sorted(found, key=_place)


def _place(square: Square) -> tuple[int, ...]:
    """Region, district and municipality in which a square stands, as rows and columns."""
    districts = [at // _BLOCK for at in square]
    return (*(at // _REGION for at in districts), *districts, *square)


def _codes(squares: list[Square]) -> tuple[str, ...]:
    """A letter for the region, two digits for the district, two for the municipality."""
    place = np.array([_place(square) for square in squares])
    region = np.unique(place[:, :2], axis=0, return_inverse=True)[1].reshape(-1)
    district = np.unique(place[:, :4], axis=0, return_inverse=True)[1].reshape(-1)
    first = {one: int(district[region == one].min()) for one in set(region.tolist())}
    codes, inside = list[str](), dict[int, int]()
    for one, own in zip(region.tolist(), district.tolist(), strict=True):
        inside[own] = inside.get(own, 0) + 1
        codes.append(f"{chr(65 + one)}{own - first[one] + 1:02d}{inside[own]:02d}")
    return tuple(codes)


def _persons(
    rng: np.random.Generator,
    n: int,
    lattice: Lattice,
    squares: list[Square],
    areas: Areas,
    share: NDArray[np.float64],
    width: float,
) -> pa.Table:
    size = rng.choice(len(_PERSONS), n, p=_PERSONS) + 1
    households = int(np.searchsorted(np.cumsum(size), n)) + 1
    household = np.repeat(np.arange(households), size[:households])[:n]
    head = np.concatenate([[True], household[1:] != household[:-1]])

    town = np.sort(rng.choice(len(squares), households, p=share))
    houses = np.maximum(np.bincount(town, minlength=len(squares)) * 11 // 20, 1)
    begin = np.cumsum(houses) - houses
    house = begin[town] + (rng.random(households) * houses[town]).astype(np.int64)
    place = _houses(rng, np.repeat(np.arange(len(squares)), houses), lattice, squares, areas, width)

    second = rng.random(n) < 0.25 + 0.5 * (np.bincount(household)[household] == 2)
    adult = head | second
    age = np.where(adult, 18 + rng.beta(1.6, 1.9, n) * 75, rng.uniform(0, 18, n)).astype(np.int64)
    rich = rng.random(n) < 0.002
    euros = rng.lognormal(10.1, 0.7, n) * np.where(rich, 5 + rng.pareto(1.1, n) * 10, 1)
    income = np.where(adult, np.minimum(euros, 5e8), 0).astype(np.int64)
    digits = len(str(n))
    names = np.array(areas.codes)
    return pa.table(
        {
            "person": [f"P{at:0{digits}d}" for at in range(1, n + 1)],
            "household": pa.array([f"H{at:0{digits}d}" for at in range(1, households + 1)]).take(
                pa.array(household)
            ),
            "x": place[house[household], 0],
            "y": place[house[household], 1],
            "municipality": names[town[household]],
            "age": age,
            "income": income,
        }
    )


def _houses(
    rng: np.random.Generator,
    town: NDArray[np.int64],
    lattice: Lattice,
    squares: list[Square],
    areas: Areas,
    width: float,
) -> NDArray[np.float64]:
    """Where houses stand: most in the middle of their municipality, some far out, none outside."""
    middle = np.array([lattice.middle(square) for square in squares])[town]
    number = np.bincount(town, minlength=len(squares))[town]
    near = np.minimum(width * 0.35, 25 * np.sqrt(number) + 100)
    place = np.rint(middle)
    codes = pa.array(areas.codes)
    left = np.arange(len(town))
    for times in (1.0, 1.0, 0.6, 0.3, 0.1):
        away = rng.standard_t(1.8, (len(left), 2)) * (near[left] * times)[:, None]
        tried = np.rint(middle[left] + np.clip(away, -width, width))
        found = areas.ids(tried[:, 1], tried[:, 0])
        own = np.asarray(found.fill_null("")) == np.asarray(codes.take(pa.array(town[left])))
        place[left[own]] = tried[own]
        left = left[~own]
    return place
