"""From what is to be published to a programme: tables, clusters, sums, and open questions."""

from diskret.plan.draft import draft
from diskret.plan.read import read
from diskret.plan.values import Plan, PlannedTable, Question
from diskret.plan.write import write

__all__ = ["Plan", "PlannedTable", "Question", "draft", "read", "write"]
