"""The made-up census of the reference, at the size the figures of the documentation are for."""

import sys

import numpy as np
import pytest

from diskret.safe import ControlTable, SafeFile, SafeProblem
from diskret.safe.cells import deviations
from diskret.safe.search import search

REGIONS = ("land", "kreis", "gem")
LEVELS = (REGIONS, ("age5", "age20", "age"), ("occ8", "occ"), ("ind6", "ind"), ("nat2", "nat"))


def problem(reference_data, n, new) -> SafeProblem:
    sys.path.insert(0, str(reference_data / "bench"))
    import census_gen  # pyright: ignore[reportMissingImports]

    values = census_gen.make(n)
    tables = census_gen.table_list(values, n)
    names = (*REGIONS, *(name for name in values if name not in REGIONS))
    every = np.stack([values[name] for name in names], axis=1)
    codes, count = np.unique(every, axis=0, return_counts=True)
    at = {name: v for v, name in enumerate(names)}
    levels = [tuple(at[name] for name in level) for level in LEVELS]
    other = [(v,) for v in range(len(names)) if not any(v in level for level in levels)]
    return SafeProblem(
        names,
        codes.astype(np.int32),
        count,
        tuple(int(most) + 1 for most in every.max(axis=0)),
        tuple(ControlTable(tuple(at[name] for name in table)) for table in tables),
        groups=(*levels, *other),
        new=new,
    )


def test_hundreds_of_tables_of_a_small_census(reference_data):
    asked = problem(reference_data, 10_000, new=True)
    assert len(asked.tables) == 371
    file = search(asked, seed=1, sweeps=60)
    _, largest, mean = file.trace[-1]
    assert largest <= 12
    assert mean <= 1.8
    assert of_one_variable(asked, file) < mean


def of_one_variable(asked: SafeProblem, file: SafeFile) -> float:
    """Mean deviation of cells in tables of one variable, counted in the file."""
    found = deviations(asked, file)
    one = np.array([len(table.columns) == 1 for table in asked.tables])[found.table]
    there = one & (found.original > 0)
    return float(np.abs(found.protected - found.original)[there].mean())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("new", "most", "mean", "one"), [(False, 15, 2.6, 1.2), (True, 10, 1.9, 1.1)]
)
def test_deviations_of_300_000_persons(reference_data, new, most, mean, one):
    asked = problem(reference_data, 300_000, new)
    file = search(asked, seed=1, sweeps=400)
    _, largest, found = file.trace[-1]
    assert largest <= most
    assert found <= mean
    assert of_one_variable(asked, file) <= one
