"""Reports in HTML: the public one for readers, and the office's own."""

from diskret.report.changed import write_changed_report, write_internal_changed_report
from diskret.report.internal import write_internal_report
from diskret.report.public import write_public_report

__all__ = [
    "write_changed_report",
    "write_internal_changed_report",
    "write_internal_report",
    "write_public_report",
]
