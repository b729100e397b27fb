"""Results of which nothing is known but that somebody wants them: always for a person."""

from __future__ import annotations

from os import PathLike
from typing import Any

from diskret.outputs.checked import Checked, Finding
from diskret.outputs.profile import Profile


def unread(
    output: Any, *, unit: Any = None, profile: str | PathLike[str] | Profile = "guidelines"
) -> Checked:
    """A result that no check understands: it waits for a person, and no profile lets it pass.

    Parameters
    ----------
    output
        A frame.
    unit
        As for other results; nothing is known of units here.
    profile
        The institution's rules; see `Profile.read`.

    Examples
    --------
    >>> unread("anything").verdict
    'review'
    """
    rules = Profile.read(profile)
    return Checked("unknown", output, ("unknown",), (Finding("unknown", "review"),), rules)
