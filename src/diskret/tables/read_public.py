"""The attacker's view, read from the public files of a table."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from diskret.errors import HierarchyError, InputError
from diskret.hierarchy import Hierarchy
from diskret.io.files import plain_parquet_blocks
from diskret.io.formulas import marked, without_marks
from diskret.io.from_json import read_json
from diskret.population import Population
from diskret.tables.cells import CHANGES, NO_BOUND, STATUS, check_names
from diskret.tables.dimension import Dimension
from diskret.tables.outline import ROWS, Block, Outline
from diskret.tables.public_files import (
    SCHEMA,
    STRUCTURE,
    check_file_name,
    exact_cells,
    structure,
    tables_in,
)
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.tables.published import Published

_EXAMPLES = 3
_MAX_CELLS = 10**12

T = TypeVar("T")


def read_published(
    kind: type[Published], folder: str | PathLike[str], name: str | None = None
) -> Published:
    """The attacker's view, from the public files alone.

    kind: what is made: `Published`, which knows of this module.
    folder: a folder with public files, or the folder of a release that holds ``public/``.
    name: name of the table; may be left out if the folder holds only one.
    """
    public, name = _locate(Path(folder), name)
    said = public / f"{name}{STRUCTURE}"
    outline, sides = _read_outline(said, read_json(said), name)
    path, typed = public / f"{name}.csv", public / f"{name}.parquet"
    if typed.exists() and not path.exists():
        _check_blocks(said, outline, sides)
        return kind.of(outline, *_of_blocks(typed, outline))
    columns = [d.name for d in outline.dimensions] + [outline.measure, "status", *sides]
    cells = read_text(path, columns)
    at = _positions(path, cells, outline.dimensions)
    value, status = _values(path, cells, outline)

    def placed(column: NDArray[Any]) -> NDArray[Any]:
        array = np.empty(len(column), dtype=column.dtype)
        array[at] = column
        return array.reshape(outline.shape)

    bounds = {side: placed(_bounds(path, cells, outline, side, status == 1)) for side in sides}
    return kind.of(outline, placed(value), placed(status == 1), placed(status == 2), **bounds)


def read_outline(folder: str | PathLike[str], name: str) -> Outline:
    """What the structure of a table says that can be read block by block."""
    path = Path(folder) / f"{name}{STRUCTURE}"
    outline, sides = _read_outline(path, read_json(path), name)
    _check_blocks(path, outline, sides)
    return outline


def _check_blocks(path: Path, outline: Outline, sides: Sequence[str]) -> None:
    if sides or outline.decimals:
        raise InputError(
            f"{path}: tables with decimals or published intervals are read from their CSV file, "
            "which is missing; get it from the office that published them"
        )
    if outline.size > _MAX_CELLS:
        raise InputError(f"{path}: {outline.size:,} cells are more than {_MAX_CELLS:,}")


def read_blocks(path: Path, outline: Outline) -> Iterator[Block]:
    """The cells of a public Parquet file of whole numbers without intervals, block by block.

    Every column must be what follows from the values and the structure, in its order.
    """
    start, columns = 0, exact_cells(Block(outline, 0, *_cells(0))).schema
    for cells in plain_parquet_blocks(path, ROWS):
        if not cells.schema.equals(columns, check_metadata=True):
            raise InputError(
                f"{path}: the columns must be {_typed(columns)}, but they are "
                f"{_typed(cells.schema)}"
            )
        status = pc.index_in(cells["status"], pa.array(STATUS)).fill_null(0).to_numpy()
        value = cells[outline.measure].fill_null(0).to_numpy()
        block = Block(outline, start, value, status == 1, status == 2)
        if block.stop > outline.size or not cells.equals(exact_cells(block)):
            raise InputError(
                f"{path}: rows {start + 1:,} to {block.stop:,} are not these cells of the table; "
                "codes and their order, values and status must be as the structure says"
            )
        if outline.nonnegative and (value < 0).any():
            raise InputError(f"{path}: there are negative values, which the structure excludes")
        yield block
        start = block.stop
    if start != outline.size:
        number = Count(outline.size - start)
        raise InputError(f"{path}: {number} of {outline.size:,} cells {number:is|are} missing")


def _typed(columns: pa.Schema) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in columns)


def _cells(number: int) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Values, what is suppressed, and what is empty: nothing yet."""
    return np.zeros(number, np.int64), np.zeros(number, bool), np.zeros(number, bool)


def _of_blocks(
    path: Path, outline: Outline
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    read = list(read_blocks(path, outline))
    value, suppressed, empty = (
        np.concatenate([getattr(block, of) for block in read]).reshape(outline.shape)
        for of in ("value", "suppressed", "empty")
    )
    return value, suppressed, empty


def of_structure(
    kind: type[Published],
    content: Any,
    value: NDArray[np.int64],
    suppressed: NDArray[np.bool_],
    empty: NDArray[np.bool_],
    lower: NDArray[np.int64] | None = None,
    upper: NDArray[np.int64] | None = None,
    source: str = "structure",
) -> Published:
    """A published table from its [structure][diskret.tables.public_files.structure] and arrays."""
    path = Path(source)
    outline, _ = _read_outline(path, content, _member(path, content, "name", str))
    published = kind.of(outline, value, suppressed, empty, lower, upper)
    _check_nothing_else(path, content, published, published.sides)
    return published


def _check_nothing_else(
    path: Path, content: dict[str, Any], outline: Outline, sides: Sequence[str]
) -> None:
    """Refuse a structure that says anything which is not read, at whatever depth."""
    again = structure(outline) | ({"intervals": True} if sides else {})
    if content != again:
        odd = [key for key in content if key not in again or content[key] != again[key]]
        raise InputError(
            f"{path}: holds what is no part of the structure of a table, at "
            f"{', '.join(map(repr, odd))}; get the file anew from the office that published it"
        )


# ── reading the structure ───────────────────────────────────────────────────────────


def _locate(folder: Path, name: str | None) -> tuple[Path, str]:
    """The folder with the public files and the name of the table."""
    inside = folder / "public"
    public = inside if inside.is_dir() and not any(folder.glob(f"*{STRUCTURE}")) else folder
    if name is not None:
        check_file_name(name)
        return public, name
    found = tables_in(public)
    if len(found) == 1:
        return public, found[0]
    if not found:
        raise InputError(f"{public}: there is no published table here (no *{STRUCTURE} file)")
    raise InputError(
        f"{public}: there are {len(found)} published tables here; choose one with name=, "
        f"e.g. {', '.join(map(repr, found[:_EXAMPLES]))}"
    )


def _read_outline(path: Path, content: Any, name: str) -> tuple[Outline, list[str]]:
    """What the structure says, and the columns of published bounds."""
    schema = _member(path, content, "schema", str)
    if schema != SCHEMA:
        raise InputError(f"{path}: the schema is {schema!r}, but only {SCHEMA!r} can be read")
    if _member(path, content, "name", str) != name:
        raise InputError(f"{path}: the file says its name is {content['name']!r}, not {name!r}")
    dimensions = tuple(_dimension(path, d) for d in _member(path, content, "dimensions", list))
    outline = Outline(
        name,
        dimensions,
        measure=_member(path, content, "measure", str),
        frequency=_member(path, content, "frequency", bool),
        decimals=_member(path, content, "decimals", int),
        nonnegative=_member(path, content, "nonnegative", bool),
        vintage=_member(path, content, "vintage", str, ""),
        where=_population(path, _member(path, content, "where", dict, {})),
        recorded=_member(path, content, "recorded", bool, False),
        rounding=_member(path, content, "rounding", int, 1),
        changed=_member(path, content, "changed", str, ""),
    )
    if not dimensions:
        raise InputError(f"{path}: 'dimensions' is empty; a table has at least one")
    if not 0 <= outline.decimals <= 18 or (outline.frequency and outline.decimals):
        raise InputError(
            f"{path}: 'decimals' is {outline.decimals}; it must be 0 to 18, and 0 for counts"
        )
    if outline.rounding < 1:
        raise InputError(f"{path}: 'rounding' is {outline.rounding}; it must be at least 1")
    if outline.changed not in ("", *CHANGES):
        raise InputError(
            f"{path}: 'changed' is {outline.changed!r}; it must be one of {', '.join(CHANGES)}"
        )
    sides = ["lower", "upper"] if _member(path, content, "intervals", bool, False) else []
    try:
        check_names([*(d.name for d in dimensions), outline.measure, "status", *sides])
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    _check_nothing_else(path, content, outline, sides)
    return outline, sides


def _dimension(path: Path, content: Any) -> Dimension:
    name = _member(path, content, "name", str)
    codes = _member(path, content, "codes", list)
    parents = _member(path, content, "parents", list)
    labels = _member(path, content, "labels", dict)
    members = {
        code: _codes(path, codes, "members")
        for code, codes in _member(path, content, "members", dict, {}).items()
    }
    translations = _member(path, content, "translations", dict, {})
    if not all(isinstance(translated, dict) for translated in translations.values()):
        raise InputError(f"{path}: 'translations' of {name!r} must be language → code → text")
    translated = [text for labels in translations.values() for text in labels.values()]
    texts = (*codes, *parents[1:], *labels.values(), *translated)
    if parents[:1] != [None] or not all(isinstance(text, str) for text in texts):
        raise InputError(
            f"{path}: codes, parents and labels of {name!r} must be text, and null the parent of "
            "the total, which comes first"
        )
    position = {code: i for i, code in enumerate(codes)}
    try:
        parent = [-1, *(position[p] for p in parents[1:])]
        tree = Hierarchy(tuple(codes), np.array(parent, np.int32), labels, translations, members)
        return Dimension(name, tree)
    except KeyError as error:
        raise InputError(f"{path}: {name!r} has a parent {error} that is not a code") from None
    except HierarchyError as error:
        raise InputError(f"{path}: the codes of {name!r} are no tree: {error}") from None


def _population(path: Path, content: Any) -> Population:
    try:
        return Population.from_lists(content)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _codes(path: Path, content: Any, key: str) -> tuple[str, ...]:
    if not isinstance(content, list) or not all(isinstance(code, str) for code in content):
        raise InputError(f"{path}: {key!r} must hold lists of codes")
    return tuple(content)


def _member(path: Path, content: Any, key: str, kind: type[T], usual: T | None = None) -> T:
    found = content.get(key, usual) if isinstance(content, dict) else None
    if type(found) is not kind:  # a JSON true must not pass as the number 1
        raise InputError(f"{path}: {key!r} is missing or is not of type {kind.__name__}")
    return found


# ── reading the cells ───────────────────────────────────────────────────────────────


def read_text(path: Path, columns: list[str]) -> pa.Table:
    """A public CSV with exactly these columns, every value as text."""
    try:
        cells = pa_csv.read_csv(
            path,
            # one thread, so that an error can name its row
            read_options=pa_csv.ReadOptions(use_threads=False),
            parse_options=pa_csv.ParseOptions(ignore_empty_lines=False),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys([*columns, *map(marked, columns)], pa.string()),
                strings_can_be_null=False,
            ),
        )
        cells = without_marks(cells)
        found = cells.column_names
    except FileNotFoundError:
        raise InputError(f"{path}: the file is missing") from None
    except (OSError, pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as CSV in UTF-8: {error}") from None
    if found != columns:
        raise InputError(
            f"{path}, line 1: the columns must be {', '.join(columns)}, "
            f"but they are {', '.join(found)}"
        )
    return cells.combine_chunks()


def _positions(path: Path, cells: pa.Table, dimensions: tuple[Dimension, ...]) -> NDArray[np.int64]:
    """The flat position of each row; every combination of codes exactly once."""
    shape = tuple(len(d) for d in dimensions)
    expected = int(np.prod(shape, dtype=object))
    if expected > _MAX_CELLS:
        raise InputError(f"{path}: {expected:,} cells are more than can be read ({_MAX_CELLS:,})")
    at = np.zeros(len(cells), dtype=np.int64)
    for dimension in dimensions:
        codes = pa.array(dimension.hierarchy.codes, pa.string())
        found = pc.index_in(cells[dimension.name], codes)
        _refuse(path, cells, dimension.name, found.is_null(), "is not a code of the structure file")
        at = at * len(dimension) + found.to_numpy()
    order = np.argsort(at, kind="stable")
    ranked = at[order]
    again = np.flatnonzero(np.diff(ranked) == 0)
    if len(again):
        first, second = order[again[0]] + 2, order[again[0] + 1] + 2
        number = Count(len(again))
        raise InputError(
            f"{path}: {number} {number:cell is|cells are} there more than once, e.g. in lines "
            f"{first} and {second}"
        )
    if len(at) < expected:
        gap = np.flatnonzero(ranked != np.arange(len(at)))
        missing = np.unravel_index(gap[0] if len(gap) else len(at), shape)
        cell = ", ".join(
            f"{d.name}={d.hierarchy.codes[i]}" for d, i in zip(dimensions, missing, strict=True)
        )
        number = Count(expected - len(at))
        raise InputError(
            f"{path}: {number} of {expected:,} cells {number:is|are} missing, the first is {cell}"
        )
    return at


def _values(
    path: Path, cells: pa.Table, outline: Outline
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Scaled values (0 where suppressed) and the position of each status in `STATUS`."""
    measure, text = outline.measure, cells[outline.measure]
    found = pc.index_in(cells["status"], pa.array(STATUS))
    _refuse(path, cells, "status", found.is_null(), f"is none of {', '.join(STATUS)}")
    status = found.to_numpy().astype(np.int64)

    blank = pc.equal(text, "")
    hidden = pa.chunked_array([pa.array(status == 1)])
    _refuse(path, cells, measure, pc.and_not(hidden, blank), "must be empty: it is suppressed")
    value = _numbers(path, cells, outline, measure, status == 1)
    at_zero = pa.chunked_array([pa.array((status == 2) & (value != 0))])
    _refuse(path, cells, measure, at_zero, "must be 0: the cell is empty")
    if outline.nonnegative:
        negative = pa.chunked_array([pa.array(value < 0)])
        _refuse(path, cells, measure, negative, "is negative, but the structure excludes that")
    if outline.rounding > 1:
        between = pa.chunked_array([pa.array(value % outline.rounding != 0)])
        _refuse(path, cells, measure, between, "is not rounded as the structure says")
    return value, status


def _numbers(
    path: Path, cells: pa.Table, outline: Outline, column: str, without: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Scaled values of a column; 0 where it has none, bool ``(rows,)``."""
    decimals, text = outline.decimals, cells[column]
    blank = pa.chunked_array([pa.array(without)])
    form = r"\A-?[0-9]+" + (rf"\.[0-9]{{{decimals}}}" if decimals else "") + r"\z"
    wrong = pc.and_not(pc.invert(pc.match_substring_regex(text, form)), blank)
    _refuse(
        path,
        cells,
        column,
        wrong,
        f"is not a number with exactly {decimals} {Count(decimals):decimal|decimals}",
    )
    digits = pc.if_else(blank, "0", pc.replace_substring(text, ".", ""))
    try:
        return digits.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid as error:
        raise InputError(f"{path}, column {column!r}: out of range: {error}") from None


def _bounds(
    path: Path, cells: pa.Table, outline: Outline, side: str, hidden: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Published bounds of the suppressed cells, and nothing of the others."""
    blank = pc.equal(cells[side], "")
    shown = pa.chunked_array([pa.array(~hidden)])
    _refuse(path, cells, side, pc.and_not(shown, blank), "must be empty: it is not suppressed")
    without = blank.to_numpy()
    bound = _numbers(path, cells, outline, side, without)
    return np.where(without & hidden, -NO_BOUND if side == "lower" else NO_BOUND, bound)


def _refuse(path: Path, cells: pa.Table, column: str, wrong: pa.ChunkedArray, why: str) -> None:
    rows = np.flatnonzero(wrong.to_numpy())
    if len(rows):
        line, found = rows[0] + 2, cells[column][int(rows[0])].as_py()
        if len(rows) == 1:
            raise InputError(f"{path}, line {line}, column {column!r}: {found!r} {why}")
        raise InputError(
            f"{path}, line {line}, column {column!r}: {found!r} {why}, as in {len(rows):,} lines "
            "in all"
        )
