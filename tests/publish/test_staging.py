"""Staged writing: the old folder or the new one, never something in between."""

import os
import shutil
import signal
import stat
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from diskret.errors import DiskretError, InputError
from diskret.keys import SecretKeys
from diskret.publish.staging import Stage, staged

KEYS = SecretKeys(bytes(range(32)))
NOBODY = 65534
posix = pytest.mark.skipif(os.name != "posix", reason="optional: needs a POSIX system")


def fill(stage: Stage, text: str):
    (stage.public / "t.csv").write_text(text, encoding="utf-8")
    (stage.internal / "t.cells.csv").write_text(text, encoding="utf-8")


def release(folder, text: str):
    with staged(folder, KEYS) as stage:
        fill(stage, text)


def content(folder: Path):
    """The text of a complete release, or None."""
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    files = {"public/t.csv", "internal/t.cells.csv", "internal/content.json"}
    if names != files | {"public", "internal"}:
        return None
    texts = {(folder / name).read_text(encoding="utf-8") for name in files if "content" not in name}
    return texts.pop() if len(texts) == 1 else None


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_nothing_is_there_before_the_end(tmp_path):
    with staged(tmp_path / "out", KEYS) as stage:
        fill(stage, "new")
        assert not (tmp_path / "out").exists()
    assert content(tmp_path / "out") == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@posix
def test_only_the_owner_can_read_what_is_internal(tmp_path):
    mask = os.umask(0)
    try:
        with staged(tmp_path / "out", KEYS) as stage:
            fill(stage, "new")
            assert mode(stage.public.parent) == 0o700
            (stage.public / "t.csv").chmod(0o777)
            (stage.internal / "t.cells.csv").chmod(0o777)
    finally:
        os.umask(mask)
    out = tmp_path / "out"
    assert [mode(out), mode(out / "public"), mode(out / "internal")] == [0o755, 0o755, 0o700]
    assert {mode(path) for path in (out / "public").iterdir()} == {0o644}
    assert {mode(path) for path in (out / "internal").iterdir()} == {0o600}


def test_a_stage_has_a_name_nobody_can_guess_and_lies_beside_the_target(tmp_path):
    names = set()
    for _ in range(2):
        with staged(tmp_path / "out", KEYS) as stage:
            room = stage.public.parent
            assert room.parent == tmp_path
            assert room.name.startswith(".out.")
            names.add(room.name)
    assert len(names) == 2


def test_an_earlier_release_is_replaced(tmp_path):
    release(tmp_path / "out", "old")
    with staged(tmp_path / "out", KEYS) as stage:
        fill(stage, "new")
        assert content(tmp_path / "out") == "old"
    assert content(tmp_path / "out") == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_empty_folder_is_taken(tmp_path):
    (tmp_path / "out").mkdir()
    release(tmp_path / "out", "new")
    assert content(tmp_path / "out") == "new"


def test_a_link_stays_a_link(tmp_path):
    release(tmp_path / "real", "old")
    (tmp_path / "out").symlink_to(tmp_path / "real")
    release(tmp_path / "out", "new")
    assert (tmp_path / "out").is_symlink()
    assert content(tmp_path / "real") == "new"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_exception_in_the_middle_changes_nothing(tmp_path, error):
    release(tmp_path / "out", "old")
    with pytest.raises(error), staged(tmp_path / "out", KEYS) as stage:
        fill(stage, "new")
        raise error
    assert content(tmp_path / "out") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("failing", ["fsync", "first rename", "second rename"])
def test_a_failure_of_the_disk_changes_nothing(tmp_path, monkeypatch, failing):
    release(tmp_path / "out", "old")
    rename, renamed = Path.rename, []

    def fail(*_):
        raise OSError(28, "No space left on device")

    def rename_or_fail(path, to):
        renamed.append(path)
        if len(renamed) == (1 if failing == "first rename" else 2):
            fail()
        return rename(path, to)

    if failing == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    else:
        monkeypatch.setattr(Path, "rename", rename_or_fail)
    with pytest.raises(OSError, match="No space left"):
        release(tmp_path / "out", "new")
    assert content(tmp_path / "out") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


# ── foreign files ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "foreign", ["notes.txt", "internal/approval.pdf", "public/logo.png", "public/sub/x", ".git/x"]
)
def test_a_folder_with_foreign_files_is_left_alone(tmp_path, foreign):
    release(tmp_path / "out", "old")
    path = tmp_path / "out" / foreign
    path.parent.mkdir(exist_ok=True)
    path.touch()
    named = foreign if foreign != "public/sub/x" else "public/sub"
    named = ".git" if foreign == ".git/x" else named
    with pytest.raises(InputError, match=f"release written before: {named}; move them elsewhere"):
        release(tmp_path / "out", "new")
    assert path.exists()
    path.unlink()
    if path.parent.name in ("sub", ".git"):
        path.parent.rmdir()
    assert content(tmp_path / "out") == "old"


def test_a_foreign_folder_that_only_looks_like_a_release_is_left_alone(tmp_path):
    site = tmp_path / "site"
    (site / "public").mkdir(parents=True)
    (site / "internal").mkdir()
    (site / "public" / "index.html").touch()
    with pytest.raises(InputError, match=r"public/index\.html"):
        release(site, "new")
    assert (site / "public" / "index.html").exists()


def test_many_foreign_files_are_counted(tmp_path):
    for i in range(8):
        (tmp_path / f"{i}.txt").touch()
    with pytest.raises(InputError, match=r"0\.txt, 1\.txt, .* 4\.txt and 3 more"):
        release(tmp_path, "new")


def test_files_that_come_in_the_meantime_are_seen(tmp_path):
    release(tmp_path / "out", "old")
    with pytest.raises(InputError, match=r"notes\.txt"), staged(tmp_path / "out", KEYS) as stage:
        fill(stage, "new")
        (tmp_path / "out" / "notes.txt").touch()
    assert (tmp_path / "out" / "notes.txt").exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": "other", "files": ["public/x"]}'])
def test_a_damaged_list_of_content_protects_the_files(tmp_path, text):
    release(tmp_path / "out", "old")
    (tmp_path / "out" / "internal" / "content.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"internal/content\.json"):
        release(tmp_path / "out", "new")


def test_a_file_is_not_replaced(tmp_path):
    (tmp_path / "out").touch()
    with pytest.raises(InputError, match="this is a file"):
        release(tmp_path / "out", "new")


def test_only_plain_files_are_released(tmp_path):
    with pytest.raises(DiskretError, match="no folders or links: public/sub"):
        with staged(tmp_path / "out", KEYS) as stage:
            (stage.public / "sub").mkdir()
    assert not list(tmp_path.iterdir())


def test_a_missing_parent_is_a_clear_error(tmp_path):
    with pytest.raises(InputError, match="nothing can be written in .*nowhere"):
        release(tmp_path / "nowhere" / "out", "new")


@contextmanager
def as_an_ordinary_user():
    """Root may write anywhere, so it becomes nobody meanwhile."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@posix
def test_an_unwritable_parent_is_a_clear_error():
    with TemporaryDirectory() as folder:  # where nobody may go, unlike tmp_path of root
        parent = Path(folder)
        release(parent / "before", "new")
        parent.chmod(0o555)
        with as_an_ordinary_user():
            with pytest.raises(InputError, match="nothing can be written in .*Permission denied"):
                release(parent / "out", "new")
        parent.chmod(0o700)
        assert [path.name for path in parent.iterdir()] == ["before"]


# ── a machine that stops ────────────────────────────────────────────────────────────


def killed_at(step: int, folder: Path) -> bool:
    """Write a release in a process of its own that is killed at its n-th step on the disk."""
    child = os.fork()
    if child == 0:
        taken = 0

        def deadly(function):
            def call(*args, **options):
                nonlocal taken
                taken += 1
                if taken == step:
                    os.kill(os.getpid(), signal.SIGKILL)
                return function(*args, **options)

            return call

        os.fsync = deadly(os.fsync)
        Path.rename = deadly(Path.rename)
        Path.chmod = deadly(Path.chmod)
        Path.mkdir = deadly(Path.mkdir)
        shutil.rmtree = deadly(shutil.rmtree)
        try:
            release(folder, "new")
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.long
@posix
@pytest.mark.parametrize("earlier", [True, False])
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_killed_process_leaves_the_old_or_the_new_folder(tmp_path, earlier):
    step, seen = 0, []
    while True:
        step += 1
        home = tmp_path / str(step)
        home.mkdir()
        if earlier:
            release(home / "out", "old")
        if not killed_at(step, home / "out"):
            break
        left = [path for path in home.iterdir() if path.name != "out"]
        assert all(path.name.startswith(".out.") for path in left)
        for path in left:
            internal = path / "internal"
            assert not internal.exists() or mode(internal) == 0o700
        if (home / "out").exists():
            seen.append(content(home / "out"))
        elif earlier:
            # the window between the two renames
            complete = {path.suffix: content(path) for path in left}
            assert complete == {".old": "old", ".stage": "new"}
            seen.append("window")
        else:
            seen.append("nothing")
        # the next attempt succeeds whatever was left
        release(home / "out", "next")
        assert content(home / "out") == "next"
    assert content(home / "out") == "new"
    before = "old" if earlier else "nothing"
    assert set(seen) == {before, "new"} | ({"window"} if earlier else set())
    assert seen.count("window") <= 1
    assert seen == sorted(seen, key=[before, "window", "new"].index)
