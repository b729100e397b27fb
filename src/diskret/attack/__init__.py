"""What an attacker can infer from a publication, and proof of what he cannot.

Works from `Published` alone, in code of its own: it shares no equations and no solver
code with the protection it judges.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from diskret.attack.attacker import Attacker
from diskret.attack.certificate import SuppressionCertificate, certify, targets_of
from diskret.attack.closeness import Closeness, Windows, closeness
from diskret.attack.disclosures import Disclosures, disclosures
from diskret.attack.equations import cell_name, neighbours
from diskret.attack.examination import Examination, Targets, ends_in_units, interval_columns
from diskret.attack.examine import examine, intervals, moving_together
from diskret.attack.explain import Explanations, explain
from diskret.attack.knowledge import attacker_bounds
from diskret.attack.moves import Proposals
from diskret.attack.parts import JudgedParts, Parts, may_have_parts, overlapping, revealed_parts
from diskret.attack.proof import recheck, unmet
from diskret.attack.rests import Rests, beside_filters, revealed_rests
from diskret.attack.sums import Sums, revealed_sums, show_sums, unmet_sums
from diskret.tables.requirements import Requirements, UnsafeSums
from diskret.texts import Statement

if TYPE_CHECKING:
    from diskret.attack.cell_key_certificate import certify_cell_key
    from diskret.attack.cell_key_noise import UsedNoise
    from diskret.attack.cell_key_sums_certificate import certify_cell_key_sums
    from diskret.attack.insiders import (
        Insiders,
        InsidersWithstood,
        Open,
        Withstood,
        placed_in,
        unknown_cells,
        withstand_insiders,
    )
    from diskret.attack.noise import (
        Constellation,
        ConstellationRisk,
        Differencing,
        Estimate,
        FeasibleCounts,
        HiddenParameters,
        KeyIntervals,
        NoiseTable,
        PrivacyLoss,
        ask_partitions,
        average_out,
        constellation_risk,
        difference_estimates,
        differencing,
        feasible_counts,
        hidden_parameters,
        keyed_constellation_risk,
        least_noise,
        privacy_loss,
        queries_needed,
        ratio_estimates,
        recovery_probability,
        unpick,
        worst_differencing,
    )
    from diskret.attack.noise_certificate import NoiseCertificate
    from diskret.attack.rounding_certificate import certify_rounding

__all__ = [
    "Attacker",
    "Closeness",
    "Constellation",
    "ConstellationRisk",
    "Differencing",
    "Disclosures",
    "Estimate",
    "Examination",
    "Explanations",
    "FeasibleCounts",
    "HiddenParameters",
    "Insiders",
    "InsidersWithstood",
    "JudgedParts",
    "KeyIntervals",
    "NoiseCertificate",
    "NoiseTable",
    "Open",
    "Parts",
    "PrivacyLoss",
    "Proposals",
    "Requirements",
    "Rests",
    "Statement",
    "Sums",
    "SuppressionCertificate",
    "Targets",
    "UnsafeSums",
    "UsedNoise",
    "Windows",
    "Withstood",
    "ask_partitions",
    "attacker_bounds",
    "average_out",
    "beside_filters",
    "cell_name",
    "certify",
    "certify_cell_key",
    "certify_cell_key_sums",
    "certify_rounding",
    "closeness",
    "constellation_risk",
    "difference_estimates",
    "differencing",
    "disclosures",
    "ends_in_units",
    "examine",
    "explain",
    "feasible_counts",
    "hidden_parameters",
    "interval_columns",
    "intervals",
    "keyed_constellation_risk",
    "least_noise",
    "may_have_parts",
    "moving_together",
    "neighbours",
    "overlapping",
    "placed_in",
    "privacy_loss",
    "queries_needed",
    "ratio_estimates",
    "recheck",
    "recovery_probability",
    "revealed_parts",
    "revealed_rests",
    "revealed_sums",
    "show_sums",
    "targets_of",
    "unknown_cells",
    "unmet",
    "unmet_sums",
    "unpick",
    "withstand_insiders",
    "worst_differencing",
]

#: What is imported when it is first used, beside all of `noise`.
_HOME = {
    "certify_cell_key": "cell_key_certificate",
    "UsedNoise": "cell_key_noise",
    "certify_cell_key_sums": "cell_key_sums_certificate",
    "Insiders": "insiders",
    "InsidersWithstood": "insiders",
    "Open": "insiders",
    "Withstood": "insiders",
    "placed_in": "insiders",
    "unknown_cells": "insiders",
    "withstand_insiders": "insiders",
    "NoiseCertificate": "noise_certificate",
    "certify_rounding": "rounding_certificate",
}


def __getattr__(name: str) -> Any:
    """Attacks on changed values and by contributors, which few calls need."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME.get(name, 'noise')}"), name)
    globals()[name] = value
    return value
