"""A publication that is under way: what it leaves when it is killed, finished or undone.

The order is: state which folder is going to be written; write it; enter the release, beyond the
head; move the folder into place; advance the head. Whoever opens the ledger next looks at the
files: if they are in place, the head advances; if not, entry and folder are removed. What only a
log tells of is stated with its entry, and entered once the folder is in place.
"""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from diskret.errors import VerificationError
from diskret.keys import SecretKeys
from diskret.publish.staging import moved, tidy
from diskret.publish.store import log
from diskret.publish.store.chain import advance, read_head, remove_beyond
from diskret.publish.store.connection import Connection
from diskret.publish.store.entry import Entry, from_text

_log = logging.getLogger("diskret")


@dataclass(frozen=True)
class Unfinished:
    """What is known of a publication that is under way.

    `room` is the folder that is written on the computer `host`, `target` where it goes. `files`:
    path → SHA-256 digest of everything in the folder, once the release is entered; empty before.
    `event`: what the log of the desk says once the folder is in place; "" for an entry of the
    ledger.
    """

    release: str
    host: str
    room: str
    target: str
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    event: str = ""

    @property
    def entered(self) -> bool:
        """Whether the folder is complete, and may be in place already."""
        return bool(self.files)


def this_host() -> str:
    """Name of this computer."""
    return socket.gethostname()


def state(connection: Connection, keys: SecretKeys, note: Unfinished) -> None:
    """Say what is under way, in the transaction of the connection."""
    text = json.dumps(asdict(note), ensure_ascii=False)
    connection.ask("DELETE FROM diskret_unfinished")
    connection.ask(
        "INSERT INTO diskret_unfinished (id, text, seal) VALUES (1, ?, ?)", text, _seal(keys, text)
    )


def stated(connection: Connection, keys: SecretKeys, name: str) -> Unfinished | None:
    """What is under way, or was when it was cut short."""
    rows = connection.ask("SELECT text, seal FROM diskret_unfinished")
    if not rows:
        return None
    text, seal = rows[0]
    if not isinstance(text, str) or seal != _seal(keys, text):
        raise VerificationError(
            f"the ledger {name} was changed: what it says of an unfinished publication does not "
            "bear its seal. Restore it from a backup"
        )
    return Unfinished(**json.loads(text))


def settle(connection: Connection, keys: SecretKeys, name: str) -> None:
    """Finish or undo a publication that was cut short; only for who holds the lock.

    Refused if it ran on another computer, and its files cannot be seen from here.
    """
    note = stated(connection, keys, name)
    if note is None:
        return
    room, target = Path(note.room), Path(note.target)
    if note.entered and _in_place(note, room, target, name):
        tidy(room, target)
        if note.event:
            finish_event(connection, keys, name, note.event)
        else:
            finish(connection, keys, name)
        return
    # first the entry: while its folder is being removed nothing must look as if it were in place
    remove_beyond(connection, read_head(connection, keys, name))
    state(connection, keys, replace(note, files={}))
    connection.commit()
    tidy(room, target)
    connection.ask("DELETE FROM diskret_unfinished")
    connection.commit()


def finish(connection: Connection, keys: SecretKeys, name: str) -> Entry:
    """Count the entry whose files are in place."""
    head = read_head(connection, keys, name)
    [(text, seal)] = connection.ask(
        "SELECT text, seal FROM diskret_entries WHERE number = ?", head.entries + 1
    )
    entry = from_text(text)
    advance(connection, keys, head, entry, seal)
    connection.ask("DELETE FROM diskret_unfinished")
    connection.commit()
    return entry


def finish_event(connection: Connection, keys: SecretKeys, name: str, event: str) -> None:
    """Enter in the log of the desk that files are in place."""
    connection.ask("DELETE FROM diskret_unfinished")
    log.append(connection, keys, name, [(event, None)])  # both in one transaction


def _in_place(note: Unfinished, room: Path, target: Path, name: str) -> bool:
    if room.exists():
        return False
    if moved(room, target, note.files):
        return True
    if note.host != this_host():
        raise VerificationError(
            f"the publication of {note.release!r} was cut short on the computer {note.host}, and "
            f"its folder {note.target} cannot be seen from here; run diskret ledger list there, "
            f"so that the ledger {name} can be put in order"
        )
    _log.warning(
        f"{name}: the publication of {note.release!r} was cut short after its files had been moved "
        f"to {note.target}, and they were changed or removed since. It is kept in the ledger as "
        "published."
    )
    return True


def _seal(keys: SecretKeys, text: str) -> str:
    return keys.fingerprint("ledger unfinished", [text.encode()])
