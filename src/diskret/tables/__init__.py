"""Tables of cells, and what of them is published."""

from diskret.tables.contributions import Contributions
from diskret.tables.derived import Derived
from diskret.tables.dimension import Dimension
from diskret.tables.perturbed import Perturbed
from diskret.tables.publication import MeasureSum, Publication, together
from diskret.tables.published import NO_BOUND, Published
from diskret.tables.side_by_side import SideBySide
from diskret.tables.table import Measure, Table

__all__ = [
    "Contributions",
    "Derived",
    "Dimension",
    "Measure",
    "MeasureSum",
    "NO_BOUND",
    "Perturbed",
    "Publication",
    "Published",
    "SideBySide",
    "Table",
    "together",
]
