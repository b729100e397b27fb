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
from numpy.typing import NDArray

from diskret.anonymize.deviations import controlled_tables, original_records
from diskret.anonymize.dp_noise import guarantees
from diskret.anonymize.given_back import refuse_given_back
from diskret.anonymize.households import telling
from diskret.anonymize.leaving_records import (
    chosen_columns,
    drawn_order,
    leaving,
    refuse_followers,
    refuse_telling,
    with_new_numbers,
)
from diskret.anonymize.levels import Level, claims_of
from diskret.anonymize.missing_codes import codes_there
from diskret.anonymize.result import MicrodataResult, inside_of
from diskret.attack.microdata import MicrodataCertificate, certify, certify_safe
from diskret.attack.microdata.claims import Safe
from diskret.attack.microdata.said import Open, percent_drawn
from diskret.errors import InputError
from diskret.keys import SecretKeys
from diskret.microdata.modelled_risk import models
from diskret.parameters import reading
from diskret.tables.counted import combined, counted_all
from diskret.tables.lists import variables
from diskret.tables.public_files import check_file_name
from diskret.texts import Figure, Statement, sentence

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata
    from diskret.attack.microdata.claims import Claim


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
        strata, in the order of the file. A follower leaves only if it is named, and not with
        values that a step has taken from its key.
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
        lives together, or what another column was before a step changed it.
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
    chosen = chosen_columns(md, columns, tuple(attributes), weight)
    refuse_followers(md, chosen)
    refuse_given_back(md, chosen)
    claims = _claims(md, asked, level, chosen)
    together = () if household else telling(md, chosen)
    refuse_telling(md, together, allowed)
    table = leaving(md, chosen)
    order, draw = drawn_order(secret, name, table)
    order = order if shuffle else np.arange(md.n)
    table = table.take(pa.array(order)).combine_chunks()
    table = with_new_numbers(md, table, order, draw, household=household, id=id)
    names = tuple(key for key in md.roles.keys if key in chosen)
    left = _left_open(
        md, chosen, names, [one.name for one in together], household=household, shuffle=shuffle
    )
    certificate = _certified(md, name, table, order, names, claims, left)
    certificate = replace(
        certificate, checked=(*certificate.checked, *guarantees(md), *_sample_drawn(md))
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
    order: NDArray[np.intp],
    names: Sequence[str],
    claims: Sequence[Claim],
    left: Open,
) -> MicrodataCertificate:
    inside = inside_of(md, order)
    return certify(
        name,
        table,
        names,
        claims,
        weight=inside.weight,
        household=inside.household,
        original=md.original.table,
        sensitive=[one for one in md.roles.sensitive if one in table.column_names],
        identifiers=md.original.roles.identifiers,
        numbered=md.original.roles.columns("id"),
        orders=md.roles.orders,
        means_missing=codes_there(md, table),
        fit=lambda keys: models(keys, names, inside.weight, claims),
        together=md.drawn is not None and md.drawn.together is not None,
        left=left,
        rows=order,  # the office looks for them in its own file
    )


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


def _left_open(
    md: Microdata,
    chosen: Sequence[str],
    keys: Sequence[str],
    together: Sequence[str],
    *,
    household: bool,
    shuffle: bool,
) -> Open:
    """What the choice of columns leaves open, for any reader."""
    roles, drawn = md.roles, md.drawn
    judged = {*keys, *roles.numeric, roles.weight}
    known = "looked for" if roles.household is not None else ""
    return Open(
        numeric=any(name in chosen for name in roles.numeric),
        weights=roles.weight in chosen,
        household="visible" if household else known,
        beside=tuple(name for name in chosen if name not in judged),
        ordered=not shuffle,
        share="" if drawn is None else percent_drawn(drawn.share),
        whole=drawn is not None and drawn.together is not None,
        at_rates=drawn is not None and bool(drawn.chance.min() < drawn.chance.max()),
        together=tuple(together),
    )


def _sample_drawn(md: Microdata) -> tuple[Statement, ...]:
    """How the sample was drawn, for the office."""
    drawn = md.drawn
    if drawn is None:
        return ()
    return (
        sentence(
            "microdata.sample drawn",
            records=md.n,
            whole=drawn.whole.n,
            low=Figure(f"{drawn.chance.min():.4g}"),
            high=Figure(f"{drawn.chance.max():.4g}"),
            certain=int(drawn.certain.sum()),
        ),
    )


def release_safe(
    md: Microdata,
    claims: Sequence[Any],
    name: str,
    keys: SecretKeys,
    options: Sequence[str] = (),
) -> MicrodataResult:
    """Put a safe file together, and prove that it is one; `options` were named, and fit none."""
    if len(claims) != 1 or not isinstance(claims[0], Safe):
        raise InputError(
            "these records stand for nobody, so that claims about recognising somebody do not "
            "apply, and Safe stands alone: md.release(dk.claims.Safe(minimum=3)); "
            "Microdata.anonymity judges groups beforehand"
        )
    if md.linked:
        raise InputError(
            "Safe is claimed of files whose records were replaced, and these are still those of "
            "the original; protect them with md.safe first, or claim KAnonymity"
        )
    if options:
        raise InputError(
            f"{options[0]}= is no option of a safe file: all its variables leave, in an order that "
            "is drawn, and it has no numbers of records or households; leave it out"
        )
    claim = completed(md, claims[0])
    table = leaving(md, md.table.column_names)
    order, _ = drawn_order(keys, name, table)
    table = table.take(pa.array(order)).combine_chunks()
    before = combined(original_records(md), variables(claim.tables))
    counts = tuple(counted_all(before, claim.tables))
    certificate = certify_safe(
        name,
        table,
        claim,
        counts,
        records=md.original.table,
        identifiers=md.original.roles.identifiers,
    )
    arguments = {"shuffle": True}
    return MicrodataResult(name, md, table, order, (claim,), certificate, arguments, keys, counts)


def completed(md: Microdata, claim: Safe) -> Safe:
    """The claim with what the method controlled and had to keep, where it names neither."""
    tables: Any = controlled_tables(md) if claim.tables is None else claim.tables
    if tables is None:
        raise InputError(
            "nobody said which tables are controlled; name them, e.g. "
            "dk.claims.Safe(3, tables=[('region', 'age'), ('sex',)])"
        )
    return replace(claim, tables=tables, exact=_kept(md) if claim.exact is None else claim.exact)


def _kept(md: Microdata) -> list[Any]:
    """Tables and cells that SAFE had to keep exactly."""
    steps = [step for step in md.history if step.verb == "safe"]
    return list(steps[-1].found.get("exact", ())) if steps else []
