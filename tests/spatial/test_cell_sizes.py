"""Risk against loss by cell size: shares counted from records, the same maps as one by one."""

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import InputError
from diskret.spatial import by_cell_size, compare


def made(seed, n=300):
    """People around few places, cells of 1, 2 and 4 km."""
    rng = np.random.default_rng(seed)
    middle = rng.uniform(0, 12_000, (6, 2))[rng.choice(6, n, p=[0.5, 0.3, 0.1, 0.05, 0.03, 0.02])]
    place = np.clip(middle + rng.standard_t(2, (n, 2)) * 900, 0, 11_999)
    north, east = 2_600_000 + place[:, 0], 4_300_000 + place[:, 1]
    grid = dk.spatial.Grid(1_000)
    cells = grid.ids(north, east)
    tree = grid.tree(cells.to_pylist(), [2_000, 4_000])
    return np.stack([north, east]), dk.tabulate(pa.table({"cell": cells}), by={"cell": tree})


@pytest.mark.parametrize("seed", range(3))
def test_shares_of_plain_grids_are_those_counted_from_the_points(seed):
    places, table = made(seed)
    found = by_cell_size(table, dk.rules.MinimumFrequency(5), "cell")
    for name, width in (("as it is", 1_000), ("2 km", 2_000), ("4 km", 4_000)):
        _, number = np.unique(places // width, axis=1, return_counts=True)
        at = found.choices.index(name)
        few = number < 5
        assert found.risk["unsafe_cells"][at] == pytest.approx(few.mean())
        assert found.risk["unsafe_people"][at] == pytest.approx(number[few].sum() / number.sum())


def test_losses_are_those_of_the_maps():
    _, table = made(7)
    rule = dk.rules.MinimumFrequency(5)
    hidden = dk.suppress(table, rule)
    rounded = dk.round_table(table, base=5)
    found = by_cell_size(table, rule, "cell", beside={"hidden": hidden, "rounded": rounded})
    maps = {
        "2 km": table.recode("cell", level=2),
        "quadtree 4 km": dk.spatial.quadtree(table, rule, "cell", coarsest=1),
        "hidden": hidden,
        "rounded": rounded,
    }
    for name, one in maps.items():
        at, alone = found.choices.index(name), compare(table, one, "cell")
        assert found.loss["transport"][at] == alone.transport.high
        assert found.loss["hellinger"][at] == alone.hellinger.scaled
        assert found.loss["moran"][at] == pytest.approx(2 * abs(alone.ilm))
        assert found.loss["largest"][at] == 1 - alone.largest_agree
    as_it_is = {name: values[0] for name, values in found.loss.items()}
    assert as_it_is == dict.fromkeys(as_it_is, 0)
    assert found.risk["unsafe_cells"][0] > 0
    assert found.risk["unsafe_cells"][found.choices.index("hidden")] == 0
    true = table.measure.sum
    shown = rounded.published.value
    leaf = table.dimensions[0].hierarchy.is_leaf & (true > 0)
    left = leaf & (true < 5) & (shown == true)
    at = found.choices.index("rounded")
    assert found.risk["unsafe_cells"][at] == pytest.approx(left.sum() / leaf.sum())


def test_quadtrees_lose_less_than_the_grids_that_they_reach():
    _, table = made(5, 2_000)
    found = by_cell_size(table, dk.rules.MinimumFrequency(5), "cell")
    loss = dict(zip(found.choices, found.loss["transport"], strict=True))
    assert 0 < loss["quadtree 2 km"] <= loss["2 km"]
    assert loss["quadtree 4 km"] <= loss["4 km"]
    assert loss["2 km"] < loss["4 km"]
    assert "as it is" in {
        name for name, on in zip(found.choices, found.frontier, strict=True) if on
    }
    pytest.importorskip("matplotlib")
    assert found.plot("unsafe_people", "transport", "de").axes


def test_what_cannot_be_tried_is_refused():
    _, table = made(2)
    rule = dk.rules.MinimumFrequency(5)
    with pytest.raises(InputError, match="is tried anyway"):
        by_cell_size(table, rule, "cell", beside={"2 km": table})
    codes = ["1kmN2600E4300", "OWN3035SIZE2000mN2602000E4302000"]
    mixed = dk.tabulate(pa.table({"cell": codes * 3}), by={"cell": None})
    with pytest.raises(InputError, match="several widths"):
        by_cell_size(mixed, rule, "cell")
    with pytest.raises(InputError, match="has no dimension"):
        by_cell_size(table, rule, "place")


def test_noise_is_compared_with_what_it_was_made_of():
    grid, persons = dk.spatial.Grid(1_000), dk.datasets.country(400, seed=3).persons
    people = dk.record_keys(dk.spatial.locate(persons, grid), id="person")
    tree = grid.tree(people["cell"], [2_000])
    table = dk.tabulate(people, by={"cell": tree}, record_key="record_key")
    noise = dk.PerturbationTable.maximum_entropy(max_noise=4, variance=2, small_counts=1)
    lookup = noise.lookup(order="shuffled", seed=3)
    noisy = dk.perturb(table["count"], lookup, name="cells")
    rule = dk.rules.MinimumFrequency(5)
    found = by_cell_size(table, rule, "cell", beside={"noise": noisy})
    assert found.choices[-1] == "noise"
    assert 0 < found.loss["transport"][-1] < found.loss["transport"][1]
    by_unit = dk.tabulate(people, by={"cell": tree}, record_key="record_key", unit="person")
    noisy = dk.perturb(by_unit["count"], lookup, name="cells")
    with pytest.raises(InputError, match="its own `.table`"):
        compare(by_unit["count"], noisy, "cell")
    away = compare(noisy.table, noisy, "cell").table["difference"].to_numpy()
    assert 0 < np.abs(away).max() <= 4
