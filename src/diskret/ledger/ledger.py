"""The ledger: what was published, so that the next table cannot undo it."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

import diskret.unrepeatable as unrepeatable
from diskret.attack import Attacker, Requirements
from diskret.errors import InputError, MeasureError
from diskret.keys import SecretKeys
from diskret.ledger.beside_all import Again, check_beside_all
from diskret.ledger.check import WORK, CheckReport, check, to_publish
from diskret.ledger.entries import (
    as_earlier,
    earlier_tied_to,
    published_by,
    recorded,
    said_otherwise,
)
from diskret.ledger.narrowed_cells import BrokenCell
from diskret.ledger.refusals import attack_again
from diskret.ledger.who import who_of
from diskret.progress import Progress, silent
from diskret.protect.linked import check_valued
from diskret.protect.write import (
    DEFAULT_FORMATS,
    WritingSeveral,
    checked,
    intervals_of,
    write,
)
from diskret.publish.contract import Protected, software
from diskret.publish.staging import Stage
from diskret.publish.store import store
from diskret.publish.store.cells import Row
from diskret.publish.store.entry import Entry, LedgerRelease, releases_of
from diskret.tables import (
    Earlier,
    MeasureSum,
    Perturbed,
    Publication,
    Published,
    Table,
    together,
)
from diskret.tables.one_measure import remembered
from diskret.tables.ties import refuse_two_spellings
from diskret.texts.numbers import Count


class Ledger:
    """Everything that was published, in order and sealed. Confidential.

    Parameters
    ----------
    place
        A SQLite file, or the url of a PostgreSQL database that a team shares:
        ``postgresql://user@host/database``. It must be there: `Ledger.create` makes a new one.
    keys
        The office's secret keys; see `SecretKeys`. Without the keys that a ledger was made with
        it cannot be read.
    wait
        Seconds to wait while others publish.

    Raises
    ------
    InputError
        There is no ledger, or it cannot be opened.
    KeyFileError
        It was made with other keys.
    VerificationError
        Something in it was changed, removed or reordered.

    Examples
    --------
    >>> import pyarrow as pa, tempfile, diskret as dk
    >>> home = Path(tempfile.mkdtemp())
    >>> cells = pa.table({"region": ["N", "S", "W"], "firms": [7, 2, 5]})
    >>> table = dk.Table.from_cells(cells, by={"region": None}, count="firms")
    >>> result = dk.suppress(table, dk.rules.MinimumFrequency(3))
    >>> ledger = Ledger.create(home / "releases.db", keys=dk.SecretKeys(bytes(range(32))))
    >>> ledger.publish(result, home / "firms-2025", formats=["csv"], who="clerk").name
    'firms-2025'
    >>> [earlier.release for earlier in ledger.earlier([table])]
    ['firms-2025']
    """

    def __init__(
        self,
        place: str | PathLike[str],
        keys: SecretKeys | str | PathLike[str] | None = None,
        *,
        wait: float = 60,
    ):
        self._store = store.open_store(place, SecretKeys.load(keys, create=False), wait)

    @classmethod
    def create(
        cls,
        place: str | PathLike[str],
        keys: SecretKeys | str | PathLike[str] | None = None,
        *,
        wait: float = 60,
    ) -> Ledger:
        """Make a new, empty ledger, readable by its owner only, and open it.

        Parameters
        ----------
        place, keys, wait
            As for `Ledger`.

        Raises
        ------
        InputError
            There is a ledger already, the file is something else, or it cannot be created.
        """
        secret = SecretKeys.load(keys)
        store.create_store(place, secret, wait)
        return cls(place, secret, wait=wait)

    def __repr__(self) -> str:
        return f"Ledger({self._store.name!r})"

    # ── reading ─────────────────────────────────────────────────────────────────

    @property
    def position(self) -> str:
        """Number and seal of the last entry: equal as long as nothing was entered."""
        with store.read(self._store) as connection:
            return store.position(connection, self._store)

    def releases(self) -> list[LedgerRelease]:
        """All releases in order, withdrawn ones too."""
        with store.read(self._store) as connection:
            return releases_of(store.entries(connection, self._store))

    def check_free(self, name: str) -> None:
        """Refuse the name of a release that there is already.

        Raises
        ------
        InputError
            It is taken.
        """
        with store.read(self._store) as connection:
            _check_free(store.entries(connection, self._store), name)

    def release(self, name: str) -> LedgerRelease:
        """The release of a name.

        Raises
        ------
        InputError
            There is none.
        """
        return _named(self.releases(), name)

    def earlier(
        self, tables: Sequence[Table | Published], sums: Sequence[MeasureSum] = ()
    ) -> list[Earlier]:
        """The tables of all releases that say something of new ones. Confidential.

        That are tables of the same measure and vintage whose populations can have records in
        common, tables that are tied by sums of measures, and what is tied to these in turn.
        Withdrawn releases count: the world has seen them.

        Parameters
        ----------
        tables
            The new tables.
        sums
            Equations between measures that the new tables state.
        """
        with store.read(self._store) as connection:
            entries = store.entries(connection, self._store)
            refuse_two_spellings(tables, [note for entry in entries for note in entry.tables])
            wanted = earlier_tied_to(entries, [table.about for table in tables], sums)
            return store.load(connection, self._store, wanted)

    def tables(self, name: str) -> list[Earlier]:
        """The tables of one release. Confidential."""
        entry = self.release(name).entry
        with store.read(self._store) as connection:
            wanted = [(entry, at) for at in range(len(entry.tables))]
            return store.load(connection, self._store, wanted)

    def check(
        self,
        tables: Any,
        *,
        sums: Sequence[MeasureSum] = (),
        attacker: Attacker | None = None,
        limit: int | None = WORK,
        progress: Progress = silent,
    ) -> CheckReport:
        """Whether tables may be published as they are, and if not, what breaks which release.

        Everything is attacked together. Each cell of an earlier release has to keep what was
        required of it; a cell that was hidden for the sake of others must not be known exactly,
        unless it is published itself. Of results of `suppress` the same is asked. Where an earlier
        release is protected against contributors, each of them is tried with what is theirs, as
        when it is published; the cell's own level is asked for then, whatever is theirs.

        Parameters
        ----------
        tables
            A `Publication` or `Published`; or a `Table`, of which every cell would be published, a
            `Result`, a `PerturbedResult` with a known bound, or a list of these. Changed values
            count as the intervals that they stand for; nothing is asked of these themselves.
        sums
            Equations between measures.
        attacker
            Who attacks; None: the plain outsider.
        limit
            Largest amount of work to find out which new cells are to blame: unknown cells in all
            linear programmes together; None: no limit.
        progress
            Called with ``("attack", done, total)``.

        Raises
        ------
        InputError
            A table contradicts an earlier one; names the release.
        """
        shown, given = to_publish(tables)
        before = self.earlier(shown, [*sums, *given])
        return check(tables, before, sums=sums, attacker=attacker, limit=limit, progress=progress)

    def verify(self, releases: Sequence[str | PathLike[str]] = ()) -> int:
        """Check every entry, every cell of every table, and the public files of releases.

        The public files must have the digests that the ledger keeps, wherever the folder that a
        release was written into still holds it.

        Parameters
        ----------
        releases
            Folders of published releases, with the office's files, wherever they are now. Each
            says which entry it is; so it is found out if an old copy was put in the ledger's place.

        Returns
        -------
        int
            The number of entries.

        Raises
        ------
        VerificationError
            Something was changed, removed, added or reordered; names the entry, or the files.
        """
        with store.read(self._store) as connection:
            return store.verify(connection, self._store, releases)

    # ── adding ──────────────────────────────────────────────────────────────────

    def publish(
        self,
        results: Protected | Sequence[Protected],
        folder: str | PathLike[str],
        formats: Sequence[str] = DEFAULT_FORMATS,
        *,
        name: str | None = None,
        who: str | None = None,
        revises: Collection[str] | None = None,
        intervals: bool = False,
        again: Again = attack_again,
        **options: Unpack[WritingSeveral],
    ) -> LedgerRelease:
        """Write results into a folder and record them: both, or neither.

        Publications go one after the other. What the ledger has learnt since the results were
        protected is attacked together with them first. A process that is killed leaves either
        the files in place and the release recorded, or nothing, once the ledger is opened again.

        Parameters
        ----------
        results
            A result, or all that were protected together. Tables with changed values are
            recorded as the intervals that their values stand for; of those without a known bound
            only the values, for nothing can be proven beside them but that no cell gets another.
        folder, formats, intervals
            As for [`write`][diskret.write].
        name
            Name of the release, unique in the ledger; by default that of the folder.
        who
            Who publishes; by default the name of the login.
        revises
            Vintages of which the results are a revision, attacked together with what was delivered
            first, see [`check_revision`][diskret.ledger.revisions.check_revision]: values may be
            the same. None: nothing is said, and there is a warning where they mostly are.
        again
            The attack on results together with earlier tables; raises an error to refuse.
        **options
            All other options of [`write`][diskret.write], but `keys`.

        Returns
        -------
        LedgerRelease
            As it was recorded.

        Raises
        ------
        InputError
            The name is taken, others publish for longer than `wait`, or an option does not fit; or
            the values are those of an earlier release in another measure or of another vintage.
        ProofError
            Together with earlier releases something would not be protected; nothing was
            written.
        """
        keys = self._store.keys
        results = list(results) if isinstance(results, Iterable) else [results]
        checked(results, formats, options.get("language", "en"))
        if intervals:
            results = intervals_of(results, keys, options.get("progress", silent))
        name = Path(folder).resolve().name if name is None else name
        who = who_of(who)
        with store.change(self._store) as connection:
            entries = store.entries(connection, self._store)
            _check_free(entries, name)
            check_beside_all(
                results,
                entries,
                lambda wanted: store.load(connection, self._store, wanted),
                since=store.position(connection, self._store),
                revises=revises,
                again=again,
                always=intervals,
                progress=options.get("progress", silent),
            )

            def described() -> tuple[Entry, list[Row]]:
                entry = Entry(0, "publish", name, who, unrepeatable.now(), software=software())
                return published_by(entry, [result.release(keys) for result in results], keys)

            def staging(folder: str | PathLike[str]) -> AbstractContextManager[Stage]:
                return store.entering(connection, self._store, name, folder, described)

            write(results, folder, formats, keys=keys, staging=staging, **options)
        return self.release(name)

    def record(
        self,
        published: Published | Publication,
        name: str,
        *,
        who: str | None = None,
        why: str = "",
        noise: Perturbed | None = None,
        original: Sequence[NDArray[np.int64] | None] | None = None,
        requirements: Sequence[Requirements] | None = None,
    ) -> LedgerRelease:
        """Record what was published without this ledger: elsewhere, or before there was one.

        Parameters
        ----------
        published
            What the world saw.
        name
            Name of the release, unique in the ledger.
        who
            Who records it; by default the name of the login.
        why
            Where it comes from.
        noise
            How published values differ from the true ones, if they were rounded or perturbed to
            protect them. They are recorded as the intervals that they stand for.
        original
            Original values of each table in scaled integers, or None where they are not known.
        requirements
            Levels of the primary cells of each table; they need original values.

        Raises
        ------
        InputError
            The name is taken; `original` or `requirements` do not fit the tables; values are no
            multiples of the base that `noise` names; or they contradict each other or an earlier
            release, so that nothing could be proven beside them any more.

        Warns
        -----
        UserWarning
            Together with it, cells that earlier releases protect can be computed; or its values are
            those of an earlier release in another measure or of another vintage.
        """
        keys = self._store.keys
        found = as_earlier(name, together(published), noise, original, requirements)
        shown = Publication(tuple(one.published for one in found), found[0].sums)
        broken = self.check(shown, limit=0).broken
        opened = [cell for cell in broken if cell.release and not cell.already]
        if opened:
            warnings.warn(_opened(opened), stacklevel=2)
        entry = Entry(0, "record", name, who_of(who), unrepeatable.now(), why, sums=found[0].sums)
        with store.change(self._store) as connection:
            entries = store.entries(connection, self._store)
            _check_free(entries, name)
            otherwise = said_otherwise(entries, shown.tables)
            before = store.load(connection, self._store, otherwise)
            try:
                values = [value for one in found for value in remembered(one)]
                check_valued(values, before, found[0].sums)
            except MeasureError as error:
                warnings.warn(str(error), stacklevel=2)
            described = recorded(entry, found, "" if noise is None else repr(noise), keys)
            store.add(connection, self._store, *described)
        return self.release(name)

    def withdraw(self, name: str, why: str, who: str | None = None) -> LedgerRelease:
        """Note that a release was withdrawn. The world has seen it, so it counts as before.

        Parameters
        ----------
        name
            The release.
        why
            The reason.
        who
            Who withdrew it; by default the name of the login.

        Raises
        ------
        InputError
            There is no such release, it is withdrawn already, or there is no reason.
        """
        if not why.strip():
            raise InputError("a withdrawal needs a reason: why=")
        entry = Entry(0, "withdraw", name, who_of(who), unrepeatable.now(), why)
        with store.change(self._store) as connection:
            release = _named(releases_of(store.entries(connection, self._store)), name)
            if release.withdrawn is not None:
                raise InputError(
                    f"release {name!r} was withdrawn already, by {release.withdrawn.who} on "
                    f"{release.withdrawn.when[:10]}"
                )
            store.add(connection, self._store, entry)
        return self.release(name)


# ── names and words ─────────────────────────────────────────────────────────────────


def _opened(cells: Sequence[BrokenCell]) -> str:
    examples = "; ".join(f"{cell.release}/{cell.table}: {cell.codes}" for cell in cells[:3])
    number = Count(len(cells))
    return (
        f"with this release the world can compute {number} {number:cell|cells} that earlier "
        f"releases hide, exactly or too closely, e.g. {examples}; tables that need "
        f"{number:it|them} hidden cannot be protected any more"
    )


def _check_free(entries: Sequence[Entry], name: str) -> None:
    taken = {entry.release for entry in entries}
    if not name.strip():
        raise InputError("a release needs a name: name=")
    if name in taken:
        raise InputError(
            f"there is a release {name!r} already; give this one another name=. What was published "
            "stays in the ledger, even if its files are replaced"
        )


def _named(releases: Sequence[LedgerRelease], name: str) -> LedgerRelease:
    for release in releases:
        if release.name == name:
            return release
    near = difflib.get_close_matches(name, [release.name for release in releases])
    meant = f"; did you mean {', '.join(map(repr, near))}?" if near else ""
    raise InputError(f"the ledger holds no release {name!r}{meant}")
