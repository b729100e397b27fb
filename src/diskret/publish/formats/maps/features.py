"""What a map shows of a table: for each of the finest places its values and their status."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.publish.maps import Places, place_variable
from diskret.spatial.outlines import Outlines, outlines_of_areas, outlines_of_cells
from diskret.tables import Published
from diskret.tables.cells import STATUS, in_published_units, status_codes


@dataclass(frozen=True, eq=False)
class Column:
    """Values of all places for one combination of other variables.

    Parameters
    ----------
    value, status
        What they are called in files.
    labels
        The codes of the other variables, for people.
    scaled
        Shape (places,): values in units of the table's decimals.
    state
        Shape (places,): positions in `STATUS`.
    """

    value: str
    status: str
    labels: tuple[str, ...]
    scaled: NDArray[np.int64]
    state: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Features:
    """Places, their outlines, and columns of what is published of them."""

    name: str
    variable: str
    codes: tuple[str, ...]
    outlines: Outlines
    columns: tuple[Column, ...]
    decimals: int

    @property
    def km2(self) -> NDArray[np.float64] | None:
        """Area of each place, shape (places,), where cells of a grid are of several widths."""
        squares = self.outlines.squares
        if squares is None or not np.ptp(squares[:, 2]):
            return None
        return squares[:, 2].astype(np.float64) ** 2 / 1e6

    def attributes(self) -> pa.Table:
        """One row for each place: code, then value and status of each column."""
        columns: dict[str, pa.Array] = {self.variable: pa.array(self.codes, pa.string())}
        for one in self.columns:
            hidden = one.state == STATUS.index("suppressed")
            value = in_published_units(one.scaled, self.decimals)
            columns[one.value] = pa.array(value, mask=hidden)
            columns[one.status] = pa.array(STATUS, pa.string()).take(pa.array(one.state))
        return pa.table(columns)


def features_of(published: Published, places: Places) -> Features | None:
    """Everything that files of maps show of a table; None: no variable tells places.

    Raises
    ------
    InputError
        A place has no borders, or there are too many values for each.
    """
    axis = place_variable(published, places)
    if axis is None:
        return None
    dimension = published.dimensions[axis]
    others = [one for at, one in enumerate(published.dimensions) if at != axis]
    leaves = np.asarray(dimension.hierarchy.leaves)
    codes = tuple(dimension.hierarchy.codes[at] for at in leaves.tolist())
    if dimension.name in places:
        outlines = outlines_of_areas(codes, places[dimension.name])
    else:
        outlines = outlines_of_cells(codes)
    state = status_codes(published).reshape(published.shape)
    value = np.where(state == 0, published.value, 0)
    columns = list[Column]()
    values, states = (
        np.moveaxis(one, axis, -1)[..., leaves].reshape(-1, len(leaves)) for one in (value, state)
    )
    combinations = product(*(one.hierarchy.codes for one in others))
    for combined, scaled, status in zip(combinations, values, states, strict=True):
        columns.append(
            Column(
                " ".join((published.measure, *combined)),
                " ".join(("status", *combined)),
                combined,
                scaled,
                status,
            )
        )
    return Features(
        published.name, dimension.name, codes, outlines, tuple(columns), published.decimals
    )
