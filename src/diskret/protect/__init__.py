"""The verbs on tables: tabulate, judge, protect, prove, write."""
