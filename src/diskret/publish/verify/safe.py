"""Check a released safe file again, from what was written."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from diskret.attack.microdata import certify_safe, safe_claimed
from diskret.attack.microdata.certificate import SAFE
from diskret.attack.microdata.certify_safe import check_minimum
from diskret.attack.microdata.claims import Safe
from diskret.attack.noise_certificate import in_languages
from diskret.errors import InputError, ProofError, VerificationError
from diskret.io.columns import content
from diskret.io.files import read_plain_parquet
from diskret.keys import SecretKeys
from diskret.publish.certificates import NEEDED
from diskret.publish.guard.microdata import MICRODATA_CERTIFICATE
from diskret.publish.office.controlled import read
from diskret.publish.verify.kind import Checked, Kind, Place
from diskret.publish.verify.microdata import (
    check_figures,
    check_records,
    fingerprinted,
    read_claims,
    released_with,
)
from diskret.tables.lists import table_lists, variables


def _recount(name: str, records: pa.Table, certificate: Mapping[str, Any]) -> str:
    """Count again every combination of all variables.

    How far tables deviate from the original is for the office to check.

    Raises
    ------
    VerificationError
        A combination is rare; or the certificate does not say what it shows.
    """
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
    return (
        f"counted again in {records.num_rows:,} records: {len(found.count):,} combinations of all "
        f"variables, each at least {minimum} times"
    )


def _with_counts(
    folder: Path,
    name: str,
    records: pa.Table,
    certificate: Mapping[str, Any],
    keys: SecretKeys | None,
) -> str:
    """Check a safe file with the office's counts of the original; says what was confirmed.

    Raises
    ------
    VerificationError
        The public certificate is not the one that was released, the records or the original
        counts are not, or the claim does not hold.
    """
    path, _, claims = read_claims(folder, name)
    if len(claims) != 1 or not isinstance(claim := claims[0], Safe):
        raise VerificationError(f"{path} claims something else than the public certificate")
    cells = _read_cells(folder / f"{name}.controlled.parquet")
    if not released_with(records, content(cells), certificate, keys):
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
        f"{len(again.figures['tables']):,} controlled tables counted again and compared "
        f"with the office's counts of the original; {fingerprinted(keys)}"
    )


def _read_cells(path: Path) -> pa.Table:
    return read_plain_parquet(path, VerificationError)


def _check(place: Place, certificates: Mapping[str, dict[str, Any]]) -> Checked:
    return check_records(place, certificates, _recount, _with_counts)


SAFE_FILES = Kind((SAFE,), MICRODATA_CERTIFICATE, frozenset(NEEDED), _check)
