"""Files as Windows has them, on Linux: those that are open stay where they are.

    PYTHONPATH=src:tests:tests/elsewhere pytest -p windows_files tests/ledger

runs other tests so.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

POSSIBLE = Path("/proc/self/maps").exists()


@contextmanager
def files_as_on_windows() -> Generator[list[str]]:
    """What is open in this process is neither moved nor removed; `rename` replaces nothing.

    Yields what was refused, also where whoever asked took no notice.
    """
    refused = list[str]()

    def checked(does: Callable[..., Any], replaces: bool) -> Callable[..., Any]:
        def do(path: Any, *more: Any, **options: Any) -> Any:
            if options.get("dir_fd") is None:
                _refuse_open(path, refused)
            if more and not replaces and os.path.lexists(more[0]):
                refused.append(str(more[0]))
                raise FileExistsError(errno.EEXIST, "File exists", str(more[0]))
            if more and replaces:
                _refuse_open(more[0], refused)
            return does(path, *more, **options)

        return do

    names = {"rename": False, "replace": True, "unlink": False, "remove": False, "rmdir": False}
    news: dict[str, Any] = {
        name: checked(getattr(os, name), replaces) for name, replaces in names.items()
    }
    with patch.multiple(os, **news), patch.object(shutil, "_use_fd_functions", False):
        yield refused


def _refuse_open(path: Any, refused: list[str]) -> None:
    own = os.path.realpath(path)
    there = [one for one in _open_files() if one == own or one.startswith(own + os.sep)]
    if there:
        refused.append(f"{own}: {there} open")
        raise PermissionError(errno.EACCES, "The process cannot access the file", own)


def _open_files() -> set[str]:
    found = set[str]()
    for one in os.listdir("/proc/self/fd"):
        try:
            found.add(os.readlink(f"/proc/self/fd/{one}"))
        except FileNotFoundError:  # the list itself
            continue
    mapped = Path("/proc/self/maps").read_text("utf-8").splitlines()
    found |= {line.split(maxsplit=5)[5] for line in mapped if line.count("/")}
    return {one for one in found if os.path.isfile(one)}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """As a plugin: during each test."""
    with files_as_on_windows() as refused:
        result = yield
    if refused:
        item.warn(pytest.PytestWarning(f"refused: {refused[:3]}"))
    return result
