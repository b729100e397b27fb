"""Tables of cells, and what of them is published."""

from diskret.tables.contributions import Contributions
from diskret.tables.derived import Derived
from diskret.tables.dimension import Dimension
from diskret.tables.noise import Noise
from diskret.tables.perturbed import Perturbed
from diskret.tables.publication import MeasureSum, Publication, together
from diskret.tables.published import CHANGES, NO_BOUND, Published
from diskret.tables.side_by_side import SideBySide
from diskret.tables.table import Measure, Table

__all__ = [
    "CHANGES",
    "Contributions",
    "Derived",
    "Dimension",
    "Measure",
    "MeasureSum",
    "NO_BOUND",
    "Noise",
    "Perturbed",
    "Publication",
    "Published",
    "SideBySide",
    "Table",
    "together",
]
