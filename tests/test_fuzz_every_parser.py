"""Fuzzing of every parser but those of τ-ARGUS files (`tests/argus/test_fuzz_parsers.py`).

In a process of its own, which no file may end: libraries of C read some of them. The short
form runs always, the long one, 100,000 inputs, with `make test-all` (`slow`).
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import diskret

TESTS = Path(__file__).parent
KINDS = 20


def fuzzed(number, seed, timeout):
    ended = subprocess.run(
        [sys.executable, str(TESTS / "damaged_inputs.py"), str(number), str(seed)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, "PYTHONPATH": str(Path(diskret.__file__).parents[1])},
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    assert len(ended.stdout.splitlines()) == KINDS


def test_damaged_files_are_refused_in_words_or_read():
    fuzzed(20, 1, 300)


@pytest.mark.slow
def test_a_hundred_thousand_damaged_files():
    fuzzed(100_000 // KINDS + 1, 2, 3600)
