"""German for what is raised in English: template of a message → the same in German.

Gaps are ``{}`` in English and numbered in German. A test compares the templates with those in the
code, so that none of them outlives its message.
"""

from __future__ import annotations

GERMAN: dict[str, str] = {
    # ── job files ───────────────────────────────────────────────────────────────────────
    "{}, line {}: {}": "{0}, Zeile {1}: {2}",
    "{}, table {}: {}": "{0}, Tabelle {1}: {2}",
    "{}, line {}: not UTF-8; save the job file as UTF-8": (
        "{0}, Zeile {1}: kein UTF-8; die Auftragsdatei als UTF-8 speichern"
    ),
    "{}, line {}: not valid TOML: {}": "{0}, Zeile {1}: kein gültiges TOML: {2}",
    "there is no job file {}; diskret protect --template prints one": (
        "es gibt keine Auftragsdatei {0}; diskret protect --template gibt eine aus"
    ),
    "unknown key {} in {}; did you mean '{}'? Admissible: {}": (
        "unbekannter Schlüssel {0} in {1}; gemeint war wohl '{2}'. Zulässig: {3}"
    ),
    "unknown key {} in {}. Admissible: {}": "unbekannter Schlüssel {0} in {1}. Zulässig: {2}",
    "the key '{}' is missing in {}": "der Schlüssel '{0}' fehlt in {1}",
    "the job file": "der Auftragsdatei",
    "'{}' in {} must be {}, not {}": "'{0}' in {1} muss {2} sein, nicht {3}",
    "text in quotes": "Text in Anführungszeichen",
    "a list of texts in quotes": "eine Liste von Texten in Anführungszeichen",
    "true or false": "true oder false",
    "'{}' holds {} twice": "'{0}' enthält {1} doppelt",
    "'{}': the file {} {}": "'{0}': die Datei {1} {2}",
    "does not exist": "gibt es nicht",
    "there must be at least one [[tables]]": "es muss wenigstens eine [[tables]] geben",
    "{} must name at least one rule: {}": "{0} muss wenigstens eine Regel nennen: {1}",
    "the rule '{}' needs a 'value', not a count": (
        "die Regel '{0}' braucht einen 'value', keine Anzahl"
    ),
    "'p' must be below 'q', but they are {} and {}": (
        "'p' muss kleiner als 'q' sein, sie sind aber {0} und {1}"
    ),
    "'level' is for counts; the table has a 'value': use 'range'": (
        "'level' ist für Anzahlen; die Tabelle hat einen 'value': 'range' benutzen"
    ),
    "of = \"{}\" needs '{}' in {}": "of = \"{0}\" braucht '{1}' in {2}",
    "'decimals' needs a 'value'; counts have none": (
        "'decimals' braucht einen 'value'; Anzahlen haben keine Nachkommastellen"
    ),
    "'by' must name at least one column, e.g. by = {{ region = \"flat\" }}": (
        "'by' muss wenigstens eine Spalte nennen, z. B. by = {{ region = \"flat\" }}"
    ),
    'the suffix of {} does not tell the format; add format = "parquet", "csv" or "fixed"': (
        'die Endung von {0} verrät das Format nicht; format = "parquet", "csv" oder "fixed" angeben'
    ),
    "the name '{}' is taken by the table in line {}": (
        "der Name '{0}' gehört schon der Tabelle in Zeile {1}"
    ),
    # ── files and frames ────────────────────────────────────────────────────────────────
    "there are no records, maybe a header and nothing below it; is it the right file?": (
        "es gibt keine Datensätze, vielleicht nur eine Kopfzeile; ist es die richtige Datei?"
    ),
    "there are no cells, maybe a header and nothing below it; is it the right file?": (
        "es gibt keine Felder, vielleicht nur eine Kopfzeile; ist es die richtige Datei?"
    ),
    "{}: there is no such file; {}": "{0}: diese Datei gibt es nicht; {1}",
    "{}: is a folder, not a file; {}": "{0}: ist ein Ordner, keine Datei; {1}",
    "{}: the suffix {} is not known; {}": "{0}: die Endung {1} ist nicht bekannt; {2}",
    "{}: is not UTF-8 text; {}": "{0}: ist kein UTF-8-Text; {1}",
    "{}: cannot be read ({})": "{0}: lässt sich nicht lesen ({1})",
    "{}: cannot be read as a Parquet file ({})": (
        "{0}: lässt sich nicht als Parquet-Datei lesen ({1})"
    ),
    "{}: line 1 is empty; it must hold the column names": (
        "{0}: Zeile 1 ist leer; dort müssen die Spaltennamen stehen"
    ),
    "there is no column {}; the columns are {}; did you mean {}?": (
        "es gibt keine Spalte {0}; die Spalten sind {1}; gemeint war wohl {2}"
    ),
    "there is no column {}; the columns are {}": ("es gibt keine Spalte {0}; die Spalten sind {1}"),
    "{} codes in {} are missing (first in row {}); give them a category of their own or leave "
    "these rows out": (
        "{0} Codes in {1} fehlen (zuerst in Zeile {2}); eine eigene Kategorie vergeben oder diese "
        "Zeilen weglassen"
    ),
    "{} values in {} are missing (first in row {}); fill them in or leave these rows out": (
        "{0} Werte in {1} fehlen (zuerst in Zeile {2}); ergänzen oder diese Zeilen weglassen"
    ),
    "the values in {} are not numbers ({})": "die Werte in {0} sind keine Zahlen ({1})",
    "column {} holds no numbers but {}": "die Spalte {0} enthält keine Zahlen, sondern {1}",
    "column {} holds floating point numbers ({}), which have no unique spelling as codes; turn "
    "them into text or whole numbers first": (
        "die Spalte {0} enthält Gleitkommazahlen ({1}), die sich nicht eindeutig als Codes "
        "schreiben lassen; zuerst in Text oder ganze Zahlen umwandeln"
    ),
    '{}: no code in column {}; give them a code of their own, e.g. "unknown", or leave these '
    "records out": (
        '{0}: kein Code in der Spalte {1}; einen eigenen vergeben, z. B. "unbekannt", oder diese '
        "Datensätze weglassen"
    ),
    "{} not in the hierarchy; add them to it or correct the records": (
        "{0} nicht in der Hierarchie; dort ergänzen oder die Datensätze berichtigen"
    ),
    "column {} has more than {} different codes, so it classifies nothing; is it the right "
    "column?": (
        "die Spalte {0} hat mehr als {1} verschiedene Codes und gliedert deshalb nichts; ist es "
        "die richtige Spalte?"
    ),
    "no record satisfies where=: {}": "kein Datensatz erfüllt where: {0}",
    # ── hierarchies ─────────────────────────────────────────────────────────────────────
    "{}: the file holds no codes": "{0}: die Datei enthält keine Codes",
    "codes with more than one parent ({}): {}; in a tree every code belongs to one parent": (
        "Codes mit mehr als einem Elterncode ({0}): {1}; in einem Baum gehört jeder Code zu einem"
    ),
    "parents that are no codes ({}): {}; add a row for each of them, e.g. with the parent {}": (
        "Elterncodes, die keine Codes sind ({0}): {1}; für jeden eine Zeile ergänzen, z. B. mit "
        "dem Elterncode {2}"
    ),
    "the parents form a cycle: {}; in a tree every code leads up to the total": (
        "die Elterncodes bilden einen Kreis: {0}; in einem Baum führt jeder Code zur Summe"
    ),
    # ── keys, folders, proof ────────────────────────────────────────────────────────────
    "{} can be read by others; run: chmod 600 {}": (
        "{0} kann von anderen gelesen werden; ausführen: chmod 600 {1}"
    ),
    "{} is not a diskret key file; restore it from a backup": (
        "{0} ist keine Schlüsseldatei von diskret; aus einer Sicherung zurückholen"
    ),
    "the key in {} is damaged; restore it from a backup": (
        "der Schlüssel in {0} ist beschädigt; aus einer Sicherung zurückholen"
    ),
    "{}: this is a file, not a folder; choose another place": (
        "{0}: das ist eine Datei, kein Ordner; einen anderen Ort wählen"
    ),
    "{}: the folder holds files that are not part of a release written before: {}{}; move them "
    "elsewhere or choose another folder; nothing was changed": (
        "{0}: der Ordner enthält Dateien, die zu keiner früheren Veröffentlichung gehören: {1}{2}; "
        "woandershin verschieben oder einen anderen Ordner wählen; nichts wurde geändert"
    ),
    "nothing can be written in {} ({}); create that folder, or choose another place": (
        "in {0} kann nichts geschrieben werden ({1}); den Ordner anlegen oder einen anderen Ort "
        "wählen"
    ),
    # ── microdata ───────────────────────────────────────────────────────────────────────
    "step {}, {}: {}": "Schritt {0}, {1}: {2}",
    "file {}: {} of {} records are expected to be recognised, a rate of {} and not at most {}; "
    "suppress values or recode keys first, or allow more": (
        "Datei {0}: {1} von {2} Datensätzen werden erwartungsgemäß erkannt, ein Anteil von {3} und "
        "nicht höchstens {4}; zuerst Werte sperren oder Schlüssel vergröbern oder mehr erlauben"
    ),
    "the values of {} are text ({}), which has no order of its own; say what comes after what: "
    "orders={{{}: [...]}} for the microdata, or an ordered categorical": (
        "die Werte von {0} sind Text ({1}), der keine Reihenfolge hat; angeben, was auf was folgt: "
        "orders={{{2}: [...]}} bei den Mikrodaten oder eine geordnete Kategorie"
    ),
    # ── warnings ────────────────────────────────────────────────────────────────────────
    "the ({},k) dominance rule lets a competitor estimate the largest contribution, and is "
    "obsolete by decision of the heads of the German statistical offices (Rothe 2015, footnote "
    "1); use PPercent, or quiet=True if it is required": (
        "die ({0},k)-Dominanzregel lässt einen Konkurrenten den größten Beitrag schätzen und gilt "
        "nach Beschluss der Leiter der Statistischen Ämter als veraltet (Rothe 2015, Fußnote 1); "
        "PPercent benutzen, oder quiet=True, falls sie verlangt ist"
    ),
    # ── parts of messages ───────────────────────────────────────────────────────────────
    "column {} (and {} more)": "Spalte {0} (und {1} weitere)",
    "column '{}'": "Spalte '{0}'",
    "value {} (and {} more)": "Wert {0} (und {1} weitere)",
    # ── tasks that take a while ─────────────────────────────────────────────────────────
    "attack": "Angriff",
    "choices": "Auswahl",
    "clusters": "Cluster",
    "count combinations": "Kombinationen zählen",
    "explain": "Begründen",
    "generalise": "Verallgemeinern",
    "groups": "Gruppen",
    "key risk": "Risiko der Schlüssel",
    "make safe": "Sicher machen",
    "noise": "Überlagern",
    "perturb": "Überlagern der Anzahlen",
    "prove": "Beweisen",
    "publish again": "Neu veröffentlichen",
    "recode": "Vergröbern",
    "round": "Runden",
    "search: largest {}, mean {}": "Suche: größte {0}, im Mittel {1}",
    "steps": "Schritte",
    "suppress": "Sperren",
    "tabulate": "Auszählen",
    "write records": "Datensätze schreiben",
}
