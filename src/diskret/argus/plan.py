"""What can be said of a job before anything is computed: all files read, all else refused."""

from __future__ import annotations

from diskret.argus.batch import Batch, DataText
from diskret.argus.data import Opened, opened
from diskret.argus.metadata import read_metadata
from diskret.argus.outputs import check_write
from diskret.argus.text import Folders
from diskret.errors import JobError


def planned(part: Batch, folders: Folders) -> tuple[Batch, list[Opened]]:
    """Read all files, and refuse what cannot be carried out."""
    for step in part.suppress:
        if step.method == "CKM":
            raise JobError(
                f"{step.place}: the cell key method is not run from τ-ARGUS jobs yet; use "
                'diskret.perturb, or method = "cell_key" in a job file of diskret'
            )
        if step.method == "GH" and step.table == 0 and len(part.tables) > 1:
            raise JobError(
                f"{step.place}: the hypercube protects one table alone here; use MOD(0,...) for "
                "linked tables"
            )
    changed = {step.table for step in part.suppress if step.method in ("RND", "CTA")}
    for write in part.writes:
        check_write(write, folders, write.table in changed)
    check_protected(part)
    metadata = [
        read_metadata(folders.find(data.metadata.name, data.metadata.place), data.kind)
        for data in part.data
    ]
    for steps in (part.recodes, part.apriori):
        for step in steps:
            folders.find(step.file, step.place) if step.file else None
    for recode in part.recodes:
        of = [d for d, _ in zip(part.data, metadata, strict=True) if _has(d, recode.table)][0]
        variables = metadata[part.data.index(of)]
        name = variables.named(recode.variable, recode.place).name
        table = part.tables[recode.table - 1]
        if name not in [variables.named(one, table.place).name for one in table.by]:
            raise JobError(f"{recode.place}: table {recode.table} has no variable {name!r}")
    return part, [opened(d, folders, m) for d, m in zip(part.data, metadata, strict=True)]


def _has(data: DataText, number: int) -> bool:
    return any(table.number == number for table in data.tables)


def check_protected(part: Batch) -> None:
    """Nothing that looks public is written of a table that is not protected."""
    protected = {step.table for step in part.suppress}
    for write in part.writes:
        internal = write.kind in (4, 5, 6) or write.options.get("AS") or write.options.get("SO")
        if not internal and not protected & {0, write.table}:
            raise JobError(
                f"{write.place}: table {write.table} is not protected; put <SUPPRESS> above it, or "
                "ask for the status (AS+), which makes the file internal"
            )
