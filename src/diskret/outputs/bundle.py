"""The accepted results of a project, written into a folder that may leave."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from diskret.errors import InputError
from diskret.outputs.events import Event, Item
from diskret.outputs.kept import Submitted
from diskret.publish.bundle import CHECKSUMS, RESULTS, Leaving, write_public
from diskret.publish.json_files import write_json
from diskret.publish.staging import Stage

#: The file among the office's own that says what happened to the results.
HISTORY = "desk.json"
_SCHEMA = "diskret/desk/1"
#: What no name of a file holds in Windows, where checkers work.
_NO_NAME = re.compile(r'[\\/:*?"<>|\x00-\x1f]|^\.*$|[ .]$')
#: Names that mean something to the SACRO viewer.
_TAKEN = (RESULTS, CHECKSUMS, "outputs.json", "config.json")
_TYPES = {"regression": "regression", "file": "custom", "figure": "custom", "unknown": "custom"}


def leaving(results: Sequence[tuple[Item, Submitted]]) -> list[Leaving]:
    """The files that leave, and what the public part says of them.

    Raises
    ------
    InputError
        Two results have a file of the same name, or a name is no name of a file or means something
        to the SACRO viewer.
    """
    names = Counter(name.casefold() for _, one in results for name in one.files)
    for name, number in names.items():
        if number > 1 or name in _TAKEN or _NO_NAME.search(name):
            raise InputError(
                f"no file of the bundle can be called {name!r}: submit the result under another "
                "name"
            )
    for _, one in results:
        for name, content in one.files.items():
            if name.casefold().endswith(".json") and _lists_results(content):
                raise InputError(
                    f"{name}: the SACRO viewer would take it for its list of results, for it holds "
                    "version and results; submit it in another form"
                )
    return [
        Leaving(
            item.name,
            _TYPES.get(one.kind, "table"),
            one.files,
            item.events_of("accepted")[-1].when,
            item.excepted,
        )
        for item, one in results
    ]


def write_bundle(
    stage: Stage, project: str, files: list[Leaving], history: Sequence[Event]
) -> None:
    """Write what leaves into ``public/`` and the history into ``internal/``."""
    write_public(stage, files)
    content = {
        "schema": _SCHEMA,
        "project": project,
        "events": [asdict(one) for one in history],
    }
    write_json(content, stage.internal / HISTORY)


def _lists_results(content: bytes) -> bool:
    """Whether a file looks like the viewer's own: it takes any that does, if it is the only one."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and {"version", "results"} <= {*found}
