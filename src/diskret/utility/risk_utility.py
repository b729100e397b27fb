"""Risk against loss of several ways to protect the same records, as a frame and a picture."""

# matplotlib's methods say little about their types.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.drawing import MAIN, single_plot
from diskret.errors import InputError
from diskret.io import FrameKind, from_arrow
from diskret.texts import words_in

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class RiskUtilityMap:
    """Risk and loss of several choices. Confidential.

    Made by [`Microdata.explore`][diskret.Microdata.explore].

    Parameters
    ----------
    choices
        Their names, in the order given.
    risk, loss
        Figure → its value for each choice, ``(choices,)``; the smaller, the better.
    kind
        The kind of frame to give back.

    Examples
    --------
    >>> risk = {"recognised": np.array([0.3, 0.1, 0.2])}
    >>> loss = {"pmse": np.array([0.0, 0.2, 0.25])}
    >>> found = RiskUtilityMap(("as it is", "k = 3", "k = 2"), risk, loss, "pyarrow")
    >>> found
    RiskUtilityMap(3 choices; on the frontier: as it is, k = 3)
    """

    choices: tuple[str, ...]
    risk: dict[str, NDArray[np.float64]]
    loss: dict[str, NDArray[np.float64]]
    kind: FrameKind

    def __repr__(self) -> str:
        best = [name for name, on in zip(self.choices, self.frontier, strict=True) if on]
        return f"RiskUtilityMap({len(self.choices)} choices; on the frontier: {', '.join(best)})"

    @property
    def frontier(self) -> NDArray[np.bool_]:
        """The choices to choose from, ``(choices,)``.

        No other choice is as good or better in every figure of risk and loss and better in one.
        """
        columns = [*self.risk.values(), *self.loss.values()]
        # a figure that does not exist is worse than any that does
        given = np.nan_to_num(np.column_stack(columns), nan=np.inf)
        as_good = np.all(given[None] <= given[:, None], axis=2)
        better = np.any(given[None] < given[:, None], axis=2)
        return np.count_nonzero(as_good & better, axis=1) == 0

    @property
    def frame(self) -> Any:
        """``choice``, the figures of risk and loss, and whether it is on the ``frontier``."""
        table = {"choice": pa.array(self.choices, pa.string()), **self.risk, **self.loss}
        return from_arrow(pa.table({**table, "frontier": self.frontier}), self.kind)

    def plot(
        self, risk: str | None = None, loss: str | None = None, language: str = "en"
    ) -> Figure:
        """Draw the choices, each with its name: filled on the frontier, hollow elsewhere.

        Parameters
        ----------
        risk, loss
            Names of the figures upwards and to the right; None: the first of each. The frontier
            is that of all figures.
        language
            ``"en"`` or ``"de"``.

        Raises
        ------
        InputError
            There is no such figure or language, or matplotlib is not installed.
        """
        words = words_in(language, "utility")
        upwards, across = _named(risk, self.risk, "risk"), _named(loss, self.loss, "loss")
        figure, axes = single_plot(
            words["map"],
            words.said("loss of", name=across),
            words.said("risk of", name=upwards),
        )
        x, y, best = self.loss[across], self.risk[upwards], self.frontier
        axes.scatter(x[~best], y[~best], facecolors="white", edgecolors=MAIN, label=words["beaten"])
        axes.scatter(x[best], y[best], color=MAIN, label=words["frontier"])
        names = [words["as it is"] if name == AS_IT_IS else name for name in self.choices]
        for at, height, shown, right in _labels(x, y, names):
            axes.annotate(
                shown,
                (at, height),
                (-5 if right else 5, 5),
                textcoords="offset points",
                horizontalalignment="right" if right else "left",
                fontsize=8,
            )
        axes.margins(x=0.1, y=0.15)
        axes.legend()
        return figure


#: Share of the axes within which two labels would hide each other.
_NEAR = 0.04
#: The choice to do nothing.
AS_IT_IS = "as it is"


def _labels(
    x: NDArray[np.float64], y: NDArray[np.float64], names: Sequence[str]
) -> list[tuple[float, float, str, bool]]:
    """Place and text of each label, and whether it stands left of its place.

    Choices that cannot be told apart in the picture have one label.
    """
    there = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if not len(there):
        return []
    across, upwards = (
        (values - values[there].min()) / (float(np.ptp(values[there])) or 1.0) for values in (x, y)
    )
    groups: list[list[int]] = []
    for at in there.tolist():
        for group in groups:
            first = group[0]
            if max(abs(across[at] - across[first]), abs(upwards[at] - upwards[first])) < _NEAR:
                group.append(at)
                break
        else:
            groups.append([at])
    return [
        (
            float(x[group[0]]),
            float(y[group[0]]),
            ", ".join(names[at] for at in group),
            bool(across[group[0]] > 0.5),
        )
        for group in groups
    ]


def _named(name: str | None, figures: dict[str, NDArray[np.float64]], what: str) -> str:
    if name is None:
        return next(iter(figures))
    if name not in figures:
        raise InputError(
            f"{what}={name!r} is no figure of {what}; there are {', '.join(map(repr, figures))}"
        )
    return name
