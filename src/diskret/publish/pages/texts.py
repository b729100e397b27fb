"""What the reports say, in English and German, and how they write numbers and codes."""

from __future__ import annotations

from decimal import Decimal

from diskret.errors import InputError
from diskret.tables import Dimension, Published

#: Language → key → text. Braces are filled in with `str.format`.
WORDS: dict[str, dict[str, str]] = {
    "en": {
        "language": "en",
        "by": "by",
        "and": "and",
        "total": "Total",
        "count": "Count",
        "units": "Units",
        "public": "Publication report",
        "office": "Disclosure control report",
        "confidential": "Confidential: for use in the office only",
        "summary": "What was published",
        "measure": "Values",
        "table": "Table",
        "dimensions": "Classified by",
        "vintage": "Period",
        "where": "Only records with",
        "or": "or",
        "to": "to",
        "rounding": "Rounded to",
        "changed": "Confidentiality",
        "changed rounding": "all values are rounded",
        "changed cell_key": "values are changed at random by small amounts",
        "changed invariant": "values are changed at random by small amounts",
        "changed adjustment": "some values are changed",
        "checked": "Checked",
        "claimed and checked": "Claimed and checked",
        "shown": "Published with the table",
        "in place of values": "Suppressed cells",
        "intervals shown": "published as intervals",
        "codes": "{name} ({count} codes)",
        "cells": "Cells",
        "cells, totals included": "Cells, totals included",
        "published": "Published",
        "suppressed": "Suppressed",
        "primary": "Primary",
        "secondary": "Secondary",
        "empty": "Empty",
        "share": "Share suppressed",
        "losses": "Where cells are suppressed",
        "losses note": (
            "By depth in each classification, 0 being the total. The share is that of all cells "
            "that are not empty."
        ),
        "depth": "Depth",
        "classification": "Classification",
        "map": "Map of the table",
        "map rows": "Rows: {rows}.",
        "map columns": "Columns: {columns}.",
        "map order": "Within each group, from left to right: {codes}.",
        "map total": "All others at their total: {names}.",
        "map part": "Shown are {shown} of {all} codes of {name}.",
        "map alt": (
            "Map of {rows} rows by {columns} columns: {counts}. The table itself is in the CSV "
            "file."
        ),
        "intervals": "What can be computed about suppressed cells",
        "intervals note": (
            "Whoever knows the published table and its sums can enclose every suppressed value "
            "in an interval. The width is given in percent of the farther end of the interval; "
            "the bar shows the interval on a scale from zero to that end."
        ),
        "intervals office": (
            "The intervals are those of the attacker the protection was proven against. The mark "
            "in the bar is the true value."
        ),
        "widths": "All suppressed cells by the width of their interval",
        "width": "Width",
        "number": "Cells",
        "unbounded": "unbounded",
        "all intervals": "All intervals, narrowest first",
        "some intervals": "The {narrow} narrowest and the {wide} widest of {all} intervals",
        "cell": "Cell",
        "lower": "At least",
        "upper": "At most",
        "interval": "Interval",
        "interval alt": "from {lower} to {upper}",
        "value alt": "from {lower} to {upper}, true value {value}",
        "any": "any",
        "more": "… {count} more …",
        "no intervals": "No cell of this table is suppressed.",
        "certificate": "Certificate",
        "attacker": "Attacker",
        "outsider": "an outsider who knows everything published in this table and its sums",
        "contributor": "somebody who has contributed and takes out its own contributions",
        "informed": "somebody who knows more than what is published in this table",
        "claimed": "Claimed and proven",
        "not_claimed": "Not claimed",
        "files": "Files that belong to this report",
        "files note": (
            "SHA-256 digests. The certificate lists them too, with that of this page; "
            "“diskret verify” or “sha256sum” compares them."
        ),
        "file": "File",
        "digest": "SHA-256",
        "made": "Made with {software}",
        "lost": "What was lost",
        "lost note": (
            "By depth in each classification, 0 being the total. Values are added over all cells "
            "of that depth, totals of the other classifications included; shares are those of "
            "the cells that are not empty."
        ),
        "lost value": "Value suppressed",
        "lost share": "Share of value",
        "reasons": "Why cells are primary",
        "reason": "Rule",
        "positions": "Where the true value lies in its interval",
        "positions note": (
            "0 % is the lower end, 100 % the upper. Values heaped at one place of their "
            "intervals could be guessed."
        ),
        "position": "Position",
        "fixed": "no position (an end is open)",
        "status": "Status",
        "value": "True value",
        "levels": "Level below, above",
        "settings": "Settings and proof",
        "setting": "Setting",
        "why": "Why each secondary is hidden",
        "why note": (
            "Each secondary in turn is imagined to be published, all else as it is. Listed are "
            "the cells that would then miss what is required of them, and what the attacker of "
            "the certificate could compute about them. The same is said on the map where the "
            "pointer rests on a cell."
        ),
        "why protects": "protects",
        "why hides": "hides another secondary",
        "why together": "needed only together with others",
        "why elsewhere": "needed by a cell of another table",
        "why contributors": "hidden for what contributors could tell otherwise",
        "why not examined": "not examined",
        "why left": (
            "{count} secondaries were not examined: the limit of the work was reached, or the "
            "attack found no table to start from. "
            "result.explain() has no limit unless one is given."
        ),
        "why others": "and {count} more",
        "why alone": (
            "If this cell alone were published, every requirement would still be met. It is "
            "needed only as long as others are published, or the pattern could do without it."
        ),
        "why needed by": "Needed by",
        "why known": "Without it, known would be",
        "why more": "{count} more are in the file of explanations (CSV).",
        "why required": "Must stay possible",
        "exact value": "the exact value",
        "no exact value": "no exact value",
    },
    "de": {
        "language": "de",
        "by": "nach",
        "and": "und",
        "total": "Insgesamt",
        "count": "Anzahl",
        "units": "Einheiten",
        "public": "Bericht zur Veröffentlichung",
        "office": "Bericht zur Geheimhaltung",
        "confidential": "Vertraulich: nur für den Gebrauch im Amt",
        "summary": "Was veröffentlicht wurde",
        "measure": "Werte",
        "table": "Tabelle",
        "dimensions": "Gliederung",
        "vintage": "Berichtszeit",
        "where": "Nur Einheiten mit",
        "or": "oder",
        "to": "bis",
        "rounding": "Gerundet auf",
        "changed": "Geheimhaltung",
        "changed rounding": "alle Werte sind gerundet",
        "changed cell_key": "die Werte sind zufällig leicht verändert",
        "changed invariant": "die Werte sind zufällig leicht verändert",
        "changed adjustment": "einige Werte sind verändert",
        "checked": "Geprüft",
        "claimed and checked": "Zugesichert und geprüft",
        "shown": "Mit der Tabelle veröffentlicht",
        "in place of values": "Gesperrte Felder",
        "intervals shown": "als Intervalle veröffentlicht",
        "codes": "{name} ({count} Schlüssel)",
        "cells": "Felder",
        "cells, totals included": "Felder einschließlich Summen",
        "published": "Veröffentlicht",
        "suppressed": "Gesperrt",
        "primary": "Primär",
        "secondary": "Sekundär",
        "empty": "Leer",
        "share": "Anteil gesperrt",
        "losses": "Wo Felder gesperrt sind",
        "losses note": (
            "Nach der Gliederungstiefe, 0 ist die Summe. Der Anteil bezieht sich auf alle "
            "Felder, die nicht leer sind."
        ),
        "depth": "Tiefe",
        "classification": "Gliederung",
        "map": "Karte der Tabelle",
        "map rows": "Zeilen: {rows}.",
        "map columns": "Spalten: {columns}.",
        "map order": "In jeder Gruppe von links nach rechts: {codes}.",
        "map total": "Alle anderen als Summe: {names}.",
        "map part": "Gezeigt sind {shown} von {all} Schlüsseln von {name}.",
        "map alt": (
            "Karte mit {rows} Zeilen und {columns} Spalten: {counts}. Die Tabelle selbst steht "
            "in der CSV-Datei."
        ),
        "intervals": "Was sich über gesperrte Felder errechnen lässt",
        "intervals note": (
            "Wer die veröffentlichte Tabelle und ihre Summen kennt, kann jeden gesperrten Wert "
            "in ein Intervall einschließen. Die Breite ist in Prozent des von null "
            "entfernteren Endes angegeben; der Balken zeigt das Intervall auf einer Skala von "
            "null bis zu diesem Ende."
        ),
        "intervals office": (
            "Die Intervalle sind die des Angreifers, gegen den der Schutz bewiesen ist. Die "
            "Marke im Balken ist der wahre Wert."
        ),
        "widths": "Alle gesperrten Felder nach der Breite ihres Intervalls",
        "width": "Breite",
        "number": "Felder",
        "unbounded": "unbegrenzt",
        "all intervals": "Alle Intervalle, die engsten zuerst",
        "some intervals": "Die {narrow} engsten und die {wide} weitesten von {all} Intervallen",
        "cell": "Feld",
        "lower": "Mindestens",
        "upper": "Höchstens",
        "interval": "Intervall",
        "interval alt": "von {lower} bis {upper}",
        "value alt": "von {lower} bis {upper}, wahrer Wert {value}",
        "any": "beliebig",
        "more": "… {count} weitere …",
        "no intervals": "In dieser Tabelle ist kein Feld gesperrt.",
        "certificate": "Zertifikat",
        "attacker": "Angreifer",
        "outsider": "Außenstehende, die alles in dieser Tabelle Veröffentlichte und ihre Summen "
        "kennen",
        "contributor": "jemand, der selbst beigetragen hat und seine eigenen Beiträge abzieht",
        "informed": "jemand, der mehr weiß, als in dieser Tabelle veröffentlicht ist",
        "claimed": "Zugesichert und bewiesen",
        "not_claimed": "Nicht zugesichert",
        "files": "Dateien, zu denen dieser Bericht gehört",
        "files note": (
            "SHA-256-Prüfsummen. Das Zertifikat nennt sie ebenfalls, auch die dieser Seite; "
            "„diskret verify“ oder „sha256sum“ vergleicht sie."
        ),
        "file": "Datei",
        "digest": "SHA-256",
        "made": "Erstellt mit {software}",
        "lost": "Was verloren ging",
        "lost note": (
            "Nach der Gliederungstiefe, 0 ist die Summe. Werte sind über alle Felder dieser "
            "Tiefe addiert, Summen der anderen Gliederungen eingeschlossen; Anteile beziehen "
            "sich auf die Felder, die nicht leer sind."
        ),
        "lost value": "Wert gesperrt",
        "lost share": "Anteil am Wert",
        "reasons": "Warum Felder primär gesperrt sind",
        "reason": "Regel",
        "positions": "Wo der wahre Wert in seinem Intervall liegt",
        "positions note": (
            "0 % ist das untere Ende, 100 % das obere. Häufen sich die Werte an einer Stelle "
            "ihrer Intervalle, lassen sie sich erraten."
        ),
        "position": "Lage",
        "fixed": "keine Lage (ein Ende ist offen)",
        "status": "Status",
        "value": "Wahrer Wert",
        "levels": "Abstand nach unten, oben",
        "settings": "Einstellungen und Beweis",
        "setting": "Einstellung",
        "why": "Warum jedes Sekundärfeld gesperrt ist",
        "why note": (
            "Für jedes Sekundärfeld ist angenommen, es allein würde veröffentlicht und alles "
            "andere bliebe. Aufgeführt sind die Felder, denen dann die verlangte Ungewissheit "
            "fehlt, und was der Angreifer des Zertifikats über sie errechnen könnte. In der "
            "Karte steht dasselbe, wo der Mauszeiger auf einem Feld ruht."
        ),
        "why protects": "schützt",
        "why hides": "verdeckt ein anderes Sekundärfeld",
        "why together": "nur zusammen mit anderen nötig",
        "why elsewhere": "nötig für ein Feld einer anderen Tabelle",
        "why contributors": "gesperrt wegen dessen, was Beitragende sonst erkennen könnten",
        "why not examined": "nicht untersucht",
        "why left": (
            "{count} Sekundärfelder wurden nicht untersucht: Die Grenze des Aufwands war "
            "erreicht, oder der Angriff fand keine Tabelle, von der er ausgehen kann. "
            "result.explain() hat keine Grenze, wenn keine angegeben wird."
        ),
        "why others": "und {count} weitere",
        "why alone": (
            "Würde dieses Feld allein veröffentlicht, wären alle Anforderungen weiter erfüllt. "
            "Es ist nur nötig, solange andere veröffentlicht sind, oder das Sperrmuster käme "
            "ohne es aus."
        ),
        "why needed by": "Nötig für",
        "why known": "Ohne die Sperrung bekannt",
        "why more": "{count} weitere stehen in der Datei der Begründungen (CSV).",
        "why required": "Muss möglich bleiben",
        "exact value": "der genaue Wert",
        "no exact value": "kein genauer Wert",
    },
}


_RULES = {
    "en": {
        "apriori": "set by hand",
        "dominance": "dominance rule",
        "group_disclosure": "group disclosure",
        "marginal_value": "marginal value rule",
        "minimum_frequency": "minimum frequency",
        "p_percent": "p% rule",
        "pq": "pq rule",
        "request": "request",
        "zero": "zero rule",
    },
    "de": {
        "apriori": "von Hand gesetzt",
        "dominance": "Dominanzregel",
        "group_disclosure": "Gruppenaufdeckung",
        "marginal_value": "Randwertregel",
        "minimum_frequency": "Mindestfallzahl",
        "p_percent": "p-%-Regel",
        "pq": "(p, q)-Regel",
        "request": "auf Antrag",
        "zero": "Nullwertregel",
    },
}


def rule_name(reason: str, language: str) -> str:
    """What a rule is called in a report; a rule of the office's own by the name it has.

    Examples
    --------
    >>> rule_name("p_percent", "de"), rule_name("own_rule", "de")
    ('p-%-Regel', 'own_rule')
    """
    return _RULES[language].get(reason, reason)


def words_in(language: str) -> dict[str, str]:
    """The texts of a language.

    Raises
    ------
    InputError
        The language is not ``"en"`` or ``"de"``.
    """
    if language not in WORDS:
        raise InputError(f"there are no texts in {language!r}; choose 'en' or 'de'")
    return WORDS[language]


def number(value: float | None, language: str, decimals: int = 0) -> str:
    r"""A value in published units as readers of the language write it; None is a dash.

    Examples
    --------
    >>> number(-1234567.5, "en", 2), number(1234, "de")
    ('-1,234,567.50', '1\xa0234')
    """
    if value is None:
        return "–"
    text = f"{Decimal(str(value)):,.{decimals}f}"
    if language == "de":
        return text.translate({ord(","): "\N{NO-BREAK SPACE}", ord("."): ","})
    return text


def percent(share: float | None, language: str) -> str:
    r"""A share as percent with one decimal; None is a dash.

    Examples
    --------
    >>> percent(0.3194, "de")
    '31,9\xa0%'
    """
    return "–" if share is None else f"{number(100 * share, language, 1)}\N{NO-BREAK SPACE}%"


def code_text(dimension: Dimension, position: int, words: dict[str, str]) -> str:
    """What stands for a code: "code label", but the label alone for the total."""
    tree = dimension.hierarchy
    code = tree.codes[position]
    label = tree.label(code, words["language"])
    if position == 0:
        return label or (words["total"] if code == "Total" else code)
    if f"{label} ".startswith(f"{code} "):
        return label
    return f"{code} {label}".rstrip()


def heading(published: Published, title: str | None, words: dict[str, str]) -> str:
    """The title given, or "<measure> by <dimensions>"."""
    if title is not None:
        return title
    *first, last = [d.name for d in published.dimensions]
    by = f"{', '.join(first)} {words['and']} {last}" if first else last
    return f"{measure(published, words)} {words['by']} {by}"


def measure(published: Published, words: dict[str, str]) -> str:
    """What the values are called."""
    counted = published.frequency and published.measure in ("count", "units")
    return words[published.measure] if counted else published.measure
