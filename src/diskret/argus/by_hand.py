"""What is said of single cells: the status in a file of cells, and ``.hst`` files."""

# pyarrow has no type information for its compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.argus.commands import AprioriText
from diskret.argus.metadata import Metadata
from diskret.argus.text import Folders, encoding_of, said_at, text_of
from diskret.argus.trees import Axis
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.rules import Apriori, Rule
from diskret.rules.apriori_entries import Line, hst_entries, read_hst
from diskret.rules.parents import same_cell
from diskret.tables import Table
from diskret.tables.from_cells import locate
from diskret.texts.numbers import Count

#: A range of 0 percent asks for one unit of the last decimal, as every level does at least.
_HARDLY = 1e-9
#: Types of lines that hide a cell to protect others.
_HIDDEN = ("m", "ml")


def numbers_of(frame: pa.Table, name: str) -> NDArray[np.float64]:
    """A column of text as numbers; 0 where nothing stands."""
    try:
        return pc.fill_null(frame.column(name).cast(pa.float64()), 0).to_numpy()
    except pa.ArrowException as error:
        raise InputError(f"{name!r} holds something that is no number ({error})") from error


def given_status(
    frame: pa.Table,
    metadata: Metadata,
    path: Path,
    axes: Sequence[Axis],
    table: Table,
    at: NDArray[np.int64],
    percent: float,
) -> list[Rule]:
    """What the file of cells says of them, one row each at `at`: unsafe or protected."""
    found = metadata.of_role("status")
    if not found:
        return []
    said = np.array([(s or "").upper() for s in frame.column(found[0].name).to_pylist()])
    codes = {name: code.upper() for name, code in metadata.status.items()}
    known = {codes["safe"], codes["unsafe"], codes["protected"], "", "E", "M", "Z", "V"}
    unknown = sorted({*said.tolist()} - known)
    if unknown:
        raise InputError(
            f"the status {unknown[0]!r} in {found[0].name!r} is not known; "
            f"{metadata.path.name} says what is <SAFE>, <UNSAFE> and <PROTECT>"
        )
    # an empty cell is published as such, whatever its status
    unsafe = (said == codes["unsafe"]) & ~table.empty.ravel()[at]
    rows = np.flatnonzero(unsafe | (said == codes["protected"]))
    if not len(rows):
        return []
    hidden = unsafe[rows]
    columns: dict[str, pa.Array] = {
        axis.variable.name: frame.column(axis.variable.name).take(rows) for axis in axes
    }
    columns["status"] = pa.array(np.where(hidden, "unsafe", "frozen"), pa.string())
    for side in ("lower", "upper"):
        given = metadata.of_role(side)
        if given:
            level = np.maximum(numbers_of(frame, given[0].name)[rows], 0)
            columns[side] = pa.array(level, pa.float64(), mask=~hidden | (level == 0))
    return [Apriori(pa.table({**columns, **_answers(path, len(rows))}), percent or _HARDLY)]


def _answers(path: Path, rows: int, reason: str = "status in a file") -> dict[str, pa.Array]:
    """Why, who and when: the job does not say, its files do."""
    day = datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
    said = {"reason": reason, "who": path.name, "date": day}
    return {name: pa.array([text] * rows, pa.string()) for name, text in said.items()}


def apriori_rules(
    text: AprioriText,
    folders: Folders,
    table: Table,
    percent: float,
    taken: NDArray[np.bool_],
) -> list[Rule]:
    """What is known of single cells; those that the table does not have are passed over.

    taken: becomes True where the file hides a cell to protect others.
    """
    path = folders.find(text.file, text.place)
    if not text_of(path).strip():
        return []  # programs write one for every table, also where nothing is known
    at = len(table.dimensions)
    with said_at(text.place):
        lines = _clear(read_hst(path, text.separator, encoding_of(path.read_bytes())), text, at)
        for number, fields in lines:
            if len(fields) <= at:
                many = Count(len(fields))
                raise InputError(
                    f"{path.name}, line {number}: {many} {many:field|fields} with the separator "
                    f"{text.separator!r}; a line holds {at} codes and what is set, e.g. ...,s"
                )
        if text.ignore_unknown:
            trees = [dimension.hierarchy for dimension in table.dimensions]
            lines = tuple(line for line in lines if _known(line[1], trees))
        hides = [line for line in lines if len(line[1]) > at and line[1][at].lower() in _HIDDEN]
        rest = [line for line in lines if line not in hides]
        found: list[Rule] = []
        answers = {name: str(column[0]) for name, column in _answers(path, 1).items()}
        if hides:
            found.append(_taken_over(hides, table, answers, path.name, taken))
        if rest:
            entries = hst_entries(rest, table.dimensions, answers, path.name)[0]
            found.append(Apriori(entries, percent or _HARDLY))
        for rule in found:
            rule(table)  # what is wrong with it is said here
        return found


def overruled(
    earlier: Sequence[Rule], later: Sequence[Rule], table: Table, taken: NDArray[np.bool_]
) -> list[Rule]:
    """What was said of single cells before, without the status of those set safe later.

    A cell that a file of cells or an earlier ``.hst`` file calls unsafe or protected becomes safe
    by a line ``s``. Its levels go with its status; what hiding it costs stays.
    Cells hidden to protect others (`taken`) are left alone: τ-ARGUS sets none of them safe.
    """
    safe = np.zeros(table.shape, dtype=bool)
    for one in later:
        found = one(table).safe
        safe |= False if found is None else found
    safe &= ~taken
    if not safe.any():
        return list(earlier)
    return [_without(one, safe, table) if isinstance(one, Apriori) else one for one in earlier]


def _without(rule: Apriori, safe: NDArray[np.bool_], table: Table) -> Apriori:
    """A rule that sets no status of some cells."""
    entries: pa.Table = rule.entries
    trees = {dimension.name: dimension.hierarchy for dimension in table.dimensions}
    at = np.unravel_index(locate(entries, trees)[1], table.shape)
    # a total with a single part is that part
    twins = zip(trees.values(), at, strict=True)
    dropped = pa.array(safe[tuple(same_cell(tree)[i] for tree, i in twins)])
    for name in ("status", "lower", "upper"):
        if name in entries.column_names:
            column = entries.column(name)
            kept = pc.if_else(dropped, pa.scalar(None, column.type), column)
            entries = entries.set_column(entries.column_names.index(name), name, kept)
    says = pc.is_valid(entries.column("status"))
    for name in ("cost", "lower", "upper"):
        if name in entries.column_names:
            says = pc.or_(says, pc.is_valid(entries.column(name)))
    return Apriori(entries.filter(says), rule.range)


def _clear(lines: Sequence[Line], text: AprioriText, at: int) -> tuple[Line, ...]:
    """The lines once each, with decimal points."""
    found: dict[tuple[str, ...], Line] = {}
    for number, fields in lines:
        said = tuple(field.lower() for field in fields[at : at + 1])
        more = fields[at + 1 :]
        if text.separator != ",":
            more = tuple(field.replace(",", ".") for field in more)
        fields = (*fields[:at], *said, *more)
        found.setdefault(fields, (number, fields))
    return tuple(found.values())


def _taken_over(
    lines: Sequence[Line],
    table: Table,
    answers: dict[str, str],
    name: str,
    taken: NDArray[np.bool_],
) -> Rule:
    """Cells that stay hidden: nobody may know them to the unit, as of all secondaries."""
    at = len(table.dimensions)
    unsafe = tuple((number, (*fields[:at], "u")) for number, fields in lines)
    entries = hst_entries(unsafe, table.dimensions, answers, name)[0]
    unit = pa.array([str(10.0**-table.measure.decimals)] * entries.num_rows, pa.string())
    for column in ("lower", "upper"):
        entries = entries.set_column(entries.column_names.index(column), column, unit)
    trees = {dimension.name: dimension.hierarchy for dimension in table.dimensions}
    taken.ravel()[locate(entries, trees)[1]] = True
    return Apriori(entries, _HARDLY)


def _known(fields: Sequence[str], trees: Sequence[Hierarchy]) -> bool:
    """Whether the table has all codes of a line; an empty one stands for the total."""
    pairs = zip(fields, trees, strict=False)
    return all(not code or code in tree.position for code, tree in pairs)
