"""From protected microdata to what may leave: columns on a list, a new order, a certificate."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from diskret.anonymize.dp_noise import guarantees
from diskret.anonymize.leaving_records import (
    drawn_order,
    household_numbers,
    leaving,
    record_numbers,
)
from diskret.anonymize.levels import Level, claims_of
from diskret.anonymize.release_safe import release_safe
from diskret.anonymize.result import MicrodataResult, inside_of
from diskret.anonymize.who_lives_together import Told, telling
from diskret.attack.microdata import MicrodataCertificate, certify
from diskret.attack.microdata.claims import Safe
from diskret.errors import InputError, ProofError
from diskret.io.columns import some
from diskret.keys import SecretKeys
from diskret.microdata.modelled_risk import models
from diskret.parameters import reading
from diskret.publish.office.microdata import Inside
from diskret.tables.public_files import check_file_name
from diskret.texts import Statement, sentence

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata
    from diskret.attack.microdata.claims import Claim

#: Roles whose columns are released unless others are asked for.
_OPEN = ("keys", "numeric", "sensitive", "strata")


@reading
def release(
    md: Microdata,
    claim: Claim | Safe | Iterable[Claim] | None = None,
    *,
    name: str = "microdata",
    level: Level | None = None,
    columns: str | Iterable[str] | None = None,
    attributes: str | Iterable[str] = (),
    weight: bool = True,
    household: bool = False,
    id: bool = False,  # noqa: A002
    shuffle: bool = True,
    tells_household: str | Iterable[str] = (),
    keys: SecretKeys | str | PathLike[str] | None = None,
) -> MicrodataResult:
    """Put together what may leave, and prove what is claimed of it.

    Parameters
    ----------
    md
        The protected microdata.
    claim
        What has to hold of the released records, e.g. ``dk.claims.KAnonymity(3)``, or several
        claims. Each is checked on the very values that leave, in code that knows nothing of the
        methods that made them. For records that were replaced by a safe file:
        ``dk.claims.Safe()``, alone; then all variables leave, and there is no link to the original.
    name
        Name of the file, and stem of its files.
    level
        ``"formal"``, ``"factual"`` or ``"absolute"``: claim what is usual at this level of
        anonymity, in addition to `claim`; see
        [`checklist`][diskret.anonymize.checklist.checklist].
    columns
        Variables to release, in this order; None: all keys, numeric and sensitive variables and
        strata, in the order of the file. A follower leaves only if it is named.
    attributes
        Columns without a role that are released on purpose.
    weight
        Whether the weights are released.
    household, id
        Whether numbers of households and records are released: new ones, drawn with the office's
        keys. The numbers in the file never leave.
    shuffle
        Whether the records come in a new order, drawn with the office's keys: the order of a
        file tells who was asked after whom. The same records come in the same new order,
        whatever order they had before; of records that agree in every released variable, the
        earlier comes first.
    tells_household
        Columns that are released although they tell who lives together: those the members of a
        household share and no other household has, such as its weight, or several that tell it
        together. Others are refused unless household numbers are released, too.
    keys
        The office's keys; see [`SecretKeys`][diskret.SecretKeys].

    Raises
    ------
    InputError
        Nothing is claimed; a column is missing, or must not or cannot be released, or tells who
        lives together.
    ProofError
        A claim does not hold; says how many records fail it, and what to do.

    Examples
    --------
    >>> import diskret as dk
    >>> persons = pa.table({"name": ["A", "B", "C"], "job": ["baker", "baker", "baker"]})
    >>> md = dk.Microdata(persons, keys=["job"], identifiers=["name"])
    >>> released = release(md, dk.claims.KAnonymity(3), keys=dk.SecretKeys(bytes(range(32))))
    >>> released.public.column_names
    ['job']
    """
    check_file_name(name)
    secret = SecretKeys.load(keys)
    asked, allowed = _asked(claim), tuple(tells_household)
    if not md.linked or any(isinstance(one, Safe) for one in asked):
        options = {
            "level": level is not None,
            "columns": columns is not None,
            "attributes": bool(attributes),
            "household": household,
            "id": id,
            "shuffle": not shuffle,
            "tells_household": bool(allowed),
        }
        return release_safe(md, asked, name, secret, [one for one, used in options.items() if used])
    chosen = _chosen(md, columns, tuple(attributes), weight)
    claims = _claims(md, asked, level, chosen)
    together = () if household else telling(md, chosen)
    _refuse_telling(md, together, allowed)
    table = leaving(md, chosen)
    order, draw = drawn_order(secret, name, table)
    order = order if shuffle else np.arange(md.n)
    table = table.take(pa.array(order)).combine_chunks()
    table = _numbered(md, table, order, draw, household=household, id=id)
    names = tuple(key for key in md.roles.keys if key in chosen)
    inside = inside_of(md, order)
    certificate = _certified(md, name, table, inside, names, claims)
    certificate = replace(
        certificate,
        checked=(*certificate.checked, *guarantees(md)),
        not_claimed=(
            *certificate.not_claimed,
            *_reservations(md, chosen, names, household=household, shuffle=shuffle),
            *(_lives_together(one.name) for one in together),
        ),
    )
    arguments = {
        "level": level,
        "columns": list(chosen),
        "weight": weight,
        "household": household,
        "id": id,
        "shuffle": shuffle,
        "tells_household": list(allowed),
    }
    return MicrodataResult(name, md, table, order, claims, certificate, arguments, secret)


def _certified(
    md: Microdata,
    name: str,
    table: pa.Table,
    inside: Inside,
    names: Sequence[str],
    claims: Sequence[Claim],
) -> MicrodataCertificate:
    def certified(records: pa.Table, about: Inside) -> MicrodataCertificate:
        return certify(
            name,
            records,
            names,
            claims,
            weight=about.weight,
            household=about.household,
            original=md.original.table,
            sensitive=[one for one in md.roles.sensitive if one in table.column_names],
            numeric=[one for one in md.roles.numeric if one in table.column_names],
            identifiers=md.original.roles.identifiers,
            orders=md.roles.orders,
            models=models(records, names, about.weight, claims),
        )

    try:
        return certified(table, inside)
    except ProofError:
        # the office looks for the rows in its own file, so they are named in that order
        back = pa.array(np.argsort(inside.row))
        certified(table.take(back), inside_of(md, np.arange(md.n)))
        raise


def _asked(claim: Any) -> tuple[Any, ...]:
    if claim is None:
        return ()
    return tuple(claim) if isinstance(claim, Iterable) else (claim,)


def _claims(
    md: Microdata, given: tuple[Claim, ...], level: Level | None, chosen: Sequence[str]
) -> tuple[Claim, ...]:
    if level is not None:
        sensitive = any(name in chosen for name in md.roles.sensitive)
        given += tuple(one for one in claims_of(level, sensitive) if one not in given)
    if not given:
        raise InputError(
            "nothing is claimed of the release; say what has to hold, e.g. "
            "md.release(dk.claims.KAnonymity(3)), or name a level of anonymity, e.g. "
            'md.release(level="factual")'
        )
    return given


# ── which columns ───────────────────────────────────────────────────────────────────


def _chosen(
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
    twice = [name for at, name in enumerate(named) if name in named[:at]]
    if twice:
        raise InputError(f"columns= names {some('column', twice)} twice")
    if not named:
        raise InputError(
            "there is nothing to release: no column has a role that is released; name keys=, "
            "numeric= or sensitive= when you make the microdata, or columns= here"
        )
    return named


def _refuse_telling(md: Microdata, together: Sequence[Told], allowed: Sequence[str]) -> None:
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


def _lives_together(name: str) -> Statement:
    return sentence("microdata.household by values", name=name)


def _numbered(
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


# ── what is not claimed ─────────────────────────────────────────────────────────────


def _reservations(
    md: Microdata,
    chosen: Sequence[str],
    keys: Sequence[str],
    *,
    household: bool,
    shuffle: bool,
) -> list[Statement]:
    """What the choice of columns leaves open, for any reader."""
    found: list[Statement] = []
    roles = md.roles
    if roles.weight in chosen:
        found.append(sentence("microdata.weights released"))
    if household:
        found.append(sentence("microdata.household visible"))
    elif roles.household is not None:
        found.append(sentence("microdata.household looked for"))
    judged = {*keys, *roles.numeric, roles.weight}
    beside = [name for name in chosen if name not in judged]
    if beside:
        shown = ", ".join(beside)
        found.append(sentence("microdata.beside the keys", shown=shown))
    if not shuffle:
        found.append(sentence("microdata.original order"))
    return found
