"""Write a folder of files all or nothing.

The files are written into a hidden folder beside the target (mode 0700, a name nobody can
guess), flushed to disk and then moved into place by renaming. A previous release at the
target is renamed aside first and removed last.

If the machine stops in the middle, the target is the old folder or the new one, complete.
There is one tiny window, between the two renames of a replacement, in which the target has
no name: then the old folder stands beside it as ``.NAME.….old`` and the new one as
``.NAME.….stage``, both complete. Folders with these names that a crash leaves behind can be
deleted once the target is there; what is internal in them only their owner can read.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from diskret.disk import flush
from diskret.errors import DiskretError, InputError
from diskret.io.from_json import read_json
from diskret.keys import SecretKeys
from diskret.publish.digests import CONTENT, SIGNED, digest, is_lock, plain, sealed_content
from diskret.publish.json_files import write_json
from diskret.texts.lists import first_of

_EXAMPLES = 5
_CONTENT = "diskret/content/"
_STAGE, _OLD = ".stage", ".old"
#: Seconds to wait, one after the other, for a file that is open: on Windows it cannot be moved,
#: and scanners look into new ones, as threads of readers hold theirs a moment longer.
_WAITS = (0.02, 0.08, 0.2, 0.4)


@dataclass(frozen=True)
class Stage:
    """Where the files of a release are written before they are moved into place.

    `internal` is for what stays, and readable by its owner only.
    """

    public: Path
    internal: Path


#: Rooms that are being filled or moved: a process must not be ended without taking them back.
writing: set[Path] = set()


@contextmanager
def staged(
    folder: str | PathLike[str], keys: SecretKeys, parts: Collection[str] = ()
) -> Generator[Stage]:
    """Write ``public/`` and ``internal/`` below `folder`: both complete, or nothing at all.

    The target's parent must exist; the target may be missing, empty, or a release written before,
    which is then replaced. It is untouched after any exception inside the ``with`` block. Into the
    two empty folders files only may be written: no folders, no links. `keys` seal the list of all
    files. `parts` are folders of files that the public part has as well; they are there already.
    """
    target = target_of(folder)
    room = new_room(target)
    with filled(room, keys, parts) as stage:
        yield stage
    try:
        move(room, target)
    except BaseException:
        shutil.rmtree(room, ignore_errors=True)
        raise


# ── the same step by step, for what has to happen in between ────────────────────────


def target_of(folder: str | PathLike[str]) -> Path:
    """The absolute path of a target that may be written to; see `staged`."""
    # a link is followed, so that what it points to is replaced and not the link
    target = Path(os.path.realpath(folder))
    _check_target(target)
    return target


def new_room(target: Path) -> Path:
    """A name beside the target that nobody can guess, for the folder to write into."""
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}{_STAGE}")


@contextmanager
def filled(room: Path, keys: SecretKeys, parts: Collection[str] = ()) -> Generator[Stage]:
    """Make the folder and write into it; sealed and flushed to disk afterwards, or removed."""
    try:
        room.mkdir(mode=0o700)
    except OSError as error:
        raise InputError(
            f"nothing can be written in {room.parent} ({error.strerror}); create that folder, "
            "or choose another place"
        ) from None
    writing.add(room)
    try:
        stage = Stage(room / "public", room / "internal")
        stage.public.mkdir(mode=0o700)
        stage.internal.mkdir(mode=0o700)
        for name in parts:
            (stage.public / name).mkdir(mode=0o700)
        yield stage
        _finish(stage, keys, parts)
        flush(room.parent)
    except BaseException:
        shutil.rmtree(room, ignore_errors=True)
        raise
    finally:
        writing.discard(room)


def move(room: Path, target: Path) -> None:
    """Put the finished folder in the target's place, unless files have appeared there."""
    _check_target(target)
    writing.add(room)
    try:
        _move(room, target)
    finally:
        writing.discard(room)


def moved(room: Path, target: Path, files: Mapping[str, str]) -> bool:
    """Whether a move that was cut short had happened: the target holds exactly these files.

    `files`: path below the target → SHA-256 digest.
    """
    if room.exists():
        return False
    paths = target.rglob("*") if target.is_dir() else ()
    own = target / "public" / SIGNED
    paths = [path for path in paths if path.is_file() and not is_lock(path) and path != own]
    found = {path.relative_to(target).as_posix(): digest(path) for path in paths}
    return found == dict(files)


def tidy(room: Path, target: Path) -> None:
    """Remove what a write that was cut short left; a release that it had put aside comes back."""
    old = _aside(room)
    if old.exists() and not target.exists():
        old.rename(target)
    for rest in (room, old):
        shutil.rmtree(rest, ignore_errors=True)
    if target.parent.exists():
        flush(target.parent)


# ── the target ──────────────────────────────────────────────────────────────────────


def _check_target(target: Path) -> None:
    """Refuse a target that holds anything but a release written before."""
    if not os.path.lexists(target):
        return
    if not target.is_dir():
        raise InputError(f"{target}: this is a file, not a folder; choose another place")
    content = [Path(name) for name in _content(target)]
    known = {
        "public",
        "internal",
        f"public/{SIGNED}",
        *(part.as_posix() for one in content for part in _ways(one)),
    }
    parts = [target, *(target / part for part in sorted(known))]
    found = {
        path for part in parts if part.is_dir() for path in part.iterdir() if not is_lock(path)
    }
    foreign = sorted({path.relative_to(target).as_posix() for path in found} - known)
    if foreign:
        raise InputError(
            f"{target}: the folder holds files that are not part of a release written before: "
            f"{first_of(foreign, _EXAMPLES)}; move them elsewhere or choose another "
            "folder; nothing was changed"
        )


def _ways(path: Path) -> list[Path]:
    """A file of a release and the folders that it lies in."""
    return [path, *path.parents][:-1]


def _content(target: Path) -> list[str]:
    """The files that the release in this folder consists of."""
    own = f"internal/{CONTENT}"
    try:
        content = read_json(target / own)
        known = str(content["schema"]).startswith(_CONTENT)
        return [own, *(str(name) for name in content["files"])] if known else []
    except (InputError, KeyError, TypeError):
        return []


# ── the stage ───────────────────────────────────────────────────────────────────────


def _finish(stage: Stage, keys: SecretKeys, parts: Collection[str]) -> None:
    """List and seal the content, set who may read what, and flush everything to disk."""
    room = stage.public.parent
    own = [stage.public / name for name in parts]
    files = [path for folder in (stage.public, stage.internal, *own) for path in folder.iterdir()]
    files = sorted({*files} - {*own})
    odd = [path.relative_to(room).as_posix() for path in files if not plain(path)]
    if odd:
        raise DiskretError(f"a release holds files only, no folders or links: {', '.join(odd)}")
    content = stage.internal / CONTENT
    files.append(content)
    write_json(sealed_content(stage.public, stage.internal, keys), content)
    for path in files:
        path.chmod(0o600 if path.parent == stage.internal else 0o644)
        flush(path)
    for path in (*own, stage.public, room):
        path.chmod(0o755)
    for path in (*own, stage.public, stage.internal, room):
        flush(path)


def _aside(room: Path) -> Path:
    """Where the release before this one waits while the target is replaced."""
    return room.with_name(room.name.removesuffix(_STAGE) + _OLD)


# ── the move ────────────────────────────────────────────────────────────────────────


def _move(room: Path, target: Path) -> None:
    """Put the finished stage in the target's place."""
    old = _aside(room)
    try:
        if target.exists():
            _patiently(lambda: target.rename(old))
        _patiently(lambda: room.rename(target))
    except BaseException as error:
        if old.exists() and not target.exists():
            old.rename(target)
        if isinstance(error, PermissionError):
            raise InputError(
                f"{target} cannot be replaced ({error.strerror}): a program may have one of its "
                "files open, or it is read-only; close the file, or choose another folder; nothing "
                "was changed"
            ) from None
        raise
    flush(target.parent)
    if old.exists():
        try:
            _patiently(lambda: shutil.rmtree(old))
        except OSError as error:
            raise DiskretError(
                f"{target}: the new release is in place, but the one before it could not be "
                f"removed ({error.strerror}): delete {old}"
            ) from None


def _patiently(do: Callable[[], object]) -> None:
    """Do it, again and again if a file is open, as long as one waits for it."""
    for seconds in _WAITS:
        try:
            do()
            return
        except PermissionError:
            time.sleep(seconds)
    do()
