"""What certificates of microdata say, and whether something is what such a certificate says.

Part of it depends on what only the office knows: its roles of the columns, the order of its file,
claims that need its weights. So what is said is read back into facts; these are said again, and
must give the same sentences. Any other text was put in its place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from diskret.attack.microdata.claims import (
    Claim,
    ExpectedBelow,
    KAnonymity,
    KMap,
    LDiversity,
    Missing,
    NoIdentifiers,
    RiskBelow,
)
from diskret.attack.microdata.leaving import Leaving
from diskret.texts import Figure, Statement, in_languages, sentence

Texts = Mapping[str, Sequence[str]]

#: Said of every file.
NO_IDENTIFIERS = sentence("microdata.no identifiers")
_RISK = sentence("microdata.risk")
_EXPECTED = sentence("microdata.expected")
_POPULATION = sentence("microdata.population")
_OF_VALUES = ("microdata.l-diversity", "microdata.frequencies limited")
_READ_AS: dict[Missing, Statement] = {
    "wildcard": sentence("microdata.missing wildcard"),
    "category": sentence("microdata.missing category"),
    "conservative": sentence("microdata.missing conservative"),
}
_NUMERIC = sentence("microdata.numeric")
_WEIGHTS = sentence("microdata.weights released")
_ORDERED = sentence("microdata.original order")
_AT_RATES = sentence("microdata.sample at rates")
_BEYOND_KEYS = sentence("microdata.beyond the keys")
_ATTRIBUTES = sentence("microdata.attributes")
_MINIMALITY = sentence("microdata.minimality")
_REMOVED = sentence("microdata.missing removed")
_ESTIMATED = sentence("microdata.estimated")
_VISIBLE = sentence("microdata.household visible")
_LOOKED_FOR = sentence("microdata.household looked for")
#: Sentences that stand as they are, and those with blanks; what is counted is not among them.
_FIXED = (
    *(_RISK, _EXPECTED, _POPULATION, *_READ_AS.values(), _BEYOND_KEYS, _ATTRIBUTES, _NUMERIC),
    *(_MINIMALITY, _REMOVED, _ESTIMATED, _WEIGHTS, _VISIBLE, _LOOKED_FOR, _ORDERED, _AT_RATES),
)
_BESIDE, _BY_VALUES = "microdata.beside the keys", "microdata.household by values"
_WHY = "microdata.why missing"
_DRAWN, _DRAWN_WHOLE = "microdata.sample of records", "microdata.sample of households"
_WITH_BLANKS = (*_OF_VALUES, _BESIDE, _BY_VALUES, _WHY, _DRAWN, _DRAWN_WHOLE)


def claimed(
    file: Leaving, claims: Sequence[Claim], figures: Sequence[Mapping[str, object]]
) -> tuple[Statement, ...]:
    """What any reader may know: names k, keys and what can be counted, no other parameter."""
    said = [NO_IDENTIFIERS]
    for claim, found in zip(claims, figures, strict=True):
        said.append(_public(file, claim))
        if isinstance(claim, KAnonymity) and found["unlike"]:
            unlike, lean = found["unlike"], found["lean_on_gaps"]
            said.append(
                sentence("microdata.unlike with gaps", unlike=unlike, lean=lean, k=int(claim.k))
            )
    said += [_READ_AS[claim.missing] for claim in claims if not isinstance(claim, NoIdentifiers)]
    return tuple(dict.fromkeys(said))


def _public(file: Leaving, claim: Claim) -> Statement:
    if isinstance(claim, KAnonymity):
        names = listed(file.keys_of(claim))
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
    names = listed(file.sensitive_of(claim))
    if isinstance(claim, LDiversity):
        return sentence("microdata.l-diversity", names=names)
    return sentence("microdata.frequencies limited", names=names)


def listed(names: Sequence[str]) -> str:
    """Names of columns in a sentence."""
    return ", ".join(names)


# ── what is not claimed ─────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Open:
    """What the choice of columns and records leaves open, by which certificates differ.

    numeric: whether numeric variables are released.
    weights: whether weights are.
    household: whether who lives together is ``"visible"``, or was ``"looked for"``; empty: nobody
        said who does.
    beside: the variables that are neither keys nor numeric nor weights.
    ordered: whether the records are in the order of the original file.
    share: percent of the records that were drawn; empty: all are there.
    whole: whether households were drawn as a whole.
    at_rates: whether records were drawn with different probabilities.
    together: columns whose values tell who lives together.
    """

    numeric: bool = False
    weights: bool = False
    household: Literal["", "visible", "looked for"] = ""
    beside: tuple[str, ...] = ()
    ordered: bool = False
    share: str = ""
    whole: bool = False
    at_rates: bool = False
    together: tuple[str, ...] = ()


def not_claimed(claims: Sequence[Statement], left: Open) -> tuple[Statement, ...]:
    """What nobody should expect of a file of which this is claimed."""
    said = [_BEYOND_KEYS]
    if not any(one.key in _OF_VALUES for one in claims):
        said.append(_ATTRIBUTES)
    if left.numeric:
        said.append(_NUMERIC)
    said.append(_MINIMALITY)
    if _READ_AS["wildcard"] in claims:
        said.append(_REMOVED)
    if _RISK in claims or _EXPECTED in claims:
        said.append(_ESTIMATED)
    if left.weights:
        said.append(_WEIGHTS)
    if left.household:
        said.append(_VISIBLE if left.household == "visible" else _LOOKED_FOR)
    if left.beside:
        said.append(sentence("microdata.beside the keys", shown=listed(left.beside)))
    if left.ordered:
        said.append(_ORDERED)
    if left.share:
        share = Figure(left.share)
        said.append(
            sentence("microdata.sample of households", share=share)
            if left.whole
            else sentence("microdata.sample of records", share=share)
        )
        said += [_AT_RATES] if left.at_rates else []
    said += [sentence("microdata.household by values", name=name) for name in left.together]
    return tuple(said)


def why_missing(names: Sequence[str], files: Sequence[str]) -> Statement:
    """That files with these endings tell why values are missing."""
    return sentence("microdata.why missing", names=listed(names), files=listed(files))


def told_why(told: Texts, columns: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of which columns what is not claimed says why values are missing, and in which files."""
    for text in told["en"]:
        blanks = Statement("certificates", _WHY).blanks_in(text)
        if blanks is not None:
            return _named(blanks["names"], columns), tuple(blanks["files"].split(", "))
    return (), ()


def told_weights_and_order(told: Texts) -> tuple[bool, bool]:
    """Whether weights are among the columns, and whether the order of the records says nothing.

    As what is not claimed says it.
    """
    return _WEIGHTS.en in told["en"], _ORDERED.en not in told["en"]


def percent_drawn(share: float) -> str:
    """A share with as many digits as say something of it, so that no number can be computed."""
    return f"{100 * share:.3g}" if share < 0.1 else f"{100 * share:.1f}"


# ── whether this is said ────────────────────────────────────────────────────────────


def may_say(
    told: tuple[Texts, Texts],
    counted: Sequence[Statement],
    columns: Sequence[str],
    reasons: Collection[str] = (),
) -> tuple[Statement, ...] | None:
    """Whether a certificate says this; if so, the claims that only the office can check.

    Parameters
    ----------
    told
        What is claimed, and what is not, in all languages.
    counted
        What is claimed of the figures that the certificate shows: those that readers count again.
    columns
        Of the released file.
    reasons
        Endings of its files that can tell why values are missing.

    Returns
    -------
    None if no certificate of this file says this.

    Examples
    --------
    >>> counted = claimed(Leaving("f", None, ("town",)), [NoIdentifiers()], [{}])
    >>> said = in_languages(counted), in_languages(not_claimed(counted, Open(beside=("age",))))
    >>> may_say(said, counted, ["town", "age"])
    ()
    >>> may_say((said[0], {"en": [], "de": []}), counted, ["town", "age"]) is None
    True
    """
    claims, others = ([_read(text, counted) for text in part.get("en", ())] for part in told)
    if None in claims or None in others:
        return None
    claims, others = [s for s in claims if s], [s for s in others if s]
    unseen = _beside_counted(claims, counted, columns)
    if unseen is None:
        return None
    again = _said_again(claims, others, columns, reasons)
    said = in_languages(claims), in_languages(again or ())
    return unseen if said == (dict(told[0]), dict(told[1])) else None


def _beside_counted(
    claims: Sequence[Statement], counted: Sequence[Statement], columns: Sequence[str]
) -> tuple[Statement, ...] | None:
    """Claims beside those that are counted again; None if they do not belong together."""
    read_as, known = [*_READ_AS.values()], [s for s in counted if s not in _READ_AS.values()]
    missing = [one for one in claims if one in read_as]
    others = [one for one in claims if one not in (*known, *read_as)]
    own = [one for one in counted if one in read_as]
    right = len({*claims}) == len(claims) and claims[len(claims) - len(missing) :] == missing
    right = right and claims[:1] == [NO_IDENTIFIERS]
    right = right and [one for one in claims if one in known] == known
    # the others have their own ways to read missing values; several may be said in one sentence
    right = right and (bool(missing) and {*own} <= {*missing} if others else missing == own)
    for one in others:
        names = _named(str(dict(one.blanks).get("names", "")), columns)
        of_values = one.key in _OF_VALUES and bool(names) and len({*names}) == len(names)
        right = right and (of_values or one in (_RISK, _EXPECTED, _POPULATION))
    return tuple(others) if right else None


def _said_again(
    claims: Sequence[Statement],
    others: Sequence[Statement],
    columns: Sequence[str],
    reasons: Collection[str],
) -> tuple[Statement, ...] | None:
    """What is not claimed, made anew of the facts that are read from it; None if there are none."""
    blanks = {one.key: dict(one.blanks) for one in others}
    beside = _named(str(blanks.get(_BESIDE, {}).get("shown", "")), columns)
    drawn = blanks.get(_DRAWN_WHOLE) or blanks.get(_DRAWN) or {}
    share = str(drawn.get("share", ""))
    together = [str(dict(one.blanks)["name"]) for one in others if one.key == _BY_VALUES]
    left = Open(
        numeric=_NUMERIC in others,
        weights=_WEIGHTS in others,
        household="visible"
        if _VISIBLE in others
        else ("looked for" if _LOOKED_FOR in others else ""),
        beside=beside,
        ordered=_ORDERED in others,
        share=share,
        whole=_DRAWN_WHOLE in blanks,
        at_rates=_AT_RATES in others,
        together=tuple(together),
    )
    right = beside == tuple(name for name in columns if name in beside)
    right = right and (not share or _is_percent(share))
    right = right and {*together} <= {*columns} and len({*together}) == len(together)
    right = right and (not together or left.household == "looked for")
    said = not_claimed(claims, left)
    if _WHY in blanks:
        names, files = (str(blanks[_WHY][of]) for of in ("names", "files"))
        found, ends = _named(names, columns), files.split(", ")
        right = right and bool(found) and len({*found}) == len(found)
        right = right and {*ends} <= {*reasons} and len({*ends}) == len(ends)
        said = *said, why_missing(found, ends)
    return said if right else None


def _is_percent(share: str) -> bool:
    number = float(share) if re.fullmatch(r"[0-9]+(\.[0-9]+)?(e-[0-9]+)?", share) else 0.0
    forms = (f"{number:.3g}",) if number < 10 else ("10", f"{number:.1f}")  # 9.999 is told as 10
    return 0 < number <= 100 and share in forms


def _read(text: str, counted: Sequence[Statement]) -> Statement | None:
    """The sentence of a certificate of microdata that an English text is."""
    for one in (*counted, *_FIXED):
        if one.en == text:
            return one
    for key in _WITH_BLANKS:
        blanks = Statement("certificates", key).blanks_in(text)
        if blanks is not None:
            return Statement.said("certificates", key, **_figures(blanks))
    return None


def _figures(blanks: Mapping[str, str]) -> dict[str, str]:
    """What fills blanks; a share is a number."""
    return {name: Figure(text) if name == "share" else text for name, text in blanks.items()}


def _named(text: str, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that are listed in a text; none if it is no such list."""
    found: dict[int, tuple[str, ...]] = {0: ()}
    for at in range(len(text)):
        for name in columns if at in found else ():
            end = at + len(name)
            if text.startswith(name, at) and text[end : end + 2] in ("", ", "):
                found.setdefault(end + 2, (*found[at], name))
    return found.get(len(text) + 2, ())
