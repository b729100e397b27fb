"""What a protection verb returns: the office's view, the public view, and the proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.attack import SuppressionCertificate
from diskret.io import from_arrow
from diskret.keys import SecretKeys
from diskret.rules import Sensitivity
from diskret.tables import Published, Table
from diskret.tables.cells import public_columns, table_columns


@dataclass(frozen=True, eq=False)
class Result:
    """A protected and proven table. Only `public` and `published` may leave the office.

    Parameters
    ----------
    table
        The original table. Confidential.
    sensitivity
        What is unsafe and why. Confidential.
    certificate
        What was proven; its ``public()`` part is written beside the table.
    settings
        Rule, method, cost and what was set by hand, for the office's files. Confidential.
    """

    table: Table
    sensitivity: Sensitivity
    certificate: SuppressionCertificate
    settings: Mapping[str, Any]

    def __repr__(self) -> str:
        hidden = int(self.published.suppressed.sum())
        return f"Result({self.name!r}: {self.published.value.size:,} cells, {hidden:,} suppressed)"

    @property
    def published(self) -> Published:
        """An attacker's whole view of the protected table."""
        return self.certificate.published

    @property
    def name(self) -> str:
        """Name of the published table and its files."""
        return self.published.name

    @property
    def public(self) -> Any:
        """Codes, values (null if suppressed) and status published | suppressed | empty.

        The user's own kind of frame; one row for each combination of codes.
        """
        return from_arrow(public_columns(self.published), self.table.frame_kind)

    @property
    def cells(self) -> Any:
        """The office's table: codes, all original figures, status, levels and the reason.

        `status` is published | primary | secondary | empty. Confidential. The user's own
        kind of frame; one row for each combination of codes.
        """
        return from_arrow(self.internal_cells, self.table.frame_kind)

    @cached_property
    def status(self) -> NDArray[np.object_]:
        """Published | primary | secondary | empty for each cell, shape of the table."""
        status = np.full(self.table.shape, "published", dtype=object)
        status[self.published.empty] = "empty"
        status[self.published.suppressed] = "secondary"
        status[self.sensitivity.unsafe] = "primary"
        return status

    @cached_property
    def internal_cells(self) -> pa.Table:
        """`cells` as an Arrow table."""
        unit = 10**self.published.decimals

        proven = self.certificate.requirements

        def level(levels: NDArray[np.int64]) -> NDArray[Any]:
            flat = np.zeros(self.status.size, dtype=np.int64)
            flat[proven.cell] = levels
            return flat if unit == 1 else flat / unit

        rules = np.array([*self.sensitivity.reasons, ""], dtype=object)
        return pa.table(
            {
                **table_columns(self.table),
                "status": pa.array(self.status.ravel(), pa.string()),
                "rule": pa.array(rules[self.sensitivity.reason.ravel()], pa.string()),
                "lower_level": level(proven.lower),
                "upper_level": level(proven.upper),
                "sliding_level": level(proven.sliding),
            }
        )

    def write(
        self,
        folder: str | PathLike[str],
        formats: Sequence[str] = ("csv", "xlsx"),
        *,
        language: str = "en",
        symbols: str = "de-classic",
        title: str | None = None,
        keys: SecretKeys | str | PathLike[str] | None = None,
    ) -> Path:
        """Write ``public/`` and ``internal/`` into a folder; all or nothing.

        Parameters
        ----------
        folder
            A new folder, or one that diskret wrote before, which is then replaced.
        formats
            ``"csv"`` (always written, for it is what `verify` reads), ``"parquet"``,
            ``"xlsx"``, and
            ``"html"`` for a report that shows what is suppressed and what can be computed.
        language
            Of workbooks and reports: ``"en"`` or ``"de"``.
        symbols
            Symbol set of workbooks: ``de-classic``, ``de-letters``, ``sdmx``, ``px``,
            ``eurostat``.
        title
            Heading of workbooks and reports.
        keys
            The office's secret keys, for the fingerprints of the inputs; see `SecretKeys`.

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
        from diskret.workflow.write import write

        return write(
            [self],
            folder,
            formats,
            language=language,
            symbols=symbols,
            titles={} if title is None else {self.name: title},
            keys=keys,
        )
