"""The verb for noise on numeric variables."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from diskret.anonymize.missing_codes import as_numbers
from diskret.anonymize.variables import chance, chosen, divided, floating, likeness, moved
from diskret.anonymize.verb import Step, verb
from diskret.errors import InputError
from diskret.microdata.noise import additive, correlated, outliers, restricted, romm
from diskret.parameters import Number, Proportion, Seed

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

Method = Literal["additive", "correlated", "restricted", "romm", "outliers"]
#: Methods that add noise, and leave means and covariances to chance.
_LOOSE = ("additive", "correlated", "outliers")
#: Nobody wants more noise than ten times the deviation; who writes more means per cent.
_MOST = 10


@verb("method", "share")
def add_noise(
    md: Microdata,
    variables: str | Iterable[str] | None = None,
    method: Method = "additive",
    *,
    seed: Seed,
    share: Annotated[float, Proportion(high=None, infinite=True)] = 0.1,
    rescale: bool = False,
    keep_zeros: bool = False,
    quantile: Annotated[float, Number(above=0, below=1)] = 0.975,
    strata: str | Iterable[str] | None = None,
) -> Microdata:
    """Change numbers by random amounts.

    Parameters
    ----------
    md
        The microdata; they are not changed.
    variables
        Names of numeric columns. None: the numeric variables.
    method
        ``"additive"``: independent normal noise on each variable. ``"correlated"``: normal noise
        with the correlations of the variables. ``"restricted"``: the same, and means and
        covariances stay exactly as they are. ``"romm"``: a random orthogonal matrix, which keeps
        them exactly, too; a record gets noise made of the values of 24 others.
        ``"outliers"``: correlated noise, on records far from the bulk only.
    seed
        Of the draws; secret like a key. Same seed, same file in the same order: same result.
        Draws follow from the values of these variables, too: another edition draws anew.
    share
        Standard deviation of the noise as a share of that of the variable, the same in all
        methods: 0.1 for 10 %. Literature that writes N(0, αΣ) means share = √α. With
        ``"restricted"`` and ``"romm"`` it may be infinite: nothing but noise remains.
    rescale
        For ``"additive"`` and ``"correlated"``: shrink results towards the mean, so that variances
        (of correlated noise covariances, too) are kept in expectation (Kim 1986).
    keep_zeros
        A zero stays zero, where it says that there is none (no turnover, no plant). Not for
        methods that keep moments exactly.
    quantile
        For ``"outliers"``: share of normally distributed records that would be none.
    strata
        Variables; noise is measured, and moments are kept, in each combination of their values.
        None: the strata of the microdata; ``[]``: none.

    Returns
    -------
    Microdata
        The variables are decimal numbers then. Missing values stay missing. Of a record that is
        not complete, with ``"restricted"`` and ``"romm"``, the other values get correlated noise
        that is rescaled; what is kept exactly are the moments of complete records.

    Raises
    ------
    InputError
        A variable is missing or no number, an option is out of range or belongs to another
        method, or a stratum has too few records.

    Notes
    -----
    Step of the history: ``changed`` and ``missing`` values and ``correlation`` with the original by
    variable, ``incomplete`` records, ``outliers``.

    References
    ----------
    A. Hundepool et al., Statistical Disclosure Control (Wiley 2012), section 3.4; the functions
    [`additive`][diskret.microdata.noise.additive] to [`romm`][diskret.microdata.noise.romm].

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret import Microdata
    >>> firms = pa.table({"staff": [3, 40, 5, 19, 8, 27], "sales": [10, 90, 20, 60, 10, 70]})
    >>> md = Microdata(firms, numeric=["staff", "sales"])
    >>> made = md.add_noise(method="restricted", share=0.2, seed=1)
    >>> made.numbers().mean(axis=0).round(9).tolist()
    [17.0, 43.333333333]
    """
    _check(method, share, rescale, keep_zeros, quantile)
    names = chosen(md, variables)
    parts = divided(md, strata, names)
    md = as_numbers(md, names)
    before = md.numbers(names)
    rng = chance(md, "add_noise", seed, names)
    after = np.empty_like(before)
    far = 0
    for number, rows in enumerate(parts.rows()):
        own = before if len(parts.values) == 1 else before[rows]
        with parts.named(number):
            if method == "outliers":
                hit = outliers(own, quantile)
                far += int(hit.sum())
                own = np.where(hit[:, None], correlated(own, share, rng), own)
            else:
                own = _noisy(own, method, share, rescale, rng)
        if len(parts.values) == 1:
            after = own
        else:
            after[rows] = own
    if keep_zeros:
        after[before == 0] = 0.0
    found: dict[str, Any] = {
        **moved(names, before, after),
        "correlation": {
            name: likeness(before[:, at], after[:, at]) for at, name in enumerate(names)
        },
        "incomplete": int(np.isnan(before).any(axis=1).sum()),
    }
    if method == "outliers":
        found["outliers"] = far
    columns = {name: floating(after[:, at]) for at, name in enumerate(names)}
    return md.after(columns, Step("add_noise", {"variables": names}, found))


def _noisy(
    values: NDArray[np.float64],
    method: Method,
    share: float,
    rescale: bool,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    if method == "additive":
        return additive(values, share, rng, rescale)
    if method == "correlated":
        return correlated(values, share, rng, rescale)
    complete = ~np.isnan(values).any(axis=1)
    made = values if complete.all() else correlated(values, share, rng, rescale=True)
    exact = restricted if method == "restricted" else romm
    made = made.copy()
    made[complete] = exact(values[complete], share, rng)
    return made


def _check(method: str, share: float, rescale: bool, keep_zeros: bool, quantile: float) -> None:
    if _MOST < share < math.inf:
        raise InputError(
            f"share= is the deviation of the noise as a share of the variable's, above 0, not "
            f"{share!r}; write 0.1 for 10 %"
        )
    if math.isinf(share) and method in _LOOSE:
        raise InputError(f"share= must be a number for method={method!r}, not infinite")
    if rescale and method not in ("additive", "correlated"):
        raise InputError("rescale= belongs to method='additive' and 'correlated'")
    if keep_zeros and (method not in _LOOSE or rescale):
        raise InputError(
            "keep_zeros= does not go with methods that keep means and covariances; use 'additive', "
            "'correlated' or 'outliers', without rescale="
        )
    if quantile != 0.975 and method != "outliers":
        raise InputError("quantile= belongs to method='outliers'")
