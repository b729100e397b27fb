"""What the office keeps of a result: cells, certificate, reasons, witnesses. Confidential."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from diskret.attack import Explanations, NoiseCertificate
from diskret.keys import SecretKeys
from diskret.protect.editions import since_columns
from diskret.publish.contract import Look, software
from diskret.publish.exchange import EXCHANGE
from diskret.publish.formats.cube import Cube, public_cube
from diskret.publish.formats.data_files import write_columns_parquet, write_internal_csv
from diskret.publish.formats.exchange import kept_changed_cube, kept_cube, write_exchange
from diskret.publish.formats.workbooks import write_internal_xlsx
from diskret.publish.json_files import write_json
from diskret.publish.office.tables import write_insiders, write_sums
from diskret.publish.office.witnesses import write_witnesses
from diskret.publish.pages.internal import write_internal_report
from diskret.publish.pages.public import write_internal_changed_report
from diskret.tables import Published

if TYPE_CHECKING:
    from diskret.protect.perturbed_result import PerturbedResult
    from diskret.protect.result import Result


def write_internal(
    result: Result,
    folder: Path,
    look: Look,
    explanations: Explanations | None,
    keys: SecretKeys,
    previous: Published | None = None,
) -> None:
    """Write the office's files of a table with suppressed cells.

    `previous`: the table as the last delivery showed it.
    """
    name, proof = result.name, result.certificate
    _write_cells(name, result.internal_cells, folder, look)
    _write_exchanged(result, folder, look)
    if explanations is not None:
        reasons = result.explanation_cells(explanations)
        write_internal_csv(reasons, folder / f"{name}.explanations.csv", look.neutralise)
    if previous is not None:
        since = since_columns(result, previous, explanations)
        write_internal_csv(since, folder / f"{name}.since.csv", look.neutralise)
    if "html" in look.formats:
        write_internal_report(
            result.published,
            result.internal_cells,
            {**proof.public(), **proof.internal(), "software": software()},
            result.settings,
            folder / f"{name}.report.html",
            title=look.titles.get(name),
            language=look.language,
            explanations=explanations and result.own_explanations(explanations),
        )
    write_json(
        {**proof.internal(), **result.settings, "software": software()},
        folder / f"{name}.certificate.json",
    )
    if proof.published is proof.proof.publication.tables[0]:
        write_witnesses(proof.proof.examination, folder / f"{name}.witnesses.npz")
        if proof.proof.insiders is not None:
            whole = proof.proof
            write_insiders(
                whole.publication, whole.examination, proof.attacker, proof.proof.insiders,
                whole.original, folder, keys,
            )  # fmt: skip
    _write_sums(result, folder, keys)


def write_internal_changed(result: PerturbedResult, folder: Path, look: Look) -> None:
    """Write the office's files of a table with changed values."""
    name, certificate = result.name, result.certificate
    _write_cells(name, result.internal_cells, folder, look)
    _write_exchanged_changed(result, folder, look)
    if "html" in look.formats:
        write_internal_changed_report(
            result.published,
            {**certificate.public(), **certificate.internal(), "software": software()},
            result.settings,
            result.utility.lines(look.language),
            result.utility.rows(look.language),
            folder / f"{name}.report.html",
            title=look.titles.get(name),
            language=look.language,
        )
    write_json(
        {**certificate.internal(), **result.settings, "software": software()},
        folder / f"{name}.certificate.json",
    )


def write_certificate_only(
    certificate: NoiseCertificate,
    settings: Mapping[str, Any],
    folder: Path,
    look: Look,
    public: Mapping[str, Any],
) -> None:
    """Write the office's file of a table without true values."""
    content = {**certificate.internal(), **settings, "software": software()}
    write_json(content, folder / f"{certificate.published.name}.certificate.json")


def _write_cells(name: str, cells: pa.Table, folder: Path, look: Look) -> None:
    """The office's table in the formats asked for."""
    write_internal_csv(cells, folder / f"{name}.cells.csv", look.neutralise)
    if "parquet" in look.formats:
        write_columns_parquet(cells, folder / f"{name}.cells.parquet")
    if "xlsx" in look.formats:
        write_internal_xlsx(cells, folder / f"{name}.cells.xlsx", look.language)


def _write_exchanged(result: Result, folder: Path, look: Look) -> None:
    """The office's table in the formats for exchange: every value, and why a cell is hidden."""
    if not set(look.formats) & set(EXCHANGE):
        return
    names = (*result.sensitivity.reasons, "")
    counted = result.table.count if result.published.frequency else None
    cube = kept_cube(
        _public_cube(result.published, look),
        result.table.measure.sum if counted is None else counted,
        result.table.empty,
        result.status.ravel().tolist(),
        [names[reason] for reason in result.sensitivity.reason.ravel().tolist()],
        str(result.settings.get("rule", "")),
    )
    write_exchange(cube, folder, f"{result.name}.cells", look.formats, look.agency)


def _write_exchanged_changed(result: PerturbedResult, folder: Path, look: Look) -> None:
    """The same of changed values: before, after, and the difference."""
    if not set(look.formats) & set(EXCHANGE):
        return
    public = _public_cube(result.published, look)
    cube = kept_changed_cube(public, result.table.measure.sum, result.noise)
    write_exchange(cube, folder, f"{result.name}.cells", look.formats, look.agency)


def _public_cube(published: Published, look: Look) -> Cube:
    return public_cube(published, look.titles.get(published.name), look.language, look.symbols)


def _write_sums(result: Result, folder: Path, keys: SecretKeys) -> None:
    """The sums of cells that were judged, if a contributor was to be withstood."""
    proof = result.certificate.proof
    if proof.unsafe is not None and result.certificate.attacker.contributor:
        own = proof.unsafe.of_table(proof.publication, proof.place_of(result.published))
        write_sums(result.published, own, folder, keys)
