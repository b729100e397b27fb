"""Where people of a made-up census live: municipalities of all sizes, buildings, dwellings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.datasets.census_codes import (
    BATHS,
    BUILDINGS,
    HEATINGS,
    ROOMS,
    TENURES,
    YEARS,
    Codes,
    country,
    draw,
    varied,
)
from diskret.datasets.classifications import STATES
from diskret.hierarchy import Hierarchy

#: West Germany in 1987: persons, municipalities, districts, states.
PERSONS, MUNICIPALITIES, DISTRICTS, LARGEST = 63_202_834, 8_503, 328, 11
#: Kinds of areas, by which answers differ.
AREAS = 4

#: Share of the households that live in another one's dwelling, and of the dwellings before
#: which stands a vacant one.
_SHARED, _VACANT = 0.01, 0.025
_VACANT_CODE = [row[0] for row in TENURES].index("vacant")
_FROM = np.array([row[3][0] for row in BUILDINGS[1:]])


@dataclass(frozen=True, eq=False)
class Regions:
    """The municipalities in the order of their codes.

    `codes` are state (2 characters), district (3) and municipality (3), `size` is the share of the
    households in each, `area` its kind of area, below `AREAS`.
    """

    codes: tuple[str, ...]
    size: NDArray[np.float64]
    area: NDArray[np.int8]

    @property
    def levels(self) -> dict[str, dict[str, str]]:
        """Coarser level → the code in it of each code one level below."""
        district = {code: code[:5] for code in self.codes}
        return {"district": district, "state": {code: code[:2] for code in district.values()}}

    def tree(self) -> Hierarchy:
        """Total → states → districts → municipalities."""
        tree = Hierarchy.from_prefix(self.codes, (2, 3, 3))
        return tree.with_labels({row[0]: row[2] for row in STATES if row[0] in tree.codes})


def regions(n: int) -> Regions:
    """As many municipalities, districts and states as `n` persons would have, and a few more."""
    rng = country(0)
    districts = max(4, round(DISTRICTS * n / PERSONS))
    municipalities = max(3 * districts, round(MUNICIPALITIES * n / PERSONS))
    states = min(LARGEST, max(2, districts // 3))
    # each district has a municipality, each state a district
    district = np.sort(
        np.concatenate(
            [np.arange(districts), rng.integers(0, districts, municipalities - districts)]
        )
    )
    state = np.arange(districts) * states // districts
    begin = np.searchsorted(state, state)
    first = np.searchsorted(district, district)
    names = sorted(row[0] for row in STATES)[:states]
    codes = [
        f"{names[state[d]]}{d - begin[d] + 1:03d}{i - first[i] + 1:03d}"
        for i, d in enumerate(district.tolist())
    ]
    size = rng.pareto(1.0, municipalities) + 0.02
    area = np.minimum(state[district] * AREAS // states, AREAS - 1)
    return Regions(tuple(codes), size / size.sum(), area.astype(np.int8))


@dataclass(frozen=True, eq=False)
class Dwellings:
    """Dwellings in the order of the file; they and buildings are counted from 0.

    `of_household` is the dwelling of each household. For each dwelling: its `municipality`, its
    `building`, whether it is the `first` one there, by which buildings are counted, and the other
    variables as codes, `answers`.
    """

    of_household: NDArray[np.int64]
    municipality: Codes
    building: NDArray[np.int64]
    first: NDArray[np.bool_]
    answers: dict[str, Codes]


def dwellings(rng: np.random.Generator, municipality: Codes, area: NDArray[np.int8]) -> Dwellings:
    """Dwellings for households that stand in the order of their municipalities.

    `municipality` is that of each household, `area` the kind of area of each municipality.
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
