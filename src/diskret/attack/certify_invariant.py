"""What holds of tables with invariant noise: the distribution of their values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.attack.noise_certificate import NoiseCertificate, Statement, refuse_cells
from diskret.errors import ProofError
from diskret.tables import Published, Table

_EXACT = Statement(
    "Every value occurs exactly as often as among the true values of the tables that were "
    "perturbed together; their sum is unchanged.",
    "Jeder Wert kommt genau so oft vor wie unter den wahren Werten der gemeinsam überlagerten "
    "Tabellen; ihre Summe ist unverändert.",
)
_EXPECTED = Statement(
    "On average every value occurs as often as among the true values of the tables that were "
    "perturbed together.",
    "Im Mittel kommt jeder Wert so oft vor wie unter den wahren Werten der gemeinsam überlagerten "
    "Tabellen.",
)
_ALIKE = Statement(
    "A cell that stands in several of these tables has the same value in all of them.",
    "Ein Feld, das in mehreren dieser Tabellen steht, hat in allen denselben Wert.",
)
_NOT_CLAIMED = (
    Statement(
        "The tables are not additive.",
        "Die Tabellen sind nicht additiv.",
    ),
    Statement(
        "In tables that were perturbed at another time the same cell can have another value.",
        "In zu anderer Zeit überlagerten Tabellen kann dasselbe Feld einen anderen Wert haben.",
    ),
    Statement(
        "Single values can be changed upwards or downwards on average; only over all cells do "
        "changes balance. No interval is claimed.",
        "Einzelne Werte können im Mittel nach oben oder nach unten verändert sein; nur über alle "
        "Felder gleichen sich die Änderungen aus. Es wird kein Intervall zugesichert.",
    ),
)


def certify_invariant(
    published: Sequence[Published],
    tables: Sequence[Table],
    cell: Sequence[NDArray[np.int64]],
    max_noise: float,
    exact: bool = True,
) -> list[NoiseCertificate]:
    """Check tables that were perturbed together by invariant noise.

    Parameters
    ----------
    published
        The perturbed tables.
    tables
        The original ones, in the same order.
    cell
        A number for each cell, the same for the same cell of several tables; shapes of the tables.
    max_noise
        The largest noise. Confidential.
    exact
        Whether every value has to be as frequent as it was, not only on average.

    Raises
    ------
    ProofError
        A value is more or less frequent than it was, one cell has two values, a cell is farther
        from its value than the largest noise, or a cell of value 0 is not 0; says how many.
    """
    number = np.concatenate([own.ravel() for own in cell])
    before = np.concatenate([own.measure.sum.ravel() for own in tables])
    after = np.concatenate([own.value.ravel() for own in published])
    _, first, same = np.unique(number, return_index=True, return_inverse=True)
    twice = int((after != after[first][same.ravel()]).sum())
    if twice:
        raise ProofError(f"{twice:,} cells have other values than the same cell of another table")
    for seen, table in zip(published, tables, strict=True):
        moved = np.abs(seen.value - table.measure.sum)
        refuse_cells(
            seen, moved > max_noise, "are farther from their values than the largest noise"
        )
        refuse_cells(
            seen, (table.measure.sum == 0) & (seen.value != 0), "are empty but not shown as 0"
        )
    if after.min() < 0:
        raise ProofError("counts became negative")
    if exact:
        _check_frequencies(before[first], after[first])
    changed = int((after != before)[first].sum())
    said = Statement.of(
        "{changed} of {cells} different cells were changed, none by more than the largest noise.",
        "{changed} von {cells} verschiedenen Feldern wurden verändert, keines um mehr als die "
        "größte Überlagerung.",
        changed=f"{changed:,}",
        cells=f"{len(first):,}",
    )
    figures = {"cells": len(first), "changed": changed, "max_noise": max_noise}
    return [
        NoiseCertificate(
            own,
            (_EXACT if exact else _EXPECTED, _ALIKE),
            _NOT_CLAIMED,
            checked=(said,),
            figures=figures,
        )
        for own in published
    ]


def _check_frequencies(before: NDArray[np.int64], after: NDArray[np.int64]) -> None:
    """Refuse values that got rarer or more frequent."""
    high = int(max(before.max(), after.max()))
    was, now = (np.bincount(x, minlength=high + 1) for x in (before, after))
    wrong = np.flatnonzero(was != now)
    if len(wrong):
        value = int(wrong[0])
        raise ProofError(
            f"{len(wrong):,} values are not as frequent as they were, e.g. {value} occurs "
            f"{now[value]:,} times instead of {was[value]:,}"
        )
