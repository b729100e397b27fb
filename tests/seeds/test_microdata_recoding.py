"""Recoding in the lecture and in the papers on k-anonymity."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from diskret import Hierarchy, Microdata
from diskret.risk import frequencies
from diskret.risk.individual import individual_risk

KEYS = ["Key1", "Key2", "Key3", "Key4"]


def francdat(reference_data):
    return csv.read_csv(reference_data / "data" / "sdcmicro" / "francdat.csv")


def printed(reference_data):
    """The file on the slides; the one that comes with sdcMicro differs in two values."""
    frame = francdat(reference_data)
    for key, row, value in (("Key1", 3, 4), ("Key2", 6, 3)):
        changed = pa.array(np.where(np.arange(8) == row, value, frame[key].to_numpy()))
        frame = frame.set_column(frame.schema.get_field_index(key), key, changed)
    return frame


def test_recoding_in_the_lecture_gives_its_figures(reference_data):
    """Rows 4 and 7 differ in Key1 alone, 4 and 6: "Key1 6 → 4" makes them alike."""
    made = Microdata(printed(reference_data), keys=KEYS, weight="w").recode("Key1", groups={4: [6]})
    found = frequencies(made.keys(), made.weights())
    assert found.sample.tolist() == [2, 2, 2, 2, 1, 1, 2, 2]
    assert found.population.tolist() == [110, 84.5, 84.5, 22, 541, 8, 22, 110]
    risk = individual_risk(found.sample, found.population, compat="lecture")
    shown = [0.01705402, 0.02195396, 0.02195396, 0.07594707, 0.01112028, 0.29690573, 0.07594707]
    assert risk.round(8).tolist() == [*shown, 0.01705402]


def test_the_file_that_is_shipped_is_another_one(reference_data):
    frame = francdat(reference_data)
    made = Microdata(frame, keys=KEYS, weight="w").recode("Key1", groups={4: [6]})
    assert made.frame["Key1"].type == frame["Key1"].type
    assert made.frame["Key1"].to_pylist() == [1, 1, 1, 3, 4, 4, 4, 1]
    assert frequencies(made.keys()).sample.tolist() == [2, 2, 2, 1, 1, 1, 1, 2]


#: Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression",
#: International Journal on Uncertainty, Fuzziness and Knowledge-based Systems 10 (2002),
#: figures 2 and 3: race → person → *****, and a zip code that loses its digits from the right.
PRIVATE = {
    "race": [race for race in ("asian", "black", "white") for _ in range(4)],
    "zip": ["02138", "02139", "02141", "02142"] * 3,
}
RACE = Hierarchy.from_parents(
    {
        "code": ["asian", "black", "white", "person"],
        "parent": ["person", "person", "person", "*****"],
    }
)
ZIP = Hierarchy.from_prefix(set(PRIVATE["zip"]), (3, 1, 1), total="*****")


@pytest.mark.parametrize(
    ("k", "levels", "precision"),
    [(2, {"race": 0, "zip": 1}, 0.83), (3, {"race": 1, "zip": 0}, 0.75)],
)
def test_sweeneys_table_is_generalised_as_in_the_paper(k, levels, precision):
    md = Microdata(pa.table(PRIVATE), keys=["race", "zip"])
    made = md.generalise({"race": RACE, "zip": ZIP}, k=k, metric="precision")
    assert made.history[-1].found["levels"] == levels
    assert round(1 - made.history[-1].found["loss"], 2) == precision


@pytest.mark.parametrize(
    ("race", "zips", "precision"), [(1, 0, 0.75), (1, 1, 0.58), (0, 2, 0.67), (0, 1, 0.83)]
)
def test_precisions_of_sweeneys_tables(race, zips, precision):
    """One level is allowed for each key only, so that it is the best one."""
    chosen = {"race": (RACE, 2 - race), "zip": (ZIP, 3 - zips)}
    from diskret.microdata.lattice import Lattice, tree_ladder
    from diskret.microdata.loss import measure

    keys = Microdata(pa.table(PRIVATE), keys=["race", "zip"]).keys()
    ladders = [tree_ladder(c, chosen[c.name][0]) for c in keys.columns]
    by = measure(Lattice(keys, ladders), "precision")
    assert round(1 - float(by.known[race, zips]), 2) == precision
