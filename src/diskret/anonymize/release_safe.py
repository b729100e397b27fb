"""What leaves of records that were replaced: a safe file, proven against the controlled tables."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from diskret.anonymize.deviations import controlled_tables, original_records
from diskret.anonymize.leaving_records import drawn_order, leaving
from diskret.anonymize.result import MicrodataResult
from diskret.attack.microdata import certify_safe
from diskret.attack.microdata.claims import Safe
from diskret.errors import InputError
from diskret.keys import SecretKeys
from diskret.tables.counted import combined, counted_all
from diskret.tables.lists import variables

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata


def release_safe(
    md: Microdata,
    claims: Sequence[Any],
    name: str,
    keys: SecretKeys,
    options: Sequence[str] = (),
) -> MicrodataResult:
    """Put a safe file together, and prove that it is one.

    md: records that replace others.
    claims: one claim, `Safe`.
    name: of the file.
    options: names of options of a release that somebody used, and that are none of a safe file.
    """
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
