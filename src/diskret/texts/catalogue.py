"""The loader of the catalogues, and what texts are filled with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from numbers import Integral
from string import Formatter
from typing import Any

from diskret.errors import InputError
from diskret.texts.numbers import Figure, number

LANGUAGES = ("en", "de")


@dataclass(frozen=True, eq=False)
class Words(Mapping[str, str]):
    """The texts of one language by key; keys of inner tables follow a point.

    `texts`: key → text, or its forms by number.
    """

    language: str
    texts: Mapping[str, str | Mapping[str, str]]

    def __getitem__(self, key: str) -> str:
        text = self.texts[key]
        return text if isinstance(text, str) else text["other"]

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __len__(self) -> int:
        return len(self.texts)

    def said(self, key: str, **blanks: object) -> str:
        r"""A text with its blanks filled in; whole numbers are written as the language does.

        >>> words_in("de", "report").said("codes", name="region", count=1250)
        'region (1\xa0250 Schlüssel)'
        """
        text = self.texts[key]
        if not isinstance(text, str):
            text = text["one" if blanks[text["by"]] == 1 else "other"]
        return text.format(**{name: self.written(blank) for name, blank in blanks.items()})

    def written(self, blank: object) -> str:
        """What stands for a value in a text: names as they are, whole numbers as numbers."""
        if isinstance(blank, Statement):
            return blank.in_language(self.language)
        if isinstance(blank, Figure):
            return blank.written(self.language)
        return number(int(blank), self.language) if isinstance(blank, Integral) else str(blank)


@dataclass(frozen=True)
class Statement:
    """A text of a catalogue in all languages; the catalogue is read when it is shown.

    `catalogue`, `key` say where it stands, `blanks` what its blanks are filled with, by name.
    """

    catalogue: str
    key: str
    blanks: tuple[tuple[str, object], ...] = ()

    @classmethod
    def said(cls, catalogue: str, key: str, **blanks: object) -> Statement:
        r"""A text with its blanks filled in, whole numbers as whole numbers.

        >>> Statement.said("report", "why others", count=1250).de
        'und 1\xa0250 weitere'
        """
        return cls(catalogue, key, tuple(blanks.items()))

    def blanks_in(self, text: str) -> dict[str, str] | None:
        """What fills the blanks of this text where it reads like that; None if it does not.

        >>> Statement("report", "value").blanks_in("Value of region")
        >>> Statement("certificates", "microdata.l-diversity").blanks_in(
        ...     "Records that agree in the keys show different values of income, job."
        ... )
        {'names': 'income, job'}
        """
        form, known = "", set[str]()
        for said, name, *_ in Formatter().parse(words_in("en", self.catalogue)[self.key]):
            again = f"(?P={name})" if name in known else f"(?P<{name}>.+)"
            form += re.escape(said) + (again if name else "")
            known |= {name} if name else set()
        found = re.fullmatch(form, text, re.DOTALL)
        return None if found is None else found.groupdict()

    @property
    def en(self) -> str:
        """The sentence in English."""
        return self.in_language("en")

    @property
    def de(self) -> str:
        """The sentence in German."""
        return self.in_language("de")

    def in_language(self, language: str) -> str:
        """The sentence in a language."""
        return words_in(language, self.catalogue).said(self.key, **dict(self.blanks))


def sentence(key: str, **blanks: object) -> Statement:
    """A sentence of certificates."""
    return Statement.said("certificates", key, **blanks)


def in_languages(statements: Iterable[Statement]) -> dict[str, list[str]]:
    """Language → sentences."""
    statements = tuple(statements)
    return {language: [one.in_language(language) for one in statements] for language in LANGUAGES}


def check_language(language: str) -> None:
    """Refuse a language in which there are no texts."""
    if language not in LANGUAGES:
        raise InputError(f"language= must be 'en' or 'de', not {language!r}")


@cache
def words_in(language: str, *catalogues: str) -> Words:
    """The texts of some catalogues in a language; of a key in several the last one's holds."""
    import tomllib

    check_language(language)
    texts: dict[str, str | Mapping[str, str]] = {}
    for name in catalogues:
        file = files("diskret.texts").joinpath(language, f"{name}.toml")
        texts |= _flat(tomllib.loads(file.read_text(encoding="utf-8")))
    return Words(language, texts)


def _flat(table: Mapping[str, Any]) -> dict[str, str | Mapping[str, str]]:
    """Texts of inner tables under the keys of both, joined by a point."""
    found: dict[str, str | Mapping[str, str]] = {}
    for key, inner in table.items():
        if isinstance(inner, str) or "other" in inner:
            found[key] = inner
        else:
            found |= {f"{key}.{name}": text for name, text in _flat(inner).items()}
    return found
