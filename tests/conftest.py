"""How tests run: how many examples, where reference data lie, what a skip means."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent.parent
VARIABLE = "DISKRET_REFERENCE_DATA"
MISSING = "reference data are missing"

settings.register_profile("ci", derandomize=True, max_examples=100, deadline=None)
settings.register_profile("thorough", max_examples=2000, deadline=None)
settings.load_profile("ci")


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """Folder of published reference data and of results of other programs."""
    named = os.environ.get(VARIABLE)
    folder = ROOT / (named or "../shared")
    if folder.is_dir():
        return folder
    if named:
        pytest.fail(f"{VARIABLE} names a folder that does not exist: {named}", pytrace=False)
    pytest.skip(f"{MISSING}: set {VARIABLE} to their folder")


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


def pytest_terminal_summary(terminalreporter):
    skipped = terminalreporter.stats.get("skipped", [])
    missing = sum(reason_of(report).startswith(MISSING) for report in skipped)
    if missing:
        terminalreporter.write_line(
            f"{missing} tests skipped because {MISSING} ({VARIABLE} is not set)", yellow=True
        )


def reason_of(report) -> str:
    longrepr = report.longrepr
    reason = longrepr[2] if isinstance(longrepr, list | tuple) else str(longrepr)
    return reason.removeprefix("Skipped: ")
