"""The certificate of released microdata, and its sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diskret.attack.certificate import SCHEMA
from diskret.attack.microdata.claims import (
    AlphaK,
    BetaLikeness,
    Claim,
    DeltaDisclosure,
    ExpectedBelow,
    KAnonymity,
    KMap,
    LDiversity,
    Missing,
    NoIdentifiers,
    RiskBelow,
    TCloseness,
)
from diskret.attack.microdata.leaving import Leaving
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


#: Claims about what the records that agree in the keys show.
_ABOUT_VALUES = (LDiversity, TCloseness, AlphaK, BetaLikeness, DeltaDisclosure)

#: Said of every file.
NO_IDENTIFIERS = sentence("microdata.no identifiers")
_RISK = sentence("microdata.risk")
_EXPECTED = sentence("microdata.expected")
_POPULATION = sentence("microdata.population")
_READ_AS: dict[Missing, Statement] = {
    "wildcard": sentence("microdata.missing wildcard"),
    "category": sentence("microdata.missing category"),
    "conservative": sentence("microdata.missing conservative"),
}
_BEYOND_KEYS = sentence("microdata.beyond the keys")
_ATTRIBUTES = sentence("microdata.attributes")
_NUMERIC = sentence("microdata.numeric")
_MINIMALITY = sentence("microdata.minimality")
_MISSING_MEANS = sentence("microdata.missing removed")
_ESTIMATED = sentence("microdata.estimated")


def claimed(
    file: Leaving, claims: Sequence[Claim], figures: Sequence[Mapping[str, Any]]
) -> tuple[Statement, ...]:
    """What any reader may know: names k, keys and what can be counted, no other parameter."""
    said = [NO_IDENTIFIERS]
    for claim, found in zip(claims, figures, strict=True):
        said.append(_public(file, claim))
        if isinstance(claim, KAnonymity) and found["unlike"]:
            said.append(_unlike(claim, found))
    said += [_READ_AS[claim.missing] for claim in claims if not isinstance(claim, NoIdentifiers)]
    return _once(said)


def not_claimed(
    file: Leaving, claims: Sequence[Claim], numeric: Sequence[str]
) -> tuple[Statement, ...]:
    """What nobody should expect."""
    said = [_BEYOND_KEYS]
    if not any(isinstance(claim, _ABOUT_VALUES) for claim in claims):
        said.append(_ATTRIBUTES)
    if any(name in file.table.column_names for name in numeric):
        said.append(_NUMERIC)
    said.append(_MINIMALITY)
    if any(getattr(claim, "missing", None) == "wildcard" for claim in claims):
        said.append(_MISSING_MEANS)
    if any(isinstance(claim, RiskBelow | ExpectedBelow) for claim in claims):
        said.append(_ESTIMATED)
    return _once(said)


def checked(file: Leaving, claim: Claim, figures: Mapping[str, Any]) -> Statement:
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
        names=_listed(variables(file, claim)),
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
    file: Leaving, claim: Claim, failing: int, rows: str, figures: Mapping[str, Any]
) -> str:
    """Why nothing may leave, for the office."""
    start = f"file {file.name!r}: {failing:,} of {file.n:,} records "
    keys = ", ".join(file.keys)
    if isinstance(claim, KAnonymity):
        own = ", ".join(claim.keys or file.keys)
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
    return (
        f"{start}break {_described(claim)} of {_listed(variables(file, claim))}, e.g. rows {rows}; "
        "recode keys or combine sensitive values first, or claim less"
    )


def variables(file: Leaving, claim: Claim) -> tuple[str, ...]:
    """The sensitive variables a claim is about."""
    return getattr(claim, "sensitive", None) or file.sensitive


def _public(file: Leaving, claim: Claim) -> Statement:
    if isinstance(claim, KAnonymity):
        names = _listed(claim.keys or file.keys)
        if claim.size is None:
            return sentence("microdata.k-anonymity", names=names, k=int(claim.k))
        return sentence(
            "microdata.k-anonymity of some", size=str(claim.size), names=names, k=int(claim.k)
        )
    if isinstance(claim, RiskBelow):
        return _RISK
    if isinstance(claim, ExpectedBelow):
        return _EXPECTED
    if isinstance(claim, KMap):
        return _POPULATION
    if isinstance(claim, NoIdentifiers):
        return NO_IDENTIFIERS
    names = _listed(variables(file, claim))
    if isinstance(claim, LDiversity):
        return sentence("microdata.l-diversity", names=names)
    return sentence("microdata.frequencies limited", names=names)


def _unlike(claim: KAnonymity, found: Mapping[str, Any]) -> Statement:
    return sentence(
        "microdata.unlike with gaps",
        unlike=found["unlike"],
        lean=found["lean_on_gaps"],
        k=int(claim.k),
    )


def _described(claim: Claim) -> str:
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
    if isinstance(claim, DeltaDisclosure):
        return f"δ-disclosure privacy (δ = {claim.delta:g})"
    return type(claim).__name__


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _once(said: Sequence[Statement]) -> tuple[Statement, ...]:
    return tuple(dict.fromkeys(said))
