"""Check released microdata: what anyone can, and more with the office's files."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from diskret.attack.microdata import certify, certify_safe, claims_shown, safe_says
from diskret.attack.microdata.certificate import FAMILY, SAFE
from diskret.attack.microdata.certify_safe import FEWEST_CELLS
from diskret.attack.microdata.check_safe import check_minimum
from diskret.attack.microdata.claims import KMap, Safe
from diskret.attack.microdata.leaving import Leaving
from diskret.attack.microdata.said import claimed, may_say, told_why
from diskret.errors import InputError, ProofError, VerificationError
from diskret.io.columns import content
from diskret.io.files import read_plain_parquet
from diskret.io.from_json import anything, check_form, read_json
from diskret.keys import SecretKeys
from diskret.microdata.modelled_risk import models
from diskret.publish.contract import NEEDED
from diskret.publish.formats.statistical import STATISTICAL
from diskret.publish.guard.microdata import (
    MICRODATA_CERTIFICATE,
    as_text,
    read_records_csv,
    read_records_parquet,
    statistical_problems,
)
from diskret.publish.office.microdata import Inside, claim_from_json, read_controlled, record_marks
from diskret.publish.verify.files import check_microdata_page, refuse
from diskret.publish.verify.kind import Checked, Kind, Place
from diskret.tables.counted import counted_all
from diskret.tables.lists import table_lists, variables
from diskret.texts import in_languages
from diskret.texts.numbers import Count

#: What is read of the office's certificate.
_INSIDE = {
    **dict.fromkeys(("keys", "sensitive"), [str]),
    "orders": {"*": [anything]},
    "means_missing": {"*": [str]},
    "claims_made": [{"claim": str, "*": anything}],
    "*": anything,
}


#: What somebody counts again in released records: name, records, certificate → a line.
Recount = Callable[[str, pa.Table, Mapping[str, Any]], str]
#: The same with the office's files: their folder, name, records, certificate, keys → a line.
WithOffice = Callable[[Path, str, pa.Table, Mapping[str, Any], SecretKeys | None], str]


def _check_records(
    place: Place,
    certificates: Mapping[str, dict[str, Any]],
    recount: Recount,
    with_office: WithOffice,
) -> Checked:
    """Check files of records, by what is counted again in them."""
    lines: list[str] = []
    for name in sorted(certificates):
        certificate, records = certificates[name], _read_released(place.public, name)
        _check_outline(name, records, certificate)
        line = recount(name, records, certificate)
        typed = (place.public / f"{name}.parquet").exists()
        remark = check_microdata_page(place.public, name, certificate, records, typed)
        remark += _check_statistical(place.public, name, certificate, records)
        lines.append(f"{name}: files unchanged; {line}{remark}")
        if place.internal is not None:
            line = with_office(place.internal, name, records, certificate, place.keys)
            lines.append(f"{name}: {line}")
    return Checked(tuple(lines))


def _check_statistical(
    public: Path, name: str, certificate: Mapping[str, Any], records: pa.Table
) -> str:
    """Compare files of Stata, SPSS and SAS with the records; says what was not compared."""
    paths = [path for end in STATISTICAL if (path := public / f"{name}.{end}").exists()]
    if paths and find_spec("pyreadstat") is None:
        names = ", ".join(path.name for path in paths)
        return f"; {names} not compared, because pyreadstat is not installed (diskret[stat])"
    why, files = told_why(certificate["not_claimed"], records.column_names)
    for path in paths:
        refuse(statistical_problems(path, records, why if path.suffix in files else ()))
    return ""


def _check_outline(name: str, records: pa.Table, certificate: Mapping[str, Any]) -> None:
    """Refuse other columns or records than the certificate says."""
    if records.column_names != certificate.get("columns"):
        raise VerificationError(
            f"{name}: the file has the columns {', '.join(records.column_names)}, the certificate "
            "is about others"
        )
    if records.num_rows != certificate.get("records"):
        number = Count(records.num_rows)
        raise VerificationError(
            f"{name}: the file has {number} {number:record|records}, the certificate is about "
            f"{certificate.get('records')}"
        )
    if {*certificate["inputs"]} != {"records", "released"}:
        raise VerificationError(f"{name}: the certificate lacks a fingerprint; it was changed")


def _recount(name: str, records: pa.Table, certificate: Mapping[str, Any]) -> str:
    """Count again every claim that readers can count in the file."""
    shown = certificate.get("shown", {})
    with _counting_again(name):
        claims = claims_shown(shown)
        again = certify(name, records, (), claims)  # each names its own keys
    if dict(again.shown) != shown:
        raise VerificationError(
            f"{name}: the certificate shows figures that are not those of the file; it was changed"
        )
    reasons = {f".{end}" for end in STATISTICAL if f"{name}.{end}" in certificate["files"]}
    unseen = may_say(_told(certificate), again.claimed, records.column_names, reasons)
    if unseen is None:
        raise _changed(name)
    counted = "; ".join(
        f"{claim.k}-anonymity by {', '.join(claim.keys or ())}"
        + ("" if claim.size is None else f", any {claim.size} of them")
        for claim in claims
    )
    beside = f"; only the office can check what else it claims ({len(unseen)})" if unseen else ""
    if counted:
        number = Count(records.num_rows)
        return f"counted again in {number} {number:record|records}: {counted}{beside}"
    number = Count(records.num_rows)
    return f"{number} {number:record|records}; it claims nothing that readers can count{beside}"


def _told(certificate: Mapping[str, Any]) -> tuple[Any, Any]:
    """What a certificate claims, and what it does not."""
    return certificate["claimed"], certificate["not_claimed"]


def _changed(name: str) -> VerificationError:
    return VerificationError(
        f"{name}: the certificate does not say what is and is not claimed of such records as it "
        "was written; its text was changed"
    )


@contextmanager
def _counting_again(name: str) -> Generator[None]:
    """What anybody counts in the file; whatever goes wrong was changed."""
    try:
        yield
    except ProofError as error:
        raise VerificationError(
            f"{name}: a claim of the certificate does not hold ({error}); the file or the "
            "certificate was changed"
        ) from None
    except (InputError, KeyError, TypeError, ValueError) as error:
        raise VerificationError(
            f"{name}: what the certificate shows cannot be counted in the file ({error})"
        ) from None


@contextmanager
def _proving_again(name: str, path: Path) -> Generator[None]:
    """What the office proves with the claims in its own file."""
    try:
        yield
    except (ProofError, InputError) as error:
        raise VerificationError(f"{name}: a claim does not hold: {error}") from None
    except (TypeError, ValueError, KeyError, AttributeError):
        raise VerificationError(f"{path}: its claims cannot be understood") from None


def _read_released(public: Path, name: str) -> pa.Table:
    """The released records, from CSV (as text), Parquet, or both, which must agree."""
    as_csv, as_parquet = public / f"{name}.csv", public / f"{name}.parquet"
    if not as_parquet.exists():
        return read_records_csv(as_csv)
    records = read_records_parquet(as_parquet)
    if as_csv.exists() and not as_text(records).equals(read_records_csv(as_csv)):
        raise VerificationError(f"{name}: {as_csv.name} and {as_parquet.name} differ")
    return records


def _with_link(
    folder: Path,
    name: str,
    records: pa.Table,
    certificate: Mapping[str, Any],
    keys: SecretKeys | None,
) -> str:
    """Check the office's files against the public ones; says what was confirmed."""
    path, inside, asked = _read_claims(folder, name)
    link = _read_link(folder / f"{name}.link.parquet", records.num_rows)
    there = [column for column in ("row", "weight", "household") if column in link.column_names]
    columns = link.select(there)
    if not _released_with(records, content(columns), certificate, keys):
        raise VerificationError(
            f"{name}: the records or the office's link to the original ones are not those that "
            "were released, or this is not the key they were released with"
        )
    unjudged = [claim for claim in asked if isinstance(claim, KMap)]
    judged = [claim for claim in asked if not isinstance(claim, KMap)]
    inner = Inside.read(columns)
    with _proving_again(name, path):
        again = certify(
            name,
            records,
            inside["keys"],
            judged,
            weight=inner.weight,
            household=inner.household,
            sensitive=inside["sensitive"],
            orders=inside["orders"],
            means_missing=inside.get("means_missing", {}),
            fit=lambda keys: models(keys, inside["keys"], inner.weight, judged),
            together=inside.get("households_drawn_whole") is True,
        )
    more = claimed(Leaving(name, None, ()), unjudged, [{} for _ in unjudged])
    if {*certificate["claimed"]["en"]} != {one.en for one in (*again.claimed, *more)}:
        raise VerificationError(f"{name}: the certificate claims something else than {path}")
    beside = f", but for {len(unjudged)} that need the population" if unjudged else ""
    return (
        f"all claims ({len(judged)}) checked again with the office's files{beside}; "
        + _fingerprinted(keys)
    )


def _read_claims(folder: Path, name: str) -> tuple[Path, dict[str, Any], list[Any]]:
    """The office's certificate: where it lies, what it says, and the claims that were made."""
    path = folder / f"{name}.certificate.json"
    try:
        inside = read_json(path, VerificationError)
        check_form(inside, _INSIDE, str(path), VerificationError)
        return path, inside, [claim_from_json(claim) for claim in inside["claims_made"]]
    except (ValueError, KeyError, TypeError, InputError) as error:
        raise VerificationError(f"{path} cannot be read: {error}") from None


def _released_with(
    records: pa.Table,
    kept: Iterable[bytes],
    certificate: Mapping[str, Any],
    keys: SecretKeys | None,
) -> bool:
    """Whether the fingerprint is that of the records and of what the office keeps with them."""
    mark = None if keys is None else record_marks(keys, None, records, kept)["released"]
    return mark in (None, certificate["inputs"].get("released"))


def _fingerprinted(keys: SecretKeys | None) -> str:
    """What a line says of the fingerprint."""
    return "fingerprint not checked without the key" if keys is None else "fingerprint confirmed"


def _read_link(path: Path, n: int) -> pa.Table:
    link = read_plain_parquet(path, VerificationError)
    if link.num_rows != n or "row" not in link.column_names:
        raise VerificationError(
            f"{path} does not belong to {n:,} released {Count(n):record|records}"
        )
    return link


# ── safe files ───────────────────────────────────────────────────────────────────────


def _recount_safe(name: str, records: pa.Table, certificate: Mapping[str, Any]) -> str:
    """Count again every combination of all variables; deviations are for the office to check."""
    with _counting_again(name):
        shown = certificate["shown"]
        minimum = Safe(shown["minimum"]).minimum
        found = check_minimum(name, records, minimum)
        sentences = tuple(map(in_languages, safe_says(shown)))
        tables = table_lists(shown["tables"])
        lacking = [one for one in variables(tables) if one not in found.codes]
        by_size = "by_size" if _is_old(shown) else "by_size_in_file"
        fits = all(
            0 <= row["mean"] <= row["largest"] <= shown["largest"] and row["cells"] >= FEWEST_CELLS
            for row in shown[by_size]
        )
        if not lacking and not _is_old(shown):
            cells = np.concatenate([one.count for one in counted_all(found, tables)] or [[]])
            fits &= all(
                row["cells"] == ((row["from"] <= cells) & (cells <= row["to"])).sum()
                for row in shown[by_size]
            )
    if lacking or not fits or {*shown} != {"minimum", "tables", "largest", by_size}:
        raise VerificationError(
            f"{name}: the certificate shows tables or deviations that do not fit together; it was "
            "changed"
        )
    if _told(certificate) != sentences:
        raise _changed(name)
    number = Count(records.num_rows)
    return (
        f"counted again in {number} {number:record|records}: {len(found.count):,} combinations of "
        f"all variables, each at least {minimum} times"
    )


def _is_old(shown: Mapping[str, Any]) -> bool:
    """Whether a certificate tells deviations by size in the original, as older ones do."""
    return "by_size" in shown


def _with_counts(
    folder: Path,
    name: str,
    records: pa.Table,
    certificate: Mapping[str, Any],
    keys: SecretKeys | None,
) -> str:
    """Check a safe file with the office's counts of the original; says what was confirmed."""
    path, _, claims = _read_claims(folder, name)
    if len(claims) != 1 or not isinstance(claim := claims[0], Safe):
        raise VerificationError(f"{path} claims something else than the public certificate")
    cells = read_plain_parquet(folder / f"{name}.controlled.parquet", VerificationError)
    if not _released_with(records, content(cells), certificate, keys):
        raise VerificationError(
            f"{name}: the records or the office's counts of the original are not those that were "
            "released, or this is not the key they were released with"
        )
    shown = dict(certificate["shown"])
    if old := _is_old(shown):
        claim = replace(claim, largest=shown["largest"])
    with _proving_again(name, path):
        again = certify_safe(name, records, claim, read_controlled(cells, claim.tables or {}))
    if old:  # by size in the original, which is told no more
        shown |= {"by_size_in_file": again.shown["by_size_in_file"]}
        del shown["by_size"]
    if dict(again.shown) != shown:
        raise VerificationError(
            f"{name}: the certificate documents other deviations than those of the file"
        )
    number = Count(len(again.figures["tables"]))
    return (
        f"{number} controlled {number:table|tables} counted again and compared with the office's "
        f"counts of the original; {_fingerprinted(keys)}"
    )


# ── the two kinds ────────────────────────────────────────────────────────────────────


def _check_linked(place: Place, certificates: Mapping[str, dict[str, Any]]) -> Checked:
    return _check_records(place, certificates, _recount, _with_link)


def _check_safe(place: Place, certificates: Mapping[str, dict[str, Any]]) -> Checked:
    return _check_records(place, certificates, _recount_safe, _with_counts)


RECORDS = Kind((FAMILY,), MICRODATA_CERTIFICATE, frozenset(NEEDED), _check_linked)
SAFE_FILES = Kind((SAFE,), MICRODATA_CERTIFICATE, frozenset(NEEDED), _check_safe)
