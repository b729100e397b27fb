"""What an institution's rules say of a fitted model, regressor by regressor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.outputs.cells import Cells
from diskret.outputs.checked import Finding, Told, merged
from diskret.outputs.differences import Statements, smallest_difference
from diskret.outputs.fitted import Fit, Numbers
from diskret.outputs.influence import influence
from diskret.outputs.judge_cells import STATISTICS, Part, concentrated, estimated, judge, percent_of
from diskret.outputs.judge_risk_sets import at_risk, singled_out
from diskret.outputs.pairs import two_values
from diskret.outputs.profile import Profile
from diskret.outputs.spread import first_records, number_of_units, spread, usual

Units = NDArray[np.int32] | None

#: Checks that are made on each model that has regressors.
CHECKS = (
    "unknown",
    "freedom",
    "support",
    "reference",
    "unproven",
    "pairs",
    "value_of_one",
    "all_equal",
    "leverage",
    "weight",
    "collinear",
    "saturated",
    "sum_of_products",
    "residual_sum",
    "within",
)


def judge_model(fit: Fit, units: Units, told: Sequence[Told], rules: Profile) -> list[Finding]:
    """All findings of a fitted model."""
    columns = {**dict(zip(fit.names, fit.x.T, strict=True)), **fit.dependent}
    found = [
        *_freedom(fit, rules),
        *support(columns, tuple(fit.dependent), units, rules),
        *_reference(fit, told, units, rules),
        *at_risk(fit, units, rules),
        *few_in_pairs(columns, tuple(fit.dependent), units, rules),
        *_influence(fit, units, rules),
        *_saturated(fit, units, rules),
        *_products(fit, units, rules),
        *_residuals(fit, units, rules),
        *_squares(fit, columns, units, rules),
        *([] if fit.understood else [Finding("unknown", rules.verdict("unknown"), ((fit.name,),))]),
    ]
    return [*merged(found)]


def _freedom(fit: Fit, rules: Profile) -> list[Finding]:
    if fit.freedom >= rules.freedom:
        return []
    blanks = {"freedom": int(fit.freedom), "least": rules.freedom}
    return [Finding("freedom", rules.verdict("freedom"), (), blanks)]


# ── support ─────────────────────────────────────────────────────────────────────────


def support(
    columns: Mapping[str, Numbers], explained: Sequence[str], units: Units, rules: Profile
) -> list[Finding]:
    """Variables in which few units have another value than all the others.

    What is explained must not be the same for all; a regressor may, as the constant is.
    """
    number = len(next(iter(columns.values())))
    first = first_records(units, number, 2 * rules.threshold)
    few: list[tuple[str, ...]] = []
    one: list[tuple[str, ...]] = []
    for name, column in columns.items():
        counts: list[int] = []
        for value in usual(column, first, rules.threshold):
            inside = column != value
            counts.append(number_of_units(inside, units))
            if 0 < counts[-1] and (column[inside] == column[inside][0]).all():
                counts.append(number_of_units(~inside, units))
        if any(0 < count < rules.threshold for count in counts):
            few.append((name,))
        if 1 in counts:
            one.append((name,))
    equal = tuple((name,) for name in explained if (columns[name] == columns[name][0]).all())
    found: list[Finding] = []
    if few or len(first) < rules.threshold:
        blanks = {"threshold": rules.threshold}
        found.append(Finding("support", rules.verdict("support"), tuple(few), blanks))
    if one:
        found.append(Finding("value_of_one", rules.verdict("value_of_one"), tuple(one)))
    if equal:
        found.append(Finding("all_equal", rules.verdict("all_equal"), equal))
    return found


_CONSTANT = ("const", "Intercept")


def _reference(fit: Fit, told: Sequence[Told], units: Units, rules: Profile) -> list[Finding]:
    """Few units that sums and differences of regressors single out, as the category left out is."""
    more = [values for values in fit.dependent.values() if two_values(values)]
    if not any((column == column[0]).all() for column in fit.x.T):
        more.append(np.ones(len(fit.x)))  # how many records there are is told in any case
    whole = np.asfortranarray(np.column_stack([fit.x, *more])) if more else fit.x
    alone = spread(whole, units, rules.threshold)
    if alone.proven:
        return []
    blanks = {"threshold": rules.threshold}
    if alone.combination is not None:
        return singled_out(alone.combination, (*fit.names, *["1"] * len(more)), rules)
    whole = [number for number, one in enumerate(told) if not one.sets.any()]
    parts = [(one.names, one.sets) for number, one in enumerate(told) if number not in whole[1:]]
    names = tuple(label for labels, _ in parts for label in labels)
    sizes = [len(labels) for labels, _ in parts]
    statements = Statements.made(names, [sets for _, sets in parts], sizes, units)
    found = smallest_difference(statements, rules.threshold)
    if found.unresolved:
        return [Finding("too_large", rules.verdict("too_large"))]
    if len(found.statements) < 2:  # one regressor is judged by itself
        return [Finding("unproven", rules.verdict("unproven"))]
    place = (" ± ".join(names[one][0] for one in found.statements),)
    return [Finding("reference", rules.verdict("reference"), (place,), blanks)]


def few_in_pairs(
    columns: Mapping[str, Numbers], explained: Sequence[str], units: Units, rules: Profile
) -> list[Finding]:
    """Tables of two variables of two values each, which covariances and equations tell.

    Where what is explained is the same for all with a value of a regressor, that is told as well.
    """
    values = {name: two for name, column in columns.items() if (two := two_values(column))}
    names = [*values]
    inside = np.column_stack([columns[name] == values[name][1] for name in names] or [[]])
    most = 1 if units is None else int(np.bincount(units).max())
    both = inside.astype(np.float64)
    together = np.rint(both.T @ both).astype(np.int64)
    few: list[tuple[str, ...]] = []
    equal: list[tuple[str, ...]] = []
    for one, other in combinations(range(len(names)), 2):
        own, its = together[one, one], together[other, other]
        cross = together[one, other]
        counts = [cross, own - cross, its - cross, len(inside) - own - its + cross]
        for cell, count in enumerate(counts):
            own_part = _part(names, values, one, cell in (0, 1))
            place = (own_part, _part(names, values, other, cell in (0, 2)))
            if count == 0 and names[other] in explained and names[one] not in explained:
                equal.append((own_part, _part(names, values, other, cell not in (0, 2))))
            elif count and count < most * rules.threshold:
                here = (inside[:, one] == (cell in (0, 1))) & (inside[:, other] == (cell in (0, 2)))
                if number_of_units(here, units) < rules.threshold:
                    few.append(place)
    found: list[Finding] = []
    if few:
        blanks = {"threshold": rules.threshold}
        found.append(Finding("pairs", rules.verdict("pairs"), tuple(few), blanks))
    if equal:
        found.append(Finding("all_equal", rules.verdict("all_equal"), tuple(equal)))
    return found


def _part(names: Sequence[str], values: Mapping[str, Any], at: int, high: bool) -> str:
    return f"{names[at]} = {values[names[at]][int(high)]:g}"


# ── influence ───────────────────────────────────────────────────────────────────────


def _influence(fit: Fit, units: Units, rules: Profile) -> list[Finding]:
    share = rules.own_share
    found = influence(fit.x, fit.working, units, rules.threshold, share)
    if fit.risk_sets is not None:
        found = replace(found, few=fit.risk_sets.few(units, rules.threshold, share))
    findings: list[Finding] = []
    if found.leverage >= rules.own_share:
        blanks = {"leverage": f"{found.leverage:.2f}"}
        findings.append(Finding("leverage", rules.verdict("leverage"), (), blanks))
    if found.few.any():
        places = tuple((fit.names[at],) for at in np.flatnonzero(found.few))
        blanks = {"threshold": rules.threshold}
        findings.append(Finding("weight", rules.verdict("weight"), places, blanks))
    if found.close:
        findings.append(Finding("collinear", rules.verdict("collinear")))
    return findings


# ── sums ────────────────────────────────────────────────────────────────────────────


def _saturated(fit: Fit, units: Units, rules: Profile) -> list[Finding]:
    """A model with as many coefficients as there are different records is a table of means."""
    cell = _patterns(fit.x)
    if cell is None:
        return []
    rows = fit.x[np.unique(cell, return_index=True)[1]]
    if np.linalg.matrix_rank(rows) < len(rows):
        return []
    names = tuple((_named(row, fit.names),) for row in rows)
    places: list[tuple[str, ...]] = []
    for values in fit.dependent.values():
        cells = Cells(names, cell, values, units)
        for finding in judge([Part(STATISTICS["mean"], [cells])], rules)[2]:
            if finding.verdict == "fail":
                places += [place for place in finding.places if place not in places]
    return [Finding("saturated", rules.verdict("saturated"), tuple(places))] if places else []


def _patterns(x: Numbers) -> NDArray[np.int32] | None:
    """The number of each record's combination of regressors; None if there are too many."""
    import pandas as pd

    most = x.shape[1]
    if len(np.unique(x[: 10 * most + 1000], axis=0)) > most:
        return None
    whole = np.zeros(len(x), np.int64)
    for column in x.T:
        own, values = pd.factorize(column)
        whole, there = pd.factorize(whole * len(values) + own)
        if len(there) > most:
            return None
    return whole.astype(np.int32)


def _named(row: Numbers, names: Sequence[str]) -> str:
    said = [
        name if value == 1 else f"{name} = {value:g}"
        for name, value in zip(names, row, strict=True)
        if value and name not in _CONSTANT
    ]
    return " & ".join(said) or next((name for name in names if name in _CONSTANT), "0")


def _products(fit: Fit, units: Units, rules: Profile) -> list[Finding]:
    """Sums that the normal equations tell, judged as the cells of a table of sums are."""
    unsafe: list[tuple[str, ...]] = []
    for explained, values in fit.dependent.items() if fit.sums else ():
        weight = 1.0 if fit.prior is None else fit.prior
        low, high = float(values.min()), float(values.max())
        # a constant that is added to what is explained tells the same of it
        for y in (values, values - low, high - values):
            for at, name in enumerate(fit.names):
                column = fit.x[:, at]
                product = column * (weight * y)
                if _surely_safe(product, units, rules):
                    continue
                inside = np.where(column != 0, 0, -1).astype(np.int32)
                cells = Cells(((name,),), inside, product, units)
                if concentrated(cells, rules).any():
                    several = len(fit.dependent) > 1
                    unsafe.append((name, explained) if several else (name,))
    if not unsafe:
        return []
    return [
        Finding("sum_of_products", rules.verdict("sum_of_products"), tuple(dict.fromkeys(unsafe)))
    ]


def _surely_safe(product: Numbers, units: Units, rules: Profile) -> bool:
    """Whether the largest contributions are small enough even if each is the largest."""
    size = np.abs(product)
    size = size if units is None else np.bincount(units, size)
    total, largest = float(size.sum()), float(size.max(initial=0))
    number, percent = rules.dominance or (0, 100)
    apart = 100 * number * largest < percent * total
    return apart and 100 * (total - 2 * largest) >= (rules.p_percent or 0) * largest > 0


def _residuals(fit: Fit, units: Units, rules: Profile) -> list[Finding]:
    """The sum of squares is told: where one unit has nearly all of it, its residual is known."""
    if fit.residuals is None:
        return []
    squares = fit.residuals**2
    squares = squares if fit.prior is None else fit.prior * squares
    scale = float(np.abs(next(iter(fit.dependent.values()))).max(initial=0))
    if float(np.abs(fit.residuals).max(initial=0)) <= 1e-9 * scale:
        return []  # they are but the last digit
    if not _few_squares(squares, units, rules):
        return []
    return [Finding("residual_sum", rules.verdict("residual_sum"))]


def _squares(
    fit: Fit, columns: Mapping[str, Numbers], units: Units, rules: Profile
) -> list[Finding]:
    """Sums of squares of what is explained (by its share) and of regressors (by covariances).

    A robust covariance tells those of residuals times each regressor, too.
    """
    few = [
        (name,)
        for name, column in columns.items()
        if two_values(column) is None and _few_squares((column - column.mean()) ** 2, units, rules)
    ]
    if fit.scattered is not None:
        scattered = fit.scattered if fit.prior is None else fit.prior * fit.scattered
        few += [
            (name,)
            for name, column in zip(fit.names, fit.x.T, strict=True)
            if _few_squares((column * scattered) ** 2, units, rules)
        ]
    blanks = {"percent": rules.p_percent}
    return [Finding("squares", rules.verdict("squares"), tuple(few), blanks)] if few else []


def _few_squares(squares: Numbers, units: Units, rules: Profile) -> bool:
    """Whether the second largest of some squares can estimate the root of the largest."""
    whole = squares if units is None else np.bincount(units, squares)
    total, largest = float(whole.sum()), float(whole.max(initial=0))
    if 100 * (total - 2 * largest) >= percent_of(rules, squares=True) * largest:
        return False  # even if the second is as large
    cells = Cells((("",),), np.zeros(len(squares), np.int32), squares, units)
    return bool(estimated(cells, rules, squares=True).any())
