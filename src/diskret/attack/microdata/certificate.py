"""The certificate of released microdata, and its sentences in both languages."""

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


#: Claims about what the records that agree in the keys show.
_ABOUT_VALUES = (LDiversity, TCloseness, AlphaK, BetaLikeness, DeltaDisclosure)

#: Said of every file.
NO_IDENTIFIERS = Statement(
    "The file has no names, addresses or numbers that identify a person directly.",
    "Die Datei enthält keine Namen, Adressen oder Nummern, die eine Person unmittelbar bezeichnen.",
)
_RISK = Statement(
    "The probability that a person is recognised by the keys was estimated, and is small for "
    "every record.",
    "Die Wahrscheinlichkeit, eine Person an den Schlüsselvariablen zu erkennen, wurde geschätzt "
    "und ist für jeden Datensatz klein.",
)
_EXPECTED = Statement(
    "The share of persons who are recognised by the keys was estimated, and is small.",
    "Der Anteil der Personen, die an den Schlüsselvariablen zu erkennen sind, wurde geschätzt und "
    "ist klein.",
)
_POPULATION = Statement(
    "For every record several persons of the population show its keys.",
    "Zu jedem Datensatz gibt es mehrere Personen der Grundgesamtheit, die seine Schlüssel zeigen.",
)
_READ_AS: dict[Missing, Statement] = {
    "wildcard": Statement(
        "A missing value is counted as if it could be any value.",
        "Ein fehlender Wert zählt so, als könne er jeder Wert sein.",
    ),
    "category": Statement(
        "A missing value is counted as a value of its own.",
        "Ein fehlender Wert zählt als eigener Wert.",
    ),
    "conservative": Statement(
        "A record with a missing key is counted as if it agreed with no other.",
        "Ein Datensatz mit fehlendem Schlüssel zählt so, als stimme er mit keinem anderen überein.",
    ),
}
_BEYOND_KEYS = Statement(
    "Nothing is said of what somebody knows beyond the keys, or of other releases about the same "
    "persons.",
    "Nichts ist darüber gesagt, was jemand außer den Schlüsseln weiß, und über andere "
    "Veröffentlichungen über dieselben Personen.",
)
_ATTRIBUTES = Statement(
    "Records that agree in the keys may agree in other variables, too: who knows that a person is "
    "among them then learns these.",
    "Datensätze mit gleichen Schlüsseln können auch in anderen Merkmalen übereinstimmen: Wer weiß, "
    "dass eine Person darunter ist, erfährt diese dann.",
)
_NUMERIC = Statement(
    "Numeric variables were not judged: who knows such a value exactly may recognise a record by "
    "it.",
    "Numerische Merkmale wurden nicht beurteilt: Wer einen solchen Wert genau kennt, kann einen "
    "Datensatz daran erkennen.",
)
_MINIMALITY = Statement(
    "Nothing is said of conclusions from the fact that no more was changed than necessary.",
    "Nichts ist über Schlüsse daraus gesagt, dass nicht mehr als nötig verändert wurde.",
)
_MISSING_MEANS = Statement(
    "A missing value was perhaps removed because it is rare; then fewer values are possible than "
    "were counted.",
    "Ein fehlender Wert wurde vielleicht entfernt, weil er selten ist; dann sind weniger Werte "
    "möglich als gezählt.",
)
_ESTIMATED = Statement(
    "Estimated probabilities rest on a model of the population. Those of single records may be too "
    "low where many of them are alone in a small sample.",
    "Geschätzte Wahrscheinlichkeiten beruhen auf einem Modell der Grundgesamtheit. Die einzelner "
    "Datensätze können zu klein sein, wo viele in einer kleinen Stichprobe allein sind.",
)


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
    records = f"{file.n:,}"
    if isinstance(claim, KAnonymity):
        return Statement.of(
            "Counted again for {records} records: at least {least} agree. Without missing values "
            "of other records, {lean} of them agree with fewer than {k}.",
            "Für {records} Datensätze nachgezählt: Mindestens {least} stimmen überein. Ohne "
            "fehlende Werte anderer Datensätze stimmen {lean} davon mit weniger als {k} überein.",
            records=records,
            least=f"{figures['fewest_alike']:,}",
            lean=f"{figures['lean_on_gaps']:,}",
            k=f"{int(claim.k):,}",
        )
    if isinstance(claim, KMap):
        return Statement.of(
            "Counted again for {records} records: at least {least} persons of the population.",
            "Für {records} Datensätze nachgezählt: mindestens {least} Personen der "
            "Grundgesamtheit.",
            records=records,
            least=f"{figures['fewest_persons']:,g}",
        )
    if isinstance(claim, RiskBelow):
        of, von = (" of households", " von Haushalten") if claim.household else ("", "")
        more, mehr, inside = _largest(figures)
        return Statement.of(
            f"Estimated again for {{records}} records: the largest risk{of} is {{largest}}; "
            "{threshold} is allowed." + more,
            f"Für {{records}} Datensätze nachgerechnet: Das größte Risiko{von} ist {{largest}}; "
            "{threshold} ist erlaubt." + mehr,
            **inside,
            records=records,
            largest=f"{figures['largest_risk']:.4g}",
            threshold=f"{claim.threshold:g}",
        )
    if isinstance(claim, ExpectedBelow):
        more, mehr, inside = _estimates(figures)
        return Statement.of(
            "Estimated again for {records} records: {number} are expected to be recognised, a "
            "rate of {rate}; {allowed} is allowed." + more,
            "Für {records} Datensätze nachgerechnet: Erwartungsgemäß werden {number} erkannt, ein "
            "Anteil von {rate}; {allowed} ist erlaubt." + mehr,
            **inside,
            records=records,
            number=f"{figures['expected_recognised']:,.4g}",
            rate=f"{figures['rate']:.4g}",
            allowed=f"{claim.rate:g}",
        )
    names = _in_template(variables(file, claim))
    return Statement.of(
        f"{{claim}} was counted again for {{records}} records and {names}.",
        f"{{claim}} wurde für {{records}} Datensätze und {names} nachgezählt.",
        claim=_described(claim),
        records=records,
    )


def _largest(figures: Mapping[str, Any]) -> tuple[str, str, dict[str, str]]:
    """On which estimates the largest risk rests, and what goes into the sentences."""
    if "by_weights" not in figures:
        return "", "", {}
    if "by_model" not in figures:
        return (
            " It rests on the weights alone, for no log-linear model was fitted; for records that "
            "are alone in a small sample that is often too low.",
            " Das beruht allein auf den Hochrechnungsfaktoren, denn ein loglineares Modell wurde "
            "nicht angepasst; für Datensätze, die in einer kleinen Stichprobe allein sind, ist das "
            "oft zu wenig.",
            {},
        )
    return (
        " For each record that is the larger of two estimates, at most {weights} by the weights "
        "alone and {model} by a log-linear model.",
        " Für jeden Datensatz ist das die größere von zwei Schätzungen, höchstens {weights} allein "
        "nach den Hochrechnungsfaktoren und {model} nach einem loglinearen Modell.",
        {
            "weights": f"{figures['by_weights']['largest_risk']:.4g}",
            "model": f"{figures['by_model']['largest_risk']:.4g}",
        },
    )


def _estimates(figures: Mapping[str, Any]) -> tuple[str, str, dict[str, str]]:
    """On which estimates the expected number rests, and what goes into the sentences."""
    if "by_weights" not in figures:
        return "", "", {}
    inside = {
        "alone": f"{figures['sample_uniques']:,}",
        "weights": f"{figures['by_weights']['expected_recognised']:,.4g}",
        "unique": f"{figures['by_weights']['population_uniques']:,.4g}",
    }
    if "by_model" not in figures:
        return (
            " It rests on the weights alone, {unique} of {alone} sample uniques taken to be unique "
            "in the population, for no log-linear model was fitted; where keys depend on each "
            "other and few persons are in the file, that is too low.",
            " Das beruht allein auf den Hochrechnungsfaktoren, nach denen {unique} von {alone} in "
            "der Stichprobe einmaligen auch in der Grundgesamtheit einmalig sind, denn ein "
            "loglineares Modell wurde nicht angepasst; wo Schlüssel voneinander abhängen und "
            "wenige Personen in der Datei sind, ist das zu wenig.",
            inside,
        )
    inside |= {
        "model": f"{figures['by_model']['expected_recognised']:,.4g}",
        "modelled": f"{figures['by_model']['population_uniques']:,.4g}",
    }
    return (
        " That is the larger of two estimates: {weights} by the weights alone, {model} by a "
        "log-linear model; of {alone} sample uniques {unique} and {modelled} are unique in the "
        "population by them.",
        " Das ist die größere von zwei Schätzungen: {weights} allein nach den "
        "Hochrechnungsfaktoren, {model} nach einem loglinearen Modell; von {alone} in der "
        "Stichprobe einmaligen sind es danach {unique} und {modelled} in der Grundgesamtheit.",
        inside,
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
        names = _in_template(claim.keys or file.keys)
        which, welchen = f"the variables {names}", f"den Merkmalen {names}"
        if claim.size is not None:
            which, welchen = f"any {claim.size} of {which}", f"je {claim.size} von {welchen}"
        return Statement.of(
            f"Every record agrees in {which} with at least {{k}} records, itself included.",
            f"Jeder Datensatz stimmt in {welchen} mit mindestens {{k}} Datensätzen überein, er "
            "selbst eingeschlossen.",
            k=f"{int(claim.k):,}",
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
        return Statement(
            f"Records that agree in the keys show different values of {names}.",
            f"Datensätze mit gleichen Schlüsseln zeigen verschiedene Werte von {names}.",
        )
    return Statement(
        f"What values of {names} are shown by records that agree in the keys was limited by how "
        "frequent they are in the whole file.",
        f"Welche Werte von {names} Datensätze mit gleichen Schlüsseln zeigen, wurde danach "
        "begrenzt, wie häufig sie in der ganzen Datei sind.",
    )


def _unlike(claim: KAnonymity, found: Mapping[str, Any]) -> Statement:
    return Statement.of(
        "That counts missing values as agreement. {unlike} records have fewer than {k} in the file "
        "that look the same in these variables, missing values included; {lean} of them show "
        "values that fewer than {k} show.",
        "Das zählt fehlende Werte als Übereinstimmung. Zu {unlike} Datensätzen gibt es in der "
        "Datei weniger als {k}, die in diesen Merkmalen gleich aussehen, fehlende Werte "
        "eingeschlossen; "
        "{lean} davon zeigen Werte, die weniger als {k} zeigen.",
        unlike=f"{found['unlike']:,}",
        lean=f"{found['lean_on_gaps']:,}",
        k=f"{int(claim.k):,}",
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


def _in_template(names: Sequence[str]) -> str:
    """Names for a sentence whose figures are filled in later; braces in them stay braces."""
    return _listed(names).replace("{", "{{").replace("}", "}}")


def _once(said: Sequence[Statement]) -> tuple[Statement, ...]:
    return tuple(dict.fromkeys(said))
