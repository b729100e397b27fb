"""Work that is waited for: who waits is told, wherever the work is done."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from diskret import parallel
from diskret.parallel import in_order, meanwhile

#: Seconds after which a test gives up; none comes near.
LONG = 20.0


def until(enough: int) -> tuple[Callable[[], bool], Callable[[], None]]:
    """Work that is done only when its progress was reported so often, and the reporter."""
    told, often = [0], threading.Event()

    def waiting() -> None:
        told[0] += 1
        if told[0] >= enough:
            often.set()

    return lambda: often.wait(LONG), waiting


def test_long_work_is_reported_while_it_goes_on(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parallel, "_PATIENCE", 0.01)
    work, waiting = until(5)
    assert meanwhile(work, waiting)
    work, waiting = until(5)
    assert list(in_order(lambda _: work(), [1], waiting)) == [True]


def test_reports_come_from_the_thread_that_waits(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parallel, "_PATIENCE", 0.01)
    work, waiting = until(2)
    threads: set[threading.Thread] = set()

    def noted() -> None:
        threads.add(threading.current_thread())
        waiting()

    list(in_order(lambda _: work(), [1, 2, 3], noted, workers=1))
    assert threads == {threading.current_thread()}


def test_who_interrupts_waits_neither_for_the_work_nor_for_the_end_of_python():
    script = (
        "import threading, diskret.parallel as parallel\n"
        "parallel._PATIENCE = 0.01\n"
        "def interrupted(): raise KeyboardInterrupt\n"
        f"parallel.meanwhile(lambda: threading.Event().wait({LONG}), interrupted)\n"
    )
    begin = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert b"KeyboardInterrupt" in ended.stderr and time.monotonic() - begin < LONG


def test_an_error_of_the_work_or_of_who_waits_is_raised(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parallel, "_PATIENCE", 0.01)
    with pytest.raises(ZeroDivisionError):
        meanwhile(lambda: 1 // 0, parallel.nothing)

    def refuses() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        meanwhile(lambda: threading.Event().wait(0.1), refuses)
