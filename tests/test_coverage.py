"""The coverage page names what exists, all of it, and is made from its data."""

import fnmatch
import re
from importlib import import_module
from pathlib import Path

import coverage_page
import pytest

TESTS = Path(__file__).parent
DATA = coverage_page.read()
ROWS = coverage_page.rows_of(DATA)
NAMED = [*DATA["elsewhere"], *(test for row in ROWS for test in row.get("tests", []))]


def names_in(file: Path) -> list[str]:
    return re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)


def there(test: str) -> bool:
    """Whether a file, or a test in it, exists; an asterisk stands for any name."""
    path, _, name = test.partition("::")
    files = [*TESTS.glob(path)]
    return bool(files) and (not name or any(name in names_in(file) for file in files))


def resolved(name: str):
    """What stands below `diskret` by this name."""
    first, *rest = name.split(".")
    found = getattr(import_module("diskret"), first)
    for part in rest:
        found = getattr(found, part)
    return found


def test_page_is_made_from_its_data():
    made = coverage_page.page(DATA)
    assert coverage_page.PAGE.read_text(encoding="utf-8") == made, (
        "python tests/coverage_page.py writes the page"
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['at']}: {row['what']}"[:70])
def test_row_names_what_exists(row):
    for name in row.get("with", []):
        assert resolved(name) is not None
    assert [test for test in row.get("tests", []) if not there(test)] == []
    pages = row.get("pages", [])
    assert [page for page in pages if not (coverage_page.DOCS / page).is_file()] == []
    state = row.get("state", "shown")
    assert state in coverage_page.STATES
    if state == "shown":
        assert row["with"] and row["tests"] and pages and "note" not in row
    else:
        assert row["note"]
    assert {*row} <= {"at", "what", "with", "tests", "pages", "state", "note"}


def test_pages_of_documents_and_other_tests_exist():
    places = [*DATA["elsewhere"].values(), *(p for d in DATA["document"] for p in d["pages"])]
    assert [place for place in places if not (coverage_page.DOCS / place).is_file()] == []
    assert [test for test in DATA["elsewhere"] if not there(test)] == []


def test_no_test_of_the_documents_is_missing():
    missing = [
        f"seeds/{file.name}::{name}"
        for file in sorted((TESTS / "seeds").glob("test_*.py"))
        for name in names_in(file)
        if not covers(f"seeds/{file.name}", name)
    ]
    assert missing == [], "name them in docs/coverage.toml, in a row or under [elsewhere]"


def covers(path: str, name: str) -> bool:
    """Whether a test is named, itself or as one of its whole file."""
    for test in NAMED:
        of, _, only = test.partition("::")
        # a row of a document names its tests one by one; a whole file is enough elsewhere
        whole = not only and test in DATA["elsewhere"]
        if fnmatch.fnmatch(path, of) and (only == name or whole):
            return True
    return False


def test_what_does_not_exist_is_noticed():
    assert not there("seeds/test_lecture_abs.py::test_nothing")
    assert not there("seeds/test_nothing.py")
    with pytest.raises(AttributeError):
        resolved("rules.Nothing")
    assert not covers("seeds/test_lecture_abs.py", "test_nothing")


def test_every_erratum_names_its_source():
    """Printed numbers that are not reproduced stand in the errata."""
    errata = (coverage_page.DOCS / "errata.md").read_text(encoding="utf-8")
    for author in ("Heinzl", "Meindl", "Simon", "SAFE"):
        assert author in errata
