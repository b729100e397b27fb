"""Which tables of a made-up census are controlled: as many cells for each person as in 1987.

Nothing is counted: answers are taken as independent within classes of similar records, which
gives the number of cells that a table is expected to have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from diskret.datasets.census_draw import Codes

#: Smallest expected count of a combination that goes on to the next variable.
_NEGLIGIBLE = 0.01
#: Wanted share of the cells of 1–9, 10–99, …: a little more small ones than the census of 1987
#: had, because taking answers as independent finds too many of them.
SIZES = (0.40, 0.32, 0.178, 0.08, 0.02, 0.002)
_BOUNDS = 10.0 ** np.arange(1, len(SIZES)) - 0.5
#: Tables considered for each one chosen, and how much more combinations they have than cells.
_TRIED, _LARGER = 20, 4


class Expectation:
    """Expected number of non-empty cells of tables.

    Parameters
    ----------
    columns
        Codes of each variable, ``(n,)``.
    group
        Class of each record, in which variables are taken as independent.
    scale
        How many records each stands for.
    """

    def __init__(
        self, columns: Mapping[str, Codes], group: NDArray[np.integer], scale: int = 1
    ) -> None:
        groups = int(group.max(initial=0)) + 1
        size = np.bincount(group, minlength=groups)
        self.size = size[size > 0] * float(scale)
        self.shares: dict[str, NDArray[np.float64]] = {}
        for name, codes in columns.items():
            width = int(codes.max(initial=0)) + 1
            cell = group.astype(np.int64) * width + codes
            found = np.bincount(cell, minlength=groups * width).reshape(groups, width)
            found = found[size > 0][:, found.sum(axis=0) > 0]
            self.shares[name] = found * scale / self.size[:, None]

    def sizes(self, table: Sequence[str]) -> NDArray[np.float64]:
        """Expected number of non-empty cells of 1–9, 10–99, …, shape ``(len(SIZES),)``."""
        order = sorted(table, key=lambda name: self.shares[name].shape[1])
        met = self.size[:, None]
        for name in order[:-1]:
            share = self.shares[name]
            met = (met[:, :, None] * share[:, None, :]).reshape(len(self.size), -1)
            met = met[:, met.sum(axis=0) > _NEGLIGIBLE]
        count = (met.T @ self.shares[order[-1]]).ravel()
        found = np.zeros(len(SIZES))
        np.add.at(found, np.digitize(count, _BOUNDS), -np.expm1(-count))
        # what differs in the last digits only, between machines, is the same
        return np.round(found, 4)


def choose(
    rng: np.random.Generator,
    expected: Expectation,
    families: Sequence[Sequence[str]],
    dimensions: Sequence[int],
    number: int,
    cells: float,
) -> tuple[list[tuple[str, ...]], float]:
    """`number` tables of together about `cells` non-empty cells, and what they will have.

    Of tables drawn at random, the one comes next with which all chosen so far are nearest to
    the wanted number of cells of each size.

    Parameters
    ----------
    rng
        Draws the tables that are considered.
    expected
        What tables will have.
    families
        Variables with their coarser levels; a table has one of a family at most.
    dimensions
        Numbers of variables.
    number
        Number of tables; fewer where there are no more.
    cells
        Their non-empty cells together.
    """
    tables = _candidates(rng, expected, families, dimensions, number, cells)
    sizes = np.array([expected.sizes(table) for table in tables])
    wanted = cells / number * np.array(SIZES)
    open_ = np.ones(len(tables), dtype=np.bool_)
    chosen: list[int] = []
    missing = np.zeros(len(SIZES))
    for _ in range(min(number, len(tables))):
        missing += wanted
        rest = missing - sizes
        apart = np.abs(rest).sum(axis=1) + 2 * np.maximum(-rest.sum(axis=1), 0)
        best = int(np.argmin(np.where(open_, apart, np.inf)))
        chosen.append(best)
        open_[best] = False
        missing -= sizes[best]
    return [tables[at] for at in chosen], float(sizes[chosen].sum())


def _candidates(
    rng: np.random.Generator,
    expected: Expectation,
    families: Sequence[Sequence[str]],
    dimensions: Sequence[int],
    number: int,
    cells: float,
) -> list[tuple[str, ...]]:
    """Tables of about the size wanted, `_TRIED` times as many as will be chosen."""
    names = [name for family in families for name in family]
    family = np.array([i for i, group in enumerate(families) for _ in group])
    log = np.log([expected.shares[name].shape[1] for name in names])
    typical = np.log(max(cells / number, 1.0))
    drawn: list[tuple[str, ...]] = []
    for width in dimensions:
        found = np.array(list(combinations(range(len(names)), width)))
        found = found[(np.diff(family[found], axis=1) > 0).all(axis=1)]
        size = log[found].sum(axis=1)
        most = _TRIED * number // len(dimensions)
        near = np.flatnonzero(np.abs(size - typical - np.log(_LARGER)) < np.log(_LARGER))
        kept = rng.permutation(near)[:most]
        if len(kept) < most:
            kept = np.argsort(np.abs(size - typical), kind="stable")[:most]
        drawn += [tuple(names[i] for i in row) for row in found[kept]]
    return drawn
