"""What holds of perturbed values that were made additive."""

from __future__ import annotations

import numpy as np

from diskret.attack.adding_up import check_adding_up
from diskret.attack.noise_certificate import NoiseCertificate, Statement, refuse_cells
from diskret.tables import Published, Table

_CLAIMED = (
    Statement(
        "All totals of this table are the sums of their parts.",
        "Alle Summen dieser Tabelle sind die Summen ihrer Teile.",
    ),
    Statement(
        "Values were perturbed, then made additive from the perturbed values alone.",
        "Werte wurden überlagert und dann allein aus den überlagerten Werten additiv gemacht.",
    ),
)
_NOT_CLAIMED = (
    Statement(
        "The same cell can have another value in another table: consistency was given up for "
        "additivity.",
        "Dasselbe Feld kann in einer anderen Tabelle einen anderen Wert haben: Die Konsistenz "
        "wurde für die Additivität aufgegeben.",
    ),
    Statement(
        "No interval is claimed, and no mean or variance of the changes.",
        "Es wird kein Intervall zugesichert, auch kein Mittel und keine Varianz der Änderungen.",
    ),
)


def certify_additive(published: Published, before: Published, table: Table) -> NoiseCertificate:
    """Check a perturbed table that was made additive.

    Parameters
    ----------
    published
        The additive table.
    before
        The perturbed one that it was made from.
    table
        The original.

    Raises
    ------
    ProofError
        Totals are not the sums of their parts, a cell that was 0 is not any more, or a value is
        negative where none can be; says how many and which.
    """
    check_adding_up([published])
    opened = np.flatnonzero(((before.value == 0) & (published.value != 0)).ravel())
    refuse_cells(published, opened, "were 0 and are not any more")
    if published.nonnegative:
        refuse_cells(published, np.flatnonzero(published.value < 0), "are negative")
    again = np.abs(published.value - before.value) / 10.0**published.decimals
    noise = (published.value - table.measure.sum) / 10.0**published.decimals
    changed, size = int(np.count_nonzero(again)), again.size
    largest, mean = float(again.max(initial=0)), float(again.mean())
    return NoiseCertificate(
        published,
        _CLAIMED,
        _NOT_CLAIMED,
        shown={"additive": True},
        checked=(
            Statement.of(
                "{changed} of {size} cells ({share} percent) were changed again, by {largest} at "
                "most and {mean} on average; these no longer have the values that other tables "
                "show.",
                "{changed} von {size} Feldern ({share} Prozent) wurden noch einmal verändert, um "
                "höchstens {largest} und im Mittel um {mean}; sie haben nicht mehr die Werte, die "
                "andere Tabellen zeigen.",
                changed=f"{changed:,}",
                size=f"{size:,}",
                share=f"{100 * changed / size:.1f}",
                largest=f"{largest:g}",
                mean=f"{mean:.2f}",
            ),
        ),
        figures={
            "changed_again": changed,
            "share_changed_again": 100 * changed / size,
            "largest_second_change": largest,
            "mean_second_change": mean,
            "added_variance": float((again**2).mean()),
            "mean_noise": float(noise.mean()),
            "mean_square_noise": float((noise**2).mean()),
        },
    )
