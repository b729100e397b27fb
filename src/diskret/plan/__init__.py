"""From what is to be published to a programme: tables, clusters, sums, and open questions."""

from diskret.plan.read import read
from diskret.plan.values import Plan, PlannedTable, Question

__all__ = ["Plan", "PlannedTable", "Question", "read"]
