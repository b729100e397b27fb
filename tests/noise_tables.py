"""Perturbation tables and published counts for tests of attacks."""

import numpy as np

from diskret.cellkey import PerturbationTable
from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension, Published

#: Cumulative rows of Simon (2022), appendix A, after Höhne & Höninger (2019); noise −4 to 4.
CUMULATIVE = (
    (0, 0, 0, 0, 1, 1, 1, 1, 1),
    (0, 0, 0, 0.6875, 0.6875, 0.6875, 0.9375, 1, 1),
    (0, 0, 0.3533, 0.3533, 0.3533, 0.9440, 0.9970, 0.9990, 1),
    (0, 0.1620, 0.1620, 0.1620, 0.6620, 0.8560, 0.9970, 0.9990, 1),
    (0.0870, 0.0870, 0.0870, 0.1920, 0.6920, 0.8590, 0.9970, 0.9990, 1),
    (0, 0, 0.1450, 0.3270, 0.8270, 0.8590, 0.8930, 0.9490, 1),
    (0, 0.0400, 0.1500, 0.2850, 0.7850, 0.8600, 0.9200, 0.9600, 1),
    (0.0200, 0.0600, 0.1450, 0.2500, 0.7500, 0.8550, 0.9400, 0.9800, 1),
)


def seed_table() -> PerturbationTable:
    """The table of the seed paper: D = 4, variance 2.25, no published 1 or 2."""
    rows = np.diff(np.array(CUMULATIVE), axis=1, prepend=0.0)
    return PerturbationTable(np.arange(8), np.arange(-4, 5), rows)


def tiny_table() -> PerturbationTable:
    """D = 2, V = 1, all counts published: the rows that R's ptable prints."""
    rows = np.array(
        [
            [0, 0, 1, 0, 0],
            [0, 0.3665, 0.3665, 0.1676, 0.0995],
            [0.0638, 0.2447, 0.3830, 0.2447, 0.0638],
        ]
    )
    return PerturbationTable(np.arange(3), np.arange(-2, 3), rows / rows.sum(axis=1)[:, None])


def random_table(draw: np.random.Generator, largest: int = 2, rows: int = 4) -> PerturbationTable:
    """Any rows that publish no negative count, some without some noise."""
    noise = np.arange(-largest, largest + 1)
    chance = draw.random((rows, len(noise))) * (draw.random((rows, len(noise))) < 0.8)
    chance[:, largest] += 0.05
    chance[np.arange(rows)[:, None] + noise < 0] = 0
    chance[0] = noise == 0
    return PerturbationTable(np.arange(rows), noise, chance / chance.sum(axis=1)[:, None])


def with_totals(leaves: np.ndarray) -> np.ndarray:
    """Counts with the total in front on every axis."""
    for axis in range(leaves.ndim):
        leaves = np.concatenate((leaves.sum(axis=axis, keepdims=True), leaves), axis=axis)
    return leaves


def published(values, changed: str = "cell_key", frequency: bool = True) -> Published:
    """A published table with flat trees, totals first on every axis."""
    values = np.asarray(values, dtype=np.int64)
    return Published(
        name="t",
        dimensions=tuple(
            Dimension(f"d{axis}", Hierarchy.flat([f"c{i}" for i in range(size - 1)]))
            for axis, size in enumerate(values.shape)
        ),
        measure="count" if frequency else "sales",
        frequency=frequency,
        decimals=0,
        value=values,
        suppressed=np.zeros(values.shape, dtype=bool),
        empty=np.zeros(values.shape, dtype=bool),
        changed=changed,
    )


def perturbed(table: PerturbationTable, true: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Counts with noise that is independent from cell to cell."""
    cumulative = table.probabilities.cumsum(axis=1)[table.row(true)]
    interval = (draw.random(true.shape)[..., None] >= cumulative).sum(axis=-1)
    return true + table.noise[np.minimum(interval, len(table.noise) - 1)]
