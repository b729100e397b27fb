"""The fewest gaps: one missing value makes a record agree with many that are too rare."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diskret.errors import ProtectionError
from diskret.microdata.suppression.problem import Items

#: At most so much of the gaps is taken back in one round.
_SHARE = 0.5
#: So many operations at most are spent on the choice of one gap.
_CHOICE = 10_000_000
#: So many rows that are short stand for all of them.
_SAMPLE = 2_000


def shared(
    items: Items,
    subset: NDArray[np.int64],
    agree: NDArray[np.int64],
    price: NDArray[np.float64],
    rounds: int,
    work: int,
) -> State:
    """Few cheap gaps after which every record agrees with enough others.

    A record that hides some keys agrees with all that show the same in the others, and they
    with it. The record and the keys that help most for their price are chosen again and
    again (as in greedy multicover), gaps that are not needed are closed, and then, in rounds, a
    random part of the gaps is closed and made good in another way; what is cheaper is kept.
    The result depends on the items alone.

    `items`: records of one group. `subset`: the keys of each condition, as a number of bits,
    ``(t,)``. `agree`: how many records each item agrees with so far, ``(t, c)``. `price`: of each
    set of keys, ``(2^m,)``; inf: not allowed. `rounds`, `work`: rounds of improvement at most, and
    operations in all of them together.
    """
    now, blank = started(items, subset, agree, price), started(items, subset, agree, price)
    spent = now.fill(price, None)
    now.close()
    blank.fill(_all_or_nothing(price), None)
    blank.close()
    now = best = min(now, blank, key=lambda state: state.cost)
    random = np.random.default_rng(0)
    for _ in range(min(rounds, work // max(1, spent)) if best.cost else 0):
        tried = now.copy()
        gaps = tried.gaps()
        most = max(2, int(_SHARE * len(gaps)))
        for at in random.permutation(len(gaps))[: int(random.integers(1, most + 1))].tolist():
            tried.show(*gaps[at], anyway=True)
        tried.fill(price, random)
        tried.close()
        if tried.cost <= now.cost:
            now = tried
        if now.cost < best.cost:
            best = now
    return best


def _all_or_nothing(price: NDArray[np.float64]) -> NDArray[np.float64]:
    """Prices that leave one choice: all keys that may be hidden."""
    made = np.full(len(price), np.inf)
    most = int(np.flatnonzero(np.isfinite(price)).max(initial=0))
    made[most] = price[most]
    return made


@dataclass(eq=False)
class State:
    """Items, and behind them one row for each record that hides something. Changes in place."""

    items: Items  # the records of one group
    subset: NDArray[np.int64]  # the keys of each condition, as a number of bits, (t,)
    price: NDArray[np.float64]  # of each set of keys, (2^m,); inf: not allowed
    #: of each row, with room for more: codes (r, m), records (r,), for each condition how many
    #: records it needs and how many it agrees with, (t, r)
    codes: NDArray[np.int32]
    count: NDArray[np.int64]
    need: NDArray[np.int64]
    agree: NDArray[np.int64]
    home: NDArray[np.int64]  # the item of each row, (r,)
    rows: int  # number of rows in use

    def copy(self) -> State:
        """Another one that changes apart."""
        arrays = ("codes", "count", "need", "agree", "home")
        return replace(self, **{name: getattr(self, name).copy() for name in arrays})

    @property
    def cost(self) -> float:
        """What all gaps cost."""
        return float(self.price[self.hidden()].sum())

    def hidden(self) -> NDArray[np.int64]:
        """The keys that each row behind the items hides, as a number of bits."""
        rows = slice(len(self.items.count), self.rows)
        there = (self.items.codes[self.home[rows]] >= 0) & (self.codes[rows] < 0)
        there &= self.count[rows, None] > 0
        return there @ (np.int64(1) << np.arange(self.codes.shape[1]))

    def gaps(self) -> list[tuple[int, int]]:
        """Row and key of each gap, the dearest first."""
        first = len(self.items.count)
        found = [
            (first + row, q)
            for row, bits in enumerate(self.hidden().tolist())
            for q in range(self.codes.shape[1])
            if bits >> q & 1
        ]
        return sorted(found, key=lambda gap: -self.price[1 << gap[1]])

    def found(self) -> list[tuple[int, list[int]]]:
        """Each item of which records hide something, and what they hide, the most first."""
        hidden = self.hidden()
        home = self.home[len(self.items.count) : self.rows]
        return [
            (item, sorted(hidden[(home == item) & (hidden > 0)].tolist(), reverse=True))
            for item in np.unique(home[hidden > 0]).tolist()
        ]

    def fill(self, price: NDArray[np.float64], random: np.random.Generator | None) -> int:
        """Hide what helps most for its price, until every row agrees with enough records.

        `random` weighs the rows by chance. Returns the operations spent.
        """
        from diskret.microdata.suppression import gap_kernels

        spent = 0
        while True:
            used = slice(0, self.rows)
            short = np.maximum(self.need[:, used] - self.agree[:, used], 0)
            short *= self.count[used] > 0
            wanting = np.flatnonzero(short.any(axis=0))
            if not len(wanting):
                return spent
            some = _spread(wanting, _SAMPLE)
            weight = np.ones(len(some)) if random is None else random.uniform(0.5, 1.5, len(some))
            own, others = self._donors(some, wanting)
            everyone = np.flatnonzero(self.count[used] > 0)
            row, chosen = 0, 0
            for donors in (np.concatenate([own, others]), everyone):
                row, chosen = gap_kernels.best_gap(
                    self.codes[used],
                    self.count[used],
                    short,
                    self.subset,
                    price,
                    donors,
                    some,
                    weight,
                )
                if chosen:
                    break
            if not chosen:
                raise ProtectionError("no further value that may be hidden helps any record")
            self._hide(row, chosen)
            spent += self._each(some) * len(donors) + self.codes.shape[1] * self.rows * len(own)

    def close(self) -> None:
        """Show again what need not be hidden, the dearest first."""
        for row, key in self.gaps():
            self.show(row, key, anyway=False)

    def show(self, row: int, key: int, anyway: bool) -> None:
        """Close a gap, if enough records still agree with each, or `anyway`."""
        from diskret.microdata.suppression import gap_kernels

        code = int(self.items.codes[self.home[row], key])
        gap_kernels.show(
            self.codes,
            self.count,
            self.agree,
            self.need,
            self.subset,
            self.rows,
            row,
            key,
            code,
            anyway,
        )

    def _each(self, some: NDArray[np.int64]) -> int:
        """Operations for one row that may hide something and need not be helped itself."""
        return self.codes.shape[1] * (len(some) + len(self.price))

    def _donors(
        self, some: NDArray[np.int64], wanting: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows that may hide something, as many as are affordable: some that are short, others."""
        each = self._each(some)
        own = _spread(wanting, max(4, _CHOICE // (each + self.codes.shape[1] * self.rows)))
        others = self.count[: self.rows] > 0
        others[wanting] = False
        return own, _spread(np.flatnonzero(others), max(4, _CHOICE // each))

    def _hide(self, row: int, hidden: int) -> None:
        from diskret.microdata.suppression import gap_kernels

        if self.rows == len(self.count):
            self._grow()
        new = self.rows
        gap_kernels.hide(self.codes, self.count, self.agree, self.subset, row, hidden, new)
        self.need[:, new] = self.need[:, row]
        self.home[new] = self.home[row]
        self.rows += 1

    def _grow(self) -> None:
        more = len(self.count) // 2 + 16
        self.codes = np.pad(self.codes, ((0, more), (0, 0)))
        self.count, self.home = (np.pad(values, (0, more)) for values in (self.count, self.home))
        wide = ((0, 0), (0, more))
        self.need, self.agree = np.pad(self.need, wide), np.pad(self.agree, wide)


def started(
    items: Items, subset: NDArray[np.int64], agree: NDArray[np.int64], price: NDArray[np.float64]
) -> State:
    """Nothing hidden yet; `agree` says how many records each item agrees with, ``(t, c)``."""
    c = len(items.count)
    return State(
        items,
        subset,
        price,
        items.codes.copy(),
        items.count.copy(),
        items.need.copy(),
        agree.copy(),
        np.arange(c),
        c,
    )


def _spread(rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most so many of the rows, evenly spread."""
    return rows[:: -(-len(rows) // most)] if len(rows) > most else rows
