"""What holds of adjusted tables: they add up, and every sensitive value was moved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diskret.attack.adding_up import check_adding_up
from diskret.attack.noise_certificate import (
    GROUP_DISCLOSURE,
    NoiseCertificate,
    Statement,
    refuse_cells,
)
from diskret.errors import ProofError
from diskret.tables import Published, Table
from diskret.tables.requirements import Requirements

_CLAIMED = (
    Statement(
        "All totals are the sums of their parts, in all tables that were adjusted together.",
        "Alle Summen sind die Summen ihrer Teile, in allen gemeinsam angepassten Tabellen.",
    ),
    Statement(
        "Values were changed where they could have revealed something about single contributors.",
        "Werte wurden verändert, wo sie etwas über einzelne Beitragende hätten verraten können.",
    ),
)
_NOT_CLAIMED = (
    Statement(
        "No interval is claimed: a published value does not say how far the true one lies from it.",
        "Es wird kein Intervall zugesichert: Ein veröffentlichter Wert sagt nicht, wie weit der "
        "wahre von ihm entfernt liegt.",
    ),
    Statement(
        "Published values look exact, but none of them need be; single changes can be large.",
        "Veröffentlichte Werte sehen genau aus, müssen es aber nicht sein; einzelne Änderungen "
        "können groß sein.",
    ),
    Statement(
        "The same cell can have another value in a table that was adjusted at another time.",
        "Dasselbe Feld kann in einer zu anderer Zeit angepassten Tabelle einen anderen Wert haben.",
    ),
    GROUP_DISCLOSURE,
)


def certify_adjustment(
    published: Sequence[Published], tables: Sequence[Table], needs: Sequence[Requirements]
) -> list[NoiseCertificate]:
    """Check tables that were adjusted together, and say what holds of each.

    Parameters
    ----------
    published
        The adjusted tables.
    tables
        The original ones, in the same order.
    needs
        How far each sensitive value must have moved: down by `lower` or up by `upper`. A level of
        0 rules its direction out; where both are 0, any move will do.

    Raises
    ------
    ProofError
        Totals are not the sums of their parts, sensitive cells are too close to their true
        values, or empty cells are not 0; says how many and which.

    Examples
    --------
    >>> import numpy as np
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables.dimension import Dimension
    >>> region = Dimension("region", Hierarchy.flat(["N", "S"]))
    >>> table = Table((region,), count=np.array([12, 10, 2]))
    >>> shown = Published("t", (region,), "count", True, 0, np.array([12, 9, 3]),
    ...     np.zeros(3, bool), np.zeros(3, bool), changed="adjustment")
    >>> one = np.array([1])
    >>> needs = Requirements(np.array([2]), one, one, one)
    >>> certify_adjustment([shown], [table], [needs])[0].summary()[0]
    'All totals are the sums of their parts, in all tables that were adjusted together.'
    """
    check_adding_up(published)
    return [_one(*own) for own in zip(published, tables, needs, strict=True)]


def _one(published: Published, table: Table, needs: Requirements) -> NoiseCertificate:
    original, value = table.measure.sum.ravel(), published.value.ravel()
    moved = value - original
    step = moved[needs.cell]
    risen = (needs.upper > 0) & (step >= needs.upper)
    fallen = (needs.lower > 0) & (-step >= needs.lower)
    anywhere = (needs.upper == 0) & (needs.lower == 0) & (step != 0)
    refuse_cells(
        published, needs.cell[~(risen | fallen | anywhere)], "are too close to their values"
    )
    refuse_cells(
        published, np.flatnonzero(table.empty.ravel() & (value != 0)), "are empty and not 0"
    )
    if table.nonnegative:
        refuse_cells(published, np.flatnonzero(value < 0), "are negative")
    if published.suppressed.any() or published.empty.any():
        raise ProofError(f"table {published.name!r}: an adjusted table shows every cell")
    units = 10.0**published.decimals
    relative = 100 * np.abs(moved) / np.maximum(np.abs(original), 1)
    others = np.setdiff1d(np.flatnonzero(original), needs.cell)
    sensitive, changed = len(needs.cell), int((moved[others] != 0).sum())
    far = float(relative[others].max(initial=0))
    mean = float(relative[original != 0].mean()) if original.any() else 0.0
    return NoiseCertificate(
        published,
        _CLAIMED,
        _NOT_CLAIMED,
        shown={"additive": True},
        checked=(
            Statement.of(
                "{sensitive} sensitive cells are at least their level away from the true values; "
                "{changed} of {others} other cells were changed, by at most {far} percent; on "
                "average cells were changed by {mean} percent.",
                "{sensitive} geheim zu haltende Felder liegen mindestens um ihr Schutzniveau "
                "neben den wahren Werten; {changed} von {others} übrigen Feldern wurden verändert, "
                "um höchstens {far} Prozent; im Mittel wurden Felder um {mean} Prozent verändert.",
                sensitive=f"{sensitive:,}",
                changed=f"{changed:,}",
                others=f"{len(others):,}",
                far=f"{far:.2f}",
                mean=f"{mean:.2f}",
            ),
        ),
        figures={
            "sensitive": sensitive,
            "others": len(others),
            "others_changed": changed,
            "largest_change": float(np.abs(moved).max(initial=0)) / units,
            "largest_relative_change_of_others": far,
            "mean_relative_change": mean,
            "total_change": float(np.abs(moved).sum()) / units,
        },
    )
