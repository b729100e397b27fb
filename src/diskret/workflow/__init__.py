"""The public verbs: tabulate, recode, suppress, write, verify, audit."""

from diskret.workflow import derive
from diskret.workflow.recode_assistant import recode_candidates
from diskret.workflow.result import Result
from diskret.workflow.suppress import suppress
from diskret.workflow.tabulate import tabulate

__all__ = ["Result", "derive", "recode_candidates", "suppress", "tabulate"]
