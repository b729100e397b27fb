"""The certificate of released microdata: what holds, and what does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from diskret.attack.certificate import SCHEMA
from diskret.attack.noise_certificate import Statement, in_languages
from diskret.texts import check_language

FAMILY = "microdata"
#: Of files whose records were replaced.
SAFE = "safe"


@dataclass(frozen=True, eq=False)
class MicrodataCertificate:
    """What was checked of microdata before they leave, and what nobody should expect of them.

    Made by `certify`, which checks every claim on the values as they leave, in its own code,
    and raises `ProofError` if one fails.

    Parameters
    ----------
    name
        Name of the file.
    claimed, not_claimed
        For any reader.
    checked
        For the office: what was checked beyond that, with figures. Confidential.
    shown
        Figures for any reader, JSON-ready: what anyone can count again in the file.
    figures
        Figures for the office, JSON-ready. Confidential.
    family
        ``"microdata"``, or ``"safe"`` for files whose records were replaced.
    """

    name: str
    claimed: tuple[Statement, ...]
    not_claimed: tuple[Statement, ...]
    checked: tuple[Statement, ...] = ()
    shown: Mapping[str, Any] = field(default_factory=dict[str, Any])
    figures: Mapping[str, Any] = field(default_factory=dict[str, Any])
    family: str = FAMILY

    def __repr__(self) -> str:
        return f"MicrodataCertificate({self.name!r}: {len(self.claimed)} claims)"

    def _repr_html_(self) -> str:
        from diskret.texts.card import card

        said = [one.en for one in self.claimed]
        return card(f"MicrodataCertificate {self.name}", {}, office=False, said=said)

    def public(self) -> dict[str, Any]:
        """What anybody may read. Digests of files and inputs are added when these are written."""
        return {
            "schema": SCHEMA,
            "family": self.family,
            "name": self.name,
            "claimed": in_languages(self.claimed),
            "not_claimed": in_languages(self.not_claimed),
            **({"shown": dict(self.shown)} if self.shown else {}),
        }

    def internal(self) -> dict[str, Any]:
        """What the office keeps beside the public certificate."""
        return {
            "schema": SCHEMA,
            "family": self.family,
            "name": self.name,
            "checked": in_languages(self.checked),
            **self.figures,
        }

    def summary(self, language: str = "en") -> list[str]:
        """The certificate in plain sentences, for the office."""
        check_language(language)
        return in_languages((*self.claimed, *self.checked, *self.not_claimed))[language]
