"""Tables of a draft, kept in memory: while rules are typed, only the rules are computed again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from typing import Any

from diskret.errors import InputError
from diskret.jobs.run import tables_of
from diskret.jobs.values import HierarchyFile, Job, Records, TableJob
from diskret.rules import BY_NAME, Dominance, NoRule, Sensitivity
from diskret.rules.sensitivity import AnyOf, single
from diskret.rules.varying import check_codes, for_tables
from diskret.tables import Table

#: Contributions that are kept of each cell, for the panel.
LARGEST = 5
_KEPT = 4


@dataclass(frozen=True, eq=False)
class Judged:
    """A table of the draft and what its rules say of it.

    table: as the job tabulates it, without the list of contributions.
    sensitivity: None where the job has no rules.
    each: name of each rule, as job files call it → the number of cells it finds unsafe.
    """

    wanted: TableJob
    table: Table
    sensitivity: Sensitivity | None
    each: tuple[tuple[str, int], ...]

    @property
    def unsafe(self) -> int:
        """How many cells must not be published."""
        return 0 if self.sensitivity is None else int(self.sensitivity.unsafe.sum())


class Tables:
    """The tables that were tabulated last."""

    def __init__(self) -> None:
        self._kept: dict[str, Table] = {}
        self._lock = RLock()

    def judged(self, job: Job, index: int) -> Judged:
        """A table of a job, judged by its rules.

        Raises
        ------
        InputError
            There is no such table, or it cannot be tabulated or judged.
        """
        if not 0 <= index < len(job.tables):
            raise InputError(f"the job has {len(job.tables)} tables")
        wanted = job.tables[index]
        table = self.table(job, wanted)
        if wanted.noise is not None and isinstance(wanted.rule, NoRule):
            return Judged(wanted, table, None, ())
        (rule,) = for_tables([wanted.rule], [table])
        check_codes(rule, table)
        alone = list(single(rule)) if not isinstance(rule, AnyOf) else [*rule.rules]
        each = tuple((rule_key(one), int(one(table).unsafe.sum())) for one in alone)
        return Judged(wanted, table, rule(table), each)

    def table(self, job: Job, wanted: TableJob) -> Table:
        """The table, tabulated only if something but its rules has changed."""
        largest = max(LARGEST, wanted.rule.largest)
        known = _key(job, wanted)
        with self._lock:
            table = self._kept.get(known)
            if table is None or _listed(table) < largest:
                table = _tabulated(job, wanted, largest)
                self._kept = dict([*self._kept.items(), (known, table)][-_KEPT:])
            return table


def rule_key(rule: Any) -> str:
    """How job files call a rule; a shadow goes by the rule inside of it."""
    inside = getattr(rule, "rules_inside", ())
    kinds = {kind: name for name, kind in BY_NAME.items()}
    return kinds.get(type(rule), rule_key(inside[0]) if inside else type(rule).__name__)


def _tabulated(job: Job, wanted: TableJob, largest: int) -> Table:
    """Without contributions: they are for the attack, which runs in the command."""
    rule = AnyOf((wanted.rule, Dominance(largest, 100 - 1)))
    alone = replace(job, tables=(replace(wanted, rule=rule),), contributor=False, sums=())
    return tables_of(alone)[0].table


def _listed(table: Table) -> int:
    """How many contributions of a cell the table has; a count needs none."""
    if table.frequency or not table.measures:
        return 1_000
    return table.measure.largest.shape[-1]


def _key(job: Job, wanted: TableJob) -> str:
    """What a table is tabulated from."""
    asked = replace(
        wanted, name="", rule=NoRule(), title={}, frozen=(), method="auto", time_limit=None,
        budget=None, previous=None, previous_discount=0,
    )  # fmt: skip
    files = [one.path for one in wanted.by.values() if isinstance(one, HierarchyFile)]
    if isinstance(job.records, Records):
        files.append(job.records.file.file)
    if wanted.cells is not None:
        files.append(wanted.cells.file.file)
    return repr((asked, job.records, job.places, _states(files)))


def _states(files: Sequence[Path]) -> list[tuple[str, int, int]]:
    found = [(path, path.stat()) for path in files]
    return [(str(path), state.st_size, state.st_mtime_ns) for path, state in found]
