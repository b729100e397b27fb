"""Which areas to hide, as few as possible, so that totals by several geographies tell of nobody."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.errors import InputError, ProofError, ProtectionError
from diskret.io.columns import once
from diskret.rules import Rule
from diskret.solver import Solver, Status
from diskret.spatial.cuts import Cut, Groups, grouped, parts_of
from diskret.spatial.differences import Differences, cuts_of, differences_of, in_words, named
from diskret.spatial.limits import Share, judging
from diskret.spatial.pieces import Pieces, hidden_of, pieces_of
from diskret.texts import words_in

_ROUNDS = 100
#: Questions of the search in whole numbers whether to go on.
_TURNS = 5_000


@dataclass(frozen=True)
class Repair:
    """Areas to hide, and what is told when they are hidden. Confidential.

    Parameters
    ----------
    hidden
        Geography → areas, also those that were hidden before.
    bound
        No fewer areas are enough; 0 if nothing was shown.
    left
        What totals still tell: nothing that is unsafe, and what is claimed of it.
    """

    hidden: Mapping[str, tuple[str, ...]]
    bound: int
    left: Differences

    @property
    def number(self) -> int:
        """How many areas are hidden."""
        return sum(map(len, self.hidden.values()))

    @property
    def fewest(self) -> bool:
        """Whether no fewer areas are enough."""
        return self.number <= self.bound

    def __str__(self) -> str:
        return self.summary()

    def summary(self, language: str = "en") -> str:
        """What to hide, whether it is the least, and what is claimed, in ``"en"`` or ``"de"``."""
        words = words_in(language, "spatial")
        terms = [(name, code, 1.0) for name, own in self.hidden.items() for code in own]
        how = "fewest" if self.fewest else "at least" if self.bound else "no bound"
        hide = words.said("hide", number=self.number, areas=named(words, terms)).rstrip(" :")
        proof = words.said(f"bounds.{how}", bound=self.bound)
        return "\n".join([f"{hide}. {proof}", *self.left.claim(language)])


def repair(
    records: Any,
    by: Sequence[str],
    rule: Rule,
    *,
    new: Collection[str] | None = None,
    count: str | None = None,
    value: str | None = None,
    unit: str | None = None,
    decimals: int = 0,
    hidden: Mapping[str, Collection[str]] | None = None,
) -> Repair:
    """Find the fewest areas to hide so that nothing unsafe can be computed from the others.

    For maps of any size. What is found is that no unsafe sum can be *computed*; how far hidden
    values may be estimated is not looked at. [`suppress`][diskret.suppress] does that too, keeps
    the levels that rules ask for, and proves it, for tables of usual size.

    Each unsafe sum has to be taken from those who compute it: a hidden area on either side of it,
    so that the rest that totals tell cannot be divided there. Which areas do so for all sums is a
    programme in whole numbers; what they leave is searched again, until nothing is left.

    Parameters
    ----------
    records, by, rule, count, value, unit, decimals
        As for [`differences`][diskret.spatial.differences].
    new
        Geographies whose areas may be hidden; those of others are published already. None: all.
    hidden
        Geography → areas that are hidden in any case.

    Returns
    -------
    Repair
        What to hide, whether it is the least, and the search that found nothing any more.

    Raises
    ------
    InputError
        As of `differences`; `new` names no geography.
    ProtectionError
        No areas were found that keep an unsafe sum secret; it is named. There may be some
        nevertheless where a map has parts without common pieces, islands for example, and areas of
        several geographies may be hidden.
    ProofError
        The search was ended before all was tried.

    Examples
    --------
    >>> import diskret as dk
    >>> import pyarrow as pa
    >>> pieces = pa.table(
    ...     {
    ...         "district": ["A"] * 3 + ["B"] * 2,
    ...         "cell": ["1", "2", "3", "3", "4"],
    ...         "persons": [50, 47, 3, 60, 20],
    ...     }
    ... )
    >>> few = dk.rules.MinimumFrequency(4)
    >>> by = ["district", "cell"]
    >>> found = dk.spatial.repair(pieces, by, few, new=["cell"], count="persons")
    >>> found.hidden, found.fewest, len(found.left)
    ({'cell': ('1', '3')}, True, 0)
    """
    names = once(by, "by")
    open_ = names if new is None else once(new, "new")
    wrong = [name for name in open_ if name not in names]
    if wrong:
        raise InputError(f"new= names {wrong[0]!r}, which is no geography of by")
    threshold, limits = judging(rule, value is not None)
    base = pieces_of(records, names, count=count, value=value, unit=unit, decimals=decimals)
    choice = _Choice(base, [name in open_ for name in names], hidden_of(base, hidden or {}))
    out = choice.fixed
    for _ in range(_ROUNDS):
        if choice.ask(out, threshold, limits, value is not None):
            out = choice.made()
            continue
        left = differences_of(base.hiding(out)[0], threshold, limits, value is not None)
        if len(left):
            raise ProtectionError(f"what three geographies tell together stays: {left.found[0]}")
        shown = {
            name: tuple(base.codes[at][i] for i in np.flatnonzero(out[at]).tolist())
            for at, name in enumerate(names)
            if out[at].any()
        }
        return Repair(shown, choice.bound, left)
    raise ProofError("what is to be hidden was not found in the number of rounds allowed")


@dataclass(frozen=True)
class _Side:
    """One way to keep a sum secret: hidden areas of a geography on both sides of it.

    areas: those on one side. part: the two geographies, the one of the areas, the part of the map;
    its other areas are the other side. here, there: whether records in no area are hidden
    on this side, and on the other one.
    """

    part: tuple[int, int, int, int]
    areas: tuple[int, ...]
    here: bool
    there: bool


class _Choice:
    """The programme: which areas are hidden, and what each unsafe sum asks of them."""

    def __init__(self, base: Pieces, may: Sequence[bool], fixed: list[NDArray[np.bool_]]):
        self.base, self.may, self.fixed, self.bound = base, may, fixed, 0
        self.asked, self.exact = dict[tuple[_Side, ...], None](), True
        pairs = list(combinations(range(len(base.names)), 2))
        self.pairs = {pair: base.of(pair) if len(pairs) > 1 else base for pair in pairs}
        self.label = {pair: parts_of(own) for pair, own in self.pairs.items()}
        sizes = zip(base.place.T, base.codes, strict=True)
        self.size = [np.bincount(place, base.count, len(codes)) for place, codes in sizes]

    def ask(
        self,
        out: Sequence[NDArray[np.bool_]],
        threshold: int,
        limits: Mapping[str, Share],
        of_sums: bool,
    ) -> bool:
        """Ask for all that is unsafe where these are hidden; whether there is anything."""
        before, asked = set(self.asked), False
        for pair, own in self.pairs.items():
            seen, which = own.hiding([out[at] for at in pair])
            cuts, complete = cuts_of(seen, threshold, limits, of_sums)
            if not complete:
                raise ProofError("the search for what two geographies tell was ended too early")
            inside = grouped(which, len(seen.count))
            for rule, cut in cuts:
                sides = self._sides(pair, cut, out, inside)
                if sides in before or not any(side.here or side.areas for side in sides):
                    said = in_words(seen, cut, rule)
                    raise ProtectionError(
                        f"no areas were found to hide that keep this secret: {said}; let areas of "
                        "more geographies be hidden (new=), or publish fewer areas of the others"
                    )
                self.asked[sides] = None
                asked = True
        return asked

    def _sides(
        self, pair: tuple[int, int], cut: Cut, out: Sequence[NDArray[np.bool_]], inside: Groups
    ) -> tuple[_Side, ...]:
        """Where hidden areas would keep a sum secret, in each geography that may hide some."""
        own, label = self.pairs[pair], self.label[pair]
        pieces = np.concatenate([inside[at] for at in cut.pieces.tolist()])
        parts = np.unique(label[own.place[pieces, 0]]).tolist()
        self.exact &= len(parts) == 1  # across several more would do than what is asked for
        found = list[_Side]()
        begin = first = 0
        for k, at in enumerate(pair):
            shown = np.flatnonzero(~out[at][:-1])
            here = cut.areas[(cut.areas >= begin) & (cut.areas <= begin + len(shown))] - begin
            rest = bool((here == len(shown)).any())
            areas = shown[here[here < len(shown)]]
            if rest:
                areas = np.concatenate([areas, np.flatnonzero(out[at])])
            of = label[first : first + len(own.codes[k])]
            for part in parts if self.may[at] or out[at].any() else ():
                outside = bool(of[-1] == part) and bool(self.size[at][-1])
                within = tuple(np.sort(areas[of[areas] == part]).tolist())
                side = _Side((*pair, at, part), within, outside and rest, outside and not rest)
                found.append(side)
            begin += len(shown) + 1
            first += len(own.codes[k])
        return tuple(found)

    def made(self) -> list[NDArray[np.bool_]]:
        """The fewest areas that keep all secret that was asked for."""
        parts = self._parts()
        variables = self._variables(parts)
        column = {area: i for i, area in enumerate(variables)}
        total = {part: len(variables) + i for i, part in enumerate(parts)}
        programme = _Programme(len(variables) + len(parts))
        inside_of: dict[tuple[int, int, int, int], list[int]] = {part: [] for part in parts}
        for pair in self.pairs:
            for at, label in zip(pair, self._labels(pair), strict=True):
                for place, area in variables:
                    if place == at and (part := (*pair, at, int(label[area]))) in inside_of:
                        inside_of[part].append(column[at, area])
        for part, at in total.items():
            inside = inside_of[part]
            programme.at_least([at, *inside], [1, *[-1] * len(inside)], 0, equal=True)
        linked, all_linked = dict[tuple[int, int, int], int](), dict[tuple[int, int], int]()
        for part in parts:  # whether hidden areas of both geographies lie in a part
            both = [(*part[:2], at, part[3]) for at in part[:2]]
            if (key := (part[0], part[1], part[3])) not in linked and all(b in total for b in both):
                linked[key] = programme.way()
                for one in both:
                    if not self._outside(one):
                        programme.at_least([total[one], linked[key]], [1, -1], 0)
        for pair in self.pairs:
            all_linked[pair] = programme.way()
            own = [at for key, at in linked.items() if key[:2] == pair]
            signs = [1, *[-1] * len(own)]
            programme.at_least([all_linked[pair], *own], signs, 0, equal=True)
        forced = self._forced()
        for sides in self._open(forced):
            ways = list[int]()
            for one in sides:
                for other in sides:
                    if one.part[3] != other.part[3]:
                        continue
                    ways.append(programme.way())
                    if not one.here:
                        areas = [column[one.part[2], area] for area in one.areas]
                        signs = [*[1] * len(areas), -1]
                        programme.at_least([*areas, ways[-1]], signs, 0)
                    if not other.there:
                        areas = [column[other.part[2], area] for area in other.areas]
                        signs = [1, *[-1] * len(areas), -1]
                        programme.at_least([total[other.part], *areas, ways[-1]], signs, 0)
                    if one is not other:  # the two rests are one where both lie in another part
                        pair = one.part[:2]
                        here = linked[*pair, one.part[3]]
                        programme.at_least([all_linked[pair], here, ways[-1]], [1, -1, -1], 0)
            programme.at_least(ways, [1] * len(ways), 1)
        low = np.array([one in forced for one in variables], float)
        high = np.array([self.may[at] or self.fixed[at][area] for at, area in variables], float)
        x, bound = programme.solved(low, high)
        self.bound = bound if self.exact else 0
        made = [own.copy() for own in self.fixed]
        for (at, area), chosen in zip(variables, x, strict=True):
            made[at][area] = chosen
        return made

    def _forced(self) -> set[tuple[int, int]]:
        """Areas that are hidden in any case, and those without which some sum is told."""
        forced = {
            (at, i) for at, own in enumerate(self.fixed) for i in np.flatnonzero(own).tolist()
        }
        for sides in self.asked:
            some = [side for side in sides if side.here or side.areas]
            if len(some) == 1 and not some[0].here and len(some[0].areas) == 1:
                forced.add((some[0].part[2], some[0].areas[0]))
        return forced

    def _open(self, forced: set[tuple[int, int]]) -> list[tuple[_Side, ...]]:
        """What was asked and is not kept secret by these areas alone."""
        number = dict[tuple[int, int, int, int], int]()
        for pair in self.pairs:
            for at, label in zip(pair, self._labels(pair), strict=True):
                for place, area in forced:
                    if place == at:
                        part = (*pair, at, int(label[area]))
                        number[part] = number.get(part, 0) + 1

        def kept(side: _Side) -> bool:
            own = sum((side.part[2], area) in forced for area in side.areas)
            return (side.here or own > 0) and (side.there or number.get(side.part, 0) > own)

        return [sides for sides in self.asked if not any(map(kept, sides))]

    def _parts(self) -> list[tuple[int, int, int, int]]:
        """Parts of the map that sums lie in or that may tie hidden areas, for either geography."""
        asked = dict.fromkeys(side.part for sides in self.asked for side in sides)
        numbers = dict.fromkeys((part[:2], part[3]) for part in asked)
        for pair, label in self.label.items():
            largest = np.argsort(-np.bincount(label), kind="stable")[:2].tolist()
            numbers |= dict.fromkeys((pair, number) for number in largest)
            labels = zip(self._labels(pair), pair, strict=True)
            hidden = [set(own[self.fixed[at]].tolist()) for own, at in labels]
            numbers |= dict.fromkeys((pair, number) for number in sorted(hidden[0] & hidden[1]))
        return [(*pair, at, number) for pair, number in numbers for at in pair]

    def _variables(self, parts: Sequence[tuple[int, int, int, int]]) -> list[tuple[int, int]]:
        """Areas that sums name, those hidden in any case, and of each part one that none names."""
        named = {(s.part[2], area): None for sides in self.asked for s in sides for area in s.areas}
        for at, own in enumerate(self.fixed):
            named |= {(at, area): None for area in np.flatnonzero(own).tolist()}
        wanted = set(parts)  # the largest: hiding it tells least of what else is hidden
        for pair in self.pairs:
            for at, label in zip(pair, self._labels(pair), strict=True):
                for area in np.argsort(-self.size[at], kind="stable").tolist():
                    part = (*pair, at, int(label[area]))
                    if part in wanted and area < len(label) - 1 and (at, area) not in named:
                        named[at, area] = None
                        wanted.discard(part)
        return list(named)

    def _labels(self, pair: tuple[int, int]) -> list[NDArray[np.int64]]:
        first = len(self.pairs[pair].codes[0])
        return [self.label[pair][:first], self.label[pair][first:]]

    def _outside(self, part: tuple[int, int, int, int]) -> bool:
        """Whether records in no area of a geography lie in a part."""
        label = self._labels(part[:2])[part[:2].index(part[2])]
        return bool(label[-1] == part[3]) and bool(self.size[part[2]][-1])


class _Programme:
    """Rows of a programme in zeros and ones, and totals of them."""

    def __init__(self, columns: int):
        self.columns = columns
        self._at, self._factor, self._ends = list[int](), list[int](), [0]
        self._low, self._high = list[float](), list[float]()

    def way(self) -> int:
        """A new column: whether this way is taken."""
        self.columns += 1
        return self.columns - 1

    def at_least(
        self, columns: list[int], factors: list[int], least: int, equal: bool = False
    ) -> None:
        """Demand a sum of at least so much, or of just so much."""
        self._at += columns
        self._factor += factors
        self._ends.append(len(self._at))
        self._low.append(least)
        self._high.append(least if equal else np.inf)

    def solved(
        self, low: NDArray[np.float64], high: NDArray[np.float64]
    ) -> tuple[NDArray[np.bool_], int]:
        """The first columns between these bounds, as few as possible, and how few there can be."""
        number = len(low)
        shape = len(self._low), self.columns
        matrix = sparse.csr_array(
            (np.array(self._factor, float), np.array(self._at, int), np.array(self._ends)),
            shape=shape,
        )
        cost = np.zeros(self.columns)
        cost[:number] = 1.0
        below, above = np.zeros(self.columns), np.full(self.columns, float(number))
        below[:number], above[:number] = low, high
        solver = Solver()
        solver.load(cost, matrix, columns=(below, above), rows=(self._low, self._high), whole=True)
        status = solver.run(turns=_TURNS)
        if not len(solver.x) or not solver.feasible:
            if status in (Status.IMPOSSIBLE, Status.IMPOSSIBLE_OR_ENDLESS):
                raise ProtectionError(
                    "no areas were found to hide that keep all secret; let areas of more "
                    "geographies be hidden (new=), or publish fewer areas of the others"
                )
            raise ProofError("no areas to hide were found with the work allowed")
        return solver.x[:number] > 0.5, int(np.ceil(solver.bound - 1e-6))
