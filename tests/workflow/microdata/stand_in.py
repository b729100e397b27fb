"""An engine for tests of what surrounds SAFE's search: each combination goes to the nearest."""

import sys
from types import SimpleNamespace

import numpy as np

from diskret.safe import SafeFile


def nearest(problem, **_):
    """0 or the minimum, whichever is nearer; larger counts stay."""
    low = problem.count < problem.minimum
    near = np.where(2 * problem.count < problem.minimum, 0, problem.minimum)
    count = np.where(low, near, problem.count)
    kept = count > 0
    return SafeFile(problem.codes[kept], count[kept], 7, 9, ((7, 1, 0.5),))


def in_place_of_search(monkeypatch):
    """Put the stand-in there; the problems and options that it is given come into a list."""
    seen = []

    def search(problem, **options):
        seen.append((problem, options))
        return nearest(problem)

    monkeypatch.setitem(sys.modules, "diskret.safe.search", SimpleNamespace(search=search))
    return seen
