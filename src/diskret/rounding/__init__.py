"""Rounding: deterministic, random by key, controlled, and of small counts only."""

from diskret.rounding.cell_by_cell import cell_draws, deterministic, random
from diskret.rounding.controlled import Controlled, controlled
from diskret.rounding.small_counts import cells_of, small_counts

__all__ = [
    "Controlled",
    "cell_draws",
    "cells_of",
    "controlled",
    "deterministic",
    "random",
    "small_counts",
]
