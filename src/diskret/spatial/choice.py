"""Which areas of several geographies are hidden: what each unsafe sum asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from diskret.errors import ProofError, ProtectionError
from diskret.spatial.cuts import Cut, Groups, grouped, parts_of
from diskret.spatial.differences import cuts_of, in_words
from diskret.spatial.limits import Share
from diskret.spatial.pieces import REST, Pieces
from diskret.spatial.told import Difference


@dataclass(frozen=True)
class Side:
    """One way to keep a sum secret: hidden areas of a geography on both sides of it.

    of: the two geographies, and the one of the areas. parts: numbers of parts of the map. areas:
    those on one side; the others in these parts are the other side. here, there: whether records
    in no area are hidden on this side, and on the other one.
    """

    of: tuple[int, int, int]
    parts: tuple[int, ...]
    areas: tuple[int, ...]
    here: bool
    there: bool

    @property
    def geography(self) -> int:
        """The one of the areas."""
        return self.of[2]

    @property
    def keys(self) -> list[tuple[int, int, int, int]]:
        """Each part with the geographies."""
        return [(*self.of, number) for number in self.parts]


class Choice:
    """What is asked of areas so that the records of one map are told nothing of."""

    def __init__(self, base: Pieces, may: Sequence[bool], fixed: list[NDArray[np.bool_]]):
        self.base, self.may, self.fixed = base, may, fixed
        self.asked = dict[tuple[Side, ...], None]()
        self.jointly = dict[tuple[tuple[int, int], ...], None]()
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
                sides = self._sides(pair, cut, out, inside, of_sums)
                if sides in before or not any(side.here or side.areas for side in sides):
                    raise _not_kept(in_words(seen, cut, rule))
                self.asked[sides] = None
                asked = True
        return asked

    def ask_jointly(self, found: Sequence[Difference], out: Sequence[NDArray[np.bool_]]) -> None:
        """Ask for sums of three geographies and more: one area that each is made of is hidden."""
        for one in found:
            factor = [np.zeros(len(codes)) for codes in self.base.codes]
            for name, code, times in one.terms:
                at = self.base.names.index(name)
                if not self.may[at]:
                    continue
                if code == REST:  # everybody without all that are shown
                    factor[at][~out[at]] -= times
                else:
                    factor[at][self.base.codes[at].index(code)] += times
            areas = tuple(
                (at, area)
                for at, own in enumerate(factor)
                for area in np.flatnonzero(own[:-1]).tolist()
            )
            if not areas:
                raise _not_kept(one)
            self.jointly[areas] = None

    def _sides(
        self,
        pair: tuple[int, int],
        cut: Cut,
        out: Sequence[NDArray[np.bool_]],
        inside: Groups,
        of_sums: bool,
    ) -> tuple[Side, ...]:
        """Where hidden areas would keep a sum secret, in each geography that may hide some.

        Of counts all pieces are added, so no part of the map can be turned by itself: all are one.
        """
        own, label = self.pairs[pair], self.label[pair]
        pieces = np.concatenate([inside[at] for at in cut.pieces.tolist()])
        parts = np.unique(label[own.place[pieces, 0]]).tolist()
        several = [(number,) for number in parts] if of_sums else [tuple(parts)]
        found = list[Side]()
        begin = first = 0
        for k, at in enumerate(pair):
            shown = np.flatnonzero(~out[at][:-1])
            here = cut.areas[(cut.areas >= begin) & (cut.areas <= begin + len(shown))] - begin
            rest = bool((here == len(shown)).any())
            areas = shown[here[here < len(shown)]]
            if rest:
                areas = np.concatenate([areas, np.flatnonzero(out[at])])
            of = label[first : first + len(own.codes[k])]
            for some in several if self.may[at] or out[at].any() or self.size[at][-1] else ():
                outside = bool(of[-1] in some) and bool(self.size[at][-1])
                within = tuple(np.sort(areas[np.isin(of[areas], some)]).tolist())
                side = Side((*pair, at), some, within, outside and rest, outside and not rest)
                found.append(side)
            begin += len(shown) + 1
            first += len(own.codes[k])
        return tuple(found)

    def labels(self, pair: tuple[int, int]) -> list[NDArray[np.int64]]:
        """The part of the map of each area of either geography."""
        first = len(self.pairs[pair].codes[0])
        return [self.label[pair][:first], self.label[pair][first:]]

    def outside(self, part: tuple[int, int, int, int]) -> bool:
        """Whether records in no area of a geography lie in a part."""
        label = self.labels(part[:2])[part[:2].index(part[2])]
        return bool(label[-1] == part[3]) and bool(self.size[part[2]][-1])


def _not_kept(secret: Difference) -> ProtectionError:
    return ProtectionError(
        f"no areas were found to hide that keep this secret: {secret}; let areas of more "
        "geographies be hidden (new=), or publish fewer areas of the others"
    )
