"""What the reports on released microdata tell, in figures and general words."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from diskret.anonymize.data import Microdata
from diskret.anonymize.verb import VERBS
from diskret.errors import InputError
from diskret.publish.pages.microdata_outline import (
    Family,
    InsideOutline,
    Outline,
    StepNote,
    variable,
)
from diskret.risk.summary import RiskSummary, riskiest, summary

if TYPE_CHECKING:
    from diskret.anonymize.result import MicrodataResult


def outline(result: MicrodataResult) -> Outline:
    """What any reader may know: the released columns, and what kind of methods protected them.

    Nothing is said that the released values do not tell anyway, but for the kind of methods.
    """
    table = result.table
    variables = tuple(variable(name, table.column(name)) for name in table.column_names)
    families: dict[Family, dict[str, None]] = {}
    released = set(table.column_names)
    for step in result.microdata.history:
        family = VERBS[step.verb][1] or "changed" if step.verb in VERBS else "changed"
        for name in step.columns if family != "suppressed" else ():
            if name in released:
                families.setdefault(family, {})[name] = None
    gaps = {name: None for name in table.column_names if _more_gaps(result.microdata, name)}
    if gaps:
        families["suppressed"] = gaps
    return Outline(
        name=result.name,
        records=table.num_rows,
        variables=variables,
        families={family: tuple(names) for family, names in families.items()},
        weight=result.microdata.roles.weight in released,
        shuffled=bool(result.arguments["shuffle"]),
    )


def _more_gaps(md: Microdata, name: str) -> bool:
    """Whether values of a column were suppressed, by whatever method."""
    if not md.linked or name not in md.changed or name not in md.original.table.column_names:
        return False
    return md.table_column(name).null_count > md.original.table_column(name).null_count


def inside_outline(result: MicrodataResult) -> InsideOutline:
    """What the office wants to see: risk before and after, every step, what was lost."""
    md = result.microdata
    names = tuple(key for key in md.roles.keys if key in result.table.column_names)
    after = figures(md, names)
    was = md.original.table.column_names
    before = figures(md.original, names) if all(name in was for name in names) else None
    changes = {
        name: (_counts(md.original.table.column(name)), _counts(md.table_column(name)))
        for name in result.table.column_names
        if name in md.changed and name in was
    }
    return InsideOutline(
        keys=names,
        weighted=md.roles.weight is not None,
        before=before,
        after=after,
        steps=tuple(
            StepNote(step.verb, dict(step.arguments), dict(step.found)) for step in md.history
        ),
        changes=changes,
        riskiest=() if after is None else riskiest(md.keys(names), after),
        roles={role: tuple(columns) for role, columns in md.roles.by_role().items()},
        release=result.arguments,
        deviations=result.deviations,
    )


def figures(md: Microdata, names: Sequence[str]) -> RiskSummary | None:
    """The risk of microdata by some keys; None where they cannot be keys, or there are none."""
    if not names:
        return None
    try:
        keys = md.keys(names)
    except InputError:  # numbers with decimals, which were recoded later
        return None
    named = md.roles.household
    return summary(keys, md.weights(), None if named is None else md.coded(named))


def _counts(values: pa.ChunkedArray) -> tuple[int, int]:
    """Number of distinct values, and of missing ones."""
    return len(pc.unique(values).drop_null()), values.null_count
