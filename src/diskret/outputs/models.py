"""Models as statsmodels fits them: each regressor is looked at, not only their number."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.outputs.cells import Cells
from diskret.outputs.checked import Checked, Finding, Told
from diskret.outputs.differences import Statements, smallest_difference
from diskret.outputs.judge_cells import dominated, estimated
from diskret.outputs.profile import Profile
from diskret.outputs.units import units_of

_CHECKS = (
    "unknown",
    "freedom",
    "support",
    "reference",
    "value_of_one",
    "all_equal",
    "leverage",
    "saturated",
    "sum_of_products",
)
_BLOCK = 100_000  # records whose leverage is computed at a time


def model(
    results: Any,
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    r"""A fitted model of statsmodels, checked regressor by regressor.

    A regression plane runs through the means: the coefficient of a regressor of zeros and ones
    gives the mean of its records, and that of one record gives its value to the cent. So the
    number of records says nothing; looked at are the residual degrees of freedom, the units with
    another value of a regressor than all the others, the leverage of each record, whether the
    model is a table of means, and the sums that the normal equations :math:`X'y` give away.

    Parameters
    ----------
    results
        What ``fit()`` of an OLS, WLS, GLM, Logit, Probit or Poisson model of statsmodels returns.
    unit
        Whom each record belongs to: a Series that has the records in its index, or one value
        for each record of the model. None: each record is a unit.
    profile
        The institution's rules; see `Profile.read`.

    Raises
    ------
    InputError
        It is no fitted model, or `unit` has another length.

    Sources
    -------
    Vogel (2011), Enthüllungsrisiko beim Remote Access: Die Schwerpunkteigenschaft der
    Regressionsgerade. Guidelines for the checking of output (DwB 2015), 5.9.

    Examples
    --------
    >>> import numpy as np, statsmodels.api as sm
    >>> draw = np.random.default_rng(1)
    >>> x = sm.add_constant(draw.normal(size=(100, 2)))
    >>> print(model(sm.OLS(x.sum(axis=1) + draw.normal(size=100), x).fit()).verdict)
    pass
    >>> spy = np.column_stack([x, np.arange(100) == 7])
    >>> print(model(sm.OLS(x.sum(axis=1), spy).fit()).reasons()[1])
    The coefficients give away the value of a single unit. Here: x3.
    """
    rules = Profile.read(profile)
    x, y, names, rows = _design(results)
    units = units_of(unit, rows, len(y))
    told = _told(x, names, rows)
    dependent = str(getattr(results.model, "endog_names", "y"))
    found = [
        *_freedom(float(results.df_resid), rules),
        *_support([*x.T, y], [*names, dependent], units, rules),
        *_reference(told, units, rules),
        *_equal(y, dependent, rules),
        *_leverage(x, rules),
        *_saturated(x, units, rules),
        *_products(x, y, names, units, rules),
    ]
    if type(results.model) not in _understood():
        found.append(Finding("unknown", rules.verdict("unknown")))
    kept = tuple(one for one in found if one.verdict != "pass")
    made_from = {dependent: y, **{name: x[:, at] for at, name in enumerate(names)}}
    return Checked("regression", results, _CHECKS, kept, rules, told, made_from)


def _understood() -> tuple[type, ...]:
    """Models whose coefficients are known to tell the means that are judged here, and no more.

    A quantile regression, for one, runs through single records.
    """
    from statsmodels.discrete.discrete_model import Logit, Poisson, Probit
    from statsmodels.genmod.generalized_linear_model import GLM
    from statsmodels.regression.linear_model import OLS, WLS

    return (OLS, WLS, GLM, Logit, Probit, Poisson)


def _design(
    results: Any,
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[str], NDArray[Any] | None]:
    fitted: Any = getattr(results, "model", None)
    if getattr(fitted, "exog", None) is None or not hasattr(results, "df_resid"):
        raise InputError(
            f"results= must be a fitted model of statsmodels with regressors, not "
            f"{type(results).__name__}; say model.fit() first"
        )
    x = np.asfortranarray(fitted.exog, np.float64)  # read column by column
    y = np.asarray(fitted.endog, np.float64)
    if x.ndim != 2 or y.ndim != 1:
        raise InputError("results= must be a model of one dependent variable")
    labels = getattr(getattr(fitted, "data", None), "row_labels", None)
    return x, y, list(fitted.exog_names), None if labels is None else np.asarray(labels)


def _freedom(left: float, rules: Profile) -> list[Finding]:
    if left >= rules.freedom:
        return []
    blanks = {"freedom": int(left), "least": rules.freedom}
    return [Finding("freedom", rules.verdict("freedom"), (), blanks)]


def _sides(
    column: NDArray[np.float64], units: NDArray[np.int32] | None, threshold: int
) -> list[NDArray[np.bool_]]:
    """The records with another value than most; where there are two values, those of each."""
    number = len(column)
    inside = column != np.partition(column, number // 2)[number // 2]  # only it can be that of most
    if 2 * inside.sum() > number:
        if units is None and number >= 2 * threshold:
            return []  # no value is that of most
        values, counts = np.unique(column, return_counts=True)
        inside = column != values[counts.argmax()]
    others = column[inside]
    two = len(others) > 0 and bool((others == others[0]).all())
    return [inside, ~inside] if two else [inside]


def _number(inside: NDArray[np.bool_], units: NDArray[np.int32] | None) -> int:
    return int(inside.sum()) if units is None else len(np.unique(units[inside]))


def _support(
    variables: Sequence[NDArray[np.float64]],
    names: Sequence[str],
    units: NDArray[np.int32] | None,
    rules: Profile,
) -> list[Finding]:
    few: list[tuple[str, ...]] = []
    one: list[tuple[str, ...]] = []
    for column, name in zip(variables, names, strict=True):
        sides = _sides(column, units, rules.threshold)
        numbers = [number for side in sides if (number := _number(side, units))]
        if any(number < rules.threshold for number in numbers):
            few.append((name,))
        if 1 in numbers:
            one.append((name,))
    found: list[Finding] = []
    if few:
        blanks = {"threshold": rules.threshold}
        found.append(Finding("support", rules.verdict("support"), tuple(few), blanks))
    if one:
        found.append(Finding("value_of_one", rules.verdict("value_of_one"), tuple(one)))
    return found


def _reference(
    told: Sequence[Told], units: NDArray[np.int32] | None, rules: Profile
) -> list[Finding]:
    """Few units that sums and differences of regressors single out, as the category left out is."""
    parts = [(one.names, one.sets) for one in told]
    names = tuple(label for labels, _ in parts for label in labels)
    sizes = [len(labels) for labels, _ in parts]
    statements = Statements.made(names, [sets for _, sets in parts], sizes, units)
    found = smallest_difference(statements, rules.threshold)
    if found.unresolved:
        return [Finding("too_large", rules.verdict("too_large"))]
    if len(found.statements) < 2:  # one regressor is judged by itself
        return []
    place = (" ± ".join(names[one][0] for one in found.statements),)
    blanks = {"threshold": rules.threshold}
    return [Finding("reference", rules.verdict("reference"), (place,), blanks)]


def _equal(y: NDArray[np.float64], name: str, rules: Profile) -> list[Finding]:
    if len(y) and bool((y == y[0]).all()):
        return [Finding("all_equal", rules.verdict("all_equal"), ((name,),))]
    return []


def leverage(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shape (records,): the diagonal of the hat matrix, without ever making the matrix."""
    scale = np.sqrt(np.einsum("ij,ij->j", x, x))
    scaled = x[:, scale > 0] / scale[scale > 0]
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    kept = values > 1e-10 * values.max(initial=0)  # of regressors that hang together, fewer count
    root = vectors[:, kept] / np.sqrt(values[kept])
    found = [np.einsum("ij,ij->i", half, half) for half in (one @ root for one in _blocks(scaled))]
    return np.concatenate(found)


def _blocks(x: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    return [x[begin : begin + _BLOCK] for begin in range(0, len(x), _BLOCK)]


def _leverage(x: NDArray[np.float64], rules: Profile) -> list[Finding]:
    worst = float(leverage(x).max(initial=0))
    if worst < rules.leverage:
        return []
    return [Finding("leverage", rules.verdict("leverage"), (), {"leverage": f"{worst:.2f}"})]


def _saturated(
    x: NDArray[np.float64], units: NDArray[np.int32] | None, rules: Profile
) -> list[Finding]:
    """A model with as many coefficients as there are different records is a table of means."""
    head = np.unique(x[: 10 * x.shape[1] + 1000], axis=0)
    if len(head) > x.shape[1]:
        return []
    rows, cell = np.unique(x, axis=0, return_inverse=True)
    if len(rows) > x.shape[1] or np.linalg.matrix_rank(rows) < len(rows):
        return []
    cells = Cells(
        tuple((str(one),) for one in range(len(rows))), cell.astype(np.int32), None, units
    )
    if not (cells.units < rules.threshold).any():
        return []
    return [Finding("saturated", rules.verdict("saturated"))]


def _products(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    names: Sequence[str],
    units: NDArray[np.int32] | None,
    rules: Profile,
) -> list[Finding]:
    """Sums that the normal equations tell, judged as the cells of a table of sums are."""
    unsafe: list[tuple[str, ...]] = []
    for at, name in enumerate(names):
        column = x[:, at]
        inside = np.where(column != 0, 0, -1).astype(np.int32)
        cells = Cells(((name,),), inside, column * y, units)
        if (dominated(cells, rules) | estimated(cells, rules)).any():
            unsafe.append((name,))
    if not unsafe:
        return []
    return [Finding("sum_of_products", rules.verdict("sum_of_products"), tuple(unsafe))]


def _told(
    x: NDArray[np.float64], names: Sequence[str], rows: NDArray[Any] | None
) -> tuple[Told, ...]:
    """The records of each value besides zero of regressors that have two values at most."""
    told: list[Told] = []
    for at, name in enumerate(names):
        column = x[:, at]
        values = np.array(sorted({float(column.min()), float(column.max())} - {0.0}))
        if len(values) and np.isin(column, [0.0, *values]).all():
            two = len(values) == 2
            if two and (column == 0).any():
                continue  # three values
            sets = np.full(len(column), -1, np.int32)
            for number, value in enumerate(values):
                sets[column == value] = number
            labels = [(f"{name} = {value:g}" if two else name,) for value in values]
            told.append(Told(sets, tuple(labels), rows))
    return tuple(told)
