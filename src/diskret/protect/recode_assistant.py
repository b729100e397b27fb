"""Which recoding helps: try the small ones and see what they cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.deadline import Deadline
from diskret.errors import HierarchyError, InputError
from diskret.hierarchy import Hierarchy
from diskret.io import from_arrow
from diskret.parallel import meanwhile
from diskret.progress import Progress, silent
from diskret.rules import Rule
from diskret.tables import Table


@dataclass(frozen=True)
class _Candidate:
    """One call of `Table.recode`: two codes into a new one, or a level to cut at."""

    dimension: str
    codes_lost: int
    code: str | None = None
    first: str | None = None
    second: str | None = None
    level: int | None = None

    def carry_out(self, table: Table) -> Table:
        if self.code is None or self.first is None or self.second is None:
            return table.recode(self.dimension, level=self.level)
        return table.recode(self.dimension, {self.code: (self.first, self.second)})


def recode_candidates(
    table: Table, rule: Rule, progress: Progress = silent, *, time_limit: float | None = None
) -> Any:
    """Try small recodings of a table and show how many cells stay unsafe, best first.

    Tried are, for each dimension, every level to cut at and every pair of leaves below one
    parent of which one has an unsafe cell. Confidential, as all that rules say.

    Parameters
    ----------
    table
        The table; nothing is changed in it.
    rule
        What is unsafe.
    progress
        Called with ``("recode", done, total)``.
    time_limit
        Seconds after which no more is tried.

    Returns
    -------
    frame
        In the caller's kind of frame, one row a candidate: ``dimension``; ``code``, ``first``
        and ``second`` of a pair, for ``table.recode(dimension, {code: [first, second]})``, or
        ``level`` for ``table.recode(dimension, level=level)``; ``unsafe_before``,
        ``unsafe_after`` and ``cells_lost``. The fewest unsafe cells stand first, then the
        fewest lost. ``unsafe_after`` is null, and the row last, where the table cannot be
        recoded because contributors may be in both categories, where `Apriori` names a code
        that would be gone, or where it was not tried in time.

    Raises
    ------
    InputError
        The rule cannot judge the table.

    Examples
    --------
    >>> from diskret.rules import MinimumFrequency
    >>> cells = pa.table({"region": ["N", "S", "W"], "firms": [7, 2, 1]})
    >>> table = Table.from_cells(cells, by={"region": None}, count="firms")
    >>> tried = recode_candidates(table, MinimumFrequency(3)).to_pylist()
    >>> [(row["code"], row["unsafe_after"], row["cells_lost"]) for row in tried]
    [('S+W', 0, 1), ('N+S', 1, 1), ('N+W', 1, 1)]
    """
    deadline = Deadline.after(time_limit)
    unsafe = meanwhile(lambda: rule(table).unsafe, lambda: progress("recode", 0, 1))
    candidates = list(_candidates(table, unsafe))
    rows: list[tuple[_Candidate, int | None, int]] = []
    for done, candidate in enumerate(candidates):
        tell = partial(progress, "recode", done, len(candidates))
        tell()
        after = None
        if not deadline.passed:
            after = meanwhile(partial(_unsafe_after, table, rule, candidate), tell)
        rows.append((candidate, after, _cells_lost(table, candidate)))
    progress("recode", len(candidates), len(candidates))
    rows.sort(key=lambda row: (row[1] is None, row[1] or 0, row[2]))
    frame = pa.table(
        {
            "dimension": pa.array([c.dimension for c, _, _ in rows], pa.string()),
            "code": pa.array([c.code for c, _, _ in rows], pa.string()),
            "first": pa.array([c.first for c, _, _ in rows], pa.string()),
            "second": pa.array([c.second for c, _, _ in rows], pa.string()),
            "level": pa.array([c.level for c, _, _ in rows], pa.int64()),
            "unsafe_before": pa.array([int(unsafe.sum())] * len(rows), pa.int64()),
            "unsafe_after": pa.array([after for _, after, _ in rows], pa.int64()),
            "cells_lost": pa.array([lost for _, _, lost in rows], pa.int64()),
        }
    )
    return from_arrow(frame, table.frame_kind)


def _candidates(table: Table, unsafe: NDArray[np.bool_]) -> Iterator[_Candidate]:
    for axis, dimension in enumerate(table.dimensions):
        tree = dimension.hierarchy
        for level in range(1, int(tree.level.max())):
            yield _Candidate(dimension.name, int((tree.level > level).sum()), level=level)
        others = tuple(i for i in range(unsafe.ndim) if i != axis)
        hit = np.asarray(unsafe.any(axis=others))
        for first, second in _pairs(tree, hit):
            code = _new_code(tree, first, second)
            yield _Candidate(
                dimension.name,
                codes_lost=2 if code in tree.position else 1,
                code=code,
                first=tree.codes[first],
                second=tree.codes[second],
            )


def _pairs(tree: Hierarchy, hit: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Leaves below one parent of which one is hit; not both codes of a total of two."""
    for parent, children in enumerate(tree.children):
        if parent == 0 and len(children) == 2:
            continue
        leaves = [int(child) for child in children if tree.is_leaf[child]]
        yield from ((a, b) for a, b in combinations(leaves, 2) if hit[a] or hit[b])


def _new_code(tree: Hierarchy, first: int, second: int) -> str:
    """The parent's own code if nothing else stands below it, else one that is not taken."""
    parent = int(tree.parent[first])
    if len(tree.children[parent]) == 2:
        return tree.codes[parent]
    code = f"{tree.codes[first]}+{tree.codes[second]}"
    while code in tree.position:
        code += "+"
    return code


def _cells_lost(table: Table, candidate: _Candidate) -> int:
    size = next(len(d) for d in table.dimensions if d.name == candidate.dimension)
    return candidate.codes_lost * (int(np.prod(table.shape, dtype=np.int64)) // size)


def _unsafe_after(table: Table, rule: Rule, candidate: _Candidate) -> int | None:
    """Unsafe cells that stay; None if refused."""
    try:
        coarser = candidate.carry_out(table)
    except HierarchyError:
        raise  # no table would allow this candidate, so it should not have been tried
    except InputError:
        return None
    try:
        return int(rule(coarser).unsafe.sum())
    except HierarchyError:
        return None
