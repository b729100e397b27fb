"""How a data set is protected whose cells are hidden rather than changed."""

from __future__ import annotations

from dataclasses import dataclass

from diskret.rules import Rule


@dataclass(frozen=True, eq=False)
class Suppression:
    """Rules by which cells of a data set are unsafe. Confidential.

    Each question becomes a release in the ledger of the service, protected and attacked beside
    all that was released before.

    Parameters
    ----------
    rule
        What counts are judged by.
    of_sums
        What sums are judged by; None: the same.
    unit, holding
        Columns of the units that contribute and of the holdings they belong to; None: every record
        is a unit of its own, and no two belong together.
    vintage
        By which the ledger knows tables of the same records; left out: the name of the data set.
        The office's own releases of these records count if they have the same.

    Examples
    --------
    >>> from diskret.rules import MinimumFrequency
    >>> Suppression(MinimumFrequency(3), unit="firm").judge("")
    MinimumFrequency(n=3, of=None, range=10, level=None)
    """

    rule: Rule
    of_sums: Rule | None = None
    unit: str | None = None
    holding: str | None = None
    vintage: str = ""

    def judge(self, measure: str) -> Rule:
        """The rule for counts, which have no measure, or for sums of one."""
        return self.of_sums if measure and self.of_sums is not None else self.rule
