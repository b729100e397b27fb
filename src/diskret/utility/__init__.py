"""What protection cost: how far protected tables or records are from the original ones."""

from diskret.utility.categorical import RecordComparison, TableLoss, compare_records
from diskret.utility.compare import compare
from diskret.utility.comparison import Comparison, Hidden
from diskret.utility.deviations import (
    Deviations,
    Hellinger,
    Zeros,
    deviations,
    hellinger,
    zeros,
)
from diskret.utility.groups import DeviationTable, Groups, by_group, deviation_table, size_class
from diskret.utility.moments import (
    Moments,
    eigenvalue_loss,
    inverse_correlation_loss,
    moments,
)
from diskret.utility.propensity import Propensity, propensity
from diskret.utility.records_comparison import RecordsComparison
from diskret.utility.regression import (
    Regression,
    RegressionComparison,
    interval_overlap,
    least_squares,
)
from diskret.utility.risk_utility import RiskUtilityMap
from diskret.utility.structure import (
    Additivity,
    Association,
    Ranks,
    between_variance,
    cramers_v,
    ranks,
)
from diskret.utility.values import ValueLoss, category_distance, entropy_loss, value_loss

__all__ = [
    "Additivity",
    "Association",
    "Comparison",
    "DeviationTable",
    "Deviations",
    "Groups",
    "Hellinger",
    "Hidden",
    "Moments",
    "Propensity",
    "Ranks",
    "RecordComparison",
    "RecordsComparison",
    "Regression",
    "RegressionComparison",
    "RiskUtilityMap",
    "TableLoss",
    "ValueLoss",
    "Zeros",
    "between_variance",
    "by_group",
    "category_distance",
    "compare",
    "compare_records",
    "cramers_v",
    "deviation_table",
    "deviations",
    "eigenvalue_loss",
    "entropy_loss",
    "hellinger",
    "interval_overlap",
    "inverse_correlation_loss",
    "least_squares",
    "moments",
    "propensity",
    "ranks",
    "size_class",
    "value_loss",
    "zeros",
]
