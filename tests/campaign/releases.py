"""Tables that diskret makes, protects and publishes: the only module that imports it."""

from __future__ import annotations

import csv
import os
import tempfile
import warnings
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa

import diskret as dk
from campaign.cases import MEASURES, STAFF, Axis, Case, Layout, Rule
from campaign.noise import P_OF_NOISE, Noisy
from campaign.world import Codes, Records, Shown

Refusal = dk.DiskretError

#: A code that is the sum of the others in one of fewer cases by chance is taken for a category, as
#: the documentation says: of sums, of sums and equal codes.
_CHANCE = 10, 1_000


def shown(case: Case) -> list[Shown]:
    """What is public once all releases of a case are out; those that are refused are not.

    Raises
    ------
    DiskretError
        Nothing at all was released: why the last one was refused.
    """
    if case.ledger:
        return _one_after_the_other(case)
    layouts = case.releases[0]
    results = _protected(case, layouts)
    if not case.intervals:
        return [_public(*pair) for pair in zip(layouts, results, strict=True)]
    with _folder() as home:
        folder = dk.write(results, Path(home) / "out", ["csv"], keys=KEYS, intervals=True)
        return [_public(*pair, Path(folder)) for pair in zip(layouts, results, strict=True)]


def noisy(case: Case) -> list[Noisy]:
    """What is public of the tables of a case that get noise, measure by measure.

    Raises
    ------
    DiskretError
        Nothing at all was released: why the last table was refused.
    """
    tables = [(own, "") for own in case.layouts]
    if case.unlike:
        tables.append((replace(tables[0][0], name="again"), case.unlike))
    records = dk.record_keys(frame(case.records), id="unit", keys=KEYS)
    made = [_noisy(case, layout, records, how) for layout, how in tables]
    found: list[Noisy] = []
    refusal: Refusal | None = None
    with _folder() as home:
        if not case.ledger:
            every = [pair for own in made for pair in own]
            dk.write([result for _, result in every], Path(home) / "out", ["csv"], keys=KEYS)
            return [public for public, _ in every]
        ledger = dk.Ledger.create(Path(home) / "ledger.db", keys=KEYS)
        for number, own in enumerate(made):
            try:
                ledger.publish([result for _, result in own], Path(home) / str(number), ["csv"])
            except Refusal as error:
                refusal = error
                continue
            found += [public for public, _ in own]
    if not found and refusal is not None:
        raise refusal
    return found


def _noisy(case: Case, layout: Layout, records: pa.Table, how: str) -> list[tuple[Noisy, Any]]:
    counts = dk.PerturbationTable.maximum_entropy(max_noise=3, variance=2, small_counts=1)
    seed = KEYS.seed("noise, once more" if how == "lookup" else "noise")
    lookup = counts.lookup(order="shuffled", seed=seed)
    sums = dk.MagnitudeNoise(
        dk.PerturbationTable.for_magnitudes(max_noise=2, variance=1),
        scale=0.3 if how == "lookup" else 0.25,
        shares=(1, 0.5),
        counts=lookup,
    )
    by = {name: tree(axis) for name, axis in layout.axes.items()}
    options: dict[str, Any] = {"by": by, "where": layout.where or None}

    def named(measure: str | None, result: Any) -> tuple[Noisy, Any]:
        return _changed(layout, measure, how, result), result

    def name(measure: str) -> str:
        return f"{layout.name} {measure}"

    found: list[tuple[Noisy, Any]] = []
    if case.unlike == "keys":
        keys = dk.SecretKeys(bytes(range(1, 33))) if how else KEYS
        table = dk.tabulate(records, **options)
        rounded = dk.round_table(table, 3, "random", keys=keys, name=name("records"))
        found.append(named("records", rounded))
    if how == "keys":
        return found
    table = dk.tabulate(
        records, value=list(MEASURES), unit="unit", record_key="record_key", largest=2, **options
    )
    found.append(named(None, dk.perturb(table["count"], lookup, name=name("units"))))
    rule = dk.rules.PPercent(P_OF_NOISE) if case.judged else None
    for measure in MEASURES:
        changed = dk.perturb(table[measure], sums, rule=rule, name=name(measure))
        found.append(named(measure, changed))
    return found


def _changed(layout: Layout, measure: str | None, how: str, result: Any) -> Noisy:
    columns = result.public.to_pydict()
    (name,) = [own for own in columns if own not in (*layout.axes, "status")]
    codes = zip(*(columns[own] for own in layout.axes), strict=True)
    return Noisy(layout, measure, dict(zip(codes, columns[name], strict=True)), how)


NOISE = 2
KEYS = dk.SecretKeys(bytes(range(32)))


def frame(records: dict[str, list[Any]]) -> pa.Table:
    """The records as diskret gets them."""
    columns = dict(records)
    if STAFF in columns:
        columns[STAFF] = [int(n) for n in columns[STAFF]]
    return pa.table(columns)


def _one_after_the_other(case: Case) -> list[Shown]:
    found: list[Shown] = []
    refusal: Refusal | None = None
    with _folder() as home:
        ledger = dk.Ledger.create(Path(home) / "ledger.db", keys=KEYS)
        for number, layouts in enumerate(case.releases):
            release = Path(home) / f"release{number}"
            try:
                if case.changed_first and not number:
                    changed = [_with_noise(case, layout) for layout in layouts]
                    ledger.publish(changed, release, ["csv"])
                    found += map(_bounded, layouts, changed)
                    continue
                results = _protected(case, layouts, ledger)
                ledger.publish(results, release, ["csv"], intervals=case.intervals)
            except Refusal as error:
                refusal = error
                continue
            folder = release if case.intervals else None
            found += [_public(*pair, folder) for pair in zip(layouts, results, strict=True)]
    if not found and refusal is not None:
        raise refusal
    return found


def _with_noise(case: Case, layout: Layout) -> Any:
    """Counts of records that were rounded at random, so that it is known how far they are off."""
    columns = case.columns(layout.vintage)
    by = {name: tree(axis) for name, axis in layout.axes.items()}
    table = dk.tabulate(frame(columns), by=by, where=layout.where or None, vintage=layout.vintage)
    return dk.round_table(table, NOISE + 1, "random", keys=KEYS, name=layout.name)


def _bounded(layout: Layout, result: Any) -> Shown:
    """What changed counts tell: how far the true ones can lie from them, and that 0 stays 0."""
    value = _changed(layout, None, "", result).value
    bounds = {c: (max(v - NOISE, int(v > 0)), v + NOISE) for c, v in value.items()}
    return Shown(layout, dict.fromkeys(value), bounds, noisy=True)


def _folder() -> AbstractContextManager[str]:
    memory = "/dev/shm"  # noqa: S108 - many small files; made anew, readable by the owner only
    return tempfile.TemporaryDirectory(dir=memory if os.path.isdir(memory) else None)


def _protected(
    case: Case, layouts: tuple[Layout, ...], ledger: dk.Ledger | None = None
) -> list[Any]:
    tables = [made(case, layout) for layout in layouts]
    options: dict[str, Any] = {"method": case.method, "ledger": ledger}
    if not case.default:
        contributor = {"contributor": True, "coalition": case.coalition}
        options["attacker"] = dk.Attacker(**(contributor if case.coalition else {}))
    rules = [rule(case, table) for table in tables]
    if len(tables) == 1:
        return [dk.suppress(tables[0], rules[0], name=layouts[0].name, **options)]
    names = [layout.name for layout in layouts]
    return dk.suppress(tables, rules, name=names, **options)


def rule(case: Case, table: Any) -> Any:
    """The rule as diskret has it."""
    if case.varying is None:
        return _joined(case.rule)
    variable, inside = case.varying.variable, case.varying.categories
    for dimension in table.dimensions:
        if dimension.name == variable:
            tree = dimension.hierarchy
            inside &= {*tree.codes} | {text for of in tree.members.values() for text in of}
    named = dict.fromkeys(sorted(inside), _joined(case.rule))
    return dk.rules.Varying(variable, {**named, "*": _joined(case.varying.others)})


def _joined(rule: Rule) -> Any:
    if not rule:
        return None
    own = dict(rule)
    parts = [
        dk.rules.MinimumFrequency(how, level=own.get("level"))
        if kind == "frequency"
        else dk.rules.PPercent(how)
        if kind == "p"
        else dk.rules.Request(how)
        if kind == "request"
        else dk.rules.Dominance(*how)
        for kind, how in rule
        if kind != "level"
    ]
    joined = parts[0]
    for part in parts[1:]:
        joined |= part
    return joined


def made(case: Case, layout: Layout) -> Any:
    """A table of the records, or of cells made of them here."""
    combined = any(axis.groups for axis in layout.axes.values())
    if case.cells_given and not layout.where and not combined:
        return _from_cells(case, layout)
    by = {name: tree(axis) for name, axis in layout.axes.items()}
    options: dict[str, Any] = {"by": by, "where": layout.where or None, "vintage": layout.vintage}
    options |= {"waiver": "waiver" if case.waivers else None}
    if layout.measure is not None:
        options |= {
            "value": layout.measure,
            "unit": "unit",
            "holding": "holding" if case.holdings else None,
            "request": "request" if case.requests else None,
            "weight": "weight" if case.weighted else None,
            "largest": 5,
        }
        options |= {} if case.default else {"contributions": case.listed}
    table = dk.tabulate(frame(case.columns(layout.vintage)), **options)
    for name, axis in layout.axes.items():
        if axis.groups:
            table = table.recode(name, {new: list(old) for new, old in axis.groups.items()})
    return table if layout.measure is None else table[layout.measure]


def _from_cells(case: Case, layout: Layout) -> Any:
    """As a file of cells has it, with rows for the totals whose code is said or is to be found."""
    records = Records(case, None, layout.vintage)
    codes = case.cells(layout)
    columns: dict[str, Any] = dict(zip(layout.axes, zip(*codes, strict=True), strict=True))
    columns["n"] = [int(records.inside(case.box(layout, own)).sum()) for own in codes]
    by = {
        name: None if set(axis.parent.values()) == {axis.total} else tree(axis)
        for name, axis in layout.axes.items()
    }
    total = {name: layout.axes[name].total for name, hierarchy in by.items() if hierarchy is None}
    said = {"total": total} if case.cells_given == "said" and total else {}
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "the code .* is the sum of the other codes")
        try:
            table = dk.Table.from_cells(
                pa.table(columns), by=by, count="n", vintage=layout.vintage, **said
            )
        except UserWarning as warning:  # whoever is warned stops
            raise dk.errors.InputError(str(warning)) from None
    for dimension, axis in zip(table.dimensions, layout.axes.values(), strict=True):
        other = {*dimension.hierarchy.codes} != {*axis.codes}
        if other and _by_chance(case, layout, records, dimension.name):
            raise dk.errors.InputError(f"the total of {dimension.name!r} was not found")
    return table


def _by_chance(case: Case, layout: Layout, records: Records, name: str) -> bool:
    """Whether the total of a variable could be the sum of its categories by chance."""
    leaves = [
        [code for code in axis.codes if code not in axis.parts] for axis in layout.axes.values()
    ]
    at = list(layout.axes).index(name)
    sums = equal = 1
    alone = 0
    for others in product(*(own for i, own in enumerate(leaves) if i != at)):
        boxes = (case.box(layout, (*others[:at], code, *others[at:])) for code in leaves[at])
        parts = [int(n) for n in (records.inside(box).sum() for box in boxes) if n]
        sums *= 1 + sum(parts) if len(parts) > 1 else 1
        equal *= 1 + sum(parts) if len(parts) == 1 else 1
        alone += len(parts) == 1
    return sums < _CHANCE[0] and sums * (equal if alone > 1 else 1) < _CHANCE[1]


def tree(axis: Axis) -> Any:
    """The code tree of an axis, before codes are combined."""
    leaves = sorted(next(iter(axis.codes.values())))
    if axis.groups or set(axis.parent.values()) == {axis.total}:
        return dk.Hierarchy.flat(leaves, total=axis.total)
    pairs = {"code": list(axis.parent), "parent": list(axis.parent.values())}
    return dk.Hierarchy.from_parents(pairs, total=axis.total)


def _public(layout: Layout, result: Any, folder: Path | None = None) -> Shown:
    columns = result.public.to_pydict()
    names = list(layout.axes)
    (measure,) = [name for name in columns if name not in (*names, "status")]
    codes = list(zip(*(columns[name] for name in names), strict=True))
    value = dict(zip(codes, columns[measure], strict=True))
    if value.keys() != {*product(*(axis.codes for axis in layout.axes.values()))}:
        raise AssertionError("the public table has other cells than were asked for")
    hidden = [s == "suppressed" for s in columns["status"]]
    if any(h != (value[c] is None) for c, h in zip(codes, hidden, strict=True)):
        raise AssertionError("status and values of the public table differ")
    unclaimed = tuple(result.certificate.public()["not_claimed"]["en"])
    bounds = {} if folder is None else _intervals(folder / "public" / f"{layout.name}.csv", names)
    return Shown(layout, value, bounds, unclaimed)


def _intervals(path: Path, names: list[str]) -> dict[Codes, tuple[float, float]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        tuple(row[name] for name in names): (
            float(row["lower"] or "-inf"),
            float(row["upper"] or "inf"),
        )
        for row in rows
        if row["lower"] or row["upper"]
    }
