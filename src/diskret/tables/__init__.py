"""Tables of cells, and what of them is published."""

from diskret.tables.dimension import Dimension
from diskret.tables.publication import MeasureSum, Publication, together
from diskret.tables.published import NO_BOUND, Published
from diskret.tables.table import Measure, Table

__all__ = [
    "Dimension",
    "Measure",
    "MeasureSum",
    "NO_BOUND",
    "Publication",
    "Published",
    "Table",
    "together",
]
