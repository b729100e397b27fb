"""Faults are what they are called, and those that are said to be none are still there."""

import ast
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from mutants.faults import PACKAGE, faults, modules, path_of, sample
from mutants.run import equivalent

CODE = '''
LIMIT = 3


def inside(values, low):
    """Those that are neither too small nor missing."""
    found = [v for v in values if v]
    if low < 0 and not found:
        raise ValueError(f"{low + 1} is no bound")
    found.sort()
    return max(found[0] - low, LIMIT)
'''
CHANGES = {
    "inside: v → not v",
    "inside: low < 0 and (not found) → low < 0 or not found",
    "inside: low < 0 → low <= 0",
    "inside: low < 0 → low >= 0",
    "inside: 0 → 1",
    "inside: not found → found",
    "inside: raise ValueError(f'{low + 1} is no bound') → nothing",
    "inside: found.sort() → nothing",
    "inside: max(found[0] - low, LIMIT) → min(found[0] - low, LIMIT)",
    "inside: found[0] - low → found[0] + low",
    "inside: 0 → 1 #1",
    "module: 3 → 4",
}


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "some.py").write_text(CODE, encoding="utf-8")
    monkeypatch.setattr("mutants.faults.PACKAGE", tmp_path)
    return "some"


def test_faults_are_comparisons_numbers_and_what_is_left_out(module):
    _, found = faults(module)
    assert {fault.name.removeprefix("some: ") for fault in found} == CHANGES
    assert [fault.change for fault in found if fault.outside] == ["3 → 4"]


def test_a_module_with_a_fault_differs_in_that_place_only(module):
    usual = ast.unparse(ast.parse(CODE)).splitlines()
    for fault in faults(module)[1]:
        tree, again = faults(module)
        next(one for one in again if one.name == fault.name).put(tree, path_of(module))
        lines = ast.unparse(tree).splitlines()
        if "nothing" not in fault.change:
            assert sum(a != b for a, b in zip(usual, lines, strict=True)) == 1, fault.name


def test_a_sample_stays_when_lines_move(module, tmp_path):
    first = {fault.name for fault in sample(faults(module)[1], 5, seed=1)}
    assert len(first) == 5
    (tmp_path / "some.py").write_text(f"import os\n\n{CODE}", encoding="utf-8")
    assert {fault.name for fault in sample(faults(module)[1], 5, seed=1)} == first
    assert {fault.name for fault in sample(faults(module)[1], 5, seed=2)} != first


def test_what_is_said_to_be_no_fault_is_still_in_the_code():
    names = equivalent()
    there = {f.name for of in {name.partition(":")[0] for name in names} for f in faults(of)[1]}
    assert sorted(set(names) - there) == []
    assert all(len(why.split()) >= 5 for why in names.values()), "a reason is a sentence"


def test_no_two_faults_have_one_name():
    for folder in ("rules", "publish/verify"):
        for name in modules(folder):
            again = [n for n, k in Counter(f.name for f in faults(name)[1]).items() if k > 1]
            assert again == []


@pytest.mark.long
def test_a_fault_that_no_test_finds_is_named_and_others_are_not(tmp_path):
    """The whole way, of one module and two tests."""
    tests = tmp_path / "test_percentages_only.py"
    tests.write_text(
        "from diskret.rules.percentages import percentage\n\n\n"
        "def test_five_percent():\n    assert percentage(5, 'p') * 20 == 1\n",
        encoding="utf-8",
    )
    root = Path(PACKAGE).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "mutants.run", "rules/percentages", str(tests)]
        + ["--log", str(tmp_path / "log")],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(root / "src"), str(root / "tests")))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "alive: rules/percentages: percentage: share <= 0 → share < 0" in done.stdout
    assert "percentage: share <= 0 → share > 0" not in done.stdout
    assert "unreached: rules/percentages: ceil_divide" in done.stdout
