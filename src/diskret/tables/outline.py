"""What a published table is about, and its cells block by block, for those that nobody holds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from diskret.population import EVERYBODY, Population
from diskret.tables.dimension import Dimension
from diskret.tables.ties import About

#: Cells that are made, written and read together.
ROWS = 2**17


@dataclass(frozen=True, eq=False)
class Outline:
    """All that is public of a table but its cells; parameters as of `Published`."""

    name: str
    dimensions: tuple[Dimension, ...]
    measure: str
    frequency: bool
    decimals: int
    _: KW_ONLY
    nonnegative: bool = True
    vintage: str = ""
    where: Population = EVERYBODY
    recorded: bool = False
    rounding: int = 1
    changed: str = ""

    @property
    def about(self) -> About:
        """What the table is about, by which it is tied to others."""
        return About(self.measure, self.vintage, self.where)

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the classifying variables."""
        return tuple(dimension.name for dimension in self.dimensions)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of codes of each dimension, totals included."""
        return tuple(len(d) for d in self.dimensions)

    @property
    def size(self) -> int:
        """Number of cells."""
        return prod(self.shape)

    @property
    def half_unit(self) -> int:
        """How far a true value can lie from the one that is shown, in scaled units; 0: nowhere."""
        return self.rounding // 2

    @property
    def sides(self) -> tuple[str, ...]:
        """The columns of published bounds."""
        return ()


@dataclass(frozen=True, eq=False)
class Block:
    """Cells of a table that follow each other in C order, the first at position `start`.

    `value` are scaled integers, 0 where suppressed, ``(cells,)``, int64; `suppressed` and `empty`
    ``(cells,)``, bool; `intervals` side → published bounds, ``(cells,)``, int64.
    """

    table: Outline
    start: int
    value: NDArray[np.int64]
    suppressed: NDArray[np.bool_]
    empty: NDArray[np.bool_]
    intervals: Mapping[str, NDArray[np.int64]] = field(default_factory=dict[str, NDArray[np.int64]])

    @property
    def stop(self) -> int:
        """The position after the last cell."""
        return self.start + len(self.value)


class CellsDigest:
    """A SHA-256 digest of cells, however they are cut into blocks."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, block: Block) -> None:
        """The next cells."""
        cells = np.empty(len(block.value), dtype=[("value", "<i8"), ("status", "u1")])
        cells["value"] = block.value
        cells["status"] = block.suppressed + 2 * block.empty
        self._digest.update(cells.tobytes())

    @property
    def hex(self) -> str:
        """Of the cells so far."""
        return self._digest.hexdigest()
