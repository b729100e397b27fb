"""Who attacks where nobody says: one answer for Python and for jobs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from diskret.attack import Attacker
from diskret.rules import Sensitivity
from diskret.tables import Table

#: Records up to which `tabulate` lists the contributions of units by itself.
LISTED = 5_000_000


def default_attacker(tables: Sequence[Table], rules: Sequence[object]) -> Attacker:
    """A contributor, where all tables sum what units contribute; else the plain outsider.

    Where the contributions of units are not listed, or something cannot be judged by them, a
    warning says that the tables are not protected against contributors.

    Parameters
    ----------
    tables
        Tables that are protected together.
    rules
        What judges each.
    """
    if not all(map(_sums_of_units, tables)):
        return Attacker()
    why = ""
    if any(isinstance(rule, Sensitivity) for rule in rules):
        why = "a Sensitivity is given in place of a rule"
    elif any(table.weight is not None for table in tables):
        why = "weighted tables cannot be judged by their contributors"
    elif any(table.contributions is None for table in tables):
        why = (
            "the contributions of units are not listed; tabulate with contributions=True (by "
            f"default they are, up to {LISTED:,} records)"
        )
    if not why:
        return Attacker(contributor=True)
    warnings.warn(
        f"protected against an outsider only, not against contributors who know their own share: "
        f"{why}. Say attacker=dk.Attacker() if that is enough",
        stacklevel=4,
    )
    return Attacker()


def _sums_of_units(table: Table) -> bool:
    """Whether a table sums values of records that name the unit they belong to."""
    from_records = table.units is not None and table.units is not table.count
    return not table.frequency and (table.contributions is not None or from_records)
