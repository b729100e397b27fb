"""What a parameter may be, said once, where it is taken; checked by one function for all.

A parameter says it in its annotation: ``k: Annotated[int, Whole(2)] = 3``, a `Literal`, ``bool``,
names of columns, or one of these or None. Verbs, rules, claims, job files read it there.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cache, wraps
from math import isinf, isnan
from numbers import Integral, Real
from sys import modules
from typing import (
    Annotated,
    Any,
    Literal,
    ParamSpec,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from diskret.errors import InputError

#: A parameter without a default.
REQUIRED: Any = inspect.Parameter.empty
_SHOWN = 80


class Kind(Protocol):
    """What values a parameter takes."""

    def read(self, value: Any) -> Any:
        """The value as it is used; a `ValueError` where it is not admissible."""
        ...

    @property
    def said(self) -> str:
        """What is admissible, to go behind "must be"."""
        ...


@dataclass(frozen=True)
class Whole:
    """A whole number from `low` to `high`."""

    low: int
    high: int | None = None

    def read(self, value: Any) -> int:
        """The number."""
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise ValueError
        whole = int(value)
        if whole < self.low or (self.high is not None and whole > self.high):
            raise ValueError
        return whole

    @property
    def said(self) -> str:
        """What is admissible."""
        if self.high is None:
            return f"a whole number from {self.low} upwards"
        return f"a whole number from {self.low} to {self.high}"


@dataclass(frozen=True)
class Number:
    """A finite number within the bounds that are given; infinite if `infinite`."""

    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    infinite: bool = False

    def read(self, value: Any) -> Any:
        """The number."""
        if isinstance(value, bool) or not isinstance(value, Real) or isnan(value):
            raise ValueError
        if isinf(value) and not self.infinite:
            raise ValueError
        if not self.within(value):
            raise ValueError
        return value

    def within(self, value: Any) -> bool:
        """Whether the bounds hold."""
        return (
            (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )

    @property
    def said(self) -> str:
        """What is admissible."""
        match self.low, self.above, self.high, self.below:
            case float() | int(), None, float() | int(), None:
                return f"a number from {self.low:g} to {self.high:g}"
            case float() | int(), None, None, float() | int():
                return f"a number from {self.low:g} to below {self.below:g}"
            case float() | int(), None, None, None:
                return f"a number from {self.low:g} upwards"
            case None, float() | int(), float() | int(), None:
                return f"a number above {self.above:g} and at most {self.high:g}"
            case None, float() | int(), None, float() | int():
                return f"a number above {self.above:g} and below {self.below:g}"
            case None, float() | int(), None, None:
                return f"a number above {self.above:g}"
            case _:
                return "a number"


@dataclass(frozen=True)
class Proportion(Number):
    """A share of something, which is easily given in percent by mistake."""

    above: float | None = 0
    high: float | None = 1

    @property
    def said(self) -> str:
        """What is admissible."""
        return f"{super().said}, such as 0.05 for 5 %"


@dataclass(frozen=True)
class Percent(Number):
    """A number of percent for which floating point will do."""

    above: float | None = 0

    @property
    def said(self) -> str:
        """What is admissible."""
        return "a percentage above 0"


@dataclass(frozen=True)
class AnyPercentage(Number):
    """A number of percent, also as text or a fraction: it may be a small one."""

    above: float | None = 0

    def read(self, value: Any) -> Any:
        """The percentage as it was given: it is computed with exactly."""
        if isinstance(value, bool):
            raise ValueError
        try:
            exact = Fraction(str(value))
        except ZeroDivisionError:
            raise ValueError from None
        if not self.within(exact):
            raise ValueError
        return value

    @property
    def said(self) -> str:
        """What is admissible."""
        return "a percentage above 0"


@dataclass(frozen=True)
class Percentage(AnyPercentage):
    """One that decides what is unsafe: below 1 it is a share, given by mistake."""

    low: float | None = 1
    above: float | None = None

    @property
    def said(self) -> str:
        """What is admissible."""
        if self.high is None:
            return f"a percentage from {self.low:g} upwards (5 for 5 %)"
        return f"a percentage from {self.low:g} to {self.high:g} (5 for 5 %)"


@dataclass(frozen=True)
class Choice:
    """One of some words."""

    words: tuple[Any, ...]

    def read(self, value: Any) -> Any:
        """The word."""
        if not isinstance(value, str) or value not in self.words:
            raise ValueError
        return value

    @property
    def said(self) -> str:
        """What is admissible."""
        *others, last = map(repr, self.words)
        return f"{', '.join(others)} or {last}" if others else last


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def read(self, value: Any) -> bool:
        """The truth value, also that of an array."""
        if not isinstance(value, bool) and type(value).__name__ not in ("bool", "bool_"):
            raise ValueError
        return bool(value)

    @property
    def said(self) -> str:
        """What is admissible."""
        return "True or False"


@dataclass(frozen=True)
class Text:
    """Text."""

    def read(self, value: Any) -> str:
        """The text."""
        if not isinstance(value, str):
            raise ValueError
        return value

    @property
    def said(self) -> str:
        """What is admissible."""
        return "text"


@dataclass(frozen=True)
class Function:
    """A function, which no file can give."""

    def read(self, value: Any) -> Any:
        """The function."""
        if not callable(value):
            raise ValueError
        return value

    @property
    def said(self) -> str:
        """What is admissible."""
        return "a function"


@dataclass(frozen=True)
class ColumnName(Text):
    """The name of a column, where other values are admissible, too."""

    @property
    def said(self) -> str:
        """What is admissible."""
        return "the name of a column"


@dataclass(frozen=True)
class Names:
    """Names of columns, as a list. `some`: at least one; `alone`: or the name of one."""

    some: bool = False
    alone: bool = True

    def read(self, value: Any) -> list[str]:
        """The names."""
        if not isinstance(value, Iterable) or isinstance(value, Mapping | bytes):
            raise ValueError
        if isinstance(value, str) and not self.alone:
            raise ValueError
        names = [value] if isinstance(value, str) else list(value)
        if not all(isinstance(name, str) for name in names) or (self.some and not names):
            raise ValueError
        return names

    @property
    def said(self) -> str:
        """What is admissible."""
        return "one or several names of columns" if self.alone else "a list of names of columns"


@dataclass(frozen=True)
class Several:
    """A list of values of one kind, at least one, or just so many."""

    each: Kind
    number: int | None = None

    def read(self, value: Any) -> list[Any]:
        """The values."""
        if not isinstance(value, Iterable) or isinstance(value, Mapping | str | bytes):
            raise ValueError
        values = [self.each.read(one) for one in value]
        if not values or self.number not in (None, len(values)):
            raise ValueError
        return values

    @property
    def said(self) -> str:
        """What is admissible."""
        if self.number is not None:
            return f"{self.number} values, each {self.each.said}"
        return f"a list of values, each {self.each.said}"


@dataclass(frozen=True)
class ByName:
    """A mapping from names to values of one kind."""

    each: Kind

    def read(self, value: Any) -> dict[str, Any]:
        """The mapping."""
        if not isinstance(value, Mapping):
            raise ValueError
        return {str(name): self.each.read(one) for name, one in value.items()}

    @property
    def said(self) -> str:
        """What is admissible."""
        return self.each.said


_SEVERAL = Names(alone=False)

# Parameters that many take.
Seed = Annotated[int, Whole(0)]
Share = Annotated[float, Number(above=0, high=1)]
Probability = Annotated[float, Number(low=0, high=1)]
Positive = Annotated[float, Number(above=0)]
Column = Annotated[str, ColumnName()]

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Parameter:
    """What is known of one parameter.

    `kinds` holds alternatives, nothing where values are not judged; `optional`: or None.
    `anything`: a value is not even looked at.
    """

    name: str
    kinds: tuple[Kind, ...]
    optional: bool
    default: Any
    anything: bool = False

    @property
    def said(self) -> str:
        """What is admissible."""
        return " or ".join(dict.fromkeys(one.said for one in self.kinds))

    def read(self, value: Any) -> Any:
        """The value as it is used; a `ValueError` where it is not admissible."""
        if isinstance(value, Iterator) and not self.anything:  # a stream of records stays one
            value = list(value)
        if not self.kinds or (value is None and self.optional):
            return value
        for kind in self.kinds:
            try:
                return kind.read(value)
            except (ValueError, TypeError):
                continue
        raise ValueError


def checked(target: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a function or dataclass as it uses them: iterators and names as lists.

    Raises
    ------
    InputError
        One is not admissible; the message names it and what is.
    """
    declared = parameters(target)
    made: dict[str, Any] = {}
    for name, value in arguments.items():
        try:
            made[name] = declared[name].read(value) if name in declared else value
        except ValueError:
            raise _unfit(declared[name], value) from None
    return made


def _unfit(parameter: Parameter, value: Any) -> InputError:
    for kind in parameter.kinds:
        if isinstance(kind, Function) and isinstance(value, str) and "." in value:
            return InputError(  # a step of a history names the function, and does not hold it
                f"{parameter.name}={value!r} was a function when this was done; hand the function "
                "over again"
            )
        if isinstance(kind, ByName) and isinstance(value, Mapping):
            for name, one in value.items():
                try:
                    kind.each.read(one)
                except (ValueError, TypeError):
                    return InputError(
                        f"{parameter.name}= must be {kind.said}, not {shortly(one)} for {name!r}"
                    )
    return InputError(f"{parameter.name}= must be {parameter.said}, not {shortly(value)}")


def reading(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose arguments are `checked` before it begins."""
    signature = inspect.signature(function)

    @wraps(function)
    def read(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            return function(*args, **kwargs)  # which says what is missing, or too much
        return function(**checked(function, given))  # pyright: ignore[reportCallIssue]

    return read


class Declared:
    """A frozen dataclass that checks its fields when it is made, and keeps what was read."""

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in parameters(type(self))}
        for name, read in checked(type(self), given).items():
            if read is not given[name]:
                object.__setattr__(self, name, tuple(read) if isinstance(read, list) else read)


@cache
def parameters(target: Callable[..., Any]) -> Mapping[str, Parameter]:
    """What is known of each parameter of a function or dataclass, in their order."""
    names = _Names(vars(modules[target.__module__]))
    if is_dataclass(target):
        found = [
            (one.name, one.type, _default(one))
            for one in fields(target)
            if one.init and not one.name.startswith("_")
        ]
    else:
        function = inspect.unwrap(target)
        names = _Names(vars(modules[function.__module__]))
        found = [
            (one.name, one.annotation, one.default)
            for one in inspect.signature(function).parameters.values()
        ]
    return {name: _parameter(name, _known(said, names), default) for name, said, default in found}


class _Names(dict[str, Any]):
    """The names of a module; those that it imports for type checkers only mean anything."""

    def __missing__(self, name: str) -> Any:
        builtins = self["__builtins__"]
        return (builtins if isinstance(builtins, dict) else vars(builtins)).get(name, Any)


def _known(annotation: Any, names: _Names) -> Any:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, {}, names)  # noqa: S307 - the package's own annotations
    except TypeError:  # a name for type checkers with parameters of its own
        return Any


def _default(field: Any) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return REQUIRED if field.default is MISSING else field.default


def _parameter(name: str, annotation: Any, default: Any) -> Parameter:
    union = get_origin(annotation) in (Union, types.UnionType)
    members = get_args(annotation) if union else (annotation,)
    kinds = [_kind(one) for one in members if one is not type(None)]
    known = tuple(dict.fromkeys(one for one in kinds if one is not None))
    if {Text(), _SEVERAL} <= {*known}:  # a name or several
        known = (Names(), *(one for one in known if one not in (Text(), _SEVERAL)))
    complete = all(kind is not None for kind in kinds)
    optional = type(None) in members
    return Parameter(name, known if complete else (), optional, default, annotation is Any)


def _kind(annotation: Any) -> Kind | None:
    """What an annotation says, None where that is not enough to judge a value."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return next((one for one in inner[1:] if hasattr(one, "said")), None)
    if origin is Literal:
        return Choice(inner)
    if origin is Callable:
        return Function()
    if origin is Mapping:
        each = _kind(inner[1])
        return None if each is None else ByName(each)
    if origin in (Iterable, Sequence) and inner == (str,):
        return _SEVERAL
    return {bool: Flag(), str: Text()}.get(annotation)


def shortly(value: Any) -> str:
    """A value as messages show it, cut off where it is long."""
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
