"""What each kind of release is checked with: a common shape, whatever the method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diskret.io.from_json import Form
from diskret.keys import SecretKeys
from diskret.progress import Progress
from diskret.publish.derived import Releases
from diskret.tables import Publication, Published


@dataclass(frozen=True)
class Place:
    """Where a release lies, and what it is checked with.

    Parameters
    ----------
    public, internal
        Its folders; None: without the office's files.
    keys
        The office's keys; None: what needs them is not checked.
    releases
        Folders of other releases.
    progress
        Called with ``("attack", done, total)``.
    """

    public: Path
    internal: Path | None
    keys: SecretKeys | None
    releases: Releases
    progress: Progress


@dataclass(frozen=True, eq=False)
class Checked:
    """What held.

    Parameters
    ----------
    lines
        A sentence for each finding; also what was not checked.
    tables
        The tables as they are published.
    together
        Tables that were attacked together.
    suppressed
        Number of suppressed cells that were attacked again.
    """

    lines: tuple[str, ...]
    tables: tuple[Published, ...] = ()
    together: tuple[Publication, ...] = ()
    suppressed: int = 0


@dataclass(frozen=True, eq=False)
class Kind:
    """Releases that are certified in one way.

    Parameters
    ----------
    families
        What their certificates call it.
    form
        What these may hold, as `diskret.io.from_json` describes it.
    needed
        What they must hold.
    check
        Checks all that a folder holds of them, name → certificate; raises `VerificationError`.
    """

    families: tuple[str, ...]
    form: Form
    needed: frozenset[str]
    check: Callable[[Place, Mapping[str, dict[str, Any]]], Checked]
