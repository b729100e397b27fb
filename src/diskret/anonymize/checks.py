"""What can be checked of microdata before they are called anonymous, in figures."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from diskret.anonymize.households import telling
from diskret.anonymize.levels import Preset
from diskret.anonymize.risk import summary_of
from diskret.io import Coded
from diskret.io.kinds import is_text
from diskret.microdata.modelled_risk import modelled
from diskret.risk import Keys, frequencies
from diskret.risk.summary import RiskSummary

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

State = Literal["done", "missing", "unknown"]
Figure = str | int | float | Sequence[str]

_DIRECT = re.compile(
    r"name|adress|address|stra(ss|ß)e|street|phone|telefon|e?-?mail|iban|passport|ausweis|"
    r"steuer_?(id|nr)|tax_?(id|no)|ssn|svnr|versicherungs",
    re.IGNORECASE,
)
_REGION = re.compile(
    r"(^|_)(region|area|gebiet|state|province|bundesland|land$|(land)?kreis|gemeinde|district|"
    r"county|canton|kanton|municipal|city|town|stadt|nuts|ags|plz|postal|zip|grid)",
    re.IGNORECASE,
)
_FEW = 20  # records that may all differ by chance
_LETTERS = 25  # a longer text is no category
_LARGE = 6  # members of a household that is rare
_SHARED = 3  # records that share the largest value of a variable that was cut off


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    check: str  # which one
    state: State  # "done", "missing", or "unknown" where only a person can tell
    case: str  # which of the sentences on this check applies
    figures: Mapping[str, Figure] = field(default_factory=dict[str, Figure])  # what goes into it


def formal_checks(md: Microdata) -> Iterator[Finding]:
    """Whether anything identifies directly."""
    yield _identifiers(md)
    named = md.roles.id
    yield Finding("id", "done", "none" if named is None else "named", {"name": named or ""})
    yield _free_text(md)
    yield _without_role(md)


def risk_checks(md: Microdata, asked: Preset) -> Iterator[Finding]:
    """How easily records are recognised by what others may know."""
    keys = md.roles.keys
    if not keys:
        yield Finding("keys", "missing", "none")
    else:
        yield Finding("keys", "done", "named", {"count": len(keys), "names": keys})
    yield _population(md)
    yield _regions(md, asked)
    found = summary_of(md, keys)
    if found is not None:
        yield from _recognised(md, asked, found)
    elif keys:
        yield Finding("risk", "missing", "decimals", {"names": keys})
    yield from _households(md, asked, found)
    yield _sensitive(md, found)
    yield _numeric(md, asked)


# ── what identifies directly ────────────────────────────────────────────────────────


def _identifiers(md: Microdata) -> Finding:
    direct = md.original.roles.identifiers
    settled = {*direct, md.roles.weight, md.roles.household, md.roles.id}
    released = _released(md)
    names = [
        name
        for name in md.table.column_names
        if name not in settled
        and (_DIRECT.search(name) or (name in released and _all_differ(md, name)))
    ]
    if names:
        return Finding("identifiers", "missing", "suspicious", {"names": names})
    if direct:
        return Finding("identifiers", "done", "named", {"count": len(direct), "names": direct})
    return Finding("identifiers", "unknown", "none")


def _all_differ(md: Microdata, name: str) -> bool:
    """Whether a text or whole number is another one in every record: a number of some kind."""
    values = md.table_column(name)
    if not (is_text(values.type) or pa.types.is_integer(values.type)):
        return False
    return md.n >= _FEW and not values.null_count and len(pc.unique(values)) == md.n


def _free_text(md: Microdata) -> Finding:
    free = [name for name in _released(md) if _is_free(md.table_column(name))]
    if free:
        return Finding("free text", "missing", "found", {"names": free})
    return Finding("free text", "done", "none")


def _released(md: Microdata) -> list[str]:
    """Categorical variables that leave unless others are asked for."""
    roles = ("keys", "sensitive", "strata")
    return list(dict.fromkeys(name for role in roles for name in md.roles.columns(role)))


def _is_free(values: pa.ChunkedArray) -> bool:
    if not is_text(values.type):
        return False
    there = pc.unique(values).drop_null()
    long = pc.mean(pc.utf8_length(there)).as_py() or 0
    return len(there) > len(values) / 2 and long > _LETTERS


def _without_role(md: Microdata) -> Finding:
    known = {name for names in md.roles.by_role().values() for name in names}
    left = [name for name in md.table.column_names if name not in known]
    if left:
        return Finding("roles", "unknown", "left", {"count": len(left), "names": left})
    return Finding("roles", "done", "all")


# ── what recognises by combination ──────────────────────────────────────────────────


def _population(md: Microdata) -> Finding:
    weights = md.weights()
    if weights is None:
        return Finding("population", "unknown", "none", {"records": md.n})
    persons = float(weights.sum())
    drawn = {"records": md.n, "persons": persons, "share": md.n / persons}
    return Finding("population", "done", "weighted", drawn)


def _regions(md: Microdata, asked: Preset) -> Finding:
    named = [n for n in (*md.roles.keys, *md.roles.strata) if _REGION.search(n)]
    if not named or asked.region is None:
        return Finding("region", "unknown", "none")
    weights = md.weights()
    least: list[tuple[float, int, str]] = []
    for name in dict.fromkeys(named):
        column = md.coded(name)
        there = column.codes >= 0
        counted = np.bincount(
            column.codes[there], None if weights is None else weights[there]
        ).astype(float)
        counted = counted[counted > 0]
        if len(counted):
            least.append((float(counted.min()), len(counted), name))
    if not least:
        return Finding("region", "unknown", "none")
    persons, areas, name = min(least)
    told: dict[str, Figure] = {"name": name, "count": areas, "persons": persons}
    told["limit"] = asked.region
    coarse = persons >= asked.region
    return Finding("region", "done" if coarse else "missing", "coarse" if coarse else "fine", told)


def _recognised(md: Microdata, asked: Preset, found: RiskSummary) -> Iterator[Finding]:
    """Uniques and small classes, which estimated risks excuse where no k is asked for."""
    excused = asked.k is None and md.roles.weight is not None
    limit = 1.0 if asked.risk is None else asked.risk
    model = modelled(md.table, md.roles.keys, md.weights())
    expected, largest = found.expected, found.largest
    if model is not None and model.risk is not None:  # the claims rest on the larger, too
        expected = max(expected, float(model.risk.sum()))
        largest = max(largest, float(model.risk.max(initial=0.0)))
    low = excused and largest <= limit
    share = {"records": found.n}
    count = found.uniques
    case = "none" if not count else "excused" if low else "found"
    state: State = "missing" if case == "found" else "done"
    yield Finding("uniques", state, case, {**share, "count": count})
    k = asked.k or 3
    count = found.below(k)
    case = "none" if not count else "excused" if low else "found"
    state = "missing" if case == "found" else "done"
    yield Finding("k-anonymity", state, case, {**share, "count": count, "k": k})
    rate = expected / found.n
    allowed = 1.0 if asked.rate is None else asked.rate
    fine = rate <= allowed and largest <= limit
    told = {"expected": expected, "rate": rate, "largest": largest}
    limits = {"rate_limit": allowed, "risk_limit": limit}
    yield Finding(
        "risk", "done" if fine else "missing", "small" if fine else "large", {**told, **limits}
    )


def _households(md: Microdata, asked: Preset, found: RiskSummary | None) -> Iterator[Finding]:
    named = md.roles.household
    if named is None:
        yield Finding("household", "unknown", "none")
        return
    column = md.coded(named)
    size = np.bincount(column.codes[column.codes >= 0])
    size = size[size > 0]
    if found is not None and found.households is not None:
        rate = found.households / max(len(size) + int((column.codes < 0).sum()), 1)
        fine = asked.rate is None or rate <= asked.rate
        told: dict[str, Figure] = {"expected": found.households, "rate": rate}
        told["rate_limit"] = asked.rate or 1.0
        yield Finding(
            "household", "done" if fine else "missing", "small" if fine else "large", told
        )
    leaves = {*_released(md), *md.roles.numeric, *md.roles.columns("weight")}
    told_by = telling(md, [name for name in md.table.column_names if name in leaves])
    if told_by:
        worst = told_by[0]
        figures_: dict[str, Figure] = {"count": worst.households, "several": worst.several}
        figures_["names"] = [one.name for one in told_by]
        yield Finding("together", "missing", "told", figures_)
    else:
        yield Finding("together", "done", "hidden")
    large = int((size >= _LARGE).sum())
    most = int(size.max(initial=0))
    yield Finding(
        "household size",
        "unknown" if large else "done",
        "large" if large else "small",
        {"count": large, "members": _LARGE, "most": most},
    )


def _sensitive(md: Microdata, found: RiskSummary | None) -> Finding:
    if not md.roles.sensitive:
        return Finding("sensitive", "unknown", "none")
    if found is None:
        return Finding("sensitive", "missing", "no keys")
    keys = md.keys()
    alike = np.zeros(md.n, dtype=bool)
    shown: list[str] = []
    for name in md.roles.sensitive:
        # everybody who agrees in the keys agrees in this, too
        both = Keys((*keys.columns, _with_missing(md.table_column(name), name)))
        same = frequencies(both).sample == found.sample
        if same.any():
            shown.append(name)
        alike |= same
    if not shown:
        return Finding("sensitive", "done", "diverse", {"names": md.roles.sensitive})
    return Finding("sensitive", "missing", "alike", {"count": int(alike.sum()), "names": shown})


def _with_missing(values: pa.ChunkedArray, name: str) -> Coded:
    """Any values as small integers, missing ones a value like others."""
    encoded = values.combine_chunks().dictionary_encode()
    known = len(encoded.dictionary)
    codes = pc.fill_null(encoded.indices, known).to_numpy(zero_copy_only=False)
    return Coded(name, pa.array(range(known + 1)), codes.astype(np.int32))


def _numeric(md: Microdata, asked: Preset) -> Finding:
    open_ = [name for name in md.roles.numeric if name not in md.changed]
    if not open_:
        case = "changed" if md.roles.numeric else "none"
        return Finding("numeric", "done", case, {"names": md.roles.numeric})
    outliers = [name for name in open_ if _stands_out(md.table_column(name))]
    if outliers:
        return Finding("numeric", "missing", "outliers", {"names": outliers})
    exact = [n for n in open_ if 2 * len(pc.unique(md.table_column(n))) > md.n]
    if exact and asked.k is not None:
        return Finding("numeric", "missing", "exact", {"names": exact})
    return Finding("numeric", "done", "cut", {"names": open_})


def _stands_out(values: pa.ChunkedArray) -> bool:
    """Whether the largest value is that of one or two records only."""
    most = pc.max(values)
    return most.is_valid and (pc.sum(pc.equal(values, most)).as_py() or 0) < _SHARED
