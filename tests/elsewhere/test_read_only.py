"""An installation that nobody can write into works, and keeps what it compiled elsewhere."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import diskret as dk

SOURCE = Path(dk.__file__).parents[1]
PROGRAM = """
import numpy as np
from diskret.kernel import kernel
from diskret.tables import straddler_kernels as module
found = [one for one in vars(module).values() if hasattr(one, "stats")][0]
print(found._cache.cache_path or "nowhere")
"""
WHOLE = """
import diskret as dk, pyarrow as pa
table = dk.tabulate(pa.table({"a": list("xxxxyyyz")}), by={"a": None})
dk.suppress(table, dk.rules.MinimumFrequency(3)).write("out", ("csv", "xlsx", "html"))
print(dk.verify("out").sealed)
"""

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not shutil.which("bwrap"), reason="optional: bubblewrap"),
]


def run(program, tmp_path, *, home=True):
    """Run with everything read-only but a folder to work in and, perhaps, the user's own."""
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "work").mkdir(exist_ok=True)
    writable = [tmp_path / "work", *([tmp_path / "home"] if home else [])]
    command = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    command += ["--ro-bind", str(tmp_path), str(tmp_path)]  # it may lie below /dev
    for path in writable:
        command += ["--bind", str(path), str(path)]
    own = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    own |= {"HOME": str(tmp_path / "home"), "DISKRET_KEYS": str(tmp_path / "work" / "keys")}
    own |= {"XDG_CACHE_HOME": str(tmp_path / "home" / "cache"), "PYTHONPATH": str(SOURCE)}
    own |= {"TMPDIR": str(tmp_path / "work")}
    done = subprocess.run(
        [*command, "--chdir", str(tmp_path / "work"), sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=own,
    )
    if "bwrap: " in done.stderr:
        pytest.skip("optional: bubblewrap cannot make namespaces here")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_compiled_loops_are_kept_in_the_users_folder(tmp_path):
    assert run(PROGRAM, tmp_path).startswith(str(tmp_path / "home"))


def test_where_nothing_can_be_kept_it_works_all_the_same(tmp_path):
    assert run(PROGRAM, tmp_path, home=False) == "nowhere"


def test_a_table_is_protected_written_and_verified(tmp_path):
    assert run(WHOLE, tmp_path) == "True"
    assert (tmp_path / "work" / "out" / "public").is_dir()
