"""Cell suppression: methods that choose which cells to hide."""

from diskret.suppression.auto import auto
from diskret.suppression.hypercube import hypercube
from diskret.suppression.modular import modular
from diskret.suppression.network import network
from diskret.suppression.optimal import optimal
from diskret.suppression.problem import Method, Pattern, Problem, Work
from diskret.suppression.propose import propose
from diskret.suppression.sequential import sequential

__all__ = [
    "Method",
    "Pattern",
    "Problem",
    "Work",
    "auto",
    "hypercube",
    "modular",
    "network",
    "optimal",
    "propose",
    "sequential",
]
