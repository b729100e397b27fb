"""What a suppression certificate says in words, in English and German."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diskret.attack.all_cells import world
from diskret.attack.sums import LARGEST_LINE
from diskret.tables import Published
from diskret.texts import check_language, number

if TYPE_CHECKING:
    from diskret.attack.attacker import Attacker
    from diskret.tables import Publication
    from diskret.tables.requirements import UnsafeSums

Text = dict[str, list[str]]

#: What no rule about contributors of single cells looks for.
GROUPS = {
    "en": "Nothing is claimed about group disclosure: where all or almost all units of a published "
    "total lie in one of its cells, this tells something of each of them, whatever is suppressed.",
    "de": "Keine Aussage zur Gruppenaufdeckung: Liegen alle oder fast alle Einheiten einer "
    "veröffentlichten Summe in einem ihrer Felder, so verrät das etwas über jede von ihnen, was "
    "auch immer gesperrt ist.",
}
#: How the claim of what is left beside filters begins.
OF_RESTS = "What is left of a published cell without the same cell of a filter"
#: Only groupings of one variable have common parts that an attack can know of.
UNRELATED = {
    "en": "Nothing is claimed against knowledge of how different variables lie in each other, such "
    "as a grid in municipalities, unless the tables show them as groupings of one variable.",
    "de": "Keine Aussage gegenüber dem Wissen, wie verschiedene Merkmale ineinander liegen, etwa "
    "ein Gitter in Gemeinden, sofern die Tabellen sie nicht als Gliederungen eines Merkmals "
    "zeigen.",
}
#: The same where the records told how the variables lie in each other.
UNRELATED_ELSE = {
    "en": "Nothing is claimed against other knowledge of how different variables lie in each "
    "other, such as a grid in municipalities: of suppressed cells, or of other sums of cells.",
    "de": "Keine Aussage gegenüber anderem Wissen, wie verschiedene Merkmale ineinander liegen, "
    "etwa ein Gitter in Gemeinden: zu gesperrten Feldern oder anderen Summen von Feldern.",
}
#: How the claim of what is left between variables begins.
CROSSED = {
    "en": "Where categories of one variable lie in one of another variable, as municipalities in a "
    "grid cell, what is left of that without them, and of all categories that one touches "
    "without itself, meets what the office requires of a published cell where its value can be "
    "computed.",
    "de": "Wo Kategorien eines Merkmals in einer Kategorie eines anderen liegen, wie Gemeinden in "
    "einer Gitterzelle, erfüllt das, was von dieser ohne sie übrig bleibt, und von allen "
    "Kategorien, die eine berührt, ohne sie selbst, was das Amt von einem veröffentlichten Feld "
    "verlangt, wo sich sein Wert berechnen lässt.",
}


def claimed(
    publication: Publication,
    outer: int = 0,
    earlier: int | None = None,
    contributor: bool = False,
    parts: bool | None = None,
    rests: bool | None = None,
    crossed: bool | None = None,
) -> Text:
    """What is proven, for any reader.

    outer: number of a table's intervals that are outer bounds.
    earlier: number of tables of earlier releases that were attacked with it; None: those that
        `publication` holds.
    contributor: whether sums of cells were judged against contributors.
    parts: whether all revealed parts of categories were judged; None: no categories overlap.
    rests: the same of what is left beside filters; None: no filter lies beside a whole table.
    crossed: whether all was judged that variables of different tables leave of each other's cells;
        None: all tables have the same variables.
    """
    tables = publication.own
    earlier = len(publication.beside) if earlier is None else earlier
    several = len(tables) > 1
    english = [
        "No suppressed cell can be computed exactly from everything published in these tables "
        f"together: {', '.join(t.name for t in tables)}."
        if several
        else "No suppressed cell can be computed exactly from everything published in this table.",
        "Every cell that had to be kept secret stays as uncertain as the office requires.",
        "These claims rest on alternative tables that satisfy every published equation, checked "
        "in exact arithmetic.",
        "The stated intervals are what all equations together tell an outsider.",
    ]
    german = [
        "Kein gesperrter Wert lässt sich aus den veröffentlichten Angaben dieser Tabellen "
        f"zusammen exakt zurückrechnen: {', '.join(t.name for t in tables)}."
        if several
        else "Kein gesperrter Wert lässt sich aus den veröffentlichten Angaben dieser Tabelle "
        "exakt zurückrechnen.",
        "Jeder geheim zu haltende Wert bleibt so ungewiss, wie es das Amt verlangt.",
        "Diese Aussagen stützen sich auf Alternativtabellen, die alle veröffentlichten "
        "Gleichungen erfüllen und exakt nachgerechnet wurden.",
        "Die angegebenen Intervalle sind das, was alle Gleichungen zusammen einem Außenstehenden "
        "verraten.",
    ]
    if earlier:
        english.insert(
            2,
            "All this holds for somebody who has kept what was published before, too: the tables "
            f"of earlier releases that this certificate names ({number(earlier, 'en')}) were part "
            "of the attack, and their cells stay as uncertain as was required of them.",
        )
        german.insert(
            2,
            "All dies gilt auch gegenüber jemandem, der das früher Veröffentlichte aufbewahrt hat: "
            "Die Tabellen früherer Veröffentlichungen, die diese Bescheinigung nennt "
            f"({number(earlier, 'de')}), waren Teil des Angriffs, und ihre Felder bleiben so "
            "ungewiss, wie es für sie verlangt war.",
        )
    if contributor:
        english.insert(
            2,
            "This holds too for somebody who has contributed to cells and takes out its own "
            "contributions, and who knows in which cells nobody else is: suppressed cells and sums "
            "of them stay as uncertain to it as the office requires for those who are left there, "
            "and sums meet what it requires of a cell with the same contributors. These sums are "
            "what is left of each published total without its published parts, along one variable "
            "and over all codes below it, and "
            f"every two suppressed parts of a total with at most {LARGEST_LINE} of them.",
        )
        german.insert(
            2,
            "Das gilt auch gegenüber jemandem, der selbst zu Feldern beigetragen hat, seine "
            "eigenen Beiträge abzieht und weiß, in welchen Feldern er allein ist: Gesperrte Felder "
            "und Summen von ihnen bleiben für ihn so ungewiss, wie es das Amt für die übrigen "
            "Beitragenden verlangt, und Summen erfüllen, was es von einem Feld mit denselben "
            "Beitragenden verlangt. Gemeint ist, was von jeder "
            "veröffentlichten Summe ohne ihre veröffentlichten Teile bleibt, entlang eines "
            "Merkmals und über alle Ebenen darunter, und je zwei gesperrte Teile einer Summe mit "
            f"höchstens {LARGEST_LINE} davon.",
        )
    if parts:
        known = ", unless earlier releases alone reveal them" if earlier else ""
        english.append(
            "Parts of overlapping categories that nobody published meet what the office requires "
            "of a published cell where their value can be computed: as the difference of two "
            "published cells, or where all equations leave what lies in the same categories of all "
            f"tables a single value{known}."
        )
        known = ", sofern sie nicht schon frühere Veröffentlichungen allein verraten"
        german.append(
            "Teile überlappender Gliederungen, die nicht veröffentlicht sind, erfüllen, was das "
            "Amt von einem veröffentlichten Feld verlangt, wo sich ihr Wert berechnen lässt: als "
            "Differenz zweier veröffentlichter Felder, oder wo alle Gleichungen dem, was in "
            "denselben Kategorien aller Tabellen liegt, einen einzigen Wert lassen"
            f"{known if earlier else ''}."
        )
    if outer:
        english.append(
            f"{number(outer, 'en')} of them are outer bounds: equations connect these cells with "
            "so many others that only those near each cell were used. All equations together may "
            "tell an outsider more, but not beyond what is claimed."
        )
        german.append(
            f"{number(outer, 'de')} davon sind äußere Schranken: Diese Felder hängen mit so vielen "
            "anderen zusammen, dass nur die Gleichungen in der Nähe jedes Feldes benutzt wurden. "
            "Alle Gleichungen zusammen können einem Außenstehenden mehr verraten, aber nicht mehr, "
            "als zugesichert ist."
        )
    if any(table.rounding > 1 for table in tables):
        english.append("Published values are known to be rounded, to half a unit up or down.")
        german.append(
            "Dass veröffentlichte Werte gerundet sind, auf eine halbe Einheit nach oben oder "
            "unten, ist als bekannt vorausgesetzt."
        )
    if tables[0].frequency:
        english.append(
            "Whole-number reasoning may narrow some intervals of counts further, but not beyond "
            "what is claimed: the alternative tables consist of whole numbers."
        )
        german.append(
            "Ganzzahlige Überlegungen können manche Intervalle von Fallzahlen weiter verengen, "
            "aber nicht über das Zugesicherte hinaus: Die Alternativtabellen sind ganzzahlig."
        )
    if rests:
        known = ", unless earlier releases alone reveal it" if earlier else ""
        english.append(
            f"{OF_RESTS} whose records all belong to it, or of two or as many such filters as have "
            "no records in common, meets what the office requires of a cell with the same "
            f"contributors, where its value can be computed{known}."
        )
        known = ", sofern ihn nicht schon frühere Veröffentlichungen allein verraten"
        german.append(
            "Was von einem veröffentlichten Feld ohne dasselbe Feld eines Filters übrig bleibt, "
            "dessen Einheiten alle dazugehören, oder ohne das von zwei oder möglichst vielen "
            "solchen Filtern ohne gemeinsame Einheiten, erfüllt, was das Amt von einem Feld mit "
            "denselben Beitragenden verlangt, wo sich sein Wert berechnen lässt"
            f"{known if earlier else ''}."
        )
    if crossed:
        english.append(CROSSED["en"])
        german.append(CROSSED["de"])
    return {"en": english, "de": german}


def not_claimed(
    publication: Publication,
    attacker: Attacker,
    earlier: int | None = None,
    complete: bool | None = None,
    parts: bool | None = None,
    unlisted: bool = False,
    groups: bool = False,
    rests: bool | None = None,
    crossed: bool | None = None,
    untold: bool = False,
    already: bool = False,
) -> Text:
    """What is not proven; stated as clearly as the claims.

    `earlier`, `parts`, `rests` and `crossed` as in `claimed`; `complete` as in `World`, None: found
    out; `unlisted` says that nobody knows who contributed to some of the tables, `groups` whether
    a rule looked for group disclosure, `untold` that it does not follow from the contributions to
    the tables what each has in cells that no table shows, `already` that some could tell something
    from earlier releases alone.
    """
    first, *others = publication.own
    earlier = len(publication.beside) if earlier is None else earlier
    several = len(others) + earlier > 0
    english = [
        "Nothing is claimed about what contributors know of sums of suppressed cells other than "
        "those named, or when more of them join forces than the office has assumed."
        if attacker.contributor
        else "Nothing is claimed against a contributor who subtracts its own contribution, or "
        "against contributors who join forces.",
        "Nothing is claimed about these tables together with others."
        if several
        else "Nothing is claimed about this table together with other tables.",
        "Nothing is claimed against somebody who knows how the suppressed cells were chosen "
        "and reasons backwards from the choice.",
        "Nothing is claimed against knowledge from other sources beyond the kind of attacker "
        "named.",
    ]
    german = [
        "Keine Aussage zu dem, was Beitragende über andere als die genannten Summen gesperrter "
        "Felder wissen, oder wenn mehr von ihnen ihr Wissen zusammenlegen, als das Amt annimmt."
        if attacker.contributor
        else "Keine Aussage zu einem Berichtspflichtigen, der seinen eigenen Beitrag abzieht, "
        "oder zu Berichtspflichtigen, die ihr Wissen zusammenlegen.",
        "Keine Aussage zu diesen Tabellen im Zusammenhang mit weiteren."
        if several
        else "Keine Aussage zu dieser Tabelle im Zusammenhang mit anderen Tabellen.",
        "Keine Aussage gegenüber jemandem, der das Auswahlverfahren der gesperrten Felder kennt "
        "und von der Auswahl zurückschließt.",
        "Keine Aussage gegenüber Wissen aus anderen Quellen, das über die genannte Art von "
        "Angreifer hinausgeht.",
    ]
    if not (world(publication).complete if complete is None else complete):
        english.append(
            "Nothing is claimed about what three or more of these tables say of their common "
            "records beyond common cells, overlapping categories, filters and sums of measures."
        )
        german.append(
            "Keine Aussage zu dem, was drei oder mehr dieser Tabellen über gemeinsame Einheiten "
            "verraten, soweit es über gemeinsame Felder, überlappende Gliederungen, Filter und "
            "Summen von Merkmalen hinausgeht."
        )
    if attacker.contributor and unlisted:
        english.append(
            "Nothing is claimed about what contributors to tables of earlier releases know from "
            "their own contributions there, where these were not kept."
        )
        german.append(
            "Keine Aussage zu dem, was Beitragende früherer Veröffentlichungen aus ihren dortigen "
            "Beiträgen wissen, soweit diese nicht aufbewahrt wurden."
        )
    if attacker.contributor and untold:
        english.append(
            "Contributors are taken to know what they have in common parts of several tables' "
            "cells and beside filters only as far as it follows from what the office knows of "
            "their contributions to each table."
        )
        german.append(
            "Von Beitragenden wird angenommen, dass sie ihre Beiträge zu gemeinsamen Teilen der "
            "Felder mehrerer Tabellen und neben Filtern nur so weit kennen, wie sie aus dem "
            "folgen, was das Amt von ihren Beiträgen zu den einzelnen Tabellen weiß."
        )
    if attacker.contributor and already:
        english.append(
            "Nothing is claimed about what contributors could tell already from earlier releases "
            "alone, before these tables were published."
        )
        german.append(
            "Keine Aussage zu dem, was Beitragende schon aus früheren Veröffentlichungen allein "
            "erkennen konnten, bevor diese Tabellen erschienen."
        )
    if parts is False:
        english.append(
            "Nothing is claimed about parts of overlapping categories that nobody published but "
            "that can be computed by subtraction."
        )
        german.append(
            "Keine Aussage zu Teilen überlappender Gliederungen, die nicht veröffentlicht sind, "
            "sich aber durch Subtraktion berechnen lassen."
        )
    if crossed is not None:
        of_variables = UNRELATED_ELSE if crossed else UNRELATED
        english.append(of_variables["en"])
        german.append(of_variables["de"])
    if not groups:
        english.append(GROUPS["en"])
        german.append(GROUPS["de"])
    if rests is False:
        english.append(
            "Nothing is claimed about what is left of a published cell without the same cell of a "
            "filter, which can be computed by subtraction."
        )
        german.append(
            "Keine Aussage zu dem, was von einem veröffentlichten Feld ohne dasselbe Feld eines "
            "Filters übrig bleibt und sich durch Subtraktion berechnen lässt."
        )
    elif rests:
        english.append(
            "Nothing is claimed about what is left beside filters in other combinations of cells "
            "than those named."
        )
        german.append(
            "Keine Aussage zu dem, was neben Filtern in anderen Verbindungen von Feldern als den "
            "genannten übrig bleibt."
        )
    if first.frequency and not attacker.zeros_known:
        english.append(
            "Nothing is claimed against somebody who takes for granted that cells without any "
            "unit are never suppressed, so that every hidden count is at least 1."
        )
        german.append(
            "Keine Aussage gegenüber jemandem, der davon ausgeht, dass leere Felder nie "
            "gesperrt werden und daher jede gesperrte Fallzahl mindestens 1 ist."
        )
    return {"en": english, "de": german}


def summary(
    language: str,
    publication: Publication,
    attacker: Attacker,
    *,
    cells: int,
    primaries: int,
    secondaries: int,
    witnesses: int,
    sliding_only: int,
    repaired: int,
    outer: int = 0,
    unsafe: UnsafeSums | None = None,
    parts: bool | None = None,
    groups: bool = False,
    rests: bool | None = None,
    crossed: bool | None = None,
    **of_contributors: bool,
) -> list[str]:
    """The certificate for the office's own eyes."""
    check_language(language)

    def n(count: int) -> str:
        return number(count, language)

    if language == "de":
        lines = [
            f"{n(cells)} Felder, davon {n(primaries + secondaries)} gesperrt "
            f"({n(primaries)} primär, {n(secondaries)} sekundär; diese Unterscheidung ist intern).",
            f"Angreifer: {attacker.in_words('de')}",
            f"Alle Anforderungen sind durch {n(witnesses)} exakt geprüfte Alternativtabellen "
            "belegt.",
        ]
        if sliding_only:
            lines.append(f"Für {n(sliding_only)} Fallzahlen gilt nur: kein exakter Wert.")
        if repaired:
            lines.append(f"Nach einem ersten Angriff wurde das Sperrmuster {repaired}-mal ergänzt.")
        if unsafe is not None:
            lines.append(
                f"{n(unsafe.judged)} Summen gesperrter Felder wurden beurteilt; {n(len(unsafe))} "
                "davon dürfen nicht genau bekannt sein und sind durch Alternativtabellen belegt."
            )
    else:
        lines = [
            f"{n(cells)} cells, {n(primaries + secondaries)} of them suppressed "
            f"({n(primaries)} primary, {n(secondaries)} secondary; this distinction is internal).",
            f"Attacker: {attacker.in_words('en')}",
            f"Every requirement is backed by {n(witnesses)} alternative tables, checked exactly.",
        ]
        if sliding_only:
            lines.append(f"For {n(sliding_only)} counts only 'no exact value' is claimed.")
        if repaired:
            lines.append(f"After a first attack the pattern was extended {repaired} times.")
        if unsafe is not None:
            lines.append(
                f"{n(unsafe.judged)} sums of suppressed cells were judged; {n(len(unsafe))} of "
                "them must not be known closely, which alternative tables show."
            )
    return [
        *lines,
        *claimed(
            publication,
            outer,
            contributor=attacker.contributor,
            parts=parts,
            rests=rests,
            crossed=crossed,
        )[language],
        *not_claimed(
            publication,
            attacker,
            parts=parts,
            groups=groups,
            rests=rests,
            crossed=crossed,
            **of_contributors,
        )[language],
    ]


def different_variables(tables: Sequence[Published]) -> bool:
    """Whether tables show different variables."""
    return len({frozenset(d.name for d in table.dimensions) for table in tables}) > 1
