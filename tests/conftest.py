"""How tests run: how many examples, which need Spark or reference data, what a skip means."""

import os
import shutil
from collections import Counter
from pathlib import Path

import garbage
import profiles
import pytest
from hypothesis import is_hypothesis_test, settings

ROOT = Path(__file__).parent.parent
VARIABLE = "DISKRET_REFERENCE_DATA"
#: As many quick tests take as long as one that is long, has many examples, or waits for a program.
_MUCH = 30
_PROGRAMS = ("spark", "office", "browser")

settings.load_profile(profiles.USUAL)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection():
    with garbage.nowhere():
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark what needs more than a checkout: `make test` leaves it out, others ask for it."""
    for item in items:
        if "reference_data" in getattr(item, "fixturenames", ()):
            item.add_marker("reference")
        if any(mark.args == ("spark",) for mark in item.iter_markers("xdist_group")):
            item.add_marker("spark")
        if behind_others(item):
            item.add_marker("no_cover")
    if getattr(config.option, "loadgroup", False):
        longest_first(items)


def behind_others(item) -> bool:
    """Whether tests with fixed input stand before this one, so that coverage need not follow it."""
    return is_hypothesis_test(getattr(item, "obj", None)) or any(
        item.get_closest_marker(name) for name in ("long", "reference")
    )


def longest_first(items) -> None:
    """Begin with the files and groups that take long, so that none of them is waited for."""
    weights = Counter()
    for item in items:
        much = behind_others(item) or any(item.get_closest_marker(name) for name in _PROGRAMS)
        weights[group_of(item)] += _MUCH if much else 1
    items.sort(key=lambda item: -weights[group_of(item)])


def group_of(item) -> str:
    """What is run by one process: a group, or a file without one."""
    mark = item.get_closest_marker("xdist_group")
    return mark.args[0] if mark else item.nodeid.partition("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A file without a group is a group: what it prepares is prepared in one process only."""
    from xdist.scheduler import LoadGroupScheduling

    class Files(LoadGroupScheduling):  # pyright: ignore[reportUntypedBaseClass]
        def _split_scope(self, nodeid):
            return super()._split_scope(nodeid).partition("::")[0]

    config.option.loadscopereorder = False  # else by how many tests they have
    return Files(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """Folder of published reference data and of results of other programs."""
    folder = ROOT / os.environ.get(VARIABLE, "../shared")
    if not folder.is_dir():
        pytest.fail(
            f"there is no folder {folder} of reference data: {VARIABLE} names it", pytrace=False
        )
    return folder


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return no_silent_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return no_silent_skip((yield))


def no_silent_skip(report):
    """Where the reference data are promised, only a skip that calls itself optional is one."""
    if os.environ.get(VARIABLE) and report.skipped and not hasattr(report, "wasxfail"):
        reason = reason_of(report)
        if not reason.startswith("optional:"):
            report.outcome = "failed"
            report.longrepr = f"skipped although {VARIABLE} is set: {reason}"
    return report


def reason_of(report) -> str:
    longrepr = report.longrepr
    reason = longrepr[2] if isinstance(longrepr, list | tuple) else str(longrepr)
    return reason.removeprefix("Skipped: ")


@pytest.fixture(scope="module")
def browser():
    """Chromium, for tests that are marked `browser`; its loop must not outlive them."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    assert program, "Chromium is missing"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()
