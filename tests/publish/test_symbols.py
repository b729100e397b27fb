"""Symbol sets: one symbol hides all, and every symbol is explained in both languages."""

import pytest

from diskret.errors import InputError
from diskret.publish.formats.symbols import SymbolSet, symbol_set, symbol_sets


@pytest.mark.parametrize("symbols", symbol_sets().values(), ids=lambda s: s.name)
@pytest.mark.parametrize("language", ["en", "de"])
def test_every_symbol_is_explained(symbols, language):
    legend = symbols.legend[language]
    assert set(legend) == {symbols.suppressed, symbols.nothing}
    assert all(legend.values())


@pytest.mark.parametrize("symbols", symbol_sets().values(), ids=lambda s: s.name)
def test_hidden_and_nothing_look_different(symbols):
    assert symbols.suppressed != symbols.nothing
    assert not symbols.suppressed.isdigit()


@pytest.mark.parametrize(
    ("name", "suppressed", "nothing"),
    [
        ("de-classic", ".", "–"),
        ("de-letters", "g", "0"),
        ("sdmx", "Q", "0"),
        ("px", "..", "-"),
        ("eurostat", ":C", "0"),
    ],
)
def test_the_sets_are_the_customary_ones(name, suppressed, nothing):
    found = symbol_set(name)
    assert (found.name, found.suppressed, found.nothing) == (name, suppressed, nothing)


def test_a_set_of_ones_own_is_taken_as_it_is():
    legend = {"( )": "protected", "-": "nothing"}
    own = SymbolSet("zh", "( )", "-", {"en": legend, "de": legend})
    assert symbol_set(own) is own


@pytest.mark.parametrize(
    ("suppressed", "nothing", "message"),
    [
        ("", "-", "two different symbols"),
        ("-", "-", "two different symbols"),
        (" - ", "-", "two different symbols"),
        ("C", "c", "two different symbols"),
        (" ", "-", "two different symbols"),
        ("0", "-", "could be taken for a value"),
        ("c", "-", "does not explain 'c' in its legend in 'de'"),
    ],
)
def test_a_set_that_leaves_readers_guessing_is_refused(suppressed, nothing, message):
    with pytest.raises(InputError, match=message):
        SymbolSet("own", suppressed, nothing, {"en": {"c": "confidential", "-": "nothing"}})


@pytest.mark.parametrize(
    "meaning",
    [
        *("primary confidential", "secondary suppression", "hidden by dominance", "p% rule"),
        *("primär geheim", "Sekundärsperrung", "CONF_STATUS = D"),
    ],
)
@pytest.mark.parametrize("language", ["en", "de"])
def test_a_set_that_tells_why_a_cell_is_hidden_is_refused(meaning, language):
    fine = {"c": "confidential", "-": "nothing"}
    legend = {"en": fine, "de": fine, language: {**fine, "d": meaning}}
    with pytest.raises(InputError, match="tells sensitive cells from those that protect them"):
        SymbolSet("own", "c", "-", legend)


def test_a_set_with_two_symbols_for_one_meaning_is_refused():
    legend = {"c": "confidential", "d": "Confidential ", "-": "nothing"}
    with pytest.raises(InputError, match="several symbols one meaning"):
        SymbolSet("own", "c", "-", {"en": legend, "de": legend})


def test_an_unknown_set_is_refused_with_the_choices():
    with pytest.raises(InputError, match="'classic'; choose one of de-classic, de-letters"):
        symbol_set("classic")
