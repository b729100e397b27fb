"""The public verbs: tabulate, suppress, write, verify, audit."""

from diskret.workflow.result import Result
from diskret.workflow.suppress import suppress
from diskret.workflow.tabulate import tabulate

__all__ = ["Result", "suppress", "tabulate"]
