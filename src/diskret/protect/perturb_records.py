"""Counts that are perturbed where the records lie: true ones never leave the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from diskret.attack import NoiseCertificate
from diskret.attack.cell_key_certificate import certify_unseen
from diskret.attack.cell_key_noise import largest_noise
from diskret.cellkey import Lookup, PerturbationTable
from diskret.engines import LeafQuestion
from diskret.engines.engine import Engine
from diskret.engines.perturbed_sql import NoiseIntervals
from diskret.engines.perturbed_text import perturbed_text
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io import FrameKind, Source, from_arrow, source
from diskret.io.frames import spelled
from diskret.io.placed import placed
from diskret.keys import SecretKeys, modulus_with
from diskret.population import Population
from diskret.progress import Progress, silent
from diskret.protect.perturb import fingerprint
from diskret.protect.perturbed_result import ChangedValues, memory_of
from diskret.protect.result import release_of
from diskret.protect.tabulate import engine_of
from diskret.protect.write_internal import write_certificate_only
from diskret.publish.contract import Release
from diskret.tables import Earlier, Outline, Perturbed, Published
from diskret.tables.add_up import check_size
from diskret.tables.cells import check_names, check_reserved, public_columns
from diskret.tables.dimension import Dimension, check_by
from diskret.tables.requirements import changed_earlier


@dataclass(frozen=True, eq=False)
class PerturbedRecords(ChangedValues):
    """Perturbed counts of records whose true counts nobody has seen.

    The office's files hold the certificate and the settings: there are no true counts.

    Parameters
    ----------
    certificate
        What holds by design, and what was checked without true counts; its ``public()`` part is
        written beside the table.
    settings
        Method and parameters, for the office's files; never keys. Confidential.
    known
        How far true counts can lie from published ones, for a ledger; None: no bound can be
        relied on, because units are counted, once in each total. Confidential.
    frame_kind
        The kind of frame the user brought and gets back.
    """

    certificate: NoiseCertificate
    settings: Mapping[str, Any]
    known: Perturbed | None
    frame_kind: FrameKind

    def __repr__(self) -> str:
        return f"PerturbedRecords({self.name!r}: {self.published.value.size:,} cells)"

    @property
    def public(self) -> Any:
        """Codes, values (null if withheld) and status published | suppressed | empty.

        The user's own kind of frame; one row for each combination of codes.
        """
        return from_arrow(public_columns(self.published), self.frame_kind)

    def losses(self, language: str = "en") -> Sequence[str]:
        """None that the office can know: no true count was fetched."""
        return ()

    @property
    def before(self) -> None:
        """The true table, which was not fetched."""
        return None

    def remembered(self, release: str) -> Earlier:
        """What later tables have to know of this one, once a release holds it. Confidential."""
        return changed_earlier(release, self.published, self.known)

    def release(
        self,
        keys: SecretKeys,
        *,
        explain: int = 0,
        previous: Published | None = None,
        progress: Progress = silent,
    ) -> Release:
        """What is written and recorded of the table; parameters as of `Result.release`."""
        internal = partial(write_certificate_only, self.certificate, self.settings)
        return release_of(self, {}, internal, partial(memory_of, self))


def perturb_records(
    records: Any,
    *,
    by: Mapping[str, Hierarchy | None],
    ptable: PerturbationTable | Lookup,
    record_key: str,
    key_modulus: int = 2**32,
    key_digits: int | None = None,
    unit: str | None = None,
    where: Mapping[str, Any] | Population | None = None,
    threshold: int | None = None,
    vintage: str = "",
    name: str = "count",
    engine: Callable[[Source], AbstractContextManager[Engine]] | None = None,
    progress: Progress = silent,
) -> PerturbedRecords:
    """Count records in all cells, totals included, and perturb the counts, in one statement.

    The cell key method as in [`perturb`][diskret.perturb] of a table that
    [`tabulate`][diskret.tabulate] makes, with the same counts to the last digit; but counts, key
    sums and noise stay in the engine, which gives nothing but perturbed counts. The records are
    read once, unless a filter by codes or a tree of None first asks which codes there are.

    A database gets the perturbation table as part of the statement. Whoever may read its log or
    its running statements can read it: they must be people who may know it.

    Parameters
    ----------
    records, by, unit, where, vintage, engine, progress
        As for [`tabulate`][diskret.tabulate]. With `unit`, units are counted, each once in a cell.
        Units that have records in several combinations of codes take time of their own.
    ptable
        Which noise is how likely, or a lookup; confidential.
    record_key
        Column of the records' (or units') keys, whole numbers in ``[0, key_modulus)``.
    key_modulus, key_digits
        Modulus of record keys, and of the lookup; or how many digits keys have that are decimals
        in [0, 1), as for [`tabulate`][diskret.tabulate].
    threshold
        Counts that are less than this after they were changed, zeros among them, are withheld.
    name
        Of the published table.

    Returns
    -------
    PerturbedRecords
        The perturbed table, to be written and published with a ledger like all others. Its
        certificate claims consistency by design, and that no true count was fetched; to have
        values compared with true counts, tabulate and perturb.

    Raises
    ------
    InputError
        As for [`tabulate`][diskret.tabulate]; or the lookup belongs to keys of another modulus,
        or is not for counts.
    HierarchyError
        Codes are not leaves of their tree.
    ProofError
        The engine gave counts that the perturbation table rules out.

    References
    ----------
    Fraser and Wooton (2006), "A proposed method for confidentialising tabular output to protect
    against differencing", Monographs of official statistics, Eurostat.

    Examples
    --------
    >>> import pyarrow as pa
    >>> persons = pa.table({"region": ["N", "N", "N", "S"], "key": [9, 3, 6, 4]})
    >>> one_up_or_down = PerturbationTable(
    ...     np.array([0, 1]), np.array([-1, 0, 1]), np.array([[0, 1, 0], [0.3, 0.4, 0.3]])
    ... )
    >>> asked = {"by": {"region": None}, "record_key": "key", "key_modulus": 10}
    >>> perturb_records(persons, ptable=one_up_or_down, **asked).public.to_pydict()["count"]
    [3, 4, 1]
    """
    asked = AskedCounts.of(
        records, by, ptable, record_key, key_modulus, key_digits, unit, where, threshold,
    )  # fmt: skip
    progress("perturb", 0, 1)
    with placed(records), (engine or engine_of(asked.records))(asked.records) as running:
        found = running.perturbed(asked.question, asked.noise, asked.least)
    outline = asked.outline(found.by, name, vintage)
    value = np.zeros(check_size(outline.dimensions), dtype=np.int64)
    value[tuple(found.position.T)] = found.value
    progress("perturb", 1, 1)
    published = Published.of(
        outline, value, value < (threshold or 0), np.zeros(value.shape, dtype=bool)
    )
    # units count once in each total, so no equation ties totals to their parts
    known = None if unit is not None else Perturbed("noise", largest=largest_noise(asked.lookup))
    certificate = certify_unseen(published, asked.lookup, threshold or 0)
    return PerturbedRecords(certificate, asked.settings, known, asked.records.kind)


@dataclass(frozen=True, eq=False)
class AskedCounts:
    """Which counts are perturbed, and how; checked. Confidential.

    `least` is the least perturbed count that leaves the engine.
    """

    records: Source
    question: LeafQuestion
    lookup: Lookup
    threshold: int | None

    @classmethod
    def of(
        cls,
        records: Any,
        by: Mapping[str, Hierarchy | None],
        ptable: PerturbationTable | Lookup,
        record_key: str,
        key_modulus: int,
        key_digits: int | None,
        unit: str | None,
        where: Mapping[str, Any] | Population | None,
        threshold: int | None,
    ) -> AskedCounts:
        """Arguments as of `perturb_records`; bad ones are refused before any work."""
        check_by(by)
        counted = "count" if unit is None else "units"
        check_names([*by, counted])
        check_reserved(by, [counted], changed=True)
        key_modulus = modulus_with(key_digits, key_modulus)
        lookup = lookup_of(ptable, key_modulus)
        _least(threshold)
        question = LeafQuestion(
            by=dict(by),
            unit=unit,
            record_key=record_key,
            key_modulus=key_modulus,
            key_digits=key_digits,
            where=Population.of(where),
        )
        opened = records if isinstance(records, Source) else source(records)
        opened = spelled(opened, question.numbers, told=question.told)
        return cls(opened, question, lookup, threshold)

    @property
    def noise(self) -> NoiseIntervals:
        """The lookup as engines take it."""
        return NoiseIntervals.of(self.lookup)

    @property
    def least(self) -> int:
        """See the class."""
        return _least(self.threshold)

    def outline(self, by: Mapping[str, Hierarchy], name: str, vintage: str) -> Outline:
        """What is public of the table but its cells, once all trees are known."""
        return Outline(
            name=name,
            dimensions=tuple(Dimension(column, tree) for column, tree in by.items()),
            measure="count" if self.question.unit is None else "units",
            frequency=True,
            decimals=0,
            vintage=vintage,
            where=self.question.where,
            recorded=True,
            changed="cell_key",
        )

    @property
    def settings(self) -> dict[str, Any]:
        """What the office's files say of the method."""
        return {
            "method": "cell_key",
            "changed": "counts",
            "counted": "records" if self.question.unit is None else "units",
            "true_counts": "not fetched",
            "threshold": self.threshold,
            "key_modulus": self.question.key_modulus,
            "perturbation_table": fingerprint(self.lookup),
        }


def perturbation_sql(
    table: str,
    *,
    by: Mapping[str, Hierarchy | None],
    ptable: PerturbationTable | Lookup,
    record_key: str,
    key_modulus: int = 2**32,
    unit: str | None = None,
    threshold: int | None = None,
    dialect: str = "duckdb",
) -> str:
    """The statement of [`perturb_records`][diskret.perturb_records], to run as it is.

    An administrator can make a table or view of it, so that users of a data warehouse see
    perturbed counts only. It has a row for each cell whose perturbed count is at least 1, or the
    threshold: the codes, and the count in a column ``count``. Nothing is known of other cells.

    The text holds the perturbation table and is as confidential. Where users can read how a view
    is defined, as everybody can in PostgreSQL, make a table of it: ``CREATE TABLE … AS …``.

    Nothing at all comes back while records are unusable: they have no code, or one that is no leaf
    of its tree to the letter; no key that is a whole number below the modulus; no unit; or a unit
    has two keys. `perturb_records` says which.

    Parameters
    ----------
    table
        Table or view of the records: ``"persons"``, ``"census.persons"``; upper and lower case
        count. A view can choose the records that count.
    by, ptable, record_key, key_modulus, unit, threshold
        As for [`perturb_records`][diskret.perturb_records]; every dimension needs a tree. The
        column of the keys has a type of whole numbers.
    dialect
        ``"duckdb"``, ``"postgres"`` or ``"spark"``, which are tested by running them; or
        ``"bigquery"``, ``"snowflake"`` or ``"trino"``, which are not.

    Raises
    ------
    InputError
        A dimension has no tree, the names do not fit, or there is no such dialect.

    Examples
    --------
    >>> one_up_or_down = PerturbationTable(
    ...     np.array([0, 1]), np.array([-1, 0, 1]), np.array([[0, 1, 0], [0.3, 0.4, 0.3]])
    ... )
    >>> region = Hierarchy.flat(["N", "S"])
    >>> asked = {"by": {"region": region}, "record_key": "key", "key_modulus": 10}
    >>> statement = perturbation_sql("census.persons", ptable=one_up_or_down, **asked)
    >>> statement[:66]
    'WITH source AS (SELECT "region" AS c0, "key" AS c1 FROM "census"."'
    """
    check_by(by)
    trees = {column: tree for column, tree in by.items() if tree is not None}
    if without := [column for column in by if column not in trees]:
        raise InputError(
            f"dimension {without[0]!r} needs its tree: the statement is written without looking at "
            "the records; give e.g. Hierarchy.flat(codes)"
        )
    counted = "count" if unit is None else "units"
    check_names([*by, counted])
    check_reserved(by, [counted], changed=True)
    path = table.split(".")
    if not 1 <= len(path) <= 3 or not all(path):
        raise InputError(f"{table!r} names no table; write 'persons', or 'census.persons'")
    return perturbed_text(
        trees,
        NoiseIntervals.of(lookup_of(ptable, key_modulus)),
        table=path,
        record_key=record_key,
        unit=unit,
        threshold=_least(threshold),
        value=counted,
        dialect=dialect,
    )


def lookup_of(ptable: PerturbationTable | Lookup, modulus: int) -> Lookup:
    """The lookup for keys of a modulus."""
    lookup = ptable.lookup(modulus) if isinstance(ptable, PerturbationTable) else ptable
    if lookup.modulus != modulus:
        raise InputError(
            f"the lookup is for keys below {lookup.modulus:,}, and key_modulus= says {modulus:,}; "
            "keys of different moduli cannot be mixed"
        )
    return lookup


def _least(threshold: int | None) -> int:
    """The least perturbed count that leaves the engine."""
    if threshold is None:
        return 1
    if isinstance(threshold, bool) or not threshold >= 1 or threshold % 1:
        raise InputError(f"threshold= is a whole number from 1 on, not {threshold!r}")
    return int(threshold)
