"""Whether changed values add up."""

from __future__ import annotations

from collections.abc import Sequence

from diskret.attack.equations import equations
from diskret.errors import ContradictionError, ProofError
from diskret.tables import Publication, Published


def check_adding_up(tables: Sequence[Published]) -> None:
    """Refuse tables whose totals are not the sums of their parts, also between tables.

    Parameters
    ----------
    tables
        Tables that are read together.

    Raises
    ------
    ProofError
        Some equation does not hold; names cells.

    Examples
    --------
    >>> import numpy as np
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension
    >>> region = Dimension("region", Hierarchy.flat(["N", "S"]))
    >>> value, no = np.array([9, 3, 3]), np.zeros(3, dtype=bool)
    >>> check_adding_up([Published("t", (region,), "count", True, 0, value, no, no)])
    Traceback (most recent call last):
        ...
    diskret.errors.ProofError: values do not add up: ...
    """
    try:
        equations(Publication(tuple(tables)))
    except ContradictionError as error:
        raise ProofError(f"values do not add up: {error}") from error
