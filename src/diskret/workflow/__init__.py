"""The public verbs: tabulate, recode, suppress, perturb, adjust, write, verify, audit."""

from diskret.workflow import derive
from diskret.workflow.adjust import adjust
from diskret.workflow.make_additive import make_additive
from diskret.workflow.perturb import perturb
from diskret.workflow.perturbed_result import PerturbedResult
from diskret.workflow.recode_assistant import recode_candidates
from diskret.workflow.result import Result
from diskret.workflow.suppress import suppress
from diskret.workflow.tabulate import tabulate

__all__ = [
    "PerturbedResult",
    "Result",
    "adjust",
    "derive",
    "make_additive",
    "perturb",
    "recode_candidates",
    "suppress",
    "tabulate",
]
