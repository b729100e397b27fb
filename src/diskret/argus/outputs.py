"""Which files of protected tables are written, as texts that are still to be written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from diskret.argus.commands import Suppress, Write
from diskret.argus.done import Done
from diskret.argus.program_files import (
    lines_of_intermediate,
    lines_of_problem,
    metadata_of,
    trees_of,
)
from diskret.argus.text import Folders
from diskret.argus.value_files import (
    lines_of_noise,
    lines_of_pages,
    lines_of_sbs,
    lines_of_values,
)
from diskret.errors import JobError
from diskret.jobs.text_files import TextFile

#: Methods that change values and hide none.
CHANGES = ("RND", "CTA", "CKM")
_PIVOT, _VALUES, _SBS, _INTERMEDIATE, _JJ, _CKM = 2, 3, 4, 5, 6, 7
#: Types that print unsafe values, whatever the options.
INTERNAL = (_SBS, _INTERMEDIATE, _JJ)
#: Options that make a file internal, for it then tells what must not leave.
_TELLING = ("AS", "SO", "AO", "AD", "AC")
#: The options that mean something for each type of file; others are passed over.
_OFFERED = {
    1: ("QU", "AS"),
    _PIVOT: ("AS", "SE", "FL", "QU", "SO"),
    _VALUES: ("AS", "SE", "FL", "QU", "SO"),
    _SBS: ("HL", "AS", "SE", "FL", "QU"),
    _INTERMEDIATE: ("AS", "SE", "FL", "QU", "AR", "HI"),
    _JJ: ("TR",),
    _CKM: ("AO", "AD", "AC", "SE", "FL", "QU"),
}


def passed_over(write: Write) -> list[str]:
    """The options that say nothing for such a file; τ-ARGUS passes them over, too."""
    offered = _OFFERED[write.kind]
    return [name for name, on in write.options.items() if on and name not in offered]


def is_internal(write: Write) -> bool:
    """Whether a file must not leave the office, whatever protects the table."""
    offered = _OFFERED[write.kind]
    return write.kind in INTERNAL or any(
        write.options.get(name, False) for name in _TELLING if name in offered
    )


def check_write(write: Write, folders: Folders, step: Suppress | None) -> Path:
    """Refuse files that are not written, before anything is computed; where the file will be.

    step: what has protected the table when the file is written; None: nothing has.
    """
    method = "" if step is None else step.method
    if write.kind == _CKM and method != "CKM":
        raise JobError(
            f"{write.place}: files of type 7 hold what the cell key method changed; put "
            f"<SUPPRESS> CKM({write.table}) above it, or use type 1, 2 or 3"
        )
    if method in CHANGES and write.kind in INTERNAL:
        raise JobError(
            f"{write.place}: values of this table are changed and not hidden, so it has no status "
            "to write; use type 1, 2 or 3, with AS+ for the true values beside"
        )
    if write.options.get("AR") and write.kind == _INTERMEDIATE and not method:
        raise JobError(
            f"{write.place}: AR+ writes what an audit finds of hidden cells, and table "
            f"{write.table} is not protected; put <SUPPRESS> above it"
        )
    return folders.target(write.file, write.place)


def outputs_of(write: Write, path: Path, done: Done, outdated: bool) -> Iterator[TextFile]:
    """The files that one command writes; `outdated`: the table is protected otherwise later on."""
    internal = outdated or is_internal(write)
    ways = {
        1: lines_of_pages,
        _SBS: lines_of_sbs,
        _INTERMEDIATE: lines_of_intermediate,
        _JJ: lines_of_problem,
        _CKM: lines_of_noise,
    }
    lines = ways.get(write.kind, lines_of_values)
    yield TextFile(path, "".join(f"{line}\n" for line in lines(write, done)), internal)
    if write.kind == _INTERMEDIATE:
        yield TextFile(path.with_suffix(".rda"), metadata_of(write, path, done), True)
        for name, text in trees_of(path, done):
            yield TextFile(path.with_name(name), text, True)
