"""Carry out what a job file says of tables whose values are changed."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from diskret.cellkey import Lookup, MagnitudeNoise, PerturbationTable
from diskret.errors import InputError
from diskret.io import Source, source, to_arrow
from diskret.jobs.noise import ROUNDING, NoiseJob
from diskret.jobs.values import Job, Records, TableJob
from diskret.keys import SecretKeys
from diskret.protect.adjust import adjust
from diskret.protect.make_additive import make_additive
from diskret.protect.perturb import perturb
from diskret.protect.perturb_invariant import perturb_invariant
from diskret.protect.perturbed_result import PerturbedResult
from diskret.protect.record_keys import record_keys
from diskret.protect.round_table import round_table
from diskret.rules import NoRule
from diskret.tables import Table

#: The column of derived record keys.
DERIVED = "record_key"


def changed_tables(
    asked: Sequence[tuple[TableJob, NoiseJob]],
    tables: Sequence[Table],
    keys: SecretKeys | str | PathLike[str] | None = None,
) -> list[PerturbedResult]:
    """A result for each table; tables that have to agree are changed together.

    asked: what the job asks for, and how values are to be changed.
    """
    results: dict[int, PerturbedResult] = {}
    for group in _together(asked, tables):
        found = _changed([asked[i] for i in group], [tables[i] for i in group], keys)
        results |= dict(zip(group, found, strict=True))
    return [results[i] for i in range(len(tables))]


def _together(
    asked: Sequence[tuple[TableJob, NoiseJob]], tables: Sequence[Table]
) -> list[list[int]]:
    """Tables of one variable that one method makes additive, and all others alone."""
    groups: dict[Any, list[int]] = {}
    for i, ((_, noise), table) in enumerate(zip(asked, tables, strict=True)):
        alone = noise.method in ("cell_key", "deterministic", "random")
        kind = (noise.method, repr(noise.arguments), table.measure.name, table.vintage)
        groups.setdefault(i if alone else kind, []).append(i)
    return list(groups.values())


def _changed(
    asked: Sequence[tuple[TableJob, NoiseJob]],
    tables: Sequence[Table],
    keys: SecretKeys | str | PathLike[str] | None,
) -> list[PerturbedResult]:
    first, noise = asked[0]
    names = [order.name for order, _ in asked]
    if noise.method == "cell_key":
        return [_perturbed(first, tables[0], noise, keys)]
    if noise.method in ROUNDING:
        method = noise.method
        return round_table(tables, method=method, keys=keys, name=names, **noise.options)
    if noise.method == "invariant":
        return perturb_invariant(tables, name=names, **noise.options)
    rules = [order.rule for order, _ in asked]
    return adjust(tables, rules, name=names, **noise.options)


def _perturbed(
    order: TableJob,
    table: Table,
    noise: NoiseJob,
    keys: SecretKeys | str | PathLike[str] | None,
) -> PerturbedResult:
    ptable: PerturbationTable | Lookup | MagnitudeNoise
    if noise.table is not None:
        ptable = _lookup(noise.table, noise, table.key_modulus)
    elif noise.magnitude is not None:
        ptable = PerturbationTable.for_magnitudes(**noise.design)
    else:
        designed = PerturbationTable.maximum_entropy(**noise.design)
        # keys of a total are sums of keys, which tells less where intervals are in a secret order
        seed = SecretKeys.load(keys).seed("intervals of cell keys")
        ptable = designed.lookup(table.key_modulus, order="shuffled", seed=seed)
    options = dict(noise.options)
    if "structural_zeros" in options:
        options["structural_zeros"] = to_arrow(options["structural_zeros"])[0]
    if noise.magnitude is not None:
        parameters: dict[str, Any] = {
            key: Lookup.read(value, table.key_modulus) if isinstance(value, Path) else value
            for key, value in noise.magnitude.items()
        }
        options["measure"] = parameters.pop("measure", None)
        ptable = MagnitudeNoise(ptable, **parameters)
        if not isinstance(order.rule, NoRule):
            options["rule"] = order.rule
    result = perturb(table, ptable, name=order.name, **options)
    return result if noise.additive is None else make_additive(result, method=noise.additive)


def _lookup(path: Path, noise: NoiseJob, modulus: int) -> Lookup:
    """The lookup in a file, as its layout says."""
    if noise.layout == "ons":
        return Lookup.from_ons(path, **({} if noise.reuse is None else {"reuse": noise.reuse}))
    if noise.layout == "abs":
        with path.open(encoding="utf-8-sig") as lines:
            rows = [line.replace(";", ",").replace(",", " ").split() for line in lines]
        try:
            matrix = [[int(entry) for entry in row] for row in rows if row]
        except ValueError as error:
            raise InputError(
                f"{path} holds other things than whole numbers; a lookup has nothing else ({error})"
            ) from None
        if len({len(row) for row in matrix}) != 1:
            raise InputError(f"the rows of {path} are not equally long")
        return Lookup.from_abs(matrix, modulus, noise.reuse or 1)
    return Lookup.read(path, modulus)


def keyed_records(
    job: Job, noise: NoiseJob, keys: SecretKeys | str | PathLike[str] | None
) -> Source:
    """The records of a job with a column of keys derived from who is counted."""
    if not isinstance(job.records, Records) or job.records.format == "fixed":
        raise InputError(
            f"{job.path.name}: 'key_of' derives record keys for records in a Parquet or CSV file; "
            "give others a column of keys once, with dk.record_keys, and name it in 'record_key'"
        )
    records = to_arrow(job.records.path)[0]
    return source(record_keys(records, id=noise.key_of, keys=keys, name=DERIVED))
