"""Who attacks: what is known beside the published table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from diskret.errors import InputError


@dataclass(frozen=True)
class Attacker:
    """An attacker who knows all public symbols, all equations and perhaps bounds.

    The default is the plain outsider: values are ≥ 0 (where the world knows that they
    cannot be negative) and there is **no upper bound**.

    Parameters
    ----------
    lower, upper
        Bounds known a priori for suppressed cells. A frame with the code columns and
        one column ``lower`` / ``upper``, or a callable that takes the `Published` table
        and returns an array of its shape in published units (NaN = not known); for several
        tables a mapping from their names to either.
    relative
        Percent of each original value by which the attacker can bound it on both sides.
        Only the office can compute these bounds, so only the office can run this attack.
    zeros_known
        The attacker knows that zero cells are never suppressed: hidden counts are ≥ 1.

    Examples
    --------
    >>> Attacker()
    Attacker(lower=None, upper=None, relative=None, zeros_known=False)
    """

    lower: Any = None
    upper: Any = None
    relative: float | None = None
    zeros_known: bool = False

    def __post_init__(self) -> None:
        if self.relative is not None and not 0 < self.relative < float("inf"):
            raise InputError(f"relative must be a percentage above 0, not {self.relative!r}")

    def about(self, name: str) -> Attacker:
        """The same attacker with the bounds for one table, where they differ by table."""

        def pick(bounds: Any, side: str) -> Any:
            by_table = isinstance(bounds, Mapping) and side not in bounds
            return bounds.get(name) if by_table else bounds

        return replace(self, lower=pick(self.lower, "lower"), upper=pick(self.upper, "upper"))

    @property
    def outsider(self) -> bool:
        """Whether this is the plain outsider, who knows nothing but what is public."""
        return self.lower is self.upper is self.relative is None and not self.zeros_known

    @property
    def kind(self) -> Literal["outsider", "informed"]:
        """The kind of attacker; all that a public file may say about it."""
        return "outsider" if self.outsider else "informed"

    def describe(self) -> dict[str, Any]:
        """What the attacker knows, for the internal certificate."""
        return {
            "kind": self.kind,
            "lower": self.lower is not None,
            "upper": self.upper is not None,
            "relative": self.relative,
            "zeros_known": self.zeros_known,
        }

    def in_words(self, language: str = "en") -> str:
        """What the attacker knows, in one sentence."""
        known, zeros, percent, bounds = _WORDS[language]
        parts = [known]
        if self.zeros_known:
            parts.append(zeros)
        if self.relative is not None:
            parts.append(percent.format(self.relative))
        if self.lower is not None or self.upper is not None:
            parts.append(bounds)
        return ", ".join(parts) + "."


_WORDS = {
    "en": (
        "knows everything published and all equations",
        "knows that hidden counts are at least 1",
        "knows every value to within {:g} %",
        "knows bounds of single values",
    ),
    "de": (
        "kennt alles Veröffentlichte und alle Gleichungen",
        "weiß, dass gesperrte Fallzahlen mindestens 1 sind",
        "kennt jeden Wert auf {:g} % genau",
        "kennt Schranken einzelner Werte",
    ),
}
