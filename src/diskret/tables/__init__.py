"""Tables of cells, and what of them is published."""

from diskret.tables.contributions import Contributions
from diskret.tables.derived import Derived
from diskret.tables.dimension import Dimension
from diskret.tables.earlier import Earlier
from diskret.tables.noise import Noise
from diskret.tables.perturbed import Perturbed
from diskret.tables.publication import Publication, together
from diskret.tables.published import CHANGES, NO_BOUND, Published
from diskret.tables.requirements import NO_LEVELS, Requirements, UnsafeSums
from diskret.tables.side_by_side import SideBySide
from diskret.tables.table import Measure, Table
from diskret.tables.ties import MeasureSum

__all__ = [
    "CHANGES",
    "Contributions",
    "Derived",
    "Dimension",
    "Earlier",
    "Measure",
    "MeasureSum",
    "NO_BOUND",
    "NO_LEVELS",
    "Noise",
    "Perturbed",
    "Publication",
    "Published",
    "Requirements",
    "SideBySide",
    "Table",
    "UnsafeSums",
    "together",
]
