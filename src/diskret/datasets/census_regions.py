"""Municipalities in districts in states: a few are large, most are small."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.datasets.census_draw import country
from diskret.datasets.classifications import STATES
from diskret.hierarchy import Hierarchy

#: West Germany in 1987: persons, municipalities, districts, states.
PERSONS, MUNICIPALITIES, DISTRICTS, LARGEST = 63_202_834, 8_503, 328, 11
#: Kinds of areas, by which answers differ.
AREAS = 4


@dataclass(frozen=True, eq=False)
class Regions:
    """The municipalities in the order of their codes.

    Parameters
    ----------
    codes
        State (2 characters), district (3) and municipality (3).
    size
        Share of the households in each.
    area
        Kind of area of each, below `AREAS`.
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
