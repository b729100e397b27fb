"""Whether tables may be published as they are, and if not, what breaks which release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Attacker, Requirements, UnsafeSums
from diskret.attack.earlier_tables import read_beside
from diskret.errors import InputError
from diskret.ledger.insiders_again import told_again, told_of_earlier
from diskret.ledger.narrowed_cells import BrokenCell, Case, contradictions_named
from diskret.progress import Progress, silent
from diskret.protect.earlier_tables import groups
from diskret.protect.plan import publish
from diskret.protect.result import Result
from diskret.tables import NO_LEVELS, Earlier, MeasureSum, Publication, Published, Table
from diskret.tables.requirements import earlier_of
from diskret.texts import Figure, words_in

#: Work to find out who is to blame: a few seconds.
WORK = 100_000


@dataclass(frozen=True)
class CheckReport:
    """Whether tables may be published as they are. Confidential.

    Parameters
    ----------
    tables
        Names of the new tables.
    beside
        Release and table of all that they were attacked with.
    broken
        The cells that would be narrowed down too far.
    """

    tables: tuple[str, ...]
    beside: tuple[tuple[str, str], ...]
    broken: tuple[BrokenCell, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing that is protected now would be broken."""
        return all(cell.already for cell in self.broken)

    def lines(self, language: str = "en") -> list[str]:
        """The report in sentences, English or German; for the office's eyes."""
        words, tables = words_in(language, "ledger"), ", ".join(self.tables)
        verdict = "publish" if self.ok else "do not publish"
        said = [words.said(verdict, tables=tables, beside=len(self.beside))]
        for cell in self.broken:
            where = f"{cell.codes} ({cell.table}, {cell.release or words['new']})"
            low, high = (Figure("?" if e is None else f"{e:g}") for e in (cell.lower, cell.upper))
            span = "exactly" if cell.lower == cell.upper else "between"
            line = words.said("known", where=where, span=words.said(span, low=low, high=high))
            if cell.contributors:
                line = words.said("contributors", where=where)
            if cell.already:
                line += words["already"]
            elif cell.blamed:
                blamed = "; ".join(f"{codes} ({table})" for table, codes in cell.blamed)
                line += words.said("because", cells=blamed)
            said.append(line)
        return said


def check(
    tables: Any,
    earlier: Sequence[Earlier],
    *,
    sums: Sequence[MeasureSum] = (),
    attacker: Attacker | None = None,
    limit: int | None = WORK,
    progress: Progress = silent,
) -> CheckReport:
    """Whether tables may be published as they are, beside all that was published before.

    Everything is attacked together. Each cell of an earlier release has to keep what was
    required of it; a cell that was hidden for the sake of others must not be known exactly,
    unless it is published itself. Of results of `suppress` the same is asked. Where an earlier
    release is protected against contributors, each of them is tried with what is theirs, as when
    it is published; the cell's own level is asked for then, whatever is theirs.

    Parameters
    ----------
    tables
        A `Publication` or `Published`; or a `Table`, of which every cell would be published, a
        `Result`, a `PerturbedResult` with a known bound, or a list of these. Changed values count
        as the intervals that they stand for; nothing is asked of these themselves.
    earlier
        Tables of earlier releases; those that are not tied to the new ones do not matter.
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
        New tables and an earlier one contradict each other; names the release.

    Examples
    --------
    >>> import pyarrow as pa, diskret as dk
    >>> cells = pa.table({"region": ["N", "S", "W", "E"], "firms": [2, 7, 5, 9]})
    >>> table = dk.Table.from_cells(cells, by={"region": None}, count="firms")
    >>> first = dk.suppress(table, dk.rules.MinimumFrequency(3), name="first")
    >>> levels = first.certificate.requirements
    >>> before = [Earlier("2025", first.published, table.count, levels)]
    >>> [cell] = check(table.recode("region", {"NS": ["N", "S"]}), before).broken
    >>> cell.release, cell.codes, cell.lower, cell.upper
    ('2025', 'region=N', 2, 2)
    >>> cell.blamed
    (('count', 'region=W'),)
    """
    attacker = attacker or Attacker()
    own, given, levels, values, unsafe = _read(tables)
    known = tuple(dict.fromkeys([*sums, *given]))
    parts = [None] * len(own) if isinstance(tables, Publication) else _parts(tables)
    who = [part if isinstance(part, Table | Result) else None for part in parts]
    beside: list[tuple[str, str]] = []
    broken: list[BrokenCell] = []
    for group in groups(own, known, earlier):
        chosen = [own[i] for i in group.new]
        case = Case(
            read_beside(chosen, tuple(dict.fromkeys([*known, *group.sums])), group.earlier),
            group.earlier,
            [levels[i] for i in group.new],
            [values[i] for i in group.new],
            attacker,
            [unsafe[i] for i in group.new],
        )
        with contradictions_named(chosen, known, group.earlier):
            broken += case.broken(np.inf if limit is None else limit, progress=progress)
            found = _by_contributors(case, [who[i] for i in group.new], progress)
        said = {(cell.release, cell.table, cell.codes) for cell in broken}
        broken += [one for one in found if (one.release, one.table, one.codes) not in said]
        beside += case.publication.beside
    stand_in = {part.name for part in _parts(tables) if getattr(part, "known", None) is not None}
    asked = [cell for cell in broken if cell.release or cell.table not in stand_in]
    return CheckReport(tuple(table.name for table in own), tuple(beside), tuple(asked))


def _by_contributors(
    case: Case, own: Sequence[Table | Result | None], progress: Progress
) -> list[BrokenCell]:
    """What contributors who know what is theirs could tell too closely, as when it is published."""
    results = [part for part in own if isinstance(part, Result)]
    told = (
        told_again(results, case.publication, case.earlier, progress)
        if (len(results) == len(own))
        else []
    )
    told += told_of_earlier(
        [part.table if isinstance(part, Result) else part for part in own],
        case.publication,
        case.earlier,
        case.required,
        case.unsafe,
        case.original,
        case.attacker,
        progress,
    )
    every = dict.fromkeys(tuple(sorted(cells)) for cells in told)
    return [case.told_together(cells, contributors=True) for cells in every]


def to_publish(tables: Any) -> tuple[list[Published], tuple[MeasureSum, ...]]:
    """Tables as they are to be published, in any form that `check` takes, and their sums.

    Raises
    ------
    InputError
        Something else was given.
    """
    shown, sums, *_ = _read(tables)
    return shown, sums


def _read(
    given: Any,
) -> tuple[
    list[Published],
    tuple[MeasureSum, ...],
    list[Requirements],
    list[NDArray[np.int64] | None],
    list[UnsafeSums | None],
]:
    """Tables as they are to be published, sums, levels, and original values where known."""
    if isinstance(given, Publication):
        tables = list(given.own)
        nothing = [None] * len(tables)
        return tables, given.sums, [NO_LEVELS] * len(tables), [*nothing], [*nothing]
    parts = _parts(given)
    tables: list[Published] = []
    levels: list[Requirements] = []
    values: list[NDArray[np.int64] | None] = []
    unsafe: list[UnsafeSums | None] = []
    sums: dict[MeasureSum, None] = {}
    for part in parts:
        if isinstance(part, Table):
            nothing = np.zeros(part.shape, dtype=bool)
            known = earlier_of(
                "", publish(part, nothing, part.measure.name), None, part.measure.sum
            )
        elif isinstance(part, Published):
            known = earlier_of("", part, None)
        else:
            known = _of_result(part)
        tables.append(known.published)
        levels.append(known.requirements)
        values.append(known.original)
        unsafe.append(known.unsafe)
        sums |= dict.fromkeys(known.sums)
    return tables, tuple(sums), levels, values, unsafe


def _parts(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else [given]


def _of_result(part: Any) -> Earlier:
    """What would be known of a result, if it were published."""
    if not hasattr(part, "remembered"):
        raise InputError(
            "check() takes tables, published tables and results, not an object of type "
            f"{type(part).__name__!r}"
        )
    if part.proof is None and part.known is None:
        raise InputError(
            f"{part.name!r} was changed without a bound that can be relied on, so nothing can be "
            "said of what it tells about other tables"
        )
    return part.remembered("")
