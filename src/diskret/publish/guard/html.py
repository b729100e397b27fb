"""What a public page may consist of: markup on a list, and nothing a reader does not see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from diskret.texts import LANGUAGES

_TAGS = frozenset(
    "html head meta title style body main header footer section h1 h2 h3 p ul li b dl dt dd "
    "div figure figcaption table caption thead tbody tr th td code svg line rect text".split()
)
_NUMBER = r"-?\d+(?:\.\d+)?"
_CLASSES = "base|cells|fill|key|kind|n|none|note|open|shut|tiles|wide"
# attribute → what it may say; "href", "src", "style", "hidden", "data-…", "http-equiv" and "on…"
# are not among them, and classes are those of pages for readers
_ATTRIBUTES = {
    name: re.compile(value)
    for name, value in {
        "lang": "|".join(LANGUAGES),
        "charset": "utf-8",
        "name": "viewport",
        "content": "width=device-width",
        "class": _CLASSES,
        "scope": "col|row",
        "role": "img|presentation",
        "aria-label": "(?s:.*)",  # a drawing in words, for those who do not see it
        "viewbox": f"0 0 {_NUMBER} {_NUMBER}",
        "transform": rf"translate\({_NUMBER},{_NUMBER}\)rotate\(-55\)",
        "stroke-dasharray": f"{_NUMBER},1",
        **dict.fromkeys("width height x y x1 x2 y1 y2 stroke-width".split(), _NUMBER),
    }.items()
}
# a backslash could spell the same words otherwise
_STYLE = re.compile(
    r"/\*|\\|://|url\(|@import|\bcontent\s*:|\bdisplay\s*:\s*none|\bvisibility\s*:"
    r"|\bopacity\s*:|\bfont-size\s*:\s*0",
    re.IGNORECASE,
)


def page_problems(path: Path) -> Iterator[str]:
    """What a page holds beyond text, tables and drawings that everybody sees.

    Found are scripts, comments, links, attributes such as ``data-…``, styles that load or hide
    something.
    """
    if not path.exists():
        return
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        yield f"{path.name} is no page in UTF-8"
        return
    reader = _Reader()
    try:
        reader.feed(text)
        reader.close()
    except AssertionError:  # how the parser of the standard library gives up
        reader.found.add("markup that cannot be read")
    if not text.startswith("<!DOCTYPE html>"):
        reader.found.add("no document type")
    for problem in sorted(reader.found):
        yield f"{path.name} has {problem}"


class _Reader(HTMLParser):
    """Collects what is not on the lists; the parser of the standard library calls it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.found: set[str] = set()
        self.in_style = False
        self.in_body = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.in_style = tag == "style"
        self.in_body = self.in_body or tag == "body"
        if tag not in _TAGS:
            self.found.add(f"the element <{tag}>")
        elif tag == "title" and self.in_body:  # shown where a pointer rests, or nowhere
            self.found.add("a title in its body")
        for name, value in attrs:
            if name not in _ATTRIBUTES:
                self.found.add(f"the attribute {name}")
            elif not _ATTRIBUTES[name].fullmatch(value or ""):
                self.found.add(f"another text in the attribute {name}")

    def handle_endtag(self, tag: str) -> None:
        self.in_style = False

    def handle_data(self, data: str) -> None:
        if self.in_style and (wrong := _STYLE.search(data)):
            self.found.add(f"{wrong[0]} in its style")
        if "<" in data:  # text is escaped; this could be markup to a lenient browser
            self.found.add("text that looks like markup")

    def handle_comment(self, data: str) -> None:
        self.found.add("a comment")

    def handle_decl(self, decl: str) -> None:
        if decl != "DOCTYPE html":
            self.found.add("a declaration")

    def unknown_decl(self, data: str) -> None:
        self.found.add("a declaration")

    def handle_pi(self, data: str) -> None:
        self.found.add("a processing instruction")
