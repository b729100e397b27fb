"""The certificate of a suppressed table: what is claimed, against whom, and the proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from diskret.attack.attacker import Attacker
from diskret.attack.examine import Examination, Targets, examine
from diskret.attack.intervals import interval_columns
from diskret.attack.proof import unmet
from diskret.attack.requirements import Requirements
from diskret.attack.statements import claimed, not_claimed, summary
from diskret.errors import ProofError
from diskret.progress import Progress, silent
from diskret.tables import Published

SCHEMA = "diskret/certificate/1"


@dataclass(frozen=True, eq=False)
class SuppressionCertificate:
    """Proof that no stated attacker can narrow a suppressed cell down too far.

    Parameters
    ----------
    published
        What was attacked.
    attacker
        Against whom the claim is made.
    requirements
        The protection levels that were claimed and proven. Confidential.
    examination
        The attack of that attacker, witnesses included.
    outsider
        The attack of the plain outsider, who knows nothing but what is public.
    sliding_only
        Number of primary cells for which only "no exact value" is claimed, because the
        attacker knows that hidden counts are at least 1.
    repaired
        How often the pattern had to be extended after a first attack.
    """

    published: Published
    attacker: Attacker
    requirements: Requirements
    examination: Examination
    outsider: Examination
    sliding_only: int = 0
    repaired: int = 0

    @property
    def primaries(self) -> int:
        """Number of cells that a rule made unsafe. Confidential."""
        return len(self.requirements.cell)

    @property
    def secondaries(self) -> int:
        """Number of cells suppressed for the sake of others. Confidential."""
        return len(self.examination.cell) - self.primaries

    def public(self) -> dict[str, Any]:
        """What anybody may read: the claims and the outsider's interval of every hidden cell.

        Says nothing of rules, levels, what is primary, or what a better informed attacker
        was assumed to know. Digests of files and inputs are added when these are written.
        """
        return {
            "schema": SCHEMA,
            "family": "suppression",
            "name": self.published.name,
            "attacker": self.attacker.kind,
            "claimed": claimed(self.published),
            "not_claimed": not_claimed(self.published, self.attacker),
            "intervals": interval_columns(self.published, self.outsider),
        }

    def internal(self) -> dict[str, Any]:
        """What the office keeps beside the public certificate."""
        return {
            "schema": SCHEMA,
            "family": "suppression",
            "name": self.published.name,
            "attacker": self.attacker.describe(),
            "primaries": self.primaries,
            "secondaries": self.secondaries,
            "sliding_only": self.sliding_only,
            "repaired": self.repaired,
            "witnesses": len(self.examination.denominator),
            "intervals": interval_columns(self.published, self.examination),
        }

    def summary(self, language: str = "en") -> list[str]:
        """The certificate in plain sentences, for the office."""
        return summary(
            language,
            self.published,
            self.attacker,
            primaries=self.primaries,
            secondaries=self.secondaries,
            witnesses=len(self.examination.denominator),
            sliding_only=self.sliding_only,
            repaired=self.repaired,
        )


def targets_of(published: Published, value: Any, requirements: Requirements) -> Targets:
    """How far every suppressed cell has to be able to move for the claim to hold."""
    cell = np.flatnonzero(published.suppressed)
    at = np.searchsorted(cell, requirements.cell)
    unreachable = np.iinfo(np.int64).max
    low = np.full(len(cell), unreachable, dtype=np.int64)
    high = np.full(len(cell), -unreachable, dtype=np.int64)
    width = np.ones(len(cell), dtype=np.int64)
    original = np.asarray(value).ravel()[requirements.cell]
    low[at] = original - requirements.lower
    high[at] = original + requirements.upper
    width[at] = np.maximum(requirements.sliding, 1)
    return Targets(low, high, width)


def certify(
    published: Published,
    attacker: Attacker,
    requirements: Requirements,
    examination: Examination,
    targets: Targets,
    *,
    sliding_only: int = 0,
    repaired: int = 0,
    progress: Progress = silent,
) -> SuppressionCertificate:
    """The certificate, if the examination proves every claim.

    Raises
    ------
    ProofError
        Some cell is not protected; says how many.
    """
    suppressed = published.suppressed.ravel()
    if not suppressed[requirements.cell].all():
        raise ProofError("unsafe cells are published; nothing was certified")
    missed = unmet(examination, targets)
    if missed.any():
        raise ProofError(
            f"{int(missed.sum()):,} suppressed cells can be narrowed down too far; "
            "nothing was certified"
        )
    outsider = examination
    if not attacker.outsider:
        outsider = examine(published, Attacker(), progress=progress)
    return SuppressionCertificate(
        published=published,
        attacker=attacker,
        requirements=requirements,
        examination=examination,
        outsider=outsider,
        sliding_only=sliding_only,
        repaired=repaired,
    )
