"""One system of linear equations over canonical cells."""

from diskret.system.equations import Cell, CellSum, System, with_sums
from diskret.system.joint import cell_inside, definitions, joint_system

__all__ = ["Cell", "CellSum", "System", "cell_inside", "definitions", "joint_system", "with_sums"]
