"""Check released tables with changed values: what anyone can, and more with the office's files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from diskret.attack.noise_certificate import check_adding_up
from diskret.attack.said_of_changed import may_say
from diskret.errors import InputError, ProofError, VerificationError
from diskret.io.from_json import read_json
from diskret.keys import SecretKeys
from diskret.publish.contract import NEEDED
from diskret.publish.guard.tables import PUBLIC_CERTIFICATE
from diskret.publish.verify.files import check_files
from diskret.publish.verify.internal import OfficeCells, check_fingerprint, fingerprinted
from diskret.publish.verify.kind import Checked, Kind, Place
from diskret.tables import CHANGES, Outline, Published
from diskret.tables.from_cells import check_multiples, scaled_unit
from diskret.tables.read_public import read_blocks, read_outline
from diskret.texts.numbers import Count


def _check(place: Place, certificates: Mapping[str, dict[str, Any]]) -> Checked:
    lines: list[str] = []
    tables: list[Published] = []
    streamed: list[str] = []
    for name in sorted(certificates):
        content = certificates[name]
        table = _verify(place.public, name, content)
        if isinstance(table, Published):
            tables.append(table)
            remark = check_files(place.public, table, content)
        else:
            streamed.append(name)
            number = Count(table.size)
            remark = f"; {number} {number:cell|cells} read block by block"
        lines.append(
            f"{name}: files unchanged; values were changed as the certificate says{remark}"
        )
        if place.internal is not None:
            lines.append(_verify_internal(place.internal, table, content, place.keys))
    return Checked(tuple(lines), tuple(tables), streamed=tuple(streamed))


_OF_ATTACKS = {"attacker", "tables", "beside", "sums", "refined_to", "outer_intervals", "intervals"}
#: What belongs to attacks has no place here.
CHANGED = Kind(
    families=CHANGES,
    form={key: part for key, part in PUBLIC_CERTIFICATE.items() if key not in _OF_ATTACKS},
    needed=frozenset(NEEDED),
    check=_check,
)


def _verify(public: Path, name: str, certificate: Mapping[str, Any]) -> Outline:
    """Check a table with changed values against its public certificate.

    One without a CSV file may be larger than memory: it is read block by block, and not returned.
    """
    typed = {f"{name}.parquet", f"{name}.structure.json"}
    if certificate["files"].keys() == typed and not {"shown", "difference"} & certificate.keys():
        published = _streamed(public, name)
    else:
        published = Published.read(public, name)
    if published.changed != certificate.get("family"):
        raise VerificationError(
            f"{name}: the certificate is about values changed by {certificate.get('family')!r}, "
            f"the table says {published.changed or 'that its values are the true ones'!r}"
        )
    shown = certificate.get("shown", {})
    said = certificate["claimed"], certificate["not_claimed"]
    if said not in may_say(published.changed, shown):
        raise VerificationError(
            f"{name}: the certificate does not say what is and is not claimed of values that were "
            "changed in this way; its text or its figures were changed"
        )
    if isinstance(published, Published):
        if "base" in shown:
            _check_base(published, shown["base"], shown["method"])
        if shown.get("additive"):
            _check_additive(published)
    return published


def _streamed(public: Path, name: str) -> Outline:
    try:
        outline = read_outline(public, name)
        for _ in read_blocks(public / f"{name}.parquet", outline):
            pass
    except InputError as error:
        raise VerificationError(str(error)) from None
    return outline


def _verify_internal(
    folder: Path, published: Outline, certificate: Mapping[str, Any], keys: SecretKeys | None
) -> str:
    """Check the office's files of a table with changed values; says what was confirmed."""
    name = published.name
    said = read_json(folder / f"{name}.certificate.json", VerificationError)
    if isinstance(said, dict) and said.get("true_counts") == "not fetched":
        return f"{name}: nothing to compare with, because no true count was fetched"
    if not isinstance(published, Published):
        raise VerificationError(
            f"{name}: the office's certificate does not say that no true count was fetched, but "
            "there are no true values beside it; get the files anew"
        )
    cells = OfficeCells.read(folder, published)
    # what is withheld is empty
    original, value, noise = (
        cells.numbers(of, published.decimals, empty="0")
        for of in ("original", "published", "noise")
    )
    blank = (published.suppressed | published.empty).ravel()
    if not np.array_equal(value[~blank], published.value.ravel()[~blank]):
        raise VerificationError(f"{name}: public and internal values differ")
    if not np.array_equal((original + noise)[~blank], value[~blank]):
        raise VerificationError(f"{name}: the internal noise is not what was added")
    count = original if published.frequency else cells.counts(empty="0")
    check_fingerprint(keys, published, count, original, certificate)
    number = Count((~blank).sum())
    compared = f"{number} {number:value|values} and {number:its|their} noise compared"
    return f"{name}: {compared}; {fingerprinted(keys)}"


def _check_additive(published: Published) -> None:
    try:
        check_adding_up([published])
    except ProofError as error:
        raise VerificationError(
            f"{published.name}: the certificate says that the table adds up, but it does not "
            f"({error}); the table or the certificate was changed"
        ) from None


def _check_base(published: Published, base: float, method: str) -> None:
    """Values are multiples; where only small ones were rounded, at least those below the base."""
    try:
        unit = scaled_unit(base, published.decimals, published.measure)
        shown = published.value.ravel()  # 0 where nothing is shown
        if method == "small_counts":
            shown = shown[np.abs(shown) < unit]
        check_multiples(shown, unit, published.measure, published.decimals)
    except InputError as error:
        raise VerificationError(
            f"{published.name}: values are not rounded as the certificate says: {error}"
        ) from None
