"""What a user of SAFE says of tables and of single cells: allowances, and what stays exact."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from diskret.anonymize.safe_combinations import Combinations
from diskret.errors import InputError
from diskret.io import to_arrow
from diskret.microdata.categories import texts
from diskret.tables.lists import is_formula, table_list

#: Table → w, pairs of table and w, cells with an ``allowance``, or a frame of such cells.
Weights = Mapping[Any, int] | Iterable[Any]
#: Tables, cells (column → code), or a frame of cells.
Exact = Iterable[Any]
_ALLOWANCE = "allowance"


@dataclass(frozen=True)
class CellWishes:
    """What holds beyond "as close as possible", table by table and cell by cell."""

    #: table (its variables) → deviation that is free
    allowances: Mapping[frozenset[str], int] = field(default_factory=dict[frozenset[str], int])
    exact: tuple[tuple[str, ...], ...] = ()  # tables that keep their counts
    #: column → code, with an allowance, or exact where that is None
    cells: tuple[tuple[Mapping[str, Any], int | None], ...] = ()

    def exact_tables(self) -> list[tuple[str, ...]]:
        """Tables that are to be controlled because something in them is exact."""
        return [*self.exact, *(tuple(cell) for cell, allowance in self.cells if allowance is None)]

    def kept(self) -> list[Any]:
        """The exact tables and cells, as a job file can hold them."""
        cells = [dict(cell) for cell, allowance in self.cells if allowance is None]
        return [*(list(table) for table in self.exact), *cells]

    def special(self, found: Combinations) -> Mapping[frozenset[str], list[dict[str, Any]]]:
        """Table → its cells that are treated in their own way, with the code of each variable."""
        made: dict[frozenset[str], list[dict[str, Any]]] = {}
        known: dict[str, dict[str | None, int]] = {}
        for cell, allowance in self.cells:
            for name in cell:
                if name not in known:
                    told = _texts(found.values[found.names.index(name)])
                    known[name] = {text: code for code, text in enumerate(told)}
            codes = {name: _code(cell, name, known[name]) for name in cell}
            made.setdefault(frozenset(cell), []).append(
                {"codes": codes, "allowance": allowance or 0, "exact": allowance is None}
            )
        return made


def cell_wishes(
    weights: Weights | None,
    exact: Exact | None,
    strata: Sequence[str],
    columns: Sequence[str],
    levels: Mapping[str, Sequence[str]],
) -> CellWishes:
    """Read the arguments ``weights=``, ``exact=`` and ``strata=`` of SAFE."""
    allowances: dict[frozenset[str], int] = {}
    cells: list[tuple[Mapping[str, Any], int | None]] = []
    for entry in _weights(weights):
        if isinstance(entry, Mapping):
            cell, allowance = _cell(entry, columns, "weights=")
            if allowance is None:
                raise InputError(
                    f"weights= has the cell {_said(cell)} without its {_ALLOWANCE!r}: say how "
                    "large a deviation is free"
                )
            cells.append((cell, allowance))
        else:
            table, allowance = entry
            for made in table_list([table], columns, levels=levels, what="weights="):
                allowances[frozenset(made)] = _whole(allowance)
    tables: list[Any] = [tuple(strata)] if strata else []
    for entry in _entries(exact):
        if isinstance(entry, Mapping) and not is_formula(entry):
            cell, allowance = _cell(entry, columns, "exact=")
            if allowance is not None:
                raise InputError(f"exact= has the cell {_said(cell)} with an {_ALLOWANCE!r}")
            cells.append((cell, None))
        else:
            tables.append(entry)
    return CellWishes(
        allowances, tuple(table_list(tables, columns, levels=levels, what="exact=")), tuple(cells)
    )


def written_weights(weights: Weights | None) -> list[Any] | None:
    """The weights as a job file can hold them."""
    made = [
        dict(entry) if isinstance(entry, Mapping) else [_names(entry[0]), entry[1]]
        for entry in _weights(weights)
    ]
    return made or None


def written_exact(exact: Exact | None) -> list[Any] | None:
    """The exact tables and cells as a job file can hold them."""
    made = [
        dict(entry) if isinstance(entry, Mapping) else _names(entry) for entry in _entries(exact)
    ]
    return made or None


def _weights(given: Weights | None) -> Iterator[Any]:
    if isinstance(given, Mapping):
        yield from given.items()
    else:
        yield from _entries(given)


def _entries(given: Any) -> Iterator[Any]:
    """A list as it is; a frame as a list of its rows."""
    if given is None:
        return
    if isinstance(given, (str, Mapping)):
        yield given
    elif isinstance(given, (list, tuple)):
        yield from given
    else:
        yield from to_arrow(given)[0].to_pylist()


def _cell(
    entry: Mapping[str, Any], columns: Sequence[str], what: str
) -> tuple[dict[str, Any], int | None]:
    cell = {name: code for name, code in entry.items() if name != _ALLOWANCE}
    table_list([tuple(cell)], columns, what=what)
    allowance = entry.get(_ALLOWANCE)
    return cell, None if allowance is None else _whole(allowance)


def _code(cell: Mapping[str, Any], name: str, known: Mapping[str | None, int]) -> int:
    wanted = cell[name]
    code = None if wanted is None else texts(pa.array([wanted]))[0]
    if code not in known:
        shown = ", ".join(repr(one) for one in list(known)[:5])
        raise InputError(
            f"the cell {_said(cell)} cannot be found: no record has {name!r} = {wanted!r}; there "
            f"are {shown}{', …' if len(known) > 5 else ''}"
        )
    return known[code]


def _texts(values: pa.Array) -> list[str | None]:
    told = iter(texts(values.drop_null()))
    return [next(told) if there else None for there in values.is_valid().to_pylist()]


def _names(table: Any) -> Any:
    return table if isinstance(table, (str, Mapping)) else list(table)


def _said(cell: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {code!r}" for name, code in cell.items())


def _whole(allowance: Any) -> int:
    if not isinstance(allowance, int) or isinstance(allowance, bool):
        raise InputError(
            f"weights= has the allowance {allowance!r}; a deviation that is free is a whole "
            "number, below 0 for cells that matter more"
        )
    return allowance
