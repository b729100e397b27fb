"""What a ledger says of a release, but for the cells of its tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from diskret.io.from_json import parse_json
from diskret.population import Population
from diskret.tables import MeasureSum
from diskret.tables.ties import About

Kind = Literal["publish", "record", "withdraw"]
#: How values were perturbed of which nothing but themselves is known, see `TableNote.perturbed`.
UNBOUNDED = "without a known bound"


@dataclass(frozen=True)
class TableNote:
    """One table of a release, described.

    Parameters
    ----------
    name, measure, vintage, where
        As in `Published`.
    variables
        Names of the classifying variables.
    cells, suppressed
        How many there are.
    intervals
        Whether intervals were published for suppressed cells.
    weight
        Column of the sampling weights, or None.
    perturbed
        How published values differ from the true ones, in words; empty if they do not. Of tables
        that are perturbed `UNBOUNDED` no equation holds, and nothing follows but their values.
    fingerprint
        Keyed fingerprint of the original table; empty if that is not known.
    mark
        Keyed fingerprint of all that the ledger keeps of the table.
    """

    name: str
    measure: str
    vintage: str
    where: Population
    variables: tuple[str, ...]
    cells: int
    suppressed: int
    intervals: bool
    weight: str | None
    perturbed: str
    fingerprint: str
    mark: str

    @property
    def about(self) -> About:
        """What the table is about, by which it is tied to others."""
        return About(self.measure, self.vintage, self.where)


@dataclass(frozen=True)
class Entry:
    """Something that happened to a ledger; nothing of it is ever changed.

    Parameters
    ----------
    number
        1 for the first.
    kind
        ``"publish"``: a release was written and recorded; ``"record"``: one that was made
        elsewhere was entered; ``"withdraw"``: a release was withdrawn.
    release
        Name of the release.
    who
        Who did it.
    when
        UTC, ISO 8601.
    why
        Reason of a withdrawal, or a note.
    folder
        Where the files of the release were written.
    software
        What wrote them.
    files
        Name of each public file → SHA-256 digest.
    tables
        The tables.
    sums
        Equations between measures that the release states.
    """

    number: int
    kind: Kind
    release: str
    who: str
    when: str
    why: str = ""
    folder: str = ""
    software: str = ""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    tables: tuple[TableNote, ...] = ()
    sums: tuple[MeasureSum, ...] = ()

    @property
    def title(self) -> str:
        """The entry in words, for messages."""
        return f"entry {self.number} ({self.kind} {self.release!r})"


@dataclass(frozen=True)
class LedgerRelease:
    """A release as the ledger knows it.

    Parameters
    ----------
    entry
        When, by whom and where it was published, and its tables.
    withdrawn
        The entry that withdrew it, or None. What was withdrawn stays known to the world.
    """

    entry: Entry
    withdrawn: Entry | None = None

    @property
    def name(self) -> str:
        """Its name, unique in the ledger."""
        return self.entry.release


def as_text(entry: Entry) -> str:
    """An entry as JSON: the same entry, the same text."""
    notes = [asdict(note) | {"where": [*note.where.to_lists().items()]} for note in entry.tables]
    content = asdict(entry) | {"sums": [str(total) for total in entry.sums], "tables": notes}
    return json.dumps(content, ensure_ascii=False, sort_keys=True)


def from_text(text: str) -> Entry:
    """The entry that `as_text` wrote."""
    content: dict[str, Any] = parse_json(text, "an entry of a ledger")
    notes = [
        TableNote(
            **note
            | {
                "variables": tuple(note["variables"]),
                "where": Population.from_lists(dict(note["where"])),
            }
        )
        for note in content["tables"]
    ]
    content["tables"] = tuple(notes)
    content["sums"] = tuple(MeasureSum.read(equation) for equation in content["sums"])
    return Entry(**content)


def releases_of(entries: list[Entry]) -> list[LedgerRelease]:
    """The releases that these entries published, recorded and withdrew."""
    withdrawn = {entry.release: entry for entry in entries if entry.kind == "withdraw"}
    return [
        LedgerRelease(entry, withdrawn.get(entry.release))
        for entry in entries
        if entry.kind != "withdraw"
    ]
