"""The figures of a result: cells of tables, bars, coefficients, of any records."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import diskret.outputs as outputs
from diskret.errors import InputError
from diskret.outputs.checked import Checked
from diskret.remote.query import ADDING, MODELS, Asked, names_in

if TYPE_CHECKING:
    import pandas as pd

Name = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Figures:
    """Named figures of one result.

    Parameters
    ----------
    value
        Figure → value, NaN where there is none.
    error
        Coefficient → standard error.
    records
        Figure → the records that it is made of.
    adds_up
        Whether the figures of parts of the records add up to those of all.
    """

    value: Mapping[Name, float]
    error: Mapping[Name, float]
    records: Mapping[Name, int]
    adds_up: bool = False


def prepared(asked: Asked, frame: pd.DataFrame, levels: Mapping[str, Any]) -> pd.DataFrame:
    """The records that count, with the logarithms that the formula names.

    Parameters
    ----------
    asked
        The question.
    frame
        All records: columns of text, and of numbers.
    levels
        Column of text → its categories in the anonymised version; a model has a coefficient for
        each. Empty: those that occur.

    Raises
    ------
    InputError
        A column is not there, or holds text where numbers are needed.
    """
    import pandas as pd

    kept = np.ones(len(frame), bool)
    for name, values in asked.where.items():
        column = _column(frame, name)
        if values and isinstance(values[0], float):
            numbers = _numbers(frame, name)
            kept &= (numbers >= values[0]) & (numbers <= values[1])
        else:
            kept &= column.isin([*values]).to_numpy()
    wanted = [*asked.by, *(name for name, _ in asked.figures), asked.column]
    names, logarithms = names_in(asked.formula) if asked.formula else ([], [])
    for name in [*filter(None, wanted), *names]:
        _column(frame, name)
    for name in [asked.column, *(name for name, what in asked.figures if what != "count")]:
        if name:
            _numbers(frame, name)
    chosen = frame.loc[kept]
    if names:
        chosen = chosen.copy(deep=False)
        for name in logarithms:
            if f"log_{name}" in frame.columns:
                raise InputError(f"there is a column log_{name}, as log({name}) is called here")
            numbers = _numbers(chosen, name)
            chosen[f"log_{name}"] = np.log(np.where(numbers > 0, numbers, np.nan))
        for name in names:
            if name in levels:
                chosen[name] = pd.Categorical(chosen[name], [*levels[name]])
    return chosen


def computed(asked: Asked, frame: pd.DataFrame) -> Figures:
    """The figures of records as `prepared` gives them."""
    if asked.kind in MODELS:
        return _model(asked, frame)
    if asked.kind == "histogram":
        return _histogram(asked, frame)
    return _table(asked, frame)


def checking(asked: Asked, frame: pd.DataFrame) -> tuple[Callable[..., Checked], tuple[Any, ...]]:
    """The function of `dk.check` that makes the result and judges it, and its arguments."""
    if asked.kind in MODELS:
        return getattr(outputs, asked.kind), (plain(asked.formula), frame)
    if asked.kind == "histogram":
        return outputs.histogram, (frame, asked.column, [*asked.bins])
    function = outputs.chart if asked.kind == "chart" else outputs.groupby
    figures = {_label(name, what): (name, what) for name, what in asked.figures}
    return function, (frame, [*asked.by], figures or None)


def plain(formula: str) -> str:
    """A formula in which logarithms are columns.

    >>> plain("log(pay) ~ age")
    'log_pay ~ age'
    """
    for name in names_in(formula)[1]:
        formula = formula.replace(f"log({name})", f"log_{name}")
    return formula


# ── of each kind ────────────────────────────────────────────────────────────────────


def _table(asked: Asked, frame: pd.DataFrame) -> Figures:
    grouped = frame.groupby([*asked.by], observed=True)
    sizes = grouped.size()
    cells = [_cell(key) for key in sizes.index]
    records = dict(zip(cells, sizes.to_numpy().tolist(), strict=True))
    if not asked.figures:
        counts = {(*cell, "count"): number for cell, number in records.items()}
        return Figures(counts, {}, counts, True)
    value: dict[Name, float] = {}
    number: dict[Name, int] = {}
    for name, what in asked.figures:
        for cell, found in zip(cells, grouped[name].agg(what).to_numpy().tolist(), strict=True):
            value[(*cell, _label(name, what))] = float(found)
            number[(*cell, _label(name, what))] = records[cell]
    adds_up = all(what in ADDING for _, what in asked.figures)
    return Figures(value, {}, number, adds_up)


def _histogram(asked: Asked, frame: pd.DataFrame) -> Figures:
    numbers = _numbers(frame, asked.column)
    counts, _ = np.histogram(numbers[~np.isnan(numbers)], asked.bins)
    ends = zip(asked.bins, asked.bins[1:], strict=False)
    named = {
        (f"{low:g} – {high:g}",): int(count)
        for (low, high), count in zip(ends, counts, strict=True)
    }
    return Figures(named, {}, named, True)


def _model(asked: Asked, frame: pd.DataFrame) -> Figures:
    import statsmodels.formula.api as smf
    from patsy import EvalEnvironment

    options = {} if asked.kind == "ols" else {"disp": 0}
    nothing = EvalEnvironment([{}])  # names mean columns, and nothing else
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            made = getattr(smf, asked.kind)(plain(asked.formula), frame, eval_env=nothing)
            if np.linalg.matrix_rank(made.exog) < made.exog.shape[1]:
                raise InputError(f"{asked.name}: the regressors depend on each other")
            fit = made.fit(**options)
            value, error = fit.params.to_dict(), fit.bse.to_dict()
    except InputError:
        raise
    except Exception as wrong:  # models raise errors of many kinds
        raise InputError(f"{asked.name}: {wrong}") from wrong
    records = int(fit.nobs)
    return Figures(
        {(name,): float(one) for name, one in value.items()},
        {(name,): float(one) for name, one in error.items()},
        {(name,): records for name in value},
    )


# ── columns ─────────────────────────────────────────────────────────────────────────


def _column(frame: pd.DataFrame, name: str) -> Any:
    if name not in frame.columns:
        raise InputError(f"there is no column {name!r}; there are {', '.join(frame.columns)}")
    return frame[name]


def _numbers(frame: pd.DataFrame, name: str) -> NDArray[np.float64]:
    column = _column(frame, name)
    if column.dtype != np.float64:
        raise InputError(f"the column {name!r} holds text; numbers are needed")
    return column.to_numpy()


def _cell(key: Any) -> Name:
    return tuple(map(str, key)) if isinstance(key, tuple) else (str(key),)


def _label(name: str, what: str) -> str:
    return f"{name} {what}"
