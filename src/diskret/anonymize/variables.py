"""What verbs share: which variables and strata, which chance, and values as columns."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import hashlib
from collections.abc import Collection, Generator, Hashable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.anonymize.missing_codes import as_values
from diskret.errors import InputError
from diskret.io.columns import content, once, some
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


def chance(
    md: Microdata,
    verb: str,
    seed: int,
    of: Sequence[str],
    read: Iterable[str] | None = None,
    *,
    ordered: bool = True,
) -> np.random.Generator:
    """Random numbers of a call: of its own for each verb, variable, call and the values it reads.

    A seed is a small number that others may guess, and a job keeps it when its file is corrected
    or a year older. So draws follow from the values, too: nobody without them can draw again, and
    two files with different values do not share draws, which would fall out of their difference.

    Parameters
    ----------
    of
        The variables that draws are of.
    read
        The variables whose values they follow from; None: the same.
    ordered
        Whether they follow from the order of the records as well.
    """
    earlier = sum(step.verb == verb for step in md.history)
    named = "\0".join((verb, *of)).encode()
    columns = {name: as_values(md, name) for name in (of if read is None else read)}
    values = pa.table({name: _plain(one) for name, one in columns.items() if _is_value(one.type)})
    if not ordered and values.num_columns:
        keys = [(name, "ascending") for name in values.column_names]
        values = values.take(pc.sort_indices(values, sort_keys=keys))
    mark = hashlib.sha256()
    for name in values.column_names:
        one = values.select([name])
        fractions = pa.types.is_floating(one.schema.types[0])  # as text they would take long
        parts = (name.encode(), one[name].to_numpy().tobytes()) if fractions else content(one)
        for part in parts:
            mark.update(part)
    return np.random.default_rng([seed, earlier, *named, int(mark.hexdigest(), 16)])


def _is_value(kind: pa.DataType) -> bool:
    """Not lists and bytes, which may stand in a file, but no verb reads them."""
    bytes_ = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return not pa.types.is_nested(kind) and not any(one(kind) for one in bytes_)


def _plain(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values as text, fractions as float64: the same in every kind of frame."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_floating(values.type) or pa.types.is_decimal(values.type):
        found = values.cast(pa.float64()).to_numpy() + 0.0  # -0 is 0
        found[np.isnan(found)] = np.nan
        there = found[~np.isnan(found)]
        if not bool(((there == np.rint(there)) & (np.abs(there) < 2**53)).all()):
            return pa.chunked_array([pa.array(found)])
        values = pa.chunked_array([pa.array(found, from_pandas=True).cast(pa.int64())])
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("us", values.type.tz), safe=False)
        days = values.cast(pa.date32(), safe=False)
        if days.cast(values.type).equals(values):
            values = days
    return values.cast(pa.large_string())


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
