"""What codes mean when several trees of one variable are read side by side."""

from __future__ import annotations

from collections.abc import Sequence

from diskret.errors import HierarchyError
from diskret.hierarchy.codes import some
from diskret.hierarchy.tree import Hierarchy


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
