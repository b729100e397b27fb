"""One classifying variable of a table."""

from __future__ import annotations

from dataclasses import dataclass

from diskret.hierarchy import Hierarchy


@dataclass(frozen=True)
class Dimension:
    """A classifying variable: its column name and its code tree."""

    name: str
    hierarchy: Hierarchy

    def __len__(self) -> int:
        return len(self.hierarchy)
