"""Records with what was found for their combination of keys, written block by block."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from diskret.engines import KeyCounts
from diskret.errors import InputError
from diskret.progress import Progress


def write_records(
    path: Path,
    names: Sequence[str],
    blocks: Iterable[tuple[pa.RecordBatch, list[pa.Array]]],
    counts: KeyCounts,
    figures: Mapping[str, NDArray[Any]],
    progress: Progress,
) -> None:
    """Write a Parquet file: all of it, or nothing.

    Parameters
    ----------
    path
        Of the file; there must be none yet.
    names
        Of the columns of the records.
    blocks
        Records, and what they have in each key.
    counts
        The combinations of keys.
    figures
        Name of a new column → its value for each combination.
    progress
        Called with ``("write records", done, total)``.

    Raises
    ------
    InputError
        There is such a file, or it cannot be written; records have a combination that was not
        counted.
    """
    total, done = int(counts.records.sum()), 0
    with _whole(path) as unfinished, ExitStack() as closing:
        writer: Any = None
        progress("write records", 0, total)
        for block, keys in blocks:
            row = counts.rows(keys)
            found = [pa.array(figure[row]) for figure in figures.values()]
            table = pa.table([*block.columns, *found], names=[*names, *figures])
            writer = writer or closing.enter_context(
                parquet.ParquetWriter(unfinished, table.schema)
            )
            writer.write_table(table)
            progress("write records", done := done + len(block), total)
        if done != total:
            raise InputError(
                f"there are {done:,} records now, and {total:,} were counted; they have changed in "
                "the meantime: count them again"
            )


@contextmanager
def _whole(path: Path) -> Generator[Path]:
    """A file beside the one that is wanted, which becomes that once it is complete."""
    if path.exists():
        raise InputError(f"{path}: there is such a file already; give another path")
    unfinished: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        unfinished = Path(name)
        os.close(handle)
        yield unfinished
        unfinished.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)
