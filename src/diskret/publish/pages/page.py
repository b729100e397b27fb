"""The page around a report, and the parts that both reports have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from diskret.errors import InputError
from diskret.publish.pages.markup import Markup, element, joined
from diskret.publish.pages.settings import told
from diskret.publish.pages.texts import code_text, heading, measure
from diskret.tables import CHANGES, Published
from diskret.texts import Words, number, percent, words_in

_STYLE = """
:root{--ink:#1d2730;--quiet:#5a6672;--line:#d8dee4;--open:#d5dde5;--shut:#2f4f6f;--paper:#fff}
*{box-sizing:border-box}
body{margin:0;background:#f3f5f7;color:var(--ink);line-height:1.5;
font:15px/1.5 system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1120px;margin:24px auto;padding:36px 44px 28px;background:var(--paper);
border:1px solid var(--line)}
header{border-bottom:2px solid var(--ink);padding-bottom:14px;margin-bottom:22px}
h1{font-size:27px;line-height:1.2;margin:2px 0 0;overflow-wrap:anywhere}
h2{font-size:19px;margin:34px 0 6px}
h3{font-size:15px;margin:20px 0 4px}
p{margin:4px 0 10px;max-width:76ch}
.kind{color:var(--quiet);font-size:13px;letter-spacing:.04em;text-transform:uppercase;margin:0}
.note,figcaption,caption,footer{color:var(--quiet);font-size:13px}
caption{white-space:nowrap}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:12px;
margin:0 0 18px;padding:0;list-style:none}
.tiles li{border:1px solid var(--line);border-left:4px solid var(--quiet);padding:8px 14px}
.tiles b{display:block;font-size:24px;font-weight:600;font-variant-numeric:tabular-nums}
.tiles .shut{border-left-color:var(--shut)}.tiles .open{border-left-color:#a9b8c6}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 20px;margin:0}
dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere}
.wide{overflow-x:auto}
table{border-collapse:collapse;margin:6px 0 14px;font-size:13.5px}
.cells tbody th{min-width:230px}.cells{font-size:12.5px}
caption{text-align:left;padding:0 0 4px}
th,td{padding:3px 12px 3px 0;border-bottom:1px solid var(--line);text-align:left;
vertical-align:middle;unicode-bidi:isolate}
thead th{border-bottom:1.5px solid var(--ink);font-weight:600;vertical-align:bottom}
tbody th{font-weight:400;min-width:64px}th:first-child{overflow-wrap:break-word}
td svg{display:block}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
code{font:12px/1.4 ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}
figure{margin:8px 0 14px}
figure svg{display:block;max-width:100%;height:auto;margin:0 0 6px}
svg text{font:10px system-ui,"Segoe UI",Roboto,Arial,sans-serif;fill:var(--ink)}
svg .open{stroke:var(--open)}svg .shut{stroke:var(--shut)}svg .none{stroke:#b3bcc5}
rect.base{fill:#e9edf1}rect.fill{fill:var(--shut)}
.key{display:flex;gap:22px;flex-wrap:wrap;font-size:13px;margin:4px 0 8px;padding:0;
list-style:none}
.key svg{display:inline-block;vertical-align:-2px;margin-right:6px}
footer{border-top:1px solid var(--line);margin-top:30px;padding-top:8px}
@page{size:A4;margin:14mm}
@media print{body{background:none;font-size:12px}main{border:0;margin:0;padding:0;max-width:none}
tr,figure svg,.tiles li,dl{break-inside:avoid}h2,h3,caption{break-after:avoid}
.wide{overflow:visible}table{font-size:11px}thead{display:table-header-group}
.tiles,rect{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""

Row = Sequence[str]


def write_page(
    path: str | PathLike[str],
    *,
    language: str,
    title: str,
    kind: str,
    body: Iterable[Markup],
    footer: str,
    style: str = "",
) -> None:
    """Write a page that needs nothing but itself: no script, no link, no font, no image.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    head = joined(
        [
            Markup('<meta charset="utf-8">'),
            Markup('<meta name="viewport" content="width=device-width">'),
            element("title", title),
            Markup(f"<style>{_STYLE}{style}</style>"),
        ]
    )
    header = element("header", element("p", kind, class_="kind"), element("h1", title))
    main = element("main", header, *body, element("footer", footer))
    page = element("html", element("head", head), "\n", element("body", main), lang=language)
    try:
        Path(path).write_text(f"<!DOCTYPE html>\n{page}\n", encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(
            f"{path}: the report cannot be written ({error.strerror}); is the folder missing "
            "or full?"
        ) from None


def section(title: str, *content: str) -> Markup:
    """A part of the page below its heading."""
    return joined(["\n", element("section", element("h2", title), *content)])


def data_table(
    head: Row,
    rows: Iterable[Row],
    *,
    caption: str | None = None,
    text: int = 1,
    style: str | None = None,
) -> Markup:
    """A table: the first column heads the rows, and the columns from `text` on are numbers.

    Columns of markup, such as bars, are none. All rows are as long as the head.
    """
    rows = list(rows)
    pictures = {i for row in rows for i, content in enumerate(row) if isinstance(content, Markup)}
    kinds = ["n" if i >= text and i not in pictures else None for i in range(len(head))]

    def cell(i: int, content: str) -> Markup:
        if i == 0:
            return element("th", content, scope="row")
        return element("td", content, class_=kinds[i])

    top = [element("th", h, scope="col", class_=kinds[i]) for i, h in enumerate(head)]
    lines = [element("tr", *(cell(i, c) for i, c in enumerate(row))) for row in rows]
    body = element("tbody", *(joined([line, "\n"]) for line in lines))
    named = [] if caption is None else [element("caption", caption)]
    return element(
        "div",
        element("table", *named, element("thead", element("tr", *top)), body, class_=style),
        class_="wide",
    )


def bar(share: float, alt: str, style: str = "fill") -> Markup:
    """A bar that fills a share of its frame."""
    inner = [element("rect", width=140, height=10, class_="base")]
    if share > 0:
        inner.append(element("rect", width=max(140 * min(share, 1.0), 1), height=10, class_=style))
    return element("svg", *inner, width=140, height=10, role="img", aria_label=alt)


def overview(published: Published, language: str, tiles: Sequence[Markup] = ()) -> Markup:
    """What was published, in numbers."""
    words = words_in(language, "report")
    cells = int(published.value.size)
    suppressed, empty = int(published.suppressed.sum()), int(published.empty.sum())
    boxes = [
        tile(cells, words["cells, totals included"], language),
        tile(cells - suppressed - empty, words["published"], language, "open"),
        tile(suppressed, words["suppressed"], language, "shut", suppressed / max(cells - empty, 1)),
        *tiles,
        tile(empty, words["empty"], language),
    ]
    by = [
        words["codes"].format(name=d.name, count=number(len(d), language))
        for d in published.dimensions
    ]
    facts = {
        words["table"]: published.name,
        words["measure"]: measure(published, words),
        words["dimensions"]: ", ".join(by),
        **_circumstances(published, language),
    }
    pairs = [joined([element("dt", k), element("dd", v)]) for k, v in facts.items()]
    return section(words["summary"], element("ul", *boxes, class_="tiles"), element("dl", *pairs))


def _circumstances(published: Published, language: str) -> dict[str, str]:
    """Period, population, rounding and published intervals, where there are any."""
    words, told = words_in(language, "report"), dict[str, str]()
    if published.vintage:
        told[words["vintage"]] = published.vintage
    if published.where:
        told[words["where"]] = published.where.words(f" {words['or']} ", words["to"])
    if published.rounding > 1:
        unit = published.rounding / 10**published.decimals
        told[words["rounding"]] = number(unit, language, published.decimals)
    if published.intervals:
        told[words["in place of values"]] = words["intervals shown"]
    if published.changed:
        told[words["changed"]] = words[f"changed {published.changed}"]
    return told


def tile(
    count: int, name: str, language: str, style: str | None = None, share: float | None = None
) -> Markup:
    """One number of the overview."""
    part = "" if share is None else f" ({percent(share, language)})"
    return element("li", element("b", number(count, language)), name + part, class_=style)


def statements(certificate: Mapping[str, Any], language: str) -> list[Markup]:
    """What is claimed and what is not, as lists of sentences."""
    words = words_in(language, "report")
    parts: list[Markup] = []
    for key in ("claimed", "checked", "not_claimed"):
        sentences = certificate.get(key, {}).get(language, [])
        if sentences:
            # what was changed at random is claimed by design, not proven for each cell, and
            # risks of records are estimates
            family = certificate.get("family")
            changed = key == "claimed" and family in (*CHANGES, "microdata")
            parts.append(element("h3", words["claimed and checked" if changed else key]))
            parts.append(element("ul", *(element("li", str(s)) for s in sentences)))
    return parts


def file_list(certificate: Mapping[str, Any], words: Words) -> list[Markup]:
    """The files that belong to a report, with their digests."""
    files: Mapping[str, str] = certificate.get("files", {})
    if not files:
        return []
    rows = [(name, element("code", digest)) for name, digest in files.items()]
    return [
        section(
            words["files"],
            element("p", words["files note"], class_="note"),
            data_table((words["file"], words["digest"]), rows),
        )
    ]


def setting_list(settings: Mapping[str, Any], words: Words) -> Markup:
    """Settings in words; of entries by column only their number."""
    return data_table((words["setting"], ""), told(settings, words.language), text=2)


def cell_texts(published: Published, cells: Iterable[int], language: str) -> list[str]:
    """The codes of cells, given as positions in C order, in words."""
    words = words_in(language, "report")
    found: list[str] = []
    for cell in cells:
        at = np.unravel_index(cell, published.shape)
        texts = [code_text(d, int(i), words) for d, i in zip(published.dimensions, at, strict=True)]
        found.append(" · ".join(texts))
    return found


def page_title(published: Published, title: str | None, language: str) -> str:
    """The heading of the page."""
    return heading(published, title, words_in(language, "report"))
