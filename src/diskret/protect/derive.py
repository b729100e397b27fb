"""Derived figures: means, shares, growth rates and indices of what is published.

They are computed from published values alone. Where one of these is suppressed, so is the
figure, for with it the suppressed value could be computed. Pass them to
[`write`][diskret.write], which refuses them unless everything they are made of
is published as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diskret.errors import InputError
from diskret.io import FrameKind
from diskret.publish.contract import Protected
from diskret.tables import Derived, Published, Table

__all__ = ["growth", "index", "mean", "share"]


def mean(
    total: Protected | Published,
    count: Protected | Published,
    *,
    name: str | None = None,
    decimals: int = 1,
) -> Derived:
    """A sum for each one counted, e.g. turnover for each firm.

    Parameters
    ----------
    total
        The table of the sum.
    count
        The table of how many, or of any other measure of the same cells, e.g. employees.
    name
        Of the column and the files; by default ``<name of the total>_mean``.
    decimals
        0 to 12; rounded half a unit upwards from the exact quotient.

    Returns
    -------
    Derived
        Suppressed where the sum or the count is; empty where the count is 0.

    Raises
    ------
    InputError
        One of them is not what is published, or they are about different cells.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import diskret as dk
    >>> cells = pa.table({"region": ["N", "S"], "firms": [4, 3], "sales": [90, 50]})
    >>> table = Table.from_cells(cells, by={"region": None}, value="sales", count="firms")
    >>> rule = dk.rules.MinimumFrequency(3)
    >>> sales, firms = dk.suppress([table["sales"], table["count"]], rule)
    >>> mean(sales, firms).frame.to_pydict()["sales_mean"]
    [20.0, 22.5, 16.7]
    """
    tables, kind = _published("mean", total, count)
    return Derived(name or f"{tables[0].name}_mean", "mean", tables, (), "", decimals, kind)


def share(
    part: Protected | Published,
    of: str | Sequence[str] | Protected | Published,
    *,
    name: str | None = None,
    decimals: int = 1,
) -> Derived:
    """Percent of a total along a dimension, or of another measure.

    Parameters
    ----------
    part
        The table.
    of
        A dimension, or several: the whole is their total, the codes of the other dimensions
        staying as they are. Or the table of another measure.
    name
        Of the column and the files; by default ``<name of the part>_share``.
    decimals
        0 to 12; rounded half a unit upwards, so shares need not add up to 100 exactly.

    Returns
    -------
    Derived
        Suppressed where the part or the whole is; empty where the whole is not positive.

    Raises
    ------
    InputError
        There is no such dimension, one of the tables is not what is published, or they are
        about different cells.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import diskret as dk
    >>> cells = pa.table({"region": ["N", "S"], "firms": [4, 3]})
    >>> table = Table.from_cells(cells, by={"region": None}, count="firms")
    >>> firms = dk.suppress(table, dk.rules.MinimumFrequency(3))
    >>> share(firms, of="region").frame.to_pydict()["count_share"]
    [100.0, 57.1, 42.9]
    """
    if isinstance(of, str):
        along: tuple[str, ...] = (of,)
    elif isinstance(of, Sequence):
        along = tuple(of)
    else:
        along = ()
    wholes = () if along or isinstance(of, Sequence) else (of,)
    tables, kind = _published("share", part, *wholes)
    return Derived(name or f"{tables[0].name}_share", "share", tables, along, "", decimals, kind)


def growth(
    now: Protected | Published,
    before: Protected | Published,
    *,
    name: str | None = None,
    decimals: int = 1,
) -> Derived:
    """Percent of change against an earlier period.

    Parameters
    ----------
    now, before
        Tables of the same measure and codes with different ``vintage=``; for one released
        before, ``Published.read(folder)``.
    name
        Of the column and the files; by default ``<measure>_growth``.
    decimals
        0 to 12; rounded half a unit upwards (-2.5 becomes -2).

    Returns
    -------
    Derived
        Suppressed where one of the two values is; empty where the earlier is not positive.

    Raises
    ------
    InputError
        The tables are not what is published, or do not fit each other.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import diskret as dk
    >>> def firms(vintage, *counts):
    ...     cells = pa.table({"region": ["N", "S"], "firms": counts})
    ...     by = {"region": None}
    ...     table = Table.from_cells(cells, by=by, count="firms", vintage=vintage)
    ...     return dk.suppress(table, dk.rules.MinimumFrequency(3))
    >>> growth(firms("2025", 5, 6), firms("2024", 4, 6)).frame.to_pydict()["count_growth"]
    [10.0, 25.0, 0.0]
    """
    tables, kind = _published("growth", now, before)
    return Derived(name or f"{tables[0].measure}_growth", "growth", tables, (), "", decimals, kind)


def index(
    series: Sequence[Protected | Published],
    base: str,
    *,
    name: str | None = None,
    decimals: int = 1,
) -> Derived:
    """Several periods with one of them as 100.

    Parameters
    ----------
    series
        Tables of the same measure and codes with different ``vintage=``, in the order of the
        periods.
    base
        The vintage that is 100.
    name
        Of the column and the files; by default ``<measure>_index``.
    decimals
        0 to 12; rounded half a unit upwards.

    Returns
    -------
    Derived
        With a row for each period and cell; suppressed where the value or that of the base
        is; empty where the base is not positive.

    Raises
    ------
    InputError
        The base is none of the periods, the tables are not what is published, or do not fit
        each other.
    """
    tables, kind = _published("index", *series)
    if not tables:
        raise InputError("an index needs the tables of at least two periods")
    return Derived(name or f"{tables[0].measure}_index", "index", tables, (), base, decimals, kind)


def _published(figure: str, *given: Any) -> tuple[tuple[Published, ...], FrameKind]:
    """What is published of each, and the kind of frame of the first that has one."""
    tables: list[Published] = []
    kinds: list[FrameKind] = []
    for one in given:
        if isinstance(one, Published):
            tables.append(one)
        elif isinstance(one, Table):
            raise InputError(
                f"a {figure} is computed from what is published, not from the original table; "
                "protect it first with suppress() and give the result"
            )
        elif hasattr(one, "published") and hasattr(one, "frame_kind"):
            tables.append(one.published)
            kinds.append(one.frame_kind)
        else:
            what = one.kind if isinstance(one, Derived) else type(one).__name__
            raise InputError(
                f"a {figure} is made of published sums and counts, not of {what!r}; give results "
                "of suppress() or perturb(), or tables read with Published.read()"
            )
    return tuple(tables), (kinds or ["pyarrow"])[0]
