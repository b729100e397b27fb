"""Reports in HTML: the public one for readers, and the office's own."""

from diskret.report.changed import write_internal_changed_report
from diskret.report.internal import write_internal_report
from diskret.report.microdata import (
    write_internal_microdata_report,
    write_public_microdata_report,
)
from diskret.report.microdata_outline import (
    Family,
    InsideOutline,
    Kind,
    Outline,
    StepNote,
    Variable,
)
from diskret.report.public import write_public_report

__all__ = [
    "Family",
    "InsideOutline",
    "Kind",
    "Outline",
    "StepNote",
    "Variable",
    "write_internal_changed_report",
    "write_internal_microdata_report",
    "write_internal_report",
    "write_public_microdata_report",
    "write_public_report",
]
