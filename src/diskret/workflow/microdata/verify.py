"""Check released microdata: what anyone can, and more with the office's files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from diskret.attack.microdata import certify, claims_shown
from diskret.errors import InputError, ProofError, VerificationError
from diskret.keys import SecretKeys
from diskret.release import as_text, digest, read_records_csv, read_records_parquet
from diskret.workflow.microdata.content import content
from diskret.workflow.microdata.modelled import models
from diskret.workflow.microdata.result import Inside
from diskret.workflow.microdata.write import claim_from_json, marks


def verify_microdata(public: Path, name: str, certificate: Mapping[str, Any]) -> str:
    """Check released records against their public certificate; says what was confirmed.

    Every claim that readers can count again in the file is counted again.

    Raises
    ------
    VerificationError
        The files hold other columns or records than the certificate says, or differ from each
        other; a claim does not hold; or the certificate does not say what belongs to the claims
        it shows.
    """
    records = read_released(public, name)
    if records.column_names != certificate.get("columns"):
        raise VerificationError(
            f"{name}: the file has the columns {', '.join(records.column_names)}, the certificate "
            "is about others"
        )
    if records.num_rows != certificate.get("records"):
        raise VerificationError(
            f"{name}: the file has {records.num_rows:,} records, the certificate is about "
            f"{certificate.get('records')}"
        )
    shown = certificate.get("shown", {})
    try:
        claims = claims_shown(shown)
        keys = tuple(dict.fromkeys(key for claim in claims for key in claim.keys or ()))
        again = certify(name, records, keys, claims)
    except ProofError as error:
        raise VerificationError(
            f"{name}: a claim of the certificate does not hold ({error}); the file or the "
            "certificate was changed"
        ) from None
    except (InputError, KeyError, TypeError) as error:
        raise VerificationError(
            f"{name}: what the certificate shows cannot be counted in the file ({error})"
        ) from None
    for language, sentences in again.public()["claimed"].items():
        told = certificate.get("claimed", {}).get(language, [])
        if not set(sentences) <= set(told) or (not claims and shown):
            raise VerificationError(
                f"{name}: the certificate does not claim what it shows; its text was changed"
            )
        check_figures(name, [text for text in told if text not in sentences], records)
    if any(again.shown.get(name) != value for name, value in shown.items()):
        raise VerificationError(
            f"{name}: the certificate shows figures that are not those of the file; it was changed"
        )
    counted = "; ".join(
        f"{claim.k}-anonymity by {', '.join(claim.keys or ())}"
        + ("" if claim.size is None else f", any {claim.size} of them")
        for claim in claims
    )
    return f"{name}: files unchanged; " + (
        f"counted again in {records.num_rows:,} records: {counted}"
        if counted
        else f"{records.num_rows:,} records; it claims nothing that readers can count"
    )


def check_figures(name: str, sentences: Sequence[str], records: pa.Table) -> None:
    """Refuse a claim with a figure that the certificate does not show: nobody could count it."""
    columns = sorted(records.column_names, key=len, reverse=True)
    named = re.compile("|".join(map(re.escape, columns)))
    for text in sentences:
        if re.search(r"\d", named.sub("", text)):
            raise VerificationError(
                f"{name}: the certificate claims {text!r}, but does not show the figures; its "
                "text was changed"
            )


def read_released(public: Path, name: str) -> pa.Table:
    """The released records, from CSV (as text), Parquet, or both, which must agree.

    Raises
    ------
    VerificationError
        There is no file, it cannot be read, or the two differ.
    """
    as_csv, as_parquet = public / f"{name}.csv", public / f"{name}.parquet"
    if not as_parquet.exists():
        return read_records_csv(as_csv)
    records = read_records_parquet(as_parquet)
    if as_csv.exists() and not as_text(records).equals(read_records_csv(as_csv)):
        raise VerificationError(f"{name}: {as_csv.name} and {as_parquet.name} differ")
    return records


def verify_microdata_internal(
    folder: Path, public: Path, name: str, certificate: Mapping[str, Any], keys: SecretKeys
) -> str:
    """Check the office's files against the public ones; says what was confirmed.

    Raises
    ------
    VerificationError
        The public certificate is not the one that was released, the records or the link to the
        original ones are not, or a claim does not hold.
    """
    path = folder / f"{name}.certificate.json"
    try:
        inside = json.loads(path.read_text(encoding="utf-8"))
        asked = [claim_from_json(claim) for claim in inside["claims_made"]]
        expected = inside["certificates"]["public"]
    except (OSError, ValueError, KeyError, TypeError, InputError) as error:
        raise VerificationError(f"{path} cannot be read: {error}") from None
    if digest(public / f"{name}.certificate.json") != expected:
        raise VerificationError(
            f"{name}: the public certificate is not the one that was written; it was changed"
        )
    records = read_released(public, name)
    link = _read_link(folder / f"{name}.link.parquet", records.num_rows)
    there = [column for column in ("row", "weight", "household") if column in link.column_names]
    columns = link.select(there)
    again = marks(keys, None, records, content(columns))
    if again["released"] != certificate["inputs"].get("released"):
        raise VerificationError(
            f"{name}: the records or the office's link to the original ones are not those that "
            "were released, or this is not the key they were released with"
        )
    judged = [claim for claim in asked if claim is not None]
    inner = Inside.read(columns)
    try:
        certify(
            name,
            records,
            inside["keys"],
            judged,
            weight=inner.weight,
            household=inner.household,
            sensitive=inside["sensitive"],
            orders=inside["orders"],
            models=models(records, inside["keys"], inner.weight, judged),
        )
    except (ProofError, InputError) as error:
        raise VerificationError(f"{name}: a claim does not hold: {error}") from None
    left = len(asked) - len(judged)
    beside = f", but for {left} that need the population" if left else ""
    return (
        f"{name}: all claims ({len(judged)}) checked again with the office's files{beside}; "
        "fingerprint confirmed"
    )


def _read_link(path: Path, n: int) -> pa.Table:
    try:
        link = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise VerificationError(f"{path} cannot be read: {error}") from None
    if link.num_rows != n or "row" not in link.column_names:
        raise VerificationError(f"{path} does not belong to {n:,} released records")
    return link
