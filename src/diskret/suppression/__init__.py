"""Cell suppression: methods that choose which cells to hide."""

from diskret.suppression.certify import propose
from diskret.suppression.greedy import modular, sequential, untidied
from diskret.suppression.hypercube import hypercube
from diskret.suppression.network import network
from diskret.suppression.optimal import auto, left_to_modular, optimal
from diskret.suppression.problem import Method, Pattern, Problem, Work

__all__ = [
    "Method",
    "Pattern",
    "Problem",
    "Work",
    "auto",
    "hypercube",
    "left_to_modular",
    "modular",
    "network",
    "optimal",
    "propose",
    "sequential",
    "untidied",
]
