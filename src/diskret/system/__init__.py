"""One system of linear equations over canonical cells."""

from diskret.system.cells import Cell, CellSum
from diskret.system.equations import System
from diskret.system.joint import cell_inside, definitions, joint_system
from diskret.system.sums import with_sums

__all__ = ["Cell", "CellSum", "System", "cell_inside", "definitions", "joint_system", "with_sums"]
