"""Four published tables of a French survey, each alone and all of them together."""

import warnings

import pandas as pd
import pytest
from side_by_side_attack import unprotected

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


#: Secondaries of τ-ARGUS, which protects the four tables together, as rtauargus publishes them.
THEIRS = {
    "turnover_act_size": 83,
    "turnover_act_cj": 88,
    "turnover_nuts_size": 82,
    "turnover_nuts_cj": 101,
}


def made(folder, trees, name):
    by, rows, _ = TABLES[name]
    # read as floats: the file prints some of them with their binary noise, 1166951.4229000001
    cells = pd.read_csv(folder / f"{name}.csv", dtype=dict.fromkeys(by, str))
    assert len(cells) == rows
    return dk.Table.from_cells(
        cells,
        by={column: trees.get(column) for column in by},
        value="TOT",
        count="N_OBS",
        largest=["MAX"],
        decimals=4,
    )


def rule():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the survey's own rule is the (1,85) dominance rule
        return dk.rules.MinimumFrequency(3) | dk.rules.Dominance(1, 85)


@pytest.mark.parametrize("name", TABLES)
def test_primary_cells_and_a_proven_pattern(folder, trees, name):
    result = dk.suppress(made(folder, trees, name), rule())
    assert result.certificate.primaries == TABLES[name][2]
    found = result.certificate.examination
    assert (found.witness_upper - found.witness_lower >= 1).all()


def test_four_tables_together_with_fewer_secondaries_than_theirs(folder, trees):
    """The four go around in a circle: their common records are part of the attack."""
    tables = [made(folder, trees, name) for name in TABLES]
    results = dk.suppress(tables, rule(), name=list(TABLES))
    secondaries = [result.certificate.secondaries for result in results]
    assert [r.certificate.primaries for r in results] == [n for _, _, n in TABLES.values()]
    assert sum(secondaries) < sum(THEIRS.values())
    assert not unprotected(results)
    said = results[0].certificate.public()
    assert said["refined_to"] == "combinations"
    assert not any("three or more" in line for line in said["not_claimed"]["en"])
