"""What a notebook shows of a value: a small card, whose badge says whether it may leave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from diskret.texts.catalogue import Words, words_in
from diskret.texts.markup import template

#: Colours of what is shown, of what is suppressed, and of what is empty or does not matter.
OPEN, SHUT, NONE = "#a9c3b4", "#2f4f6f", "#e9edf1"
_MOST = 12


@dataclass(frozen=True)
class Grid:
    """A small table: its head, and for each row what heads it, with texts and colours."""

    head: Sequence[str]
    rows: Sequence[tuple[str, Sequence[tuple[str, str]]]]


def card(
    title: str,
    facts: Mapping[str, object],
    *,
    office: bool,
    parts: Iterable[tuple[str, int, str]] = (),
    grid: Grid | None = None,
    said: Sequence[str] = (),
) -> str:
    """A card as HTML.

    `facts`: key of the catalogue ``cards``, or a name → a text or a whole number. `office`: whether
    it is confidential; even then a card holds no record, no value and no key, for a notebook is
    saved with what it shows. `parts` of a whole: key, count, colour. `grid`: public values. `said`:
    sentences.
    """
    words = cards()
    counted = [(words[name], count, colour) for name, count, colour in parts]
    whole = sum(count for _, count, _ in counted) or 1
    return template("diskret.texts", "card.html").render(
        words=words,
        title=title,
        office=office,
        facts=[(words.get(name, name), words.written(fact)) for name, fact in facts.items()],
        parts=[
            {
                "name": name,
                "figure": words.written(count),
                "width": f"{100 * count / whole:.1f}",
                "colour": colour,
            }
            for name, count, colour in counted
        ],
        grid=grid,
        said=said,
    )


def named(names: Sequence[str]) -> str:
    """Some names of many."""
    more = len(names) - _MOST
    rest = [cards().said("more", count=more)] if more > 0 else []
    return ", ".join([*names[:_MOST], *rest])


def cards() -> Words:
    """The texts of cards, in the language of all that Python shows."""
    return words_in("en", "cards")
