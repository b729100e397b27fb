"""One classifying variable of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.codes import as_code


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


def describe_some(
    dimensions: tuple[Dimension, ...], cells: NDArray[np.int64], most: int = 5
) -> str:
    """The first of these cells in words, as examples in a message."""
    return "; ".join(describe(dimensions, int(cell)) for cell in cells[:most])


def check_by(by: Any) -> None:
    """Refuse what is no mapping of columns to code trees."""
    if not isinstance(by, Mapping):
        names: list[Any] = [by] if isinstance(by, str) else [*by] if isinstance(by, list) else []
        meant = dict.fromkeys(map(str, names)) or {"column": None}
        raise InputError(
            f"by= is a column and its code tree for each dimension, not {by!r}; where the codes "
            f"have no hierarchy write by={meant}"
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


def said_totals(
    by: Mapping[str, Hierarchy | None], total: str | Mapping[str, str] | None
) -> dict[str, str]:
    """What the user says the totals are called: column → code.

    by: column → its tree, or None.
    total: the code of all columns without a tree; or column → code, where a tree's own total
        confirms that no other code is one.

    >>> said_totals({"region": None, "size": Hierarchy.flat(["1", "2"])}, "T")
    {'region': 'T'}
    """
    if total is None:
        return {}
    if not isinstance(total, Mapping):
        flat = [name for name, tree in by.items() if tree is None]
        if not flat:
            raise InputError(
                f"total={total!r} is for columns without a tree, and all have one; a tree names "
                "its own total"
            )
        total = dict.fromkeys(flat, total)
    said: dict[str, str] = {}
    for name, given in total.items():
        code = as_code(given)
        if name not in by:
            raise InputError(f"total= names {name!r}, which is no column of by=")
        if not code:
            raise InputError(f"total= of {name!r} must be a code, not {given!r}")
        tree = by[name]
        if tree is not None and tree.total != code:
            raise InputError(
                f"total= says {code!r} of {name!r}, but the total of its tree is {tree.total!r}"
            )
        said[name] = code
    return said
