"""Compare what is published with the original: tables, or records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Annotated, Any, overload

from diskret.errors import InputError
from diskret.parameters import Column, Whole, reading
from diskret.tables import Table
from diskret.utility.comparison import Comparison
from diskret.utility.pairs import pairs_of
from diskret.utility.records_comparison import RecordsComparison, records_comparison

#: Names of ordered categorical variables, or variable → its values in order.
Ordered = str | Iterable[str] | Mapping[str, Sequence[Any]]


# a table is Any, too: the first that fits is meant
@overload
def compare(  # pyright: ignore[reportOverlappingOverload]
    original: Table | Sequence[Table], protected: Any
) -> Comparison: ...


@overload
def compare(
    original: Any,
    protected: Any,
    *,
    numeric: str | Iterable[str] | None = None,
    categorical: str | Iterable[str] | None = None,
    weight: str | None = None,
    ordered: Ordered = (),
    size: int = 2,
) -> RecordsComparison: ...


@reading
def compare(
    original: Any,
    protected: Any,
    *,
    numeric: str | Iterable[str] | None = None,
    categorical: str | Iterable[str] | None = None,
    weight: Column | None = None,
    ordered: Ordered = (),
    size: Annotated[int, Whole(1)] = 2,
) -> Comparison | RecordsComparison:
    """Say what protection cost: of tables, or of records.

    Works for every method, so that methods can be compared on the same tables or records: what is
    changed is told by deviations, what is suppressed by how much is withheld.

    Parameters
    ----------
    original
        A complete table with one measure (see `Table.__getitem__`), or a list of such tables of
        the same measure: their cells are pooled. Or records: a
        [`Microdata`][diskret.Microdata], or a frame of any kind.
    protected
        What is published instead. For a table the result of a method, its
        [`Published`][diskret.Published], or an array of the table's shape with published values in
        the measure's own unit (NaN or masked: withheld); for a list of tables a list of these. For
        records the same records in the same order.
    numeric, categorical
        Of records: columns to compare. None: the numeric variables and the keys of the microdata,
        as far as the protected file still has them; of a frame without roles its columns of
        numbers, and all others, unless the other argument names some.
    weight
        Of records: the sampling weight, None: that of the microdata. Means, variances,
        correlations, quantiles and regressions are weighted; distances of values, tables and
        propensities count records.
    ordered
        Categorical variables whose values have an order, which matters for their distance: names
        (the order that was declared, or that of numbers and dates), or a mapping of names to values
        in order.
    size
        Contingency tables of up to so many categorical variables are compared.

    Returns
    -------
    Comparison or RecordsComparison
        Confidential, as it is computed from original values.

    Raises
    ------
    InputError
        What is compared does not belong together; values have too many decimals, or are no
        numbers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = pa.table({"region": ["N", "S", "W"], "persons": [14, 3, 1]})
    >>> table = Table.from_cells(cells, by={"region": None}, count="persons")
    >>> found = compare(table, [18, 15, 3, 0])
    >>> found.deviations.mean, found.zeros.false_zeros, found.additivity.broken
    (0.5, 1, 0)

    >>> before, after = pa.table({"income": [1, 2, 3, 4]}), pa.table({"income": [1, 2, 3, 5]})
    >>> round(compare(before, after).figures["means"], 3)
    0.194
    """
    several = isinstance(original, (list, tuple)) and not (
        original and all(isinstance(one, (str, PathLike)) for one in original)
    )
    if isinstance(original, Table) or several:
        if (numeric, categorical, weight, tuple(ordered), size) != (None, None, None, (), 2):
            raise InputError("tables are compared as they are, without options")
        return Comparison(pairs_of(original, protected))
    return records_comparison(original, protected, numeric, categorical, weight, ordered, size)
