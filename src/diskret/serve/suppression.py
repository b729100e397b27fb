"""How a data set is protected whose cells are hidden rather than changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from diskret.rules import Rule
from diskret.tables import MeasureSum


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
    vintage
        By which the ledger knows tables of these records, see `tabulate`: that of the office's own
        releases of them, and of no other records.
    unit, holding
        Columns of the units that contribute and of the holdings they belong to; None: every record
        is a unit of its own, and no two belong together.
    sums
        Equations between measures of the data set, e.g. ``["revenue = domestic + export"]``. Who
        asks for one of them has all of them released, protected together.

    Raises
    ------
    InputError
        A sum is not written like that.

    Examples
    --------
    >>> from diskret.rules import MinimumFrequency
    >>> protected = Suppression(
    ...     MinimumFrequency(3), "2025", unit="firm", sums=["revenue = domestic + export"]
    ... )
    >>> protected.judge("")
    MinimumFrequency(n=3, of=None, range=10, level=None)
    >>> protected.together("export"), protected.together("profit")
    (('domestic', 'export', 'revenue'), ('profit',))
    """

    rule: Rule
    vintage: str
    of_sums: Rule | None = None
    unit: str | None = None
    holding: str | None = None
    sums: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.equations  # noqa: B018 - refuses what is no sum

    @cached_property
    def equations(self) -> tuple[MeasureSum, ...]:
        """The sums, read."""
        return tuple(map(MeasureSum.read, self.sums))

    def together(self, measure: str) -> tuple[str, ...]:
        """The measures that sums tie to one, directly or through others, and itself; sorted."""
        found = {measure}
        for _ in self.equations:
            for one in self.equations:
                if not found.isdisjoint(own := {one.total, *one.parts}):
                    found |= own
        return tuple(sorted(found))

    def judge(self, measure: str) -> Rule:
        """The rule for counts, which have no measure, or for sums of one."""
        return self.of_sums if measure and self.of_sums is not None else self.rule
