"""The public verbs: tabulate, recode, suppress, adjust, write, verify, audit."""

from diskret.workflow import derive
from diskret.workflow.adjust import adjust
from diskret.workflow.make_additive import make_additive
from diskret.workflow.recode_assistant import recode_candidates
from diskret.workflow.result import Result
from diskret.workflow.suppress import suppress
from diskret.workflow.tabulate import tabulate

__all__ = [
    "Result",
    "adjust",
    "derive",
    "make_additive",
    "recode_candidates",
    "suppress",
    "tabulate",
]
