"""The verb for data shuffling."""

# pyarrow has no type information for its classes.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.anonymize.missing_codes import as_numbers, numeric
from diskret.anonymize.variables import chance, chosen, divided, moved
from diskret.anonymize.verb import Step, verb
from diskret.errors import InputError
from diskret.io.columns import some
from diskret.microdata.shuffle import (
    correlations,
    normal_scores,
    placed,
    shuffled_by_copula,
    shuffled_by_regression,
)
from diskret.parameters import Seed

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

Numbers = NDArray[np.float64]
Method = Literal["copula", "regression"]
#: So many categories of given variables can have an indicator.
_INDICATORS = 100


@verb("method")
def shuffle(
    md: Microdata,
    variables: str | Iterable[str],
    given: str | Iterable[str] = (),
    method: Method = "copula",
    *,
    seed: Seed,
    strata: str | Iterable[str] | None = None,
) -> Microdata:
    """Let values change places so that they fit other variables as well as before.

    For each record new values are drawn from a model of the shuffled variables under the condition
    of the given ones; then the record with the largest draw gets the largest original value, and so
    on. The distribution of each variable is kept exactly, rank correlations among them and with
    the given ones closely. A new value depends on the given variables only, not on the value that
    the record had, so it tells about that no more than the given ones do.

    Parameters
    ----------
    md
        The microdata; they are not changed.
    variables
        Names of numeric columns, one or more.
    given
        Names of columns that stay, and whose relation to the variables is to stay. Relations to
        columns that are not named get lost. Of a missing value nothing is known.
    method
        ``"copula"``: all variables become normal scores of their ranks, with correlations
        2 sin(π r / 6), r being Spearman's; given ones must have an order, so be numbers.
        ``"regression"``: normal scores by linear regression on given ones; key variables and text
        count as categories, 100 at most.
    seed
        Of the draws; secret like a key. Same seed, same file in the same order: same result.
        Draws follow from the values of these variables, too: another edition draws anew.
    strata
        Variables; values change places within each combination of their values. None: the
        strata of the microdata; ``[]``: none.

    Returns
    -------
    Microdata
        With the columns in the types they had. Missing values stay missing.

    Raises
    ------
    InputError
        A variable is missing or no number, has two tasks, or a stratum has too few records.

    Notes
    -----
    Step of the history: ``changed`` and ``missing`` values and the ``rank_correlation`` with the
    original by variable; ``deviation``, the largest change of a rank correlation among the
    variables and given numbers, of complete records.

    References
    ----------
    K. Muralidhar and R. Sarathy (2006), "Data shuffling: a new masking approach for numerical
    data", Management Science 52.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret import Microdata
    >>> firms = pa.table({"staff": [3, 40, 5, 19, 8, 27], "sales": [10, 90, 20, 60, 15, 70]})
    >>> made = Microdata(firms, numeric=["staff", "sales"]).shuffle("sales", "staff", seed=3)
    >>> sorted(made.frame["sales"].to_pylist())
    [10, 15, 20, 60, 70, 90]
    """
    names = chosen(md, variables)
    beside = tuple(given)
    both = [name for name in beside if name in names]
    if both:
        raise InputError(f"{some('column', both)} cannot be shuffled and be given at the same time")
    parts = divided(md, strata, (*names, *beside))
    md = as_numbers(md, names)
    values = md.numbers(names)
    counted = [name for name in beside if method == "copula" or not _is_category(md, name)]
    numbers = md.numbers(counted) if counted else np.empty((md.n, 0))
    indicators = _indicators(md, [name for name in beside if name not in counted])
    rng = chance(md, "shuffle", seed, (*names, *beside))
    source = np.tile(np.arange(md.n)[:, None], (1, len(names)))
    for number, rows in enumerate(parts.rows()):
        own = values[rows]
        with parts.named(number):
            if method == "copula":
                scores = shuffled_by_copula(own, numbers[rows], rng)
            else:
                known = np.column_stack((normal_scores(numbers[rows]), indicators[rows]))
                scores = shuffled_by_regression(own, known, rng)
        for at in range(len(names)):
            source[rows, at] = rows[placed(own[:, at], scores[:, at])]
    after = np.take_along_axis(values, source, axis=0)
    found: dict[str, Any] = {
        **moved(names, values, after),
        **_relations(names, values, after, numbers),
    }
    columns: dict[str, pa.ChunkedArray] = {
        name: md.table_column(name).take(source[:, at]) for at, name in enumerate(names)
    }
    return md.after(columns, Step("shuffle", {"variables": names}, found))


def _is_category(md: Microdata, name: str) -> bool:
    return name in md.roles.keys or not numeric(md, name)


def _indicators(md: Microdata, names: list[str]) -> Numbers:
    """A column of 0 and 1 for each category; that of missing values has none."""
    columns = [md.coded(name) for name in names]
    total = sum(len(one.categories) for one in columns)
    if total > _INDICATORS:
        raise InputError(
            f"there are {total:,} categories in {some('column', names)}, and the regression takes "
            f"{_INDICATORS}; recode them, or name them as strata="
        )
    made = [one.codes == code for one in columns for code in range(len(one.categories))]
    return np.column_stack(made).astype(np.float64) if made else np.empty((md.n, 0))


def _relations(
    names: tuple[str, ...], before: Numbers, after: Numbers, beside: Numbers
) -> dict[str, Any]:
    """Rank correlations with the original, and how much others changed."""
    complete = ~(np.isnan(before).any(axis=1) | np.isnan(beside).any(axis=1))
    if complete.sum() < 2:
        return {}
    p = len(names)
    found = correlations(np.column_stack((before, after, beside))[complete])
    old, new = np.delete(np.arange(len(found)), range(p, 2 * p)), np.arange(p, len(found))
    change = np.abs(found[np.ix_(new, new)] - found[np.ix_(old, old)]).max()
    return {
        "rank_correlation": {
            name: round(float(found[at, p + at]), 6) for at, name in enumerate(names)
        },
        "deviation": round(float(change), 6),
    }
