"""Four published tables of a French survey: as many primary cells as their authors count."""

import warnings

import pandas as pd
import pytest

import diskret as dk
from diskret.io import to_arrow

TABLES = {
    "turnover_act_size": (("ACTIVITY", "SIZE"), 414, 77),
    "turnover_act_cj": (("ACTIVITY", "CJ"), 406, 60),
    "turnover_nuts_size": (("NUTS", "SIZE"), 460, 72),
    "turnover_nuts_cj": (("NUTS", "CJ"), 452, 65),
}
TREES = {"ACTIVITY": "activity_corr_table.csv", "NUTS": "nuts23_fr_corr_table.csv"}


@pytest.fixture(scope="module")
def folder(reference_data):
    return reference_data / "data" / "tauargus" / "rtauargus"


@pytest.fixture(scope="module")
def trees(folder):
    return {
        name: dk.Hierarchy.from_levels(to_arrow(folder / file)[0]) for name, file in TREES.items()
    }


@pytest.mark.parametrize("name", TABLES)
def test_primary_cells_and_a_proven_pattern(folder, trees, name):
    by, rows, primaries = TABLES[name]
    # read as floats: the file prints some of them with their binary noise, 1166951.4229000001
    cells = pd.read_csv(folder / f"{name}.csv", dtype=dict.fromkeys(by, str))
    assert len(cells) == rows
    table = dk.Table.from_cells(
        cells,
        by={column: trees.get(column) for column in by},
        value="TOT",
        count="N_OBS",
        largest=["MAX"],
        decimals=4,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the survey's own rule is the (1,85) dominance rule
        rule = dk.rules.MinimumFrequency(3) | dk.rules.Dominance(1, 85)
    result = dk.suppress(table, rule)
    assert result.certificate.primaries == primaries
    found = result.certificate.examination
    assert (found.witness_upper - found.witness_lower >= 1).all()
