"""The cell key method: the same contributors always get the same noise."""

from diskret.cellkey.lookup import Lookup
from diskret.cellkey.table import PerturbationTable

__all__ = ["Lookup", "PerturbationTable"]
