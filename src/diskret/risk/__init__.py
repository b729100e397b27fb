"""How easily a person or firm is recognised in microdata."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from diskret.risk.synthetic_files import synthetic as synthetic
    from diskret.risk.synthetic_risk import SyntheticRisk as SyntheticRisk

__all__ = [
    "Classes",
    "Compat",
    "Distributions",
    "Frequencies",
    "Households",
    "Keys",
    "Measure",
    "Missing",
    "SyntheticRisk",
    "by_record",
    "classes",
    "frequencies",
    "household_risk",
    "individual_risk",
    "individual_threshold",
    "k_map",
    "person_thresholds",
    "synthetic",
]


def __getattr__(name: str) -> Any:
    """What compares whole files is imported when it is first used."""
    if name == "SyntheticRisk":
        return import_module("diskret.risk.synthetic_risk").SyntheticRisk
    if name == "synthetic":
        return import_module("diskret.risk.synthetic_files").synthetic
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
