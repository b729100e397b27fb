"""Random tables of the same records, and an attacker who knows of finest combinations only.

It knows nothing of the package's equations: its unknowns are the records' finest combinations,
and every published cell is a sum of them.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

import diskret as dk
from diskret.population import Population
from diskret.tables import Publication

X, Y, F = "abcd", "pq", "01"
ATOMS = list(product(X, Y, F))
GROUPS = [None, {"ab": "ab"}, {"bc": "bc"}, {"ab": "ab", "cd": "cd"}, {"bcd": "bcd"}]
FILTERS = [Population.of(w) for w in ({}, {"f": "1"}, {"x": ["a", "b"]})]
FAR = 10_000


@st.composite
def records(draw):
    sizes = st.sampled_from([0, 1, 1, 2, 3, 5, 9])
    return np.array(draw(st.lists(sizes, min_size=len(ATOMS), max_size=len(ATOMS))))


@st.composite
def linked_table(draw):
    """How to make one table: its variables, the grouping of x, and its filter."""
    by = draw(st.sampled_from([("x",), ("x", "y"), ("y", "x"), ("y", "f"), ("x", "f")]))
    where = draw(st.sampled_from(FILTERS))  # perhaps by a variable that the table shows
    groups = draw(st.sampled_from(GROUPS)) if "x" in by else None
    return by, groups, where


def made(count, by, groups, where):
    kept = [i for i, atom in enumerate(ATOMS) if _inside(atom, where)]
    columns = {"x": 0, "y": 1, "f": 2}
    frame = pa.table(
        {
            **{name: [ATOMS[i][columns[name]] for i in kept] for name in by},
            "n": count[kept],
        }
    )
    frame = frame.group_by(list(by)).aggregate([("n", "sum")])
    trees = {name: dk.Hierarchy.flat(list({"x": X, "y": Y, "f": F}[name])) for name in by}
    table = dk.Table.from_cells(frame, by=trees, count="n_sum")
    if groups:
        table = table.recode("x", {new: list(old) for new, old in groups.items()})
    return replace(table, where=where)


def _inside(atom, where):
    values = dict(zip("xyf", atom, strict=True))
    return all(values[name] in codes for name, codes in where)


def sums_of_atoms(tables):
    """A row for each cell of all tables: which finest combinations it holds."""
    rows = []
    for table in tables:
        for at in product(*(range(n) for n in table.shape)):
            row = np.zeros(len(ATOMS))
            for i, atom in enumerate(ATOMS):
                values = dict(zip("xyf", atom, strict=True))
                row[i] = _inside(atom, table.where) and all(
                    position == 0 or values[d.name] in d.hierarchy.leaves_below(position)
                    for position, d in zip(at, table.dimensions, strict=True)
                )
            rows.append(row)
    return np.array(rows)


def ends(rows, value, hidden, cell):
    """The smallest and largest count of a cell that whole-numbered records allow."""
    shown = LinearConstraint(rows[~hidden], value[~hidden], value[~hidden])
    found = []
    for sign in (1, -1):
        answer = milp(
            sign * rows[cell],
            constraints=[shown],
            bounds=Bounds(0, FAR),
            integrality=np.ones(len(ATOMS)),
        )
        assert answer.success
        found.append(round(sign * answer.fun))
    return found


def published(tables, hidden):
    ends_of = np.cumsum([table.count.size for table in tables])
    parts = np.split(hidden, ends_of[:-1])
    shown = [
        dk.Published(
            name=f"t{i}",
            dimensions=table.dimensions,
            measure="count",
            frequency=True,
            decimals=0,
            value=np.where(part.reshape(table.shape), 0, table.count),
            suppressed=part.reshape(table.shape),
            empty=(table.count == 0) & ~part.reshape(table.shape),
            where=table.where,
        )
        for i, (table, part) in enumerate(zip(tables, parts, strict=True))
    ]
    return Publication(tuple(shown))
