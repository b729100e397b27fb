"""A skipped test is never overlooked: tests of tests/conftest.py in a run of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = """
import pytest

def test_reference(reference_data):
    assert reference_data.is_dir()

def test_careless():
    pytest.skip("no mood")

def test_optional():
    pytest.skip("optional: needs a cluster")
"""


@pytest.fixture
def run(tmp_path):
    tests = tmp_path / "repository" / "tests"
    tests.mkdir(parents=True)
    for name in ("conftest.py", "garbage.py", "profiles.py"):
        shutil.copy(Path(__file__).parent / name, tests)
    (tests / "test_sample.py").write_text(SAMPLE, encoding="utf-8")

    def run(*options: str, **variables: str) -> str:
        clean = {k: v for k, v in os.environ.items() if k != "DISKRET_REFERENCE_DATA"}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, str(tests)],
            capture_output=True,
            text=True,
            env=clean | variables,
            cwd=tmp_path,
        )
        return done.stdout

    return run


def in_groups(config) -> bool:
    """Whether this is one of several processes that ``--dist loadgroup`` hands tests out to."""
    return getattr(config.option, "loadgroup", False)


@pytest.mark.xdist_group("kept together")
def test_groups_of_tests_are_kept_in_one_process(request):
    """Else Spark is started twice, and what a file prepares is prepared again."""
    if in_groups(request.config):
        assert request.node.nodeid.endswith("@kept together")


@pytest.fixture(scope="module")
def prepared_once(request, tmp_path_factory):
    """Fails if another process of this run has prepared it already."""
    if in_groups(request.config):
        (tmp_path_factory.getbasetemp().parent / "prepared once").touch(exist_ok=False)


@pytest.mark.parametrize("test", range(4))
def test_a_file_is_kept_in_one_process(prepared_once, test):
    """Even without a group."""


@pytest.mark.long
def test_without_reference_data_what_needs_them_is_left_out_or_fails(run):
    report = run("-m", "not reference")
    assert "2 skipped, 1 deselected" in report
    report = run("-m", "reference")
    assert "2 deselected" in report and "1 error" in report
    assert "DISKRET_REFERENCE_DATA names it" in report


def test_with_reference_data_a_skip_is_an_error(run, tmp_path):
    report = run(DISKRET_REFERENCE_DATA=str(tmp_path))
    assert "1 failed, 1 passed, 1 skipped" in report
    assert "skipped although DISKRET_REFERENCE_DATA is set: no mood" in report


@pytest.mark.long
def test_promised_but_missing_reference_data_fail(run, tmp_path):
    report = run(DISKRET_REFERENCE_DATA=str(tmp_path / "nowhere"))
    assert "there is no folder" in report and "nowhere" in report
