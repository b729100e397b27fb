"""What each column of microdata is for."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from narwhals import dependencies as known

from diskret.errors import InputError
from diskret.io.categories import Orders, order_given
from diskret.io.columns import looked_for, once, some
from diskret.io.frames import inconvertible
from diskret.io.record_errors import RecordError
from diskret.risk.keys import check_keys

#: Roles that exclude each other, but for a number that somebody may know and others must not learn.
_EXCLUSIVE = ("identifiers", "keys", "numeric", "sensitive", "weight", "household", "id")


@dataclass(frozen=True)
class Roles:
    """Names of columns by role; a column without any is not looked at and not released.

    Parameters
    ----------
    keys
        Categorical variables an attacker may know of a person: age, region, occupation.
    numeric
        Numeric variables an attacker may know.
    weight
        Sampling weight: how many persons of the population a record stands for.
    household
        Whose members are recognised together.
    sensitive
        What an attacker must not learn.
    strata
        Groups that are protected apart.
    id
        Number of a record; replaced before a release.
    identifiers
        Direct identifiers (names, addresses, insurance numbers); never released.
    followers
        Key → columns that tell the same in more detail, and lose their value where it does.
    orders
        Column → its values from the lowest to the highest; no role, and no permission to release.
    """

    keys: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    weight: str | None = None
    household: str | None = None
    sensitive: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()
    id: str | None = None
    identifiers: tuple[str, ...] = ()
    followers: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    orders: Orders = field(default_factory=dict[str, tuple[Any, ...]])

    def by_role(self) -> dict[str, tuple[str, ...]]:
        """Role → its columns, for every role that has any."""
        return {
            role: columns
            for role in (*_EXCLUSIVE, "strata", "followers")
            if (columns := self.columns(role))
        }

    def columns(self, role: str) -> tuple[str, ...]:
        """The columns of one role."""
        if role == "followers":
            return tuple(name for names in self.followers.values() for name in names)
        given: str | tuple[str, ...] | None = getattr(self, role)
        if given is None:
            return ()
        return (given,) if isinstance(given, str) else given

    def arguments(self) -> dict[str, Any]:
        """The roles as [`Microdata`][diskret.Microdata] takes them, as far as there are any."""
        named = {
            role: (list(given) if isinstance(given, tuple) else given)
            for role in (*_EXCLUSIVE, "strata")
            if (given := getattr(self, role))
        }
        if self.followers:
            named["followers"] = {key: list(names) for key, names in self.followers.items()}
        if self.orders:
            named["orders"] = {name: list(values) for name, values in self.orders.items()}
        return named

    def without(self, names: Iterable[str]) -> Roles:
        """The roles when these columns are gone."""
        gone = set(names)

        def kept(columns: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(name for name in columns if name not in gone)

        def one(name: str | None) -> str | None:
            return None if name in gone else name

        return replace(
            self,
            keys=kept(self.keys),
            numeric=kept(self.numeric),
            weight=one(self.weight),
            household=one(self.household),
            sensitive=kept(self.sensitive),
            strata=kept(self.strata),
            id=one(self.id),
            identifiers=kept(self.identifiers),
            followers={
                key: left
                for key, names in self.followers.items()
                if key not in gone and (left := kept(names))
            },
            orders={name: order for name, order in self.orders.items() if name not in gone},
        )


def roles(
    columns: Sequence[str],
    *,
    keys: Iterable[str],
    numeric: Iterable[str],
    weight: str | None,
    household: str | None,
    sensitive: Iterable[str],
    strata: Iterable[str],
    id: str | None,  # noqa: A002
    identifiers: Iterable[str],
    followers: Mapping[str, Iterable[str]],
    orders: Mapping[str, Any],
) -> Roles:
    """Check what a caller says of the columns."""
    made = Roles(
        keys=once(keys, "keys"),
        numeric=once(numeric, "numeric"),
        weight=weight,
        household=household,
        sensitive=once(sensitive, "sensitive"),
        strata=once(strata, "strata"),
        id=id,
        identifiers=once(identifiers, "identifiers"),
        followers={key: once(names, f"followers of {key!r}") for key, names in followers.items()},
        orders={name: order_given(name, values) for name, values in orders.items()},
    )
    for role, named in {**made.by_role(), "orders": tuple(made.orders)}.items():
        unknown = [name for name in named if name not in columns]
        if unknown:
            raise _not_there(role, unknown, columns)
    for first, second in combinations(_EXCLUSIVE, 2):
        if (first, second) == ("numeric", "sensitive"):
            continue
        both = [name for name in made.columns(first) if name in made.columns(second)]
        if both:
            raise InputError(
                f"{some('column', both)} cannot be in {first}= and in {second}= at the same time; "
                "name it once"
            )
    check_keys(made.followers, made.keys, "followers")
    return made


def usable(frame: Any, roles: Iterable[str | Iterable[str | None] | None]) -> Any:
    """The frame without columns that cannot be read and have no role, with a warning.

    A column with a role, or of another kind of frame, is left to whoever reads it and says
    what is wrong.
    """
    if not known.is_pandas_dataframe(frame):
        return frame
    needed = [name for one in roles for name in ((one,) if isinstance(one, str) else one or ())]
    left_out = inconvertible(frame, [name for name in needed if name is not None])
    if not left_out:
        return frame
    warnings.warn(
        f"{some('column', left_out)} holds values of several types and has no role, so it is left "
        "out; give it one type (for Stata files read_stata(convert_categoricals=False)) to use it",
        UserWarning,
        stacklevel=4,  # usable, Microdata, and what reads its arguments
    )
    return frame.drop(columns=left_out)


def _not_there(role: str, unknown: list[str], columns: Sequence[str]) -> RecordError:
    return RecordError(
        lambda place: (
            f"{role}= names {some('column', unknown)}, which the records do not have; they have "
            f"{', '.join(map(repr, columns))}{looked_for(unknown[0], columns, place)}"
        ),
        missing=unknown[0],
    )
