"""Ctrl-C ends a command even while a solver runs, and leaves nothing half-written."""

import http.client
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl-C to whole groups")

#: Compiled code that hears no signal, as a solver, for longer than anybody waits.
DEAF = """
import hashlib
import threading
import time
from diskret.cli.interrupt import end_at_once, interruptible
from diskret.parallel import in_order

def say_when_at_work(since):
    # Only compiled code can have used this time: a signal sent earlier would meet Python.
    while time.process_time() < since + 0.3:
        time.sleep(0.05)
    print("begun", flush=True)

def deaf(seed):
    threading.Thread(target=say_when_at_work, args=(time.process_time(),), daemon=True).start()
    hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 2**31 - 1)

{run}
"""

BARE = """
with interruptible("ended from outside"):
    try:
        {work}
    except KeyboardInterrupt:
        end_at_once("ended by itself")
"""

#: The library of the command line takes Ctrl-C for an exit, at which Python waits for threads.
AS_COMMAND = """
from diskret.cli import _run
from diskret.cli.main import app

@app.command("deaf")
def _deaf() -> None:
    list(in_order(deaf, [1, 2], workers=2))

_run(["deaf"])
"""


@pytest.mark.parametrize(
    ("work", "says"),
    [
        ("deaf(1)", "ended from outside\n"),
        ("list(in_order(deaf, [1, 2], workers=2))", "ended by itself\n"),
    ],
)
def test_a_solver_is_not_waited_for(work: str, says: str):
    script = DEAF.replace("{run}", BARE).replace("{work}", work)
    command = [sys.executable, "-c", script]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=120)
    assert (process.returncode, error) == (130, says)


def test_a_command_does_not_wait_for_solvers_either():
    command = [sys.executable, "-c", DEAF.replace("{run}", AS_COMMAND)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=120)
    assert (process.returncode, error) == (130, "interrupted\n")


WRITES = """
import time
from pathlib import Path
from diskret.cli.interrupt import interruptible
from diskret.keys import SecretKeys
from diskret.publish.staging import staged

with interruptible("stopped"), staged({folder!r}, SecretKeys(bytes(range(32)))) as stage:
    (stage.public / "a.csv").write_text("half")
    print("begun", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize(
    ("system", "number"),
    [
        ("", signal.SIGINT),
        # what Windows lets the workbench send
        ("import signal; signal.SIGBREAK = signal.SIGUSR1", signal.SIGUSR1),
    ],
)
def test_what_was_begun_to_be_written_is_taken_back(tmp_path: Path, system: str, number: int):
    script = system + WRITES.format(folder=str(tmp_path / "out"))
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        process.send_signal(number)
        process.communicate(timeout=120)
    assert process.returncode == -signal.SIGINT  # as Python ends after Ctrl-C, whatever told it
    assert list(tmp_path.iterdir()) == []


COMPUTES = """
import time
from pathlib import Path
from diskret.workbench.bench import Bench
from diskret.cli import run
import sys

def table(*_):
    Path(sys.argv[2], "begun").touch()
    time.sleep(600)

Bench.table = table
run()
"""


@pytest.mark.long
def test_a_workbench_does_not_wait_for_what_it_computes(tmp_path: Path):
    """Nobody wants the table any more; 600 s are longer than the test waits."""
    command = [sys.executable, "-c", COMPUTES, "workbench", str(tmp_path), "--no-browser"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        base, _, token = re.findall(r"http\S+", process.stdout.readline())[0].partition("/#token=")
        place = urlsplit(base)
        line = http.client.HTTPConnection(str(place.hostname), place.port)
        line.request("GET", "/api/table", headers={"X-Diskret-Token": token})
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
        line.close()
    assert (process.returncode, error) == (0, "")
    assert [one.name for one in tmp_path.iterdir()] == ["begun"]
