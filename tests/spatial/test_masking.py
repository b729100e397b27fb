"""Masked points: among how many places each hides, by the attacker's own arithmetic."""

from itertools import permutations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from profiles import scaled

import diskret as dk
from diskret.errors import InputError, ProtectionError
from diskret.spatial import Grid, Ring, mask


def keys(number=0):
    return dk.SecretKeys(bytes([number % 256, 1 + number // 256]) + bytes(30))


def village(rng, number):
    """Houses close together and a few far out; some have several records."""
    x = np.round(rng.standard_t(1.3, number) * 300 + 4_300_000)
    y = np.round(rng.standard_t(1.3, number) * 300 + 2_700_000)
    often = rng.integers(1, 4, number)
    return pa.table({"x": np.repeat(x, often), "y": np.repeat(y, often)})


def places_of(table):
    return sorted(set(zip(table["x"].to_pylist(), table["y"].to_pylist(), strict=True)))


def widened(places, ring, least):
    """The ring of each place: the first of five that holds twice as many places, or as many."""
    found = {}
    for place in places:
        rings = [(ring.inner * times, ring.outer * times) for times in (1, 2, 4, 8, 16)]
        around = [
            sum(
                inner - 0.708 <= np.hypot(a - place[0], b - place[1]) <= outer + 0.708
                for a, b in places
            )
            for inner, outer in rings
        ]
        wanted = [i for room in (2, 1) for i in range(5) if around[i] >= room * least]
        found[place] = rings[wanted[0] if wanted and least > 1 else 0]
    return found


def likelihood(rings, place, point):
    """Density with which a place is moved to a point; rounding is a matter of less than a metre."""
    inner, outer = rings[place]
    away = np.hypot(point[0] - place[0], point[1] - place[1])
    inside = inner - 0.708 <= away <= outer + 0.708
    return inside / (outer**2 - inner**2)


@pytest.mark.parametrize("seed", range(scaled(6)))
@pytest.mark.parametrize(
    ("ring", "least"), [(Ring(0, 200), 1), (Ring(50, 200), 4), (Ring(20, 60), 3)]
)
def test_a_point_hides_among_the_places_that_may_be_its_own(seed, ring, least):
    table = village(np.random.default_rng(seed), 25)
    masked = mask(table, ring, least=least, keys=keys(seed))
    places = places_of(table)
    rings = widened(places, ring, least)
    shown = masked.frame.to_pylist()
    for row, new, number, moved in zip(
        table.to_pylist(), shown, masked.places, masked.moved, strict=True
    ):
        place = (row["x"], row["y"])
        if number == 0:
            assert new == {"x": None, "y": None}
            continue
        point = (new["x"], new["y"])
        likely = {other: likelihood(rings, other, point) for other in places}
        assert likely[place] > 0
        assert number == pytest.approx(sum(likely.values()) / max(likely.values()))
        assert number >= least
        assert moved == pytest.approx(np.hypot(point[0] - place[0], point[1] - place[1]))


@pytest.mark.parametrize(("ring", "least"), [(Ring(0, 200), 1), (Ring(50, 200), 3)])
def test_the_best_guess_is_right_as_often_as_is_said(ring, least):
    # over many keys: who knows places and method guesses the likeliest place of each point
    rng = np.random.default_rng(4)
    table = village(rng, 12)
    places = places_of(table)
    rings = widened(places, ring, least)
    right = expected = tried = 0.0
    for number in range(scaled(90)):
        masked = mask(table, ring, least=least, keys=keys(number))
        points = masked.frame.to_pylist()
        for place in places:
            row = next(
                i for i, one in enumerate(table.to_pylist()) if (one["x"], one["y"]) == place
            )
            if masked.places[row] == 0:
                continue
            point = (points[row]["x"], points[row]["y"])
            likely = np.array([likelihood(rings, other, point) for other in places])
            best = np.flatnonzero(likely == likely.max())
            right += (places.index(place) in best) / len(best)
            expected += 1 / masked.places[row]
            tried += 1
    spread = np.sqrt(expected * (1 - expected / tried))
    assert abs(right - expected) < 4 * spread
    assert tried > 20


def test_who_lives_together_moves_together_and_always_in_the_same_way():
    table = village(np.random.default_rng(1), 30)
    first, again = (mask(table, Ring(50, 300), keys=keys(1)) for _ in range(2))
    other = mask(table, Ring(50, 300), keys=keys(2))
    assert first.frame.equals(again.frame)
    assert not first.frame.equals(other.frame)
    assert first.frame.equals(mask(table, Ring(50.0, 300.0), keys=keys(1)).frame)
    homes = {}
    for row, new in zip(table.to_pylist(), first.frame.to_pylist(), strict=True):
        homes.setdefault((row["x"], row["y"]), set()).add((new["x"], new["y"]))
    assert {len(points) for points in homes.values()} == {1}
    shuffled = table.take(np.random.default_rng(2).permutation(len(table)))
    assert places_of(mask(shuffled, Ring(50, 300), keys=keys(1)).frame) == places_of(first.frame)


def test_two_editions_do_not_tell_the_places_of_the_first():
    """The village has grown, so rings are narrower: P + 4 s in one edition, P + s in the other."""
    draw = np.random.default_rng(0)
    homes = np.round(draw.uniform(0, 3_000, (440, 2)) + [4_300_000, 2_600_000], 1)
    moved = [
        mask(pa.table({"x": x, "y": y}), Ring(100, 300), least=5, keys=keys(1)).frame
        for x, y in (homes[:40].T, homes.T)
    ]
    first, second = (
        np.column_stack([one[name].to_numpy(zero_copy_only=False)[:40] for name in "xy"])
        for one in moved
    )
    told = [
        np.hypot(*((after * second - before * first) / (after - before) - homes[:40]).T) < 4
        for after, before in ((2, 1), (4, 1), (8, 1), (4, 2), (8, 2), (16, 1))
    ]
    shown = ~np.isnan(first + second).any(axis=1)
    assert shown.sum() > 20
    assert np.any(told, axis=0)[shown].sum() <= 1


def test_every_part_of_the_ring_is_equally_likely():
    x = np.arange(10_000.0) * 3 + 4_000_000
    table = pa.table({"x": x, "y": np.full(len(x), 2_500_000.0)})
    masked = mask(table, Ring(100, 500), keys=keys(3))
    step = np.stack([masked.frame["x"].to_numpy() - x, masked.frame["y"].to_numpy() - 2_500_000])
    far = np.hypot(*step)
    assert 99.2 < far.min() < 101
    assert 499 < far.max() < 500.8
    share = np.sort((far**2 - 100**2) / (500**2 - 100**2))
    turned = np.sort((np.arctan2(step[1], step[0]) / (2 * np.pi)) % 1)
    even = (np.arange(len(x)) + 0.5) / len(x)
    for found in (share, turned):  # Kolmogorov: 1.95 is passed by one in a thousand
        assert np.abs(found - even).max() * np.sqrt(len(x)) < 1.95
    assert abs(np.corrcoef(far, np.arctan2(step[1], step[0]))[0, 1]) < 0.03


@pytest.mark.parametrize("seed", range(scaled(4)))
def test_points_of_a_cell_become_its_middle(seed):
    table = village(np.random.default_rng(seed), 40)
    grid = Grid(1_000)
    masked = mask(table, grid, least=3)
    places = places_of(table)
    cell = {place: (place[0] // 1_000, place[1] // 1_000) for place in places}
    for row, new, number in zip(
        table.to_pylist(), masked.frame.to_pylist(), masked.places, strict=True
    ):
        own = cell[row["x"], row["y"]]
        together = sum(other == own for other in cell.values())
        if together < 3:
            assert (number, new["x"]) == (0, None)
        else:
            assert number == together
            assert (new["x"], new["y"]) == (own[0] * 1_000 + 500, own[1] * 1_000 + 500)


def test_a_sample_hides_among_everybody():
    everybody = village(np.random.default_rng(5), 60)
    sample = everybody.slice(0, 9)
    alone = mask(sample, Ring(0, 300), keys=keys(1))
    among = mask(sample, Ring(0, 300), population=everybody, keys=keys(1))
    assert alone.frame.equals(among.frame)
    assert (among.places >= alone.places).all()
    assert among.places.sum() > alone.places.sum()
    with pytest.raises(InputError, match="none of the population's, the first in row 11"):
        mask(everybody, Ring(0, 300), population=sample, keys=keys(1))


def test_frames_stay_what_they_are_and_degrees_are_taken():
    homes = pd.DataFrame(
        {"name": list("abc"), "lon": [10.0, 10.0001, 13.0], "lat": [52.0, 52.0001, 50.0]},
        index=[5, 6, 7],
    )
    masked = mask(homes, Ring(0, 2_000), least=2, x="lon", y="lat", crs=4326, keys=keys(1))
    assert masked.frame.index.tolist() == [5, 6, 7]
    assert masked.frame["name"].tolist() == ["a", "b", "c"]
    assert masked.hidden == 1
    assert masked.frame["lon"].isna().tolist() == [False, False, True]
    assert np.allclose(masked.frame["lat"][:2], 52, atol=0.03)
    assert "1 record has no coordinates" in masked.summary()
    assert "1 Datensatz hat keine Koordinaten" in masked.summary("de")
    assert len(masked.claim()) == len(masked.claim("de")) == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"how": Grid(1_000), "few": "drop"}, "few must be 'hide' or 'refuse'"),
        ({"how": Grid(1_000), "least": 0}, "least must be a whole number"),
        ({"how": Grid(1_000), "x": "z"}, "'z'"),
        ({"how": Ring(0, 5), "crs": 4326}, "'y' is infinite .*first in row 2"),
    ],
)
def test_what_cannot_be_masked_is_refused(change, message):
    table = pa.table({"x": [1.0, 2.0], "y": [1.0, float("inf")]})
    with pytest.raises(InputError, match=message):
        mask(table, **change)


@pytest.mark.parametrize(("inner", "outer"), [(-1, 5), (5, 5), (0, float("nan")), (0, 1e9)])
def test_rings_that_are_none_are_refused(inner, outer):
    with pytest.raises(InputError, match="make no ring"):
        Ring(inner, outer)


def test_few_are_refused_where_that_is_asked():
    table = pa.table({"x": [0.0, 10.0, 90_000.0], "y": [0.0] * 3})
    with pytest.raises(ProtectionError, match="1 point hides among fewer than 2 places.*row 3"):
        mask(table, Grid(1_000, crs=25832), crs=25832, least=2, few="refuse")


def fits(candidates, places):
    """All ways to give different places to points, by trying them all."""
    for chosen in permutations(places, len(candidates)):
        if all(place in one for place, one in zip(chosen, candidates, strict=True)):
            yield chosen


@pytest.mark.parametrize("seed", range(scaled(20)))
@pytest.mark.parametrize("sample", [False, True])
def test_what_all_points_together_leave_possible(seed, sample):
    rng = np.random.default_rng(seed)
    x, y = np.round(rng.uniform(0, 500, (2, 7))) + 4_300_000
    everybody = pa.table({"x": x, "y": y})
    table = everybody.slice(0, 5) if sample else everybody
    ring, least = Ring(20, 200), int(rng.integers(1, 3))
    masked = mask(table, ring, population=everybody, least=least, keys=keys(seed))
    places = places_of(everybody)
    rings = widened(places, ring, least)
    points = {  # place → its shown point
        (row["x"], row["y"]): (new["x"], new["y"])
        for row, new in zip(table.to_pylist(), masked.frame.to_pylist(), strict=True)
        if new["x"] is not None
    }
    candidates = [
        {place for place in places if likelihood(rings, place, point) > 0}
        for point in points.values()
    ]
    possible = [set() for _ in points]
    for chosen in fits(candidates, places):
        for found, place in zip(possible, chosen, strict=True):
            found.add(place)
    left = dict(zip(points, map(len, possible), strict=True))
    told = {
        (row["x"], row["y"]): number
        for row, number in zip(table.to_pylist(), masked.together.tolist(), strict=True)
        if number
    }
    assert told == left
    assert all(number >= least for number in told.values())


def test_a_place_that_only_one_point_can_need_is_ruled_out():
    # A and B lie close together, C within reach of B only: of three points, C's own tells it
    land = pa.table({"x": [0.0, 0.0, 0.0], "y": [0.0, 10.0, 250.0]})
    found = set()
    for number in range(60):
        masked = mask(land, Ring(0, 200), crs=25832, keys=keys(number))
        third = int(masked.places[2]), int(masked.together[2])
        found.add(third)
        assert masked.together[2] <= masked.places[2]
    assert (2, 1) in found or (3, 1) in found  # one point leaves two places, all together one


def test_of_towns_some_places_are_looked_at():
    rng = np.random.default_rng(3)
    table = pa.table(dict(zip("xy", np.round(rng.normal(0, 300, (2, 3_000)) + 4e6), strict=True)))
    masked = mask(table, Ring(0, 500), least=5, keys=keys(1))
    assert masked.hidden < 100
    shown = masked.places > 0
    assert (masked.together[shown] >= 5).all()
    assert np.median(masked.together[shown]) > 30
    assert np.median(masked.places[shown]) > 500
