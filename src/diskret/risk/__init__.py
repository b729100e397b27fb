"""How easily a person or firm is recognised in microdata."""

from diskret.risk.distributions import Distributions, Measure, by_record
from diskret.risk.frequencies import Frequencies, Missing, frequencies, k_map
from diskret.risk.individual import (
    Compat,
    Households,
    household_risk,
    individual_risk,
    individual_threshold,
    person_thresholds,
)
from diskret.risk.keys import Classes, Keys, classes

__all__ = [
    "Classes",
    "Compat",
    "Distributions",
    "Frequencies",
    "Households",
    "Keys",
    "Measure",
    "Missing",
    "by_record",
    "classes",
    "frequencies",
    "household_risk",
    "individual_risk",
    "individual_threshold",
    "k_map",
    "person_thresholds",
]
