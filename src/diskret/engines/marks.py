"""Marks on records: who asked for protection, who did not consent to publication."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from diskret.engines.columns import counted
from diskret.errors import InputError
from diskret.hierarchy.codes import as_code, some

_YES, _NO = ("true", "1"), ("false", "0", "")


@dataclass(frozen=True)
class Mark:
    """Which records bear a mark.

    Parameters
    ----------
    column
        Column that says so.
    codes
        What is written there; None: a yes (``true`` or 1) in a column of yes and no, where
        nothing means no.
    listed
        Whether the records with one of the codes bear the mark, or all others.
    """

    column: str
    codes: tuple[str, ...] | None = None
    listed: bool = True


def spellings(mark: Mark, found: pa.Table) -> pa.Table:
    """The distinct values of a mark's column that are spellings of its codes.

    Parameters
    ----------
    mark
        The mark.
    found
        Columns ``raw`` (a row for each distinct value) and ``records`` (how many have it).

    Returns
    -------
    pyarrow.Table
        The columns ``raw`` and ``leaf``, which is 0.

    Raises
    ------
    InputError
        A column of yes and no says something else.
    """
    read = [as_code(value) or "" for value in found["raw"].to_pylist()]
    if mark.codes is None:
        _refuse_neither(mark.column, read, found["records"].to_pylist())
    wanted = [
        code.lower() in _YES if mark.codes is None else code != "" and code in mark.codes
        for code in read
    ]
    raw = found["raw"].filter(pa.array(wanted, pa.bool_()))
    return pa.table({"raw": raw, "leaf": pa.array([0] * len(raw), pa.int32())})


def _refuse_neither(name: str, read: list[str], records: list[int]) -> None:
    strange = {
        code: count
        for code, count in zip(read, records, strict=True)
        if code.lower() not in (*_YES, *_NO)
    }
    if strange:
        examples = some([repr(code) for code in sorted(strange)])
        raise InputError(
            f"{counted(sum(strange.values()))}: neither yes (true, 1) nor no (false, 0, nothing) "
            f"in column {name!r} ({examples}); say which codes mean yes: {{{name!r}: [codes]}}"
        )
