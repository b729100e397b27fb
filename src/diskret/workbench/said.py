"""Warnings, as the command prints them."""

from __future__ import annotations

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

from diskret.texts import words_in
from diskret.texts.messages import translated

#: What hears warnings is one for the whole process.
_ONE = Lock()


@contextmanager
def heard(language: str) -> Generator[list[str]]:
    """The warnings of what is done inside, each once."""
    said: list[str] = []
    with _ONE, warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield said
    told = [one for one in found if issubclass(one.category, UserWarning)]
    words = words_in(language, "commands")
    texts = [words.said("warning", message=translated(str(one.message), language)) for one in told]
    said.extend(dict.fromkeys(texts))
