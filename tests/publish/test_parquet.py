"""Public Parquet files hold the cells and nothing else."""

from decimal import Decimal

import numpy as np
import pyarrow.parquet as pq
import pytest

from diskret.hierarchy import Hierarchy
from diskret.publish.formats.data_files import write_parquet
from diskret.publish.guard.tables import parquet_problems
from diskret.tables import Dimension, Published


def published(decimals):
    region = Dimension("region", Hierarchy.flat(["N", "S", "W"]))
    return Published(
        name="t",
        dimensions=(region,),
        measure="v",
        frequency=False,
        decimals=decimals,
        value=np.array([1250, 0, 0, 0]),
        suppressed=np.array([False, True, True, False]),
        empty=np.array([False, False, False, True]),
    )


@pytest.mark.parametrize(
    ("decimals", "values"), [(0, [1250, None, None, 0]), (2, [Decimal("12.50"), None, None, 0])]
)
def test_values_are_exact_and_null_where_suppressed(tmp_path, decimals, values):
    path = tmp_path / "t.parquet"
    write_parquet(published(decimals), path)
    cells = pq.read_table(path)
    assert cells["v"].to_pylist() == values
    assert cells["status"].to_pylist() == ["published", "suppressed", "suppressed", "empty"]
    assert not pq.ParquetFile(path).metadata.metadata


def test_the_same_table_gives_the_same_bytes(tmp_path):
    for name in "ab":
        write_parquet(published(2), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("secret", ["value", "metadata"])
def test_the_guard_refuses_more_than_the_cells(tmp_path, secret):
    table = published(0)
    path = tmp_path / "t.parquet"
    write_parquet(table, path)
    assert not list(parquet_problems(path, table))
    cells = pq.read_table(path)
    if secret == "value":
        cells = cells.set_column(1, "v", [[1250, 7, 5, 0]])
    else:
        cells = cells.replace_schema_metadata({"p": "10"})
    pq.write_table(cells, path)
    assert list(parquet_problems(path, table))
