"""docs/coverage.md from docs/coverage.toml: what five documents contain, and where it is here.

``python tests/coverage_page.py`` writes the page.
"""

import tomllib
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
DATA = DOCS / "coverage.toml"
PAGE = DOCS / "coverage.md"

STATES = {
    "shown": "shown",
    "erratum": "shown, with a correction",
    "partly": "partly",
    "named": "only named",
    "outside": "nothing to compute",
}
_HEAD = """---
hide:
  - toc
---

# Coverage of five documents

Every rule, method, program, example and printed number of five documents on disclosure control,
with the function that does it, the tests that show it and the page that explains it. What does not
work, or is only named in the document, says so. The [lectures](lectures/index.md) follow the
documents example by example; what is wrong in them stands in the [errata](errata.md).

This page is made from `docs/coverage.toml`. A test checks that all that is named exists, and that
no test of the documents is missing.
"""


def read() -> dict:
    """The data."""
    return tomllib.loads(DATA.read_text(encoding="utf-8"))


def rows_of(data: dict) -> list[dict]:
    """All rows of all documents."""
    return [row for document in data["document"] for row in document["rows"]]


def page(data: dict) -> str:
    """The page as Markdown."""
    states = [row.get("state", "shown") for row in rows_of(data)]
    parts = [_HEAD, _table(["State", "Rows"], [[STATES[s], str(states.count(s))] for s in STATES])]
    left = [row for row in rows_of(data) if row.get("state") in ("partly", "named")]
    parts += ["## What is missing", "".join(f"- {row['what']}: {row['note']}\n" for row in left)]
    for document in data["document"]:
        title = document["title"].replace("*", "")
        links = ", ".join(_link(place) for place in document["pages"])
        table = _table(
            ["What, and where", "diskret, pages", "Tests", "State"],
            [_cells(row) for row in document["rows"]],
        )
        parts += [f"## {title}", f"Followed in {links}.\n", table]
    parts += [
        "## Other tests of printed values",
        "Beside those of the documents, literature and other programs suggested:\n",
        _table(
            ["Tests", "Pages"],
            [[f"`{test}`", _link(place)] for test, place in data["elsewhere"].items()],
        ),
    ]
    return "\n".join(parts)


def _cells(row: dict) -> list[str]:
    state, note = STATES[row.get("state", "shown")], row.get("note")
    names = ", ".join(f"`{name}`" for name in row.get("with", []))
    places = ", ".join(_link(place) for place in row.get("pages", []))
    return [
        f"{row['what']}<br>*{row['at']}*",
        "<br>".join(filter(None, (names, places))),
        "<br>".join(f"`{test}`" for test in row.get("tests", [])),
        f"{state}: {note}" if note else state,
    ]


def _link(place: str) -> str:
    return f"[{place.removesuffix('.md')}]({place})"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell or '–' for cell in line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(read()), encoding="utf-8")
