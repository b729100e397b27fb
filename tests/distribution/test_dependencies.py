"""All that diskret depends on is free to use, and the page that says what it weighs names it."""

import re

import dependencies
import pytest
from dependencies import GIVES, PAGE, closure, groups, refused_licence

GROUPS = groups()
EVERYTHING = closure(tuple({name for names in GROUPS.values() for name in names}))
PAGE_TEXT = PAGE.read_text("utf-8")


def test_all_licences_are_allowed():
    refused = {name: refused_licence(name, one.licence) for name, one in EVERYTHING.items()}
    assert {name: why for name, why in refused.items() if why is not None} == {}


def test_nothing_that_ships_asks_for_more_than_a_notice_but_the_list_of_certificates():
    shipped = closure(tuple(n for extra, names in GROUPS.items() if extra != "dev" for n in names))
    of_files = {name for name, one in shipped.items() if "MPL" in one.licence}
    assert of_files <= {"certifi"}
    assert "certifi" not in closure(GROUPS[""])


def test_what_the_package_asks_for_is_looked_at():
    assert {"duckdb", "numba", "llvmlite", "pydantic-core"} <= EVERYTHING.keys()
    assert len(closure(GROUPS[""])) >= len(GROUPS[""])


@pytest.mark.parametrize(
    "licence",
    [
        "GPL-3.0-or-later",
        "AGPL-3.0-only",
        "LGPL-2.1-only",
        "MIT AND GPL-2.0-only",
        "GPL-2.0-only OR LGPL-2.1-only",
        "MPL-2.0",
        "BUSL-1.1",
        "GNU General Public License v3 (GPLv3)",
        "Proprietary",
        "UNKNOWN",
        "",
    ],
)
def test_other_licences_are_refused(licence):
    assert "some-package" in (refused_licence("some-package", licence) or "")


@pytest.mark.parametrize(
    "licence",
    ["MIT", "Apache-2.0 OR GPL-3.0-only", "(BSD-2-Clause AND MIT)", "GPL-2.0-only OR MIT"],
)
def test_one_allowed_choice_is_enough(licence):
    assert refused_licence("some-package", licence) is None


def test_each_package_that_is_asked_for_says_what_it_gives():
    asked = {name for extra, names in GROUPS.items() if extra != "dev" for name in names}
    assert asked == GIVES.keys()


def test_the_page_names_what_the_base_installs():
    table = PAGE_TEXT.partition("<!-- base:")[2].partition("<!-- end -->")[0]
    named = {*re.findall(r"^\| ([a-z][\w-]*) \|", table, re.MULTILINE)}
    assert named == closure(GROUPS[""]).keys()


def test_the_page_names_every_extra():
    table = PAGE_TEXT.partition("<!-- extras:")[2].partition("<!-- end -->")[0]
    assert {*re.findall(r"^\| `(\w+)`", table, re.MULTILINE)} == GROUPS.keys() - {"", "dev"}


def test_a_table_is_written_between_its_marks_only():
    page = "a\n<!-- base: written by distribution/dependencies.py -->\nold\n<!-- end -->\nz\n"
    once = dependencies.written(page, "base", "new")
    assert once.startswith("a\n<!-- base") and once.endswith("<!-- end -->\nz\n")
    assert "new" in once and "old" not in once
    assert dependencies.written(once, "base", "new") == once
