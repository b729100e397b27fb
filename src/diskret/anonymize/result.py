"""Microdata that may leave, the certificate, and what the office keeps of them."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.anonymize.drawn import rows_of
from diskret.attack.microdata import MicrodataCertificate
from diskret.errors import InputError
from diskret.io import from_arrow
from diskret.io.columns import content
from diskret.io.returned import cleaned
from diskret.keys import SecretKeys
from diskret.publish.office.microdata import Inside, controlled_cells
from diskret.tables.counted import TableCounts, combined, compare_all_counts
from diskret.utility.table_deviations import TableDeviations, table_deviations

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata
    from diskret.attack.microdata.claims import Claim, Safe


def inside_of(md: Microdata, order: NDArray[np.intp]) -> Inside:
    """The rows of the microdata in the order of the release."""
    weight, named = md.weights(), md.roles.household
    return Inside(
        rows_of(md, order),
        None if weight is None else weight[order],
        _together(md, order) if named is None else _households(md.coded(named).codes[order]),
    )


def _together(md: Microdata, order: NDArray[np.intp]) -> pa.ChunkedArray | None:
    """Households that were drawn whole, also where the column that names them is gone."""
    if md.drawn is None or md.drawn.together is None:
        return None
    return pa.chunked_array([pa.array(md.drawn.together[order])])


def _households(codes: NDArray[np.int32]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(codes, mask=codes < 0)])


@dataclass(frozen=True, eq=False)
class MicrodataResult:
    """Released microdata. Only `public` may leave the office.

    Made by [`Microdata.release`][diskret.Microdata].

    Parameters
    ----------
    name
        Name of the file.
    microdata
        What it was made from. Confidential.
    table
        What leaves, as an Arrow table.
    order
        For each released record its position in the microdata, ``(n,)``. Confidential.
    claims
        What was claimed. Confidential.
    certificate
        What was checked; its ``public()`` part is written beside the records.
    arguments
        How it was released. Confidential.
    keys
        The office's keys; not pickled with the rest, so that a result read from a pickle takes
        those given to `write`, or the office's key file.
    controlled
        Of a safe file: the cells of the controlled tables in the original. Confidential.
    """

    name: str
    microdata: Microdata
    table: pa.Table
    order: NDArray[np.intp]
    claims: tuple[Claim | Safe, ...]
    certificate: MicrodataCertificate
    arguments: Mapping[str, Any]
    keys: SecretKeys | None = field(default=None, repr=False)
    controlled: tuple[TableCounts, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        columns = ", ".join(self.table.column_names)
        return f"MicrodataResult({self.name!r}: {self.table.num_rows:,} records of {columns})"

    def _repr_html_(self) -> str:
        from diskret.texts.card import card, named

        facts = {"records": self.table.num_rows, "columns": named(self.table.column_names)}
        said = [one.en for one in self.certificate.claimed]
        return card(f"MicrodataResult {self.name}", facts, office=False, said=said)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "keys"}

    @cached_property
    def public(self) -> Any:
        """The released records: the caller's kind of frame, with the types that came in.

        Lists of categories hold only what occurs, and there is no index and no metadata.
        """
        md = self.microdata
        numbers = {name for name in (md.roles.id, md.roles.household) if name is not None}
        return cleaned(self.table, md.kind, md.frame, numbers)

    @property
    def link(self) -> Any:
        """From the released records to those of the original file. Confidential.

        The caller's kind of frame: `record`, the position in the release, and `row`, that in the
        original file, both from 1; and the numbers of record and household in both.

        Raises
        ------
        InputError
            The records were replaced: none of them stands for a record of the original.
        """
        if not self.microdata.linked:
            raise InputError(
                "the records of a safe file stand for nobody, so there is no link to the original"
            )
        md, order = self.microdata, pa.array(self.order)
        made: dict[str, Any] = {
            "record": pa.array(np.arange(1, md.n + 1)),
            "row": pa.array(rows_of(md, self.order)),
        }
        for role in ("id", "household"):
            named: str | None = getattr(md.roles, role)
            if named is not None:
                made[f"original_{role}"] = md.table_column(named).take(order)
                if named in self.table.column_names:
                    made[f"new_{role}"] = self.table.column(named)
        return from_arrow(pa.table(made), md.kind)

    @property
    def inside(self) -> Inside:
        """What claims about risks are checked with. Confidential."""
        return inside_of(self.microdata, self.order)

    def kept(self) -> Iterator[bytes]:
        """What the office keeps to check the claims with, for a keyed fingerprint. Confidential."""
        linked = self.microdata.linked
        return content(self.inside.columns() if linked else controlled_cells(self.controlled))

    @cached_property
    def deviations(self) -> TableDeviations | None:
        """How far the controlled tables of a safe file deviate; else None. Confidential."""
        if self.microdata.linked:
            return None
        named = (name for one in self.controlled for name in (*one.columns, one.counter) if name)
        after = combined(self.table, list(dict.fromkeys(named)))
        return table_deviations(compare_all_counts(self.controlled, after))

    def write(
        self,
        folder: str | PathLike[str],
        formats: Iterable[str] = ("csv", "parquet", "html"),
        *,
        language: str = "en",
        title: str | None = None,
        keys: SecretKeys | str | PathLike[str] | None = None,
        neutralise: bool = False,
    ) -> Path:
        """Write ``public/`` and ``internal/`` into a folder; all or nothing.

        The public files are the records, the certificate and a report for readers. The internal
        ones are the certificate of the office, what was done with which settings, a report, and
        the link from released to original records; of a safe file, which has none, the cells of
        the controlled tables in the original.

        Parameters
        ----------
        folder
            The target; missing, empty, or a release written before, which is replaced.
        formats
            ``"csv"`` and ``"parquet"``, one of them at least, ``"dta"``, ``"sav"`` and
            ``"xpt"`` for Stata, SPSS and SAS (with the labels and missing codes of the file that
            the records came from, as far as they occur and the format has them; needs the extra
            ``stat``), ``"html"`` for reports, and ``"script"`` for ``verify.py``, with which
            anybody checks the release without diskret. CSV
            files are UTF-8 with commas; a missing value is an empty field, an empty text is
            ``""``.
        language
            Of the reports, ``"en"`` or ``"de"``.
        title
            Heading of the reports; None: the name.
        keys
            The office's keys, for fingerprints; None: those of the release.
        neutralise
            Put an apostrophe before texts that a spreadsheet would run as formulas when it opens
            the CSV file; `verify` takes it away again. Without it there is a warning.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        InputError
            The folder holds other files, or an option is unknown.
        ProofError
            Something that must not leave would have been written; nothing was.
        """
        from diskret.anonymize.write import write

        return write(
            self, folder, formats, language=language, title=title, keys=keys, neutralise=neutralise
        )
