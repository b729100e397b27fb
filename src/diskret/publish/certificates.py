"""What every public certificate holds: nothing else is written, and nothing else is verified.

The time of writing is left out: the same release, the same bytes.
"""

from __future__ import annotations

from diskret.io.from_json import Form

_TEXT: Form = {"en": [str], "de": [str]}
#: As `diskret.io.from_json` describes it.
NEEDED: Form = {
    **dict.fromkeys(("schema", "family", "name", "software"), str),
    "claimed": _TEXT,
    "not_claimed": _TEXT,
    "files": {"*": str},
    "inputs": {"*": str},
}
