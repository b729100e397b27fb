"""The last guard, of a table whose cells come block by block: nothing but what is read back."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diskret.errors import ProofError
from diskret.hierarchy import Hierarchy
from diskret.publish.contract import Streamed
from diskret.publish.digests import public_digests
from diskret.publish.formats.data_files import write_blocks
from diskret.publish.guard import tables
from diskret.publish.guard.check import check_public
from diskret.publish.json_files import write_json
from diskret.tables import Dimension, read_public
from diskret.tables.outline import Block, Outline
from diskret.tables.public_files import structure

OUTLINE = Outline(
    "persons",
    (Dimension("region", Hierarchy.flat(["N", "S", "W"])),),
    "count",
    True,
    0,
    changed="cell_key",
)
CERTIFICATE = {
    "schema": "diskret/certificate/1",
    "family": "cell_key",
    "name": "persons",
    "claimed": {"en": ["Counts were changed."], "de": ["Zahlen wurden verändert."]},
    "not_claimed": {"en": ["True counts."], "de": ["Wahre Zahlen."]},
    "inputs": {},
    "software": "diskret 0.1.0",
}


def blocks():
    """A total and three regions, of which one is withheld."""
    yield Block(OUTLINE, 0, np.array([12, 7]), np.zeros(2, bool), np.zeros(2, bool))
    yield Block(OUTLINE, 2, np.array([0, 5]), np.array([True, False]), np.zeros(2, bool))


def seal(folder, certificate=CERTIFICATE):
    path = folder / "persons.certificate.json"
    write_json({**certificate, "files": public_digests(folder)}, path)


@pytest.fixture
def table():
    return Streamed(OUTLINE, blocks())


@pytest.fixture
def public(table, tmp_path, monkeypatch):
    for module in (tables, read_public):
        monkeypatch.setattr(module, "ROWS", 3)
    write_blocks(table.blocks(), tmp_path / "persons.parquet")
    write_json(structure(OUTLINE), tmp_path / "persons.structure.json")
    seal(tmp_path)
    return tmp_path


def test_what_was_certified_may_leave_however_it_is_cut_into_blocks(public, table):
    check_public(public, [table])


@pytest.mark.parametrize("ending", ["csv", "xlsx", "html", "px", "geojson"])
def test_no_file_leaves_that_is_not_read_back(public, table, ending):
    """Even one that the certificate lists: of such a table nobody compares it with the cells."""
    (public / f"persons.{ending}").write_text("N: truly 8", encoding="utf-8")
    seal(public)
    with pytest.raises(ProofError, match=rf"persons\.{ending} is no file of this release"):
        check_public(public, [table])


@pytest.mark.parametrize(("at", "new"), [(0, 13), (3, 6)])
def test_other_cells_do_not_leave(public, table, at, new):
    path = public / "persons.parquet"
    cells = pq.read_table(path)
    values = cells["count"].to_pylist()
    values[at] = new
    changed = pa.array(values, cells["count"].type)
    place = cells.column_names.index("count")
    pq.write_table(cells.set_column(place, "count", changed), path, store_schema=False)
    seal(public)
    with pytest.raises(ProofError, match=r"persons\.parquet does not hold the cells of the table"):
        check_public(public, [table])


def test_another_structure_and_another_certificate_do_not_leave(public, table):
    write_json({**structure(OUTLINE), "true_total": 11}, public / "persons.structure.json")
    seal(public)
    with pytest.raises(ProofError, match=r"persons\.structure\.json is not the structure"):
        check_public(public, [table])
    write_json(structure(OUTLINE), public / "persons.structure.json")
    seal(public, CERTIFICATE | {"seed": 4})
    with pytest.raises(ProofError, match=r"persons\.certificate\.json holds the key seed"):
        check_public(public, [table])
    seal(public, CERTIFICATE | {"intervals": {"region": ["S"], "lower": [3], "upper": [9]}})
    with pytest.raises(ProofError, match="one interval for each suppressed cell"):
        check_public(public, [table])
    write_json({**CERTIFICATE, "files": {}}, public / "persons.certificate.json")
    with pytest.raises(ProofError, match="not listed"):
        check_public(public, [table])
