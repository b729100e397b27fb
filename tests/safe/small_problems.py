"""Small problems of SAFE, drawn from a number, and the best file of tiny ones by brute force."""

from itertools import combinations, product

import numpy as np

from diskret.safe import ControlTable, SafeFile, SafeProblem, SpecialCell
from diskret.safe.cells import cells, deviations


def small_problem(
    seed, *, most=60, counter=False, exact=0, allowances=False, minimum=3, new=False, largest=5
):
    """A problem with 2 to 4 variables and 10 to 60 combinations, most of them rare.

    `most`: combinations at most; `counter`: the last variable counts in one table; `exact`:
    cells of the first variable that stay; `largest`: frequencies of combinations.
    """
    draw = np.random.default_rng(seed)
    width = int(draw.integers(2, 5))
    sizes = tuple(int(size) for size in draw.integers(2, 7 if width < 4 else 5, width))
    every = np.array(list(product(*map(range, sizes))), dtype=np.int32)
    number = int(min(draw.integers(min(10, most), most + 1), len(every)))
    codes = every[np.sort(draw.permutation(len(every))[:number])]
    count = np.minimum(draw.geometric(0.45, number), largest).astype(np.int64)
    subsets = [s for k in range(width) for s in combinations(range(width), k)]
    chosen = draw.permutation(len(subsets))[: int(draw.integers(2, 6))]
    tables = [
        ControlTable(subsets[at], allowance=int(draw.integers(-1, 3)) if allowances else 0)
        for at in sorted(chosen.tolist())
    ]
    if counter:
        tables.append(ControlTable((0,), counter=width - 1))
    names = tuple("abcd"[:width])
    if exact:
        first = SafeProblem(names, codes, count, sizes, (ControlTable((0,)),), minimum)
        known = cells(first)
        large = [c for c in range(len(known)) if known.original[c] >= minimum][:exact]
        special = tuple(SpecialCell(known.codes(c), exact=True) for c in large)
        tables.append(ControlTable((0,), special=special))
    return SafeProblem(names, codes, count, sizes, tuple(tables), minimum, new=new)


def score(problem, file):
    """Largest abs(d) − w, the number of cells that have it, and Σ abs(d)."""
    known = cells(problem)
    found = deviations(problem, file, known)
    return known.score((found.protected - found.original)[: len(known)])


def best(problem, candidates=None, above=4):
    """The smallest score of all safe files, or None: every frequency up to `above` more is tried.

    `candidates`: combinations that may occur; those of the problem by default.
    """
    codes = problem.codes if candidates is None else candidates
    before = {
        tuple(row): int(n) for row, n in zip(problem.codes.tolist(), problem.count, strict=True)
    }
    ranges = [
        [0, *range(problem.minimum, max(problem.minimum, before.get(tuple(row), 0) + above) + 1)]
        for row in codes.tolist()
    ]
    y = np.array(list(product(*ranges)), dtype=np.int64)
    largest, number, total = np.zeros((3, len(y)), dtype=np.int64)
    largest -= 99
    fine = np.ones(len(y), dtype=bool)
    for table in problem.tables:
        columns = list(table.columns)
        at = [tuple(row) for row in codes[:, columns].tolist()]
        special = {cell.codes: cell for cell in table.special}
        unit = np.ones(len(codes), dtype=np.int64)
        if table.counter is not None:
            unit = codes[:, table.counter].astype(np.int64)
        for cell in dict.fromkeys(at):
            inside = np.array([other == cell for other in at]) * unit
            was = sum(
                n * (1 if table.counter is None else row[table.counter])
                for row, n in before.items()
                if tuple(row[c] for c in columns) == cell
            )
            off = np.abs(y @ inside - was)
            own = special.get(cell, table)
            fine &= (off == 0) | (not own.exact)
            if was == 0:
                fine &= off == 0
                continue
            over = off - own.allowance
            number = np.where(over > largest, 1, number + (over == largest))
            largest = np.maximum(largest, over)
            total += off
    if not fine.any():
        return None
    return min(
        zip(largest[fine].tolist(), number[fine].tolist(), total[fine].tolist(), strict=True)
    )


def made(problem, codes, count):
    """A file of these combinations that occur."""
    count = np.asarray(count, dtype=np.int64)
    return SafeFile(np.asarray(codes, dtype=np.int32)[count > 0], count[count > 0])
