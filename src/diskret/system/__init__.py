"""One system of linear equations over canonical cells."""

from diskret.system.cells import Cell
from diskret.system.equations import System
from diskret.system.joint import definitions, joint_system

__all__ = ["Cell", "System", "definitions", "joint_system"]
