"""Unsafe cells of a table are hidden, with others so that nobody can compute them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.outputs.checked import Checked
from diskret.outputs.groups import Groups
from diskret.outputs.judge_cells import Part
from diskret.outputs.profile import Profile

#: What is shown of cells that can be hidden.
_KINDS = ("frequencies", "sums")


def hideable(
    judge: Callable[[Any, Sequence[Part]], Checked],
    output: Any,
    parts: Sequence[Part],
    groups: Groups,
    sides: tuple[int, int],
    profile: Profile,
) -> Checked:
    """What the checks say of a table of pandas, which can be asked to hide its unsafe cells.

    Parameters
    ----------
    judge
        Output and parts → what the checks say.
    output
        The table.
    parts
        What it shows of which cells.
    groups
        How its records lie in cells.
    sides
        How many variables name its rows, and how many its columns.
    profile
        The rules.
    """
    checked = judge(output, parts)
    if len(parts) > 1 or parts[0].statistic.kind not in _KINDS or not groups.axes:
        return checked
    table = _Table(judge, output, parts[0], groups, sides, profile)
    return replace(checked, hiding=table.hidden)


@dataclass(frozen=True, eq=False)
class _Table:
    """A table of counts or sums; see `hideable`."""

    judge: Callable[[Any, Sequence[Part]], Checked]
    output: Any
    part: Part
    groups: Groups
    sides: tuple[int, int]
    profile: Profile

    def hidden(self, decimals: int) -> Checked:
        """The table with unsafe cells hidden."""
        from diskret.outputs.protected import protected

        number, hidden, certificate = protected(
            self.part.cells[0], self.groups.shape, self.profile, decimals
        )
        part = replace(self.part, hidden=self._of_cells(hidden))
        checked = self.judge(self._shown(number, hidden, decimals), [part])
        return replace(checked, made=(*checked.made, "suppressed"), certificate=certificate)

    def _of_cells(self, hidden: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
        """Which cells of each group of the part are hidden."""
        inner = tuple(slice(-1) for _ in self.groups.axes)
        totals = [
            tuple(slice(-1) if stays else slice(-1, None) for stays in one.kept)
            for one in self.groups.totals
        ]
        return [hidden[at].reshape(-1) for at in [inner, *totals][: len(self.part.cells)]]

    def _shown(self, number: NDArray[np.float64], hidden: NDArray[np.bool_], decimals: int) -> Any:
        """The table of pandas without what is hidden."""
        import pandas as pd

        counted = self.part.cells[0].values is None
        if counted and not hidden.any():
            return self.output
        places = self._places()
        known = number.reshape(-1)[places]
        self._check_same(known, decimals)
        left = pd.DataFrame(np.where(hidden.reshape(-1)[places], np.nan, known))
        left = left.astype("Int64") if counted else left
        left.index = self.output.index
        if not hasattr(self.output, "columns"):
            return left[0].rename(self.output.name)
        left.columns = self.output.columns
        return left

    def _check_same(self, known: NDArray[np.float64], decimals: int) -> None:
        """Whether the table shows the numbers that its records have."""
        cells = self.part.cells[0]
        shown = np.nan_to_num(np.asarray(self.output, np.float64).reshape(known.shape))
        rounded = 0.0
        if cells.values is not None:
            rounded = 0.5 * 10.0**-decimals * len(cells.values) + 1e-9 * float(cells.sizes.sum())
        if not (np.abs(shown - known) <= rounded).all():
            raise _other_form()

    def _places(self) -> NDArray[np.intp]:
        """Shape of the table: which cell each of its numbers is, by number in the whole array."""
        frame = self.output if hasattr(self.output, "columns") else self.output.to_frame()
        rows, columns = (
            _labels(one, levels)
            for one, levels in zip((frame.index, frame.columns), self.sides, strict=True)
        )
        shape = self.groups.shape
        totals = len(self.part.cells) > 1
        known = self.groups.at[self.groups.at >= 0]
        at = np.unravel_index(known, shape)
        if rows and columns:
            down, across = (
                _matched(labels, one.labels, own, totals)
                for labels, one, own in zip((rows, columns), self.groups.axes, at, strict=True)
            )
            return down[:, None] * (shape[1] + 1) + across
        labels = rows or columns
        if len(shape) == 1:
            return _matched(labels, self.groups.names, known, totals).reshape(frame.shape)
        own = _matched(labels, self.groups.names, known, False)  # a row for each cell
        whole = [length + 1 for length in shape]
        return np.ravel_multi_index(np.unravel_index(own, shape), whole).reshape(frame.shape)


def _labels(index: Any, levels: int) -> list[tuple[str, ...]]:
    """What rows or columns are called by so many variables; the names of figures come before."""
    several = [one if isinstance(one, tuple) else (one,) for one in index]
    return [tuple(map(str, one[len(one) - levels :])) for one in several] if levels else []


def _matched(
    shown: list[tuple[str, ...]],
    labels: Sequence[tuple[str, ...]],
    at: NDArray[Any],
    totals: bool,
) -> NDArray[np.intp]:
    """Which category each row or column is: all there are, or those with records `at` them."""
    inner = shown[:-1] if totals else shown
    every, there = np.arange(len(labels)), np.unique(at)
    for own in (every, there):
        if inner == [labels[int(one)] for one in own]:
            return np.append(own, len(labels)) if totals else own
    raise _other_form()


def _other_form() -> InputError:
    return InputError(
        "the table does not show just what its records have in each cell, so it is not known "
        "which cells to hide: leave out records without a category, and dropna=, fill_value= and "
        "the like"
    )
