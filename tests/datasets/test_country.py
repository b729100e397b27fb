"""The made-up country: borders without gaps, people in their areas, uneven as a real one."""

import numpy as np
import pytest

import diskret as dk
from diskret.datasets import country
from diskret.errors import InputError


def area(rings):
    """What rings go around, by the sum of their corners; all turn the same way."""
    return sum(
        float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2 for x, y in (ring.T for ring in rings)
    )


def test_it_is_the_same_for_the_same_seed_only():
    first, again, other = country(300, seed=1), country(300, seed=1), country(300, seed=2)
    assert first.persons.equals(again.persons)
    assert first.stations.equals(again.stations)
    assert not first.persons.equals(other.persons)


@pytest.mark.parametrize("n", [1, 40, 5_000])
def test_people_live_in_the_areas_that_they_are_said_to_live_in(n):
    land = country(n, seed=3)
    persons = land.persons
    assert persons.num_rows == n
    codes = persons["municipality"].to_pylist()
    assert land.municipalities.ids(persons["y"], persons["x"]).to_pylist() == codes
    districts = land.districts.ids(persons["y"], persons["x"]).to_pylist()
    assert districts == [code[:3] for code in codes]
    assert persons["postal"].null_count == 0
    leaves = [land.tree.codes[at] for at in land.tree.leaves]
    assert sorted(leaves) == sorted(land.municipalities.codes)
    homes = {}
    for row in persons.to_pylist():
        homes.setdefault(row["household"], set()).add((row["x"], row["y"]))
    assert all(len(places) == 1 for places in homes.values())


def test_borders_leave_no_gap_and_never_overlap():
    land = country(5_000, seed=4)
    municipality = dict(zip(land.municipalities.codes, land.municipalities.rings, strict=True))
    for code, rings in zip(land.districts.codes, land.districts.rings, strict=True):
        own = sum(area(part) for name, part in municipality.items() if name[:3] == code)
        assert area(rings) == pytest.approx(own)
    rng = np.random.default_rng(5)
    west, south, east, north = land.municipalities.bounds
    x, y = rng.uniform(west, east, 4_000), rng.uniform(south, north, 4_000)
    inside = land.municipalities.ids(y, x).to_pylist()
    around = land.districts.ids(y, x).to_pylist()
    assert [code and code[:3] for code in inside] == around
    assert None in around
    assert land.postal_areas.ids(y, x).null_count < 4_000


def test_it_is_as_uneven_as_a_country():
    land = country(20_000, seed=1)
    persons = land.persons
    cells = dk.spatial.Grid(1_000).ids(persons["y"], persons["x"]).to_pylist()
    number = np.unique(cells, return_counts=True)[1]
    assert (number < 5).mean() > 0.15
    assert number.max() > 20 * np.median(number)
    income = np.sort(persons["income"].to_numpy())[::-1]
    assert income[:20].sum() > 0.05 * income.sum()
    assert len(set(persons["postal"].to_pylist())) > 10


def test_nobody_is_no_country():
    with pytest.raises(InputError):
        country(0)
