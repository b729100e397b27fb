"""How many tables may count the same record: of one user, and of all users together."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from diskret.serve.answers import Refused
from diskret.serve.data import DataSet
from diskret.serve.journal import Asked
from diskret.serve.question import Family


class Entering(Protocol):
    """A moment in which nobody else counts anything; see `Turn`."""

    @property
    def news(self) -> Sequence[Asked]:
        """What was counted elsewhere."""
        ...

    def add(self, asked: Sequence[Asked]) -> None:
        """Keep them for good."""
        ...


@dataclass(frozen=True)
class _Unkept:
    """Where nothing outlives the process."""

    news: tuple[Asked, ...] = ()

    def add(self, asked: Sequence[Asked]) -> None:
        """Nothing is kept."""


@dataclass(eq=False)
class _Wish:
    """Tables that somebody waits for, and how it ended: None, all are counted; or the error."""

    asked: tuple[Asked, ...]
    data: DataSet
    judged: bool = False
    error: BaseException | None = None


class _Counted:
    """Families, and how many of them count the records of another one."""

    def __init__(self) -> None:
        self.every: set[Family] = set()
        self._whole: Counter[str] = Counter()
        self._filtered: dict[str, _Filters] = {}

    def add(self, family: Family) -> None:
        """Add one that is not there yet."""
        self.every.add(family)
        if family.where:
            self._filtered.setdefault(family.data, _Filters()).add(family)
        else:
            self._whole[family.data] += 1

    def meeting(self, family: Family) -> int:
        """How many there are that may count a record that this one counts, see `Family.meets`."""
        filtered = self._filtered.get(family.data)
        return self._whole[family.data] + (0 if filtered is None else filtered.meeting(family))


class _Filters:
    """Filters of families as sets of their numbers, each set a whole number with a bit a family.

    So one filter is compared with 64 others at a time, and 100,000 families take microseconds.
    """

    def __init__(self) -> None:
        self._number = 0
        #: Variable → families with a filter on it; variable and code → those whose filter keeps it.
        self._on: dict[str, int] = {}
        self._keep: dict[tuple[str, str], int] = {}

    def add(self, family: Family) -> None:
        """Add one that has a filter."""
        bit = 1 << self._number
        self._number += 1
        for name, codes in family.where:
            self._on[name] = self._on.get(name, 0) | bit
            for code in codes:
                self._keep[name, code] = self._keep.get((name, code), 0) | bit

    def meeting(self, family: Family) -> int:
        """How many of them are not told apart from this one by any variable."""
        apart = 0
        for name, codes in family.where:
            kept = 0
            for code in codes:
                kept |= self._keep.get((name, code), 0)
            apart |= self._on.get(name, 0) & ~kept
        return self._number - apart.bit_count()


class Allowance:
    """Counts the tables that were given, before anything of them is computed.

    A table that was given before tells nothing new: to its user it costs nothing, to another one
    only of what he may ask for himself. Tables whose filters share no record are counted apart. All
    others are taken to count the same record, so no record is in more of them than is counted.

    Parameters
    ----------
    turn
        Opens a moment to count in, with what was counted elsewhere, and keeps what is added for
        good: `Journal.turn`. None: nothing outlives the process.
    """

    def __init__(self, turn: Callable[[], AbstractContextManager[Entering]] | None = None):
        self._of: dict[str, _Counted] = {}
        self._all = _Counted()
        #: One object for each, whoever was given it.
        self._same: dict[Family, Family] = {}
        self._turn = turn or (lambda: nullcontext(_Unkept()))
        self._lock = threading.Lock()
        self._wishes: list[_Wish] = []
        self._judging = False
        self._judged = threading.Condition()
        with self._turn() as entering:
            self._count(entering.news)

    def ask(self, families: Sequence[Family], who: str, data: DataSet) -> None:
        """Count tables, or refuse them: all or none.

        Those who ask at the same time are judged one after the other and kept together, as to keep
        one for good takes as long as to keep many.

        Raises
        ------
        Refused
            More tables would count the same record than the data set resists, or this user may ask
            for.
        """
        if all(self.had(family, who) for family in families):
            return
        wish = _Wish(tuple(Asked(family, who) for family in families), data)
        wishes: list[_Wish] = []
        with self._judged:
            self._wishes.append(wish)
            while self._judging and not wish.judged:
                self._judged.wait()
            if not wish.judged:
                self._judging, wishes, self._wishes = True, self._wishes, []
        if not wish.judged:
            try:
                self._judge(wishes)
            finally:
                with self._judged:
                    self._judging = False
                    # who is interrupted leaves the others to the next
                    self._wishes += [one for one in wishes if not one.judged and one is not wish]
                    self._judged.notify_all()
        if wish.error is not None:
            raise wish.error

    def _judge(self, wishes: Sequence[_Wish]) -> None:
        """Count those that may be, all of them together, and say of the others why not."""
        counted: list[Asked] = []
        try:
            with self._turn() as entering:
                self._count(entering.news)
                for wish in wishes:
                    own: list[Asked] = []
                    for asked in wish.asked:
                        wish.error = self._refusal(asked, wish.data, [*counted, *own])
                        if wish.error is not None:
                            break
                        if not self.had(asked.family, asked.who):
                            own.append(asked)
                    else:
                        counted = [*dict.fromkeys([*counted, *own])]
                if counted:
                    entering.add(counted)
        except Exception as error:
            for wish in wishes:
                wish.error = error
        else:
            self._count(counted)
        for wish in wishes:
            wish.judged = True

    def _refusal(self, asked: Asked, data: DataSet, beside: Sequence[Asked]) -> Refused | None:
        """Why a table is not counted, beside others that are going to be."""
        family, who = asked.family, asked.who
        own = {one.family for one in beside if one.who == who}
        if self.had(family, who) or family in own:
            return None
        had = self._of.get(who, _Counted())
        if 1 + had.meeting(family) + sum(map(family.meets, own)) > data.each:
            return Refused(
                f"you had all {data.each:,} tables that one user may have of {data.name!r}; "
                "tables that you had before are answered on"
            )
        new = {one.family for one in beside} - self._all.every
        if family in self._all.every or family in new:
            return None
        if 1 + self._all.meeting(family) + sum(map(family.meets, new)) > data.questions:
            return Refused(
                f"all {data.questions:,} tables that {data.name!r} resists were given; "
                "tables that somebody had before are answered on"
            )
        return None

    def had(self, family: Family, who: str) -> bool:
        """Whether a user was given this table before."""
        own = self._of.get(who)
        return own is not None and family in own.every

    def left(self, who: str, data: DataSet) -> int:
        """How many tables over all records this user may still ask for that nobody had."""
        with self._lock:
            everywhere = Family(data.name, (), ())
            own = self._of.get(who, _Counted()).meeting(everywhere)
            every = self._all.meeting(everywhere)
            return max(min(data.each - own, data.questions - every), 0)

    def _count(self, counted: Sequence[Asked]) -> None:
        with self._lock:
            for asked in counted:
                family = self._same.setdefault(asked.family, asked.family)
                for one in (self._of.setdefault(asked.who, _Counted()), self._all):
                    if family not in one.every:
                        one.add(family)
