"""What a checklist says, in English and German."""

from __future__ import annotations

from collections.abc import Mapping

#: Level → what it means, by whom such data may be used, and where that stands.
LEVELS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "formal": (
            "Formal anonymity: no direct identifiers. Such data may be used for independent "
            "scientific research inside specially secured areas of the statistical offices only "
            "(§ 16 (6) no. 2 BStatG)."
        ),
        "factual": (
            "Factual anonymity: values can be attributed to somebody only with a disproportionate "
            "effort of time, cost and labour. Such data may be handed over for independent "
            "scientific research (§ 16 (6) no. 1 BStatG)."
        ),
        "absolute": (
            "Absolute anonymity: by reasonable judgement nobody can be recognised, whatever "
            "is known beside. Such data may be given to everybody (§ 16 (1) no. 4 BStatG): "
            "public use files."
        ),
    },
    "de": {
        "formal": (
            "Formale Anonymität: keine direkten Identifikationsmerkmale. Solche Daten dürfen für "
            "unabhängige wissenschaftliche Forschung nur innerhalb speziell abgesicherter Bereiche "
            "der statistischen Ämter genutzt werden (§ 16 Abs. 6 Nr. 2 BStatG)."
        ),
        "factual": (
            "Faktische Anonymität: Angaben lassen sich nur mit einem unverhältnismäßig großen "
            "Aufwand an Zeit, Kosten und Arbeitskraft zuordnen. Solche Daten dürfen für "
            "unabhängige wissenschaftliche Forschung übermittelt werden (§ 16 Abs. 6 Nr. 1 BStatG)."
        ),
        "absolute": (
            "Absolute Anonymität: Nach menschlichem Ermessen ist niemand wiederzuerkennen, gleich "
            "mit welchem Zusatzwissen. Solche Daten dürfen alle erhalten (§ 16 Abs. 1 Nr. 4 "
            "BStatG): Public Use Files."
        ),
    },
}

WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "done": "done",
        "missing": "missing",
        "unknown": "not known",
        "next": "Next",
        "summary": "{done} done, {missing} missing, {unknown} not known.",
        "judgement": (
            "The figures are common ones and no part of the law; whether the level is reached is "
            "for the office to decide."
        ),
    },
    "de": {
        "done": "erledigt",
        "missing": "fehlt",
        "unknown": "nicht bekannt",
        "next": "Weiter",
        "summary": "{done} erledigt, {missing} fehlen, {unknown} nicht bekannt.",
        "judgement": (
            "Die Zahlen sind üblich, stehen aber nicht im Gesetz; ob die Stufe erreicht ist, "
            "entscheidet das Amt."
        ),
    },
}

#: Check → what it is called.
TITLES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "identifiers": "Direct identifiers",
        "id": "Record numbers",
        "free text": "Free text",
        "roles": "Columns without a role",
        "keys": "Keys",
        "population": "Sample or census",
        "region": "Regional detail",
        "uniques": "Sample uniques",
        "k-anonymity": "Records below k",
        "risk": "Expected re-identifications",
        "household": "Households",
        "together": "Who lives together",
        "household size": "Household size",
        "sensitive": "Sensitive variables",
        "numeric": "Numeric variables",
    },
    "de": {
        "identifiers": "Direkte Identifikationsmerkmale",
        "id": "Satznummern",
        "free text": "Freitext",
        "roles": "Spalten ohne Rolle",
        "keys": "Schlüssel",
        "population": "Stichprobe oder Vollerhebung",
        "region": "Regionale Gliederung",
        "uniques": "Einmalige in der Stichprobe",
        "k-anonymity": "Datensätze unter k",
        "risk": "Erwartete Reidentifikationen",
        "household": "Haushalte",
        "together": "Wer zusammenlebt",
        "household size": "Haushaltsgröße",
        "sensitive": "Sensible Merkmale",
        "numeric": "Numerische Merkmale",
    },
}

#: (check, case) → what was found, and what to do next.
SENTENCES: Mapping[str, Mapping[tuple[str, str], tuple[str, str]]] = {
    "en": {
        ("identifiers", "named"): ("Named ({count}): {names}; they never leave.", ""),
        ("identifiers", "none"): (
            "None is named, and no column looks like one.",
            "Name them in identifiers=, if there are any.",
        ),
        ("identifiers", "suspicious"): (
            "Perhaps identifying, by their name or because every record has another value: "
            "{names}.",
            "Name them in identifiers= or id=, or drop them.",
        ),
        ("id", "named"): ("{name} is left out, or replaced by new random numbers.", ""),
        ("id", "none"): ("None is named, so none leaves. Records come in a new order.", ""),
        ("free text", "none"): ("None is released.", ""),
        ("free text", "found"): (
            "Long texts that nearly always differ: {names}.",
            "Take their role away, or recode them into categories with recode().",
        ),
        ("roles", "all"): ("Every column has a role.", ""),
        ("roles", "left"): (
            "{count} have none and do not leave: {names}.",
            "Give them a role, if researchers need them.",
        ),
        ("keys", "named"): ("Named ({count}): {names}.", ""),
        ("keys", "none"): (
            "None is named, so no risk can be computed.",
            "Name in keys= what others may know of a person.",
        ),
        ("population", "weighted"): (
            "A sample: {records} records stand for {persons} persons ({share}).",
            "",
        ),
        ("population", "none"): (
            "There are no weights: the {records} records count as everybody there is.",
            "Name weight= if it is a sample. Releasing a part of the records only lowers the risk.",
        ),
        ("region", "none"): (
            "No key looks like a region.",
            "If one is, see that its smallest area is large enough.",
        ),
        ("region", "coarse"): (
            "The smallest of {count} areas of {name} has {persons} persons.",
            "",
        ),
        ("region", "fine"): (
            "The smallest of {count} areas of {name} has {persons} persons; usual are {limit}.",
            "Combine areas with recode() or generalise().",
        ),
        ("uniques", "none"): ("None of {records} records is unique.", ""),
        ("uniques", "excused"): (
            "{count} of {records} records, but none is likely to be unique in the population.",
            "",
        ),
        ("uniques", "found"): (
            "{count} of {records} records are unique.",
            "Recode keys with recode() or generalise(), then local_suppression().",
        ),
        ("k-anonymity", "none"): ("No record agrees with fewer than {k}.", ""),
        ("k-anonymity", "excused"): (
            "{count} of {records} records agree with fewer than {k}, but their risk is small.",
            "",
        ),
        ("k-anonymity", "found"): (
            "{count} of {records} records agree with fewer than {k}.",
            "local_suppression(k={k}), after coarser categories with recode().",
        ),
        ("risk", "small"): (
            "{expected} records are expected to be recognised ({rate}), at most with risk "
            "{largest}.",
            "",
        ),
        ("risk", "large"): (
            "{expected} records are expected to be recognised ({rate}; usual: {rate_limit}), at "
            "most with risk {largest} (usual: {risk_limit}).",
            "Recode keys, suppress values of risky records, or release a part of the records.",
        ),
        ("risk", "decimals"): (
            "Some key is a number with decimals, of which nearly all differ: {names}.",
            "Group it with recode(breaks=…), or name it in numeric=.",
        ),
        ("household", "none"): (
            "No household is named.",
            "Name household=, if members can be told to live together.",
        ),
        ("household", "small"): (
            "In {expected} households somebody is expected to be recognised ({rate}).",
            "",
        ),
        ("household", "large"): (
            "In {expected} households somebody is expected to be recognised ({rate}; usual: "
            "{rate_limit}).",
            "Recode keys, or leave household numbers out (household=False, the default).",
        ),
        ("together", "hidden"): (
            "No column that is the same for all members of a household gives one back, and no two "
            "or three with many values many of them.",
            "",
        ),
        ("together", "told"): (
            "In {count} of {several} households with several members they share a value that "
            "nobody else has: {names}.",
            "Round it with recode(width=…), give neighbouring records their mean with "
            "microaggregate(method='individual'), or leave it out.",
        ),
        ("household size", "small"): ("No household has {members} members or more.", ""),
        ("household size", "large"): (
            "Households of {members} members or more: {count}, the largest has {most}.",
            "Release no household numbers, and cut off a variable of the size with recode(top=…).",
        ),
        ("sensitive", "none"): (
            "None is named.",
            "Name in sensitive= what nobody must learn.",
        ),
        ("sensitive", "no keys"): (
            "Without keys it is not known who agrees with whom.",
            "Name keys= first.",
        ),
        ("sensitive", "diverse"): (
            "Records with the same keys show at least 2 different values of {names}.",
            "",
        ),
        ("sensitive", "alike"): (
            "Records that agree in all keys only with records of the same value of {names}: "
            "{count}.",
            "Recode keys, or local_suppression() with diversity.",
        ),
        ("numeric", "none"): ("None is released.", ""),
        ("numeric", "changed"): ("All were changed: {names}.", ""),
        ("numeric", "cut"): (
            "The largest value of each of {names} is shared by several records.",
            "",
        ),
        ("numeric", "outliers"): (
            "The largest value is that of one or two records only: {names}.",
            "Cut off with recode(top=…), or change the values (microaggregation, noise).",
        ),
        ("numeric", "exact"): (
            "Exact values, most of them different: {names}.",
            "Round or group them with recode(), or change them (microaggregation, noise).",
        ),
    },
    "de": {
        ("identifiers", "named"): (
            "Benannt ({count}): {names}; sie verlassen nie das Amt.",
            "",
        ),
        ("identifiers", "none"): (
            "Keines ist benannt, und keine Spalte sieht so aus.",
            "In identifiers= benennen, falls es welche gibt.",
        ),
        ("identifiers", "suspicious"): (
            "Vielleicht identifizierend, dem Namen nach oder weil jeder Datensatz einen anderen "
            "Wert hat: {names}.",
            "In identifiers= oder id= benennen oder löschen.",
        ),
        ("id", "named"): (
            "{name} wird weggelassen oder durch neue Zufallsnummern ersetzt.",
            "",
        ),
        ("id", "none"): (
            "Keine ist benannt, also wird keine weitergegeben. Die Reihenfolge wird neu gelost.",
            "",
        ),
        ("free text", "none"): ("Keiner ist enthalten.", ""),
        ("free text", "found"): (
            "Lange, fast immer verschiedene Texte: {names}.",
            "Ihnen die Rolle nehmen oder mit recode() in Kategorien fassen.",
        ),
        ("roles", "all"): ("Jede Spalte hat eine Rolle.", ""),
        ("roles", "left"): (
            "{count} haben keine und werden nicht weitergegeben: {names}.",
            "Ihnen eine Rolle geben, falls die Forschung sie braucht.",
        ),
        ("keys", "named"): ("Benannt ({count}): {names}.", ""),
        ("keys", "none"): (
            "Keiner ist benannt, daher lässt sich kein Risiko berechnen.",
            "In keys= benennen, was andere von einer Person wissen können.",
        ),
        ("population", "weighted"): (
            "Eine Stichprobe: {records} Datensätze stehen für {persons} Personen ({share}).",
            "",
        ),
        ("population", "none"): (
            "Ohne Hochrechnungsfaktoren gelten die {records} Datensätze als Vollerhebung.",
            "weight= benennen, falls es eine Stichprobe ist. Nur einen Teil der Datensätze "
            "weiterzugeben senkt das Risiko.",
        ),
        ("region", "none"): (
            "Kein Schlüssel sieht nach einer Region aus.",
            "Ist doch einer darunter, auf die Größe des kleinsten Gebiets achten.",
        ),
        ("region", "coarse"): (
            "Das kleinste von {count} Gebieten von {name} hat {persons} Personen.",
            "",
        ),
        ("region", "fine"): (
            "Das kleinste von {count} Gebieten von {name} hat {persons} Personen; üblich sind "
            "{limit}.",
            "Gebiete mit recode() oder generalise() zusammenfassen.",
        ),
        ("uniques", "none"): ("Keiner von {records} Datensätzen ist einmalig.", ""),
        ("uniques", "excused"): (
            "{count} von {records} Datensätzen, aber vermutlich keiner ist auch in der "
            "Grundgesamtheit einmalig.",
            "",
        ),
        ("uniques", "found"): (
            "{count} von {records} Datensätzen sind einmalig.",
            "Schlüssel mit recode() oder generalise() vergröbern, dann local_suppression().",
        ),
        ("k-anonymity", "none"): ("Kein Datensatz stimmt mit weniger als {k} überein.", ""),
        ("k-anonymity", "excused"): (
            "{count} von {records} Datensätzen stimmen mit weniger als {k} überein, aber ihr "
            "Risiko ist klein.",
            "",
        ),
        ("k-anonymity", "found"): (
            "{count} von {records} Datensätzen stimmen mit weniger als {k} überein.",
            "local_suppression(k={k}), nach gröberen Kategorien mit recode().",
        ),
        ("risk", "small"): (
            "Erwartungsgemäß werden {expected} Datensätze erkannt ({rate}), höchstens mit Risiko "
            "{largest}.",
            "",
        ),
        ("risk", "large"): (
            "Erwartungsgemäß werden {expected} Datensätze erkannt ({rate}; üblich: {rate_limit}), "
            "höchstens mit Risiko {largest} (üblich: {risk_limit}).",
            "Schlüssel vergröbern, Werte riskanter Datensätze sperren oder nur einen Teil der "
            "Datensätze weitergeben.",
        ),
        ("risk", "decimals"): (
            "Ein Schlüssel ist eine Zahl mit Nachkommastellen, fast überall verschieden: {names}.",
            "Mit recode(breaks=…) gruppieren oder in numeric= benennen.",
        ),
        ("household", "none"): (
            "Kein Haushalt ist benannt.",
            "household= benennen, falls erkennbar ist, wer zusammenlebt.",
        ),
        ("household", "small"): (
            "In erwartungsgemäß {expected} Haushalten wird jemand erkannt ({rate}).",
            "",
        ),
        ("household", "large"): (
            "In erwartungsgemäß {expected} Haushalten wird jemand erkannt ({rate}; üblich: "
            "{rate_limit}).",
            "Schlüssel vergröbern oder Haushaltsnummern weglassen (household=False, wie "
            "voreingestellt).",
        ),
        ("together", "hidden"): (
            "Kein Merkmal, das alle Mitglieder eines Haushalts teilen, gibt einen zurück, und "
            "keine zwei oder drei mit vielen Werten viele davon.",
            "",
        ),
        ("together", "told"): (
            "In {count} von {several} Haushalten mit mehreren Mitgliedern teilen diese einen Wert, "
            "den sonst niemand hat: {names}.",
            "Mit recode(width=…) runden, benachbarten Datensätzen mit "
            "microaggregate(method='individual') ihr Mittel geben oder weglassen.",
        ),
        ("household size", "small"): ("Kein Haushalt hat {members} Mitglieder oder mehr.", ""),
        ("household size", "large"): (
            "Haushalte mit {members} Mitgliedern oder mehr: {count}, der größte hat {most}.",
            "Keine Haushaltsnummern weitergeben und ein Merkmal der Größe mit recode(top=…) "
            "abschneiden.",
        ),
        ("sensitive", "none"): (
            "Keines ist benannt.",
            "In sensitive= benennen, was niemand erfahren darf.",
        ),
        ("sensitive", "no keys"): (
            "Ohne Schlüssel ist nicht bekannt, wer mit wem übereinstimmt.",
            "Zuerst keys= benennen.",
        ),
        ("sensitive", "diverse"): (
            "Datensätze mit gleichen Schlüsseln zeigen mindestens 2 verschiedene Werte von "
            "{names}.",
            "",
        ),
        ("sensitive", "alike"): (
            "Datensätze, die in allen Schlüsseln nur mit Datensätzen desselben Werts von {names} "
            "übereinstimmen: {count}.",
            "Schlüssel vergröbern, oder local_suppression() mit diversity.",
        ),
        ("numeric", "none"): ("Keines ist enthalten.", ""),
        ("numeric", "changed"): ("Alle wurden verändert: {names}.", ""),
        ("numeric", "cut"): (
            "Den größten Wert von {names} haben jeweils mehrere Datensätze.",
            "",
        ),
        ("numeric", "outliers"): (
            "Den größten Wert haben nur ein oder zwei Datensätze: {names}.",
            "Mit recode(top=…) abschneiden oder verändern (Mikroaggregation, Rauschen).",
        ),
        ("numeric", "exact"): (
            "Genaue, meist verschiedene Werte: {names}.",
            "Mit recode() runden oder gruppieren, oder verändern (Mikroaggregation, Rauschen).",
        ),
    },
}
