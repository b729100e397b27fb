"""The cell key method: the same contributors always get the same noise."""

from diskret.cellkey.counts import perturbed_counts, weighted_counts
from diskret.cellkey.lookup import Lookup
from diskret.cellkey.magnitudes import MagnitudeNoise, as_lookup, perturbed_sums
from diskret.cellkey.table import PerturbationTable

__all__ = [
    "Lookup",
    "MagnitudeNoise",
    "PerturbationTable",
    "as_lookup",
    "perturbed_counts",
    "perturbed_sums",
    "weighted_counts",
]
