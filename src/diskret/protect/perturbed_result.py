"""The outcome of methods that change values: published values, certificate, and how they differ."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.attack import NoiseCertificate
from diskret.io import FrameKind, from_arrow
from diskret.keys import SecretKeys
from diskret.progress import Progress, silent
from diskret.protect.result import release_of
from diskret.protect.write_internal import write_internal_changed
from diskret.publish.contract import Memory, Protected, Release
from diskret.publish.office.tables import fingerprint
from diskret.tables import Earlier, Perturbed, Published, Table
from diskret.tables.add_up import add_up, leaf_mask
from diskret.tables.cells import codes_columns, in_published_units, public_columns
from diskret.tables.requirements import changed_earlier
from diskret.utility import Comparison, compare

if TYPE_CHECKING:
    from diskret.protect.write import Writing


def noise_bound(table: Table, largest: float) -> Perturbed | None:
    """How far counts can lie from published ones, for a ledger, which relies on their equations.

    None where units are counted of which some are in several cells: their totals are less than
    the sums of their parts, so no equation tells anything.
    """
    count = table.measure.sum
    leaves = np.where(leaf_mask(table.dimensions), count, 0)
    adds_up = np.array_equal(add_up(leaves, [d.hierarchy for d in table.dimensions]), count)
    return Perturbed("noise", largest=largest) if adds_up else None


def memory_of(result: Protected, release: str) -> Memory:
    """What a ledger keeps of changed values."""
    how = "" if result.known is None else repr(result.known)
    return Memory(result.remembered(release), how, unbounded=result.known is None)


class ChangedValues:
    """What results of changed values have in common, whether true ones are known or not."""

    certificate: NoiseCertificate

    def _repr_html_(self) -> str:
        from diskret.tables.card import card_of_published

        return card_of_published(self.published, type(self).__name__)

    @property
    def published(self) -> Published:
        """What the world sees."""
        return cast(Published, self.certificate.published)

    @property
    def name(self) -> str:
        """Name of the published table and its files."""
        return self.published.name

    @property
    def proof(self) -> None:
        """There is none: no cell is hidden by others."""
        return None

    def write(
        self,
        folder: str | PathLike[str],
        formats: Sequence[str] = ("csv", "xlsx"),
        *,
        title: str | None = None,
        keys: SecretKeys | str | PathLike[str] | None = None,
        **options: Unpack[Writing],
    ) -> Path:
        """Write ``public/`` and ``internal/`` into a folder; all or nothing.

        Parameters
        ----------
        folder, formats, title, keys
            As for [`Result.write`][diskret.Result.write].
        **options
            Further ones of it: language, symbols, template, neutralise, agency, places,
            progress.

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
        from diskret.protect.write import write_one

        return write_one(cast(Protected, self), folder, formats, title, keys=keys, **options)


@dataclass(frozen=True, eq=False)
class PerturbedResult(ChangedValues):
    """A table with changed values. Only `public` and `published` may leave the office.

    Parameters
    ----------
    table
        The original table. Confidential.
    certificate
        What was checked; its ``public()`` part is written beside the table.
    settings
        Method and parameters, for the office's files; never keys. Confidential.
    known
        How far true values can lie from published ones, for a ledger; None: no bound can be
        relied on. Confidential.
    """

    table: Table
    certificate: NoiseCertificate
    settings: Mapping[str, Any]
    known: Perturbed | None

    def __repr__(self) -> str:
        cells = self.published.value.size
        return f"PerturbedResult({self.name!r}: {cells:,} cells, {self.published.changed})"

    def losses(self, language: str = "en") -> Sequence[str]:
        """What was lost, in sentences. Confidential."""
        return self.utility.lines(language)

    @property
    def before(self) -> Table:
        """The table before it was changed. Confidential."""
        return self.table

    def remembered(self, release: str) -> Earlier:
        """What later tables have to know of this one, once a release holds it. Confidential."""
        return changed_earlier(release, self.published, self.known, self.table.measure.sum)

    def release(
        self,
        keys: SecretKeys,
        *,
        explain: int = 0,
        previous: Published | None = None,
        progress: Progress = silent,
    ) -> Release:
        """What is written and recorded of the table; parameters as of `Result.release`."""
        return release_of(
            self,
            {"table": fingerprint(keys, self.published, self.table)},
            lambda folder, look, certificate: write_internal_changed(self, folder, look),
            partial(memory_of, self),
        )

    @property
    def frame_kind(self) -> FrameKind:
        """The kind of frame that the user brought and gets back."""
        return self.table.frame_kind

    @property
    def public(self) -> Any:
        """Codes, values (null if withheld) and status published | suppressed | empty.

        The user's own kind of frame; one row for each combination of codes.
        """
        return from_arrow(public_columns(self.published), self.frame_kind)

    @property
    def cells(self) -> Any:
        """The office's table: codes, counts, original and published values, their difference.

        `published` and `noise` are null where a value is withheld. Confidential. The user's own
        kind of frame; one row for each combination of codes.
        """
        return from_arrow(self.internal_cells, self.frame_kind)

    @property
    def noise(self) -> NDArray[np.int64]:
        """Published minus original values in scaled units, 0 where nothing is shown. Confidential.

        Shape of the table.
        """
        shown = ~(self.published.suppressed | self.published.empty)
        return np.where(shown, self.published.value - self.table.measure.sum, 0)

    @cached_property
    def utility(self) -> Comparison:
        """What was lost: deviations by size and by number of variables, and more. Confidential."""
        return compare(self.table, self.published)

    @cached_property
    def internal_cells(self) -> pa.Table:
        """`cells` as an Arrow table."""
        decimals = self.published.decimals
        blank = self.published.suppressed.ravel()

        def units(scaled: NDArray[np.int64], mask: NDArray[np.bool_] | None = None) -> pa.Array:
            return pa.array(in_published_units(scaled.ravel(), decimals), mask=mask)

        count = None if self.published.frequency else self.table.count
        return pa.table(
            {
                **codes_columns(self.table.dimensions),
                **({} if count is None else {"count": pa.array(count.ravel())}),
                "original": units(self.table.measure.sum),
                "published": units(self.published.value, blank),
                "noise": units(self.noise, blank),
            }
        )
