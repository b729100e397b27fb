"""Check a released safe file again, from what was written."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from diskret.attack.microdata import certify_safe, safe_claimed
from diskret.attack.microdata.claims import Safe
from diskret.attack.microdata.safe import check_minimum
from diskret.attack.noise_certificate import in_languages
from diskret.errors import InputError, ProofError, VerificationError
from diskret.io.from_json import check_form, read_json
from diskret.io.plain_parquet import read_plain_parquet
from diskret.keys import SecretKeys
from diskret.tables.lists import table_lists, variables
from diskret.workflow.microdata.content import content
from diskret.workflow.microdata.controlled import read
from diskret.workflow.microdata.verify import INSIDE, check_figures, fingerprinted, read_released
from diskret.workflow.microdata.verify_page import check_microdata_page
from diskret.workflow.microdata.write import claim_from_json, marks


def verify_safe(public: Path, name: str, certificate: Mapping[str, Any]) -> str:
    """Check a safe file against its public certificate; says what was confirmed.

    Every combination of all variables is counted again. How far tables deviate from the original is
    for the office to check.

    Raises
    ------
    VerificationError
        The files hold other columns or records than the certificate says, or differ from each
        other; a combination is rare; or the certificate does not say what it shows.
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
    try:
        shown = certificate["shown"]
        minimum = Safe(shown["minimum"]).minimum
        found = check_minimum(name, records, minimum)
        sentences = in_languages(safe_claimed(shown))
        lacking = [one for one in variables(table_lists(shown["tables"])) if one not in found.codes]
        largest = [row["largest"] for row in shown["by_size"]]
    except ProofError as error:
        raise VerificationError(
            f"{name}: a claim of the certificate does not hold ({error}); the file or the "
            "certificate was changed"
        ) from None
    except (InputError, KeyError, TypeError, ValueError) as error:
        raise VerificationError(
            f"{name}: what the certificate shows cannot be counted in the file ({error})"
        ) from None
    if lacking or any(one > shown["largest"] for one in largest):
        raise VerificationError(
            f"{name}: the certificate shows tables or deviations that do not fit together; it was "
            "changed"
        )
    for language, said in sentences.items():
        told = certificate.get("claimed", {}).get(language, [])
        if not set(said) <= set(told):
            raise VerificationError(
                f"{name}: the certificate does not claim what it shows; its text was changed"
            )
        check_figures(name, [text for text in told if text not in said], records)
    typed = (public / f"{name}.parquet").exists()
    remark = check_microdata_page(public, name, certificate, records, typed)
    return (
        f"{name}: files unchanged; counted again in {records.num_rows:,} records: "
        f"{len(found.count):,} combinations of all variables, each at least {minimum} times{remark}"
    )


def verify_safe_internal(
    folder: Path, public: Path, name: str, certificate: Mapping[str, Any], keys: SecretKeys | None
) -> str:
    """Check a safe file with the office's counts of the original; says what was confirmed.

    Raises
    ------
    VerificationError
        The public certificate is not the one that was released, the records or the original
        counts are not, or the claim does not hold.
    """
    path = folder / f"{name}.certificate.json"
    try:
        inside = read_json(path, VerificationError)
        check_form(inside, INSIDE, str(path), VerificationError)
        (claim,) = (claim_from_json(one) for one in inside["claims_made"])
    except (ValueError, KeyError, TypeError, InputError) as error:
        raise VerificationError(f"{path} cannot be read: {error}") from None
    if not isinstance(claim, Safe):
        raise VerificationError(f"{path} claims something else than the public certificate")
    records = read_released(public, name)
    cells = _read_cells(folder / f"{name}.controlled.parquet")
    mark = None if keys is None else marks(keys, None, records, content(cells))["released"]
    if mark not in (None, certificate["inputs"].get("released")):
        raise VerificationError(
            f"{name}: the records or the office's counts of the original are not those that were "
            "released, or this is not the key they were released with"
        )
    try:
        again = certify_safe(name, records, claim, read(cells, claim.tables or {}))
    except (ProofError, InputError) as error:
        raise VerificationError(f"{name}: a claim does not hold: {error}") from None
    except (TypeError, ValueError, KeyError, AttributeError):
        raise VerificationError(f"{path}: its claims cannot be understood") from None
    if dict(again.shown) != certificate["shown"]:
        raise VerificationError(
            f"{name}: the certificate documents other deviations than those of the file"
        )
    return (
        f"{name}: {len(again.figures['tables']):,} controlled tables counted again and compared "
        f"with the office's counts of the original; {fingerprinted(keys)}"
    )


def _read_cells(path: Path) -> pa.Table:
    return read_plain_parquet(path, VerificationError)
