"""Rounding: deterministic, random by key, controlled, and of small counts only."""

from diskret.rounding.controlled import Controlled, controlled
from diskret.rounding.deterministic import deterministic
from diskret.rounding.draws import cell_draws
from diskret.rounding.inner import cells_of
from diskret.rounding.random import random
from diskret.rounding.small_counts import small_counts

__all__ = [
    "Controlled",
    "cell_draws",
    "cells_of",
    "controlled",
    "deterministic",
    "random",
    "small_counts",
]
