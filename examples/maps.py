"""Persons of a made-up country by grid cell and by municipality, both on a map.

Run it as ``python examples/maps.py out de``: where to write, and the language of the maps.
"""

import sys
from pathlib import Path

import diskret as dk

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
language = sys.argv[2] if len(sys.argv) > 2 else "en"
land = dk.datasets.country(20_000, seed=1)
few = dk.rules.MinimumFrequency(5)

# cells of 1 km, wider ones where fewer than five persons live
grid = dk.spatial.Grid(1_000, spelling="short")
persons = dk.spatial.locate(land.persons, grid)
tree = grid.tree(persons["cell"], coarser=[2_000, 4_000])
cells = dk.spatial.quadtree(dk.tabulate(persons, by={"cell": tree}), few, "cell")
towns = dk.tabulate(persons, by={"municipality": land.tree})

# what both maps would tell together, for the office: every sum of fewer than five persons
merged = dk.spatial.Cells(cells.dimensions[0].hierarchy)
both = dk.spatial.locate(land.persons, merged)
found = dk.spatial.differences(both, ["municipality", "cell"], few)
print(found.summary(language))
folder.mkdir(parents=True, exist_ok=True)
dk.map_page(
    found, folder / "differences.html", "municipality", land.municipalities, language=language
)

# protected together, so that neither tells of few beside the other
results = dk.suppress([cells, towns], few, name=["cells", "municipalities"])
dk.write(
    results,
    folder / "release",
    formats=["csv", "map", "geojson", "gpkg"],
    places={"municipality": land.municipalities},
    language=language,
)
for page in sorted((folder / "release" / "public").glob("*.map.html")):
    print(page)
