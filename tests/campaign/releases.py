"""Tables that diskret makes, protects and publishes: the only module that imports it."""

from __future__ import annotations

import csv
import os
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pyarrow as pa

import diskret as dk
from campaign.cases import MEASURES, STAFF, Axis, Case, Layout
from campaign.noise import Noisy
from campaign.world import Codes, Shown

Refusal = dk.DiskretError


def shown(case: Case) -> list[Shown]:
    """What is public once all releases of a case are out; those that are refused are not.

    Raises
    ------
    DiskretError
        Nothing at all was released: why the last one was refused.
    """
    records = frame(case)
    if case.ledger:
        return _one_after_the_other(case, records)
    layouts = case.releases[0]
    results = _protected(case, layouts, records)
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
        Why one of them was refused.
    """
    counts = dk.PerturbationTable.maximum_entropy(max_noise=3, variance=2, small_counts=1)
    sums = dk.MagnitudeNoise(
        dk.PerturbationTable.for_magnitudes(max_noise=2, variance=1), scale=0.25, shares=(1, 0.5)
    )
    seed = KEYS.seed("noise")
    lookup = counts.lookup(order="shuffled", seed=seed)
    records = dk.record_keys(frame(case), id="unit", keys=KEYS)
    found: list[Noisy] = []
    for layout in case.layouts:
        by = {name: tree(axis) for name, axis in layout.axes.items() if not axis.groups}
        if len(by) < len(layout.axes):
            continue  # combined codes have no keys of their own
        options: dict[str, Any] = {"by": by, "where": layout.where or None, "unit": "unit"}
        table = dk.tabulate(
            records, value=list(MEASURES), record_key="record_key", largest=2, **options
        )
        found.append(_noisy(layout, None, dk.perturb(table["count"], lookup)))
        found += [_noisy(layout, m, dk.perturb(table[m], sums)) for m in MEASURES]
    return found


def _noisy(layout: Layout, measure: str | None, result: Any) -> Noisy:
    columns = result.public.to_pydict()
    (name,) = [own for own in columns if own not in (*layout.axes, "status")]
    codes = zip(*(columns[own] for own in layout.axes), strict=True)
    return Noisy(layout, measure, dict(zip(codes, columns[name], strict=True)))


KEYS = dk.SecretKeys(bytes(range(32)))


def frame(case: Case) -> pa.Table:
    """The records as diskret gets them."""
    columns = dict(case.records)
    if STAFF in columns:
        columns[STAFF] = [int(n) for n in columns[STAFF]]
    return pa.table(columns)


def _one_after_the_other(case: Case, records: pa.Table) -> list[Shown]:
    found: list[Shown] = []
    refusal: Refusal | None = None
    with _folder() as home:
        ledger = _ledger(Path(home) / "ledger.db")
        for number, layouts in enumerate(case.releases):
            try:
                results = _protected(case, layouts, records, ledger)
                release = Path(home) / f"release{number}"
                ledger.publish(results, release, ["csv"], intervals=case.intervals)
            except Refusal as error:
                refusal = error
                continue
            folder = release if case.intervals else None
            found += [_public(*pair, folder) for pair in zip(layouts, results, strict=True)]
    if not found and refusal is not None:
        raise refusal
    return found


def _ledger(path: Path) -> dk.Ledger:
    create = getattr(dk.Ledger, "create", dk.Ledger)
    return create(path, keys=KEYS)


def _folder() -> AbstractContextManager[str]:
    memory = "/dev/shm"  # noqa: S108 - many small files; made anew, readable by the owner only
    return tempfile.TemporaryDirectory(dir=memory if os.path.isdir(memory) else None)


def _protected(
    case: Case, layouts: tuple[Layout, ...], records: pa.Table, ledger: dk.Ledger | None = None
) -> list[Any]:
    tables = [made(case, layout, records) for layout in layouts]
    attacker = (
        dk.Attacker(contributor=True, coalition=case.coalition) if case.coalition else dk.Attacker()
    )
    options: dict[str, Any] = {"attacker": attacker, "method": case.method, "ledger": ledger}
    if len(tables) == 1:
        return [dk.suppress(tables[0], rule(case), name=layouts[0].name, **options)]
    names = [layout.name for layout in layouts]
    return dk.suppress(tables, rule(case), name=names, **options)


def rule(case: Case) -> Any:
    """The rule as diskret has it."""
    parts = [
        dk.rules.MinimumFrequency(how)
        if kind == "frequency"
        else dk.rules.PPercent(how)
        if kind == "p"
        else dk.rules.Dominance(*how)
        for kind, how in case.rule
    ]
    joined = parts[0]
    for part in parts[1:]:
        joined |= part
    return joined


def made(case: Case, layout: Layout, records: pa.Table) -> Any:
    """A table of the records."""
    by = {name: tree(axis) for name, axis in layout.axes.items()}
    options: dict[str, Any] = {"by": by, "where": layout.where or None}
    if layout.measure is not None:
        options |= {
            "value": layout.measure,
            "unit": "unit",
            "holding": "holding" if case.holdings else None,
            "contributions": case.listed,
            "largest": 5,
        }
    table = dk.tabulate(records, **options)
    for name, axis in layout.axes.items():
        if axis.groups:
            table = table.recode(name, {new: list(old) for new, old in axis.groups.items()})
    return table if layout.measure is None else table[layout.measure]


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
