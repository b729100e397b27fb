"""Tables of cells, and what of them is published."""

from diskret.tables.dimension import Dimension
from diskret.tables.published import Published
from diskret.tables.table import Measure, Table

__all__ = ["Dimension", "Measure", "Published", "Table"]
