"""A column that tables are made by: its codes, and the coarser ones that a tree puts above them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.codes import as_code


@dataclass(frozen=True, eq=False)
class Level:
    """All records by codes of one level.

    `codes`: sorted. `group`: the place in `codes` of each code that records have, int64.
    """

    codes: tuple[str, ...]
    group: NDArray[np.int64]

    def keeps_apart(self, other: Level) -> bool:
        """Whether the two levels have the same groups, whatever these are called."""
        pairs = {*zip(self.group.tolist(), other.group.tolist(), strict=True)}
        return len(pairs) == len(self.codes) == len(other.codes)


@dataclass(frozen=True)
class Variable:
    """A column of codes that tables may be made by.

    Parameters
    ----------
    name
        Of the column.
    codes
        All codes that records may have, as text; sorted here, so their order says nothing. Left out
        if there is a tree.
    labels
        Code → what it means; those of the tree count where there are none.
    label
        What the variable means.
    tree
        Coarser codes above those of the records, which are the leaves of the tree. Level 1 are the
        codes right below the total, and so on; a leaf that lies higher belongs to all levels below
        it.

    Raises
    ------
    InputError
        There is no code, a code is blank or there twice, or there are both codes and a tree.

    Examples
    --------
    >>> Variable("sex", ("m", "f")).codes
    ('f', 'm')
    >>> region = Variable("region", tree=Hierarchy.from_prefix(["N1", "N2", "S1"], (1, 1)))
    >>> region.codes, region.level(1).codes, region.below("N")
    (('N1', 'N2', 'S1'), ('N', 'S'), ('N1', 'N2'))
    """

    name: str
    codes: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    label: str = ""
    tree: Hierarchy | None = None

    def __post_init__(self) -> None:
        if self.tree is not None:
            if self.codes:
                raise InputError(f"{self.name!r} has codes= or tree=, not both")
            if self.tree.members or len(self.tree) < 2:
                raise InputError(f"the tree of {self.name!r} needs leaves that records have")
            own = self.tree.leaves_below(0)
            labels = {code: self.tree.label(code) for code in self.tree.codes}
            given = {code: text for code, text in labels.items() if text}
            object.__setattr__(self, "labels", {**given, **self.labels})
        else:
            own = self.codes
        codes = [as_code(code) for code in own]
        if not codes or not all(codes) or len({*codes}) < len(codes):
            raise InputError(f"the codes of {self.name!r} must be texts, at least one, none twice")
        object.__setattr__(self, "codes", tuple(sorted(map(str, codes))))

    @property
    def depth(self) -> int:
        """How many levels there are; the last is that of the codes that records have."""
        return len(self._levels)

    def level(self, number: int) -> Level:
        """A level from 1 on; 0: the codes that records have."""
        return self._levels[number - 1]

    def standard(self, number: int) -> int:
        """The level by which one with the same groups is known; 0 if records have its codes."""
        own = self.level(number)
        if own.keeps_apart(self.level(0)):
            return 0
        return next(n for n in range(1, self.depth) if own.keeps_apart(self.level(n)))

    def below(self, code: str) -> tuple[str, ...]:
        """The codes that records have in a code of any level, sorted; none: there is no such code.

        The total is a code too.
        """
        return self._below.get(code, ())

    def leaves(self, codes: Iterable[str]) -> tuple[str, ...]:
        """The codes that records have in any of these, sorted."""
        return tuple(sorted({leaf for code in codes for leaf in self.below(code)}))

    def level_of(self, leaves: tuple[str, ...]) -> int | None:
        """The level that has these as one code, see `standard`; None: no code is all of them."""
        found = self._whole.get(leaves)
        return None if found is None else self.standard(found)

    def places(self, leaves: Iterable[str]) -> NDArray[np.int64]:
        """Where these codes stand in `codes`."""
        return np.array([self._place[leaf] for leaf in leaves], dtype=np.int64)

    @cached_property
    def _place(self) -> Mapping[str, int]:
        return {code: at for at, code in enumerate(self.codes)}

    @cached_property
    def _below(self) -> Mapping[str, tuple[str, ...]]:
        if self.tree is None:
            return {code: (code,) for code in self.codes}
        found = enumerate(self.tree.codes)
        return {code: tuple(sorted(self.tree.leaves_below(at))) for at, code in found}

    @cached_property
    def _whole(self) -> Mapping[tuple[str, ...], int]:
        """The leaves of each code → a level that the code is of, 0 for a leaf."""
        if self.tree is None:
            return {(code,): 0 for code in self.codes}
        levels = np.where(self.tree.is_leaf, 0, self.tree.level).tolist()
        found: dict[tuple[str, ...], int] = {}
        for code, level in zip(self.tree.codes[1:], levels[1:], strict=True):
            # the coarsest of several codes with the same leaves, but a leaf is one
            leaves = self._below[code]
            found[leaves] = min(found.get(leaves, level), level)
        return found

    @cached_property
    def _levels(self) -> tuple[Level, ...]:
        tree = self.tree
        if tree is None:
            return (Level(self.codes, np.arange(len(self.codes))),)
        found: list[Level] = []
        for number in range(1, int(tree.level.max()) + 1):
            chains = (tree.ancestors[tree.position[code]] for code in self.codes)
            above = [tree.codes[next(at for at in c if tree.level[at] <= number)] for c in chains]
            codes, group = np.unique(np.array(above, dtype=object), return_inverse=True)
            found.append(Level(tuple(codes.tolist()), group.astype(np.int64)))
        return tuple(found)
