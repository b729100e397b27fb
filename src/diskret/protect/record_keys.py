"""Records in, the same records with their secret keys out."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import to_arrow
from diskret.io.columns import code_text, column
from diskret.io.placed import placed
from diskret.io.returned import with_column
from diskret.keys import SecretKeys, derive_record_keys, draw_record_keys, members_keys
from diskret.keys.records import MODULUS


def record_keys(
    records: Any,
    *,
    id: str | None = None,
    parent: str | None = None,
    keys: SecretKeys | str | PathLike[str] | None = None,
    purpose: str = "",
    modulus: int = MODULUS,
    name: str = "record_key",
) -> Any:
    """Give each unit a secret record key, from which all noise of its cells follows.

    Equal units get equal keys, whatever the order of the records, the kind of frame, the
    computer. Keep the keys secret and never publish them.

    Parameters
    ----------
    records
        Any frame that [`tabulate`][diskret.tabulate] takes into memory, or the path of a file.
    id
        Column that identifies the unit, for good: keys are derived from it. Without it every
        record is a unit and draws a key at random: store them, they cannot be drawn again.
    parent
        Column of what units belong to, e.g. their building: the key is then the building's,
        the sum of the keys of its units, each once. For tables that count buildings
        (``unit="building"``) beside tables that count persons.
    keys
        The office's keys; by default as for `SecretKeys.load`.
    purpose
        Other purposes give other keys: the same one wherever tables are to be consistent.
    modulus
        Keys are whole numbers in ``[0, modulus)``; for ``key_modulus=`` of `tabulate`.
    name
        Name of the column to add.

    Returns
    -------
    frame
        Of the kind that came in (files: PyArrow), with one more column of 64-bit integers.

    Raises
    ------
    InputError
        There is a column of this name already, or the other two are not there or hold nothing
        in some rows, or `parent` comes without `id`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> persons = pa.table({"person": [1, 2, 3, 1], "house": ["a", "a", "b", "a"]})
    >>> keyed = record_keys(persons, id="person", keys=SecretKeys(bytes(range(32))), modulus=256)
    >>> key = keyed["record_key"].to_pylist()
    >>> houses = record_keys(
    ...     persons, id="person", parent="house", keys=SecretKeys(bytes(range(32))), modulus=256
    ... )
    >>> a, b = (key[0] + key[1]) % 256, key[2]
    >>> houses["record_key"].to_pylist() == [a, a, b, a]
    True
    """
    table, kind = to_arrow(records, told=(id, parent))
    if name in table.column_names:
        raise InputError(f"there is a column {name!r} already; choose another name=")
    if id is None:
        if parent is not None:
            raise InputError(
                f"the key of {parent!r} is the sum of its members' keys; name their column id="
            )
        found = draw_record_keys(table.num_rows, None, purpose, modulus)
    else:
        with placed(records):
            found = _derived(table, id, parent, SecretKeys.load(keys), purpose, modulus)
    return with_column(records, table, kind, name, pa.array(found.astype(np.int64)))


def _derived(
    table: pa.Table, id: str, parent: str | None, keys: SecretKeys, purpose: str, modulus: int
) -> NDArray[np.uint64]:
    ids = code_text(column(table, id), id)
    own = derive_record_keys(ids, keys, purpose, modulus)
    if parent is None:
        return own
    parents = code_text(column(table, parent), parent)
    place = [
        column.combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
        for column in (parents, ids)
    ]
    pairs = place[0] * (int(place[1].max(initial=0)) + 1) + place[1]
    _, first, back = np.unique(pairs, return_index=True, return_inverse=True)
    return members_keys(own[first], parents.take(pa.array(first)), modulus)[back]
