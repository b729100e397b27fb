"""The cell key method: the same contributors always get the same noise."""

from diskret.cellkey.controlled import controlled_noise
from diskret.cellkey.counts import perturbed_counts, weighted_counts
from diskret.cellkey.invariant import least_bias_table, two_step_table, value_frequencies
from diskret.cellkey.magnitude_noise import MagnitudeNoise
from diskret.cellkey.magnitudes import as_lookup, perturbed_sums
from diskret.cellkey.table import Lookup, PerturbationTable

__all__ = [
    "Lookup",
    "MagnitudeNoise",
    "PerturbationTable",
    "as_lookup",
    "controlled_noise",
    "least_bias_table",
    "perturbed_counts",
    "perturbed_sums",
    "two_step_table",
    "value_frequencies",
    "weighted_counts",
]
