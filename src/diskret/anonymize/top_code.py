"""The verbs that replace extreme values, with their means kept."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.anonymize.missing_codes import as_numbers
from diskret.anonymize.verb import Step, verb
from diskret.errors import InputError
from diskret.io.columns import once
from diskret.microdata.categories import texts
from diskret.microdata.top_code import Keep, cut, pulled_in
from diskret.parameters import Number, Proportion, Whole
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

#: Beyond that share of what is behind a mean a single record is told in the history.
_DOMINANT = 0.5


@verb()
def top_code(
    md: Microdata,
    variable: str,
    *,
    share: Annotated[float, Proportion(high=None, below=1)] | None = None,
    limit: Annotated[float, Number()] | None = None,
    bottom: bool = False,
    keep: Keep = "mean",
    k: Annotated[int, Whole(2)] = 3,
    within: str | Iterable[str] | None = None,
) -> Microdata:
    """Replace the largest values of a numeric variable by their mean, so that its total stays.

    Parameters
    ----------
    md
        The microdata; they are not changed.
    variable
        A column of numbers. Missing values stay missing.
    share
        That share of the records with the largest values, above 0 and below 1, is replaced: rounded
        up, together with values equal to the smallest of them.
    limit
        Values above it are replaced. Either `share` or `limit` is given.
    bottom
        Replace the smallest values instead, or those below `limit`.
    keep
        ``"mean"``: the mean of the replaced values, weighted if there are weights: (weighted)
        totals, in each stratum, are kept. ``"median"``: their (weighted) median. ``"value"``:
        the limit, or of a share the replaced value next to it.
    k
        At least so many records share each new value; where fewer lie beyond the limit, the next
        ones are replaced with them. From 2.
    within
        Variables that divide the records; each stratum has its own share and mean. None: the
        strata of the microdata; ``[]``: none.

    Returns
    -------
    Microdata
        With the variable as floating point numbers.

    Raises
    ------
    InputError
        The values are not numbers, options contradict each other, or a stratum with a value to
        replace has fewer than k.

    Notes
    -----
    Step of the history: ``replaced`` values, ``strata`` in which values were replaced,
    ``extended``: in how many of them others had to be replaced to reach k, and ``largest_share``:
    the largest part that one record has in the (weighted) sum of the values behind a mean.
    ``dominated``: in how many strata it is more than half. There the mean, times the number of
    records, still tells much of the largest value; raise k or the share.

    With an even number of records behind it, a median is the mean of two values; else it is a true
    value of one of them.

    References
    ----------
    A. Hundepool et al., Statistical Disclosure Control (Wiley 2012), section 3.3.2.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret import Microdata
    >>> firms = pa.table({"turnover": [12, 900, 35, 310, 8, 50]})
    >>> made = Microdata(firms, numeric=["turnover"]).top_code("turnover", limit=200)
    >>> made.frame["turnover"].to_pylist()
    [12.0, 420.0, 35.0, 420.0, 8.0, 420.0]
    >>> made.history[0].found["extended"]
    1
    """
    if (share is None) == (limit is None):
        raise InputError("top coding takes either share= or limit=, e.g. share=0.01")
    md = as_numbers(md, [variable])
    values = md.numbers([variable])[:, 0]
    names = md.roles.strata if within is None else list(within)
    if variable in names:
        raise InputError(
            f"column {variable!r} cannot be top coded and divide the records at the same time; "
            "leave it out of within="
        )
    divided = md.keys(names).classes if names else None
    strata = np.zeros(md.n, dtype=np.intp) if divided is None else divided.of
    sign = -1 if bottom else 1
    end = None if limit is None else sign * limit
    done = cut(sign * values, strata, md.weights(), share=share, limit=end, keep=keep, k=k)
    if done.short.any():
        where = np.flatnonzero(done.short)
        shown = "" if divided is None else f", {_label(md, names, divided.codes[where[0]])},"
        number = Count(len(where))
        raise InputError(
            f"{number} {number:stratum has|strata have} fewer than {k} values of {variable!r}; "
            f"the first one{shown} has {int((~np.isnan(values[strata == where[0]])).sum())}, so "
            "that its extreme values cannot be replaced together; use coarser strata in within="
        )
    replaced = done.number > 0
    found: dict[str, Any] = {
        "replaced": int(done.number.sum()),
        "missing": int(np.isnan(values).sum()),
        "strata": int(replaced.sum()),
        "extended": int(done.extended.sum()),
        "largest_share": float(done.largest_share.max(initial=0)),
        "dominated": int((done.largest_share > _DOMINANT).sum()),
    }
    return md.after({variable: _column(sign * done.values)}, Step("top_code", {}, found))


@verb()
def top_code_together(
    md: Microdata,
    variables: str | Iterable[str] | None = None,
    *,
    quantile: Annotated[float, Number(above=0.5, below=1)] = 0.975,
) -> Microdata:
    """Pull records that lie far from all others, in several variables, back to their ellipsoid.

    Centre and ellipsoid are robust: far records do not influence them
    (see [`robust_scatter`][diskret.risk.robust.robust_scatter]). Each of these is moved straight
    towards the centre, just as far as the ellipsoid, so its proportions to the centre stay.

    Parameters
    ----------
    md
        The microdata; they are not changed.
    variables
        Columns of numbers; None: the numeric variables. A record in which one is missing stays as
        it is.
    quantile
        Above 0.5 and below 1: of normally distributed records so many are not moved.

    Returns
    -------
    Microdata
        With the variables as floating point numbers. Totals are not kept.

    Raises
    ------
    InputError
        The values are not numbers, or hardly any record has all of them.

    Notes
    -----
    Step of the history: ``replaced`` records, and those with ``missing`` values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret import Microdata
    >>> angle = np.linspace(0, 6, 100)
    >>> staff, turnover = 20 + 9 * np.cos(angle), 50 + 30 * np.sin(angle)
    >>> firms = pa.table({"staff": [*staff, 90], "turnover": [*turnover, 60]})
    >>> made = Microdata(firms).top_code_together(["staff", "turnover"])
    >>> made.history[0].found["replaced"], made.frame["staff"][100].as_py() < 60
    (1, True)
    """
    names = list(md.roles.numeric if variables is None else variables)
    once(names, "variables")
    md = as_numbers(md, names)
    values = md.numbers(names)
    made, replaced = pulled_in(values, quantile)
    found = {
        "replaced": int(replaced.sum()),
        "missing": int(np.isnan(values).any(axis=1).sum()),
    }
    columns = {name: _column(made[:, at]) for at, name in enumerate(names)}
    return md.after(columns, Step("top_code_together", {"variables": names}, found))


def _label(md: Microdata, names: Iterable[str], codes: NDArray[np.int32]) -> str:
    shown: list[str] = []
    for name, code in zip(names, codes.tolist(), strict=True):
        categories = texts(md.coded(name).categories)
        shown.append(f"{name} = {categories[code] if code >= 0 else '(missing)'}")
    return ", ".join(shown)


def _column(values: NDArray[np.float64]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, mask=np.isnan(values))])
