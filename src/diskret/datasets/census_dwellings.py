"""Dwellings of a made-up census, and the buildings they stand in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.datasets.census_codes import BATHS, BUILDINGS, HEATINGS, ROOMS, TENURES, YEARS
from diskret.datasets.census_draw import Codes, country, draw, varied
from diskret.datasets.census_regions import AREAS

#: Share of the households that live in another one's dwelling, and of the dwellings before
#: which stands a vacant one.
_SHARED, _VACANT = 0.01, 0.025
_VACANT_CODE = [row[0] for row in TENURES].index("vacant")
_FROM = np.array([row[3][0] for row in BUILDINGS[1:]])


@dataclass(frozen=True, eq=False)
class Dwellings:
    """Dwellings in the order of the file.

    Parameters
    ----------
    of_household
        Dwelling of each household, from 0.
    municipality
        Municipality of each dwelling.
    building
        Building of each dwelling, from 0.
    first
        Whether it is the first dwelling of its building, by which buildings are counted.
    answers
        Variables of the dwellings but the municipality, as codes.
    """

    of_household: NDArray[np.int64]
    municipality: Codes
    building: NDArray[np.int64]
    first: NDArray[np.bool_]
    answers: dict[str, Codes]


def dwellings(rng: np.random.Generator, municipality: Codes, area: NDArray[np.int8]) -> Dwellings:
    """Dwellings for households that stand in the order of their municipalities.

    Parameters
    ----------
    rng
        Source of chance.
    municipality
        Municipality of each household, ascending.
    area
        Kind of area of each municipality.
    """
    chance = rng.random(len(municipality))
    same = np.concatenate([[False], municipality[1:] == municipality[:-1]])
    step = np.where(same & (chance < _SHARED), 0, np.where(chance > 1 - _VACANT, 2, 1))
    of_household = np.cumsum(step) - 1
    number = int(of_household[-1]) + 1
    place = np.full(number, -1, dtype=np.int16)
    place[of_household] = municipality
    vacant = np.flatnonzero(place < 0)
    place[vacant] = place[vacant + 1]

    first = _first(rng, place)
    building = np.cumsum(first) - 1
    kind = np.digitize(np.bincount(building), _FROM)
    around = area[place[first]]
    land = country(2)
    share = varied(land, [row[2] for row in YEARS], len(BUILDINGS) * AREAS, 0.8)
    year = draw(rng, share, kind * AREAS + around)
    share = varied(land, [row[2] for row in HEATINGS], len(YEARS) * AREAS, 1.5)
    heating = draw(rng, share, year * AREAS + around)

    year, heating, kind = (part[building] for part in (year, heating, kind.astype(np.int16)))
    share = varied(land, [row[2] for row in BATHS], len(YEARS), 0.9)
    share[:4, 1:] *= 4
    share[6:, 1:] *= 0.2
    bath = draw(rng, share, year)
    share = varied(land, [row[2] for row in ROOMS], len(BUILDINGS), 0.6)
    share[0, :2] *= 0.1
    share[2:, 5:] *= 0.08
    rooms = draw(rng, share, kind)
    share = varied(land, [row[2] for row in TENURES], len(BUILDINGS), 0.8)
    share[:2, 0] *= 0.3
    share[2:, 1] *= 0.2
    tenure = draw(rng, share, kind)
    tenure[vacant] = _VACANT_CODE
    return Dwellings(
        of_household,
        place,
        building,
        first,
        {
            "year": year,
            "building_size": kind,
            "heating": heating,
            "bath": bath,
            "rooms": rooms,
            "tenure": tenure,
        },
    )


def _first(rng: np.random.Generator, place: Codes) -> NDArray[np.bool_]:
    """Whether a building begins at each dwelling; none goes over municipalities."""
    number = len(place)
    kind = draw(rng, np.array([[row[2] for row in BUILDINGS]]), np.zeros(number, dtype=np.int8))
    bounds = np.array([row[3] for row in BUILDINGS])
    size = rng.integers(bounds[kind, 0], bounds[kind, 1])
    begin = np.cumsum(size) - size
    first = np.zeros(number, dtype=np.bool_)
    first[begin[begin < number]] = True
    first[1:] |= place[1:] != place[:-1]
    return first
