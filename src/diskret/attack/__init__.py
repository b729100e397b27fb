"""What an attacker can infer from a publication, and proof of what he cannot.

Works from `Published` alone, in code of its own: it shares no equations and no solver
code with the protection it judges.
"""

from diskret.attack.adding_up import broken_sums
from diskret.attack.attacker import Attacker
from diskret.attack.certificate import SuppressionCertificate, certify, targets_of
from diskret.attack.certify_rounding import certify_rounding
from diskret.attack.equations import cell_name, neighbours
from diskret.attack.examine import Examination, Targets, examine
from diskret.attack.explain import Explanations, explain
from diskret.attack.intervals import ends_in_units, interval_columns, intervals
from diskret.attack.knowledge import attacker_bounds
from diskret.attack.noise_certificate import NoiseCertificate, Statement
from diskret.attack.parts import JudgedParts, Parts, overlapping, revealed_parts
from diskret.attack.proof import recheck, unmet
from diskret.attack.proposals import Proposals
from diskret.attack.requirements import Requirements
from diskret.attack.show_sums import show_sums
from diskret.attack.sums import Sums, UnsafeSums, revealed_sums, unmet_sums

__all__ = [
    "Attacker",
    "Examination",
    "Explanations",
    "JudgedParts",
    "NoiseCertificate",
    "Parts",
    "Proposals",
    "Requirements",
    "Statement",
    "Sums",
    "SuppressionCertificate",
    "Targets",
    "UnsafeSums",
    "attacker_bounds",
    "broken_sums",
    "cell_name",
    "certify",
    "certify_rounding",
    "ends_in_units",
    "examine",
    "explain",
    "interval_columns",
    "intervals",
    "neighbours",
    "overlapping",
    "recheck",
    "revealed_parts",
    "revealed_sums",
    "show_sums",
    "targets_of",
    "unmet",
    "unmet_sums",
]
