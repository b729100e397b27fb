"""HTML from small pieces: whatever is not markup already is escaped."""

from __future__ import annotations

import re
from html import escape

# control characters, and halves of surrogate pairs, which no file can hold
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class Markup(str):
    """Text that is markup already. Only this module makes it, so that nothing is forgotten."""

    __slots__ = ()


def element(tag: str, *content: str, **attributes: str | float | None) -> Markup:
    """An element with its content; text in it is escaped, markup is taken as it is.

    Parameters
    ----------
    tag
        Name of the element.
    content
        Text, or markup from this function.
    attributes
        A closing underscore is taken off a name and others become hyphens (``class_``,
        ``aria_label``); None leaves an attribute out.

    Examples
    --------
    >>> element("td", "<b> & ", element("em", "x"), class_="n")
    '<td class="n">&lt;b&gt; &amp; <em>x</em></td>'
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_escaped(_plain(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{tag}{written}>{joined(content)}</{tag}>")


def joined(content: tuple[str, ...] | list[str]) -> Markup:
    """Pieces one after the other; text is escaped, markup is taken as it is."""
    return Markup("".join(c if isinstance(c, Markup) else _escaped(c) for c in content))


def _plain(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.7g}"


def _escaped(text: str) -> str:
    return escape(_UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text), quote=True)
