"""Microdata as they leave: which records agree, and what they show of sensitive values."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.attack.microdata.claims import AboutValues, Counted, KAnonymity, Missing
from diskret.attack.microdata.told_gaps import Limit, Told, told
from diskret.errors import InputError
from diskret.io.categories import ascending
from diskret.io.kinds import is_text
from diskret.io.names import alike
from diskret.io.record_errors import RecordError

_LARGEST = 2**62
#: Pairs of a combination and a value that are laid out at a time.
_BLOCK = 4_000_000
#: Ways to miss keys on one side times those on the other, up to which they are compared as such.
_WAYS = 20_000
#: What a key of a pair costs, one of a way, and two ways beside each other, in nanoseconds.
_PAIR, _KEY, _TWO_WAYS = 2, 20, 100_000

#: Whole numbers; among values, -1 stands for a missing one.
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Combinations:
    """The combinations of keys that occur."""

    of: Numbers  # for each record its combination, (n,)
    #: for each combination the number of its value of each key, -1 where any value is possible, (c,
    #: m)
    keys: Numbers
    count: Numbers  # number of records, (c,)


def numbers(column: pa.ChunkedArray) -> tuple[Numbers, pa.Array]:
    """Number the values of a column in any order, -1 for null and NaN, and list them; -0 is 0."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        plain = pa.array(column.to_numpy() + 0.0, column.type, from_pandas=True)
        column = pa.chunked_array([plain])
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):  # too long for one chunk
        encoded = encoded.combine_chunks()
    found = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    return found.astype(np.int64), encoded.dictionary


def numbers_like(column: pa.ChunkedArray, values: pa.Array, name: str) -> Numbers:
    """Number the values of a column as those of another, -2 for values that do not occur there."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        column = column.cast(values.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"{name!r} is {column.type} in the population and {values.type} in the file; give "
            "both the same type"
        ) from None
    own, known = numbers(column)
    at = pc.fill_null(pc.index_in(known, value_set=values), -2).to_numpy(zero_copy_only=False)
    return np.append(at.astype(np.int64), -1)[own]


def combinations(columns: Sequence[Numbers], missing: Missing = "wildcard") -> Combinations:
    """Put records together that show the same.

    With ``"category"``, missing becomes a value like others; with ``"conservative"``, each record
    with a missing value is apart from all others.
    """
    table = np.stack(columns, axis=1)
    if missing != "wildcard":
        gaps = (table == -1).any(axis=1)
        table = table + 3  # neither missing nor unknown any more
        if missing == "conservative":
            alone = np.where(gaps, np.arange(1, len(table) + 1), 0)
            table = np.column_stack([table, alone])
    of = numbered(table)
    first = np.full(of.max(initial=-1) + 1, -1)
    first[of[::-1]] = np.arange(len(of))[::-1]
    return Combinations(of, table[first], np.bincount(of, minlength=len(first)))


def numbered(table: Numbers) -> Numbers:
    """A number for each row, from 0 on, the same for the same rows."""
    number, span = np.zeros(len(table), dtype=np.int64), 1
    for column in table.T:
        low = int(column.min(initial=0))
        width = int(column.max(initial=0)) - low + 1
        if span * width > _LARGEST:
            _, number = np.unique(number, return_inverse=True)
            span = len(table)
        number = number * width + (column - low)
        span *= width
    return np.unique(number, return_inverse=True)[1]


def agreeing(
    asking: Numbers,
    present: Numbers,
    amounts: Sequence[NDArray[np.float64]],
    gaps: bool = True,
) -> list[NDArray[np.float64]]:
    """For each asking combination, the sums of amounts of those present that agree with it.

    Two combinations agree if every key that is not missing in either has the same value; without
    `gaps`, those present must show every key that the asking one shows.
    """
    ways, other_ways = _patterns(asking), _patterns(present)
    by_ways = len(ways) * (len(other_ways) * _TWO_WAYS + present.size * _KEY)
    if len(ways) * len(other_ways) > _WAYS and asking.size * len(present) * _PAIR < by_ways:
        return _pair_by_pair(asking, present, amounts, gaps)
    total = [np.zeros(len(asking)) for _ in amounts]
    for rows in ways:
        for others in other_ways:
            if not gaps and ((asking[rows[0]] != -1) & (present[others[0]] == -1)).any():
                continue
            own, theirs = _shared(asking[rows], present[others])
            for sum_, amount in zip(total, amounts, strict=True):
                by = np.bincount(theirs, weights=amount[others], minlength=int(own.max()) + 1)
                sum_[rows] += by[own]
    return total


def _pair_by_pair(
    asking: Numbers, present: Numbers, amounts: Sequence[NDArray[np.float64]], gaps: bool
) -> list[NDArray[np.float64]]:
    """The same, where nearly every combination misses other keys than the rest."""
    total = [np.zeros(len(asking)) for _ in amounts]
    size = max(1, _BLOCK // max(len(present), 1))
    for start in range(0, len(asking), size):
        block = slice(start, start + size)
        agree = np.ones((len(asking[block]), len(present)), dtype=np.bool_)
        for mine, theirs in zip(asking[block].T, present.T, strict=True):
            same = mine[:, None] == theirs
            same |= (mine == -1)[:, None]
            if gaps:
                same |= theirs == -1
            agree &= same
        row, other = np.nonzero(agree)
        for sum_, amount in zip(total, amounts, strict=True):
            sum_[block] = np.bincount(row, weights=amount[other], minlength=len(agree))
    return total


@dataclass(frozen=True, eq=False)
class Shown:
    """The sensitive values among the records that agree with some combinations."""

    rows: Numbers  # the combinations, (b,)
    owner: Numbers  # for each value shown the position among `rows`, ascending, (e,)
    value: Numbers  # its number, ascending for each combination, (e,)
    count: Numbers  # how many records show it, (e,)


def values_shown(
    asking: Numbers, present: Numbers, value: Numbers, count: Numbers
) -> Iterator[Shown]:
    """For each asking combination, the values of those present that agree with it.

    asking: combinations, ``(a, m)``.
    present: combinations with a value each, ``(p, m)``.
    value: the value, ``(p,)``, at least 0.
    count: how many records, ``(p,)``.
    """
    width = int(value.max(initial=0)) + 1
    for rows in _patterns(asking):
        found: list[tuple[Numbers, Numbers, Numbers]] = []
        for others in _patterns(present):
            own, theirs = _shared(asking[rows], present[others])
            order = np.argsort(theirs, kind="stable")
            start = np.searchsorted(theirs[order], own, side="left")
            stop = np.searchsorted(theirs[order], own, side="right")
            found.append((others[order], start, stop - start))
        length = np.sum([lengths for _, _, lengths in found], axis=0)
        block = np.cumsum(length) // _BLOCK
        for part in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(block)) + 1):
            laid = [_laid_out(at, start[part], length[part]) for at, start, length in found]
            owner = np.concatenate([owner for owner, _ in laid])
            at = np.concatenate([at for _, at in laid])
            cell, same = np.unique(owner * width + value[at], return_inverse=True)
            counted = np.bincount(same, weights=count[at]).astype(np.int64)
            yield Shown(rows[part], cell // width, cell % width, counted)


def _laid_out(at: Numbers, start: Numbers, length: Numbers) -> tuple[Numbers, Numbers]:
    """The entries of ranges one after another, and whose each is."""
    owner = np.repeat(np.arange(len(start)), length)
    before = np.cumsum(length) - length
    return owner, at[np.arange(len(owner)) - before[owner] + start[owner]]


def _patterns(keys: Numbers) -> list[Numbers]:
    """Positions of combinations that are missing in the same keys."""
    of = numbered((keys == -1).astype(np.int64))
    order = np.argsort(of, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(of[order])) + 1) if len(keys) else []


def _shared(asking: Numbers, present: Numbers) -> tuple[Numbers, Numbers]:
    """A number for what each shows in the keys that both have, the same where they agree."""
    both = (asking[0] != -1) & (present[0] != -1)
    number = numbered(np.concatenate([asking[:, both], present[:, both]]))
    return number[: len(asking)], number[len(asking) :]


@dataclass(frozen=True, eq=False)
class Modelled:
    """The risk of records by a log-linear model, beside the estimate by weights. Confidential."""

    risk: NDArray[np.float64] | None  # of each record, (n,); None if no model could be fitted
    #: how many of those that are alone in the file are expected to be alone in the population
    uniques: float
    reason: str = ""  # why there is no model


@dataclass(frozen=True, eq=False)
class Leaving:
    """A file that is about to leave, and what belongs to its records."""

    name: str
    table: pa.Table  # its columns, as they leave
    keys: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    #: sampling weights > 0, (n,); None: the records are all there are. Confidential unless they
    #: leave.
    weight: NDArray[np.float64] | None = None
    household: Numbers | None = None  # number of the household of each record, (n,), or None
    together: bool = False  # whether the file is a sample in which households were drawn whole
    #: column → its values from the lowest to the highest, where that was declared
    orders: Mapping[str, Sequence[Any]] = field(default_factory=dict[str, Sequence[Any]])
    #: column → codes in it that mean missing, as text
    means_missing: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    #: keys → what a missing one stands for → the risk by a log-linear model
    fit: Callable[[pa.Table], Mapping[Missing, Modelled]] | None = None
    #: whether missing values are filled in where other columns of the file tell them
    filled: bool = True
    _numbered: dict[str, tuple[Numbers, pa.Array]] = field(default_factory=dict, repr=False)
    _combined: dict[Any, Combinations] = field(default_factory=dict, repr=False)
    _told: dict[str, Told] = field(default_factory=dict, repr=False)
    _models: list[Mapping[Missing, Modelled]] = field(default_factory=list, repr=False)

    @property
    def n(self) -> int:
        """Number of records."""
        return self.table.num_rows

    def numbers(self, name: str) -> tuple[Numbers, pa.Array]:
        """The values of a column as numbers, -1 if missing, and what the numbers stand for."""
        if name not in self._numbered:
            if name not in self.table.column_names:
                raise RecordError(
                    f"a claim of file {self.name!r} names the column {name!r}, which does not "
                    f"leave; there are {', '.join(map(repr, self.table.column_names))}",
                    missing=name,
                )
            self._numbered[name] = numbers(self.table.column(name))
        return self._numbered[name]

    def told(self, key: str) -> Told:
        """A column without the gaps that other columns of the file tell."""
        if key not in self._told:
            keys = next((some for some in (self.keys, self.sensitive) if key in some), (key,))
            if self.filled and any((self.numbers(one)[0] == -1).any() for one in keys):
                names = self.table.column_names
                columns = {name: self.numbers(name)[0] for name in names}
                orders = {"": np.arange(self.n)} | {name: self._order(name) for name in names}
                self._told.update(told(columns, keys, orders))
            else:
                self._told.update({one: Told(self.numbers(one)[0]) for one in keys})
        return self._told[key]

    def _order(self, name: str) -> Numbers:
        """Records by the values of a column, those with a missing one left out; positions."""
        number, values = self.numbers(name)
        try:
            at = ascending(values, name)
        except InputError:  # text has none but that of its letters
            at = pc.sort_indices(values.cast(pa.string())).to_numpy()
        rank = np.empty(len(values), dtype=np.int64)
        rank[at] = np.arange(len(values))
        shown = np.flatnonzero(number >= 0)
        return shown[np.argsort(rank[number[shown]], kind="stable")]

    def told_gaps(self, claim: Counted) -> dict[str, tuple[tuple[str, ...], ...]]:
        """The columns a claim is about of which gaps are told, and the columns that tell them."""
        names = self.keys_of(claim) if isinstance(claim, KAnonymity) else self.keys
        if isinstance(claim, AboutValues):
            names = (*names, *self.sensitive_of(claim))
        found = {name: self.told(name).by for name in names}
        for name, limit in self.limits(names):
            found[name] += ((limit.name,),)
        return {name: by for name, by in found.items() if by}

    def limits(self, keys: Sequence[str]) -> list[tuple[str, Limit]]:
        """What other columns tell of missing values of keys that nothing tells, with the key."""
        limits = [(key, limit) for key in keys for limit in self.told(key).limits]
        return [(key, limit) for key, limit in limits if limit.name not in keys]

    def model(self, missing: Missing) -> Modelled | None:
        """The risk by a log-linear model of the keys, gaps that are told filled in; None: none."""
        if self.fit is None:
            return None
        if not self._models:
            columns = {key: self.table.column(key) for key in self.keys}
            for key in self.keys:
                found = self.told(key)
                if found.by:
                    columns[key] = pa.array(found.numbers, mask=found.numbers < 0)
            self._models.append(self.fit(pa.table(columns)))
        return self._models[0].get(missing)

    def as_shown(self) -> Leaving:
        """The same file to a reader who fills in nothing."""
        return replace(self, filled=False, _combined={}, _told={}, _models=[])

    def keys_of(self, claim: KAnonymity) -> tuple[str, ...]:
        """The keys that a claim is about: those that it names, else all of the file."""
        return claim.keys or self.keys

    def sensitive_of(self, claim: AboutValues) -> tuple[str, ...]:
        """The sensitive variables that a claim is about: those that it names, else all."""
        return claim.sensitive or self.sensitive

    def combined(
        self,
        keys: Sequence[str],
        missing: Missing,
        known: Sequence[str] = (),
        *,
        as_shown: bool = False,
    ) -> Combinations:
        """The combinations of keys, and of variables whose missing values are values, too.

        Missing values that other columns tell are none, but for what the file shows as it is.
        """
        wanted = (tuple(keys), missing, tuple(known), as_shown)
        if wanted not in self._combined:
            # a gap that agrees with nothing stays one: filled in, it would agree with more
            plain = as_shown or missing == "conservative"
            columns = [self.numbers(key)[0] if plain else self.told(key).numbers for key in keys]
            columns += [] if plain else [one.numbers for _, one in self.limits(keys)]
            columns += [self.told(name).numbers + 1 for name in known]
            self._combined[wanted] = combinations(columns, missing)
        return self._combined[wanted]

    def ranked(self, name: str, order: Sequence[Any] | None = None) -> tuple[Numbers, int]:
        """The ranks of the values of a column, and how many of them, the first, are no ranks.

        Those are of null and of each code that means missing, from 0 on. The others ascend in the
        order given here, else in that of the column.
        """
        number, values = self.told(name).numbers, self.numbers(name)[1]
        number = np.where(number < len(values), number, -1)  # nobody knows where others stand
        codes = pa.array(self.means_missing.get(name, ()), pa.string())
        coded = np.asarray(pc.is_in(values.cast(pa.string()), value_set=codes), dtype=bool)
        there = values.filter(pa.array(~coded))
        at = ascending(there, name, self.orders.get(name) if order is None else order)
        rank = np.zeros(len(values) + 1, dtype=np.int64)  # null is the last, and rank 0
        beside = int((number == -1).any())
        rank[np.flatnonzero(coded)] = beside + np.arange(coded.sum())
        beside += int(coded.sum())
        rank[np.flatnonzero(~coded)[at]] = beside + np.arange(len(at))
        return rank[number], beside

    def told_apart(self, name: str) -> Numbers:
        """The values of a column as numbers from 0 on in no order, missing ones first.

        What reads alike is one value: a blank behind it, another case or 1.0 for 1 makes nobody
        diverse.
        """
        number, values = self.told(name).numbers, self.numbers(name)[1]
        if is_text(values.type):
            read = [alike(value) for value in values.to_pylist()]
            place = {text: at for at, text in enumerate(dict.fromkeys(read)) if text}
            own = range(len(values), int(number.max(initial=-1)) + 1)  # that are nowhere shown
            number = np.array([*(place.get(text, -1) for text in read), *own, -1])[number]
        return number - min(int(number.min(initial=0)), 0)
