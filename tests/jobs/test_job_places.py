"""Jobs with places: points become codes, cells are merged, tables leave as maps."""

import json

import pyarrow as pa
import pyarrow.csv as pc
import pytest
from typer.testing import CliRunner

import diskret as dk
from diskret.cli.main import app
from diskret.errors import InputError, JobError
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job

KEYS = dk.SecretKeys(bytes(range(32)))
LAND = dk.datasets.country(1_500, seed=3)
METRES = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3035"}}
JOB = """
[records]
path = "persons.csv"

[places.cell]
grid = 1000
spelling = "short"
coarser = [2000, 4000]
merge = true
x = "x"
y = "y"

[places.town]
file = "towns.geojson"
code = "ags"
x = "x"
y = "y"

[[tables]]
by = { cell = "cell" }
name = "cells"
rules = { minimum_frequency = { n = 5 } }

[[tables]]
by = { town = "flat" }
name = "towns"
rules = { minimum_frequency = { n = 5 } }

[output]
folder = "out"
formats = ["csv", "geojson"]
"""


def written(folder, text=JOB, persons=LAND.persons):
    pc.write_csv(persons, folder / "persons.csv")
    features = [
        {
            "type": "Feature",
            "properties": {"ags": code},
            "geometry": {"type": "Polygon", "coordinates": [ring.tolist() for ring in rings]},
        }
        for code, rings in zip(LAND.municipalities.codes, LAND.municipalities.rings, strict=True)
    ]
    collection = {"type": "FeatureCollection", "crs": METRES, "features": features}
    (folder / "towns.geojson").write_text(json.dumps(collection))
    (folder / "job.toml").write_text(text)
    return folder / "job.toml"


def test_a_job_does_what_the_verbs_do(tmp_path):
    folder, results = run_job(written(tmp_path), keys=KEYS)
    grid = dk.spatial.Grid(1_000, spelling="short")
    persons = LAND.persons.rename_columns({"municipality": "town"})
    persons = dk.spatial.locate(persons, grid)
    few = dk.rules.MinimumFrequency(5)
    tree = grid.tree(persons["cell"], [2_000, 4_000])
    cells = dk.spatial.quadtree(dk.tabulate(persons, by={"cell": tree}), few, "cell")
    towns = dk.tabulate(persons, by={"town": None})
    both = dk.suppress([cells, towns], few, name=["cells", "towns"])
    for one, other in zip(results, both, strict=True):
        assert one.public.equals(other.public)
    names = {path.name for path in (folder / "public").iterdir()}
    assert {"cells.geojson", "towns.geojson"} <= names
    assert dk.verify(folder, keys=KEYS).tables == ("cells", "towns")


def test_ids_in_the_records_need_no_points(tmp_path):
    grid = dk.spatial.Grid(1_000)
    persons = dk.spatial.locate(LAND.persons, grid)
    text = """
[records]
path = "persons.csv"
[places.cell]
grid = 1000
coarser = [10000]
[[tables]]
by = { cell = "cell" }
rules = { minimum_frequency = { n = 3 } }
"""
    _, [result] = run_job(written(tmp_path, text, persons), keys=KEYS)
    wanted = dk.tabulate(persons, by={"cell": grid.tree(persons["cell"], [10_000])})
    assert result.table.count.tolist() == wanted.count.tolist()
    assert result.published.dimensions[0].hierarchy == wanted.dimensions[0].hierarchy


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_command_adds_the_page_and_says_where_it_is(tmp_path, monkeypatch, language):
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "keys"))
    job = written(tmp_path)
    said = CliRunner().invoke(app, ["map", str(job), "--language", language])
    assert said.exit_code == 0
    page = tmp_path / "out" / "public" / "cells.map.html"
    assert page.exists()
    word = {"en": "Map:", "de": "Karte:"}[language]
    assert sum(line.startswith(word) for line in said.output.splitlines()) == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("grid = 1000\n", "", "line 5: give either 'grid'"),
        ("grid = 1000", "grid = 0", "line 6: 'grid'"),
        ('spelling = "short"', 'spelling = "brief"', "line 7: 'spelling'"),
        ("[2000, 4000]", "[2500]", "line 8: cells of 1000 m do not lie"),
        ('x = "x"\n', "", "line 5: give both 'x' and 'y'"),
        ('merge = true\nx = "x"\ny = "y"', "crs = 4326", "line 9: 'crs' is for points"),
        ('code = "ags"\n', "", "the key 'code' is missing"),
        ('file = "towns.geojson"', 'file = "none.gpkg"', "does not exist"),
        ("[places.town]", "[places.city]", "no table is broken down by 'city'"),
        ("merge = true", "merged = true", "unknown key 'merged'"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, old, new, message):
    assert old in JOB
    with pytest.raises(JobError, match=message):
        read_job(written(tmp_path, JOB.replace(old, new, 1)))


def test_points_that_cannot_be_used_are_named(tmp_path):
    persons = LAND.persons.set_column(2, "x", pa.array([None, *LAND.persons["x"].to_pylist()[1:]]))
    with pytest.raises(InputError, match="'x' (is|are) missing .first in row 1"):
        run_job(written(tmp_path, persons=persons), keys=KEYS)
    with pytest.raises(InputError, match="a column 'municipality' already"):
        text = JOB.replace("[places.town]", "[places.municipality]").replace(
            "{ town", "{ municipality"
        )
        run_job(written(tmp_path, text), keys=KEYS)
    assert not (tmp_path / "out").exists()


def test_columns_that_are_not_there_are_named_with_the_place(tmp_path):
    with pytest.raises(InputError, match=r"job.toml, \[places.cell\]: .*'lonn'"):
        run_job(written(tmp_path, JOB.replace('x = "x"', 'x = "lonn"', 1)), keys=KEYS)
    with pytest.raises(InputError, match=r"job.toml, \[places.town\]: .*'gen'"):
        run_job(written(tmp_path, JOB.replace('"ags"', '"gen"')), keys=KEYS)


def test_tables_of_cells_have_no_points(tmp_path):
    (tmp_path / "cells.csv").write_text("cell,n\n1kmN2700E4300,5\n1kmN2701E4300,7\n")
    text = """
[places.cell]
grid = 1000
[[tables]]
by = { cell = "cell" }
cells = { file = "cells.csv", count = "n" }
rules = { minimum_frequency = { n = 3 } }
"""
    with pytest.raises(InputError, match=r"cells of \[places\] are those of the records"):
        run_job(written(tmp_path, text), keys=KEYS)
