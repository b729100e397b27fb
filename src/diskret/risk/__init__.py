"""How easily a person or firm is recognised in microdata."""

from diskret.risk.frequencies import Frequencies, Missing, frequencies
from diskret.risk.keys import Classes, Keys, classes

__all__ = ["Classes", "Frequencies", "Keys", "Missing", "classes", "frequencies"]
