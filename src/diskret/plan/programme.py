"""A plan as a programme: the programme file, its job with all tables, and the code trees."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diskret.jobs.toml_text import CONFIDENTIAL, key, plain, stem, toml
from diskret.jobs.values import FLAT
from diskret.plan.paths import Seen
from diskret.plan.trees import PublishedTree, published_tree
from diskret.plan.values import (
    Breakdown,
    FieldAnswer,
    IndicatorAnswer,
    Plan,
    PlannedTable,
)
from diskret.rules import BY_NAME

PROGRAMME, JOB = "programme.toml", "release.toml"
#: The beginning of files that a plan has written.
MADE = "# Planned by diskret"
#: What counts have no use for.
_OF_VALUES = ("decimals", "round_values", "weight", "weight_decimals", "shadow")


def programme_files(plan: Plan, folder: Path) -> dict[str, str]:
    """Name → text of the files of a programme in a folder; paths in them are seen from there."""
    base = Path() if plan.answers.path is None else plan.answers.path.parent
    return _Writer(plan, Seen(base, folder)).files()


@dataclass
class _Writer:
    """What is written so far."""

    plan: Plan
    seen: Seen
    trees: dict[Breakdown, tuple[str, PublishedTree]] = field(
        default_factory=dict[Breakdown, tuple[str, PublishedTree]]
    )
    hierarchies: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    beside: dict[str, str] = field(default_factory=dict[str, str])

    def files(self) -> dict[str, str]:
        tables = [line for table in self.plan.tables for line in self.tables(table)]
        lines = [*self.head(), *self.section("records")]
        lines += ["[hierarchies]"] if self.hierarchies else []
        lines += [f"{key(name)} = {toml(said)}" for name, said in self.hierarchies.items()]
        lines += [""] if self.hierarchies else []
        lines += [*self.section("attacker"), *tables, *self.section("output", "folder", "ledger")]
        programme = "\n".join(self.programme())
        return {PROGRAMME: programme, JOB: "\n".join(lines).rstrip() + "\n", **self.beside}

    # ── the programme ───────────────────────────────────────────────────────────────

    def programme(self) -> list[str]:
        output = self.said("output")
        lines = [
            f"{MADE} from {plain(self.plan.asked.file)}: run it with diskret protect {PROGRAMME}",
            f"folder = {toml(self.seen.path(output.get('folder', 'out')))}",
        ]
        if "ledger" in output:
            lines.append(f"ledger = {toml(self.seen.path(output['ledger']))}")
        return [*lines, "", "[[releases]]", 'name = "release"', f"job = {toml(JOB)}", ""]

    def head(self) -> list[str]:
        plan = self.plan
        lines = [
            f"{MADE} from {plain(plan.asked.file)}. Plan it again rather than change it here.",
            CONFIDENTIAL,
            "",
        ]
        sums = [self.sum_of(one.total, one.parts) for one in plan.equations]
        return [*lines, f"sums = {toml(sums)}", ""] if sums else lines

    def sum_of(self, total: str, parts: Sequence[str]) -> str:
        """A sum of indicators as one of measures."""
        return f"{self.measure(total)} = {' + '.join(map(self.measure, parts))}"

    def measure(self, indicator: str) -> str:
        said = self.plan.answers.indicators.get(indicator, IndicatorAnswer())
        return "count" if said.count else said.value or indicator

    # ── sections as they were given ─────────────────────────────────────────────────

    def said(self, name: str) -> dict[str, Any]:
        return dict(self.plan.answers.sections.get(name, {}))

    def section(self, name: str, *without: str) -> list[str]:
        values = {k: v for k, v in self.said(name).items() if k not in without}
        if not values:
            return []
        return [
            f"[{name}]",
            *(f"{key(k)} = {toml(self.seen.value(k, v))}" for k, v in values.items()),
            "",
        ]

    # ── tables ──────────────────────────────────────────────────────────────────────

    def tables(self, table: PlannedTable) -> Iterator[str]:
        """A ``[[tables]]`` for each indicator of a planned table."""
        dimensions = [self.dimension(one) for one in table.by]
        by = {column: said for column, said, _ in dimensions}
        groups = {column: own for column, _, own in dimensions if own}
        asked = ", ".join(table.descriptions)
        for name, indicator in zip(table.names, table.indicators, strict=True):
            yield f"# cluster {table.cluster}: {plain(asked)}"
            yield "[[tables]]"
            yield f"name = {toml(name)}"
            yield f"by = {toml(by)}"
            for option, value in self.of_indicator(table, indicator).items():
                yield f"{key(option)} = {toml(value)}"
            for column, own in groups.items():
                for code, leaves in own.items():
                    yield f"recode.{key(column)}.{key(code)} = {toml(leaves)}"
            yield "[tables.rules]"
            for rule, value in self.rules(indicator).items():
                yield f"{rule} = {toml(self.seen.value(rule, value))}"
            yield ""

    def of_indicator(self, table: PlannedTable, indicator: str) -> dict[str, Any]:
        answers = self.plan.answers
        own = answers.indicators.get(indicator, IndicatorAnswer())
        about = answers.fields.get(table.field, FieldAnswer())
        found: dict[str, Any] = {} if own.count else {"value": own.value or indicator}
        given = {**self.said("every_table"), **own.given}
        found |= {k: v for k, v in given.items() if not (own.count and k in _OF_VALUES)}
        if about.vintage:
            found["vintage"] = about.vintage
        where = {**about.where, **own.where}
        return found | ({"where": where} if where else {})

    def rules(self, indicator: str) -> dict[str, Any]:
        """The rules; those about contributions are not for counts."""
        own = self.plan.answers.indicators.get(indicator, IndicatorAnswer())
        rules = self.said("rules")
        return {n: v for n, v in rules.items() if not (own.count and BY_NAME[n].of_sums)}

    def dimension(self, breakdown: Breakdown) -> tuple[str, Any, Mapping[str, Sequence[str]]]:
        """The column of a dimension, how a table names its tree, and what it combines."""
        axis = self.plan.axes[breakdown.axis]
        column = axis.column or axis.name
        if not breakdown.tree:
            said = FLAT if axis.total is None else {"flat": True, "total": axis.total}
            return column, said, {}
        if breakdown not in self.trees:
            self.trees[breakdown] = self.tree(breakdown)
        name, tree = self.trees[breakdown]
        return column, name, tree.groups

    def tree(self, breakdown: Breakdown) -> tuple[str, PublishedTree]:
        """The name of the tree of a dimension; one that is not given as it is is written."""
        made = published_tree(self.plan.axes[breakdown.axis], breakdown)
        if made.original:
            file = self.plan.answers.hierarchies[breakdown.tree]
            self.hierarchies[breakdown.tree] = self.seen.tree(file)
            return breakdown.tree, made
        number, name = 1, f"{breakdown.tree}_1"
        while name in self.hierarchies or name in self.plan.answers.hierarchies:
            number += 1
            name = f"{breakdown.tree}_{number}"
        file_name = f"tree_{stem(name)}.csv"
        self.hierarchies[name] = {"file": file_name}
        self.beside[file_name] = _as_csv(made)
        return name, made


def _as_csv(made: PublishedTree) -> str:
    tree = made.tree
    buffer = io.StringIO()
    write = csv.writer(buffer, lineterminator="\n")
    head = ["code", "parent", *(["label"] if tree.labels else [])]
    write.writerow(head)
    for code, parent in zip(tree.codes, tree.parent.tolist(), strict=True):
        row = [code, "" if parent < 0 else tree.codes[parent], tree.labels.get(code, "")]
        write.writerow(row[: len(head)])
    return buffer.getvalue()
