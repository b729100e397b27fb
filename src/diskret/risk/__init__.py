"""How easily a person or firm is recognised in microdata."""

from diskret.risk.distributions import Distributions, Measure, by_record
from diskret.risk.frequencies import Frequencies, Missing, frequencies
from diskret.risk.household import Households, household_risk
from diskret.risk.individual import Compat, individual_risk
from diskret.risk.k_map import k_map
from diskret.risk.keys import Classes, Keys, classes
from diskret.risk.thresholds import individual_threshold, person_thresholds

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
