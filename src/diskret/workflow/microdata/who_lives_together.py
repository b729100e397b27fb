"""Columns by which members of a household are found together, its number left out or not."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.risk import classes
from diskret.workflow.microdata.households import members

if TYPE_CHECKING:
    from diskret.workflow.microdata.data import Microdata

#: A column is one of households if in so many of those with several members all have one value.
_ALIKE = 0.9


@dataclass(frozen=True)
class Told:
    """What a column tells of who lives together. Confidential.

    Parameters
    ----------
    name
        The column.
    households
        Households with several members of whom at least two show a value that nobody outside has.
    several
        Households with several members.
    """

    name: str
    households: int
    several: int


def telling(md: Microdata, names: Iterable[str]) -> tuple[Told, ...]:
    """The columns of households by which some of them are found again, the worst first.

    A weight of the household, its income or its rent: where no other household has the same, the
    records that share it live together.
    """
    if md.roles.household is None:
        return ()
    group = members(md)
    found = [_told(md, name, group.of, group.size) for name in names]
    there = [one for one in found if one is not None and one.households]
    return tuple(sorted(there, key=lambda one: -one.households))


def _told(md: Microdata, name: str, of: NDArray[np.intp], size: NDArray[np.int64]) -> Told | None:
    values = md.table_column(name)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    known = pc.unique(values.drop_null())
    code = pc.fill_null(pc.index_in(values, value_set=known), -1).to_numpy().astype(np.int32)
    pairs = classes([code, of.astype(np.int32)], [len(known), len(size)])
    value, home = pairs.codes.T
    several = int((size > 1).sum())
    alike = int(((pairs.count == size[home]) & (value >= 0) & (size[home] > 1)).sum())
    if not several or alike < _ALIKE * several:
        return None
    homes = np.bincount(value[value >= 0], minlength=len(known))  # that have the value
    alone = (value >= 0) & (pairs.count > 1)
    alone[alone] = homes[value[alone]] == 1
    return Told(name, len(np.unique(home[alone])), several)
