"""A job whose counts are perturbed where the records lie, and written block by block."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import cast

from diskret.engines.spark import SparkEngine
from diskret.jobs.noise import NoiseJob, lookup_of
from diskret.jobs.schema import Section
from diskret.jobs.values import DatabaseRecords, Job, Output, Records, TableJob
from diskret.keys import SecretKeys, modulus_with
from diskret.progress import Progress
from diskret.protect.write_perturbed_records import write_perturbed_records

_FORMATS = ("parquet",)
#: What a job may say beside its records, its table and its output.
_SECTIONS = ("records", "hierarchies", "tables", "output")
_OUTPUT = ("folder", "formats", "language")


def is_in_engine(table: TableJob) -> bool:
    """Whether the table is to be written block by block."""
    return table.noise is not None and table.noise.in_engine


def check_in_engine(job: Section, tables: Sequence[TableJob], output: Output) -> None:
    """Refuse what needs a table that somebody holds, beside one that nobody does."""
    if not any(map(is_in_engine, tables)):
        return
    if len(tables) > 1:
        raise job.error(
            "a table that is perturbed in the engine ('in_engine') is a release of its own; give "
            "the other tables a job of their own",
            "tables",
        )
    section = job.section("output")
    for one, keys in ((job, _SECTIONS), (section, _OUTPUT)):
        for key in one.values:
            if key not in keys:
                raise one.error(
                    f"'{key}' needs a table in memory, and the one of this job stays in the engine "
                    "('in_engine')",
                    key,
                )
    if output.formats != _FORMATS:
        raise section.error(
            "a table that is perturbed in the engine ('in_engine') is written as Parquet: "
            'formats = ["parquet"]',
            *(["formats"] if "formats" in section else []),
        )


def write_in_engine(
    job: Job,
    folder: Path,
    keys: SecretKeys | str | PathLike[str] | None,
    progress: Progress,
) -> None:
    """Perturb and write the only table of a job."""
    (table,) = job.tables
    # `check_in_engine` and the rules for noise saw to all of them
    noise, records = cast(NoiseJob, table.noise), cast("Records | DatabaseRecords", job.records)
    spark = isinstance(records, Records) and records.engine == "spark"
    write_perturbed_records(
        records.open(),
        folder,
        by={name: None if tree is None else tree.read() for name, tree in table.by.items()},
        ptable=lookup_of(noise, modulus_with(noise.key_digits, noise.key_modulus), keys),
        record_key=cast(str, noise.record_key),
        key_modulus=noise.key_modulus,
        key_digits=noise.key_digits,
        unit=table.unit,
        where=table.where,
        threshold=noise.options.get("threshold"),
        vintage=table.vintage,
        name=table.name,
        engine=SparkEngine if spark else None,
        keys=keys,
        progress=progress,
    )
