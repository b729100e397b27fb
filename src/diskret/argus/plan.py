"""What can be said of a job before anything is computed: all files read, all else refused."""

from __future__ import annotations

from diskret.argus.cell_key import check_keys
from diskret.argus.commands import Batch, DataText
from diskret.argus.data import Opened, opened
from diskret.argus.metadata import Metadata, read_metadata
from diskret.argus.outputs import check_write, is_internal, passed_over
from diskret.argus.text import Folders
from diskret.errors import JobError


def planned(part: Batch, folders: Folders) -> tuple[Batch, list[Opened]]:
    """Read all files, and refuse what cannot be carried out."""
    for write in part.writes:
        check_write(write, folders, part.step_of(write))
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
    check_costs(part)
    keyed = _keyed(part, metadata, folders)
    pairs = zip(part.data, metadata, strict=True)
    return part, [opened(data, folders, of, keyed) for data, of in pairs]


def _keyed(part: Batch, metadata: list[Metadata], folders: Folders) -> frozenset[int]:
    """The numbers of the tables that the cell key method changes, all of which can be."""
    found: set[int] = set()
    for step in part.suppress:
        if step.method == "CKM":
            of = [d for d in part.data if _has(d, step.table)][0]
            table = part.tables[step.table - 1]
            check_keys(step, of.kind, table, metadata[part.data.index(of)], folders)
            found.add(step.table)
    return frozenset(found)


def check_costs(part: Batch) -> None:
    """Costs by distance say where secondaries are best, which the modular method alone asks."""
    for step in part.suppress:
        for table in part.tables:
            if table.cost == "-3" and step.protects(table.number) and step.method != "MOD":
                raise JobError(
                    f"{step.place}: costs by distance (-3) go with MOD, as in τ-ARGUS; use MOD, or "
                    f"another cost in line {table.place.line}"
                )


def _has(data: DataText, number: int) -> bool:
    return any(table.number == number for table in data.tables)


def check_protected(part: Batch) -> None:
    """Nothing that looks public is written of a table that is not protected."""
    for write in part.writes:
        if not is_internal(write) and part.step_of(write) is None:
            raise JobError(
                f"{write.place}: table {write.table} is not protected; put <SUPPRESS> above it, or "
                "ask for the status (AS+), which makes the file internal"
            )


def notes_of(part: Batch) -> list[str]:
    """What a reader should know of the commands themselves."""
    notes: list[str] = []
    for write in part.writes:
        names = passed_over(write)
        if names:
            notes.append(
                f"{write.place}: {', '.join(f'{name}+' for name in names)} says nothing for files "
                f"of type {write.kind} and was passed over, as in τ-ARGUS"
            )
        of_holdings = any(one.holdings for one in part.tables[write.table - 1].rules.rules)
        if write.options.get("HI") and "HI" not in names and not of_holdings:
            notes.append(
                f"{write.place}: HI+ counts holdings, and no rule of table {write.table} looks at "
                "them; it was passed over"
            )
    for table in part.tables:
        steps = [step for step in part.suppress if step.protects(table.number)]
        if len(steps) > 1:
            notes.append(
                f"table {table.number} is protected {len(steps)} times in different ways; only the "
                "files of the last way may leave the office, for what one way hides another may "
                "show"
            )
    return notes
