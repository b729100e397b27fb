"""One system of linear equations over canonical cells."""

from diskret.system.cells import Cell
from diskret.system.equations import System

__all__ = ["Cell", "System"]
