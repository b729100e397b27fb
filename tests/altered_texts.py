"""Every text of a public JSON file, altered in every way that somebody may think of."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

#: What somebody would like readers to believe.
LIE = {"en": "Nobody can recognise anybody.", "de": "Niemand kann jemanden erkennen."}
CLAIMS = ("claimed", "not_claimed")
Pairs = list[tuple[str, str]]


def pairs_of(said: dict[str, Any], key: str) -> Pairs:
    """Sentences of a certificate, each in both languages."""
    return list(zip(said[key]["en"], said[key]["de"], strict=True))


def altered_claims(said: dict[str, Any], plausible: Iterable[tuple[str, str]]) -> Iterator[Any]:
    """(what was done, the certificate) for each way to alter what is claimed and what is not."""
    lie, others = (LIE["en"], LIE["de"]), list(plausible)
    for key, other in (CLAIMS, CLAIMS[::-1]):
        pairs = pairs_of(said, key)

        def made(new: Pairs, key: str = key, **more: Pairs) -> dict[str, Any]:
            lists = {key: new, **more}
            return said | {
                one: {"en": [text for text, _ in own], "de": [text for _, text in own]}
                for one, own in lists.items()
            }

        yield f"{key}: nothing", made([])
        for at in range(len(pairs) + 1):
            yield f"{key}: a lie at {at}", made([*pairs[:at], lie, *pairs[at:]])
        for at, pair in enumerate(pairs):
            rest = [*pairs[:at], *pairs[at + 1 :]]
            yield f"{key}: {at} left out", made(rest)
            yield f"{key}: {at} replaced", made([*pairs[:at], lie, *pairs[at + 1 :]])
            yield f"{key}: {at} twice", made([*pairs[:at], pair, *pairs[at:]])
            yield f"{key}: {at} goes over", made(rest, **{other: [*pairs_of(said, other), pair]})
            if rest:
                before = at - 1 if at else len(rest)
                yield f"{key}: {at} elsewhere", made([*rest[:before], pair, *rest[before:]])
        for pair in others:
            if pair not in pairs:
                for at in range(len(pairs) + 1):
                    yield f"{key}: another at {at}", made([*pairs[:at], pair, *pairs[at:]])
                for at in range(len(pairs)):
                    yield f"{key}: {at} by another", made([*pairs[:at], pair, *pairs[at + 1 :]])
        for language in ("en", "de"):
            texts = said[key][language]
            for new in ([], [*texts, LIE[language]], texts[1:], [LIE[language], *texts[1:]]):
                yield f"{key}: {language} only", said | {key: said[key] | {language: new}}
            left = {one: texts for one, texts in said[key].items() if one != language}
            yield f"{key}: no {language}", said | {key: left}
        yield f"{key}: French", said | {key: said[key] | {"fr": [LIE["en"]]}}


def texts_of(said: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """(path, text or list of texts) of all texts of a file."""
    if isinstance(said, str):
        yield path, said
    elif isinstance(said, dict):
        for key, inner in said.items():
            yield from texts_of(inner, (*path, key))
    elif isinstance(said, list):
        if said and all(isinstance(one, str) for one in said):
            yield path, said
        for at, inner in enumerate(said):
            yield from texts_of(inner, (*path, at))


def place(path: tuple[Any, ...]) -> str:
    """A path without the numbers in lists: what kind of text it is."""
    return ".".join("*" if isinstance(key, int) else key for key in path)


def altered_texts(said: Any, plausible: dict[str, set[str]]) -> Iterator[Any]:
    """(place, what was done, the file) for each way to alter a text."""
    for path, text in texts_of(said):
        where = place(path)
        if isinstance(text, list):
            for at in range(len(text)):
                yield where, "left out", put(said, path, [*text[:at], *text[at + 1 :]])
            yield where, "a lie more", put(said, path, [*text, LIE["en"]])
            yield where, "nothing", put(said, path, [])
        else:
            yield where, "a lie", put(said, path, LIE["en"])
            yield where, "a lie more", put(said, path, f"{text} {LIE['en']}")
            if text:
                yield where, "empty", put(said, path, "")
            for other in sorted(plausible.get(where, set()) - {text}):
                yield where, "another", put(said, path, other)
        if isinstance(path[-1], str):
            yield where, "left out", put(said, path, None)


def put(said: Any, path: tuple[Any, ...], text: Any) -> Any:
    """A copy with another text at a place; None: without it."""
    new = copy.deepcopy(said)
    inner = new
    for key in path[:-1]:
        inner = inner[key]
    if text is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = text
    return new
