"""What Windows does otherwise, tried where no Windows is at hand.

Names that differ in case are one file, some names are devices, lines end in CRLF, files that
somebody has opened cannot be moved, the terminal has a code page, modules of POSIX are missing.
"""

import ast
import errno
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from every_family import FAMILIES, KEYS
from source import TOGETHER, nodes, trees
from windows_files import POSSIBLE, files_as_on_windows

import diskret as dk
import diskret.disk as disk
from diskret.cli.main import main
from diskret.errors import InputError
from diskret.jobs.run import run_job
from diskret.jobs.template import template as job_template
from diskret.publish import staging
from diskret.publish.staging import new_room

FIRMS = "region,size\n" + "".join(
    f"{region},{size}\n" * number
    for region, size, number in [("N", "a", 9), ("N", "b", 4), ("S", "a", 2), ("S", "b", 5)]
)
TREE = "N\n@N1\n@N2\nS\n"
JOB = """\
[records]
path = "firms.csv"
[[tables]]
name = "firms"
by = { region = "flat", size = "flat" }
rules = { minimum_frequency = { n = 3 } }
[output]
folder = "out"
formats = ["csv"]
"""


pytestmark = TOGETHER
#: Families of releases of which one is looked at by `make test`.
QUICK = {"suppressed"}


def protected(counts=(13, 8, 5)):
    cells = pa.table({"region": ["Total", "N", "S"], "count": [*counts]})
    table = dk.Table.from_cells(cells, by={"region": None}, count="count")
    return dk.suppress(table, dk.rules.MinimumFrequency(3))


def named(name, **more):
    table = dk.tabulate(pa.table({"a": ["x", "y"] * 5}), by={"a": None}, **more)
    return dk.suppress(table, dk.rules.MinimumFrequency(2), name=name)


@pytest.fixture(autouse=True)
def keys(tmp_path, monkeypatch):
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "keys"))
    monkeypatch.chdir(tmp_path)


# ── names ───────────────────────────────────────────────────────────────────────────


def test_names_that_differ_in_case_only_are_one_file(tmp_path):
    tables = [named("Firms"), named("FIRMS", vintage="2028")]
    with pytest.raises(InputError, match="taken by another table"):
        dk.write(tables, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["con", "NUL", "Aux", "com1", "LPT9", "prn.2027", "COM²"])
def test_names_of_devices_are_refused(tmp_path, name):
    with pytest.raises(InputError, match="device on Windows"):
        named(name).write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["contracts", "auxiliary", "com", "lpt10"])
def test_names_that_only_begin_so_are_not(tmp_path, name):
    named(name).write(tmp_path / "out")
    assert (tmp_path / "out" / "public" / f"{name}.csv").exists()


@pytest.mark.parametrize(
    "name", ["a:b", "a?", "a*", "a<b", 'a"b', "a|b", "a\\b", "a/b", "a.", "a "]
)
def test_characters_that_files_cannot_have_there_are_refused(tmp_path, name):
    with pytest.raises(InputError):
        named(name).write(tmp_path / "out")


def test_no_file_of_the_checkout_has_a_name_that_windows_cannot_have():
    root = Path(__file__).parents[2]
    listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True)
    names = listed.stdout.split("\n")[:-1]
    if not names:
        pytest.skip("optional: no git, or no checkout")
    bad = re.compile(
        r'[<>:"|?*\\]|[. ](/|$)|(^|/)(con|prn|aux|nul|com\d|lpt\d)(\.[^/]*)?(/|$)', re.I
    )
    assert [name for name in names if bad.search(name)] == []
    assert len({name.casefold() for name in names}) == len(names)
    assert max(map(len, names)) < 140


# ── lines ───────────────────────────────────────────────────────────────────────────


def crlf(text):
    return text.replace("\n", "\r\n").encode()


def test_files_with_crlf_are_read_as_others_are(tmp_path):
    done = []
    for lines in (str.encode, crlf):
        folder = tmp_path / lines.__name__
        folder.mkdir()
        (folder / "firms.csv").write_bytes(lines(FIRMS))
        (folder / "job.toml").write_bytes(lines(JOB))
        run_job(folder / "job.toml")
        certificate = json.loads((folder / "out/public/firms.certificate.json").read_text("utf-8"))
        done.append((certificate["files"], (folder / "out/public/firms.csv").read_bytes()))
    assert done[0] == done[1]


def test_a_tree_with_crlf_is_the_same_tree(tmp_path):
    for lines in (str.encode, crlf):
        (tmp_path / "tree.hrc").write_bytes(lines(TREE))
        tree = dk.Hierarchy.read(tmp_path / "tree.hrc")
        assert [*tree.codes] == ["Total", "N", "N1", "N2", "S"]


def test_what_is_written_has_the_same_bytes_everywhere(tmp_path, monkeypatch):
    # text files of Windows get CRLF unless their writer says otherwise
    protected().write(tmp_path / "one", ("csv", "html"))
    monkeypatch.setattr(os, "linesep", "\r\n")
    protected().write(tmp_path / "two", ("csv", "html"))
    for path in (tmp_path / "one" / "public").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / "public" / path.name).read_bytes()
        assert b"\r\n" not in path.read_bytes()


def test_every_text_file_says_how_its_lines_end():
    package, found = Path(dk.__file__).parent, []
    for path, tree in trees().items():
        for node in nodes(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                asked = {keyword.arg for keyword in node.keywords}
                mode = node.args[0] if node.func.attr == "open" and node.args else None
                text = isinstance(mode, ast.Constant) and mode.value in ("w", "a", "x")
                if (node.func.attr == "write_text" or text) and "newline" not in asked:
                    found.append(f"{path.relative_to(package).as_posix()}, line {node.lineno}")
    assert found == []


# ── files that somebody has opened ──────────────────────────────────────────────────


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(staging, "_WAITS", ())


def test_a_file_that_is_about_to_be_closed_is_waited_for(tmp_path, monkeypatch):
    protected().write(tmp_path / "out", ("csv",))
    rename, refused = Path.rename, []

    def scanned(self, target):
        if len(refused) < 4:
            refused.append(target)
            raise PermissionError(errno.EACCES, "Access is denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", scanned)
    monkeypatch.setattr(staging, "_WAITS", (0, 0, 0, 0))
    protected((14, 8, 6)).write(tmp_path / "out", ("csv",))
    assert len(refused) == 4 and "14" in (tmp_path / "out/public/count.csv").read_text("utf-8")
    assert {path.name for path in tmp_path.iterdir()} == {"out", "keys"}


@pytest.mark.usefixtures("impatient")
def test_a_release_with_an_open_file_is_left_as_it_was(tmp_path, monkeypatch):
    protected().write(tmp_path / "out", ("csv",))
    before = (tmp_path / "out/public/count.csv").read_bytes()
    rename = Path.rename

    def locked(self, target):
        if self == tmp_path / "out":
            raise PermissionError(errno.EACCES, "Access is denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", locked)
    with pytest.raises(InputError, match="have one of its files open"):
        protected((14, 8, 6)).write(tmp_path / "out", ("csv",))
    assert (tmp_path / "out/public/count.csv").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"out", "keys"}


@pytest.mark.usefixtures("impatient")
def test_a_move_that_is_refused_at_its_end_brings_the_old_release_back(tmp_path, monkeypatch):
    protected().write(tmp_path / "out", ("csv",))
    before = (tmp_path / "out/public/count.csv").read_bytes()
    rename = Path.rename

    def locked(self, target):
        if self.name.endswith(".stage"):
            raise PermissionError(errno.EACCES, "Access is denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", locked)
    with pytest.raises(InputError, match="nothing was changed"):
        protected((14, 8, 6)).write(tmp_path / "out", ("csv",))
    assert (tmp_path / "out/public/count.csv").read_bytes() == before


needs_proc = pytest.mark.skipif(not POSSIBLE, reason="optional: no /proc")


@needs_proc
def test_what_is_open_is_found(tmp_path):
    (tmp_path / "inside").mkdir()
    file = tmp_path / "inside" / "file"
    with files_as_on_windows() as refused, file.open("w"):
        for attempt in (file.unlink, lambda: file.parent.rename(tmp_path / "other")):
            with pytest.raises(PermissionError):
                attempt()
        shutil.rmtree(tmp_path / "inside", ignore_errors=True)
    assert file.exists() and len(refused) == 4  # the file, the folder, and both again
    (tmp_path / "there").mkdir()
    with files_as_on_windows(), pytest.raises(FileExistsError):
        file.parent.rename(tmp_path / "there")
    with files_as_on_windows() as refused:
        shutil.rmtree(tmp_path / "inside")
    assert refused == []


@needs_proc
@pytest.mark.parametrize(
    "family",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in FAMILIES],
)
def test_releases_are_replaced_without_files_of_ones_own_being_open(tmp_path, family):
    with files_as_on_windows() as refused:
        for _ in range(2):
            FAMILIES[family](tmp_path / "out")
            dk.verify(tmp_path / "out", keys=KEYS)
    assert refused == []
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@needs_proc
def test_jobs_and_ledgers_leave_no_file_open(tmp_path):
    (tmp_path / "firms.csv").write_text(FIRMS, encoding="utf-8")
    with files_as_on_windows() as refused:
        dk.Ledger.create("releases.db")
        for year in ("2027", "2028"):
            job = f'{JOB}ledger = "releases.db"\nrelease = "{year}"\n'
            job = job.replace('"firms"', f'"firms"\nvintage = "{year}"').replace(
                '"out"', f'"{year}"'
            )
            (tmp_path / "job.toml").write_text(job, encoding="utf-8")
            run_job(tmp_path / "job.toml")
        ledger = dk.Ledger("releases.db")
        ledger.verify()
        ledger.withdraw("2027", "replaced")
        shutil.rmtree("2027")
        Path("releases.db").rename("kept.db")
        assert [one.name for one in dk.Ledger("kept.db").releases()] == ["2027", "2028"]
    assert refused == []


# ── long paths ──────────────────────────────────────────────────────────────────────


def test_a_release_lies_in_a_deep_folder(tmp_path):
    deep = tmp_path.joinpath(*["a folder with a long name " + "x" * 40] * 6)
    deep.mkdir(parents=True)
    assert len(str(deep)) > 300
    protected().write(deep / "out", ("csv", "xlsx", "html"))
    dk.verify(deep / "out")


def test_writing_needs_few_characters_more_than_the_release_itself():
    target = Path("out")
    assert len(new_room(target).name) - len(target.name) < 30


# ── the terminal and the system ─────────────────────────────────────────────────────


def run(*command, **variables):
    own = os.environ | {"PYTHONUTF8": "0", "DISKRET_KEYS": "keys"} | variables
    own["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run([sys.executable, *command], capture_output=True, env=own)


#: A system without UTF-8, for which Python puts none.
PLAIN = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
COMMAND = ("-X", "warn_default_encoding", "-c", "from diskret.cli import run; run()")


@pytest.mark.long
@pytest.mark.parametrize("page", ["cp1252", "cp850", "ascii"])
def test_a_terminal_with_a_code_page_shows_what_it_can(tmp_path, page):
    cells = pa.table({"town": ["Total", "Köln", "Łódź"], "count": [13, 8, 5]})
    table = dk.Table.from_cells(cells, by={"town": None}, count="count")
    dk.suppress(table, dk.rules.MinimumFrequency(3)).write(tmp_path / "out", ("csv",))
    for language in ("en", "de"):
        asked = ("verify", "out", "--language", language)
        done = run(*COMMAND, *asked, PYTHONIOENCODING=page)
        assert done.returncode == 0, done.stderr.decode(page, "replace")
        assert b"count" in done.stdout
    (tmp_path / "firms.csv").write_text(FIRMS.replace("N,", "Łódź,"), encoding="utf-8")
    (tmp_path / "job.toml").write_text(JOB, encoding="utf-8")
    done = run(*COMMAND, "protect", "job.toml", PYTHONIOENCODING=page)
    assert done.returncode == 0 and b"\\u0141" in done.stdout


@pytest.mark.long
def test_umlauts_are_read_and_written_where_the_system_has_none(tmp_path):
    # paths are ASCII: those of Windows are Unicode whatever the code page is
    firms = FIRMS.replace("N,", "Köln,").replace("region", "Straße")
    (tmp_path / "firms.csv").write_text(firms, encoding="utf-8")
    job = JOB.replace("region", '"Straße"')
    (tmp_path / "job.toml").write_text(f'{job}language = "de"\n', encoding="utf-8")
    done = run(*COMMAND, "protect", "job.toml", **PLAIN)
    assert done.returncode == 0, done.stderr.decode()
    assert b"encoding" not in done.stderr  # of somebody who left it to the system
    assert "Köln" in (tmp_path / "out/public/firms.csv").read_text("utf-8")
    assert "Straße" in done.stdout.decode("utf-8")


@pytest.mark.long
def test_a_template_that_is_kept_is_a_job_file(tmp_path):
    done = run(*COMMAND, "protect", "--template", "--language", "de", **PLAIN)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode("utf-8") == job_template(language="de")


NONE_OF_POSIX = """
import importlib, importlib.abc, pkgutil, sys
MISSING = {"fcntl", "grp", "pwd", "resource", "termios", "tty", "pty", "syslog"}
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
for name in MISSING:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Missing())
import diskret
for found in pkgutil.walk_packages(diskret.__path__, "diskret."):
    # compiled loops are the same everywhere; `inside` runs in the sandbox, which is Linux
    if not found.name.endswith("_kernels") and found.name != "diskret.remote.inside":
        importlib.import_module(found.name)
print("all")
"""


@pytest.mark.long
def test_everything_is_imported_without_modules_of_posix():
    done = run("-c", NONE_OF_POSIX)
    assert done.stdout.strip() == b"all", done.stderr.decode()


def test_key_files_lie_in_the_users_folder(monkeypatch, tmp_path):
    from diskret.keys import key_file

    monkeypatch.delenv("DISKRET_KEYS")
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("APPDATA", str(tmp_path / "Roaming"))
    assert key_file() == tmp_path / "Roaming" / "diskret" / "keys"


def test_a_folder_that_cannot_be_flushed_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(disk.os, "name", "nt")
    flushed = []
    monkeypatch.setattr(disk.os, "fsync", lambda handle: flushed.append(handle))
    disk.flush(tmp_path)
    assert flushed == []


def test_the_commands_have_no_paths_with_slashes_of_their_own(tmp_path, capsys):
    protected().write(tmp_path / "out", ("csv",))
    content = json.loads((tmp_path / "out/internal/content.json").read_text("utf-8"))
    assert all("\\" not in name for name in content["files"])
    with pytest.raises(SystemExit) as ended:
        main(["verify", str(tmp_path / "out")])
    assert ended.value.code == 0
    shutil.rmtree(tmp_path / "out")
