"""A small file, and a safe one in its place."""

import numpy as np
import pyarrow as pa

import diskret as dk
from diskret.anonymize.verb import Step

KEYS = dk.SecretKeys(bytes(range(32)))
TABLES = [["town"], ["town", "age"], ["sex"], []]


def persons(n=400, seed=1):
    """Records in which many combinations are rare; buildings are counted by a variable."""
    draw = np.random.default_rng(seed)
    towns = np.array(["Nord", "Süd", "West", None])
    town = draw.choice(towns, n, p=[0.5, 0.3, 0.15, 0.05])
    return pa.table(
        {
            "name": [f"Meyer-{i}" for i in range(n)],
            "town": town.tolist(),
            "age": draw.integers(0, 12, n),
            "sex": draw.choice(["f", "m"], n).tolist(),
            "building": draw.choice([0, 1], n),
        }
    )


def safe_records(frame, minimum=3, change=None):
    """Each combination as often as before, or none, or the minimum, whatever is nearer."""
    names = [name for name in frame.column_names if name != "name"]
    cells = (
        frame.group_by(names)
        .aggregate([([], "count_all")])
        .sort_by([(name, "ascending") for name in names])
    )
    count = cells["count_all"].to_numpy().copy()
    count[count < minimum] = np.where(count[count < minimum] * 2 >= minimum, minimum, 0)
    if change is not None:
        change(count)
    return cells.select(names).take(pa.array(np.repeat(np.arange(len(count)), count)))


def replaced(frame=None, change=None, tables=None, exact=()):
    """Microdata whose records are those of a safe file."""
    original = persons() if frame is None else frame
    md = dk.Microdata(original, keys=["town", "age"], identifiers=["name"])
    listed = TABLES if tables is None else tables
    found = {"tables": listed, "counters": {"building": [["town"]]}, "exact": exact}
    made = Step("safe", {"tables": listed}, found)
    return md.replaced(safe_records(original, change=change), made)
