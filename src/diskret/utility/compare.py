"""Compare published tables with the original ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diskret.tables import Table
from diskret.utility.comparison import Comparison
from diskret.utility.pairs import pairs_of


def compare(original: Table | Sequence[Table], protected: Any) -> Comparison:
    """Say what protection cost: deviations, zeros, additivity, order, association.

    Works for every method, so that methods can be compared on the same tables: what is changed
    is told by deviations, what is suppressed by the share of cells and of values withheld.

    Parameters
    ----------
    original
        A complete table with one measure (see `Table.__getitem__`), or a list of such tables of
        the same measure: their cells are pooled.
    protected
        What is published instead: the result of a method, its [`Published`][diskret.Published],
        or an array of the table's shape with published values in the measure's own unit (NaN or
        masked: withheld); for a list of tables a list of these.

    Returns
    -------
    Comparison
        Confidential, as it is computed from original values.

    Raises
    ------
    InputError
        Tables and results do not belong together, or values have too many decimals.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = pa.table({"region": ["N", "S", "W"], "persons": [14, 3, 1]})
    >>> table = Table.from_cells(cells, by={"region": None}, count="persons")
    >>> found = compare(table, [18, 15, 3, 0])
    >>> found.deviations.mean, found.zeros.false_zeros, found.additivity.broken
    (0.5, 1, 0)
    """
    return Comparison(pairs_of(original, protected))
