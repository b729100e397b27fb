"""German pages say what their English counterparts say: `docs/de/NAME.md` beside `docs/NAME.md`.

Sentences may differ; what can be listed may not: keys and what they may be, codes, claims,
functions, the decisions that give reasons. Whoever adds one to the English page is told here
where it is missing in German.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from diskret.texts.messages import catalogue

DOCS = Path(__file__).parent.parent / "docs"
GERMAN = DOCS / "de"
#: Pages of one subject in both languages; others that are German stand for themselves.
PAGES = sorted(page.name for page in GERMAN.glob("*.md") if (DOCS / page.name).exists())
#: Written for German readers in another order: their lists and tables are their own.
FREE = {"index.md", "quickstart.md"}

#: Said in German where the English page has it in English, or an English example.
OTHERWISE = {
    "microdata.md": {
        "diskret anonymize survey.toml",
        "diskret verify released",
        "released/internal",
    },
    "quickstart.md": {"region", "group_id", "table.cells", "table.rounded(1)", "out/internal/"}
    | {'weight="w"', "weight_decimals=2", "turnover.report.html"},
    "safe.md": {"diskret safe census.toml --time-limit 3600"},
    "workbook-templates.md": {"diskret verify out", "out/public/layout.xlsx"},
}

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)|\]\[([^\]]+)\]")


def read(page: Path) -> str:
    return page.read_text("utf-8")


def prose(text: str) -> str:
    return FENCE.sub("", text)


def words(text: str) -> set[str]:
    """Everything in backticks, blanks and line ends alike."""
    return {" ".join(span.split()) for span in SPAN.findall(prose(text))}


def sections(text: str) -> list[str]:
    return re.split(r"^## ", prose(text), flags=re.MULTILINE)


def rows(section: str) -> list[str]:
    """The lines of all tables but those that draw them."""
    return [line for line in section.splitlines() if re.match(r"\|(?!-)", line)]


def bullets(section: str) -> int:
    return len(re.findall(r"^- ", section, re.MULTILINE))


def targets(page: Path) -> Counter[str]:
    """What a page links to: files from the folder of the documentation, and names of functions."""
    found: Counter[str] = Counter()
    for path, function in LINK.findall(prose(read(page))):
        if function:
            found[function] += 1
        elif not path.startswith(("#", "http")):
            file = (page.parent / path.partition("#")[0]).resolve()
            german = file.parent == GERMAN
            found[(DOCS / file.name if german else file).relative_to(DOCS).as_posix()] += 1
    return found


def numbers(text: str) -> Counter[str]:
    """Numbers of the prose, 5,000 and 5.000 alike; not those of links or in backticks."""
    said = SPAN.sub("", re.sub(r"\]\([^)]*\)", "", prose(text)))
    return Counter(re.sub("[.,]", "", number) for number in re.findall(r"\d+(?:[.,]\d+)*", said))


def calls(text: str) -> set[str]:
    """Functions of the package and options that examples use: what a page shows."""
    code = "\n".join(block for language, block in FENCE.findall(text) if language == "python")
    return set(re.findall(r"\bdk(?:\.\w+)+|\.(?:\w+)(?=\()", code)) - {".split", ".format"}


def test_counterparts_name_each_other():
    assert len(PAGES) >= 11
    for name in PAGES:
        assert f"(de/{name})" in read(DOCS / name).partition("\n## ")[0], name
        assert f"(../{name})" in read(GERMAN / name).partition("\n## ")[0], name


@pytest.mark.parametrize("name", PAGES)
def test_what_stands_in_backticks_stands_in_both(name: str):
    english, german = words(read(DOCS / name)), words(read(GERMAN / name))
    missing = {word for word in english - german if word not in read(GERMAN / name)}
    assert missing == OTHERWISE.get(name, set())


@pytest.mark.parametrize("name", sorted({*PAGES} - FREE))
def test_sections_rows_and_claims_are_as_many(name: str):
    english, german = sections(read(DOCS / name)), sections(read(GERMAN / name))
    if name == "exit-codes.md":  # German readers get messages, too
        german = german[: len(english)]
    assert len(english) <= len(german)
    for ours, theirs in zip(english, german, strict=False):
        assert bullets(ours) == bullets(theirs), ours.partition("\n")[0]
        assert len(rows(ours)) == len(rows(theirs)), ours.partition("\n")[0]


@pytest.mark.parametrize("name", sorted({*PAGES} - FREE))
def test_rows_name_the_same(name: str):
    """Row by row: the keys, codes and values that English and German rows name."""
    english, german = rows(read(DOCS / name)), rows(read(GERMAN / name))
    for ours, theirs in zip(english, german, strict=False):
        first = ours.split("|")[1]
        assert words(ours) <= words(theirs), first
        assert re.findall(r"\*(?=[,;| ])", ours) == re.findall(r"\*(?=[,;| ])", theirs), first
        assert SPAN.findall(first) == SPAN.findall(theirs.split("|")[1])


@pytest.mark.parametrize("name", PAGES)
def test_numbers_are_the_same(name: str):
    english, german = numbers(read(DOCS / name)), numbers(read(GERMAN / name))
    assert english - german == Counter()
    if name not in FREE | {"exit-codes.md"}:
        assert german - english == Counter()


@pytest.mark.parametrize("name", sorted({*PAGES} - {"index.md"}))
def test_german_pages_lead_where_the_english_do(name: str):
    missing = targets(DOCS / name) - targets(GERMAN / name) - Counter({f"de/{name}": 1, name: 1})
    assert sorted({target for target in missing if target not in targets(GERMAN / name)}) == []


@pytest.mark.parametrize("name", PAGES)
def test_examples_show_the_same_functions(name: str):
    missing = calls(read(DOCS / name)) - calls(read(GERMAN / name))
    assert sorted(call for call in missing if call not in read(GERMAN / name)) == []


@pytest.mark.parametrize("name", ["exit-codes.md", "quickstart.md"])
def test_messages_are_quoted_as_they_are(name: str):
    """Each is part of a German message of the catalogue, … standing for what a message fills in.

    Of forms by number it is that of several.
    """
    cells = re.findall(r"^\| (\*[^|]+\*) \|", read(GERMAN / name), re.MULTILINE)
    quoted = [part for cell in cells for part in re.findall(r"\*([^*]+)\*", cell)]
    several = (re.sub(r"\{\d+:[^|{}]*\|([^{}]*)\}", r"\1", text) for text in catalogue().values())
    said = [re.sub(r"\{\d+\}", "…", german) for german in several]
    assert quoted
    assert [quote for quote in quoted if not any(quote in message for message in said)] == []
