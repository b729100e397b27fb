"""Writes what programs print into the `output` blocks: python tests/write_outputs.py PAGE..."""

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
import textwrap
from pathlib import Path

from test_docs import FENCE, diskret, without_blanks


def with_outputs(text: str, page: str) -> str:
    """The text of a page, its blocks run in turn in the current folder."""
    there = {"__name__": "__main__"}
    printed, made, last = io.StringIO(), [], 0
    for match in FENCE.finditer(text):
        indent, language, about, source = match[1], match[2], match[3], textwrap.dedent(match[4])
        if title := re.search(r'title="([^"]+)"', about):
            Path(title[1]).write_text(source, encoding="utf-8")
        if language == "python":
            with contextlib.redirect_stdout(printed):
                exec(compile(source, page, "exec"), there)
        for command in re.findall(r"^\$ diskret (.+)$", source, re.MULTILINE):
            diskret(shlex.split(command))
        if language == "output":
            lines = without_blanks(printed.getvalue())
            printed = io.StringIO()
            made += [text[last : match.start(4)], textwrap.indent("\n".join(lines) + "\n", indent)]
            last = match.end(4)
    return "".join([*made, text[last:]])


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            new = with_outputs(path.read_text(encoding="utf-8"), os.fspath(path))
        path.write_text(new, encoding="utf-8")
