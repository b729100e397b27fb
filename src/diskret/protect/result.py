"""What a protection verb returns: the office's view, the public view, and the proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.attack import Explanations, SuppressionCertificate, UnsafeSums, explain
from diskret.attack.certificate import Proof
from diskret.deadline import Deadline
from diskret.errors import DiskretError, InputError
from diskret.io import FrameKind, from_arrow
from diskret.keys import SecretKeys
from diskret.progress import Progress, silent
from diskret.protect.editions import since_columns
from diskret.protect.explanations import explanation_columns
from diskret.rules import Sensitivity
from diskret.tables import Derived, Difference, Earlier, Published, Table
from diskret.tables.cells import public_columns, table_columns

if TYPE_CHECKING:
    from diskret.publish.contract import Internal, Look, Memory, Protected, Release
    from diskret.publish.formats.symbols import SymbolSet
    from diskret.publish.maps import Places


def release_of(
    result: Protected,
    inputs: Mapping[str, str],
    internal: Internal,
    memory: Callable[[str], Memory],
) -> Release:
    """What is written and recorded of a protected table, whatever the method."""
    from diskret.publish.contract import Release
    from diskret.publish.pages.public import write_public_report

    return Release(
        public=result.published,
        certificate=result.certificate.public(),
        inputs=inputs,
        page=partial(write_public_report, result.published),
        internal=internal,
        memory=memory,
    )


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
    position
        State of the ledger, `Ledger.position`, that the table was protected beside; None: it was
        protected without a ledger.
    """

    table: Table
    sensitivity: Sensitivity
    certificate: SuppressionCertificate
    settings: Mapping[str, Any]
    position: str | None = None

    @property
    def bound(self) -> float | None:
        """The least that any safe pattern costs, if the method proves one. Confidential.

        For tables protected together it is that of all of them. Proven up to the tolerances
        of the linear solver, unlike protection, which is checked exactly.
        """
        return self.settings.get("bound")

    @property
    def gap(self) -> float | None:
        """How much cheaper a pattern could be at most, as a share of the cost. Confidential."""
        return self.settings.get("gap")

    @property
    def work(self) -> int:
        """Steps that the search for the pattern took; see `budget` of `suppress`. Confidential."""
        return self.settings["work"]

    def __repr__(self) -> str:
        hidden = int(self.published.suppressed.sum())
        return f"Result({self.name!r}: {self.published.value.size:,} cells, {hidden:,} suppressed)"

    def _repr_html_(self) -> str:
        from diskret.tables.card import card_of_published

        return card_of_published(self.published, "Result")

    def losses(self, language: str = "en") -> Sequence[str]:
        """None: what is hidden is counted on the certificate."""
        return ()

    @property
    def before(self) -> Table:
        """The table before it was protected. Confidential."""
        return self.table

    def remembered(self, release: str) -> Earlier:
        """What later tables have to know of this one, once a release holds it. Confidential."""
        return Earlier(
            release=release,
            published=self.published,
            original=self.table.measure.sum,
            requirements=self.certificate.requirements,
            contributions=self.table.contributions,
            unsafe=self.unsafe_sums,
            sums=self.proof.publication.sums,
            weight=self.table.weight,
        )

    @property
    def proof(self) -> Proof:
        """How hidden cells were proven to be, with all tables attacked together. Confidential."""
        return self.certificate.proof

    @property
    def known(self) -> None:
        """How far true values can lie from published ones: those that are shown are true."""
        return None

    def release(
        self,
        keys: SecretKeys,
        *,
        explain: int = 0,
        previous: Published | None = None,
        progress: Progress = silent,
    ) -> Release:
        """What is written and recorded of the table.

        Parameters
        ----------
        keys
            The office's keys, for fingerprints.
        explain
            As of `write`.
        previous
            The table as the last delivery showed it.
        progress
            Told about the task ``"explain"``.
        """
        from diskret.publish.contract import Memory
        from diskret.publish.office.tables import fingerprint
        from diskret.publish.store.cells import keyed_contributions

        found = self.explanations_if_any(explain, progress) if explain else None

        def internal(folder: Path, look: Look, certificate: Mapping[str, Any]) -> None:
            from diskret.protect.write_internal import write_internal

            write_internal(self, folder, look, found, keys, previous)

        def memory(release: str) -> Memory:
            who = self.table.contributions
            keyed = who and keyed_contributions(who, keys)
            return Memory(replace(self.remembered(release), contributions=keyed))

        mark = fingerprint(keys, self.published, self.table)
        return release_of(self, {"table": mark}, internal, memory)

    @property
    def unsafe_sums(self) -> UnsafeSums | None:
        """Sums of cells of this table that a contributor must not know closely. Confidential."""
        proof = self.proof
        if proof.unsafe is None or not self.certificate.attacker.contributor:
            return None
        return proof.unsafe.of_table(proof.publication, proof.place_of(self.published))

    @property
    def published(self) -> Published:
        """An attacker's whole view of the protected table."""
        return self.certificate.published

    @property
    def name(self) -> str:
        """Name of the published table and its files."""
        return self.published.name

    @property
    def frame_kind(self) -> FrameKind:
        """The kind of frame that the user brought and gets back."""
        return self.table.frame_kind

    @property
    def public(self) -> Any:
        """Codes, values (null if suppressed) and status published | suppressed | empty.

        The user's own kind of frame; one row for each combination of codes.
        """
        return from_arrow(public_columns(self.published), self.frame_kind)

    @property
    def cells(self) -> Any:
        """The office's table: codes, all original figures, status, levels and the reason.

        `status` is published | primary | secondary | empty. Confidential. The user's own
        kind of frame; one row for each combination of codes.
        """
        return from_arrow(self.internal_cells, self.frame_kind)

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

    def explain(
        self,
        limit: int | None = None,
        progress: Progress = silent,
        *,
        time_limit: float | None = None,
    ) -> Any:
        """Why each secondary is hidden: which cells need it, and what would be known of them.

        Each secondary in turn is imagined to be published with its value, all else as it is.
        Confidential.

        Parameters
        ----------
        limit
            Largest amount of work: one for each secondary, and one for each linear programme
            that witnesses do not spare, n² times as much where n thousand cells hang together;
            None: no limit. What is left then is said to be ``not examined``.
        progress
            Called with ``("explain", secondaries done, all secondaries)``.
        time_limit
            Seconds after which the rest is ``not examined``, too.

        Returns
        -------
        frame
            The user's own kind, with one or more rows for each secondary:

            - its codes;
            - `kind`: ``protects`` a primary; ``hides`` another secondary, whose exact value
              could be computed otherwise; ``together``: published alone it would do no harm,
              so it is needed only together with others, or not at all; ``contributors``: the
              same, hidden because contributors could tell a cell or sum too closely
              otherwise; ``not examined``;
            - ``needed_by_<dimension>``: the codes of the cell that needs it (null if none);
              where several tables are protected together, `needed_in` names its table and
              the codes of another table stand together in `needed_by`;
            - `lower`, `upper`: what the certificate's attacker could compute for that cell;
              equal where the value would be known exactly, null where nothing bounds it;
            - `required_lower`, `required_upper`, `required_width`: the interval must reach
              that far on both sides and be that wide (null, null, the last published unit if
              a secondary needs it).

        Examples
        --------
        >>> import diskret as dk
        >>> cells = pa.table({"region": ["N", "S", "W"], "firms": [7, 2, 5]})
        >>> table = dk.Table.from_cells(cells, by={"region": None}, count="firms")
        >>> dk.suppress(table, dk.rules.MinimumFrequency(3)).explain().to_pylist()
        [{'region': 'W', 'kind': 'protects', 'needed_by_region': 'S', 'lower': 2, 'upper': 2, \
'required_lower': 1, 'required_upper': 3, 'required_width': 1}]
        """
        found = self.explanations(limit, Deadline.after(time_limit).watched(progress))
        return from_arrow(self.explanation_cells(found), self.frame_kind)

    def since(
        self, previous: Published, limit: int | None = None, progress: Progress = silent
    ) -> Any:
        """What is hidden or shown for the first time since the last delivery, and why.

        Cells are matched by their codes. Confidential.

        Parameters
        ----------
        previous
            The table as it was delivered last, e.g. ``Published.read(folder, name)``; it has the
            same variables, in any order.
        limit, progress
            As of [`explain`][diskret.Result.explain].

        Returns
        -------
        frame
            The user's own kind, with a row for each cell that is newly ``hidden`` or newly
            ``shown`` (`change`): its codes; `previous` (null if it was hidden or not there),
            `previous_status` (published | suppressed | empty | absent), `now` (the true value),
            `status` (as in `cells`);

            - `why`: ``rule`` (unsafe now, see `rule`), the kind of reason of a secondary as
              `explain` gives it (``protects``, ``hides``, ``together``, ``contributors``,
              ``not examined``), or ``not needed`` of what is shown;
            - `needed_by`: the cells that a secondary is hidden for; `needed_by_new`: whether one
              of them is newly hidden, too (null: none is in this table);
            - `equations_changed`: whether the parent, siblings or children of one of its codes
              are others than in the last delivery.

        Raises
        ------
        InputError
            The tables have other variables or measures, or are about the same cells.

        Examples
        --------
        >>> import diskret as dk
        >>> cells = pa.table({"region": ["N", "S", "W"], "firms": [7, 2, 5]})
        >>> by, rule = {"region": None}, dk.rules.MinimumFrequency(3)
        >>> last = dk.suppress(dk.Table.from_cells(cells, by=by, count="firms"), rule)
        >>> cells = pa.table({"region": ["N", "S", "W"], "firms": [2, 8, 5]})
        >>> table = dk.Table.from_cells(cells, by=by, count="firms", vintage="2026")
        >>> found = dk.suppress(table, rule).since(last.published).to_pylist()
        >>> [(row["region"], row["change"], row["why"]) for row in found]
        [('N', 'hidden', 'rule'), ('S', 'shown', 'not needed')]
        """
        Difference("since", self.published, previous)  # they can be compared
        columns = since_columns(self, previous, self.explanations(limit, progress))
        return from_arrow(columns, self.frame_kind)

    def explanations(self, limit: int | None = None, progress: Progress = silent) -> Explanations:
        """The same by positions of cells in C order and in scaled units. Confidential."""
        proof = self.proof
        found = explain(
            proof.publication,
            proof.examination,
            proof.requirements,
            proof.original,
            self.certificate.attacker,
            about=self._start + np.flatnonzero(self.published.suppressed),
            unclaimed=proof.unclaimed,
            limit=limit,
            progress=progress,
        )
        return found if proof.insiders is None else found.for_contributors(proof.insiders.hidden)

    def explanations_if_any(self, limit: int, progress: Progress) -> Explanations:
        """The same for a release, which is never refused for want of an explanation."""
        try:
            return self.explanations(limit, progress)
        except DiskretError:  # what is claimed has been proven; the reasons come on top of it
            secondary = np.flatnonzero(self.status.ravel() == "secondary")
            return Explanations.none(self._start + secondary)

    def explanation_cells(self, found: Explanations) -> pa.Table:
        """Explanations as `explain` returns them, as an Arrow table."""
        proof = self.proof
        return explanation_columns(
            proof.publication, self.published, found, proof.requirements, proof.original
        )

    def own_explanations(self, found: Explanations) -> Explanations:
        """The same at the positions of this table's cells, and about these alone."""
        return found.within(self._start, self._start + self.published.value.size)

    @property
    def _start(self) -> int:
        """Position of the first cell among all tables that were protected together."""
        proof = self.proof
        return int(proof.publication.starts[proof.place_of(self.published)])

    def safe_intervals(
        self,
        keys: SecretKeys | str | PathLike[str] | None = None,
        progress: Progress = silent,
    ) -> Any:
        """An interval for every suppressed cell that may be published in place of its value.

        All intervals are proven together: an attacker who knows them and every equation still
        cannot come closer to a value than the rules allow. A secret key decides where in its
        interval a value lies, so its middle says nothing, and the same table always gets the
        same intervals. ``write(..., intervals=True)`` publishes them.

        Parameters
        ----------
        keys
            The office's secret keys; see `SecretKeys`.
        progress
            Called with ``("attack", done, total)``.

        Returns
        -------
        frame
            The user's own kind, with a row for each suppressed cell: its codes, `lower` and
            `upper` in published units (null: no bound).

        Raises
        ------
        InputError
            The table was protected together with others; use ``write`` for all of them.
        ProofError
            No intervals could be proven safe.

        Examples
        --------
        >>> import diskret as dk
        >>> cells = pa.table({"region": ["N", "S", "W"], "firms": [70, 2, 50]})
        >>> table = dk.Table.from_cells(cells, by={"region": None}, count="firms")
        >>> result = dk.suppress(table, dk.rules.MinimumFrequency(3))
        >>> frame = result.safe_intervals(keys=dk.SecretKeys(bytes(range(32))))
        >>> [row["lower"] <= 2 <= row["upper"] for row in frame.to_pylist()][:1]
        [True]
        """
        from diskret.protect.safe_intervals import with_intervals

        if len(self.proof.publication.own) > 1:
            raise InputError(
                f"{self.name!r} was protected together with other tables, so their intervals must "
                "be proven together: write all of them with write([...], folder, intervals=True)"
            )
        [result] = with_intervals([self], SecretKeys.load(keys), progress)
        shown = public_columns(result.published)
        hidden = shown.filter(pc.equal(shown["status"], "suppressed"))
        names = [*(d.name for d in self.table.dimensions), "lower", "upper"]
        return from_arrow(hidden.select(names), self.frame_kind)

    def write(
        self,
        folder: str | PathLike[str],
        formats: Sequence[str] = ("csv", "xlsx"),
        *,
        language: str = "en",
        symbols: str | SymbolSet = "de-classic",
        title: str | None = None,
        template: str | PathLike[str] | None = None,
        keys: SecretKeys | str | PathLike[str] | None = None,
        intervals: bool = False,
        explain: int = 500,
        derived: Sequence[Derived] = (),
        neutralise: bool = False,
        agency: str = "OFFICE",
        places: Places | None = None,
        releases: Sequence[str | PathLike[str]] = (),
        previous: str | PathLike[str] | None = None,
        progress: Progress = silent,
    ) -> Path:
        """Write ``public/`` and ``internal/`` into a folder; all or nothing.

        Parameters
        ----------
        folder
            A new folder, or one that diskret wrote before, which is then replaced.
        formats
            ``"csv"`` (always written, for it is what `verify` reads), ``"parquet"``,
            ``"xlsx"``, and
            ``"html"`` for a report that shows what is suppressed and what can be computed; for
            exchange ``"px"``, ``"jsonstat"`` (2.0), and SDMX-CSV 1.0 and 2.0, ``"sdmx1"`` and
            ``"sdmx2"``; where a variable tells places ``"map"`` for a page with a map of them,
            and ``"geojson"``, ``"geoparquet"`` and ``"gpkg"`` (GeoPackage), which need the extra
            ``geo``; ``"script"`` puts ``verify.py`` beside them, with which anybody checks the
            release without diskret.
        language
            Of workbooks and reports: ``"en"`` or ``"de"``.
        symbols
            Symbol set of workbooks: ``de-classic``, ``de-letters``, ``sdmx``, ``px``,
            ``eurostat``; or a set of your own.
        title
            Heading of workbooks and reports.
        template
            A workbook (``.xlsx``) in the layout of the office with placeholders such as
            ``{{table: rows=nace; columns=size}}``; a filled copy of it, under the same name, is
            one of the public files. See the page on workbook templates.
        keys
            The office's secret keys, for the fingerprints of the inputs; see `SecretKeys`.
        intervals
            Publish a safe interval for every suppressed cell, see
            [`safe_intervals`][diskret.Result.safe_intervals]: columns ``lower`` and ``upper``.
        explain
            How much work the reasons of secondaries may take, the `limit` of
            [`explain`][diskret.Result.explain]; they stand in ``internal/`` only. 0: none.
        derived
            Means, shares, growth rates and indices made with
            [`diskret.derive`][diskret.protect.derive]; ``<name>.csv`` each. All that they
            are made of must be published here or in `releases`.
        neutralise
            Put an apostrophe before names and codes that a spreadsheet would run as formulas when
            it opens a CSV file (``=``, ``@``, tab; ``+`` and ``-`` but before a number); `verify`
            and `Published.read` take it away again. Without it there is a warning.
        agency
            Who maintains the dataflow that SDMX-CSV names: an identifier such as ``DE2``.
        places
            For maps: variable → the borders of its codes, [`Areas`][diskret.spatial.Areas]. Grid
            cells need none, their ids tell where they lie. Maps show the finest codes.
        releases
            Folders of other releases, e.g. that of the earlier period of a growth rate.
        previous
            Folder of the last delivery, in which a table has the same name: what is shown
            otherwise now is written into ``<name>_difference.csv``, and what is hidden or shown for
            the first time, and why, into ``internal/``, see [`since`][diskret.Result.since].
        progress
            Called with ``("explain", secondaries done, all secondaries)``.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        InputError
            The folder holds other files, an option is unknown, or a derived figure is made of
            something that is not published.
        ProofError
            Something that must not leave would have been written; nothing was.
        """
        from diskret.protect.write import write_one

        return write_one(
            self,
            folder,
            formats,
            title,
            language=language,
            symbols=symbols,
            template=template,
            keys=keys,
            intervals=intervals,
            explain=explain,
            derived=derived,
            neutralise=neutralise,
            agency=agency,
            places=places,
            releases=releases,
            previous=previous,
            progress=progress,
        )
