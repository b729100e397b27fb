"""Tables in pages of HTML, and all in a page that a reader does not see."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

from diskret.outputs.files.looked_at import Found
from diskret.outputs.files.tables import Said, columns_of, look
from diskret.outputs.profile import Profile

#: Elements that hold more than they show, or load something.
_EMBEDDED = (
    "script", "iframe", "object", "embed", "applet", "form", "input", "textarea", "select", "svg",
    "canvas", "audio", "video", "source", "template", "noscript", "base", "link", "portal",
)  # fmt: skip
#: Attributes that change how a page looks and no more.
_HARMLESS = (
    "class", "id", "style", "border", "align", "valign", "width", "height", "scope", "colspan",
    "rowspan", "lang", "dir", "cellpadding", "cellspacing", "bgcolor", "xmlns", "xml:lang",
)  # fmt: skip
_OF_STYLES = ("type", "scoped", "media")
_META = ("viewport",)
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(hidden|collapse)|opacity\s*:\s*0(\.0*)?\s*(;|$)|"
    r"font-size\s*:\s*0|(?<![-\w])color\s*:\s*(transparent|white|#fff(fff)?\b)|"
    r"text-indent\s*:\s*-|(left|top)\s*:\s*-|(?<![-\w])clip(-path)?\s*:|"
    r"(?<!line-)(height|width)\s*:\s*0(?![.\d])",
    re.IGNORECASE,
)
_LOADING = re.compile(r"url\s*\(|@import|content\s*:|expression\s*\(", re.IGNORECASE)
_TITLES = ("title", "caption", "h1", "h2", "h3", "h4", "h5", "h6")
_VOID = (
    "br", "hr", "img", "meta", "col", "wbr", "area", "track", "param", "input", "link", "base",
    "embed", "source",
)  # fmt: skip
_INLINE = ("b", "em", "i", "span", "strong", "u")
_MOST = 1_000  # cells that one may span


def html(text: str, said: Said, profile: Profile, place: tuple[str, ...] = ()) -> list[Found]:
    """What a page shows in tables, says in words, and hides."""
    page = _Page()
    page.feed(text)
    page.close()
    if page.end_table():
        page.odd.append("table")
    found = [
        Found(check, [(*place, one) for one in dict.fromkeys(where)])
        for check, where in (
            ("embedded", page.embedded),
            ("hidden", page.hidden),
            ("comments", page.comments),
            ("metadata", page.metadata),
            ("prose", page.prose),
            ("unknown", page.odd),
        )
        if where
    ]
    for number, one in enumerate(page.tables):
        where = place if len(page.tables) == 1 else (*place, f"table {number + 1}")
        columns = columns_of(one.rows, one.heads)
        if columns is None:
            found.append(Found("unknown", [where] if where else []))
        else:
            found += look(columns, said, profile, where)
    if not page.tables and not found:
        found.append(Found("unknown", [place] if place else []))
    return found


@dataclass
class _Table:
    rows: list[list[str]] = field(default_factory=list[list[str]])
    heads: int = 0
    below: dict[int, tuple[int, str]] = field(default_factory=dict[int, tuple[int, str]])


class _Page(HTMLParser):
    """Reads a page from its beginning to its end."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[_Table] = []
        self.embedded: list[str] = []
        self.hidden: list[str] = []
        self.comments: list[str] = []
        self.metadata: list[str] = []
        self.prose: list[str] = []
        self.odd: list[str] = []
        self._open: list[str] = []
        self._table: _Table | None = None
        self._row: list[tuple[str, int, int, bool]] | None = None  # text, across, down, heading
        self._cell: list[str] | None = None
        self._spans = (1, 1, False)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        where = f"<{tag}>, line {self.getpos()[0]}"
        given = {name: value or "" for name, value in attrs}
        self._look_at(tag, given, where)
        if tag not in _VOID:
            self._open.append(tag)
        if self._cell is not None and tag not in _INLINE:  # 4 above 0 is not 40
            self._cell.append(" ")
        if tag == "table":
            if self._table is not None:
                self.odd.append(where)  # a table in a table
            self._table = _Table()
        elif tag == "tr" and self._table is not None:
            self._end_row()
            self._row = []
        elif tag in ("td", "th") and self._table is not None:
            self._end_cell()
            self._row = [] if self._row is None else self._row
            across, down = _span(given.get("colspan", "1")), _span(given.get("rowspan", "1"))
            if across is None or down is None:
                self.odd.append(where)
            self._spans = across or 1, down or 1, tag == "th" and "thead" in self._open
            self._cell = []

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass
        if tag in ("td", "th"):
            self._end_cell()
        elif tag == "tr":
            self._end_row()
        elif tag == "table":
            self.end_table()

    def handle_data(self, data: str) -> None:
        where = f"line {self.getpos()[0]}"
        inside = self._open[-1] if self._open else ""
        if "style" in self._open:
            if _LOADING.search(data):
                self.embedded.append(f"<style>, {where}")
            if _HIDING.search(data):
                self.hidden.append(f"<style>, {where}")
            if "/*" in data:
                self.comments.append(f"<style>, {where}")
        elif {"script", *_EMBEDDED} & {*self._open}:
            return  # told already
        elif self._cell is not None:
            self._cell.append(data)
        elif data.strip() and (inside not in _TITLES or re.search(r"\d", data)):
            self.prose.append(where)

    def handle_comment(self, data: str) -> None:
        self.comments.append(f"line {self.getpos()[0]}")

    def handle_decl(self, decl: str) -> None:
        if not decl.lower().startswith("doctype"):
            self.odd.append(f"line {self.getpos()[0]}")

    def unknown_decl(self, data: str) -> None:
        self.odd.append(f"line {self.getpos()[0]}")

    def handle_pi(self, data: str) -> None:
        self.odd.append(f"line {self.getpos()[0]}")

    def end_table(self) -> bool:
        """Close a table; whether there was one."""
        self._end_row()
        if self._table is None:
            return False
        if any(left for left, _ in self._table.below.values()):
            self.odd.append("rowspan")
        self.tables.append(self._table)
        self._table = None
        return True

    def _look_at(self, tag: str, given: dict[str, str], where: str) -> None:
        if tag in _EMBEDDED or (tag == "img" and "src" in given):
            self.embedded.append(where)
        style = given.get("style", "")
        none = any(given.get(name, "").startswith("0") for name in ("width", "height"))
        if "hidden" in given or none or _HIDING.search(style):
            self.hidden.append(where)
        if _LOADING.search(style):
            self.embedded.append(where)
        if tag == "meta":
            known = given.get("name", "").lower() in _META or "charset" in given
            if not known and given.get("http-equiv", "").lower() != "content-type":
                self.metadata.append(given.get("name", where))
        elif tag not in _EMBEDDED:
            known = (*_HARMLESS, "hidden", "src", *(_OF_STYLES if tag == "style" else ()))
            odd = [name for name in given if name not in known]
            self.embedded += [f"{name}=, {where}" for name in odd]

    def _end_cell(self) -> None:
        if self._cell is not None and self._row is not None:
            across, down, heading = self._spans
            self._row.append((" ".join("".join(self._cell).split()), across, down, heading))
        self._cell = None

    def _end_row(self) -> None:
        self._end_cell()
        if self._table is None or self._row is None:
            self._row = None
            return
        table, row = self._table, self._row
        whole: list[str] = []
        heading = bool(row) and all(one[3] for one in row)

        def fill() -> None:  # what spans down into this row
            while table.below.get(len(whole), (0, ""))[0]:
                left, text = table.below[len(whole)]
                table.below[len(whole)] = left - 1, text
                whole.append(text)

        for text, across, down, _ in row:
            fill()
            for _ in range(across):
                if down > 1:
                    table.below[len(whole)] = down - 1, text
                whole.append(text)
        fill()
        if heading and table.heads == len(table.rows):
            table.heads += 1
        table.rows.append(whole)
        self._row = None


def _span(text: str) -> int | None:
    return int(text) if text.isdigit() and 1 <= int(text) <= _MOST else None
