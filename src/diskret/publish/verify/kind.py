"""What each kind of release is checked with: a common shape, whatever the method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diskret.io.from_json import Form
from diskret.keys import SecretKeys
from diskret.progress import Progress
from diskret.publish.read import Releases
from diskret.tables import Publication, Published


@dataclass(frozen=True)
class Place:
    """Where a release lies, and what it is checked with.

    `internal` None: without the office's files; `keys` None: what needs them is not checked.
    `releases` are folders of other releases.
    """

    public: Path
    internal: Path | None
    keys: SecretKeys | None
    releases: Releases
    progress: Progress


@dataclass(frozen=True, eq=False)
class Checked:
    """What held.

    `lines` are a sentence for each finding, also for what was not checked; `together` tables that
    were attacked together; `suppressed` the number of cells that were attacked again; `streamed`
    the names of tables that were read block by block, so that nobody holds them.
    """

    lines: tuple[str, ...]
    tables: tuple[Published, ...] = ()
    together: tuple[Publication, ...] = ()
    suppressed: int = 0
    streamed: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Kind:
    """Releases that are certified in one way.

    `families` is what their certificates call it, `form` what these may hold as
    `diskret.io.from_json` describes it, `needed` what they must hold. `check` checks all that a
    folder holds of them, name → certificate, and raises `VerificationError`.
    """

    families: tuple[str, ...]
    form: Form
    needed: frozenset[str]
    check: Callable[[Place, Mapping[str, dict[str, Any]]], Checked]
