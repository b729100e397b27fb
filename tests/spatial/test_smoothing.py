"""Smooth maps: unrounded they tell everything, rounded each small count might be another."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from profiles import scaled

import diskret as dk
from diskret.errors import InputError, ProtectionError
from diskret.spatial import Grid, smooth, smoothing

KEYS = dk.SecretKeys(bytes(range(32)))
GRID = Grid(1_000)
SOUTH, WEST = 2_600_000, 4_300_000


def table_of(counts):
    """A table of cells from (row, column) → persons; cells with nobody are codes, too."""
    rows = np.array(list(counts)) * 1_000
    cells = GRID.ids(rows[:, 0] + SOUTH, rows[:, 1] + WEST)
    records = cells.take(pa.array(np.repeat(np.arange(len(rows)), list(counts.values()))))
    return dk.tabulate(pa.table({"cell": records}), by={"cell": GRID.tree(cells)})


def random_counts(rng):
    places = {(int(a), int(b)) for a, b in rng.integers(0, [9, 12], (40, 2))}
    return {place: int(rng.pareto(0.7)) for place in sorted(places)}


def kernel(bandwidth, kind, offset):
    """One axis, by its definition."""
    if kind == "normal":
        return np.exp(-((offset / bandwidth) ** 2) / 2) if abs(offset) <= 3 * bandwidth else 0.0
    return max(1 - (offset / bandwidth) ** 2, 0.0)


def dense(counts, bandwidth, kind):
    """The map by its definition: (row, column) → value, of all cells that anybody adds to."""
    reach = int(3 * bandwidth) + 2
    total = sum(kernel(bandwidth, kind, at) for at in range(-reach, reach + 1))
    shown = {}
    for (row, column), number in counts.items():
        for a in range(-reach, reach + 1):
            for b in range(-reach, reach + 1):
                add = kernel(bandwidth, kind, a) * kernel(bandwidth, kind, b) / total**2
                at = row + a, column + b
                shown[at] = shown.get(at, 0.0) + number * add
    return shown


def place(code):
    south, west = GRID.corners([code])
    return int(south[0] - SOUTH) // 1_000, int(west[0] - WEST) // 1_000


def rounded(shown, step):
    return {at: round(value / step) for at, value in shown.items() if round(value / step)}


@pytest.mark.parametrize("kind", ["normal", "epanechnikov"])
@pytest.mark.parametrize("seed", range(scaled(8)))
def test_each_small_count_might_be_another(seed, kind):
    rng = np.random.default_rng(seed)
    counts = random_counts(rng)
    least, width = int(rng.integers(2, 6)), float(rng.choice([0.7, 1.0, 2.3]))
    bandwidth = width * (1 if kind == "normal" else 2)
    found = smooth(
        table_of(counts),
        dk.rules.MinimumFrequency(least),
        bandwidth=bandwidth * 1_000,
        kernel=kind,
        keys=KEYS,
    )
    public = {
        place(row["cell"]): round(row["value"] / found.step) for row in found.frame.to_pylist()
    }
    assert public == rounded(dense(counts, bandwidth, kind), found.step)
    assert {place(code) for code in found.moves} == {
        at for at, number in counts.items() if 0 < number < least
    }
    for code, moves in found.moves.items():
        other = dict(counts)
        for to, number in moves.items():
            assert place(to) in counts  # where somebody may live
            other[place(to)] += number
        assert min(other.values()) >= 0
        assert sum(other.values()) == sum(counts.values())
        assert other[place(code)] == 0 or other[place(code)] >= least
        assert rounded(dense(other, bandwidth, kind), found.step) == public


@pytest.mark.parametrize("seed", range(scaled(4)))
def test_an_unrounded_map_tells_every_count(seed):
    # by whoever knows the kernel: as many equations as cells
    counts = random_counts(np.random.default_rng(seed))
    shown = dense(counts, 1.0, "normal")
    cells, places = list(counts), list(shown)
    total = sum(kernel(1.0, "normal", at) for at in range(-5, 6))
    matrix = np.array(
        [
            [
                kernel(1.0, "normal", a - c) * kernel(1.0, "normal", b - d) / total**2
                for c, d in cells
            ]
            for a, b in places
        ]
    )
    told = np.linalg.lstsq(matrix, np.array([shown[at] for at in places]), rcond=None)[0]
    assert np.rint(told).astype(int).tolist() == list(counts.values())
    with pytest.raises(ProtectionError, match="rounded to 0.0001, this map tells a small count"):
        smooth(
            table_of({**counts, (0, 0): 1}),
            dk.rules.MinimumFrequency(3),
            bandwidth=1_000,
            step=0.0001,
        )


def test_a_coarser_step_is_taken_where_it_is_asked_for():
    counts = {(0, 0): 1, (0, 1): 40, (1, 0): 30, (5, 5): 2, (5, 6): 8}
    rule = dk.rules.MinimumFrequency(3)
    own = smooth(table_of(counts), rule, bandwidth=1_500, keys=KEYS)
    coarse = smooth(table_of(counts), rule, bandwidth=1_500, step=own.step * 10)
    assert coarse.step == own.step * 10
    values = np.array(coarse.frame["value"].to_pylist()) / coarse.step
    assert np.allclose(values, np.rint(values))
    assert "2 cells have fewer than 3 persons" in own.claim()[0]
    assert "2 Zellen haben weniger als 3 Personen" in own.claim("de")[0]


def test_without_small_counts_the_first_step_that_is_drawn_is_enough():
    table, rule = table_of({(0, 0): 7, (0, 1): 0}), dk.rules.MinimumFrequency(3)
    keys = [dk.SecretKeys(bytes([*range(31), n])) for n in range(60)]
    found = [smooth(table, rule, bandwidth=500, keys=one) for one in keys]
    assert all(one.moves == {} for one in found)
    steps = [one.step for one in found]
    # of 60 maps 45 begin with the finest step by chance, 8 with the next, 3 with the one after
    assert 35 <= steps.count(0.0001) <= 55 and len({*steps}) > 3
    assert steps[0] == smooth(table, rule, bandwidth=500, keys=keys[0]).step


def released(counts, least):
    """All maps that may be made of a street, for some keys or others: step and values."""
    count = np.array(counts)[None, :]
    weight = smoothing._weights(1.5, "normal")
    value = smoothing._smoothed(count, weight)
    search = smoothing._Search(count, np.ones(count.shape, bool), value, weight, least)
    unsafe = np.argwhere((count > 0) & (count < least))
    for step in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0):
        if search.moves(unsafe, step) is not None:
            yield step, tuple(np.rint(value / step).astype(int).ravel())


def test_who_tries_all_distributions_learns_no_small_count_from_map_and_step():
    """Twelve persons in four houses; he knows how the step is chosen, and all but the keys."""
    least, made = 3, dict[object, list[tuple[int, ...]]]()
    for counts in product(range(13), repeat=4):
        for shown in released(counts, least) if sum(counts) == 12 else ():
            made.setdefault(shown, []).append(counts)
    judged = 0
    for possible in made.values():
        for house in range(4):
            told = {counts[house] for counts in possible}
            judged += bool({*range(1, least)} & told)
            assert not told <= {*range(1, least)}
    assert judged > 100


def test_nobody_else_to_be_taken_for_is_refused():
    # one cell in which anybody may live: its count is the sum of the map
    with pytest.raises(ProtectionError, match="tells a small count"):
        smooth(table_of({(0, 0): 1}), dk.rules.MinimumFrequency(3), bandwidth=1_000, step=0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bandwidth": 10}, "a fifth of a cell's width"),
        ({"bandwidth": float("nan")}, "a fifth of a cell's width"),
        ({"kernel": "box"}, "'normal' or 'epanechnikov'"),
        ({"step": 0}, "step must be a number above 0"),
        ({"rule": dk.rules.PPercent(10)}, "cannot judge a smooth map"),
    ],
)
def test_what_makes_no_map_is_refused(change, message):
    asked = {"rule": dk.rules.MinimumFrequency(3), "bandwidth": 1_000, **change}
    with pytest.raises(InputError, match=message):
        smooth(table_of({(0, 0): 7}), **asked)


def test_other_tables_make_no_map():
    rule = dk.rules.MinimumFrequency(3)
    records = pa.table({"cell": GRID.ids([SOUTH], [WEST]), "sex": ["f"]})
    with pytest.raises(InputError, match="leave other variables out"):
        smooth(dk.tabulate(records, by={"cell": None, "sex": None}), rule, bandwidth=1_000)
    with pytest.raises(InputError, match="no id of a cell"):
        smooth(dk.tabulate(records, by={"sex": None}), rule, bandwidth=1_000)
    mixed = pa.table({"cell": ["1kmN2684E4334", "10kmN268E434"]})
    with pytest.raises(InputError, match="cells of one width"):
        smooth(dk.tabulate(mixed, by={"cell": None}), rule, bandwidth=1_000)
    far = pa.table({"cell": ["100mN9000E9000", "100mN54000E73000"]})
    with pytest.raises(InputError, match="take a coarser grid"):
        smooth(dk.tabulate(far, by={"cell": None}), rule, bandwidth=1_000)
