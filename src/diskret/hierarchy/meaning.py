"""What codes mean when several trees of one variable are read side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from diskret.errors import HierarchyError
from diskret.hierarchy.codes import some
from diskret.hierarchy.tree import Hierarchy

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_BOUNDS = re.compile(
    rf"≥ (?P<min>{_NUMBER})|≤ (?P<max>{_NUMBER})|(?P<low>{_NUMBER}) to (?P<high>{_NUMBER})"
    rf"|(?P<alone>{_NUMBER})"
)


def base_codes(trees: Sequence[Hierarchy]) -> dict[str, frozenset[str]]:
    """The finest codes, known from any of the trees, that each code stands for.

    A code means the same in all trees. What one tree or its `members` say of its parts holds
    in the others, too. Totals are left out, as they stand for everything.

    Raises
    ------
    HierarchyError
        A code is a category of its own in one tree and combined with others in another.

    Examples
    --------
    >>> fine = Hierarchy.from_prefix(["011", "012", "02"], (2, 1))
    >>> coarse = Hierarchy.flat(["01", "02"])
    >>> sorted(base_codes([coarse, fine])["01"])
    ['011', '012']
    """
    parts: dict[str, set[str]] = {}
    alone: set[str] = set()
    for tree in trees:
        for i in range(1, len(tree)):
            code, inner = tree.codes[i], tree.children[i].tolist()
            below = [tree.codes[j] for j in inner] or list(tree.members.get(code, ()))
            parts.setdefault(code, set()).update(below)
            if not below:
                alone.add(code)
    doubtful = [repr(code) for code in alone if code in parts[code]]
    if doubtful:
        raise HierarchyError(
            f"{len(doubtful):,} codes stand for one category in one table and for several in "
            f"another: {some(sorted(doubtful))}; give combined categories codes of their own"
        )
    found: dict[str, frozenset[str]] = {}

    def resolve(code: str) -> frozenset[str]:
        if code not in found:
            found[code] = frozenset([code])  # also what ends a code that is part of itself
            others = parts.get(code, set()) - {code}
            if others:
                own = {code} if code in parts[code] else set[str]()
                found[code] = frozenset(own.union(*(resolve(part) for part in others)))
        return found[code]

    for code in parts:
        resolve(code)
    return found


def pieces(codes: Iterable[str]) -> dict[str, frozenset[str]]:
    """What the codes of filters by a variable that no table shows stand for.

    Bounds such as ``"≥ 10"`` contain each other or overlap: they stand for pieces of the
    number line, cut at every number that any of the filters names. All else stands for
    itself.

    Examples
    --------
    >>> found = pieces(["≥ 10", "≥ 20"])
    >>> found["≥ 20"] < found["≥ 10"]
    True
    >>> pieces(["10", "20"])["10"]
    frozenset({'10'})
    """
    read = {code: match for code in codes if (match := _BOUNDS.fullmatch(code))}
    ends = {code: (_end(m, "min", "low"), _end(m, "max", "high")) for code, m in read.items()}
    cuts = sorted({end for both in ends.values() for end in both if end is not None})
    place = {cut: 2 * i + 1 for i, cut in enumerate(cuts)}
    found = {code: frozenset([code]) for code in codes}
    if all(match["alone"] for match in read.values()):
        return found
    for code, (low, high) in ends.items():
        first = 0 if low is None else place[low]
        last = 2 * len(cuts) if high is None else place[high]
        found[code] = frozenset(f"piece {i}" for i in range(first, last + 1))
    return found


def _end(bounds: re.Match[str], *names: str) -> Decimal | None:
    """An end of bounds, None if they have none on this side; a number has itself on both."""
    return next((Decimal(bounds[name]) for name in (*names, "alone") if bounds[name]), None)
