"""What is left of a category beside those of another variable that lie in it: by a map.

Everybody can look up on a map which municipalities lie in a grid cell. Where both are published
for the same records, subtraction tells of what is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.all_cells import all_cells
from diskret.attack.equations import cell_name
from diskret.attack.rests import Told
from diskret.tables import Publication
from diskret.tables.crossed import Crossed, Grouping

#: Names of cells shown, of one side.
_SHOWN = 5


@dataclass(frozen=True, eq=False)
class CrossedRests:
    """Cells of one table without cells of another one that lie in them. Confidential.

    member: each as a sum of published cells, entries 1 and −1, ``(r, cells)``.
    pieces: of which pieces it consists, entries 1, ``(r, pieces)``; no row is empty.
    signed: where some of these are taken away, so that it may be below zero, ``(r,)``.
    times: how often the sum of cells counts them, ``(r,)``, int64: twice where three tables tell
        a sum by halves; `member` has other entries then.
    """

    member: sparse.csr_array
    pieces: sparse.csr_array
    signed: NDArray[np.bool_]
    times: NDArray[np.int64]

    @classmethod
    def never_below(cls, member: sparse.csr_array, pieces: sparse.csr_array) -> CrossedRests:
        """Rests that nothing but pieces of a whole are left of."""
        number = member.shape[0]
        return cls(member, pieces, np.zeros(number, bool), np.ones(number, np.int64))

    def __len__(self) -> int:
        return self.member.shape[0]

    def only(self, which: NDArray[np.bool_]) -> CrossedRests:
        """Some of them."""
        rows = np.flatnonzero(which)
        return CrossedRests(
            self.member[rows], self.pieces[rows], self.signed[rows], self.times[rows]
        )

    def beside(self, others: CrossedRests) -> CrossedRests:
        """These and others, each once."""
        return _distinct(
            CrossedRests(
                _stacked([self.member, others.member]),
                _stacked([self.pieces, others.pieces]),
                np.concatenate([self.signed, others.signed]),
                np.concatenate([self.times, others.times]),
            )
        )

    def name(self, publication: Publication, rest: int) -> str:
        """A rest in words, e.g. ``grid=g1 without municipality=m1``."""
        own = self.member[[rest]]
        whole, less = (
            [cell_name(publication, int(cell)) for cell in own.indices[own.data * sign > 0]]
            for sign in (1, -1)
        )
        if not less:
            return _some(whole)
        return f"{_some(whole)} without {_some(sorted(less))}"


def crossed_rests(publication: Publication, crossed: Crossed) -> CrossedRests:
    """What published cells of two variables leave of each other, where everybody can compute it.

    Looked at is, for each code of one variable, what is left of it without all published codes
    of the other variable that lie in it completely, and what is left of all codes that it
    touches without itself; in each context, both ways round.

    crossed: how the two variables lie in each other, for everybody to look up.
    """
    seen = all_cells(publication)
    known = ~seen.unknown[: len(publication.value)]
    found = [
        own
        for whole, part in (crossed.groupings, crossed.groupings[::-1])
        for own in (
            *_beside_contained(publication, crossed, whole, part, known),
            *_around(publication, crossed, whole, part),
        )
        if len(own)
    ]
    if not found:
        nothing = sparse.csr_array((0, len(known)), dtype=np.int64)
        return CrossedRests.never_below(
            nothing, sparse.csr_array((0, crossed.contexts.shape[1]), dtype=np.int64)
        )
    rests = CrossedRests.never_below(
        _stacked([own.member for own in found]), _stacked([own.pieces for own in found])
    )
    told = ~((abs(rests.member) @ ~known) > 0)
    if not told.all():
        every = Told.of(publication, len(known))
        if every is not None:
            told = every.of_sums(rests.member)[1]
    return _distinct(rests.only(told))


def _beside_contained(
    publication: Publication,
    crossed: Crossed,
    whole: Grouping,
    part: Grouping,
    known: NDArray[np.bool_],
) -> Iterator[CrossedRests]:
    """Codes without those that lie in them, as coarse as they are published; and with all."""
    inside = _contained(part, whole)
    if not inside.nnz:
        return
    above = _ancestors(part.parent)
    finest = sparse.csr_array(inside * _is_leaf(part.parent)[:, None])
    start = publication.starts
    for context in range(crossed.contexts.shape[0]):
        shown = known[start[part.table] + part.cells[:, context]]
        published = sparse.csr_array(inside * shown[:, None])
        hidden = (above @ published) > 0
        cover = published - published.multiply(hidden)
        yield _rests(publication, crossed, context, whole, part, cover.T, 1)
        # what is hidden may still be told by totals
        unknown = finest.T @ (~shown).astype(np.int64) > 0
        if unknown.any():
            of_all = sparse.csr_array(finest.T * unknown[:, None])
            yield _rests(publication, crossed, context, whole, part, of_all, 1)


def _around(
    publication: Publication, crossed: Crossed, inner: Grouping, outer: Grouping
) -> Iterator[CrossedRests]:
    """All finest codes that a code touches, without it; not where these are all there are."""
    if not outer.total:  # one code, which need not hold all that touches it
        return
    leaf = _is_leaf(outer.parent)
    touching = sparse.csr_array((inner.pieces @ outer.pieces.T) * leaf[None, :]) > 0
    every = int((np.diff(outer.pieces.indptr)[leaf] > 0).sum())
    number = np.diff(touching.indptr)
    few = (number > 0) & (number < every) & inner.some
    touching = sparse.csr_array(touching.astype(np.int64) * few[:, None])
    for context in range(crossed.contexts.shape[0]):
        yield _rests(publication, crossed, context, inner, outer, touching, -1)


def _rests(
    publication: Publication,
    crossed: Crossed,
    context: int,
    whole: Grouping,
    part: Grouping,
    cover: sparse.csr_array,
    sign: int,
) -> CrossedRests:
    """Codes less the others that belong to them in one context; the other way round for −1."""
    cover = sparse.csr_array(cover)
    cover.eliminate_zeros()
    codes = np.flatnonzero(np.diff(cover.indptr))
    cover = cover[codes]
    there = crossed.contexts[[context]]
    pieces = sparse.csr_array(sign * (whole.pieces[codes] - cover @ part.pieces).multiply(there))
    pieces.eliminate_zeros()
    somebody = np.flatnonzero(np.diff(pieces.indptr))
    codes, cover, pieces = codes[somebody], cover[somebody], pieces[somebody]
    starts, size = publication.starts, len(publication.value)
    rows = np.repeat(np.arange(len(codes)), np.diff(cover.indptr))
    at = np.concatenate((np.arange(len(codes)), rows)), np.concatenate((
        starts[whole.table] + whole.cells[codes, context],
        starts[part.table] + part.cells[cover.indices, context],
    ))  # fmt: skip
    signs = np.repeat([sign, -sign], [len(codes), len(rows)])
    member = sparse.csr_array((signs, at), shape=(len(codes), size))
    return CrossedRests.never_below(member, pieces)


def _some(names: list[str]) -> str:
    """The first names of many."""
    more = len(names) - _SHOWN
    return " and ".join([*names[:_SHOWN], f"{more} more"] if more > 1 else names)


def _contained(part: Grouping, whole: Grouping) -> sparse.csr_array:
    """Which codes of one variable have all their records in which one of another."""
    common = sparse.csr_array(part.pieces @ whole.pieces.T)
    size = np.diff(part.pieces.indptr)
    row = np.repeat(np.arange(len(size)), np.diff(common.indptr))
    all_of_it = (common.data == size[row]) & part.some[row] & whole.some[common.indices]
    at = row[all_of_it], common.indices[all_of_it]
    return sparse.csr_array((np.ones(len(at[0]), dtype=np.int64), at), shape=common.shape)


def _is_leaf(parent: NDArray[np.int32]) -> NDArray[np.bool_]:
    leaf = np.ones(len(parent), dtype=bool)
    leaf[parent[parent >= 0]] = False
    return leaf


def _ancestors(parent: NDArray[np.int32]) -> sparse.csr_array:
    """The codes above each code, ``(codes, codes)``."""
    code, above = np.arange(len(parent)), parent.copy()
    rows, columns = list[NDArray[np.int64]](), list[NDArray[np.int32]]()
    while len(code):
        keep = above >= 0
        code, above = code[keep], above[keep]
        rows.append(code)
        columns.append(above)
        above = parent[above]
    at = np.concatenate(rows), np.concatenate(columns)
    n = len(parent)
    return sparse.csr_array((np.ones(len(at[0]), dtype=np.int64), at), shape=(n, n))


def _stacked(parts: list[sparse.csr_array]) -> sparse.csr_array:
    return sparse.csr_array(sparse.vstack(parts, format="csr", dtype=np.int64))


def _distinct(rests: CrossedRests) -> CrossedRests:
    """Each set of cells once."""
    rests.member.sort_indices()
    rows = zip(
        np.split(rests.member.indices, rests.member.indptr[1:-1]),
        np.split(rests.member.data, rests.member.indptr[1:-1]),
        strict=True,
    )
    first = {(cells.tobytes(), signs.tobytes()): i for i, (cells, signs) in reversed(
        [*enumerate(rows)] if len(rests) else [])}  # fmt: skip
    once = np.zeros(len(rests), dtype=bool)
    once[[*first.values()]] = True
    return rests.only(once)
