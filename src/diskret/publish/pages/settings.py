"""How a table was protected, in sentences for the office, in English and German."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

#: Setting → what it is called, in English and German.
_NAMES: dict[str, tuple[str, str]] = {
    "rule": ("Rules", "Regeln"),
    "method": ("Method", "Verfahren"),
    "cost": ("Cost of a suppressed cell", "Kosten eines gesperrten Feldes"),
    "work": ("Steps of work", "Arbeitsschritte"),
    "cost_of_secondaries": ("Cost of secondary cells", "Kosten der Gegensperrungen"),
    "bound": ("Least possible cost", "Mindestkosten"),
    "gap": ("Gap to the least possible cost", "Abstand zu den Mindestkosten"),
    "where": ("Only records with", "Nur Datensätze mit"),
    "weight": ("Weight", "Hochrechnungsfaktor"),
    "waiver": ("Consent to publication", "Einwilligung in die Veröffentlichung"),
    "recomputed_totals": ("Totals computed anew", "Neu berechnete Summen"),
    "suppressed_last_period": ("Suppressed last period", "In der Vorperiode gesperrt"),
    "previous_discount": ("Discount for these, in percent", "Nachlass für diese, in Prozent"),
    "apriori": ("Cells set by hand", "Von Hand gesetzte Felder"),
    "sums_judged_by": ("Sums of cells are judged by", "Summen von Feldern beurteilt nach"),
    "rules_without_sums": (
        "Rules that do not judge sums of cells",
        "Regeln, die Summen von Feldern nicht beurteilen",
    ),
    "contributors_of_sums": ("Contributors to sums of cells", "Beitragende zu Summen von Feldern"),
    "attacker: kind": ("Attacker", "Angreifer"),
    "attacker: lower": ("Knows lower bounds", "Kennt Untergrenzen"),
    "attacker: upper": ("Knows upper bounds", "Kennt Obergrenzen"),
    "attacker: relative": (
        "Knows each value up to so many percent",
        "Kennt jeden Wert auf so viele Prozent genau",
    ),
    "attacker: zeros_known": (
        "Knows that no suppressed cell is 0",
        "Weiß, dass kein gesperrtes Feld 0 ist",
    ),
    "attacker: last_period_within": (
        "Knows last period's values up to so many percent",
        "Kennt die Werte der Vorperiode auf so viele Prozent genau",
    ),
    "attacker: mistaken": (
        "What such bounds say if a value lies outside",
        "Was solche Grenzen besagen, wenn ein Wert außerhalb liegt",
    ),
    "attacker: contributor": ("Knows a contribution of its own", "Kennt einen eigenen Beitrag"),
    "attacker: coalition": (
        "Contributors that pool what they know",
        "Beitragende, die ihr Wissen zusammenlegen",
    ),
    "primaries": ("Primary cells", "Primärsperrungen"),
    "secondaries": ("Secondary cells", "Gegensperrungen"),
    "sliding_only": (
        "Counts for which only “no exact value” holds",
        "Anzahlen, für die nur „kein exakter Wert“ gilt",
    ),
    "repaired": ("Repairs", "Nachbesserungen"),
    "witnesses": ("Alternative tables as proof", "Alternativtabellen als Beleg"),
}
_WORDS: dict[str, tuple[str, str]] = {
    "True": ("yes", "ja"),
    "False": ("no", "nein"),
    "None": ("–", "–"),
    "outsider": ("somebody outside", "Außenstehender"),
    "contributor": ("somebody who contributes", "Beitragender"),
    "refuse": ("they are refused", "sie werden abgelehnt"),
    "optimal": ("optimal", "optimal"),
    "sequential": ("sequential", "schrittweise (sequential)"),
    "modular": ("by subtables (modular)", "nach Teiltabellen (modular)"),
    "hypercube": ("hypercube", "Quaderverfahren (hypercube)"),
    "network": ("network flow", "Netzwerkfluss (network)"),
    "value": ("the value", "der Wert"),
    "count": ("the count", "die Anzahl"),
    "cells": ("each cell the same", "jedes Feld gleich"),
    "exact": ("exactly those of the records", "genau die der Datensätze"),
    "taken for different": (
        "taken for different ones",
        "als verschieden angenommen",
    ),
    "given": ("judged beforehand", "vorab beurteilt"),
    "not stated": ("not stated", "nicht angegeben"),
}
#: Rule → sentence with its parameters, and parameter → (what it adds, value that adds nothing).
_RULES: dict[str, tuple[str, str]] = {
    "PPercent": ("p% rule with p = {p}", "p-Prozent-Regel mit p = {p}"),
    "PQ": ("pq rule with p = {p} and q = {q}", "pq-Regel mit p = {p} und q = {q}"),
    "Dominance": (
        "dominance rule: the {n} largest hold more than {k} %",
        "Dominanzregel: die {n} größten halten mehr als {k} %",
    ),
    "MinimumFrequency": (
        "minimum frequency: at least {n} contribute",
        "Mindestfallzahl: mindestens {n} tragen bei",
    ),
    "MarginalValue": (
        "marginal values within {distance} of a total",
        "Randwertregel: bis {distance} unter einer Randsumme",
    ),
    "GroupDisclosure": (
        "group disclosure: one cell holds {percent} % of a total",
        "Gruppenoffenlegung: ein Feld hält {percent} % einer Randsumme",
    ),
    "Request": (
        "protection on request from a share of {share} %",
        "Schutz auf Antrag ab einem Anteil von {share} %",
    ),
    "ZeroCells": (
        "sums of 0 with contributors are protected by {level}",
        "Summen von 0 mit Beitragenden werden um {level} geschützt",
    ),
    "MissingSafe": ("codes that mean “unknown” are safe", "Codes für „unbekannt“ sind sicher"),
    "Apriori": ("cells set by hand", "von Hand gesetzte Felder"),
}
_MORE: dict[str, tuple[tuple[str, str], Any]] = {
    "minimum_level": (("least level {}", "kleinster Abstand {}"), 0),
    "coalition": (("{} contributors together", "{} Beitragende gemeinsam"), 1),
    "of": (("counted are {}", "gezählt werden {}"), None),
    "strict": (("strictly", "streng"), False),
    "second": (("second level {} %", "zweite Stufe {} %"), None),
}
_OF = {"records": "Datensätze", "units": "Einheiten", "holdings": "Unternehmensgruppen"}


def told(settings: Mapping[str, Any], language: str) -> list[tuple[str, str]]:
    """Settings by what they are called, and what they are; of entries by column their number.

    Examples
    --------
    >>> told({"rule": "PPercent(p=20, minimum_level=0, coalition=1)", "repaired": 0}, "de")
    [('Regeln', 'p-Prozent-Regel mit p = 20'), ('Nachbesserungen', '0')]
    >>> told({"rules_without_sums": []}, "de")
    [('Regeln, die Summen von Feldern nicht beurteilen', 'keine')]
    """
    at = 1 if language == "de" else 0
    return [
        (_NAMES.get(name, (name, name))[at], _value(content, at))
        for name, content in settings.items()
    ]


def _value(content: Any, at: int) -> str:
    if isinstance(content, Mapping):  # entries by column; the certificate has them in full
        columns: Mapping[str, Sequence[Any]] = content
        return str(max(map(len, columns.values()), default=0))
    if isinstance(content, (list, tuple)):
        parts: Sequence[Any] = content
        return "; ".join(_value(part, at) for part in parts) or ("none", "keine")[at]
    text = str(content)
    if isinstance(content, str) and (rule := _rule(text, at)) is not None:
        return rule
    return _WORDS.get(text, (text, text))[at]


def _rule(text: str, at: int) -> str | None:
    """A rule as it is written in Python, in words; None if the text is no rule."""
    try:
        call = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    return _of_call(call, at)


def _of_call(call: ast.expr, at: int) -> str | None:
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    name, given = call.func.id, {one.arg or "": one.value for one in call.keywords}
    if name == "AnyOf" and isinstance(parts := given.get("rules"), ast.Tuple):
        return "; ".join(_of_call(one, at) or ast.unparse(one) for one in parts.elts)
    if name not in _RULES:
        return None
    values = {key: ast.unparse(one) for key, one in given.items()}
    more = [
        sentence[at].format(_counted(values[key], at))
        for key, (sentence, nothing) in _MORE.items()
        if key in values and values[key] != repr(nothing)
    ]
    try:
        return ", ".join([_RULES[name][at].format(**values), *more])
    except KeyError:
        return None


def _counted(text: str, at: int) -> str:
    plain = text.strip("'")
    return _OF.get(plain, plain) if at else plain
