"""Whether a result may leave: judged once more, and who may make an exception."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from diskret.errors import ProofError
from diskret.outputs.beside import Statement, beside
from diskret.outputs.checked import Checked, Finding
from diskret.outputs.kept import Submitted
from diskret.outputs.profile import Profile


def judged_again(own: Submitted, earlier: Sequence[Statement], profile: Profile) -> Checked:
    """A result with its own findings, and what follows beside all that has left."""
    return _checked(own, beside(earlier, replace(own.statement, name=""), profile), profile)


def as_submitted(own: Submitted, profile: Profile) -> Checked:
    """A result with all that was found when it was submitted."""
    return _checked(own, own.together, profile)


def _checked(own: Submitted, together: Sequence[Finding], profile: Profile) -> Checked:
    return Checked(
        own.kind,
        None,
        own.made,
        (*own.findings, *together),
        profile,
        name=own.statement.name,
        command=own.command,
    )


def check_exception(checked: Checked, name: str, who: str, why: str) -> None:
    """Refuse an exception that nobody makes who may.

    Raises
    ------
    ProofError
        `who` or `why` is missing, or `who` may not let go what failed.
    """
    said = " ".join(checked.reasons())
    if not who or not why:
        raise ProofError(f"{name} must not leave: {said} Name who= excepts it, and why=.")
    if checked.verdict == "fail" and who not in checked.profile.excepting:
        raise ProofError(
            f"{name} must not leave: {said} {who!r} is not named in excepting of the profile."
        )
