"""The office's part of verification: requirements, witnesses, fingerprints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from diskret.attack import (
    Attacker,
    Insiders,
    Requirements,
    UnsafeSums,
    recheck,
    revealed_rests,
    targets_of,
    unknown_cells,
    unmet,
    unmet_sums,
    withstand_insiders,
)
from diskret.attack.earlier_tables import with_own_hidden
from diskret.attack.equations import equations
from diskret.attack.examination import Examination
from diskret.attack.statements import OF_RESTS, ZEROS_UNKNOWN
from diskret.errors import VerificationError
from diskret.io.columns import column, scaled_integers
from diskret.io.formulas import without_marks
from diskret.io.from_json import read_json
from diskret.keys import SecretKeys
from diskret.publish.office.tables import fingerprint_values, read_insiders, read_sums
from diskret.publish.office.witnesses import read_witnesses
from diskret.tables import Publication, Published
from diskret.tables.from_cells import locate
from diskret.texts.numbers import Count


def verify_internal(
    folder: Path,
    publication: Publication,
    certificates: Sequence[dict[str, Any]],
    keys: SecretKeys | None,
    *,
    complete: bool = True,
) -> list[str]:
    """Check the office's files of tables that were attacked together; a sentence for each table.

    Witnesses can be checked if the publication is `complete`: if it holds all tables of earlier
    releases that these were attacked with.
    """
    inside = [
        _read_table(folder, table, certificate, keys)
        for table, certificate in zip(publication.own, certificates, strict=True)
    ]
    # positions in tables of earlier releases that are missing here cannot be checked
    known = equations(publication) if complete else None
    examination = read_witnesses(folder / f"{inside[0].table.name}.witnesses.npz", known)
    if examination is not None:
        attacker = Attacker(zeros_known=_zeros_known(publication, inside))
        _check_proof(publication, inside, examination, attacker)
        unsafe = [own.unsafe for own in inside if own.unsafe is not None]
        if unsafe:  # all of them were attacked in the same way
            _check_sums(publication, inside, unsafe, examination)
            listed = read_insiders(publication, folder, keys)
            _check_insiders(publication, inside, unsafe, examination, attacker, listed)
        for own in inside:
            _check_rests(folder, publication, own)
    lines: list[str] = []
    for own in inside:
        check_fingerprint(keys, own.table, own.count, own.value, own.certificate)
        number = Count(len(own.requirements.cell))
        lines.append(
            f"{own.table.name}: requirements of {number} primary {number:cell|cells} "
            + (
                f"proven again by {len(examination.witnesses):,} "
                f"{Count(len(examination.witnesses)):witness|witnesses}"
                if examination is not None
                else "not proven again without the earlier releases"
            )
            + f"; {fingerprinted(keys)}"
        )
    return lines


def check_fingerprint(
    keys: SecretKeys | None,
    table: Published,
    count: NDArray[np.int64] | None,
    value: NDArray[np.int64],
    certificate: Mapping[str, Any],
) -> None:
    """Refuse an internal table whose fingerprint the certificate does not state."""
    if keys is None:
        return
    if fingerprint_values(keys, table, count, value) != certificate["inputs"].get("table"):
        raise VerificationError(
            f"{table.name}: the internal table is not the one that was released, or this is not "
            "the key it was released with"
        )


def fingerprinted(keys: SecretKeys | None) -> str:
    """What a line says of the fingerprint of the inputs."""
    if keys is None:
        return "input fingerprint not checked without the key"
    return "input fingerprint confirmed"


def _check_proof(
    publication: Publication,
    inside: Sequence[_Inside],
    examination: Examination,
    attacker: Attacker,
) -> None:
    """Check the witnesses, and that they prove the requirements of the tables published now."""
    if not np.array_equal(examination.cell, np.flatnonzero(publication.suppressed)):
        raise VerificationError(f"{publication.name}: the witnesses belong to another table")
    recheck(publication, examination, attacker)
    for own, found in zip(inside, examination.of_tables(publication), strict=False):
        missed = unmet(found, targets_of(own.table, own.value, own.requirements))
        if missed.any():
            number = Count(missed.sum())
            raise VerificationError(
                f"{own.table.name}: the witnesses do not prove the requirements of {number} "
                f"{number:cell|cells}"
            )


def _zeros_known(publication: Publication, inside: Sequence[_Inside]) -> bool:
    """Whether something is claimed against who knows that every hidden count is at least 1."""
    reserved = [ZEROS_UNKNOWN.en in own.certificate["not_claimed"]["en"] for own in inside]
    return publication.own[0].frequency and not all(reserved)


def _check_sums(
    publication: Publication,
    inside: Sequence[_Inside],
    unsafe: Sequence[UnsafeSums],
    examination: Examination,
) -> None:
    """Refuse sums of suppressed cells that no witness shows to be uncertain enough."""
    cells = int(publication.starts[-1])
    values = np.concatenate([own.value for own in inside])
    original = np.append(values, np.zeros(cells - len(values), dtype=np.int64))
    for own, sums, start in zip(inside, unsafe, publication.starts.tolist(), strict=False):
        missed = unmet_sums(examination, sums.among(start, cells), original)
        if missed.any():
            number = Count(missed.sum())
            raise VerificationError(
                f"{own.table.name}: the witnesses do not prove the requirements of {number} "
                f"{number:sum|sums} of suppressed cells"
            )


def _check_insiders(
    publication: Publication,
    inside: Sequence[_Inside],
    unsafe: Sequence[UnsafeSums],
    examination: Examination,
    attacker: Attacker,
    listed: tuple[Insiders, NDArray[np.int64]],
) -> None:
    """Refuse what contributors could tell who know what is theirs; all of them are gone through."""
    insiders, truth = listed
    cell, _ = unknown_cells(publication)
    _check_targets(publication, inside, unsafe, insiders, cell)
    own = int(publication.starts[len(publication.own)])
    original = np.zeros(int(publication.starts[-1]), dtype=np.int64)
    seen = cell < len(original)
    original[cell[seen]] = truth[seen]
    values = np.concatenate([one.value for one in inside])
    if not np.array_equal(original[cell[cell < own]], values[cell[cell < own]]):
        raise VerificationError(f"{publication.name}: the list of contributors is of other values")
    original[:own] = values
    _, found = withstand_insiders(publication, examination, attacker, insiders, original)
    if found.open:
        number = Count(len(found.open))
        raise VerificationError(
            f"{publication.name}: the witnesses do not prove what {number} "
            f"{number:cell or sum requires|cells or sums require} against contributors"
        )


def _check_targets(
    publication: Publication,
    inside: Sequence[_Inside],
    unsafe: Sequence[UnsafeSums],
    insiders: Insiders,
    cell: NDArray[np.int64],
) -> None:
    """Refuse a list of contributors that asks for less than the cells and sums that are unsafe."""
    rows = np.split(cell[insiders.target.indices], insiders.target.indptr[1:-1])
    levels = zip(*(most.tolist() for most in insiders.most), strict=True)
    named = [tuple(sorted(row.tolist())) for row in rows]
    # cells and sums stand before rests, which may be all that is left of one hidden cell
    asked = dict(reversed([*zip(named, levels, strict=False)]))
    for own, sums, start in zip(inside, unsafe, publication.starts.tolist(), strict=False):
        needs = own.requirements
        wanted = [(start + c,) for c in needs.cell.tolist()]
        owed = [*zip(needs.lower.tolist(), needs.upper.tolist(), strict=True)]
        parts = np.split(start + sums.member.indices, sums.member.indptr[1:-1])
        wanted += [tuple(sorted(part.tolist())) for part in parts[: len(sums)]]
        owed += zip(sums.lower.tolist(), sums.upper.tolist(), strict=True)
        wrong = sum(asked.get(t) != level for t, level in zip(wanted, owed, strict=True))
        if wrong:
            raise VerificationError(
                f"{own.table.name}: the list of contributors asks for other levels than the rule "
                f"does in {wrong:,} unsafe {Count(wrong):cell or sum|cells or sums}"
            )


_JUDGED = ("judged", "not_judged")


def _check_rests(folder: Path, publication: Publication, own: _Inside) -> None:
    """Refuse what subtraction leaves beside filters if more of it is told than was judged."""
    told = {(r.tables, *cells) for r in revealed_rests(publication) for cells in r.cells.tolist()}
    if told and publication.beside:
        before = revealed_rests(with_own_hidden(publication))
        told -= {(r.tables, *cells) for r in before for cells in r.cells.tolist()}
    name = own.table.name
    said = read_json(folder / f"{name}.certificate.json", VerificationError)
    given = [said.get(f"rests_{how}", 0) if isinstance(said, dict) else None for how in _JUDGED]
    judged, left = (number if type(number) is int else -1 for number in given)
    if judged < 0 or left < 0:
        raise VerificationError(f"{name}: the office's certificate does not say what was judged")
    claimed = any(
        line.startswith(OF_RESTS.en) for line in own.certificate.get("claimed", {}).get("en", [])
    )
    if len(told) > judged + left or (left and claimed):
        many = Count(len(told))
        raise VerificationError(
            f"{name}: subtraction leaves {many} {many:cell|cells} beside filters, and {judged:,} "
            f"{Count(judged):was|were} judged when the table was protected"
        )


@dataclass(frozen=True, eq=False)
class _Inside:
    """What the office knows of a table: original values, levels of the primary cells, counts.

    Sums that are unsafe are judged where the public certificate is about contributors.
    """

    table: Published
    certificate: Mapping[str, Any]
    value: NDArray[np.int64]
    requirements: Requirements
    count: NDArray[np.int64] | None
    unsafe: UnsafeSums | None


def _read_table(
    folder: Path, published: Published, certificate: Mapping[str, Any], keys: SecretKeys | None
) -> _Inside:
    cells = OfficeCells.read(folder, published)
    decimals = published.decimals
    value = cells.numbers(published.measure, decimals)
    status = cells.texts("status")
    _check_status(published, value, status)
    primary = np.flatnonzero(status == "primary")
    contributor = certificate.get("attacker") == "contributor"
    return _Inside(
        published,
        certificate,
        value,
        Requirements(
            cell=primary,
            lower=cells.numbers("lower_level", decimals)[primary],
            upper=cells.numbers("upper_level", decimals)[primary],
            sliding=cells.numbers("sliding_level", decimals)[primary],
        ),
        cells.counts(),
        read_sums(published, folder, keys) if contributor else None,
    )


def _check_status(
    published: Published, value: NDArray[np.int64], status: NDArray[np.object_]
) -> None:
    hidden = np.isin(status, ["primary", "secondary"])
    if not np.array_equal(hidden, published.suppressed.ravel()):
        raise VerificationError(f"{published.name}: public and internal status differ")
    shown = ~hidden
    if np.any(np.abs(value - published.value.ravel())[shown] > published.half_unit):
        raise VerificationError(f"{published.name}: public and internal values differ")


@dataclass(frozen=True, eq=False)
class OfficeCells:
    """The office's file of all cells of a table, every column as text; `at`: where a row lies."""

    frame: pa.Table
    at: NDArray[np.int64]

    @classmethod
    def read(cls, folder: Path, published: Published) -> OfficeCells:
        """The file beside a table, if it holds every cell of it."""
        frame = _read_text(folder / f"{published.name}.cells.csv")
        at = locate(frame, {d.name: d.hierarchy for d in published.dimensions})[1]
        if len(at) != published.value.size:
            raise VerificationError(
                f"{published.name}: the internal table does not hold every cell"
            )
        return cls(frame, at)

    def texts(self, name: str) -> NDArray[np.object_]:
        """A column in the order of the table, flat."""
        return self._in_order(np.asarray(column(self.frame, name).to_pylist(), dtype=object))

    def numbers(self, name: str, decimals: int, empty: str = "") -> NDArray[np.int64]:
        """A column as scaled integers, flat; `empty` is read where nothing stands."""
        text = column(self.frame, name)
        if empty:
            text = pa.chunked_array(pc.if_else(pc.equal(text, ""), empty, text))
        return self._in_order(scaled_integers(text, name, decimals))

    def counts(self, empty: str = "") -> NDArray[np.int64] | None:
        """How many contribute to each cell, if the office knows."""
        return self.numbers("count", 0, empty) if "count" in self.frame.column_names else None

    def _in_order(self, values: NDArray[Any]) -> NDArray[Any]:
        found = np.empty_like(values)
        found[self.at] = values
        return found


def _read_text(path: Path) -> pa.Table:
    """An internal file of cells, every column as text."""
    try:
        head = path.open(encoding="utf-8").readline()
        names = pa_csv.read_csv(pa.BufferReader(head.encode())).column_names
        as_text = pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        )
        return without_marks(pa_csv.read_csv(path, convert_options=as_text))
    except (OSError, ValueError, pa.ArrowException) as error:
        raise VerificationError(f"{path} cannot be read: {error}") from None
