"""Which columns leave, as a file can hold them, in a secret order and with new numbers."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.anonymize.households import Told
from diskret.errors import InputError
from diskret.io import Coded
from diskret.io.columns import content, once, some
from diskret.io.kinds import is_number, is_text
from diskret.keys import SecretKeys

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

#: Roles whose columns are released unless others are asked for.
_OPEN = ("keys", "numeric", "sensitive", "strata")


# ── which columns ───────────────────────────────────────────────────────────────────


def chosen_columns(
    md: Microdata, columns: Iterable[str] | None, attributes: tuple[str, ...], weight: bool
) -> tuple[str, ...]:
    """Variables to release, without numbers of records and households."""
    roles, there = md.roles, md.table.column_names
    by_role = roles.by_role()
    if columns is None:
        wanted = {name for role in _OPEN for name in roles.columns(role)}
        wanted |= {roles.weight} if weight and roles.weight is not None else set()
        named = tuple(name for name in there if name in wanted)
    else:
        named = tuple(columns)
        if weight and roles.weight is not None and roles.weight not in named:
            named = (*named, roles.weight)
    named += tuple(name for name in attributes if name not in named)
    unknown = [name for name in named if name not in there]
    if unknown:
        raise InputError(
            f"{some('column', unknown)} cannot be released, because the records do not have it; "
            f"they have {', '.join(map(repr, there))}"
        )
    direct = [name for name in named if name in roles.identifiers]
    if direct:
        raise InputError(
            f"{some('column', direct)} identifies persons directly and is never released; leave "
            "it out"
        )
    for role, instead in (("id", "id=True"), ("household", "household=True")):
        if getattr(roles, role) in named:
            raise InputError(
                f"{getattr(roles, role)!r} holds the office's own numbers, which never leave; "
                f"{instead} releases new ones in their place"
            )
    if not weight and roles.weight in named:
        raise InputError(f"{roles.weight!r} is named, but weight=False leaves it out; say which")
    with_role = {name for names in by_role.values() for name in names}
    without = [name for name in named if name not in with_role and name not in attributes]
    if without:
        raise InputError(
            f"{some('column', without)} has no role, so nobody has said what an attacker may do "
            "with it; name it in keys=, numeric= or sensitive= of the microdata, or release it on "
            "purpose with attributes="
        )
    once(named, "columns")
    if not named:
        raise InputError(
            "there is nothing to release: no column has a role that is released; name keys=, "
            "numeric= or sensitive= when you make the microdata, or columns= here"
        )
    return named


def refuse_followers(md: Microdata, chosen: Sequence[str]) -> None:
    """Refuse columns that follow a key and still tell what it was before a step changed it."""
    for key, names in md.roles.followers.items():
        for name in names:
            own = {step.verb for step in md.history if name in step.columns}
            verbs = [step.verb for step in md.history if key in step.columns]
            left = [verb for verb in verbs if verb not in own]
            if left and name in chosen:
                raise InputError(
                    f"{name!r} follows {key!r}, which {left[0]}() changed, and still tells its "
                    "values before that; leave it out, or change it in the same way"
                )


def refuse_telling(md: Microdata, together: Sequence[Told], allowed: Sequence[str]) -> None:
    """Refuse columns that tell who lives together, unless they may."""
    for one in together:
        if {*one.names} <= {*allowed}:
            continue
        if len(one.names) > 1:
            listed = ", ".join(map(repr, one.names))
            raise InputError(
                f"{listed} together tell who lives together: in {one.households:,} of "
                f"{one.several:,} households with several members they share values that nobody "
                "else has. Round one of them, give neighbouring records their mean, leave one out, "
                f"or say tells_household=[{listed}] or household=True"
            )
        way = "width=…" if one.name == md.roles.weight else "breaks=…"
        raise InputError(
            f"{one.name!r} tells who lives together: in {one.households:,} of {one.several:,} "
            f"households with several members they share a value that nobody else has. Round it "
            f"(md.recode({one.name!r}, {way})), give neighbouring records their mean, which keeps "
            f"totals (md.microaggregate([{one.name!r}], method='individual', k=…)), leave it out"
            f"{' (weight=False)' if one.name == md.roles.weight else ''}, or say "
            f"tells_household=[{one.name!r}] or household=True"
        )


# ── as a file can hold them ──────────────────────────────────────────────────────────────


def leaving(md: Microdata, names: Sequence[str]) -> pa.Table:
    """The columns, with null for every missing value."""
    columns: dict[str, pa.ChunkedArray] = {}
    odd: list[str] = []
    for name in names:
        values = md.table_column(name)
        if not _plain(values.type):
            odd.append(name)
        if pa.types.is_floating(values.type):
            values = pc.if_else(pc.is_nan(values), None, values)
        columns[name] = values
    if odd:
        raise InputError(
            f"{some('column', odd)} holds {md.table_column(odd[0]).type} values, which a file of "
            "records cannot hold; turn them into text, numbers or dates, or leave the column out"
        )
    return pa.table(columns)


def _plain(type_: pa.DataType) -> bool:
    types = pa.types
    number = is_number(type_) or types.is_decimal(type_)
    when = types.is_date(type_) or types.is_timestamp(type_) or types.is_time(type_)
    return number or is_text(type_) or when or types.is_boolean(type_)


def canonical(table: pa.Table) -> NDArray[np.intp]:
    """The rows in ascending order of all columns: the same whatever order they come in, ``(n,)``.

    Rows that agree in everything keep their order.
    """
    keys = [(name, "ascending") for name in table.column_names]
    return pc.sort_indices(table, sort_keys=keys).to_numpy().astype(np.intp)


def draws(keys: SecretKeys, name: str, table: pa.Table) -> np.random.Generator:
    """Random numbers that only the holder of the key can draw again, for these very records."""
    mark = keys.fingerprint(f"order of records: {name}", content(table))
    return np.random.Generator(np.random.PCG64(int(mark, 16)))


def drawn_order(
    keys: SecretKeys, name: str, table: pa.Table
) -> tuple[NDArray[np.intp], np.random.Generator]:
    """A secret order of these records, ``(n,)``, and the source of further draws about them.

    It does not depend on the order that they come in.
    """
    first = canonical(table)
    draw = draws(keys, name, table.take(pa.array(first)))
    return first[draw.permutation(table.num_rows)], draw


def record_numbers(n: int, draw: np.random.Generator) -> pa.Array:
    """New numbers of n records in random order, all with as many digits."""
    return pa.array(_numbers(n, draw))


def household_numbers(household: Coded, draw: np.random.Generator) -> pa.Array:
    """New numbers of households, drawn at random; members keep one number in common.

    Null where a record belongs to no household.
    """
    number = np.append(_numbers(len(household.categories), draw), 0)
    return pa.array(number[household.codes], mask=household.codes < 0)


def _numbers(n: int, draw: np.random.Generator) -> NDArray[np.int64]:
    return draw.permutation(n) + 10 ** len(str(n))


def with_new_numbers(
    md: Microdata,
    table: pa.Table,
    order: np.ndarray[Any, np.dtype[np.intp]],
    draw: np.random.Generator,
    *,
    household: bool,
    id: bool,  # noqa: A002
) -> pa.Table:
    """The released columns behind new numbers of records and households, if they are asked for."""
    roles = md.roles
    # drawn in any case, and in this order: one choice does not change the other's numbers
    numbers = record_numbers(md.n, draw)
    made: dict[str, Any] = {}
    if id:
        if roles.id is None:
            raise InputError("id=True needs id= when you make the microdata: no column is named")
        made[roles.id] = numbers
    if household:
        if roles.household is None:
            raise InputError(
                "household=True needs household= when you make the microdata: no column is named"
            )
        made[roles.household] = household_numbers(md.coded(roles.household), draw).take(
            pa.array(order)
        )
    columns = dict(zip(table.column_names, table.columns, strict=True))
    return pa.table({**made, **columns})
