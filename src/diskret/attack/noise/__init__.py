"""Attacks on counts that were changed by noise or rounding, and what they cost an attacker."""

from diskret.attack.noise.chances import (
    Differencing,
    NoiseTable,
    PrivacyLoss,
    chances,
    differencing,
    privacy_loss,
    worst_differencing,
)
from diskret.attack.noise.constellations import (
    Constellation,
    ConstellationRisk,
    constellation_risk,
)
from diskret.attack.noise.estimates import (
    Estimate,
    ask_partitions,
    average_out,
    difference_estimates,
    queries_needed,
    ratio_estimates,
    recovery_probability,
)
from diskret.attack.noise.feasible import (
    FeasibleCounts,
    HiddenParameters,
    feasible_counts,
    hidden_parameters,
    least_noise,
    unpick,
)
from diskret.attack.noise.linear_keys import KeyIntervals, keyed_constellation_risk

__all__ = [
    "Constellation",
    "ConstellationRisk",
    "Differencing",
    "Estimate",
    "FeasibleCounts",
    "HiddenParameters",
    "KeyIntervals",
    "NoiseTable",
    "PrivacyLoss",
    "ask_partitions",
    "average_out",
    "chances",
    "constellation_risk",
    "difference_estimates",
    "differencing",
    "feasible_counts",
    "hidden_parameters",
    "keyed_constellation_risk",
    "least_noise",
    "privacy_loss",
    "queries_needed",
    "ratio_estimates",
    "recovery_probability",
    "unpick",
    "worst_differencing",
]
