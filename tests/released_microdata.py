"""Small microdata with every role, for the tests of releases."""

import numpy as np
import pyarrow as pa

import diskret as dk
from diskret.anonymize.verb import Step

KEYS = dk.SecretKeys(bytes(range(32)))
SECRET_TOWN = "Geheimdorf"


def persons(n: int = 60, seed: int = 1) -> pa.Table:
    """Records with names, numbers, households; one town is shown by one record only."""
    draw = np.random.default_rng(seed)
    town = draw.choice(["Nord", "Süd"], n).astype(object)
    town[n // 2] = SECRET_TOWN
    return pa.table(
        {
            "pid": [f"P{4711 + 13 * i}" for i in range(n)],
            "name": [f"Meyer-{i}" for i in range(n)],
            "hid": pa.array([9000 + i // 3 for i in range(n)]),
            "town": town.tolist(),
            "sex": draw.choice(["f", "m"], n).tolist(),
            "income": (draw.integers(10, 99, n) / 4).tolist(),
            "illness": draw.choice(["flu", "none", "asthma"], n).tolist(),
            "w": np.full(n, 100.25).tolist(),
            "note": [f"internal note {i}" for i in range(n)],
        }
    )


def microdata(frame=None) -> dk.Microdata:
    """The records with their roles."""
    return dk.Microdata(
        persons() if frame is None else frame,
        keys=["town", "sex"],
        numeric=["income"],
        weight="w",
        household="hid",
        sensitive=["illness"],
        id="pid",
        identifiers=["name"],
    )


def protected(frame=None) -> dk.Microdata:
    """The same with the one record of the rare town hidden."""
    md = microdata(frame)
    town = md.coded("town")
    rare = town.categories.to_pylist().index(SECRET_TOWN)
    step = Step(
        "local_suppression",
        {"k": 3, "importance": ["sex", "town"], "seed": 271828},
        {"suppressed": {"town": 1}},
    )
    return md.after({"town": town.without(town.codes == rare).column()}, step)
