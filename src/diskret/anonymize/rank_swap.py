"""The verb for rank swapping."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.anonymize.missing_codes import as_numbers
from diskret.anonymize.variables import chance, chosen, divided, floating, likeness
from diskret.anonymize.verb import Step, verb
from diskret.errors import InputError
from diskret.microdata.rank_swap import Swap, at_ends, swapped, swapped_within
from diskret.parameters import Number, Proportion, Seed

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

Numbers = NDArray[np.float64]

#: A share of the largest or smallest values.
End = Annotated[float, Proportion(low=0, above=None, high=None, below=1)]
#: Share of the ranks that values are exchanged within if nothing else is said.
_WINDOW = 0.05


@verb()
def rank_swap(
    md: Microdata,
    variables: str | Iterable[str] | None = None,
    *,
    seed: Seed,
    window: Annotated[float, Proportion()] | None = None,
    correlation: Annotated[float, Number(low=0, below=1)] | None = None,
    mean_error: Annotated[float, Proportion()] | None = None,
    top: End = 0.0,
    bottom: End = 0.0,
    strata: str | Iterable[str] | None = None,
) -> Microdata:
    """Exchange values between records that rank similarly, each variable for itself.

    Every value stays in the file, and moves at most once, to a record whose rank is at most
    `window` away; among those without a partner each is equally likely. So the distribution of a
    variable is kept exactly, and relations to others are weakened.

    Parameters
    ----------
    md
        The microdata; they are not changed.
    variables
        Names of numeric columns. None: the numeric variables.
    seed
        Of the draws; secret like a key. Same seed, same file in the same order: same result.
        Draws follow from the values of each variable, too: another edition draws anew.
    window
        Share of the ranks, above 0 and up to 1: 0.05 for 5 %. None: 0.05, unless `correlation` or
        `mean_error` says how wide it may be. Whoever knows it knows a range of ranks in which the
        original lies, and of several variables an intersection (Nin, Herranz and Torra 2008).
    correlation
        Take the widest window with which values before and after correlate that much at least
        (Moore's R0).
    mean_error
        Take the widest window with which values change by no more, as a root mean square, than
        this share of their mean. The mean of m of the records, drawn at random, is then off by
        at most 2 · mean_error · mean / √m, nearly always (Moore's K0).
    top, bottom
        Shares of the largest and smallest values, which do not take part: their mean replaces
        them, so that the total stays. The variable is of decimal numbers then. 0: all take part.
    strata
        Variables; records are ranked and exchanged within each combination of their values. None:
        the strata of the microdata; ``[]``: none.

    Returns
    -------
    Microdata
        With the columns in the types they had. Missing values stay missing, and are not ranked.

    Raises
    ------
    InputError
        A variable is missing or no number, a share is none, or no window is narrow enough.

    Notes
    -----
    Step of the history, by variable: ``exchanged`` records, ``changed`` and ``missing`` values, the
    ``window``, the ``correlation`` before and after, and with `top` and `bottom` how many values
    are ``averaged``.

    References
    ----------
    R. A. Moore (1996), Controlled data-swapping techniques for masking public use microdata sets,
    US Bureau of the Census; J. Nin, J. Herranz and V. Torra (2008), "Rethinking rank swapping to
    decrease disclosure risk", Data & Knowledge Engineering 64.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret import Microdata
    >>> firms = pa.table({"staff": [3, 40, 5, 19, 8, 27]})
    >>> made = Microdata(firms, numeric=["staff"]).rank_swap(window=0.2, seed=1)
    >>> made.frame["staff"].to_pylist()
    [5, 27, 3, 8, 19, 40]
    """
    names = chosen(md, variables)
    widest = _widest(window, correlation, mean_error)
    if top + bottom >= 1:
        raise InputError("top= and bottom= leave no values between them; take smaller shares")
    parts = divided(md, strata, names)
    md = as_numbers(md, names)
    columns: dict[str, pa.ChunkedArray] = {}
    found: dict[str, dict[str, Any]] = {
        name: {} for name in ("exchanged", "changed", "missing", "window", "correlation")
    }
    for name in names:
        values = md.numbers([name])[:, 0]
        draws = chance(md, "rank_swap", seed, [name]).bit_generator.random_raw(md.n)
        there = np.flatnonzero(~np.isnan(values))
        ends = at_ends(values[there], bottom, top)
        moving = there[~(ends[0] | ends[1])]
        groups = parts.of[moving] if parts.names else None
        try:
            swap = widest(values[moving], draws[moving], groups)
        except InputError as error:
            raise InputError(f"{name!r}: {error}") from None
        source = np.arange(md.n)
        source[moving] = moving[swap.source]
        after = values[source]
        for end in ends:
            after[there[end]] = values[there[end]].mean() if end.any() else 0.0
        averaged = len(there) - len(moving)
        columns[name] = floating(after) if averaged else md.table_column(name).take(source)
        found["exchanged"][name] = swap.exchanged
        found["changed"][name] = int((after != values)[there].sum())
        found["missing"][name] = md.n - len(there)
        found["window"][name] = round(swap.window, 9)
        found["correlation"][name] = likeness(values, after)
        if top or bottom:
            found.setdefault("averaged", {})[name] = averaged
    return md.after(columns, Step("rank_swap", {"variables": names}, found))


def _widest(
    window: float | None, correlation: float | None, mean_error: float | None
) -> Callable[[Numbers, NDArray[np.uint64], NDArray[np.intp] | None], Swap]:
    """The swap that is asked for, as a function of values, draws and groups."""
    asked = {"window": window, "correlation": correlation, "mean_error": mean_error}
    named = [name for name, value in asked.items() if value is not None]
    if len(named) > 1:
        raise InputError(
            f"{' and '.join(f'{name}=' for name in named)} all say how wide the window is; "
            "give one of them"
        )
    if correlation is None and mean_error is None:
        share = _WINDOW if window is None else window
        return lambda values, draws, groups: swapped(values, share, draws, groups)

    def within(values: Numbers, draws: NDArray[np.uint64], groups: NDArray[np.intp] | None) -> Swap:
        if correlation is not None:  # of a permutation; both have the same variance
            most = 2 * (1 - correlation) * np.square(values - values.mean()).sum()
        else:
            most = len(values) * (float(mean_error or 0) * values.mean()) ** 2
        return swapped_within(
            values, lambda after: bool(np.square(after - values).sum() <= most), draws, groups
        )

    return within
