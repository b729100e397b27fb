"""The certificate of released microdata, and what the office reads of each claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from diskret.attack.certificate import SCHEMA
from diskret.attack.microdata.claims import (
    AboutValues,
    AlphaK,
    BetaLikeness,
    Counted,
    DeltaDisclosure,
    ExpectedBelow,
    KAnonymity,
    KMap,
    LDiversity,
    RiskBelow,
    TCloseness,
)
from diskret.attack.microdata.leaving import Leaving
from diskret.attack.microdata.said import listed
from diskret.texts import Figure, Statement, check_language, in_languages, sentence

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


def checked(file: Leaving, claim: Counted, figures: Mapping[str, Any]) -> Statement:
    """What was counted, with parameters, for the office."""
    if isinstance(claim, KAnonymity):
        return sentence(
            "microdata.k-anonymity counted",
            records=file.n,
            least=figures["fewest_alike"],
            lean=figures["lean_on_gaps"],
            k=int(claim.k),
        )
    if isinstance(claim, KMap):
        return sentence(
            "microdata.k-map counted",
            records=file.n,
            least=Figure(f"{figures['fewest_persons']:,g}"),
        )
    if isinstance(claim, RiskBelow):
        return _and_method(
            sentence(
                "microdata.risk of households estimated"
                if claim.household
                else "microdata.risk estimated",
                records=file.n,
                largest=Figure(f"{figures['largest_risk']:.4g}"),
                threshold=Figure(f"{claim.threshold:g}"),
            ),
            _method_of_largest(figures),
        )
    if isinstance(claim, ExpectedBelow):
        return _and_method(
            sentence(
                "microdata.recognised estimated",
                records=file.n,
                number=Figure(f"{figures['expected_recognised']:,.4g}"),
                rate=Figure(f"{figures['rate']:.4g}"),
                allowed=Figure(f"{claim.rate:g}"),
            ),
            _method_of_expected(figures),
        )
    return sentence(
        "microdata.claim counted",
        claim=Figure(_described(claim)),
        records=file.n,
        names=listed(file.sensitive_of(claim)),
    )


def _and_method(estimate: Statement, method: Statement | None) -> Statement:
    if method is None:
        return estimate
    return sentence("microdata.estimate and method", estimate=estimate, method=method)


def _method_of_largest(figures: Mapping[str, Any]) -> Statement | None:
    """On which estimates the largest risk rests."""
    if "by_weights" not in figures:
        return None
    if "by_model" not in figures:
        return sentence("microdata.risk by weights alone")
    return sentence(
        "microdata.risk by weights and model",
        weights=Figure(f"{figures['by_weights']['largest_risk']:.4g}"),
        model=Figure(f"{figures['by_model']['largest_risk']:.4g}"),
    )


def _method_of_expected(figures: Mapping[str, Any]) -> Statement | None:
    """On which estimates the expected number rests."""
    if "by_weights" not in figures:
        return None
    weights = figures["by_weights"]
    alone = figures["sample_uniques"]
    unique = Figure(f"{weights['population_uniques']:,.4g}")
    if "by_model" not in figures:
        return sentence("microdata.recognised by weights alone", alone=alone, unique=unique)
    model = figures["by_model"]
    return sentence(
        "microdata.recognised by weights and model",
        alone=alone,
        unique=unique,
        weights=Figure(f"{weights['expected_recognised']:,.4g}"),
        model=Figure(f"{model['expected_recognised']:,.4g}"),
        modelled=Figure(f"{model['population_uniques']:,.4g}"),
    )


def refused(
    file: Leaving, claim: Counted, failing: int, rows: str, figures: Mapping[str, Any]
) -> str:
    """Why nothing may leave, for the office."""
    start = f"file {file.name!r}: {failing:,} of {file.n:,} records "
    keys = ", ".join(file.keys)
    if isinstance(claim, KAnonymity):
        own = ", ".join(file.keys_of(claim))
        some = f"some {claim.size} of " if claim.size is not None else ""
        return (
            f"{start}agree in {some}{own} with fewer than {int(claim.k)} records, "
            f"themselves included, e.g. rows {rows}; suppress values or recode keys first, or "
            "claim a smaller k"
        )
    if isinstance(claim, KMap):
        return (
            f"{start}agree in {keys} with fewer than {int(claim.k)} persons of the population, "
            f"e.g. rows {rows}; suppress values or recode keys first, or claim a smaller k"
        )
    if isinstance(claim, RiskBelow):
        whose = "a risk of their household" if claim.household else "a risk"
        return (
            f"{start}have {whose} above {claim.threshold:g}, up to {figures['largest_risk']:.4g}, "
            f"e.g. rows {rows}; suppress values or recode keys first, or allow more"
        )
    if isinstance(claim, ExpectedBelow):
        return (
            f"file {file.name!r}: {figures['expected_recognised']:,.4g} of {file.n:,} records are "
            f"expected to be recognised, a rate of {figures['rate']:.4g} and not at most "
            f"{claim.rate:g}; suppress values or recode keys first, or allow more"
        )
    names = listed(file.sensitive_of(claim))
    return (
        f"{start}break {_described(claim)} of {names}, e.g. rows {rows}; "
        "recode keys or combine sensitive values first, or claim less"
    )


def _described(claim: AboutValues) -> str:
    """Name and parameters of a claim about sensitive values."""
    if isinstance(claim, LDiversity):
        kind = f"{claim.kind}; c = {claim.c:g}" if claim.c is not None else claim.kind
        return f"l-diversity ({kind}; l = {claim.l:g})"
    if isinstance(claim, TCloseness):
        return f"t-closeness (t = {claim.t:g})"
    if isinstance(claim, AlphaK):
        return f"(α; k)-anonymity (α = {claim.alpha:g}; k = {int(claim.k)})"
    if isinstance(claim, BetaLikeness):
        kind = "enhanced" if claim.enhanced else "basic"
        return f"β-likeness ({kind}; β = {claim.beta:g})"
    last: DeltaDisclosure = claim
    return f"δ-disclosure privacy (δ = {last.delta:g})"
