"""Files of records as they are analysed: text as it is, and numbers."""

# pyarrow has no type information for its compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import to_arrow
from diskret.io.columns import code_text, numbers
from diskret.io.placed import placed
from diskret.keys import SecretKeys, keyed_numbers
from diskret.outputs.units import as_read
from diskret.publish.digests import digest
from diskret.remote.registered import DataSet, Version

if TYPE_CHECKING:
    import pandas as pd


def read_records(path: Path, of_numbers: Collection[str]) -> pd.DataFrame:
    """The records of a file, numbered from 0: columns of floats, all others text, maybe missing.

    Raises
    ------
    InputError
        The file cannot be read, or a number is none.
    """
    import pandas as pd

    with placed(path):
        table, _ = to_arrow(str(path), [*of_numbers])
        columns: dict[str, Any] = {}
        for name in table.column_names:
            column = table.column(name)
            if name in of_numbers:
                columns[name] = numbers(column, name)
            else:
                columns[name] = pd.Series(_text(column, name), dtype=object)
    return pd.DataFrame(columns)


def _text(column: pa.ChunkedArray, name: str) -> Any:
    """Codes without padding; missing where there is none."""
    known = pc.drop_null(column)
    found = np.full(len(column), None, object)
    at = ~np.asarray(column.is_null().to_numpy(zero_copy_only=False), bool)
    if len(known):
        found[at] = code_text(known, name).to_pylist()
    return found


def mark_of(path: Path, keys: SecretKeys) -> str:
    """Keyed fingerprint of a file that nobody sees."""
    return keys.fingerprint("original of remote access", [digest(path).encode()])


def version_frame(version: Version, data: DataSet) -> pd.DataFrame:
    """The records of an anonymised version.

    Raises
    ------
    InputError
        The file is another one than was registered.
    """
    path = Path(version.file)
    _check_unchanged(path, version.digest, digest(path))
    return read_records(path, data.numbers)


def original_frame(data: DataSet, keys: SecretKeys) -> pd.DataFrame:
    """The records that nobody sees.

    Raises
    ------
    InputError
        The file is another one than was registered.
    """
    path = Path(data.original)
    _check_unchanged(path, data.mark, mark_of(path, keys))
    return read_records(path, data.numbers)


def levels_of(frame: pd.DataFrame) -> dict[str, list[str]]:
    """The categories of each column of text."""
    texts = [name for name in frame.columns if frame[name].dtype == object]
    return {name: sorted(frame[name].dropna().unique()) for name in texts}


def _check_unchanged(path: Path, known: str, now: str) -> None:
    if now != known:
        raise InputError(
            f"{path.name} is not the file that was registered; register it again: "
            "diskret remote register"
        )


def block_of(
    frame: pd.DataFrame, unit: str, blocks: int, keys: SecretKeys, name: str
) -> NDArray[np.intp]:
    """The block of each record, from 0; all records of a unit lie in one.

    A unit's block follows from its name, in any spelling, or from the number of a record that is
    one by itself, and the office's key, whoever else is there.
    """
    from pandas.util import hash_pandas_object

    whose = as_read(frame[unit]) if unit else frame.index.to_series()
    rows = hash_pandas_object(whose, index=False).to_numpy(np.uint64)
    numbered = keyed_numbers(keys, f"blocks of {name}", rows)
    return (numbered % np.uint64(blocks)).astype(np.intp)
