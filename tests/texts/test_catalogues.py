"""Every catalogue says the same in every language, and numbers as the language writes them."""

import ast
import string
import subprocess
import sys
import tomllib
from importlib.resources import files

import pytest
from source import TOGETHER, nodes, trees

from diskret.errors import InputError
from diskret.texts import (
    LANGUAGES,
    Figure,
    Statement,
    number,
    percent,
    scaled,
    sentence,
    words_in,
)

FOLDERS = {language: files("diskret.texts").joinpath(language) for language in LANGUAGES}
#: German of sentences whose English stands in the code.
OF_CODE = {"help.toml", "messages"}
NAMES = sorted(
    file.name.removesuffix(".toml")
    for file in FOLDERS["en"].iterdir()
    if file.name.endswith(".toml")
)


def shape(text):
    """Keys, and the blanks of the texts below them; forms by number all have the same blanks."""
    if isinstance(text, dict) and "other" in text:
        return {"by": text["by"], "blanks": shape(text["other"])}
    if isinstance(text, dict):
        return {key: shape(inner) for key, inner in text.items()}
    return blanks(text)


def blanks(text: str) -> set[tuple[str, str | None]]:
    """Names and formats of the blanks of a text."""
    return {(name, form) for _, name, form, _ in string.Formatter().parse(text) if name is not None}


def forms(table):
    """Texts that depend on a number."""
    for inner in table.values():
        if isinstance(inner, dict):
            if "other" in inner:
                yield inner
            else:
                yield from forms(inner)


def read(language, name):
    return tomllib.loads(FOLDERS[language].joinpath(f"{name}.toml").read_text("utf-8"))


def test_every_language_has_the_same_catalogues():
    for folder in FOLDERS.values():
        found = {file.name for file in folder.iterdir()} - OF_CODE
        assert found == {f"{name}.toml" for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_catalogues_have_the_same_keys_and_blanks(name):
    english, german = (read(language, name) for language in ("en", "de"))
    assert shape(english) == shape(german)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_forms_by_number_say_by_which_blank(language, name):
    for text in forms(read(language, name)):
        assert text.keys() == {"by", "one", "other"}
        assert f"{{{text['by']}}}" in text["other"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_one_thing_fills_no_blank_that_several_lack(language, name):
    for text in forms(read(language, name)):
        assert blanks(text["one"]) <= blanks(text["other"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_tables_are_called_the_same_in_workbooks_and_on_pages(language):
    shared = read(language, "published_table").keys()
    assert shared
    for name in ("workbook", "report"):
        assert shared.isdisjoint(read(language, name))


def test_one_is_one():
    english, german = (words_in(language, "report") for language in ("en", "de"))
    assert english.said("why left", count=1).startswith("1 secondary was not")
    assert english.said("why left", count=1250).startswith("1,250 secondaries were not")
    assert german.said("why left", count=1).startswith("1 Sekundärfeld wurde")
    assert german.said("why left", count=0).startswith("0 Sekundärfelder wurden")


def test_a_language_without_texts_is_refused():
    with pytest.raises(InputError, match="language= must be 'en' or 'de', not 'fr'"):
        words_in("fr", "report")


@pytest.mark.parametrize(
    ("value", "decimals", "english", "german"),
    [
        (0, 0, "0", "0"),
        (5, 2, "0.05", "0,05"),
        (-5, 2, "-0.05", "-0,05"),
        (1000, 0, "1,000", "1\xa0000"),
        (100_000, 2, "1,000.00", "1\xa0000,00"),
        (-(2**63), 3, "-9,223,372,036,854,775.808", None),
    ],
)
def test_scaled_numbers(value, decimals, english, german):
    assert scaled(value, decimals, "en") == english
    if german is not None:
        assert scaled(value, decimals, "de") == german


@TOGETHER
def test_every_sentence_of_certificates_stands_in_the_catalogue_with_its_blanks():
    """Sentences are read when they are shown, so a wrong key would be found late."""
    known, asked = words_in("en", "certificates"), set()
    for path, tree in trees().items():
        for node in nodes(tree):
            if not isinstance(node, ast.Call):
                continue
            function = ast.unparse(node.func)
            if function == "sentence" or (function == "words.said" and path.stem == "statements"):
                assert not any(isinstance(part, ast.JoinedStr) for part in ast.walk(node.args[0]))
                given = {keyword.arg for keyword in node.keywords}
                for key in keys_in(node.args[0]):
                    asked.add(key)
                    assert {name for name, _ in blanks(known[key])} == given, f"{path.name}: {key}"
    assert asked == known.keys()


def keys_in(node):
    """The keys that an expression can be."""
    if isinstance(node, ast.IfExp):
        return keys_in(node.body) | keys_in(node.orelse)
    return {ast.literal_eval(node)}


def test_there_is_one_way_to_write_a_number():
    assert number(None, "en") == number(float("nan"), "de", 2) == "–"
    assert percent(0.5, "en") == "50.0\xa0%"
    said = Statement.said("report", "why others", count=1250)
    assert said.en == "and 1,250 more" and said.de == "und 1\xa0250 weitere"
    assert Figure("1,250.5").written("de") == "1\xa0250,5"
    named = Statement.said("report", "map rows", rows="1,250.5")
    assert "1,250.5" in named.de  # a name, no number


def test_a_statement_is_read_when_it_is_shown():
    later = sentence("no such key")
    with pytest.raises(KeyError):
        later.in_language("en")
    one, same = (sentence("safe.kept", kept=1250) for _ in range(2))
    assert one == same and hash(one) == hash(same)
    assert one.de.endswith("1\xa0250.") and one.en == one.in_language("en")


def test_what_is_not_shown_is_not_loaded():
    code = (
        "import sys, diskret as dk; dk.suppress; dk.tabulate; dk.Microdata; "
        "import diskret.attack, diskret.protect.assess_verdicts; "
        "from diskret.texts import catalogue; "
        "print(catalogue.words_in.cache_info().currsize, 'jinja2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "False"]
