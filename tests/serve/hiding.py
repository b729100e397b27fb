"""A data set whose cells are hidden, and what can be told from answers: records and equations.

The oracle shares nothing with the package: it counts records one by one, and asks SciPy how small
and how large each count can be among all tables that show what users saw.
"""

from itertools import product

import numpy as np
import pyarrow as pa
from scipy.optimize import linprog
from serving import KEYS

import diskret as dk
from diskret.serve import DataSet, Releases, Suppression, Tabulator, Variable

TREE = dk.Hierarchy.from_prefix(["N1", "N2", "S1", "S2"], (1, 1))
CODES = {"region": ("N1", "N2", "S1", "S2"), "sex": ("f", "m"), "age": ("0", "1", "2")}


def persons(seed=1, number=90):
    """Records with skewed codes, so that there are counts of 0, 1 and 2."""
    draw = np.random.default_rng(seed)
    columns = {}
    for name, codes in CODES.items():
        share = 0.45 ** np.arange(len(codes))
        columns[name] = draw.choice(codes, number, p=share / share.sum())
    columns["pay"] = draw.integers(1, 900, number)
    return columns


def hidden_data(records, **other):
    """A data set of them that hides cells of less than 3."""
    variables = (
        Variable("region", tree=TREE),
        *(Variable(name, CODES[name]) for name in ("sex", "age")),
    )
    given = {
        "name": "persons",
        "records": pa.table(records),
        "record_key": "",
        "variables": variables,
        "noise": None,
        "questions": 100,
        "suppression": Suppression(dk.rules.MinimumFrequency(3), "2025"),
    }
    return DataSet(**(given | other))


def releasing(folder, *data, keys=KEYS, **more):
    """A tabulator whose ledger lies in a folder; it is made where there is none."""
    place = folder / "ledger.db"
    if not place.exists():
        dk.Ledger.create(place, keys)
    return Tabulator(data, keys, releases=Releases(place, folder / "releases", keys), **more)


def asked_at_random(draw):
    """A question for some variables, a level of the tree, and a filter."""
    names = [name for name in CODES if draw.random() < 0.5]
    by = [
        {"variable": "region", "level": 1} if one == "region" and draw.random() < 0.4 else one
        for one in names
    ]
    where = {
        name: sorted(draw.choice(codes, draw.integers(1, len(codes) + 1), replace=False).tolist())
        for name, codes in CODES.items()
        if name not in names and draw.random() < 0.4
    }
    return {"data": "persons", "by": by, "where": where}


def shown_in(answer):
    """Each cell of an answer: the finest codes that it holds, and its figure or None."""
    where = dict(answer.question.where)
    for row in answer.cells().to_pylist():
        own = {
            name: {code for code in codes if code.startswith(row[name])}
            if name in row
            else {*where.get(name, codes)}
            for name, codes in CODES.items()
        }
        yield own, row["count"]


def cells_of(records):
    """The finest combinations of codes, and how many records each has, counted one by one."""
    finest = [*product(*CODES.values())]
    rows = [*zip(*(records[name].tolist() for name in CODES), strict=True)]
    return finest, np.array([rows.count(cell) for cell in finest])


def inside(own, finest):
    return np.array([all(c in own[n] for n, c in zip(CODES, cell, strict=True)) for cell in finest])


def known_too_well(records, answers):
    """Cells of answers with 1 or 2 persons whose count everybody can tell exactly."""
    finest, true = cells_of(records)
    shown = [one for answer in answers for one in shown_in(answer)]
    equations = [(inside(own, finest), figure) for own, figure in shown]
    published = [(mask, figure) for mask, figure in equations if figure is not None]
    for mask, figure in published:
        assert figure == true[mask].sum()
    matrix = np.array([mask for mask, _ in published], dtype=float)
    right = np.array([figure for _, figure in published], dtype=float)
    found = []
    for mask in {tuple(mask) for mask, _ in equations if 0 < true[mask].sum() < 3}:
        cost = np.array(mask, dtype=float)
        ends = []
        for sign in (1, -1):
            solved = linprog(sign * cost, A_eq=matrix, b_eq=right, bounds=(0, None))
            assert solved.success or solved.status == 3, solved.message
            ends.append(np.inf if solved.status == 3 else sign * solved.fun)
        if ends[1] - ends[0] < 0.5:
            found.append(mask)
    return found
