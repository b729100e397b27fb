"""What verbs share: which variables and strata, which chance, and values as columns."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Collection, Generator, Hashable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io.columns import once, some
from diskret.risk.keys import classes, grouped

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata


@dataclass(frozen=True, eq=False)
class Strata:
    """Records that are protected apart."""

    names: tuple[str, ...]  # variables that divide the records
    of: NDArray[np.intp]  # for each record its stratum, (n,); all 0 without strata
    values: tuple[tuple[Hashable | None, ...], ...]  # for each stratum the values of the variables

    def rows(self) -> list[NDArray[np.intp]]:
        """The records of each stratum, ascending."""
        if len(self.values) == 1:
            return [np.arange(len(self.of))]
        count = np.bincount(self.of, minlength=len(self.values))
        return np.split(np.argsort(self.of, kind="stable"), np.cumsum(count)[:-1])

    @contextmanager
    def named(self, number: int) -> Generator[None]:
        """What cannot be done in a stratum is told with its values."""
        try:
            yield
        except InputError as error:
            if not self.names:
                raise
            shown = zip(self.names, self.values[number], strict=True)
            where = ", ".join(f"{name} = {value!r}" for name, value in shown)
            raise InputError(
                f"stratum {where}: {error}; combine strata, or say strata=[]"
            ) from None


def chosen(md: Microdata, variables: Iterable[str] | None) -> tuple[str, ...]:
    """The variables that a verb changes; the numeric ones if none are named."""
    if variables is None:
        names = md.roles.numeric
        if not names:
            raise InputError(
                "no numeric variable is named; give numeric= when you make the microdata, or "
                "variables= here"
            )
        return names
    names = once(variables, "variables")
    if not names:
        raise InputError("variables= names no column")
    return names


def divided(md: Microdata, strata: Iterable[str] | None, used: Iterable[str]) -> Strata:
    """The strata of the microdata, or others; `used` are variables that cannot divide them."""
    names = md.roles.strata if strata is None else tuple(strata)
    check_divide(names, used)
    if not names:
        return Strata((), np.zeros(md.n, dtype=np.intp), ((),))
    columns = [md.coded(name) for name in names]
    found = classes([one.codes for one in columns], [len(one.categories) for one in columns])
    texts = [[*one.categories.to_pylist(), None] for one in columns]
    values = tuple(
        tuple(text[code] for text, code in zip(texts, row, strict=True))
        for row in found.codes.tolist()
    )
    return Strata(names, found.of, values)


def check_divide(strata: Collection[str], used: Iterable[str]) -> None:
    """Refuse variables that are used and divide the records as well."""
    both = [name for name in used if name in strata]
    if both:
        raise InputError(
            f"{some('column', both)} cannot be used here and divide the records into strata at "
            "the same time; name other strata="
        )


def chance(md: Microdata, verb: str, seed: int, of: Iterable[str]) -> np.random.Generator:
    """Random numbers of a call: of its own for each verb, each variable and each call."""
    earlier = sum(step.verb == verb for step in md.history)
    return np.random.default_rng([seed, earlier, *"\0".join((verb, *of)).encode()])


def floating(values: NDArray[np.float64]) -> pa.ChunkedArray:
    """Numbers as a column; NaN as missing."""
    return pa.chunked_array([pa.array(values, from_pandas=True)])


def moved(
    names: Sequence[str], before: NDArray[np.float64], after: NDArray[np.float64]
) -> dict[str, dict[str, int]]:
    """How many values of each variable changed, and how many are missing."""
    missing = np.isnan(before)
    changed = (after != before) & ~missing
    return {
        what: {name: int(np.count_nonzero(one)) for name, one in zip(names, where.T, strict=True)}
        for what, where in (("changed", changed), ("missing", missing))
    }


def likeness(before: NDArray[Any], after: NDArray[Any]) -> float | None:
    """Correlation of values before and after, where both are there; None if one is constant."""
    there = ~(np.isnan(before) | np.isnan(after))
    old, new = (before, after) if there.all() else (before[there], after[there])
    if len(old) < 2 or np.ptp(old) == 0 or np.ptp(new) == 0:
        return None
    old, new = old - old.mean(), new - new.mean()
    # not as products of vectors, whose threads cost more than they do
    both, first, second = (np.sum(a * b) for a, b in ((old, new), (old, old), (new, new)))
    return round(float(both / np.sqrt(first * second)), 6)


def named(names: str | Iterable[Any]) -> list[Any]:
    """A name, or several, as a list."""
    return [names] if isinstance(names, str) else list(names)


def profiles_of(similar: str | Iterable[Any]) -> list[list[str]]:
    """Lists of variables; plain names are one list."""
    listed = named(similar)
    if listed and all(isinstance(one, str) for one in listed):
        return [listed]
    return [named(one) for one in listed]


def with_followers(md: Microdata, names: Sequence[str]) -> list[str]:
    """The variables and those that tell the same in more detail."""
    further = [one for name in names for one in md.roles.followers.get(name, ())]
    return list(dict.fromkeys((*names, *further)))


def numbered(columns: Sequence[pa.ChunkedArray]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """A number for each combination of values, and the records in which none is missing."""
    codes: list[NDArray[np.int32]] = []
    sizes: list[int] = []
    for column in columns:
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), None, column)
        encoded = column.combine_chunks().dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        codes.append(pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False))
        sizes.append(len(encoded.dictionary))
    there = np.logical_and.reduce([one >= 0 for one in codes])
    return grouped(codes, sizes)[0], there
