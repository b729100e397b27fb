"""What protection took from a map, in figures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.spatial.neighbours import Neighbours, getis_ord, moran
from diskret.spatial.raster import Raster
from diskret.spatial.transport import Transport, transport
from diskret.texts import number, words_in
from diskret.utility.deviations import NAN, Hellinger, hellinger

#: Standard deviations from which on G* makes a cell a hot spot: 5 % of both sides.
_HOT = 1.96


@dataclass(frozen=True, eq=False)
class MapComparison:
    """A map before and after protection, on the finest grid of both. Confidential.

    Made by [`compare`][diskret.spatial.compare]. Figures are computed when they are asked for.

    Parameters
    ----------
    raster
        Both maps, cell by cell.
    neighbours
        ``"queen"``: cells with a common corner or side are neighbours; ``"rook"``: with a side.
    top
        Share of the cells that count as the largest ones.
    """

    raster: Raster
    neighbours: Neighbours
    top: float

    def __str__(self) -> str:
        return self.summary()

    @property
    def cells(self) -> int:
        """Number of fine cells of the map, empty ones included."""
        return int(self.raster.land.sum())

    @property
    def mse(self) -> float:
        """Mean squared deviation of all cells."""
        return float((self._away**2).sum() / self.cells)

    @property
    def mae(self) -> float:
        """Mean absolute deviation of all cells."""
        return float(np.abs(self._away).sum() / self.cells)

    @cached_property
    def hellinger(self) -> Hellinger:
        """Hellinger distance, its bound, and that of shares."""
        return hellinger(self._before, self._after)

    @cached_property
    def vmr(self) -> tuple[float, float]:
        """Variance of the cells divided by their mean, before and after."""
        return _ratio(self._before), _ratio(self._after)

    @cached_property
    def moran(self) -> tuple[float, float]:
        """Moran's I before and after."""
        one, land = self.raster, self.raster.land
        return moran(one.before, land, self.neighbours), moran(one.after, land, self.neighbours)

    @property
    def ilm(self) -> float:
        """Half of the change of Moran's I: above 0, neighbours are more alike than they were."""
        before, after = self.moran
        return (after - before) / 2

    @cached_property
    def transport(self) -> Transport:
        """Kantorovich–Wasserstein distance in cell widths, exact or between two bounds."""
        return transport(self.raster.before, self.raster.after)

    @property
    def largest_agree(self) -> float:
        """Of the cells that are among the largest before or after, the share that are so twice."""
        return _jaccard(*(_largest(one, self.top) for one in (self._before, self._after)))

    @cached_property
    def hot_agree(self) -> float:
        """Of the hot spots by Getis and Ord's G* before or after, the share that are so twice."""
        one, land = self.raster, self.raster.land
        found = [getis_ord(values, land, self.neighbours) for values in (one.before, one.after)]
        if any(np.isnan(values[land]).any() for values in found):
            return NAN
        return _jaccard(*(values[land] >= _HOT for values in found))

    @property
    def figures(self) -> dict[str, float]:
        """The figures by name; NaN where one does not exist."""
        return {
            "cells": self.cells,
            "mse": self.mse,
            "mae": self.mae,
            "hellinger": self.hellinger.distance,
            "hellinger_scaled": self.hellinger.scaled,
            "transport_low": self.transport.low,
            "transport_high": self.transport.high,
            "moved": self.transport.moved,
            "vmr_before": self.vmr[0],
            "vmr_after": self.vmr[1],
            "moran_before": self.moran[0],
            "moran_after": self.moran[1],
            "ilm": self.ilm,
            "largest_agree": self.largest_agree,
            "hot_agree": self.hot_agree,
        }

    @property
    def table(self) -> pa.Table:
        """The cells that hold anything before or after: which, both values, their difference.

        ``cell`` is the id; of arrays ``row`` and ``column``, from 0 on.
        """
        one = self.raster
        rows, columns = np.nonzero((one.before != 0) | (one.after != 0))
        if one.grid is None:
            place = {"row": pa.array(rows), "column": pa.array(columns)}
        else:
            grid, south, west = one.grid
            place = {"cell": grid.ids(south + rows * grid.size, west + columns * grid.size)}
        before, after = one.before[rows, columns], one.after[rows, columns]
        return pa.table({**place, "before": before, "after": after, "difference": after - before})

    def summary(self, language: str = "en") -> str:
        """The figures in sentences, ``"en"`` or ``"de"``."""
        words, way = words_in(language, "spatial"), self.transport

        def said(value: float, places: int = 3) -> str:
            return "–" if math.isnan(value) else number(value, language, places)

        def percent(share: float) -> str:
            return said(100 * share, 1)

        kind = "way" if way.exact else "way between"
        lines = [
            words.said("maps", count=self.cells, mse=said(self.mse), mae=said(self.mae)),
            words.said(
                "hellinger",
                distance=said(self.hellinger.distance),
                scaled=said(self.hellinger.scaled),
            ),
            words.said(kind, moved=percent(way.moved), low=said(way.low), high=said(way.high)),
            words.said("vmr", before=said(self.vmr[0], 2), after=said(self.vmr[1], 2)),
            words.said(
                f"moran {self.neighbours}",
                before=said(self.moran[0]),
                after=said(self.moran[1]),
                ilm=percent(self.ilm),
            ),
            words.said(
                "hot",
                top=percent(self.top),
                largest=percent(self.largest_agree),
                hot=percent(self.hot_agree),
            ),
        ]
        return "\n".join(lines)

    @property
    def _before(self) -> NDArray[np.float64]:
        return self.raster.before[self.raster.land]

    @property
    def _after(self) -> NDArray[np.float64]:
        return self.raster.after[self.raster.land]

    @property
    def _away(self) -> NDArray[np.float64]:
        return self._after - self._before


def _ratio(values: NDArray[np.float64]) -> float:
    mean = float(values.mean())
    return float(values.var()) / mean if mean else NAN


def _largest(values: NDArray[np.float64], share: float) -> NDArray[np.bool_]:
    """The largest cells above 0, as large a share of all as asked for, and those equal to them."""
    which = max(1, math.ceil(round(share * len(values), 6)))
    least = np.partition(values, len(values) - which)[len(values) - which]
    return (values >= least) & (values > 0)


def _jaccard(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    either = int((one | other).sum())
    return int((one & other).sum()) / either if either else NAN
