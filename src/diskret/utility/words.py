"""The words of a comparison, in English and German, and how numbers are written."""

from __future__ import annotations

import math

from diskret.errors import InputError

#: Language → key → text. Braces are filled in with `str.format`.
WORDS: dict[str, dict[str, str]] = {
    "en": {
        "cells": "{cells} cells, totals and empty ones included.",
        "cells of tables": "{cells} cells in {tables} tables, totals and empty ones included.",
        "hidden": (
            "Cells withheld: {cells}, which are {share} % of those that are not empty and "
            "{value} % of all values."
        ),
        "deviations": (
            "Cells published with a value that are not 0: {cells}, {unchanged} % of them unchanged."
        ),
        "absolute": (
            "They deviate by {mean} on average, half of them by at most {half}, 95 % by at most "
            "{most}, none by more than {largest}. With its sign the mean deviation is {bias}, the "
            "mean of its square {mse}."
        ),
        "relative": (
            "Relative to the original value the deviation is {mean} % on average and at most "
            "{largest} %."
        ),
        "zeros": (
            "Cells published as 0 that are not: {false_zeros}; zeros published as something else: "
            "{false_nonzeros} of {cells}."
        ),
        "hellinger": (
            "Hellinger distance {distance} ({scaled} of 1 for shares); Hellinger utility {utility}."
        ),
        "additive": "Equations between totals and their parts: {equations}, all of which hold.",
        "not additive": (
            "Equations between totals and their parts that do not hold: {broken} of {equations}; "
            "they are off by {largest} at most, all equations by {mean} on average."
        ),
        "ranks": (
            "Rank correlation of the cells {correlation} (Spearman); {moved} % of them are in "
            "another tenth of the order."
        ),
        "association": (
            "Cramér's V of {first} and {second} was {original} and is {protected} ({change} %)."
        ),
        "variance": "The variance of the cells of the finest codes is {ratio} times what it was.",
        "by size": "Deviations by size of the cell",
        "size head": "from|to|cells|largest|mean|bias|mean relative, %|unchanged, %",
        "by deviation": "Cells by deviation and number of variables that are not at their total",
        "deviation": "deviation",
        "all cells": "all cells",
        "up to": "at most, %:",
        "all": "all",
        "histogram": "How many cells deviate by how much",
        "signed": "published − original",
        "number": "cells",
        "scatter": "Published against original values",
        "original": "original",
        "published": "published",
        "size plot": "Deviations by size of the cell",
        "absolute deviation": "absolute deviation",
        "mean": "mean",
        "largest": "largest",
        "records": "{records} records.",
        "changed values": (
            "{variable}: {changed} values changed ({changed_share} %), {suppressed} suppressed "
            "({suppressed_share} %)."
        ),
        "unchanged values": "{variable}: no value changed.",
        "moved": (
            "Tables of up to {size} variables: {tables}. The sum of all deviations of their cells "
            "is {distance}; on average {moved} % of the records are in another cell, at most "
            "{largest} % ({worst}). Hellinger distance of shares {hellinger} on average."
        ),
        "dropped": "Left out of the protected file: {names}.",
        "numeric values": (
            "{variable}: {changed} values changed ({changed_share} %), {suppressed} suppressed; "
            "IL1s {il1s}, squared deviations {squares} % of the variance."
        ),
        "numeric structure": (
            "Means moved by {means} standard deviations on average, variances by {variances} %."
        ),
        "correlations": (
            "Correlations moved by {correlations} on average (of ranks: {spearman}), their "
            "eigenvalues by {eigenvalues} %; Młodak's γ is {gamma}."
        ),
        "lambda": (
            "Mean distance of all values from the original ones, 0 to 1 (Młodak's λ): {value}."
        ),
        "map": "Risk and loss",
        "risk of": "risk: {name}",
        "loss of": "loss: {name}",
        "frontier": "on the frontier",
        "beaten": "beaten by another choice",
        "as it is": "as it is",
        "or more": "{number} or more",
        "controlled": "Controlled tables",
        "uncontrolled": "Tables that were not controlled",
        "counted tables": (
            "{cells} cells in {tables} tables that were not empty deviate by {largest} at most and "
            "by {mean} on average; {exact} % are exact. Cells that became empty: {emptied}; empty "
            "cells that are so no more: {filled}."
        ),
        "by variables": "Cells by deviation and number of variables of the table",
        "printed size head": "from|to|table cells|largest deviation|mean deviation",
        "propensity": (
            "A model with {parameters} parameters tells protected from original records with a "
            "pMSE of {pmse}, {ratio} times what is expected of records drawn anew."
        ),
    },
    "de": {
        "cells": "{cells} Felder, Summen und leere eingeschlossen.",
        "cells of tables": "{cells} Felder in {tables} Tabellen, Summen und leere eingeschlossen.",
        "hidden": (
            "Gesperrte Felder: {cells}, das sind {share} % der nicht leeren Felder und {value} % "
            "aller Werte."
        ),
        "deviations": (
            "Mit einem Wert veröffentlichte Felder, die nicht 0 sind: {cells}, davon {unchanged} % "
            "unverändert."
        ),
        "absolute": (
            "Sie weichen im Mittel um {mean} ab, die Hälfte um höchstens {half}, 95 % um höchstens "
            "{most}, keines um mehr als {largest}. Mit Vorzeichen ist die mittlere Abweichung "
            "{bias}, das Mittel ihres Quadrats {mse}."
        ),
        "relative": (
            "Bezogen auf den ursprünglichen Wert beträgt die Abweichung im Mittel {mean} % und "
            "höchstens {largest} %."
        ),
        "zeros": (
            "Als 0 veröffentlichte Felder, die es nicht sind: {false_zeros}; als etwas anderes "
            "veröffentlichte Nullen: {false_nonzeros} von {cells}."
        ),
        "hellinger": (
            "Hellinger-Abstand {distance} ({scaled} von 1 für Anteile); Hellinger-Nutzen {utility}."
        ),
        "additive": ("Gleichungen zwischen Summen und ihren Teilen: {equations}, und alle gelten."),
        "not additive": (
            "Gleichungen zwischen Summen und ihren Teilen, die nicht gelten: {broken} von "
            "{equations}; der Fehler beträgt höchstens {largest}, im Mittel aller Gleichungen "
            "{mean}."
        ),
        "ranks": (
            "Rangkorrelation der Felder {correlation} (Spearman); {moved} % von ihnen liegen in "
            "einem anderen Zehntel der Rangfolge."
        ),
        "association": (
            "Cramérs V von {first} und {second} war {original} und ist {protected} ({change} %)."
        ),
        "variance": (
            "Die Varianz der Felder der feinsten Schlüssel ist das {ratio}-Fache der "
            "ursprünglichen."
        ),
        "by size": "Abweichungen nach Größe des Feldes",
        "size head": (
            "von|bis|Felder|größte|mittlere|mit Vorzeichen|mittlere relative, %|unverändert, %"
        ),
        "by deviation": (
            "Felder nach Abweichung und Zahl der Merkmale, die nicht auf „insgesamt“ stehen"
        ),
        "deviation": "Abweichung",
        "all cells": "alle Felder",
        "up to": "höchstens, %:",
        "all": "alle",
        "histogram": "Wie viele Felder um wie viel abweichen",
        "signed": "veröffentlicht − ursprünglich",
        "number": "Felder",
        "scatter": "Veröffentlichte und ursprüngliche Werte",
        "original": "ursprünglich",
        "published": "veröffentlicht",
        "size plot": "Abweichungen nach Größe des Feldes",
        "absolute deviation": "absolute Abweichung",
        "mean": "mittlere",
        "largest": "größte",
        "records": "{records} Datensätze.",
        "changed values": (
            "{variable}: {changed} Werte geändert ({changed_share} %), {suppressed} gesperrt "
            "({suppressed_share} %)."
        ),
        "unchanged values": "{variable}: kein Wert geändert.",
        "moved": (
            "Tabellen mit bis zu {size} Merkmalen: {tables}. Die Summe aller Abweichungen ihrer "
            "Felder ist {distance}; im Mittel liegen {moved} % der Datensätze in einem anderen "
            "Feld, höchstens {largest} % ({worst}). Hellinger-Abstand der Anteile im Mittel "
            "{hellinger}."
        ),
        "dropped": "In der geschützten Datei weggelassen: {names}.",
        "numeric values": (
            "{variable}: {changed} Werte geändert ({changed_share} %), {suppressed} gesperrt; IL1s "
            "{il1s}, quadrierte Abweichungen {squares} % der Varianz."
        ),
        "numeric structure": (
            "Mittelwerte haben sich im Mittel um {means} Standardabweichungen verschoben, "
            "Varianzen um {variances} %."
        ),
        "correlations": (
            "Korrelationen haben sich im Mittel um {correlations} verschoben (der Ränge: "
            "{spearman}), ihre Eigenwerte um {eigenvalues} %; Młodaks γ ist {gamma}."
        ),
        "lambda": (
            "Mittlerer Abstand aller Werte von den ursprünglichen, 0 bis 1 (Młodaks λ): {value}."
        ),
        "map": "Risiko und Verlust",
        "risk of": "Risiko: {name}",
        "loss of": "Verlust: {name}",
        "frontier": "auf der Grenze",
        "beaten": "von einer anderen Wahl übertroffen",
        "as it is": "wie sie sind",
        "or more": "{number} und mehr",
        "controlled": "Kontrollierte Tabellen",
        "uncontrolled": "Nicht kontrollierte Tabellen",
        "counted tables": (
            "{cells} zuvor nicht leere Felder in {tables} Tabellen weichen um höchstens {largest} "
            "und im Mittel um {mean} ab; {exact} % sind exakt. Felder, die leer wurden: {emptied}; "
            "leere Felder, die es nicht mehr sind: {filled}."
        ),
        "by variables": "Felder nach Abweichung und Zahl der Merkmale der Tabelle",
        "printed size head": "von|bis|Tabellenfelder|größte Abweichung|mittlere Abweichung",
        "propensity": (
            "Ein Modell mit {parameters} Parametern unterscheidet geschützte von ursprünglichen "
            "Datensätzen mit einem pMSE von {pmse}, dem {ratio}-Fachen dessen, was bei neu "
            "gezogenen Datensätzen zu erwarten ist."
        ),
    },
}


def words_in(language: str) -> dict[str, str]:
    """The texts in a language.

    Raises
    ------
    InputError
        There are none.
    """
    if language not in WORDS:
        raise InputError(f"language= must be 'en' or 'de', not {language!r}")
    return WORDS[language]


def number(value: float, decimals: int, language: str) -> str:
    r"""A number as it is written in a language; "–" for NaN.

    Examples
    --------
    >>> number(1234.5, 2, "de"), number(1234.5, 0, "en")
    ('1\xa0234,50', '1,234')
    """
    if math.isnan(value):
        return "–"
    text = f"{value:,.{decimals}f}"
    # thousands as in tables of official statistics: a blank, which cannot be broken
    german = {",": "\N{NO-BREAK SPACE}", ".": ","}
    return text.translate(str.maketrans(german)) if language == "de" else text
