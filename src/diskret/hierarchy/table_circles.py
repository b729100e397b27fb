"""Tables that go around in a circle: what only their common finest combinations tell."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from math import prod

#: Combinations of codes in a circle, totals included, up to which they are looked at.
COMBINATIONS = 5_000

#: What a code stands for: a set of base codes, or None for everything.
Meaning = frozenset[str] | None
#: A variable at one of its depths, the coarsest being 0.
_Level = tuple[str, int]
#: The leaves of a variable in some table.
_Leaves = frozenset[frozenset[str]]


@dataclass(frozen=True)
class Codes:
    """A variable: position of each code's parent (-1 for the total), and what codes stand for."""

    name: str
    parent: tuple[int, ...]
    meaning: tuple[Meaning, ...]


def circles(tables: Sequence[Sequence[Codes]]) -> tuple[list[list[Codes]], bool]:
    """The variables whose combinations have to be looked at, as pairs of tables say too little.

    Tables without negative values can be completed to common records if every two of them
    agree, as long as their variables form no circle; for x × y, y × z and x × z that is not so.
    What remains of each circle, when tables at its ends are taken away, is crossed, unless
    there are more than `COMBINATIONS`: not all of its variables at once, but as many as it takes
    for the sets of crossed variables to form no circle themselves. A variable at different
    depths counts as several, of which the finer ones tell the coarser ones.

    Gives the variables of the combinations, one or more for each circle; and whether nothing is
    left that only common records tell: no circle is too large, and depths can be compared.

    References
    ----------
    N. N. Vorob'ev, "Consistent families of measures and their extensions", Theory of
    Probability and its Applications 7 (1962); C. Beeri, R. Fagin, D. Maier, M. Yannakakis, "On
    the desirability of acyclic database schemes", Journal of the ACM 30 (1983), also for the
    reduction of Graham, Yu and Özsoyoğlu.

    >>> x, y, z = (Codes(n, (-1, 0, 0), (None, frozenset("a"), frozenset("b"))) for n in "xyz")
    >>> circles([[x, y], [y, z]])
    ([], True)
    >>> found, complete = circles([[x, y], [y, z], [x, z]])
    >>> [codes.name for codes in found[0]], complete
    (['x', 'y', 'z'], True)
    >>> w = Codes("w", x.parent, x.meaning)
    >>> found, complete = circles([[w, x], [x, y], [y, z], [z, w]])
    >>> [[codes.name for codes in own] for own in found]
    [['w', 'x', 'z'], ['x', 'y', 'z']]
    """
    several = [[codes for codes in own if len(codes.parent) > 1] for own in tables]
    depths: defaultdict[str, set[_Leaves]] = defaultdict(set)
    for codes in (codes for own in several for codes in own):
        depths[codes.name].add(_leaves(codes))
    levels = {name: sorted(found, key=len) for name, found in depths.items()}
    edges: list[set[_Level]] = []
    for own in several:
        edges.append(set())
        for codes in own:
            fine, coarser = _leaves(codes), levels[codes.name]
            depth = coarser.index(fine)
            if not all(_nested(fine, coarse, {*codes.meaning}) for coarse in coarser[:depth]):
                return [], len(tables) < 3
            edges[-1] |= {(codes.name, i) for i in range(depth + 1)}
    root = {codes.name: codes.meaning[0] for own in tables for codes in own}
    filters = {name for name, asked in root.items() if asked is not None}
    found: list[list[Codes]] = []
    complete = True
    for core in _cores(edges):
        cliques = [
            [
                _codes(name, root[name], [levels[name][i] for n, i in sorted(clique) if n == name])
                for name in sorted({*filters, *(name for name, _ in clique)})
            ]
            for clique in _cliques(core, levels)
        ]
        if sum(prod(len(codes.parent) for codes in own) for own in cliques) <= COMBINATIONS:
            found += cliques
        else:
            complete = False
    return found, complete


def _leaves(codes: Codes) -> _Leaves:
    inner = set(codes.parent)
    meant = (meaning for i, meaning in enumerate(codes.meaning) if i not in inner)
    return frozenset(meaning for meaning in meant if meaning)


def _nested(fine: _Leaves, coarse: _Leaves, codes: Set[Meaning]) -> bool:
    """Whether fine categories are parts of coarse ones, which stand above them."""
    holder = {base: whole for whole in coarse for base in whole}
    return coarse <= codes and all(part <= holder.get(min(part), frozenset()) for part in fine)


def _cores(edges: Sequence[Set[_Level]]) -> list[list[set[_Level]]]:
    """What is left of tables when those at the ends of chains are taken away, by circle."""
    left: list[set[_Level]] = []
    rest = [set(edge) for edge in edges]
    while rest != left:
        left = rest
        tables = Counter(level for edge in left for level in edge)
        shared = [{level for level in edge if tables[level] > 1} for edge in left]
        rest = []
        for edge in sorted(shared, key=len, reverse=True):
            if not any(edge <= other for other in rest):
                rest.append(edge)
    cores: list[list[set[_Level]]] = []
    for edge in (edge for edge in left if edge):
        touched = [core for core in cores if any(edge & other for other in core)]
        cores = [core for core in cores if core not in touched]
        cores.append([edge, *(other for core in touched for other in core)])
    return cores


def _cliques(
    edges: Sequence[Set[_Level]], levels: Mapping[str, Sequence[_Leaves]]
) -> list[set[_Level]]:
    """Sets of variables that form no circle and hold all tables, with few combinations.

    One variable after the other is left out, each time the one with the fewest combinations
    with those that it still stands beside; these stand beside each other from then on.
    """
    beside: defaultdict[_Level, set[_Level]] = defaultdict(set)
    for edge in edges:
        for level in edge:
            beside[level] |= edge

    def combinations(level: _Level) -> tuple[int, _Level]:
        finest = dict(sorted(beside[level]))
        return prod(1 + len(levels[name][i]) for name, i in finest.items()), level

    cliques: list[set[_Level]] = []
    while beside:
        least = min(beside, key=combinations)
        clique = beside.pop(least)
        if not any(clique <= other for other in cliques):
            cliques.append(clique)
        for level in clique - {least}:
            beside[level] = (beside[level] | clique) - {least}
    return cliques


def _codes(name: str, root: Meaning, levels: Sequence[_Leaves]) -> Codes:
    """All codes of a variable down to its finest depth."""
    place: dict[Meaning, int] = {root: 0}
    parent = [-1]
    above: dict[str, int] = {}
    for leaves in levels:
        new = sorted((codes for codes in leaves if codes not in place), key=sorted)
        parent += [above.get(min(codes), 0) for codes in new]
        place |= {codes: len(place) + i for i, codes in enumerate(new)}
        above = {base: place[codes] for codes in leaves for base in codes}
    return Codes(name, tuple(parent), tuple(place))
