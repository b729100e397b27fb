"""The code tree of one classifying variable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import HierarchyError
from diskret.hierarchy import build, number_classes
from diskret.hierarchy.labels import read_labels


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree of codes: every code is the sum of its children, the root is the total.

    Use one of the constructors [`read`][diskret.Hierarchy.read],
    [`from_parents`][diskret.Hierarchy.from_parents],
    [`from_levels`][diskret.Hierarchy.from_levels],
    [`from_prefix`][diskret.Hierarchy.from_prefix],
    [`from_widths`][diskret.Hierarchy.from_widths] or
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
        Text shown to readers for some or all codes, in no particular language.
    translations
        Language (``"en"``, ``"de"``, …) → code → text; see
        [`with_labels`][diskret.Hierarchy.with_labels].
    members
        What a leaf was combined from: code → the finer codes, which are leaves of other
        trees of the same variable. Public, like the codes: it tells which cells of two
        tables overlap.

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
    translations: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict[str, Mapping[str, str]]
    )
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

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
        return cls(*build.flat(codes, total))

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
        return cls(*build.from_parents(frame, total))

    @classmethod
    def from_levels(cls, frame: Any, total: str = "Total") -> Hierarchy:
        """Make a tree from a frame whose columns are its levels, the coarsest first.

        Each row leads from the coarsest code down to one leaf. A leaf may lie higher up:
        the finer columns then are null or blank, or repeat its code. A row may also end at a
        code that other rows go on from. If the coarsest column holds a single code with
        others below it, that code is the total.

        Parameters
        ----------
        frame
            Any kind of frame, or a mapping of columns; every column is a level, whatever
            its name. Rows may come in any order and more than once; children stand in order
            of appearance.
        total
            Code of the new total above the codes of the coarsest column.

        Raises
        ------
        HierarchyError
            A code lies below two others, or on two levels other than as the only child of
            itself; a code is missing above another one; a code is a float or equals the
            total's.

        Examples
        --------
        >>> nace = Hierarchy.from_levels(
        ...     {"section": ["A", "A", "B"], "division": ["01", "02", "B"]}
        ... )
        >>> nace.codes, nace.parent.tolist()
        (('Total', 'A', '01', '02', 'B'), [-1, 0, 1, 1, 0])
        """
        return cls(*build.from_levels(frame, total))

    @classmethod
    def from_prefix(
        cls, codes: Iterable[object], widths: Sequence[int], total: str = "Total"
    ) -> Hierarchy:
        """Make a tree from codes that begin with the code above them, e.g. 01 → 011.

        Codes above that are not listed are added. A listed code that no other one begins
        with is a leaf, on whatever level.

        Parameters
        ----------
        codes
            Text or whole numbers; padding is stripped, duplicates are merged, the order
            does not matter.
        widths
            How many characters each level adds, from the coarsest: ``(2, 1)`` for divisions
            of two characters and groups of three.
        total
            Code of the total, which must not be one of `codes`.

        Raises
        ------
        HierarchyError
            A code is null, blank, a float or of another type, ends inside a level, or equals
            the total's; `widths` are not whole numbers ≥ 1.

        Examples
        --------
        >>> Hierarchy.from_prefix(["011", "012", "02"], (2, 1)).codes
        ('Total', '01', '011', '012', '02')
        """
        return cls(*build.from_prefix(codes, widths, total))

    @classmethod
    def from_widths(
        cls,
        values: Iterable[object],
        widths: Sequence[int],
        origin: int = 0,
        total: str = "Total",
    ) -> Hierarchy:
        """Make a tree of whole numbers, such as ages, in classes of ever larger widths.

        Parameters
        ----------
        values
            Whole numbers, or text of them; duplicates are merged, the order does not matter.
        widths
            Widths of the classes, the narrowest first, each a multiple of the one before:
            ``(5, 10, 20)``.
        origin
            Where a class of every width begins.
        total
            Code of the total; not used if one class of the largest width holds all values.

        Raises
        ------
        HierarchyError
            A value is no whole number, or a width no multiple of the one before.

        Examples
        --------
        >>> age = Hierarchy.from_widths([31, 34, 48], (5, 10))
        >>> age.codes, age.parent.tolist()
        (('Total', '30-39', '30-34', '31', '34', '40-49', '45-49', '48'), [-1, 0, 1, 2, 2, 0, 5, 6])
        """
        return cls(*number_classes.from_widths(values, widths, origin, total))

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
        return cls(*build.read_hrc(path, total, lead, encoding))

    def with_labels(
        self, labels: Any, language: str | None = None, encoding: str = "utf-8"
    ) -> Hierarchy:
        """The same tree with labels for readers, in one language or several.

        Parameters
        ----------
        labels
            Code → text, or code → language → text; a frame with the columns ``code``,
            ``label`` and perhaps ``language``; or the path of a ``.csv`` file with these
            columns or of a ``.cdl`` file of τ-ARGUS (code, comma, label). Labels of codes that
            are not in the tree are never published.
        language
            Language of all labels, e.g. ``"de"``; None: `labels` say it, or they serve for any.
        encoding
            Encoding of a file.

        Raises
        ------
        HierarchyError
            A column is missing, a code has two labels in one language, a language is none, no
            label belongs to a code of the tree, or the file cannot be read.

        Examples
        --------
        >>> region = Hierarchy.flat(["N", "S"]).with_labels(
        ...     {"N": {"en": "North", "de": "Norden"}, "S": {"en": "South"}}
        ... )
        >>> region.label("N", "de"), region.label("S", "de")
        ('Norden', 'South')
        """
        found = read_labels(labels, language, encoding, self.codes)
        translations = {name: dict(texts) for name, texts in self.translations.items()}
        for name, texts in found.items():
            if name:
                translations[name] = {**translations.get(name, {}), **texts}
        own = {**self.labels, **found.get("", {})}
        return replace(self, labels=own, translations=translations)

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

    def label(self, code: str, language: str = "") -> str:
        """The label in a language; else in none in particular, else in any; "" if none."""
        own = self.translations.get(language, {}).get(code) or self.labels.get(code)
        others = (self.translations[name].get(code) for name in sorted(self.translations))
        return own or next(filter(None, others), "")

    def relabelled(self, codes: Mapping[str, str]) -> dict[str, Any]:
        """`labels` and `translations` for a tree in which these codes, old → new, remain."""

        def kept(labels: Mapping[str, str]) -> dict[str, str]:
            return {codes[code]: text for code, text in labels.items() if code in codes}

        translations = {name: kept(labels) for name, labels in self.translations.items()}
        return {"labels": kept(self.labels), "translations": translations}

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Code → its position in `codes`."""
        return {code: i for i, code in enumerate(self.codes)}

    @cached_property
    def above(self) -> Mapping[str, str]:
        """Code → the code that it is a part of, "" for the total."""
        found = ("" if i < 0 else self.codes[i] for i in self.parent.tolist())
        return dict(zip(self.codes, found, strict=True))

    @cached_property
    def children(self) -> tuple[NDArray[np.int32], ...]:
        """Positions of the children of each code (empty for a leaf)."""
        order = np.argsort(self.parent, kind="stable")[1:]
        parents = self.parent[order]
        starts = np.searchsorted(parents, np.arange(len(self)), side="left")
        stops = np.searchsorted(parents, np.arange(len(self)), side="right")
        return tuple(order[a:b].astype(np.int32) for a, b in zip(starts, stops, strict=True))

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """Position after the last code below each code: a tree is depth first."""
        size = np.ones(len(self), np.int64)
        for level in range(int(self.level.max()), 0, -1):
            here = np.flatnonzero(self.level == level)
            np.add.at(size, self.parent[here], size[here])
        return np.arange(len(self)) + size

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

    def leaves_below(self, code: int) -> tuple[str, ...]:
        """The finest codes known of a code: its leaves, and what these were combined from.

        Examples
        --------
        >>> Hierarchy.from_prefix(["011", "012", "02"], (2, 1)).leaves_below(1)
        ('011', '012')
        """
        before, names = self._leaf_codes
        leaves = names[before[code] : before[int(self.ends[code])]]
        if not self.members:
            return leaves
        return tuple(fine for leaf in leaves for fine in self.members.get(leaf) or (leaf,))

    @cached_property
    def _leaf_codes(self) -> tuple[list[int], tuple[str, ...]]:
        """How many leaves stand before each position, and the codes of all leaves."""
        before = np.concatenate([[0], np.cumsum(self.is_leaf)]).tolist()
        return before, tuple(self.codes[at] for at in self.leaves.tolist())

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
        object.__setattr__(self, "codes", tuple(self.codes))
        object.__setattr__(self, "parent", parent)
        if len(self.codes) != len(parent) or len(parent) == 0 or parent[0] != -1:
            raise HierarchyError("a hierarchy needs one parent for each code and the total first")
        if len(set(self.codes)) != len(self.codes):
            raise HierarchyError("a hierarchy must not contain a code twice")
        if np.any(parent[1:] < 0) or np.any(parent[1:] >= np.arange(1, len(parent))):
            raise HierarchyError("in a hierarchy a parent stands before its children")
