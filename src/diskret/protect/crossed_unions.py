"""Unions of grid cells without municipalities, and the like: all that two maps tell together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.all_cells import all_cells
from diskret.attack.crossed import CrossedRests
from diskret.rules import Rule
from diskret.spatial.closest import closest
from diskret.spatial.cuts import Cut, small_cuts, together
from diskret.spatial.jointly import Singled, closest_jointly, fewest_jointly
from diskret.spatial.limits import Share, limits_of
from diskret.spatial.pieces import Pieces
from diskret.tables import Publication
from diskret.tables.crossed import Crossed, Grouping


def crossed_unions(
    publication: Publication, crossed: Crossed, rules: Sequence[Rule]
) -> tuple[CrossedRests, bool]:
    """Sums of published cells of two variables or more that may be of too few, in each context.

    What is published of a variable parts the records into areas: each code without the codes
    below it that are published, too. `diskret.spatial.cuts` says what two such parts tell,
    `diskret.spatial.jointly` what three do.

    Returns
    -------
    sums, complete
        And whether these are all that the rules can find unsafe.
    """
    limits = [limits_of(rule, not crossed.records.frequency) for rule in rules]
    threshold = max(few for few, _, _ in limits)
    shares = [share for _, own, _ in limits for share in own.values()]
    complete = all(known for _, _, known in limits)
    known = ~all_cells(publication).unknown[: len(publication.value)]
    whose = _whose(crossed)
    found = list[_Union]()
    for context in range(crossed.contexts.shape[0]):
        there = np.sort(crossed.contexts[[context]].indices).astype(np.int64)
        if not len(there):
            continue
        sides = [_side(publication, own, context, known, there) for own in crossed.groupings]
        told = _told_by_two if len(sides) == 2 else _told_by_several
        more, finished = told(whose, there, sides, threshold, shares, crossed.records.frequency)
        complete &= finished
        found += more
    none = sparse.csr_array((0, len(known)), dtype=np.int64)
    member = sparse.vstack([none, *(one.member for one in found)], format="csr", dtype=np.int64)
    ends = np.cumsum([0, *(len(one.pieces) for one in found)])
    at = np.concatenate([np.zeros(0, np.int64), *(one.pieces for one in found)])
    shape = len(found), crossed.contexts.shape[1]
    pieces = sparse.csr_array((np.ones(len(at), np.int64), at, ends), shape=shape)
    signed = np.array([one.signed for one in found], bool)
    times = np.array([one.times for one in found], np.int64)
    return CrossedRests(sparse.csr_array(member), pieces, signed, times), complete


@dataclass(frozen=True, eq=False)
class _Union:
    """A sum of published cells, ``(1, cells)``, the pieces left, whether some are taken away.

    times: how often the cells count the pieces.
    """

    member: sparse.csr_array
    pieces: NDArray[np.int64]
    signed: bool
    times: int = 1


@dataclass(frozen=True, eq=False)
class _Side:
    """What is published of one variable in one context.

    area: shape (pieces there,): the area of each.
    member: areas as sums of published cells, ``(areas, cells)``.
    unknown: the area of which nothing is published, or −1.
    """

    area: NDArray[np.int64]
    member: sparse.csr_array
    unknown: int


def _side(
    publication: Publication,
    grouping: Grouping,
    context: int,
    known: NDArray[np.bool_],
    there: NDArray[np.int64],
) -> _Side:
    cell = publication.starts[grouping.table] + grouping.cells[:, context]
    codes = len(grouping.parent)
    area = np.where(known[cell], np.arange(codes), -1)
    above = np.full(codes, -1)
    for code, parent in enumerate(grouping.parent.tolist()):  # a parent stands before its codes
        if parent >= 0:
            above[code] = area[parent]
            if area[code] < 0:
                area[code] = area[parent]
    shown = np.flatnonzero(known[cell])
    within = shown[above[shown] >= 0]
    rows = np.concatenate([shown, above[within]])
    columns = np.concatenate([cell[shown], cell[within]])
    signs = np.repeat([1, -1], [len(shown), len(within)])
    member = sparse.csr_array((signs, (rows, columns)), shape=(codes + 1, len(known)))
    leaf = np.ones(codes, bool)
    leaf[grouping.parent[grouping.parent >= 0]] = False
    of = grouping.pieces.tocsc()[:, there]
    finest = leaf[of.indices]
    code = np.full(len(there), -1)
    piece = np.repeat(np.arange(len(there)), np.diff(of.indptr))[finest]
    code[piece[::-1]] = of.indices[finest][::-1]  # the first where there are several
    place = np.where(code >= 0, area[code], -1)
    return _Side(np.where(place < 0, codes, place), member, codes if (place < 0).any() else -1)


@dataclass(frozen=True, eq=False)
class _Whose:
    """Units of all pieces and what they contribute; without units, how many records there are."""

    count: NDArray[np.int64]
    piece: NDArray[np.int64]
    unit: NDArray[np.int64]
    amount: NDArray[np.float64]


def _whose(crossed: Crossed) -> _Whose:
    records = crossed.records
    number = records.measure.sum if records.count is None else records.count
    count = np.abs(number.ravel()[1:]).astype(np.int64)
    listed = records.contributions
    if listed is None or (records.frequency and listed.unit is None):
        nobody = np.zeros(0, np.int64)
        return _Whose(count, nobody, nobody, np.zeros(0))
    piece = listed.leaf[:, 0].astype(np.int64)
    person = listed.holding if listed.holding is not None else listed.unit
    unit = np.arange(len(piece)) if person is None else np.unique(person, return_inverse=True)[1]
    amount = np.ones(len(piece))
    if not records.frequency:
        amount = listed.values[records.measure.name].astype(np.float64)
    return _Whose(count, piece, unit.astype(np.int64), amount)


def _pieces(
    whose: _Whose, there: NDArray[np.int64], sides: Sequence[_Side]
) -> tuple[Pieces, NDArray[np.int64]]:
    """Pieces of one context with somebody in them, and which ones these are."""
    somebody = whose.count[there] > 0
    there = there[somebody]
    local = np.full(len(whose.count), -1)
    local[there] = np.arange(len(there))
    inside = local[whose.piece] >= 0 if len(whose.piece) else np.zeros(0, bool)
    _, unit = np.unique(whose.unit[inside], return_inverse=True)
    names = ("",) * len(sides)
    codes = tuple(("",) * side.member.shape[0] for side in sides)
    place = np.stack([side.area[somebody] for side in sides], axis=1)
    piece, amount = local[whose.piece[inside]], whose.amount[inside]
    count = whose.count[there]
    return Pieces(names, codes, place, count, piece, unit.astype(np.int64), amount), there


def _told_by_several(
    whose: _Whose,
    there: NDArray[np.int64],
    sides: Sequence[_Side],
    threshold: int,
    shares: Sequence[Share],
    counts: bool,
) -> tuple[list[_Union], bool]:
    """The same of three variables and more."""
    pieces, there = _pieces(whose, there, sides)
    ends = np.cumsum([0, *map(len, pieces.codes)])
    untold = np.zeros(int(ends[-1]), bool)
    untold[
        [end + side.unknown for end, side in zip(ends, sides, strict=False) if side.unknown >= 0]
    ] = True
    found, complete = list[Singled](), True
    if threshold:
        found, extent = fewest_jointly(pieces, threshold, not counts, untold)
        complete = extent.complete
    for share in shares:
        more, extent = closest_jointly(pieces, share, untold)
        found += more
        complete &= extent.complete
    every = sparse.csr_array(sparse.vstack([side.member for side in sides], format="csr"))
    told = list[_Union]()
    for one in {one.pieces.tobytes(): one for one in found}.values():
        factor = np.zeros(int(ends[-1]))
        factor[one.areas] = one.factor
        counted = factor[pieces.place + ends[:-1]].sum(axis=1)[one.pieces]
        times = next(n for n in range(1, 13) if not np.mod(np.round(one.factor * n, 9), 1).any())
        factor *= times if (counted > 0).any() else -times
        member = sparse.csr_array(sparse.csr_array(np.round(factor)[None, :]) @ every)
        member = member.astype(np.int64)
        member.eliminate_zeros()
        signed = bool((counted > 0).any() and (counted < 0).any())
        told.append(_Union(member, there[one.pieces], signed, times))
    return told, complete


def _told_by_two(
    whose: _Whose,
    there: NDArray[np.int64],
    sides: Sequence[_Side],
    threshold: int,
    shares: Sequence[Share],
    counts: bool,
) -> tuple[list[_Union], bool]:
    """Sums that may be of too few, with the pieces that are left, in one context."""
    pieces, there = _pieces(whose, there, sides)
    unknown = [side.unknown for side in sides]
    if min(unknown) >= 0:  # what nobody knows of either variable is no area: its factor is 0
        place, count = np.vstack([pieces.place, unknown]), np.append(pieces.count, 0)
        pieces = replace(pieces, place=place, count=count)
    place, count = pieces.place, pieces.count
    weight = pieces.weight
    if min(unknown) >= 0:
        weight[-1] = np.inf
    found, complete = list[Cut](), True
    if threshold:
        found, complete = small_cuts(pieces, threshold, not counts, weight)
    for share in shares:
        more, finished = closest(pieces, share, len(count) - 1 if min(unknown) >= 0 else None)
        found += more
        complete &= finished
    whole = together(pieces)
    first = sides[0].member.shape[0]
    told = list[_Union]()
    for cut in {one.pieces.tobytes(): one for one in found}.values():
        within = whole(int(cut.areas[0]))
        for areas in (cut.areas, np.setdiff1d(within, cut.areas)):
            own, other = areas[areas < first], areas[areas >= first] - first
            if unknown[0] in own or unknown[1] in other:
                continue
            added = np.isin(place[cut.pieces, 0], own)
            sign = 1 if added.any() else -1
            plus = np.asarray(sides[0].member[own].sum(axis=0)).reshape(-1)
            minus = np.asarray(sides[1].member[other].sum(axis=0)).reshape(-1)
            member = sparse.csr_array((sign * (plus - minus))[None, :])
            told.append(_Union(member, there[cut.pieces], bool(added.any() and not added.all())))
            break
    return told, complete
