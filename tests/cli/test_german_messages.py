"""With language = "de" errors, warnings, tasks and settings reach the reader in German."""

import ast
import errno
import os
import re
from itertools import islice, repeat

import pyarrow as pa
import pytest
import said
from source import TOGETHER, nodes, trees
from typer.testing import CliRunner

import diskret as dk
from diskret.cli.main import app
from diskret.publish.pages.settings import told
from diskret.texts.messages import catalogue, filled, pattern, translated

pytestmark = TOGETHER


def texts_in_code():
    """Every text of the code, f-strings with gaps as one sign."""
    found = set()
    for tree in trees().values():
        for node in nodes(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
            elif isinstance(node, ast.JoinedStr):
                parts = map(said.part, node.values)
                found.add(spoken("".join(parts), repeat("\0")))
    return found


def spoken(template, gaps, one=False):
    """An English template with its gaps filled, and the forms for one thing or several."""
    chosen = re.sub(r"\{:([^{}|]*)\|([^{}|]*)\}", r"\1" if one else r"\2", template)
    return chosen.format(*islice(gaps, pattern(template).groups))


def test_every_message_is_known_in_german():
    assert said.missing(catalogue(), said.messages()[0]) == ""


#: Messages that are put together where the code cannot be followed, and why they are German yet.
_INNER = "the text of an error that was raised with a message of its own"
ELSEWHERE = {
    "cli/ledger.py: '\\n'.join(report.lines(language.value))": "in the language already",
    "tables/from_cells.py: lambda _: NO_RECORDS.replace('records', 'cells')": "by hand in built()",
    "engines/records.py: lambda _: f'{counted(number)}: {check.problem}{_shown(found)}; "
    "{check.remedied(found)}'": "its parts are messages",
    "argus/text.py: f'{place}: {error}'": _INNER,
    "publish/derived.py: f'{path}: {error}'": _INNER,
    "rules/apriori.py: f'{where}: {error}'": _INNER,
    "tables/read_public.py: f'{path}: {error}'": _INNER,
    "protect/audit.py: f'  {where}: {number:,.{published.decimals}f}'": "no words",
    "jobs/places.py: str(error)": _INNER,
    "jobs/values.py: f'{self.path}: {error}'": _INNER,
    "jobs/tables.py: str(error)": _INNER,
    "jobs/tables.py: f'{cells.file.file.name}: {error}'": _INNER,
    "jobs/files.py: f\"'{wrong}': {error}\"": _INNER,
    "jobs/read.py: f\"'{wrong}': {error}\"": _INNER,
    "jobs/rules.py: f\"'{name}': {error}\"": _INNER,
    "jobs/rules.py: str(error)": _INNER,
    "jobs/microdata.py: f\"'{name}': {error}\"": _INNER,
    "anonymize/rank_swap.py: f'{name!r}: {error}'": _INNER,
    "publish/verify/changed.py: str(error)": _INNER,
    "publish/verify/folder.py: str(error)": _INNER,
    "ledger/ledger.py: str(error)": _INNER,
    "plan/publication.py: str(error)": _INNER,
    "plan/rows.py: str(error)": _INNER,
    "remote/figures.py: f'{asked.name}: {wrong}'": _INNER,
    "remote/allowance.py: refused": _INNER,
    "remote/allowance.py: why": "one of the messages of _refusal",
    "remote/register.py: f\"'{key}': {error}\"": _INNER,
    "serve/client.py: _problem_of(content, status)": "what the service says",
    "serve/config.py: str(error)": _INNER,
    "serve/web/app.py: str(error)": _INNER,
    "serve/web/bodies.py: str(error)": _INNER,
}


def test_messages_that_are_put_together_are_named():
    _, together = said.messages()
    assert together == sorted(ELSEWHERE)


def nouns():
    """What `diskret.io.columns.some` is told to name a few of, and how an item looks like."""
    given = (call.args[0] for call in said.code().calls["some"] if len(call.args) == 2)
    found = {noun.value for noun in given if isinstance(noun, ast.Constant)}
    return {noun: "{}" if noun in ("value", "category") else "'{}'" for noun in sorted(found)}


def built():
    """Parts of messages that the code builds with `str.format` or word by word."""
    return {
    "there are no cells, maybe a header and nothing below it; is it the right file?",
    "'{}' of '{}'", "'{}' of '{}' and '{}' of '{}'",
    *(f"{what} {{}} in {{}}{hint} Admissible: {{}}"
      for hint in (".", "; did you mean '{}'?") for what in (
        "unknown key", "no such table:", "no such column:", "no such claim:", "'{}' must not be",
        "'{}' must not hold", "'{}' is no such column:", "'sums': no table of '{}':")),
    *(f"{noun} {item}{more}" for noun, item in nouns().items()
      for more in ("", " (and {} more)")),
    }  # fmt: skip


#: What the operating system says of files.
OF_THE_SYSTEM = {
    os.strerror(number)
    for number in (errno.ENOENT, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR,
                   errno.ENOSPC, errno.EROFS, errno.EEXIST, errno.EIO)
}  # fmt: skip


def test_what_the_operating_system_says_of_files_is_german():
    assert [text for text in OF_THE_SYSTEM if text not in catalogue()] == []


def test_things_of_which_some_are_named_are_german():
    for noun, item in nouns().items():
        for more in ("", " (and {} more)"):
            assert f"{noun} {item}{more}" in catalogue(), noun
    assert translated("column 'a' (and 3 more)", "de") == "Spalte 'a' (und noch 3)"


#: What typer, and the checks of values behind it, say of a command line.
OF_TYPER = {
    "Missing argument {}.", "Missing option {}.", "Missing command.", "No such option: {}",
    "No such command {}.", "No such command {}. Did you mean {}?", "{} (Possible options: {})",
    "Got unexpected extra argument(s) ({})", "Option {} requires an argument.",
    "Option {} does not take a value.", "Invalid value: {}", "Invalid value for {}: {}",
    "'{}' is not one of {}.", "{} is not a valid {}.", "{} is not in the range {}.",
    "Input should be a valid integer, unable to parse string as an integer",
    "Input should be a valid number, unable to parse string as a number",
    "Input should be greater than or equal to {}", "Input should be less than or equal to {}",
}  # fmt: skip


#: What the parser of TOML, which is not ours, says of a job file.
OF_TOML = {
    "{} (at line {}, column {})", "{} (at end of document)", "Invalid statement", "Expected {}",
    "Expected newline or end of document after a statement", "Found invalid character {}",
    "Cannot declare {} twice", "Cannot overwrite a value", "Cannot redefine namespace {}",
    "Expected ']' at the end of a table declaration", "Cannot mutate immutable namespace {}",
    "Expected ']]' at the end of an array declaration", "Unclosed array", "Unterminated string",
    "Expected '=' after a key in a key/value pair", "Invalid initial character for a key part",
    "Duplicate inline table key {}", "Unclosed inline table", "Unescaped '\\' in a string",
    "Invalid hex value", "Escaped character is not a Unicode scalar value", "Invalid value",
    "Illegal character {}", "Invalid date or datetime",
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[records\n", "am Ende der Überschrift fehlt ] (in Zeile 1, Spalte 9)"),
        ("path 3", "hinter dem Schlüssel fehlt = (in Zeile 1, Spalte 6)"),
        ("a = 1 2", "hinter einer Angabe muss die Zeile enden (in Zeile 1, Spalte 7)"),
        ("a = 1\na = 2", "der Schlüssel steht doppelt da (am Ende der Datei)"),
        ("[a]\n[a]\n", "('a',) steht doppelt da (in Zeile 2, Spalte 3)"),
        ("a = firms.csv", "kein gültiger Wert: Texte stehen in Anführungszeichen (in Zeile 1, "),
        ('a = "x', "das schließende Anführungszeichen fehlt"),
        ('a = "C:\\data"', "ein einzelnes \\ im Text: Pfade mit / schreiben"),
        ("Größe = 1", "hinter dem Schlüssel fehlt ="),
        ("= 1", "so beginnt keine Angabe"),
        ("a = { b = 1", "} fehlt"),
        ("a = [1, 2", "die Liste ist nicht geschlossen: ] fehlt"),
    ],
)
def test_what_is_no_toml_is_told_in_german(tmp_path, text, said):
    code, output = protect(tmp_path, text, "--language", "de")
    assert code == 1 and said in output, output


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("protect", "eine Auftragsdatei nennen oder mit --template"),
        ("demo --sed 3", "Es gibt keine Option --sed (möglich: --seed)"),
        ("demo --seed x", "Ungültiger Wert für '--seed': eine ganze Zahl ist verlangt"),
        ("demo --firms 0", "Ungültiger Wert für '--firms': wenigstens 1 ist verlangt"),
        ("prottect", "Es gibt keinen Befehl 'prottect'. Gemeint war wohl 'protect'?"),
        ("verify", "Es fehlt das Argument 'DIR'."),
        ("verify a b", "Überzählige Argumente: b"),
        ("audit x.csv --by a", "Es fehlt die Option '--value'."),
        ("audit x.csv --by a --value n", "--by a: SPALTE=flat oder SPALTE=DATEI schreiben"),
    ],
)
def test_wrong_usage_is_german(line, said):
    done = CliRunner().invoke(app, [*line.split(), "--language", "de"])
    assert done.exit_code == 2
    assert said in done.output and "Aufruf: " in done.output
    for english in ("Usage", "Error", "Invalid", "Missing", "Try "):
        assert english not in done.output
    assert CliRunner().invoke(app, line.split()).exit_code == 2


def test_lines_of_verify_and_audit_are_german(tmp_path):
    (tmp_path / "r.csv").write_text("region\n" + "N\n" * 7 + "S\n" * 2 + "W\n" * 5)
    rule = "minimum_frequency = { n = 3 }"
    assert protect(tmp_path, JOB.format(table="", rule=rule))[0] == 0
    done = CliRunner().invoke(app, ["verify", str(tmp_path / "out"), "--language", "de"])
    assert done.exit_code == 0, done.output
    assert "Dateien unverändert; Intervalle von 2 gesperrten Feldern bestätigt" in done.output
    assert "von 1 primärem Feld durch" in done.output and "Fingerabdruck" in done.output
    assert not {"unchanged", "confirmed", "proven", "witnesses"} & {*done.output.split()}
    (tmp_path / "t.csv").write_text("region,n\nTotal,14\nN,7\nS,.\nW,5\n")
    asked = ["audit", str(tmp_path / "t.csv"), "--by", "region=flat", "--value", "n"]
    done = CliRunner().invoke(app, [*asked, "--language", "de"])
    assert "1 gesperrtes Feld lässt sich genau zurückrechnen" in done.output


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [("r.parquet", b"no parquet", "lässt sich nicht als Parquet-Datei lesen; ist sie"),
     ("r.xlsx", b"no workbook", "ist nicht als Arbeitsmappe zu lesen; als .xlsx ohne Passwort")],
)  # fmt: skip
def test_what_other_libraries_say_stands_in_brackets(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    job = JOB.format(table="", rule="minimum_frequency = { n = 3 }").replace("r.csv", name)
    code, output = protect(tmp_path, job)
    assert code == 1
    found = output[output.index(name) :]
    assert said in found and found.rstrip().endswith(")")


def test_bounds_of_a_filter_are_german(tmp_path):
    (tmp_path / "r.csv").write_text("region,staff\n" + "N,7\n" * 7 + "S,8\n" * 9 + "S,99\n")
    table = "where = { staff = { min = 5, max = 10 } }"
    job = JOB.format(table=table, rule="minimum_frequency = { n = 3 }")
    code, output = protect(tmp_path, job.replace("[output]", '[output]\nformats = ["html"]'))
    assert code == 0, output
    (page,) = (tmp_path / "out" / "public").glob("*.html")
    assert "staff: 5 bis 10" in page.read_text("utf-8")


def longest(template):
    """The longest text of a template between its gaps."""
    return (
        max(re.split(r"\{(?:|:[^{}]*)\}", template), key=len).replace("{{", "{").replace("}}", "}")
    )


def test_no_template_outlives_its_message():
    found, _ = said.messages()
    texts = texts_in_code()
    known = {*found, *built(), *OF_THE_SYSTEM, *OF_TYPER, *OF_TOML}
    rest = [t for t in catalogue() if t not in known]
    assert [
        t
        for t in rest
        if not any(longest(t) in text and pattern(t).fullmatch(text) for text in texts)
    ] == []


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("", ""),
        pytest.param("job.toml, table 't': ", "job.toml, Tabelle 't': ", marks=pytest.mark.long),
        pytest.param("job.toml, line 3: ", "job.toml, Zeile 3: ", marks=pytest.mark.long),
        pytest.param("step 1, pram: ", "Schritt 1, pram: ", marks=pytest.mark.long),
    ],
)
def test_every_message_is_read_as_itself(english, german):
    """And as no other that looks like it, wherever it stands."""
    for template, translation in catalogue().items():
        if len(template.replace("{}", "")) < 20:
            continue
        gaps = [f"'g{at}'" for at in range(pattern(template).groups)]
        message = translated(english + spoken(template, gaps), "de")
        assert message == german + filled(translation, gaps)


def test_templates_and_translations_have_the_same_gaps():
    for template, german in catalogue().items():
        gaps = pattern(template).groups
        assert filled(german, ("x",) * gaps)
        assert all(f"{{{at}}}" in german for at in range(gaps)), template


#: A form by number in a template, in English and in German.
FORMS = re.compile(r"\{(\d?):([^{}]*)\}")


def test_what_is_said_of_one_thing_is_singular_in_both_languages():
    for template, german in catalogue().items():
        if not FORMS.search(template):
            continue
        assert all(forms.count("|") == 1 for _, forms in FORMS.findall(template + german)), template
        numbers = {int(at) for at, _ in FORMS.findall(german)}
        gaps = ["1" if at in numbers else "'g' " for at in range(pattern(template).groups)]
        said_of_one = translated(spoken(template, gaps, one=True), "de")
        assert said_of_one == filled(german, gaps)


def protect(folder, job, *options):
    (folder / "job.toml").write_text(job, encoding="utf-8")
    asked = ["protect", str(folder / "job.toml"), *options]
    done = CliRunner().invoke(app, asked, env={"COLUMNS": "500"})
    return done.exit_code, done.output


JOB = """[records]
path = "r.csv"
[[tables]]
by = {{ region = "flat" }}
{table}
[tables.rules]
{rule}
[output]
folder = "out"
language = "de"
"""


@pytest.mark.parametrize(
    ("table", "rule", "records", "said"),
    [
        ("valu = 3", "", "region\nN\n",
         "Zeile 5: unbekannter Schlüssel 'valu' in [[tables]]; gemeint"),
        ("", "", "region\nN\n", "[tables.rules] muss wenigstens eine Regel nennen"),
        ("", "p_percent = { p = 3 }", "region\nN\n", "braucht einen 'value', keine Anzahl"),
        ("", "minimum_frequency = { n = 3 }", "region\n", "r.csv: es gibt keine Datensätze"),
        ("", "minimum_frequency = { n = 3 }", "regio\nN\n",
         "es gibt keine Spalte 'region'; die Spalten sind 'regio'; gemeint war wohl 'regio'"),
        ("", "minimum_frequency = { }", "region\nN\n", "der Schlüssel 'n' fehlt in"),
        ("", "minimum_frequency = { n = 0.5 }", "region\nN\n", "muss"),
    ],
)  # fmt: skip
def test_errors_of_a_job_are_german(tmp_path, table, rule, records, said):
    (tmp_path / "r.csv").write_text(records)
    code, output = protect(tmp_path, JOB.format(table=table, rule=rule))
    assert code == 1 and said in output, output
    for english in (" is missing", "unknown", "there is", "did you mean", "Error:", "must be"):
        assert english not in output


def test_a_warning_names_who_says_so_and_can_be_silenced(tmp_path):
    rows = "".join(f"{r},{v}\n" for r in "NSW" for v in (5, 6, 7, 8))
    (tmp_path / "r.csv").write_text("region,v\n" + rows)

    def job(more):
        rule = f"dominance = {{ n = 2, k = 80{more} }}"
        made = JOB.format(table='value = "v"', rule=rule)
        return made.replace("[output]", '[output]\nformats = ["csv", "html"]')

    code, output = protect(tmp_path, job(""))
    assert code == 0 and "Leiter der Statistischen Ämter als veraltet (Rothe 2015" in output
    (page,) = (tmp_path / "out" / "internal").glob("*.html")
    assert "Dominanzregel: die 2 größten halten mehr als 80" in page.read_text("utf-8")
    code, output = protect(tmp_path, job(", quiet = true"))
    assert code == 0 and "Rothe" not in output


def test_settings_are_sentences_in_both_languages():
    table = pa.table({"r": list("aabbb"), "v": [1, 2, 3, 4, 5]})
    rule = dk.rules.PPercent(20) | dk.rules.MinimumFrequency(3)
    result = dk.suppress(dk.tabulate(table, by={"r": None}, value="v"), rule)
    settings = {**result.settings, "rules_without_sums": [], "sums_judged_by": [repr(rule)]}
    for language, word in (("de", "p-Prozent-Regel mit p = 20"), ("en", "p% rule with p = 20")):
        shown = dict(told(settings, language))
        assert any(word in text for text in shown.values())
        assert not any("(" in text and "=" in text and "p=" in text for text in shown.values())
        assert not any("_" in name for name in shown), shown
    assert ("Regeln, die Summen von Feldern nicht beurteilen", "keine") in told(settings, "de")


def test_what_is_not_known_stays_as_it_is():
    assert translated("nobody knows this", "de") == "nobody knows this"
    assert translated("suppress", "en") == "suppress" and translated("suppress", "de") == "Sperren"
