"""Whether tables may be published as they are, and if not, what breaks which release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diskret.attack import Attacker
from diskret.attack.earlier_tables import read_beside
from diskret.errors import InputError
from diskret.ledger.contributors import told_by_contributors, told_of_earlier
from diskret.ledger.narrowed_cells import BrokenCell, JointAttack, contradictions_named
from diskret.progress import Progress, silent
from diskret.protect.earlier_tables import groups
from diskret.protect.plan import publish_whole
from diskret.protect.result import Result
from diskret.tables import NO_LEVELS, Earlier, MeasureSum, Publication, Published, Table
from diskret.tables.requirements import earlier_of
from diskret.texts import Figure, words_in

#: Work to find out who is to blame: a few seconds.
WORK = 100_000


@dataclass(frozen=True)
class CheckReport:
    """Whether tables may be published as they are. Confidential.

    `beside` are release and table of all that they were attacked with, `broken` the cells that
    would be narrowed down too far.
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

    As `Ledger.check`, with the tables of earlier releases; those that are not tied to the new ones
    do not matter.

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
    new, given = _read(tables)
    own = [table.published for table in new]
    known = tuple(dict.fromkeys([*sums, *given]))
    parts = [None] * len(own) if isinstance(tables, Publication) else _parts(tables)
    who = [part if isinstance(part, Table | Result) else None for part in parts]
    beside: list[tuple[str, str]] = []
    broken: list[BrokenCell] = []
    for group in groups(own, known, earlier):
        chosen = [own[i] for i in group.new]
        joint = JointAttack(
            read_beside(chosen, tuple(dict.fromkeys([*known, *group.sums])), group.earlier),
            [new[i] for i in group.new],
            group.earlier,
            attacker,
        )
        with contradictions_named(chosen, known, group.earlier):
            broken += joint.broken(np.inf if limit is None else limit, progress=progress)
            found = _by_contributors(joint, [who[i] for i in group.new], progress)
        said = {(cell.release, cell.table, cell.codes) for cell in broken}
        broken += [one for one in found if (one.release, one.table, one.codes) not in said]
        beside += joint.publication.beside
    stand_in = {part.name for part in _parts(tables) if getattr(part, "known", None) is not None}
    asked = [cell for cell in broken if cell.release or cell.table not in stand_in]
    return CheckReport(tuple(table.name for table in own), tuple(beside), tuple(asked))


def _by_contributors(
    joint: JointAttack, own: Sequence[Table | Result | None], progress: Progress
) -> list[BrokenCell]:
    """What contributors who know what is theirs could tell too closely, as when it is published."""
    results = [part for part in own if isinstance(part, Result)]
    told = (
        told_by_contributors(results, joint.publication, joint.earlier, progress)
        if (len(results) == len(own))
        else []
    )
    told += told_of_earlier(
        [part.table if isinstance(part, Result) else part for part in own],
        joint.publication,
        joint.earlier,
        joint.required,
        joint.unsafe,
        joint.original,
        joint.attacker,
        progress,
    )
    every = dict.fromkeys(tuple(sorted(cells)) for cells in told)
    return [joint.told_together(cells, contributors=True) for cells in every]


def to_publish(tables: Any) -> tuple[list[Published], tuple[MeasureSum, ...]]:
    """Tables as they are to be published, in any form that `check` takes, and their sums."""
    new, sums = _read(tables)
    return [table.published for table in new], sums


def _read(given: Any) -> tuple[list[Earlier], tuple[MeasureSum, ...]]:
    """What would be known of each table if it were published, and their sums."""
    if isinstance(given, Publication):
        return [Earlier("", table, None, NO_LEVELS) for table in given.own], given.sums
    new: list[Earlier] = []
    for part in _parts(given):
        if isinstance(part, Table):
            shown = publish_whole(part, part.measure.name)
            new.append(earlier_of("", shown, None, part.measure.sum))
        elif isinstance(part, Published):
            new.append(earlier_of("", part, None))
        else:
            new.append(_of_result(part))
    return new, tuple(dict.fromkeys(equation for table in new for equation in table.sums))


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
