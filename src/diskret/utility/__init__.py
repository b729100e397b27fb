"""What protection cost: how far protected tables are from the original ones."""

from diskret.utility.additivity import Additivity
from diskret.utility.association import Association, between_variance, cramers_v
from diskret.utility.compare import compare
from diskret.utility.comparison import Comparison, Hidden
from diskret.utility.cumulative import DeviationTable, deviation_table
from diskret.utility.deviations import (
    Deviations,
    Hellinger,
    Zeros,
    deviations,
    hellinger,
    zeros,
)
from diskret.utility.groups import Groups, by_group, size_class
from diskret.utility.ranks import Ranks, ranks
from diskret.utility.records import RecordComparison, TableLoss, compare_records

__all__ = [
    "Additivity",
    "Association",
    "Comparison",
    "DeviationTable",
    "Deviations",
    "Groups",
    "Hellinger",
    "Hidden",
    "Ranks",
    "RecordComparison",
    "TableLoss",
    "Zeros",
    "between_variance",
    "by_group",
    "compare",
    "compare_records",
    "cramers_v",
    "deviation_table",
    "deviations",
    "hellinger",
    "ranks",
    "size_class",
    "zeros",
]
