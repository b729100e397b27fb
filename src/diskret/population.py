"""Who is in a table: the one meaning of a filter, and of "can two share a record"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise
from typing import Any

from diskret.errors import InputError
from diskret.hierarchy.codes import as_code

_TOO_LARGE = 10**20  # engines read numbers as DECIMAL(38, 18): 20 digits before the point
_DECIMALS = 18
_LAST_DECIMAL = Decimal(1).scaleb(-_DECIMALS)
_PRECISE = Context(prec=60)
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_WORDS = re.compile(
    rf"≥ (?P<min>{_NUMBER})|≤ (?P<max>{_NUMBER})|(?P<low>{_NUMBER}) to (?P<high>{_NUMBER})"
)
_ENDS = ("min", "low"), ("max", "high")
#: What engines read as a number in a column of text.
_READABLE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)


@dataclass(frozen=True)
class Bounds:
    """Numbers from `min` to `max`, both included; None: no bound on that side."""

    min: Decimal | None
    max: Decimal | None

    def __str__(self) -> str:
        return self.words("to")

    def words(self, to: str) -> str:
        """The bounds for readers, with `to` between them."""
        if self.max is None:
            return f"≥ {self.min:f}"
        return f"≤ {self.max:f}" if self.min is None else f"{self.min:f} {to} {self.max:f}"

    def contains(self, number: Fraction) -> bool:
        """Whether a number lies in the bounds."""
        low, high = (None if end is None else Fraction(end) for end in (self.min, self.max))
        return (low is None or low <= number) and (high is None or number <= high)

    def meets(self, other: Bounds) -> bool:
        """Whether some number lies in both."""
        return _below(self.min, other.max) and _below(other.min, self.max)

    def holds(self, other: Bounds) -> bool:
        """Whether all numbers of the other lie in these."""
        low = self.min is None or (other.min is not None and self.min <= other.min)
        return low and (self.max is None or (other.max is not None and other.max <= self.max))


#: What is asked of one column: one of these codes (sorted, none twice), or a number in bounds.
Condition = tuple[str, ...] | Bounds


@dataclass(frozen=True)
class Population:
    """The records that satisfy a condition in each of some columns; without any, all records.

    Equal populations are equal values, however their filters were written. A missing value
    satisfies no condition.

    `conditions`: columns in the order of their names, each once, with what is asked of it.

    >>> small = Population.of({"year": 2025, "staff": {"max": 9}})
    >>> str(small), small.overlaps(Population.of({"staff": ["09", "12"]}))
    ('staff ≤ 9, year = 2025', True)
    >>> small.overlaps(Population.of({"staff": {"min": 10}}))
    False
    """

    conditions: tuple[tuple[str, Condition], ...] = ()

    @classmethod
    def of(cls, where: Mapping[str, Any] | Population | None) -> Population:
        """The population of a filter as users write it.

        `where`: column → a code, several codes, or ``{"min": …, "max": …}`` with numbers (either
        may be None or left out). A record satisfies the filter if it does in every column.
        """
        if isinstance(where, Population):
            return where
        if where is not None and not isinstance(where, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"where= must be {{column: codes}}, not {type(where).__name__}")
        wanted = {name: _wanted(name, asked) for name, asked in (where or {}).items()}
        return cls(tuple((name, wanted[name]) for name in sorted(wanted)))

    def __bool__(self) -> bool:
        """Whether anything is asked of records."""
        return bool(self.conditions)

    def __iter__(self) -> Iterator[tuple[str, Condition]]:
        return iter(self.conditions)

    def __str__(self) -> str:
        return ", ".join(
            f"{name} {asked}" if isinstance(asked, Bounds) else f"{name} = {' or '.join(asked)}"
            for name, asked in self
        )

    @property
    def asked(self) -> Mapping[str, Condition]:
        """Column → what is asked of it."""
        return dict(self.conditions)

    @property
    def bounded(self) -> tuple[str, ...]:
        """The columns of which numbers are asked."""
        return tuple(name for name, asked in self if isinstance(asked, Bounds))

    def without(self, names: Collection[str]) -> Population:
        """The same with nothing asked of some columns."""
        return Population(tuple(one for one in self if one[0] not in names))

    def overlaps(self, other: Population) -> bool:
        """Whether some record could belong to both."""
        theirs = other.asked
        return all(_meet(asked, theirs[name]) for name, asked in self if name in theirs)

    def inside(self, other: Population) -> bool:
        """Whether every record of this one belongs to the other."""
        mine = self.asked
        return all(name in mine and _holds(asked, mine[name]) for name, asked in other)

    def up_to(self, other: Population) -> Population:
        """The same, but where bounds are open no further than those of the other.

        Nobody has less than one employee, so staff up to 4 is a part of staff 1 to 5.

        >>> str(Population.of({"staff": {"max": 4}}).up_to(Population.of({"staff": {"min": 1}})))
        'staff 1 to 4'
        """
        theirs = other.asked
        return Population(tuple((name, _up_to(asked, theirs.get(name))) for name, asked in self))

    # ── at a file's edge ────────────────────────────────────────────────────────────

    def to_lists(self) -> dict[str, list[str] | dict[str, list[str]]]:
        """As JSON in public files and ledgers: bounds are one text, as they always were.

        A single code that reads like bounds stands in ``{"codes": […]}``.

        >>> Population.of({"staff": {"min": 10}, "year": 2025}).to_lists()
        {'staff': ['≥ 10'], 'year': ['2025']}
        """
        return {name: _listed(asked) for name, asked in self}

    @classmethod
    def from_lists(cls, given: Mapping[str, Any]) -> Population:
        """What `to_lists` wrote."""
        return cls(tuple((name, _read(name, given[name])) for name in sorted(given)))

    def words(self, either: str, to: str) -> str:
        """Each column with its codes, with `either` between them, or its bounds, for readers."""
        return ", ".join(
            f"{name}: {asked.words(to) if isinstance(asked, Bounds) else either.join(asked)}"
            for name, asked in self
        )


#: All records.
EVERYBODY = Population()


def pieces(conditions: Sequence[Condition], codes: Iterable[str] = ()) -> list[frozenset[str]]:
    """What conditions on one column stand for, as sets of pieces that can be compared.

    A code is a piece. Bounds hold the codes that are numbers in them, and the other numbers on
    pieces of the number line, which is cut wherever bounds end. Two spellings of a number are
    two pieces; one spelling is taken for all records with that number.

    >>> large, larger = pieces([Bounds(Decimal(10), None), Bounds(Decimal(20), None)])
    >>> larger < large
    True
    >>> sorted(pieces([Bounds(Decimal(10), None)], ["5", "10", "12"])[0])
    ['10', '12', 'numbers at 11']
    """
    named = [code for asked in conditions if not isinstance(asked, Bounds) for code in asked]
    numbers = {code: number for code in (*codes, *named) if (number := _as_bounds(code))}
    line = _line([asked for asked in conditions if isinstance(asked, Bounds)])
    spelled = {number.min for number in numbers.values() if number.min == number.max}
    line = {name: place for name, place in line.items() if place not in spelled}

    def held(asked: Condition) -> frozenset[str]:
        if not isinstance(asked, Bounds):
            return frozenset(asked)
        inside = [code for code, number in numbers.items() if asked.meets(number)]
        return frozenset(inside + [name for name, at in line.items() if asked.contains(at)])

    return [held(asked) for asked in conditions]


def _line(bounds: Sequence[Bounds]) -> dict[str, Fraction]:
    """The ends of bounds and what lies between them: name → a number there."""
    ends = {end for own in bounds for end in (own.min, own.max) if end is not None}
    cuts = sorted(map(Fraction, ends))
    if not cuts:
        return {}
    between = [(one + other) / 2 for one, other in pairwise(cuts)]
    numbers = [*cuts, cuts[0] - 1, *between, cuts[-1] + 1]
    return {f"numbers at {number}": number for number in numbers}


# ── comparing ───────────────────────────────────────────────────────────────────────


def _below(low: Decimal | None, high: Decimal | None) -> bool:
    return low is None or high is None or low <= high


def _as_bounds(code: str) -> Bounds | None:
    """A code as a number, as engines read it; or as the bounds that older files wrote as text."""
    if _READABLE.fullmatch(code):
        number = Decimal(code)
        if abs(number) < _TOO_LARGE:  # the last decimal that engines keep
            number = number.quantize(_LAST_DECIMAL, ROUND_HALF_UP, _PRECISE).normalize(_PRECISE)
        return Bounds(number, number)
    return _bounds_in_words(code)


def _bounds_in_words(text: str) -> Bounds | None:
    found = _WORDS.fullmatch(text)
    if found is None:
        return None
    ends = [[Decimal(found[name]) for name in names if found[name]] for names in _ENDS]
    low, high = (end[0] if end else None for end in ends)
    return Bounds(low, high)


def _meet(one: Condition, other: Condition) -> bool:
    if isinstance(one, Bounds) and isinstance(other, Bounds):
        return one.meets(other)
    if isinstance(one, Bounds):
        return _meet(other, one)
    if isinstance(other, Bounds):
        return any(other.meets(number) for number in map(_as_bounds, one) if number)
    return not {*one}.isdisjoint(other)


def _up_to(asked: Condition, other: Condition | None) -> Condition:
    if not (isinstance(asked, Bounds) and isinstance(other, Bounds) and asked.meets(other)):
        return asked
    low = other.min if asked.min is None else asked.min
    return Bounds(low, other.max if asked.max is None else asked.max)


def _holds(whole: Condition, part: Condition) -> bool:
    """Whether what satisfies the part satisfies the whole."""
    if isinstance(part, Bounds):
        return isinstance(whole, Bounds) and whole.holds(part)
    if isinstance(whole, Bounds):
        numbers = [_as_bounds(code) for code in part]
        return all(number is not None and whole.holds(number) for number in numbers)
    return {*part} <= {*whole}


# ── reading what users and files say ────────────────────────────────────────────────


def _listed(asked: Condition) -> list[str] | dict[str, list[str]]:
    if isinstance(asked, Bounds):
        return [str(asked)]
    codes = list(asked)
    return {"codes": codes} if len(codes) == 1 and _bounds_in_words(codes[0]) else codes


def _read(name: str, given: Any) -> Condition:
    codes = given.get("codes") if isinstance(given, Mapping) else given
    if not isinstance(codes, list) or not codes or not all(isinstance(c, str) for c in codes):
        raise InputError(f"the condition on column {name!r} is no list of codes")
    bounds = _bounds_in_words(codes[0]) if codes is given and len(codes) == 1 else None
    return bounds or tuple(sorted({*codes}))


def _wanted(name: str, asked: Any) -> Condition:
    if isinstance(asked, Bounds):
        return asked
    if isinstance(asked, Mapping):
        return _bounds(name, asked)
    many = isinstance(asked, Iterable) and not isinstance(asked, (str, bytes))
    codes = {_code(name, code) for code in (asked if many else [asked])}
    if not codes:
        raise InputError(f"where=: no code is given for column {name!r}, so no record would count")
    return tuple(sorted(codes))


def _code(name: str, asked: Any) -> str:
    code = str(asked).lower() if isinstance(asked, bool) else as_code(asked)
    if not code:
        raise InputError(
            f"where=: {asked!r} is no code for column {name!r}; give text or a whole number, "
            "several of them, or {'min': …, 'max': …}"
        )
    return code


def _bounds(name: str, asked: Mapping[Any, Any]) -> Bounds:
    strange = [key for key in asked if key not in ("min", "max")]
    low, high = (_number(name, asked.get(key)) for key in ("min", "max"))
    if strange or (low is None and high is None):
        raise InputError(
            f"where=: bounds of column {name!r} are {{'min': number, 'max': number}}, at least one "
            f"of them, not {dict(asked)!r}"
        )
    if low is not None and high is not None and low > high:
        raise InputError(f"where=: no number in column {name!r} is both ≥ {low:f} and ≤ {high:f}")
    return Bounds(low, high)


def _number(name: str, asked: Any) -> Decimal | None:
    if asked is None:
        return None
    try:
        number = Decimal("NaN") if isinstance(asked, bool) else Decimal(str(asked))
    except InvalidOperation:
        number = Decimal("NaN")
    fits = number.is_finite() and abs(number) < _TOO_LARGE
    if not fits or (Fraction(number) * 10**_DECIMALS).denominator > 1:
        raise InputError(
            f"where=: the bound {asked!r} of column {name!r} is no number below 10^20 with at most "
            f"{_DECIMALS} decimals"
        )
    return Decimal(f"{number.normalize(_PRECISE):f}")  # 10.0 and 1E+1 are written 10
