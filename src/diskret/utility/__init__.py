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
    "Zeros",
    "between_variance",
    "by_group",
    "compare",
    "cramers_v",
    "deviation_table",
    "deviations",
    "hellinger",
    "ranks",
    "size_class",
    "zeros",
]
