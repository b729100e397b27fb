"""What a file of SAS, SPSS or Stata says of its columns: labels, and codes that mean missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class CodeBook:
    """What a file of SAS, SPSS or Stata says of its columns.

    `labels`: column → what it is. `values`: column → code as text → what it means. `missing`:
    column → the ranges of numbers that mean missing in SPSS. `tagged`: columns of numbers in which
    some values are missing for a reason, ``.a`` to ``.z``; they are read as text.
    """

    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    missing: Mapping[str, tuple[tuple[float, float], ...]] = field(
        default_factory=dict[str, tuple[tuple[float, float], ...]]
    )
    tagged: frozenset[str] = frozenset()
