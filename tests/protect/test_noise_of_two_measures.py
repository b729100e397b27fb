"""Noise of two measures: their ratio tells no more than unrelated noise would, from records."""

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import InputError

FIRMS = 3000
TABLE = dk.PerturbationTable.for_magnitudes(max_noise=2, variance=1)
NOISE = dk.MagnitudeNoise(TABLE, scale=0.2)
MODULI = [256, 4096, 2**32, 10**4, 10**8, 750]


def register(modulus=2**32, seed=1, keys=2):
    """One firm a cell: staff costs that everybody knows, wages that nobody should."""
    random = np.random.default_rng(seed)
    costs = random.integers(10**6, 10**8, FIRMS)
    return pa.table(
        {
            "firm": [f"F{i}" for i in range(FIRMS)],
            "area": np.array(["N", "S"])[np.arange(FIRMS) % 2],
            "costs": costs,
            "wages": np.rint(costs * random.uniform(0.5, 0.9, FIRMS)).astype(np.int64),
            **{
                f"key{i}": random.integers(0, modulus, FIRMS).astype(np.int64)
                for i in range(1, keys + 1)
            },
        }
    )


def published(frame, value, modulus=2**32, key="key1", noise=NOISE, by="firm", **options):
    """Published values of the leaves, in the order of their codes."""
    asked = {"decimals": options.pop("decimals", 0), "where": options.pop("where", None)}
    engine = options.pop("engine", None)
    table = dk.tabulate(
        frame, by={by: None}, value=value, record_key=key, key_modulus=modulus, engine=engine,
        **asked,
    )  # fmt: skip
    names = [value] if isinstance(value, str) else value
    return [
        dk.perturb(table[name], noise, **options).published.value[1:]
        / 10.0 ** table[name].measure.decimals
        for name in names
    ]


def relative(frame, shown, name):
    """Noise of the firms as a share of their value."""
    true = dict(zip(frame["firm"].to_pylist(), frame[name].to_pylist(), strict=True))
    exact = np.array([float(true[f]) for f in sorted(true)])
    return shown / exact - 1


def recovered(wages, costs, frame, within=0.02):
    """Share of wages within 2 % of the ratio times the known costs: the test's own attack."""
    order = np.argsort(frame["firm"].to_pylist())
    x, y = (np.array(frame[name].to_pylist())[order] for name in ("costs", "wages"))
    return np.mean(np.abs(wages * x / costs - y) < within * y)


@pytest.mark.parametrize("modulus", MODULI)
def test_ratio_recovers_no_more_than_keys_that_know_nothing_of_each_other(modulus):
    frame = register(modulus)
    costs, wages = published(frame, ["costs", "wages"], modulus)
    unrelated = published(frame, "wages", modulus, key="key2")[0]
    found, chance = recovered(wages, costs, frame), recovered(unrelated, costs, frame)
    assert chance < 0.4
    assert abs(found - chance) < 5 * np.sqrt(2 * chance * (1 - chance) / FIRMS) + 0.5 / modulus**0.5


def test_with_the_keys_of_the_cells_the_ratio_tells_everything():
    """The switch that makes figures comparable to other programs, and what it costs."""
    frame = register()
    shared = dk.MagnitudeNoise(TABLE, scale=0.2, keys="cell")
    costs, wages = published(frame, ["costs", "wages"], noise=shared)
    assert recovered(wages, costs, frame, within=1e-6) > 0.99


@pytest.mark.parametrize("modulus", MODULI)
def test_noise_of_a_count_tells_nothing_of_the_noise_of_a_sum(modulus):
    """Everybody knows that one firm is counted, so the noise of its count is known."""
    frame = register(modulus)
    counts = dk.PerturbationTable.maximum_entropy(max_noise=3, variance=2)
    table = dk.tabulate(
        frame, by={"firm": None}, value="wages", record_key="key1", key_modulus=modulus
    )
    of_counts = dk.perturb(table["count"], counts).noise[1:]
    of_sums = relative(frame, dk.perturb(table["wages"], NOISE).published.value[1:], "wages")
    assert len(np.unique(of_counts)) > 3
    overall = np.abs(of_sums).mean()
    for shown in np.unique(of_counts):
        group = of_sums[of_counts == shown]
        error = 5 / np.sqrt(len(group)) + 2 / modulus**0.5
        assert abs(group.mean()) < error * overall * 1.5


def test_aliases_and_other_units_have_one_noise():
    frame = register()
    costs = np.array(frame["costs"].to_pylist())
    frame = frame.append_column("outlay", frame["costs"])
    frame = frame.append_column("thousands", pa.array(costs * 1000))
    frame = frame.append_column("gross", pa.array(costs * 1.19))
    names = ["costs", "outlay", "thousands", "gross", "wages"]
    shown = published(frame, names, decimals={"gross": 2})
    first, *others, wages = (
        relative(frame, values, name) for values, name in zip(shown, names, strict=True)
    )
    for other in others:
        assert np.abs(other - first).max() < 2e-6  # values are rounded to units
    assert np.mean(np.abs(wages - first) < 1e-3) < 0.3
    # so it is where each of them is tabulated alone, and of some of the records
    for name, values in zip(names, shown, strict=True):
        digits = {"decimals": 2 if name == "gross" else 0}
        assert np.array_equal(published(frame, name, **digits)[0], values)
        north = published(frame, name, where={"area": "N"}, **digits)[0]
        order = np.argsort(frame["firm"].to_pylist())
        inside = np.array(frame["area"].to_pylist())[order] == "N"
        assert np.array_equal(north, values[inside])


def test_what_is_proportional_in_one_region_only_has_keys_of_its_own_everywhere():
    """Or the same cell would have two values: one with a filter, one without."""
    frame = register()
    north = np.array(frame["area"].to_pylist()) == "N"
    costs, wages = (np.array(frame[n].to_pylist()) for n in ("costs", "wages"))
    frame = frame.append_column("mixed", pa.array(np.where(north, costs, wages)))
    whole = published(frame, ["costs", "mixed"])[1]
    part = published(frame, ["costs", "mixed"], where={"area": "N"})[1]
    order = np.argsort(frame["firm"].to_pylist())
    assert np.array_equal(whole[north[order]], part)


def test_a_renamed_column_keeps_its_noise_if_its_name_is_told():
    frame = register()
    renamed = frame.rename_columns(["firm", "area", "costs", "Wages 2026", "key1", "key2"])
    wages = published(frame, "wages")[0]
    assert not np.array_equal(published(renamed, "Wages 2026")[0], wages)
    assert np.array_equal(published(renamed, "Wages 2026", measure="wages")[0], wages)
    assert np.array_equal(published(renamed, "Wages 2026", measure=" WAGES ")[0], wages)


def test_cells_from_elsewhere_have_the_noise_of_the_records():
    frame = register()
    table = dk.tabulate(frame, by={"firm": None}, value="wages", record_key="key1", largest=1)
    cells = table.cells.append_column("x1", pa.array(table.measure.largest[..., 0]))
    given = dk.Table.from_cells(
        cells, by={"firm": None}, value="wages", count="count", largest=["x1"]
    )
    keys = table.cells.select(["firm"]).append_column("key", pa.array(table.key_sum))
    own = dk.perturb(given, NOISE, cell_keys=keys).published.value
    assert np.array_equal(own, dk.perturb(table, NOISE).published.value)


def test_a_name_for_keys_that_are_not_by_measure_is_refused():
    frame = register()
    shared = dk.MagnitudeNoise(TABLE, scale=0.2, keys="cell")
    with pytest.raises(InputError, match=r"measure= names.*keys='cell'"):
        published(frame, "wages", noise=shared, measure="x")
    counts = dk.PerturbationTable.maximum_entropy(max_noise=3, variance=2)
    with pytest.raises(InputError, match=r"measure= names.*sums"):
        published(frame, "wages", noise=counts, weighted_count=True, measure="x")
    with pytest.raises(InputError, match=r"own_keys=.*keys='cell'"):
        dk.MagnitudeNoise(TABLE, own_keys=True)
    with pytest.raises(InputError, match=r"keys= must be 'measure' or 'cell'"):
        dk.MagnitudeNoise(TABLE, keys="other")


def test_coarser_codes_keep_the_noise():
    """Where the coarse cell is the same firm, its sum is the same."""
    frame = register().slice(0, 4).append_column("a", pa.array([2, 4, 6, 8]))
    frame = frame.append_column("twice", pa.array([4, 8, 12, 16]))
    table = dk.tabulate(frame, by={"firm": None}, value="twice", record_key="key1")
    coarse = table.recode("firm", {"others": ["F1", "F2"]})
    assert table.measure.source == coarse.measure.source == "a"
    fine, made = (dk.perturb(t, NOISE).public.to_pylist() for t in (table, coarse))
    shown = {row["firm"]: row["twice"] for row in fine}
    assert [shown[row["firm"]] == row["twice"] for row in made if row["firm"] in shown] == [
        True
    ] * 3
