"""What the reports on microdata say, in English and German."""

from __future__ import annotations

from diskret.publish.pages.texts import words_in

#: Language → key → text; the words of all reports are there, too.
_WORDS: dict[str, dict[str, str]] = {
    "en": {
        "public": "Description of released microdata",
        "file summary": "What this file is",
        "records": "Records",
        "variables": "Variables",
        "gaps": "Missing values",
        "intro": (
            "Each row is one record: a person, household or firm. The file was protected so that "
            "they are hard to recognise, and may be analysed as described below."
        ),
        "table variables": "Variables",
        "variable": "Variable",
        "kind": "Kind",
        "distinct": "Distinct values",
        "values": "Values",
        "missing": "Missing",
        "missing share": "Share missing",
        "text": "text",
        "whole": "whole number",
        "decimal": "number",
        "date": "date or time",
        "logical": "yes or no",
        "from to": "{low} to {high}",
        "many": "…",
        "nothing": "none",
        "protection": "How it was protected",
        "unprotected": "No values were changed; variables that identify directly were left out.",
        "recoded": "Put into coarser categories:",
        "suppressed": "Single values suppressed:",
        "randomised": "Changed at random:",
        "aggregated": "Replaced by averages of groups of records:",
        "noisy": "Random noise added:",
        "exchanged": "Exchanged between records:",
        "cut": "Extreme values cut off:",
        "replaced": "Made anew, no record being one of the original:",
        "changed": "Changed:",
        "order shuffled": "The order of the records is random and means nothing.",
        "order kept": "The records are in the order of the original file.",
        "use": "What to observe in analyses",
        "use suppressed": (
            "Missing values of these variables are not missing at random: what is rare was "
            "suppressed more often. Leaving these records out distorts results; treat missing as "
            "a category, or impute from the other variables. Some may have been missing before."
        ),
        "use randomised": (
            "Single values of these variables may be wrong on purpose. Distributions and "
            "relations are close to those of the original, but conclusions about single records "
            "are not possible, and variances and tests should allow for the changes."
        ),
        "use aggregated": (
            "Values of these variables are averages of groups of records. Means are close to those "
            "of the original, but variances are smaller, and relations between variables may look "
            "closer than they are; conclusions about single records are not possible."
        ),
        "use noisy": (
            "Values of these variables carry random noise. Means and relations are close to those "
            "of the original, variances may be larger and relations weaker; values that cannot "
            "occur, such as negative ones, may be among them. Conclusions about single records "
            "are not possible."
        ),
        "use exchanged": (
            "Some records hold values of others. Each value occurs as often as in the original, "
            "but relations with other variables are weaker, and conclusions about single records "
            "are not possible."
        ),
        "use cut": (
            "Extreme values of these variables were replaced by less extreme ones: variances, "
            "highest and lowest values are too small in size."
        ),
        "use replaced": (
            "Every combination of values occurs not at all or several times, however often it "
            "occurs in the original. All tables fit together, but counts deviate by small "
            "numbers: least, compared with the count, in large cells. What does not occur here may "
            "occur in the original; conclusions about single records are not possible."
        ),
        "use recoded": (
            "Categories are coarser than those collected; results by finer ones are not possible."
        ),
        "use changed": (
            "Values of these variables are not those collected; conclusions about single records "
            "are not possible."
        ),
        "use weight": "Results for the population need the weights in the file.",
        "use plain": "Values are those collected; missing values are empty.",
        "documented": "How far tables of this file deviate",
        "documented note": (
            "The records are not those collected: they were made so that no combination of values "
            "is rare and the tables named below are close to those of the original. Cells of "
            "these tables that are not empty in the original deviate by {largest} at most; the "
            "larger a cell, the smaller its relative deviation. Deviations of other tables are "
            "not known."
        ),
        "size from": "From",
        "size to": "To",
        "size cells": "Table cells",
        "size largest": "Largest deviation",
        "size mean": "Mean deviation",
        "controlled tables": "Controlled tables",
        "counted of": "{table}, counting {counter}",
        "table total": "total",
        # the office's own report
        "office": "Disclosure control of microdata",
        "risk": "Risk before and after",
        "risk note": (
            "By the keys {keys}. A missing value agrees with every value. Risks are {basis}."
        ),
        "basis weighted": "estimated with the sampling weights",
        "basis census": "one over the number of records that agree: without weights, the file "
        "counts as everybody there is",
        "figure": "Figure",
        "before": "Before",
        "after": "After",
        "uniques": "Records that nobody agrees with",
        "below": "Records that agree with fewer than {k}, themselves included",
        "below shown": "The same where missing values agree with nothing (k = {k})",
        "expected": "Expected number of recognised records",
        "rate": "Expected share of recognised records",
        "largest": "Largest risk of a record",
        "households": "Expected number of households with a recognised member",
        "no risk": "There are no released keys, so no risk was computed.",
        "frequencies": "Records by how many agree with them",
        "agreeing": "Agreeing records",
        "and more": "{low} and more",
        "steps": "What was done, step by step",
        "no steps": "No method was applied.",
        "step": "Step",
        "method": "Method",
        "arguments": "Arguments",
        "reported": "Reported",
        "changes": "Categories and missing values by variable",
        "categories before": "Values before",
        "categories after": "Values after",
        "missing before": "Missing before",
        "missing after": "Missing after",
        "lost values": "Newly missing",
        "no changes": "No released variable was changed.",
        "riskiest": "Largest remaining risks",
        "riskiest note": "Combinations of keys; an empty field is a missing value.",
        "combination records": "Records",
        "combination frequency": "Agreeing",
        "combination risk": "Risk",
        "roles": "Roles and release",
        "role": "Role",
        "columns": "Columns",
    },
    "de": {
        "public": "Beschreibung veröffentlichter Einzeldaten",
        "file summary": "Was diese Datei enthält",
        "records": "Datensätze",
        "variables": "Merkmale",
        "gaps": "Fehlende Werte",
        "intro": (
            "Jede Zeile ist ein Datensatz: eine Person, ein Haushalt oder ein Unternehmen. Die "
            "Datei ist so geschützt, dass diese schwer wiederzuerkennen sind; auszuwerten ist sie "
            "wie unten beschrieben."
        ),
        "table variables": "Merkmale",
        "variable": "Merkmal",
        "kind": "Art",
        "distinct": "Verschiedene Werte",
        "values": "Werte",
        "missing": "Fehlend",
        "missing share": "Anteil fehlend",
        "text": "Text",
        "whole": "ganze Zahl",
        "decimal": "Zahl",
        "date": "Datum oder Zeit",
        "logical": "ja oder nein",
        "from to": "{low} bis {high}",
        "many": "…",
        "nothing": "keine",
        "protection": "Wie sie geschützt wurde",
        "unprotected": "Kein Wert wurde verändert; direkt identifizierende Merkmale fehlen.",
        "recoded": "Zu gröberen Kategorien zusammengefasst:",
        "suppressed": "Einzelne Werte gesperrt:",
        "randomised": "Zufällig verändert:",
        "aggregated": "Durch Mittelwerte von Gruppen von Datensätzen ersetzt:",
        "noisy": "Mit Zufallsfehlern überlagert:",
        "exchanged": "Zwischen Datensätzen vertauscht:",
        "cut": "Extreme Werte gekappt:",
        "replaced": "Neu gebildet, kein Datensatz ist einer der Ausgangsdaten:",
        "changed": "Verändert:",
        "order shuffled": "Die Reihenfolge der Datensätze ist zufällig und bedeutet nichts.",
        "order kept": "Die Datensätze stehen in der Reihenfolge der Ausgangsdatei.",
        "use": "Was bei Auswertungen zu beachten ist",
        "use suppressed": (
            "Werte dieser Merkmale fehlen nicht zufällig: Seltenes wurde häufiger gesperrt. Lässt "
            "man diese Datensätze weg, verzerrt das Ergebnisse; besser gelten fehlende Werte als "
            "eigene Kategorie oder werden aus den anderen Merkmalen imputiert. Manche können "
            "schon vorher gefehlt haben."
        ),
        "use randomised": (
            "Einzelne Werte dieser Merkmale können absichtlich falsch sein. Verteilungen und "
            "Zusammenhänge kommen denen der Ausgangsdaten nahe, aber Schlüsse auf einzelne "
            "Datensätze sind nicht möglich, und Varianzen und Tests sollten die Veränderungen "
            "berücksichtigen."
        ),
        "use aggregated": (
            "Die Werte dieser Merkmale sind Mittelwerte von Gruppen von Datensätzen. Mittelwerte "
            "kommen denen der Ausgangsdaten nahe, aber Varianzen sind kleiner, und Zusammenhänge "
            "können enger erscheinen, als sie sind; Schlüsse auf einzelne Datensätze sind nicht "
            "möglich."
        ),
        "use noisy": (
            "Die Werte dieser Merkmale tragen zufällige Fehler. Mittelwerte und Zusammenhänge "
            "kommen denen der Ausgangsdaten nahe, Varianzen können größer und Zusammenhänge "
            "schwächer sein; auch unmögliche Werte, etwa negative, können vorkommen. Schlüsse auf "
            "einzelne Datensätze sind nicht möglich."
        ),
        "use exchanged": (
            "Manche Datensätze enthalten Werte anderer. Jeder Wert kommt so oft vor wie in den "
            "Ausgangsdaten, aber Zusammenhänge mit anderen Merkmalen sind schwächer, und Schlüsse "
            "auf einzelne Datensätze sind nicht möglich."
        ),
        "use cut": (
            "Extreme Werte dieser Merkmale sind durch weniger extreme ersetzt: Varianzen, größte "
            "und kleinste Werte sind dem Betrag nach zu klein."
        ),
        "use replaced": (
            "Jede Kombination von Werten kommt gar nicht oder mehrfach vor, wie oft auch immer in "
            "den Ausgangsdaten. Alle Tabellen passen zusammen, aber Häufigkeiten weichen um kleine "
            "Zahlen ab, bei großen Feldern verhältnismäßig am wenigsten. Was hier nicht vorkommt, "
            "kann es in den Ausgangsdaten; Schlüsse auf einzelne Datensätze sind nicht möglich."
        ),
        "use recoded": (
            "Die Kategorien sind gröber als erhoben; feinere Ergebnisse sind nicht möglich."
        ),
        "use changed": (
            "Die Werte dieser Merkmale sind nicht die erhobenen; Schlüsse auf einzelne Datensätze "
            "sind nicht möglich."
        ),
        "use weight": (
            "Ergebnisse für die Grundgesamtheit brauchen die Hochrechnungsfaktoren der Datei."
        ),
        "use plain": "Die Werte sind die erhobenen; fehlende Werte sind leer.",
        "documented": "Wie weit Tabellen aus dieser Datei abweichen",
        "documented note": (
            "Die Datensätze sind nicht die erhobenen: Sie sind so gebildet, dass keine "
            "Kombination von Werten selten ist und die unten genannten Tabellen denen der "
            "Ausgangsdaten nahekommen. Felder dieser Tabellen, die in den Ausgangsdaten nicht leer "
            "sind, weichen um höchstens {largest} ab; je größer ein Feld, desto kleiner seine "
            "relative Abweichung. Wie weit andere Tabellen abweichen, ist nicht bekannt."
        ),
        "size from": "Von",
        "size to": "Bis",
        "size cells": "Tabellenfelder",
        "size largest": "Größte Abweichung",
        "size mean": "Mittlere Abweichung",
        "controlled tables": "Kontrollierte Tabellen",
        "counted of": "{table}, gezählt wird {counter}",
        "table total": "insgesamt",
        "office": "Geheimhaltung von Einzeldaten",
        "risk": "Risiko vorher und nachher",
        "risk note": (
            "Nach den Schlüsseln {keys}. Ein fehlender Wert stimmt mit jedem überein. Risiken "
            "sind {basis}."
        ),
        "basis weighted": "mit den Hochrechnungsfaktoren geschätzt",
        "basis census": "eins durch die Zahl übereinstimmender Datensätze: Ohne "
        "Hochrechnungsfaktoren gilt die Datei als vollständig",
        "figure": "Kennzahl",
        "before": "Vorher",
        "after": "Nachher",
        "uniques": "Datensätze, mit denen kein anderer übereinstimmt",
        "below": "Datensätze, mit denen (sich selbst eingerechnet) weniger als {k} übereinstimmen",
        "below shown": "Ebenso, wenn fehlende Werte mit nichts übereinstimmen (k = {k})",
        "expected": "Erwartete Zahl erkannter Datensätze",
        "rate": "Erwarteter Anteil erkannter Datensätze",
        "largest": "Größtes Risiko eines Datensatzes",
        "households": "Erwartete Zahl der Haushalte mit einem erkannten Mitglied",
        "no risk": "Es sind keine Schlüssel enthalten, daher ist kein Risiko berechnet.",
        "frequencies": "Datensätze danach, wie viele mit ihnen übereinstimmen",
        "agreeing": "Übereinstimmende",
        "and more": "{low} und mehr",
        "steps": "Was getan wurde, Schritt für Schritt",
        "no steps": "Kein Verfahren wurde angewandt.",
        "step": "Schritt",
        "method": "Verfahren",
        "arguments": "Argumente",
        "reported": "Ergebnis",
        "changes": "Kategorien und fehlende Werte nach Merkmalen",
        "categories before": "Werte vorher",
        "categories after": "Werte nachher",
        "missing before": "Fehlend vorher",
        "missing after": "Fehlend nachher",
        "lost values": "Neu fehlend",
        "no changes": "Kein enthaltenes Merkmal wurde verändert.",
        "riskiest": "Größte verbleibende Risiken",
        "riskiest note": "Kombinationen der Schlüssel; ein leeres Feld ist ein fehlender Wert.",
        "combination records": "Datensätze",
        "combination frequency": "Übereinstimmende",
        "combination risk": "Risiko",
        "roles": "Rollen und Freigabe",
        "role": "Rolle",
        "columns": "Spalten",
    },
}


def microdata_words(language: str) -> dict[str, str]:
    """The texts of a language.

    Raises
    ------
    InputError
        The language is not ``"en"`` or ``"de"``.
    """
    return {**words_in(language), **_WORDS.get(language, {})}
