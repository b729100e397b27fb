"""Tables of cells, and what of them is published."""

from diskret.tables.cells import CHANGES, NO_BOUND
from diskret.tables.contributions import Contributions, Measure
from diskret.tables.derived import Derived
from diskret.tables.difference import Difference
from diskret.tables.dimension import Dimension
from diskret.tables.known_before import KnownBefore
from diskret.tables.outline import Block, CellsDigest, Outline
from diskret.tables.perturbed import Noise, Perturbed
from diskret.tables.published import Publication, Published, together
from diskret.tables.requirements import NO_LEVELS, Earlier, Requirements, UnsafeSums
from diskret.tables.side_by_side import SideBySide
from diskret.tables.table import Table
from diskret.tables.ties import MeasureSum

__all__ = [
    "Block",
    "CHANGES",
    "CellsDigest",
    "Contributions",
    "Derived",
    "Difference",
    "Dimension",
    "Earlier",
    "KnownBefore",
    "Measure",
    "MeasureSum",
    "NO_BOUND",
    "NO_LEVELS",
    "Noise",
    "Outline",
    "Perturbed",
    "Publication",
    "Published",
    "Requirements",
    "SideBySide",
    "Table",
    "UnsafeSums",
    "together",
]
