"""Cell suppression: methods that choose which cells to hide."""

from diskret.suppression.hypercube import hypercube
from diskret.suppression.network import network
from diskret.suppression.optimal import optimal
from diskret.suppression.problem import Method, Pattern, Problem
from diskret.suppression.sequential import sequential

__all__ = ["Method", "Pattern", "Problem", "hypercube", "network", "optimal", "sequential"]
