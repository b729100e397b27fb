"""The certificate of a table whose values were changed: what holds, and what does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.attack.certificate import SCHEMA
from diskret.attack.equations import equations
from diskret.errors import ContradictionError, ProofError
from diskret.tables import Outline, Publication, Published
from diskret.tables.dimension import describe_some
from diskret.texts import Statement, check_language, in_languages

_EXAMPLES = 3


@dataclass(frozen=True, eq=False)
class NoiseCertificate:
    """What was checked of a table before it leaves, and what nobody should expect of it.

    Made by the `certify_…` function of each family of methods, which checks every claim on the
    published and the original values, in its own code, and raises `ProofError` if one fails.

    Parameters
    ----------
    published
        The table, or what it is about where nobody holds it.
    claimed, not_claimed
        For any reader: they name no parameter that the published values don't show anyway.
    checked
        For the office: what was checked beyond that, with figures. Confidential.
    shown
        Figures for any reader, JSON-ready: the base of rounding, say.
    figures
        Figures for the office, JSON-ready. Confidential.
    """

    published: Outline
    claimed: tuple[Statement, ...]
    not_claimed: tuple[Statement, ...]
    checked: tuple[Statement, ...] = ()
    shown: Mapping[str, Any] = field(default_factory=dict[str, Any])
    figures: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def family(self) -> str:
        """The family of methods, one of `diskret.tables.CHANGES`."""
        return self.published.changed

    def __repr__(self) -> str:
        return f"NoiseCertificate({self.published.name!r}: {len(self.claimed)} claims)"

    def _repr_html_(self) -> str:
        from diskret.tables.card import card_of_published

        if not isinstance(self.published, Published):
            return escape(repr(self))
        said = [one.en for one in self.claimed]
        return card_of_published(self.published, "NoiseCertificate", said)

    def public(self) -> dict[str, Any]:
        """What anybody may read. Digests of files and inputs are added when these are written."""
        return {
            "schema": SCHEMA,
            "family": self.family,
            "name": self.published.name,
            "claimed": in_languages(self.claimed),
            "not_claimed": in_languages(self.not_claimed),
            **({"shown": dict(self.shown)} if self.shown else {}),
        }

    def internal(self) -> dict[str, Any]:
        """What the office keeps beside the public certificate."""
        return {
            "schema": SCHEMA,
            "family": self.family,
            "name": self.published.name,
            "checked": in_languages(self.checked),
            **self.figures,
        }

    def summary(self, language: str = "en") -> list[str]:
        """The certificate in plain sentences, for the office."""
        check_language(language)
        said = in_languages((*self.claimed, *self.checked, *self.not_claimed))
        return said[language]


def refuse_cells(
    published: Outline, wrong: NDArray[np.bool_] | NDArray[np.int64], what: str
) -> None:
    """Refuse a table in which something does not hold for some cells, a mask or flat positions."""
    cells = (np.flatnonzero(wrong) if wrong.dtype == bool else wrong).astype(np.int64)
    if len(cells):
        named = describe_some(published.dimensions, cells, _EXAMPLES)
        raise ProofError(
            f"table {published.name!r}: cells {what}, e.g. {named} ({len(cells):,} in all); "
            "nothing is published"
        )


def refuse_impossible(published: Published, holds: NDArray[np.bool_]) -> None:
    """Refuse a table that says of cells which hold something that nobody can be there."""
    refuse_cells(published, published.empty & holds, "are said to be impossible and hold something")


def refuse_hidden(published: Published, hidden: NDArray[np.bool_]) -> None:
    """Refuse hidden cells where a method shows all: nothing holds of a value that is not there."""
    refuse_cells(published, hidden, "are not shown, though the method shows every cell")


def check_adding_up(tables: Sequence[Published]) -> None:
    """Refuse tables whose totals are not the sums of their parts, also between tables."""
    try:
        equations(Publication(tuple(tables)))
    except ContradictionError as error:
        raise ProofError(f"values do not add up: {error}") from error
