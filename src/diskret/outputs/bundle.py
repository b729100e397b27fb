"""The accepted results of a project, written into a folder that may leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path

from diskret.errors import InputError
from diskret.keys import SecretKeys
from diskret.outputs.events import Event, Item
from diskret.outputs.kept import Submitted
from diskret.publish.bundle import CHECKSUMS, RESULTS, Leaving, write_public
from diskret.publish.json_files import write_json
from diskret.publish.staging import staged, target_of

#: The file among the office's own that says what happened to the results.
HISTORY = "desk.json"
_SCHEMA = "diskret/desk/1"
_TYPES = {"regression": "regression", "file": "custom", "figure": "custom", "unknown": "custom"}


def write_bundle(
    folder: str | PathLike[str],
    project: str,
    results: Sequence[tuple[Item, Submitted]],
    history: Sequence[Event],
    keys: SecretKeys,
) -> Path:
    """Write results into ``public/`` and their history into ``internal/``, or nothing.

    Raises
    ------
    InputError
        Two results have a file of the same name, a name is no name of a file, or the folder holds
        something else.
    """
    names = Counter(name.casefold() for _, one in results for name in one.files)
    for name, number in names.items():
        if number > 1 or name in (RESULTS, CHECKSUMS) or Path(name).name != name:
            raise InputError(
                f"no file of the bundle can be called {name!r}: submit the result under another "
                "name"
            )
    leaving = [
        Leaving(
            item.name,
            _TYPES.get(one.kind, "table"),
            one.files,
            item.events_of("accepted")[-1].when,
            item.excepted,
        )
        for item, one in results
    ]
    target = target_of(folder)
    with staged(target, keys, (CHECKSUMS,)) as stage:
        write_public(stage, leaving)
        content = {
            "schema": _SCHEMA,
            "project": project,
            "events": [asdict(one) for one in history],
        }
        write_json(content, stage.internal / HISTORY)
    return target
