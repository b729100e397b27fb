"""What a look into a file found: checks, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from diskret.outputs.checked import Finding
from diskret.outputs.profile import Profile


@dataclass(frozen=True)
class Found:
    """What was found, before an institution says what it means.

    Parameters
    ----------
    check
        Name of the check; see `Finding`.
    places
        Where in the file.
    blanks
        What its sentence is filled with.
    """

    check: str
    places: Sequence[tuple[str, ...]] = ()
    blanks: Mapping[str, object] = field(default_factory=dict[str, object])


def findings(found: Sequence[Found], profile: Profile) -> tuple[Finding, ...]:
    """The findings by a profile's verdicts, those of one check together."""
    by_check: dict[str, Finding] = {}
    for one in found:
        verdict = profile.verdict(one.check)
        if verdict == "pass":
            continue
        before = by_check[one.check].places if one.check in by_check else ()
        places = tuple(dict.fromkeys((*before, *one.places)))
        by_check[one.check] = Finding(one.check, verdict, places, one.blanks)
    return tuple(by_check.values())
