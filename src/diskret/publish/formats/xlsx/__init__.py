"""Workbooks: the public one for readers, and the office's own."""

from diskret.publish.formats.xlsx.internal import write_internal_xlsx
from diskret.publish.formats.xlsx.public import write_xlsx

__all__ = ["write_internal_xlsx", "write_xlsx"]
