"""The cell key method: the same contributors always get the same noise."""

from diskret.cellkey.controlled import controlled_noise
from diskret.cellkey.invariant import least_bias_table, two_step_table, value_frequencies
from diskret.cellkey.lookup import Lookup
from diskret.cellkey.table import PerturbationTable

__all__ = [
    "Lookup",
    "PerturbationTable",
    "controlled_noise",
    "least_bias_table",
    "two_step_table",
    "value_frequencies",
]
