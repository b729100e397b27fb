"""One classifying variable of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy


@dataclass(frozen=True)
class Dimension:
    """A classifying variable: its column name and its code tree."""

    name: str
    hierarchy: Hierarchy

    def __len__(self) -> int:
        return len(self.hierarchy)


def describe(dimensions: tuple[Dimension, ...], cell: int) -> str:
    """A cell in words: ``region=N, size=Total``."""
    where = np.unravel_index(cell, tuple(len(d) for d in dimensions))
    return ", ".join(
        f"{d.name}={d.hierarchy.codes[int(i)]}" for d, i in zip(dimensions, where, strict=True)
    )


def check_by(by: Any) -> None:
    """Refuse what is no mapping of columns to code trees.

    Raises
    ------
    InputError
        Says what `by` holds and what it should look like.
    """
    if not isinstance(by, Mapping):
        raise InputError(
            f"by= is a column and its code tree for each dimension, not {by!r}; write "
            "by={column: None} where the codes have no hierarchy"
        )
    if not by:
        raise InputError("a table needs at least one classifying variable: by={column: hierarchy}")
    for name, tree in by.items():
        if tree is not None and not isinstance(tree, Hierarchy):
            raise InputError(
                f"by={{{name!r}: ...}} takes a dk.Hierarchy or None, not {tree!r}; read one with "
                'Hierarchy.read("tree.hrc"), or make it with from_parents, from_levels, '
                "from_prefix or flat"
            )
