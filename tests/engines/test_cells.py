"""Cells that engines compute are those of `locate`, and points on no grid are refused."""

from collections import Counter
from decimal import Decimal

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
from engines.postgres_server import table_of
from engines.spark_server import ONE_SPARK, in_spark
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.engines.duckdb import DuckDBEngine
from diskret.errors import HierarchyError, InputError
from diskret.io import to_arrow
from diskret.spatial import Grid, locate, located

EACH = ["duckdb", "postgres", pytest.param("spark", marks=ONE_SPARK)]
HERE = (4_334_100, 2_684_100)


def counted(engine, records, grid, where=None, by=None, **options):
    """Cell → number of records, as an engine computes it."""
    found = located(records, grid, **options)
    if engine == "postgres":
        found = located(table_of(records), grid, **options)
    run = {"duckdb": DuckDBEngine, "spark": in_spark}.get(engine)
    table = dk.tabulate(found, by=by or {"cell": None}, where=where, engine=run)
    cells = table.cells.to_pydict()
    tree = table.dimensions[0].hierarchy
    leaves = {tree.codes[at] for at in tree.leaves.tolist()}
    return {
        cell: n for cell, n in zip(cells["cell"], cells["count"], strict=True) if cell in leaves
    }


def in_memory(records, grid):
    return dict(Counter(locate(records, grid)["cell"].to_pylist()))


def kinds(values):
    """The same coordinates as columns of every kind that can hold them."""
    yield pa.array([float(value) for value in values])
    yield pa.array([str(value) for value in values])
    yield pa.array(values, pa.decimal128(20, 4))
    if all(value == int(value) for value in values):
        yield pa.array([int(value) for value in values])


# on borders, a little beside them, on both sides of zero
coordinate = st.builds(
    lambda cell, size, beside: Decimal(cell * size) + beside,
    st.integers(-30, 30),
    st.sampled_from([100, 250, 1_000]),
    st.sampled_from([Decimal(text) for text in ("0", "-0.0001", "0.0001", "-1", "49.5", "7")]),
)
points = st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=12)
grids = st.sampled_from([100, 250, 1_000, 3_000, 7]).map(lambda size: Grid(size, crs=25832))


def agree(engine, points, grid):
    east, north = zip(*points, strict=True)
    for x, y in zip(kinds(east), kinds(north), strict=False):
        records = pa.table({"x": x, "y": y})
        assert counted(engine, records, grid) == in_memory(records, grid)


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
@examples(40)
@given(points=points, grid=grids)
def test_every_engine_computes_the_cells_of_locate(engine, points, grid):
    agree(engine, points, grid)


@ONE_SPARK
def test_spark_computes_the_cells_of_locate():
    beside = [Decimal(text) for text in ("0", "-0.0001", "0.0001", "-1", "49.5", "7")]
    ends = [cell * 250 + less for cell in (-4, -1, 0, 3) for less in beside]
    agree("spark", list(zip(ends, reversed(ends), strict=True)), Grid(250, crs=25832))


@pytest.mark.parametrize("engine", EACH)
@pytest.mark.parametrize("spelling", ["long", "short"])
def test_ids_are_official_in_both_spellings(engine, spelling):
    records = pa.table({"x": [4334999.9, 4335000.0], "y": [2684000, 2684999]})
    names = {
        "long": ["CRS3035RES1000mN2684000E4334000", "CRS3035RES1000mN2684000E4335000"],
        "short": ["1kmN2684E4334", "1kmN2684E4335"],
    }
    found = counted(engine, records, Grid(1_000, spelling=spelling))
    assert found == dict.fromkeys(names[spelling], 1)


@pytest.mark.parametrize("engine", EACH)
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([float("nan")], r"1 record: points that lie nowhere on the grid by column 'x'"),
        ([float("inf"), 7.0], r"2 records: points that lie nowhere on the grid by column 'x'"),
        ([None, None], r"2 records: nothing in column 'x'"),
        ([7_400_000.0], r"from 900,000 to 7,400,000 \("),
    ],
)
def test_points_that_lie_nowhere_are_refused_with_their_number(engine, wrong, said):
    x = pa.array([HERE[0], *wrong], pa.float64())
    records = pa.table({"x": x, "y": [HERE[1]] * len(x)})
    with pytest.raises(InputError, match=said):
        counted(engine, records, Grid(1_000))


@pytest.mark.parametrize("engine", EACH)
def test_the_last_point_of_the_grid_is_on_it(engine):
    records = pa.table({"x": [7_399_999.999], "y": [900_000.0]})
    assert counted(engine, records, Grid(1_000, spelling="short")) == {"1kmN900E7399": 1}


@pytest.mark.parametrize("wrong", ["two", "1_000_000", "4.334.000,5", "nan", ""])
def test_texts_that_are_no_numbers_are_refused_with_their_line(tmp_path, wrong):
    path = tmp_path / "homes.csv"
    csv.write_csv(pa.table({"x": ["4334100", wrong], "y": ["2684100"] * 2}), path)
    with pytest.raises(InputError, match=r"homes\.csv, line 3: 1 record"):
        dk.tabulate(located(path, Grid(100)), by={"cell": None})


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_records_of_files_are_counted_where_they_lie(tmp_path, ending):
    records = pa.table(
        {
            "x": [4_334_100.0, 4_334_250.5, 4_341_700.0, 4_341_700.0],
            "y": [2_684_100.0, 2_684_100.0, 2_690_500.0, 2_690_500.0],
            "sex": ["f", "m", "f", "f"],
        }
    )
    path = tmp_path / f"homes.{ending}"
    (pq.write_table if ending == "parquet" else csv.write_csv)(records, path)
    grid = Grid(100, spelling="short")
    table = dk.tabulate(
        located(path, grid, coarser=[1_000, 10_000]), by={"cell": None, "sex": None}
    )
    ids = locate(records, grid)["cell"]
    tree = grid.tree(ids, [1_000, 10_000])
    same = dk.tabulate(locate(records, grid), by={"cell": tree, "sex": None})
    assert table.dimensions[0].hierarchy.codes == tree.codes
    assert table.cells.equals(same.cells)


def test_a_tree_of_the_own_and_a_filter_by_cells():
    records = pa.table({"x": [4_334_100, 4_334_250, 4_341_700], "y": [2_684_100] * 3})
    grid = Grid(100, spelling="short")
    ids = locate(records, grid)["cell"].to_pylist()
    assert counted("duckdb", records, grid, where={"cell": ids[:1]}) == {ids[0]: 1}
    tree = grid.tree([*ids, "100mN26841E43999"], [1_000])
    assert counted("duckdb", records, grid, by={"cell": tree})[ids[2]] == 1
    with pytest.raises(HierarchyError, match="100mN26841E43417"):
        counted("duckdb", records, grid, by={"cell": grid.tree(ids[:2])})


def test_points_of_another_system_are_moved_block_by_block(tmp_path):
    pytest.importorskip("pyproj")
    records = pa.table({"lon": [10.0, 10.001, 9.9], "lat": [52.0, 52.0, 51.99]})
    path = tmp_path / "homes.parquet"
    pq.write_table(records, path)
    grid = Grid(1_000)
    ids = locate(records, grid, x="lon", y="lat", crs=4326)["cell"].to_pylist()
    assert counted("duckdb", path, grid, x="lon", y="lat", crs=4326) == dict(Counter(ids))
    assert counted("duckdb", records, grid, x="lon", y="lat", crs=4326) == dict(Counter(ids))
    wrong = pa.table({"lon": [10.0, None, 120.0], "lat": [52.0, 52.0, 52.0]})
    with pytest.raises(InputError, match="1 record: nothing in column 'lon'"):
        counted("duckdb", wrong, grid, x="lon", y="lat", crs=4326)
    with pytest.raises(InputError, match="1 record: points that lie nowhere"):
        counted("duckdb", wrong.filter(pa.array([True, False, True])), grid, x="lon", y="lat",
                crs=4326)  # fmt: skip
    with pytest.raises(InputError, match="in this process"):
        counted("postgres", records, grid, x="lon", y="lat", crs=4326)


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
@pytest.mark.parametrize("own_tree", [False, True])
def test_counts_perturbed_in_the_engine_are_those_of_located_frames(engine, own_tree):
    records = pa.table({"x": [4_334_100] * 40 + [4_341_700] * 30, "y": [2_684_100] * 70})
    records = records.append_column("key", pa.array(range(70)))
    grid = Grid(100, spelling="short")
    frame = locate(records, grid)
    tree = grid.tree(frame["cell"]) if own_tree else None
    options = {"by": {"cell": tree}, "record_key": "key", "key_modulus": 97}
    options["ptable"] = dk.PerturbationTable.maximum_entropy(3, 2)
    there = table_of(records) if engine == "postgres" else records
    one = dk.perturb_records(located(there, grid), **options)
    two = dk.perturb_records(frame, **options)
    assert one.public.equals(two.public)
    bad = pa.concat_tables([records, pa.table({"x": [1], "y": [1], "key": [1]})])
    there = table_of(bad) if engine == "postgres" else bad
    with pytest.raises(InputError, match="1 record: points that lie nowhere"):
        dk.perturb_records(located(there, grid), **options)


def test_record_keys_are_added_up_by_computed_cells():
    records = pa.table({"x": [4_334_100] * 40 + [4_341_700] * 30, "y": [2_684_100] * 70})
    records = records.append_column("key", pa.array(range(70)))
    grid = Grid(100, spelling="short")
    options = {"by": {"cell": None}, "record_key": "key", "key_modulus": 97}
    one = dk.tabulate(located(records, grid), **options)
    two = dk.tabulate(locate(records, grid), **options)
    assert one.cells.equals(two.cells)


def test_what_cannot_be_done_with_computed_cells_is_said():
    records = pa.table({"x": [HERE[0]], "y": [HERE[1]]})
    found = located(records, Grid(100))
    with pytest.raises(InputError, match=r"dk\.spatial\.locate makes a frame"):
        to_arrow(found)
    with pytest.raises(InputError, match="one grid at a time"):
        located(found, Grid(100))
    with pytest.raises(InputError, match="cells of 2000 m do not lie"):
        located(records, Grid(1_000), coarser=[2_000, 5_000])
    with pytest.raises(InputError, match="there is a column 'x' already"):
        dk.tabulate(located(records, Grid(100), name="x"), by={"x": None})
    with pytest.raises(InputError, match="there is no column 'lon'"):
        dk.tabulate(located(records, Grid(100), x="lon"), by={"cell": None})
    with pytest.raises(InputError, match="cells of a grid, which gives no"):
        dk.tabulate(found, by={"x": None}, value="cell")
