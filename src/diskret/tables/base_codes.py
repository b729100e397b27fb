"""What codes of one variable stand for in several tables.

A code is what it consists of: the texts of the records below it. Names of categories tell
nothing: two groups of one name are two, and one group under two names is one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from diskret.errors import HierarchyError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.codes import some
from diskret.texts.numbers import Count


@dataclass(frozen=True, eq=False)
class Shown:
    """Codes as a table shows them, or as its filter asks for them.

    `tree`: A tree, or the codes of a filter. `recorded`: whether the finest codes are known to be
    texts of the records, as in tables that were tabulated. Else they may be groups that another
    table shows under this name.
    """

    tree: Hierarchy | tuple[str, ...]
    recorded: bool

    @property
    def content(self) -> tuple[object, ...]:
        """What makes two of them the same."""
        if isinstance(self.tree, tuple):
            return self.tree, self.recorded
        members = tuple(sorted(self.tree.members.items()))
        return self.tree.codes, self.tree.parent.tobytes(), members, self.recorded

    def texts(self) -> list[frozenset[str]]:
        """The finest codes of each code, as this table knows them; of a tree the total's first."""
        if isinstance(self.tree, tuple):
            return [frozenset([code]) for code in self.tree]
        return [frozenset(self.tree.leaves_below(i)) for i in range(len(self.tree))]

    def groups(self, texts: Sequence[frozenset[str]]) -> dict[str, int]:
        """The categories below the total that are more than a finest code: name → position."""
        if isinstance(self.tree, tuple):
            return {}
        codes = enumerate(self.tree.codes)
        return {code: i for i, code in codes if i > 0 and texts[i] != frozenset([code])}


def base_codes(shown: Sequence[Shown]) -> list[tuple[frozenset[str], ...]]:
    """The finest codes, known from any of the tables, that each code of each table stands for.

    Of a tree the total comes first. A finest code that is no text of the records for certain is
    the group of this name in another tree; unless its own tree shows parts of that group beside
    it, for then it is something else.

    >>> fine = Hierarchy.from_prefix(["011", "012", "02"], (2, 1))
    >>> coarse = Hierarchy.flat(["01", "02"])
    >>> sorted(base_codes([Shown(coarse, False), Shown(fine, True)])[0][1])
    ['011', '012']
    >>> sorted(base_codes([Shown(coarse, True), Shown(fine, True)])[0][1])
    ['01']
    """
    place: dict[object, int] = {}
    number = [place.setdefault(one.content, len(place)) for one in shown]
    different = [shown[number.index(i)] for i in range(len(place))]
    found = _Reading(different)
    every = [tuple(found.code(i, at) for at in range(len(t))) for i, t in enumerate(found.texts)]
    if found.doubtful:
        many = Count(len(found.doubtful))
        raise HierarchyError(
            f"{many} {many:code stands|codes stand} for one category in one table and for several "
            f"in another: {some(sorted(map(repr, found.doubtful)))}; give combined categories "
            "codes of their own, or tabulate the tables from records"
        )
    return [every[i] for i in number]


class _Reading:
    """What the codes of different trees stand for, each found once."""

    def __init__(self, shown: Sequence[Shown]):
        self.texts = [one.texts() for one in shown]
        self.doubtful: set[str] = set()
        self._recorded = [one.recorded for one in shown]
        self._every = [frozenset[str]().union(*texts) for texts in self.texts]
        self._groups: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for i, one in enumerate(shown):
            for name, at in one.groups(self.texts[i]).items():
                self._groups[name].append((i, at))
        self._known: dict[tuple[int, str], frozenset[str]] = {}

    def code(self, table: int, at: int) -> frozenset[str]:
        own = self.texts[table][at]
        if self._recorded[table] or self._groups.keys().isdisjoint(own):
            return own
        return frozenset[str]().union(*(self._text(table, text) for text in own))

    def _text(self, table: int, text: str) -> frozenset[str]:
        key = table, text
        if key not in self._known:
            self._known[key] = frozenset([text])  # also what ends a group that is part of itself
            beside = self._every[table] - {text}
            named = (
                [(i, at) for i, at in self._groups[text] if beside.isdisjoint(self.texts[i][at])]
                if text in self._groups
                else []
            )
            meant = {self.code(i, at) for i, at in named}
            if len(meant) > 1 or any(text in self.texts[i][at] for i, at in named):
                self.doubtful.add(text)
            elif meant:
                self._known[key] = meant.pop()
        return self._known[key]
