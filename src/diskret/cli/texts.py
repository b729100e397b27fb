"""What the commands say, in English and German."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Language(StrEnum):
    """Languages of everything shown to users."""

    en = "en"
    de = "de"


@dataclass(frozen=True)
class Texts:
    """Sentences of one language; braces are filled in with `str.format`."""

    cells: str
    suppressed: str
    unit: str
    part: str
    left_out: str
    codes: str
    certificate: str
    cheapest: str
    recomputed: str
    public_files: str
    internal_files: str
    check: str
    verified: str
    attacked_again: str
    verified_internal: str
    verified_unsealed: str
    not_verified_internal: str
    intervals: str
    lower: str
    upper: str
    unbounded: str
    exact: str
    safe_from_exact: str
    programme: str
    release: str
    due: str
    table: str
    number_of_cells: str
    state: str
    planned: str
    published_before: str
    losses: str
    impossible: str
    chosen: str
    together: str
    as_published: str
    largest_first: str
    smallest_first: str
    ledger_columns: str
    ledger_published: str
    ledger_recorded: str
    ledger_withdrawn: str
    ledger_created: str
    ledger_withdrawn_now: str
    ledger_by: str
    ledger_intervals: str
    ledger_perturbed: str
    ledger_fingerprint: str
    ledger_entered: str
    lost: str
    cell_key_columns: str
    cell_key_written: str
    before_after: str
    recognised: str
    safe_counts: str
    safe_columns: str
    safe_all: str
    safe_stopped: str
    safe_nothing: str
    error: str
    refused: str
    warning: str
    program_error: str
    usage: str
    places: str
    to: str
    help: str
    aborted: str
    thousands: str
    decimal: str


TEXTS = {
    Language.en: Texts(
        cells="{cells} cells, {suppressed} of them suppressed",
        suppressed="suppressed",
        unit="rounded to units of {unit} here, exact in the files",
        part="shown: {part}",
        left_out="not shown here, but in the files: {codes}",
        codes="{count} codes of {name}",
        certificate="Certificate",
        cheapest=(
            "For the office: the secondaries cost {cost}; no safe pattern costs less than {bound} "
            "(gap {gap} %)."
        ),
        recomputed=(
            "For the office: {changed} of {totals} totals of {column} in the file were not the sum "
            "of their parts; all were computed anew."
        ),
        public_files="May leave the office: {folder}",
        internal_files="Stays in the office: {folder}",
        check="Check the files at any time: diskret verify {folder}",
        verified="Verified: {names}.",
        attacked_again="{suppressed} suppressed cells attacked again.",
        verified_internal="The office's own files agree with them.",
        verified_unsealed=(
            "The office's own files agree with them. Without the office's key nobody knows whether "
            "they are those that were written."
        ),
        not_verified_internal="Only the public files were checked.",
        intervals="What the published table says about suppressed cells (narrowest first)",
        lower="at least",
        upper="at most",
        unbounded="any",
        exact="{exact} suppressed cells can be recomputed exactly: do not publish this table.",
        safe_from_exact=(
            "No suppressed cell can be recomputed exactly. Whether the intervals are wide enough "
            "depends on the office's rules."
        ),
        programme="Programme of releases",
        release="release",
        due="due",
        table="table",
        number_of_cells="cells",
        state="files",
        planned="planned",
        published_before="published before",
        losses="For the office: what secondaries cost, by order of protection",
        impossible="impossible",
        chosen="chosen",
        together="all together",
        as_published="in the order of publication",
        largest_first="largest release first",
        smallest_first="smallest release first",
        ledger_columns="Release, Date, Who, Tables, Status",
        ledger_published="published",
        ledger_recorded="recorded, not written by diskret",
        ledger_withdrawn="withdrawn on {when} by {who}: {why}",
        ledger_created="An empty ledger was created.",
        ledger_withdrawn_now=(
            "{name} is noted as withdrawn. The world has seen it, so new tables are still "
            "protected against it."
        ),
        ledger_by="{who}, {when}",
        ledger_intervals="with intervals for the suppressed cells",
        ledger_perturbed="perturbed",
        ledger_fingerprint="fingerprint of the original table",
        ledger_entered="Recorded in the ledger as {release}",
        lost="For the office: what was lost",
        cell_key_columns="Count, Mean, Variance, Least, Largest, Stays, Largest noise",
        cell_key_written="Written, confidential: {file}",
        before_after="before, after",
        recognised="records, alone with their keys, fewer than 3 alike, expected to be recognised",
        safe_counts="records, combinations of values",
        safe_columns="variables of a table, cells, largest deviation, mean deviation",
        safe_all="all controlled tables",
        safe_stopped="Stopped. The state is in {file}; the same command goes on from there.",
        safe_nothing="Stopped; nothing was written. With --checkpoint FILE a search can go on.",
        error="Error: {message}",
        refused="Refused: {message}",
        warning="Warning: {message}",
        program_error=(
            "diskret stopped because of a mistake in the program ({kind}). Please report it to "
            "the developers. The same command with --debug shows where it happened; look the "
            "output through for confidential values before you pass it on."
        ),
        usage="Usage: {usage}",
        places="[OPTIONS], COMMAND [ARGS]...",
        to="to",
        help="Help: {command} --help",
        aborted="Aborted.",
        thousands=",",
        decimal=".",
    ),
    Language.de: Texts(
        cells="{cells} Felder, davon {suppressed} gesperrt",
        suppressed="gesperrt",
        unit="hier auf Einheiten von {unit} gerundet, in den Dateien genau",
        part="gezeigt: {part}",
        left_out="hier nicht gezeigt, aber in den Dateien: {codes}",
        codes="{count} Schlüssel von {name}",
        certificate="Zertifikat",
        cheapest=(
            "Nur intern: Die Gegensperrungen kosten {cost}; kein sicheres Muster kostet weniger "
            "als {bound} (Abstand {gap} %)."
        ),
        recomputed=(
            "Nur intern: {changed} von {totals} Summen von {column} in der Datei waren nicht die "
            "Summe ihrer Teile; alle wurden neu gebildet."
        ),
        public_files="Darf das Haus verlassen: {folder}",
        internal_files="Bleibt im Haus: {folder}",
        check="Die Dateien lassen sich jederzeit prüfen: diskret verify {folder}",
        verified="Geprüft: {names}.",
        attacked_again="{suppressed} gesperrte Felder erneut angegriffen.",
        verified_internal="Die internen Dateien stimmen damit überein.",
        verified_unsealed=(
            "Die internen Dateien stimmen damit überein. Ob sie so geschrieben wurden, weiß man "
            "nur mit dem Schlüssel des Amtes."
        ),
        not_verified_internal="Nur die öffentlichen Dateien wurden geprüft.",
        intervals="Was die veröffentlichte Tabelle über gesperrte Felder verrät (engste zuerst)",
        lower="mindestens",
        upper="höchstens",
        unbounded="beliebig",
        exact=(
            "{exact} gesperrte Felder lassen sich exakt zurückrechnen: Diese Tabelle darf so "
            "nicht veröffentlicht werden."
        ),
        safe_from_exact=(
            "Kein gesperrtes Feld lässt sich exakt zurückrechnen. Ob die Intervalle weit genug "
            "sind, entscheiden die Regeln des Hauses."
        ),
        programme="Veröffentlichungsprogramm",
        release="Veröffentlichung",
        due="Termin",
        table="Tabelle",
        number_of_cells="Felder",
        state="Dateien",
        planned="geplant",
        published_before="schon veröffentlicht",
        losses="Nur intern: was Gegensperrungen kosten, nach Reihenfolge des Schutzes",
        impossible="unmöglich",
        chosen="gewählt",
        together="alle zusammen",
        as_published="in der Reihenfolge der Veröffentlichung",
        largest_first="die größte Veröffentlichung zuerst",
        smallest_first="die kleinste Veröffentlichung zuerst",
        ledger_columns="Veröffentlichung, Datum, Wer, Tabellen, Stand",
        ledger_published="veröffentlicht",
        ledger_recorded="nachgetragen, nicht mit diskret geschrieben",
        ledger_withdrawn="zurückgezogen am {when} von {who}: {why}",
        ledger_created="Ein leeres Register wurde angelegt.",
        ledger_withdrawn_now=(
            "{name} ist als zurückgezogen vermerkt. Die Welt kennt sie; neue Tabellen werden "
            "weiterhin auch gegen sie geschützt."
        ),
        ledger_by="{who}, {when}",
        ledger_intervals="mit Intervallen für die gesperrten Felder",
        ledger_perturbed="überlagert",
        ledger_fingerprint="Fingerabdruck der Originaltabelle",
        ledger_entered="Im Verzeichnis eingetragen als {release}",
        lost="Nur intern: was verloren ging",
        cell_key_columns="Fallzahl, Mittel, Varianz, kleinste, größte, bleibt, größte Überlagerung",
        cell_key_written="Geschrieben, vertraulich: {file}",
        before_after="vorher, nachher",
        recognised="Datensätze, mit ihren Schlüsseln allein, weniger als 3 gleiche, "
        "erwartete Erkennungen",
        safe_counts="Datensätze, Kombinationen von Werten",
        safe_columns="Merkmale der Tabelle, Felder, größte Abweichung, mittlere Abweichung",
        safe_all="alle kontrollierten Tabellen",
        safe_stopped="Angehalten. Der Stand liegt in {file}; derselbe Befehl fährt dort fort.",
        safe_nothing="Angehalten; nichts wurde geschrieben. Mit --checkpoint DATEI lässt sich eine "
        "Suche fortsetzen.",
        error="Fehler: {message}",
        refused="Verweigert: {message}",
        warning="Warnung: {message}",
        program_error=(
            "diskret wurde wegen eines Programmfehlers abgebrochen ({kind}). Bitte den "
            "Entwicklern melden. Derselbe Befehl mit --debug zeigt, wo es geschah; die Ausgabe "
            "vor dem Weitergeben auf vertrauliche Werte durchsehen."
        ),
        usage="Aufruf: {usage}",
        places="[OPTIONEN], BEFEHL [ARGUMENTE]...",
        to="bis",
        help="Hilfe: {command} --help",
        aborted="Abgebrochen.",
        # as in the tables of official statistics: a blank, which cannot be broken
        thousands="\N{NO-BREAK SPACE}",
        decimal=",",
    ),
}


def number(value: int, decimals: int, language: Language) -> str:
    """A scaled integer as readers of the language write it.

    Examples
    --------
    >>> number(-1234567, 2, Language.en)
    '-12,345.67'
    """
    texts = TEXTS[language]
    whole, fraction = divmod(abs(value), 10**decimals)
    text = f"{whole:,}".replace(",", texts.thousands)
    if decimals:
        text += f"{texts.decimal}{fraction:0{decimals}d}"
    return "-" * (value < 0) + text
