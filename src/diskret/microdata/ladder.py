"""The ways to show a key: as it is, and in ever coarser categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.codes import some
from diskret.hierarchy.intervals import number_text
from diskret.io import Coded
from diskret.microdata.categories import above
from diskret.microdata.numbers import classed


@dataclass(frozen=True, eq=False)
class Ladder:
    """The levels of one key: 0 as it is, above it ever coarser, the last one tells nothing.

    Parameters
    ----------
    name
        Of the key.
    size
        Number of its categories.
    labels
        For each level from 1 on what each category is called there, ``(size,)``. Categories that
        have one name on a level have one name on all higher ones. Empty: the key stays as it is.
    """

    name: str
    size: int
    labels: tuple[tuple[str, ...], ...] = ()

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.labels)

    @cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """The names on each level from 1 on, by code."""
        return tuple(tuple(sorted(set(labels))) for labels in self.labels)

    @cached_property
    def codes(self) -> tuple[NDArray[np.int32], ...]:
        """For each level the code of each category and, last, of a missing value.

        A missing value is -1, and stands at the end so that ``codes[level][key]`` is right for
        -1 as well. On the highest level it is told no more than any other.
        """
        found = [np.append(np.arange(self.size), -1).astype(np.int32)]
        for names, labels in zip(self.names, self.labels, strict=True):
            at = {name: code for code, name in enumerate(names)}
            found.append(np.array([*(at[label] for label in labels), -1], dtype=np.int32))
        if self.labels:
            found[-1][-1] = 0
        return tuple(found)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of codes on each level."""
        return (self.size, *(len(names) for names in self.names))

    def between(self, low: int, high: int) -> NDArray[np.int32]:
        """For each code of a level, and last for missing, its code on a higher one."""
        lookup = np.full(self.sizes[low] + 1, -1, dtype=np.int32)
        lookup[self.codes[low]] = self.codes[high]
        return lookup

    def column(self, codes: NDArray[np.int32], level: int) -> pa.ChunkedArray:
        """What the records show on a level from 1 on, null where a code is -1."""
        names = pa.array(self.names[level - 1], pa.string())
        return pa.chunked_array([names.take(pa.array(codes, mask=codes < 0))])


def tree_ladder(column: Coded, tree: Hierarchy) -> Ladder:
    """The levels of a key that are those of its tree, the leaves as they are.

    Raises
    ------
    InputError
        A category is not in the tree, or the tree has no level above it.

    Examples
    --------
    >>> from diskret.io import coded
    >>> age = coded(pa.chunked_array([[31, 34, 48]]), "age")
    >>> tree_ladder(age, Hierarchy.from_widths([31, 34, 48], [10])).labels
    (('30-39', '30-39', '40-49'), ('Total', 'Total', 'Total'))
    """
    depth = int(tree.level.max())
    if depth < 1:
        raise InputError(f"the hierarchy of {column.name!r} has a total and nothing else")
    levels = (tuple(above(column, tree, level)) for level in range(depth - 1, -1, -1))
    return Ladder(column.name, len(column.categories), tuple(levels))


def breaks_ladder(column: Coded, breaks: Sequence[Sequence[float]], total: str = "Total") -> Ladder:
    """The levels of a key whose numbers lie in ever wider classes.

    Parameters
    ----------
    column
        The key.
    breaks
        For each level its breaks, the narrowest classes first; the lower break of a class
        belongs to it, and the ends may be infinite.
    total
        What the highest level is called.

    Raises
    ------
    InputError
        A break is not among those of the level below, or values lie outside the classes.

    Examples
    --------
    >>> from diskret.io import coded
    >>> age = coded(pa.chunked_array([[31, 34, 48]]), "age")
    >>> breaks_ladder(age, [[30, 35, 50], [30, 50]]).labels[:2]
    (('30-34', '30-34', '35-49'), ('30-49', '30-49', '30-49'))
    """
    for fine, coarse in zip(breaks, breaks[1:], strict=False):
        inner = [b for b in coarse if b not in fine and abs(b) < inf]
        if inner:
            raise InputError(
                f"breaks {some([number_text(b) for b in inner])} of a coarser level of "
                f"{column.name!r} are not among those of the finer one, so a narrow class would "
                "lie in two wide ones"
            )
    values = pa.chunked_array([column.categories])
    levels = [tuple(classed(values, column.name, level).to_pylist()) for level in breaks]
    everything = (total,) * len(column.categories)
    return Ladder(column.name, len(column.categories), (*levels, everything))
