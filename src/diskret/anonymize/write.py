"""Released microdata to files, all or nothing: public and internal apart, and what reports tell."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from diskret.anonymize.data import Microdata
from diskret.anonymize.missing_codes import codes_there, missing, valued
from diskret.anonymize.risk import summary_of
from diskret.anonymize.verb import VERBS
from diskret.attack.microdata.said import why_missing
from diskret.errors import InputError
from diskret.io import to_arrow
from diskret.io.kinds import is_number
from diskret.keys import SecretKeys
from diskret.publish.contract import Look, Records, Release, software
from diskret.publish.formats.data_files import write_columns_parquet
from diskret.publish.formats.statistical import STATISTICAL, codes_to_write
from diskret.publish.json_files import write_json
from diskret.publish.office.microdata import claim_as_json, controlled_cells, record_marks
from diskret.publish.pages.microdata import (
    write_internal_microdata_report,
    write_public_microdata_report,
)
from diskret.publish.pages.microdata_outline import (
    Family,
    InsideOutline,
    Outline,
    StepNote,
    variable,
)
from diskret.publish.script import FORMAT as SCRIPT
from diskret.publish.write import check_look, write_releases
from diskret.risk.summary import riskiest
from diskret.texts import Statement

if TYPE_CHECKING:
    from diskret.anonymize.result import MicrodataResult

FORMATS = ("csv", "parquet", "html")
_MOVED = ("exchanged", "randomised", "replaced")  # values of a record are not its own any more


def write(
    result: MicrodataResult,
    folder: str | PathLike[str],
    formats: Iterable[str] = FORMATS,
    *,
    language: str = "en",
    title: str | None = None,
    keys: SecretKeys | str | PathLike[str] | None = None,
    neutralise: bool = False,
) -> Path:
    """Write released microdata; see `MicrodataResult.write`."""
    chosen = (formats,) if isinstance(formats, str) else tuple(formats)
    check_look(chosen, (*FORMATS, *STATISTICAL, SCRIPT), language)
    if not {"csv", "parquet"} & set(chosen):
        raise InputError("formats= must name 'csv' or 'parquet': the records have to be somewhere")
    titles = {} if title is None else {result.name: title}
    look = Look(chosen, language, neutralise=neutralise, titles=titles)
    secret = SecretKeys.load(result.keys if keys is None else keys)
    return write_releases([release_of(result, secret, chosen)], folder, look, secret)


def release_of(
    result: MicrodataResult, keys: SecretKeys, formats: Sequence[str] = FORMATS
) -> Release:
    """What is written of released microdata."""
    records = Records(
        result.name, result.table, result.microdata.book, missing=missing_codes(result)
    )
    certificate = result.certificate
    told = _why_missing(records, formats)
    certificate = replace(certificate, not_claimed=(*certificate.not_claimed, *told))
    return Release(
        public=records,
        certificate={**certificate.public(), **records.outline},
        inputs=record_marks(keys, result.microdata.whole.table, result.table, result.kept()),
        page=partial(write_public_microdata_report, outline(result)),
        internal=partial(_write_internal, result),
    )


def missing_codes(result: MicrodataResult) -> dict[str, pa.ChunkedArray]:
    """Why values of numeric variables are missing, as their file said; null where it did not.

    Not of variables whose values were exchanged between records or drawn anew, and not where there
    is a value now: that these values were missing is then what was protected.
    """
    md, found = result.microdata, dict[str, pa.ChunkedArray]()
    if not md.linked:
        return found
    moved = {
        name
        for step in md.history
        if step.verb in VERBS and VERBS[step.verb][1] in _MOVED
        for name in step.columns
    }
    for name, reasons in md.reasons.items():
        if name not in result.table.column_names or name in moved:
            continue
        values = result.table.column(name)
        if is_number(values.type):
            taken = reasons.take(pa.array(result.order))
            found[name] = pc.if_else(pc.is_null(values), taken, None)
    return found


def _why_missing(records: Records, formats: Sequence[str]) -> list[Statement]:
    """What readers of some formats learn beyond those of others: why a number is missing."""
    told: dict[str, list[str]] = {}
    for suffix in (one for one in STATISTICAL if one in formats):
        path = Path(f"{records.name}.{suffix}")
        for name in codes_to_write(records.table, records.book, records.missing, path):
            told.setdefault(name, []).append(f".{suffix}")
    files = list(dict.fromkeys(one for some in told.values() for one in some))
    if not told:
        return []
    return [why_missing(list(told), files)]


# ── what the office keeps ───────────────────────────────────────────────────────────


def _write_internal(
    result: MicrodataResult, folder: Path, look: Look, certificate: Mapping[str, Any]
) -> None:
    name = result.name
    _write_certificate(result, folder)
    if result.microdata.linked:
        _write_link(result, folder / f"{name}.link.parquet")
    else:
        write_columns_parquet(
            controlled_cells(result.controlled), folder / f"{name}.controlled.parquet"
        )
    write_json(settings(result), folder / f"{name}.settings.json")
    if "html" in look.formats:
        both = {**certificate, "checked": result.certificate.internal()["checked"]}
        write_internal_microdata_report(
            outline(result),
            inside_outline(result),
            both,
            folder / f"{name}.report.html",
            title=look.titles.get(name),
            language=look.language,
        )


def _write_link(result: MicrodataResult, path: Path) -> None:
    link, _ = to_arrow(result.link)
    inside = result.inside.columns()
    for column in ("weight", "household"):
        if column in inside.column_names:
            link = link.append_column(column, inside.column(column))
    write_columns_parquet(link, path)


def _write_certificate(result: MicrodataResult, folder: Path) -> None:
    md = result.microdata
    keys = [key for key in md.roles.keys if key in result.table.column_names]
    sensitive = [s for s in md.roles.sensitive if s in result.table.column_names]
    content_ = {
        **result.certificate.internal(),
        "keys": keys,
        "sensitive": sensitive,
        "orders": {name: list(values) for name, values in md.roles.orders.items()},
        "means_missing": codes_there(md, result.table),
        "claims_made": [claim_as_json(claim) for claim in result.claims],
        "households_drawn_whole": md.drawn is not None and md.drawn.together is not None,
        "software": software(),
    }
    write_json(_plain(content_), folder / f"{result.name}.certificate.json")


def settings(result: MicrodataResult) -> dict[str, Any]:
    """What was done, step by step, and how it was released. JSON-ready, confidential."""
    md = result.microdata
    return _plain(
        {
            "roles": {role: list(names) for role, names in md.roles.by_role().items()},
            "history": [
                {"verb": step.verb, "arguments": step.arguments, "found": step.found}
                for step in md.history
            ],
            "release": result.arguments,
            "software": software(),
        }
    )


def _plain(value: Any) -> Any:
    """Settings as JSON knows them: dates as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}  # pyright: ignore
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(inner) for inner in value]  # pyright: ignore
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if abs(value) != float("inf") and value == value else str(value)
    return value.item() if hasattr(value, "item") else str(value)


def outline(result: MicrodataResult) -> Outline:
    """What any reader may know: the released columns, and what kind of methods protected them.

    Nothing is said that the released values do not tell anyway, but for the kind of methods.
    """
    table = result.table
    md = result.microdata
    variables = tuple(
        variable(name, values, missing(md, name, pc.unique(values).drop_null()))
        for name, values in zip(table.column_names, table.columns, strict=True)
    )
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
    before = md.original.table_column(name)
    if name in md.reasons:  # a column of numbers, at the latest by now
        before = valued(md.original, name)
    return md.table_column(name).null_count > before.null_count


def inside_outline(result: MicrodataResult) -> InsideOutline:
    """What the office wants to see: risk before and after, every step, what was lost."""
    md = result.microdata
    names = tuple(key for key in md.roles.keys if key in result.table.column_names)
    after = summary_of(md, names)
    was = md.original.table.column_names
    before = summary_of(md.whole, names) if all(name in was for name in names) else None
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


def _counts(values: pa.ChunkedArray) -> tuple[int, int]:
    """Number of distinct values, and of missing ones."""
    return len(pc.unique(values).drop_null()), values.null_count
