"""`verify.py` as somebody runs it who has nothing else: in this process, so that it is quick."""

import contextlib
import io
import runpy
import sys
from pathlib import Path
from unittest.mock import patch

import diskret.publish.script

SCRIPT = Path(diskret.publish.script.__file__).parent / "verify.py"


def by_script(folder: Path, *options: str) -> tuple[int, str]:
    """How it ends, and what it says."""
    said = io.StringIO()
    arguments = [SCRIPT.name, str(folder), *options]
    with contextlib.redirect_stdout(said), patch.object(sys, "argv", arguments):
        try:
            runpy.run_path(str(SCRIPT), run_name="__main__")
        except SystemExit as ended:
            return int(ended.code or 0), said.getvalue()
    raise AssertionError("it ends by saying how")
