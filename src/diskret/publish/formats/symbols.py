"""Symbols that stand in place of a number, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from diskret.errors import InputError
from diskret.texts import LANGUAGES, words_in

# words, and codes of SDMX CL_CONF_STATUS, that say why a cell is hidden
_TELLING = re.compile(
    r"primary|secondary|complementary|dominan|p%|p-percent|prim[äa]r|sekund[äa]r|komplement[äa]r"
    r"|CONF_STATUS\W*[AOTGMDS]\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class SymbolSet:
    """How a publication shows cells that are no plain number.

    There is one symbol for every suppressed cell: a reader must not learn which of them are
    sensitive and which only protect others. CSV and Parquet do not use symbols; their column
    ``status`` says the same for machines. `nothing` stands for cells without any unit, where
    ``"0"`` is written as a number; `legend` is language (``"en"`` and ``"de"``) → symbol → meaning.
    """

    name: str
    suppressed: str
    nothing: str
    legend: Mapping[str, Mapping[str, str]]

    def __post_init__(self) -> None:
        shown = [" ".join(symbol.split()) for symbol in (self.suppressed, self.nothing)]
        if not all(shown) or shown[0].casefold() == shown[1].casefold():
            raise InputError(f"the symbol set {self.name!r} needs two different symbols")
        if any(mark.isdigit() for mark in self.suppressed):
            raise InputError(
                f"the symbol set {self.name!r} shows suppressed cells as {self.suppressed!r}, "
                "which could be taken for a value; choose a symbol without digits"
            )
        for language in LANGUAGES:
            explained = self.legend.get(language, {})
            for symbol in (self.suppressed, self.nothing):
                if symbol not in explained:
                    raise InputError(
                        f"the symbol set {self.name!r} does not explain {symbol!r} in its legend "
                        f"in {language!r}"
                    )
        for language, legend in self.legend.items():
            self._check_legend(language, legend)

    def _check_legend(self, language: str, legend: Mapping[str, str]) -> None:
        meanings = [" ".join(text.split()).casefold() for text in legend.values()]
        if len(set(meanings)) < len(meanings):
            raise InputError(
                f"the symbol set {self.name!r} gives several symbols one meaning in its legend in "
                f"{language!r}; one symbol is enough"
            )
        telling = [symbol for symbol, text in legend.items() if _TELLING.search(text)]
        if telling:
            raise InputError(
                f"the symbol set {self.name!r} tells sensitive cells from those that protect them "
                f"in its legend in {language!r} ({', '.join(map(repr, telling))}); readers must "
                "not learn that: explain one symbol for all of them"
            )


@cache
def symbol_sets() -> Mapping[str, SymbolSet]:
    """Name → symbol set, of those that are there without being defined."""
    return {
        one.name: one
        for one in (
            _set("de-classic", ".", "–"),
            _set("de-letters", "g", "0"),
            _set("sdmx", "Q", "0", "suppressed sdmx"),
            _set("px", "..", "-"),
            # flags since 27 January 2025: ":" not available, C confidential; 0 is a real zero
            _set("eurostat", ":C", "0"),
        )
    }


def _set(name: str, suppressed: str, nothing: str, meaning: str = "suppressed") -> SymbolSet:
    # a 0 does not say whether there were no units or their values add up to zero
    empty = "nothing or zero" if nothing == "0" else "nothing"
    legend: dict[str, dict[str, str]] = {}
    for language in LANGUAGES:
        words = words_in(language, "workbook")
        legend[language] = {
            suppressed: words[f"symbol.{meaning}"],
            nothing: words[f"symbol.{empty}"],
        }
    return SymbolSet(name, suppressed, nothing, legend)


def symbol_set(symbols: str | SymbolSet) -> SymbolSet:
    """The symbol set of this name; a set of the user's own is returned as it is."""
    if isinstance(symbols, SymbolSet):
        return symbols
    sets = symbol_sets()
    if symbols in sets:
        return sets[symbols]
    names = ", ".join(sets)
    raise InputError(f"there is no symbol set {symbols!r}; choose one of {names}")
