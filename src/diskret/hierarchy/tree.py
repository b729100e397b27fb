"""The code tree of one classifying variable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import HierarchyError


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree of codes: every code is the sum of its children, the root is the total.

    Use one of the constructors [`read`][diskret.Hierarchy.read],
    [`from_parents`][diskret.Hierarchy.from_parents] or
    [`flat`][diskret.Hierarchy.flat]; the fields are what the rest of the system
    computes with.

    Parameters
    ----------
    codes
        All codes, depth first, the total at position 0. Text; unique.
    parent
        Position of each code's parent, shape ``(len(codes),)``, int32; -1 for the
        total. A parent always stands before its children.
    labels
        Text shown to readers for some or all codes.

    Examples
    --------
    >>> region = Hierarchy.flat(["North", "South"])
    >>> region.codes
    ('Total', 'North', 'South')
    >>> region.is_leaf.tolist()
    [False, True, True]
    """

    codes: tuple[str, ...]
    parent: NDArray[np.int32]
    labels: Mapping[str, str] = field(default_factory=dict[str, str])

    # ── constructors ────────────────────────────────────────────────────────────

    @classmethod
    def flat(cls, codes: Iterable[object], total: str = "Total") -> Hierarchy:
        """Put all codes directly below one total, sorted as plain text.

        Parameters
        ----------
        codes
            Text or whole numbers; padding is stripped, duplicates are merged, the order
            does not matter. Without any code the tree is the total alone.
        total
            Code of the total, which must not be one of `codes`.

        Raises
        ------
        HierarchyError
            A code is null, blank, a float or of another type, or equals the total's.

        Examples
        --------
        >>> Hierarchy.flat([2, "01", " 2", "10"]).codes
        ('Total', '01', '10', '2')
        """
        from diskret.hierarchy.build import flat

        return flat(codes, total)

    @classmethod
    def from_parents(cls, frame: Any, total: str = "Total") -> Hierarchy:
        """Make a tree from a frame with the columns ``code``, ``parent`` and perhaps ``label``.

        The root is the code without a parent (null or blank) or, if every code has one, the
        parent that is no code itself; it is the total, whatever its code. Several roots are
        put below a new total.

        Parameters
        ----------
        frame
            Any kind of frame, or a mapping of columns; one row for each code, in any
            order. Children stand in order of appearance.
        total
            Code of the new total above several roots; not used if there is one root.

        Raises
        ------
        HierarchyError
            A column is missing or unknown; a code is null, blank, a float, in several rows,
            or equal to the new total's; a parent is no code although another code is the
            root; the parents form a cycle.

        Examples
        --------
        >>> tree = Hierarchy.from_parents(
        ...     {"code": ["DE", "BE", "BB", "P"], "parent": [None, "DE", "DE", "BB"]}
        ... )
        >>> tree.codes, tree.parent.tolist()
        (('DE', 'BE', 'BB', 'P'), [-1, 0, 0, 2])
        """
        from diskret.hierarchy.build import from_parents

        return from_parents(frame, total)

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        total: str = "Total",
        lead: str = "@",
        encoding: str = "utf-8",
    ) -> Hierarchy:
        """Read a tree from a ``.hrc`` file of τ-ARGUS (one code a line, indented by ``@``).

        Parameters
        ----------
        path
            The file; blank lines, CRLF and padding around codes are fine.
        total
            Code of the total, which is never in the file.
        lead
            The text that stands before a code once for each level below the first.
        encoding
            Encoding of the file, e.g. ``"latin-1"`` or ``"cp1252"``.

        Raises
        ------
        HierarchyError
            The file cannot be read, is not in that encoding or holds no codes; a line holds
            no code, a code for the second time or the total's, or lies more than one level
            below the line above. The message names the lines.
        """
        from diskret.hierarchy.hrc import read_hrc

        return read_hrc(path, total, lead, encoding)

    # ── what the tree says ──────────────────────────────────────────────────────

    def __repr__(self) -> str:
        return f"Hierarchy({self.total!r}: {len(self.leaves):,} leaves, {len(self):,} codes)"

    def __len__(self) -> int:
        return len(self.codes)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Hierarchy)
            and self.codes == other.codes
            and np.array_equal(self.parent, other.parent)
        )

    def __hash__(self) -> int:
        return hash((self.codes, self.parent.tobytes()))

    @property
    def total(self) -> str:
        """The code of the root."""
        return self.codes[0]

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Code → its position in `codes`."""
        return {code: i for i, code in enumerate(self.codes)}

    @cached_property
    def children(self) -> tuple[NDArray[np.int32], ...]:
        """Positions of the children of each code (empty for a leaf)."""
        order = np.argsort(self.parent, kind="stable")[1:]
        parents = self.parent[order]
        starts = np.searchsorted(parents, np.arange(len(self)), side="left")
        stops = np.searchsorted(parents, np.arange(len(self)), side="right")
        return tuple(order[a:b].astype(np.int32) for a, b in zip(starts, stops, strict=True))

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether a code has no children, shape ``(len(codes),)``."""
        leaf = np.ones(len(self), dtype=bool)
        leaf[self.parent[1:]] = False
        return leaf

    @cached_property
    def leaves(self) -> NDArray[np.int32]:
        """Positions of the leaves, ascending."""
        return np.flatnonzero(self.is_leaf).astype(np.int32)

    @cached_property
    def level(self) -> NDArray[np.int32]:
        """Distance from the total, shape ``(len(codes),)``."""
        level = np.zeros(len(self), dtype=np.int32)
        for i in range(1, len(self)):
            level[i] = level[self.parent[i]] + 1
        return level

    @cached_property
    def ancestors(self) -> tuple[NDArray[np.int32], ...]:
        """For each code its own position and those of all codes above it, the total last."""
        chains: list[NDArray[np.int32]] = []
        for i, parent in enumerate(self.parent.tolist()):
            above = chains[parent] if parent >= 0 else np.empty(0, dtype=np.int32)
            chains.append(np.concatenate((np.array([i], dtype=np.int32), above)))
        return tuple(chains)

    def __post_init__(self) -> None:
        parent = np.asarray(self.parent, dtype=np.int32)
        object.__setattr__(self, "parent", parent)
        if len(self.codes) != len(parent) or len(parent) == 0 or parent[0] != -1:
            raise HierarchyError("a hierarchy needs one parent for each code and the total first")
        if len(set(self.codes)) != len(self.codes):
            raise HierarchyError("a hierarchy must not contain a code twice")
        if np.any(parent[1:] < 0) or np.any(parent[1:] >= np.arange(1, len(parent))):
            raise HierarchyError("in a hierarchy a parent stands before its children")
