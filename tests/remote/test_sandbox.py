"""Ways out of a script: each is open without the sandbox, and shut in it."""

import contextlib
import json
import os
import pickle
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pytest
from remote_scripts import arrow, caged_or_skip

import diskret
from diskret.errors import InputError
from diskret.remote import probe, sandbox
from diskret.remote.channel import read_results
from diskret.remote.sandbox import Limits, Sandbox, command

pytestmark = pytest.mark.xdist_group("sandbox")
INSIDE = Path(sandbox.__file__).with_name("inside.py")
RECORDS = arrow(pa.table({"job": ["a", "b"] * 50, "pay": [1.0, 2.0] * 50}))

#: Each tries one way out, and gives 1 where it found something.
ATTEMPTS = """
import ctypes, fcntl, mmap, os, resource, socket
import pandas as pd

def try_(attempt):
    try:
        return float(bool(attempt()))
    except Exception:
        return 0.0

def connected(kind, place):
    with socket.socket(kind) as one:
        one.settimeout(2)
        one.connect(place)
        return True

def written(path):
    with open(path, "w") as file:
        file.write("4711")
    return True

def unshared():
    if os.fork() == 0:
        os._exit(kernel.unshare(0x10000000) != 0)
    return os.waitstatus_to_exitcode(os.wait()[1]) == 0

def in_memory():
    page = mmap.mmap(-1, 4096)
    at = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return kernel.mincore(ctypes.c_void_p(at), 4096, ctypes.create_string_buffer(1)) == 0

def of_a_socket():
    with socket.socket() as one:
        return os.fstat(one.fileno()).st_ino

def of_a_child():
    child = os.fork()
    if child == 0:
        os._exit(0)
    return os.wait4(child, 0)[2].ru_minflt

kernel = ctypes.CDLL(None)
seen = open(os.__file__)  # by all runs
attempts = {
    "network": lambda: connected(socket.AF_INET, ("127.0.0.1", PORT)),
    "a socket in a folder": lambda: connected(socket.AF_UNIX, FOLDER + "/socket"),
    "an abstract socket": lambda: connected(socket.AF_UNIX, "\\0diskret-test-" + str(PID)),
    "the original": lambda: open(ORIGINAL).read(),
    "a folder of the host": lambda: os.listdir(FOLDER),
    "processes": lambda: open(f"/proc/{PID}/cmdline").read(),
    "environments of processes": lambda: open(f"/proc/{PID}/environ").read(),
    "signals": lambda: os.kill(PID, 0) is None,
    "the environment": lambda: os.environ["DISKRET_SECRET"],
    "a file": lambda: written(FOLDER + "/left"),
    "a link": lambda: os.symlink(ORIGINAL, FOLDER + "/link") is None,
    "memory that is shared": lambda: os.path.exists(SHARED) or written(SHARED) and False,
    "how busy the machine is": lambda: kernel.sysinfo(ctypes.create_string_buffer(1024)) == 0,
    "load": lambda: os.getloadavg(),
    "which files are in memory": in_memory,
    "a second namespace": unshared,
    "numbers of pipes": lambda: os.fstat(os.pipe()[0]).st_ino,
    "numbers of sockets": of_a_socket,
    "numbers of files in memory": lambda: os.fstat(os.memfd_create("x")).st_ino,
    "a lock on a file": lambda: fcntl.flock(seen, fcntl.LOCK_EX | fcntl.LOCK_NB) is None,
    "a lock on a part of a file": lambda: fcntl.lockf(seen, fcntl.LOCK_SH | fcntl.LOCK_NB) is None,
    "who opens a file": lambda: kernel.inotify_init1(0) >= 0,
    "which pages had to be read": lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt,
    "which pages a child had to read": of_a_child,
}
table("found", pd.Series({name: try_(one) for name, one in attempts.items()}))
"""
WAYS = [line.split('"')[1] for line in ATTEMPTS.splitlines() if line.startswith('    "')]


#: The same program without the sandbox.
FREE = f"""
import os, runpy, sys
inside = runpy.run_path({str(INSIDE)!r})
content = sys.stdin.buffer.read()
size = int.from_bytes(content[:8], "little")
out = os.dup(1)
os.dup2(2, 1)
inside["carried_out"](content[8 : 8 + size].decode(), content[8 + size :], out)
"""


@contextlib.contextmanager
def folder_for_a_program():
    """A place that others can read, too, and that no sandbox hides."""
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module", autouse=True)
def own_program():
    """The program in a place that no other run has: what is left is told by it."""
    with folder_for_a_program() as folder:
        for suffix in (".py", ".R"):
            shutil.copy(INSIDE.with_suffix(suffix), folder)
        with patch.object(sandbox, "_INSIDE", folder / INSIDE.name):
            yield


def with_records(script):
    return struct.pack("<Q", len(script.encode())) + script.encode() + RECORDS


def free(script, **options):
    line = [sys.executable, "-I", "-B", "-c", FREE]
    return subprocess.run(line, input=with_records(script), capture_output=True, **options)


def run(script, records=RECORDS, limits=None, **options):
    with Sandbox(limits or Limits()) as sandbox:
        return sandbox.run(script, records, **options)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What each way gives without the sandbox and in it, in the second run of two."""
    caged_or_skip()
    folder = tmp_path_factory.mktemp("host")
    original = folder / "original.csv"
    original.write_text("person,pay\n7,4711\n", encoding="utf-8")
    shared = f"/dev/shm/diskret-{os.getpid()}"
    servers = [socket.create_server(("127.0.0.1", 0))]
    for place in (str(folder / "socket"), f"\0diskret-test-{os.getpid()}"):
        server = socket.socket(socket.AF_UNIX)
        server.bind(place)
        server.listen()
        servers.append(server)
    known = {
        "PORT": servers[0].getsockname()[1],
        "FOLDER": str(folder),
        "ORIGINAL": str(original),
        "PID": os.getpid(),
        "SHARED": shared,
    }
    script = "\n".join(f"{name} = {value!r}" for name, value in known.items()) + ATTEMPTS
    results = {}
    try:
        for _ in range(2):  # what the first leaves, the second may find
            done = free(script, env={**os.environ, "DISKRET_SECRET": "4711"})
            results["free"] = dict(read_results(done.stdout, 100)["found"].value)
            for left in ("left", "link"):
                (folder / left).unlink(missing_ok=True)
        with Sandbox(Limits()) as sandbox:
            for _ in range(2):
                ran = sandbox.run(script, RECORDS, listen=True)
                assert ran.result is not None, ran.said
                results["caged"] = dict(read_results(ran.result, 100)["found"].value)
        assert not (folder / "left").exists() and not (folder / "link").is_symlink()
    finally:
        Path(shared).unlink(missing_ok=True)
        for server in servers:
            server.close()
    return results


@pytest.mark.parametrize("way", WAYS)
def test_a_way_out_is_open_without_the_sandbox_and_shut_in_it(found, way):
    assert found["free"][way,] == 1, "the attempt finds nothing where nothing stops it"
    assert found["caged"][way,] == 0


OPEN = """
import os, stat
import pandas as pd

def regular(at):
    try:
        return stat.S_ISREG(os.fstat(at).st_mode)
    except OSError:
        return False

table("found", pd.Series({"regular": float(sum(map(regular, range(1000)))), "rows": len(data)}))
"""


def test_records_come_through_a_pipe():
    """Files in memory are numbered by a counter that each run moves with memory it shares."""
    caged_or_skip()
    found = read_results(run(OPEN).result, 100)["found"].value
    assert dict(found) == {("regular",): 0, ("rows",): 100}


# ── what takes too much ─────────────────────────────────────────────────────────────────

COUNT = """
import os, time, pandas as pd
started = 0
try:
    while started < 60:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        started += 1
except OSError:
    pass
table("started", pd.Series({"all": float(started)}))
"""


def test_processes_come_to_an_end():
    caged_or_skip()
    with Sandbox(Limits(processes=6)) as opened:
        ran = opened.run(COUNT, RECORDS)
        assert left_over() != []
    assert ran.result is not None
    assert read_results(ran.result, 1)["started"].value["all",] <= 6 + 3
    assert left_over() == []
    process = subprocess.Popen(
        [sys.executable, "-I", "-B", "-c", FREE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    process.stdin.write(with_records(COUNT))
    process.stdin.close()
    line = os.read(process.stdout.fileno(), 10_000)
    assert read_results(line, 1)["started"].value["all",] == 60
    os.killpg(process.pid, signal.SIGKILL)  # they would go on for long after
    process.wait()
    process.stdout.close()


def left_over():
    """Processes that still run the program of these sandboxes."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [path] if bytes(sandbox._INSIDE) in path.read_bytes() else []
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    ("script", "limits"),
    [
        ("while True: pass", Limits(seconds=2)),
        ("import os, time\nif os.fork() == 0:\n    os.setsid()\ntime.sleep(60)", Limits(seconds=2)),
        ("import os\nos.write(1, b'x' * 10**8)\nos.write(3, b'x' * 10**8)", Limits(output=1000)),
        pytest.param(
            "table('t', data.pay.repeat(2000))", Limits(output=1000), marks=pytest.mark.slow
        ),
        ("x = bytearray(6 * 10**9)\ntable('t', data.pay)", Limits()),
        ("open('/tmp/x', 'wb').write(bytes(2 * 10**7))\ntable('t', data.pay)", Limits(scratch=10)),
        pytest.param("raise SystemExit(7)", Limits(), marks=pytest.mark.slow),
        pytest.param("import os; os._exit(0)", Limits(), marks=pytest.mark.slow),
        pytest.param(
            "import ctypes; ctypes.string_at(0)",  # a signal that nobody sends and nobody ignores
            Limits(),
            marks=pytest.mark.slow,
        ),
        ("raise ValueError('pay of person 7 is 4711')", Limits()),
        pytest.param(
            "print(data); import sys; sys.stderr.write('4711'); 1 / 0",
            Limits(),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_all_that_goes_wrong_looks_alike(script, limits):
    """One value, whatever the exit code, the signal, the text or what is too much was."""
    caged_or_skip()
    began = time.monotonic()
    assert run(script, RECORDS, limits) == sandbox.Ran(None, "")
    assert time.monotonic() - began < limits.seconds + 5
    assert left_over() == []


def test_without_the_sandbox_codes_and_texts_tell():
    assert free("raise ValueError('pay of person 7 is 4711')").stderr.count(b"4711") == 1
    assert free("import os; os._exit(data.pay.max() > 1)").returncode == 1


# ── the one way out that is open ────────────────────────────────────────────────────────────


class Harmful:
    """A pickle that does something where it is read."""

    def __reduce__(self):
        return Path.touch, (Path(os.environ["DISKRET_TOUCHED"]),)


def test_a_pickle_is_never_read(tmp_path, monkeypatch):
    monkeypatch.setenv("DISKRET_TOUCHED", str(tmp_path / "touched"))
    harmful = pickle.dumps(Harmful())
    with pytest.raises(InputError):
        read_results(harmful, 10)
    assert not (tmp_path / "touched").exists()
    pickle.loads(harmful)  # what reading it would have done
    assert (tmp_path / "touched").exists()


GOOD = {"results": {"t": {"figures": [[["a"], 1.5, None], [["b"], 2, 0.5]], "adds_up": False}}}


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said.update(more=1),
        lambda said: said["results"].clear(),
        lambda said: said["results"].update({f"r{at}": said["results"]["t"] for at in range(30)}),
        lambda said: said["results"]["t"].update(file="/etc/passwd"),
        lambda said: said["results"]["t"].update(figures=[]),
        lambda said: said["results"]["t"].update(figures=[[["a"], 1, None]] * 2),
        lambda said: said["results"]["t"].update(figures=[[["a"], "4711", None]]),
        lambda said: said["results"]["t"].update(figures=[[["a"], True, None]]),
        lambda said: said["results"]["t"].update(figures=[[["a"], {"b": 1}, None]]),
        lambda said: said["results"]["t"].update(figures=[[["a" * 81], 1, None]]),
        lambda said: said["results"]["t"].update(figures=[[["a\n4711"], 1, None]]),
        lambda said: said["results"]["t"].update(figures=[[["a"] * 7, 1, None]]),
        lambda said: said["results"]["t"].update(figures=[[[], 1, None]]),
        lambda said: said["results"]["t"].update(figures=[["a", 1, None]]),
        lambda said: said["results"]["t"].update(figures=[[["a"], 1]]),
        lambda said: said["results"]["t"].update(
            figures=[[[str(n)], 1, None] for n in range(2001)]
        ),
    ],
)
def test_the_channel_takes_figures_and_nothing_else(change):
    said = json.loads(json.dumps(GOOD))
    assert dict(read_results(json.dumps(said).encode(), 10)["t"].value) == {("a",): 1.5, ("b",): 2}
    change(said)
    with pytest.raises(InputError):
        read_results(json.dumps(said).encode(), 10)


def test_a_figure_may_be_missing():
    """A mean of nobody is no number, and no reason to refuse all others."""
    said = json.loads(free("t = data.pay.head(2) * float('nan')\ntable('t', t)").stdout)
    assert said["results"]["t"]["figures"] == [[["0"], None, None], [["1"], None, None]]
    found = read_results(json.dumps(said).encode(), 10)["t"].value
    assert all(value != value for value in found.values())


@pytest.mark.parametrize("content", [b"", b"\xff", b"[1]", b"{", b'{"results": 1}', b"1" * 5000])
def test_the_channel_refuses_what_is_no_json(content):
    with pytest.raises(InputError):
        read_results(content, 10)


# ── where it cannot be made ────────────────────────────────────────────────────────────────


def test_without_its_parts_nothing_is_run(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "bwrap" else f"/bin/{name}")
    monkeypatch.setattr(sandbox.subprocess, "Popen", lambda *_, **__: pytest.fail("was run"))
    with pytest.raises(InputError, match="there is no bwrap: install bubblewrap"):
        run("1")


def test_an_original_that_scripts_could_read_is_refused(tmp_path):
    sandbox.check_hidden(tmp_path / "persons.csv")
    (tmp_path / "link.csv").symlink_to(Path(sys.prefix) / "persons.csv")
    for path in (Path(sys.prefix) / "persons.csv", Path("/usr/x.csv"), tmp_path / "link.csv"):
        with pytest.raises(InputError, match="which scripts can read; move it elsewhere"):
            sandbox.check_hidden(path)


def test_on_unknown_machines_nothing_is_run(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "pdp11")
    monkeypatch.setattr(sandbox, "command", lambda *_: ["true"])
    with pytest.raises(InputError, match="none for machines of the kind pdp11"):
        run("1")


LIMIT = "in asked.bounds.items():"
#: What is tried needs no libraries, and to load them takes longer than to try it.
NO_LIBRARIES = [
    ("import pyarrow.ipc\n", ""),
    ("importlib.import_module(name)", "pass"),
    ("    _used_once()\n", ""),
]
#: What is taken out of the command or of what runs in it → what instead → what does not hold then.
SABOTAGE = [
    ("--disable-userns", None, "no-namespaces"),
    ("--seccomp", None, "no-measuring"),
    ("--remount-ro", None, "read-only"),
    (LIMIT, "NPROC", "processes"),
    (LIMIT, "AS", "memory"),
    (LIMIT, "CPU", "time"),
    (LIMIT, "NOFILE", "files"),
    (LIMIT, "FSIZE", "scratch"),
    ('f"size={asked.scratch},', 'f"', "scratch"),
    (", 0x40000000", "", "network"),
    (" 0x20000000,", "", "alone"),
    (" 0x08000000,", "", "nothing-left"),
    ('_held(_KERNEL.mount(b"tmpfs"', 'print((b"tmpfs"', "nothing-left"),
    ("_held(_KERNEL.capset(", "print((", "no-rights"),
]


@pytest.fixture
def weak():
    """A place for another program."""
    with folder_for_a_program() as folder:
        yield folder / INSIDE.name


@pytest.mark.parametrize(("part", "instead", "promise"), SABOTAGE)
def test_a_sandbox_that_lacks_a_part_is_found_out(part, instead, promise, weak, monkeypatch):
    caged_or_skip()

    def weaker(limits, program):
        line = command(limits, program)
        if instead is None:
            at = [one for one, word in enumerate(line) if word == part]
            assert at
            for one in reversed(at):
                del line[one : one + (1 if part == "--disable-userns" else 2)]
        if promise == "network":  # the sandbox has none either, in which each run makes its own
            line[line.index("--unshare-all")] = "--unshare-uts"
            at = line.index("--seccomp")  # nor lets it make a socket
            del line[at : at + 2]
        if "mount" in part:
            at = line.index("--dir", line.index("--dev"))
            line[at : at + 2] = ["--tmpfs", "/tmp"]
        return line

    text = INSIDE.read_text(encoding="utf-8")
    for loading, nothing in NO_LIBRARIES:
        assert text.count(loading) == 1
        text = text.replace(loading, nothing)
    if part == LIMIT:
        text = text.replace(part, f"{part}\n        if name == {instead!r}:\n            continue")
    elif instead is not None:
        assert text.count(part) == 1
        text = text.replace(part, instead)
    weak.write_text(text, encoding="utf-8")
    monkeypatch.setattr(sandbox, "_INSIDE", weak)
    monkeypatch.setattr(sandbox, "command", weaker)
    with pytest.raises(InputError, match=f"does not hold here.*{promise}"):
        sandbox.check.__wrapped__()


@pytest.mark.skipif(os.geteuid() != 0, reason="optional: only root can become somebody else")
def test_it_holds_for_an_ordinary_user():
    """Somebody who is not root and has other processes, where Python and this can be read."""
    caged_or_skip()
    source = Path(diskret.__file__).parents[1]
    code = (
        f"import sys; sys.path.insert(0, {str(source)!r}); import os; assert os.geteuid() == 1500\n"
        "import subprocess\n"
        "others = [subprocess.Popen(['sleep', '30']) for _ in range(30)]\n"
        "from diskret.remote.sandbox import check; check(); print('holds')\n"
        "[one.kill() for one in others]"
    )
    folders = [part for one in reversed(source.parents[:-1]) for part in ("--dir", str(one))]
    places = sandbox._places(Path(probe.__file__))
    line = [
        *(str(shutil.which("bwrap")), "--die-with-parent", *places),
        *folders,
        *("--ro-bind", str(source), str(source), "--bind", "/proc", "/proc", "--dev", "/dev"),
        *("--tmpfs", "/tmp", "setpriv", "--reuid", "1500", "--regid", "1500", "--clear-groups"),
        *(sys.executable, "-c", code),
    ]
    done = subprocess.run(line, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
    assert done.stdout.strip() == "holds", done.stderr[-2000:]


def test_reading_ends_where_there_is_too_much():
    """A program that never ends to write is ended, and what it wrote is not kept."""
    caged_or_skip()
    began = time.monotonic()
    ran = run("import os\nwhile True: os.write(3, b'x' * 10**6)", limits=Limits(output=10_000))
    assert ran.result is None
    assert time.monotonic() - began < 5
    assert threading.active_count() < 20
