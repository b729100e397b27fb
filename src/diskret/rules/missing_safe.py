"""Cells of contributors of whom something is unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diskret.errors import InputError
from diskret.rules.sensitivity import Joinable, Sensitivity, declared
from diskret.tables import Table
from diskret.texts.numbers import Count


@dataclass(frozen=True)
class MissingSafe(Joinable):
    """A cell is safe, whatever other rules say, if one of its codes means "unknown".

    The reason is that nobody outside knows of whom the code is missing, so nobody can tell
    who contributes to such a cell. Where that does not hold, leave the rule out. Totals that
    include the code are judged as usual, and the cells themselves may be suppressed to
    protect others.

    Parameters
    ----------
    codes
        Variable → the codes that mean "unknown". Codes that the table does not have are
        passed over: not in every period something is unknown.

    Raises
    ------
    InputError
        On call: the table has no such variable.

    References
    ----------
    de Wolf et al., τ-ARGUS user's manual 4.1, safety rule MIS(1).

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret.rules import MinimumFrequency
    >>> cells = pa.table({"region": ["N", "S", "99"], "firms": [7, 2, 1]})
    >>> table = Table.from_cells(cells, by={"region": None}, count="firms")
    >>> rule = MinimumFrequency(3) | MissingSafe({"region": ["99"]})
    >>> dict(zip(table.cells["region"].to_pylist(), rule(table).unsafe.tolist()))
    {'Total': False, '99': False, 'N': False, 'S': True}
    """

    codes: Mapping[str, Sequence[str]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", _checked(self.codes))

    def __call__(self, table: Table) -> Sensitivity:
        """Declare the cells safe."""
        names = [dimension.name for dimension in table.dimensions]
        unknown = [name for name in self.codes if name not in names]
        if unknown:
            number = Count(len(unknown))
            raise InputError(
                f"MissingSafe names {number} {number:variable|variables} that the table does not "
                f"have: {', '.join(map(repr, unknown))}; it has {', '.join(map(repr, names))}"
            )
        safe = np.zeros(table.shape, dtype=bool)
        for axis, dimension in enumerate(table.dimensions):
            position = dimension.hierarchy.position
            found = [position[c] for c in self.codes.get(dimension.name, ()) if c in position]
            np.moveaxis(safe, axis, 0)[found] = True
        return declared(table, safe=safe)


def _checked(codes: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(codes, Mapping) or not codes:
        raise InputError(
            'MissingSafe needs a mapping of variables to codes, e.g. {"region": ["99"]}, '
            f"not {codes!r}"
        )
    for name, listed in codes.items():
        fit = isinstance(listed, list | tuple) and len(listed) > 0
        if not fit or not all(isinstance(code, str) for code in listed):
            raise InputError(f"the codes of {name!r} must be a list of texts, not {listed!r}")
    return {name: tuple(listed) for name, listed in codes.items()}
