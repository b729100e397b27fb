"""What an institution's rules say of the regressors of a Cox model, within its risk sets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diskret.outputs.checked import Finding
from diskret.outputs.fitted import Fit, Numbers
from diskret.outputs.profile import Profile
from diskret.outputs.risk_sets import RiskSets, deviating
from diskret.outputs.spread import independent, number_of_units, rank_of, spread

Units = NDArray[np.int32] | None

_STRATA = 20  # whose dummies are put beside the regressors
_POOL = 4000  # comparisons that a proof is made of


def at_risk(fit: Fit, units: Units, rules: Profile) -> list[Finding]:
    """Regressors among those who are at risk at an event, within their strata."""
    sets = fit.risk_sets
    if sets is None:
        return []
    here = sets.expected > 0
    if not here.any():
        return [Finding("freedom", rules.verdict("freedom"), (), _none(rules))]
    stratum, x = sets.stratum[here], np.asfortranarray(fit.x[here])
    owner = None if units is None else units[here]
    few: list[tuple[str, ...]] = []
    one: list[tuple[str, ...]] = []
    for name, column in zip(fit.names, x.T, strict=True):
        number = number_of_units(deviating(column, stratum, owner), owner)
        if 0 < number < rules.threshold:
            few.append((name,))
        if number == 1:
            one.append((name,))
    blanks = {"threshold": rules.threshold}
    found: list[Finding] = []
    if few:
        found.append(Finding("support", rules.verdict("support"), tuple(few), blanks))
    if one:
        found.append(Finding("value_of_one", rules.verdict("value_of_one"), tuple(one)))
    groups = [stratum == at for at in np.unique(stratum)]
    large = [one for one in groups if number_of_units(one, owner) >= rules.threshold]
    beside = [group.astype(np.float64) for group in large] if len(large) <= _STRATA else []
    whole = np.asfortranarray(np.column_stack([x, *(beside or [np.ones(len(x))])]))
    alone = spread(whole, owner, rules.threshold)
    if alone.combination is not None:
        more = ["stratum"] * (whole.shape[1] - len(fit.names))
        found += singled_out(alone.combination, (*fit.names, *more), rules)
    # dummies say all of large strata without entries; else comparisons have to
    whole_said = len(beside) == len(groups) and not np.isfinite(sets.entry).any()
    if found or (alone.proven and whole_said) or compared(sets, units, rules.threshold):
        return found
    return [Finding("unproven", rules.verdict("unproven"))]


def _none(rules: Profile) -> dict[str, object]:
    return {"freedom": 0, "least": rules.freedom}


def singled_out(combination: Numbers, labels: tuple[str, ...], rules: Profile) -> list[Finding]:
    """The finding where several regressors together are zero for all but few units."""
    used = [labels[int(at)] for at in np.flatnonzero(combination)]
    if len(used) < 2:  # one regressor is judged by itself
        return []
    blanks = {"threshold": rules.threshold}
    return [Finding("reference", rules.verdict("reference"), ((" ± ".join(used),),), blanks)]


def compared(sets: RiskSets, units: Units, threshold: int) -> bool:
    """Whether it is proven that no few units are alone in what is compared within risk sets.

    A record with the event is compared with others who are at risk then. If there are `threshold`
    sets of comparisons, no unit in two of them, each with as many that are independent as all risk
    sets together have, fewer units leave one of the sets untouched.
    """
    equal = replace(sets, risk=np.ones(len(sets.x)))
    size = np.abs(sets.x).max(axis=0, initial=0)
    size[size == 0] = 1
    rank = rank_of(equal.information / np.outer(size, size))
    one, other = sets.comparisons()
    gaps = (sets.x[one] - sets.x[other]) / size
    length = np.sqrt((gaps**2).sum(axis=1))
    different = length > 1e-9
    one, other, gaps = one[different], other[different], gaps[different]
    gaps /= length[different, None]
    if not rank or not len(gaps):
        return not rank
    kept = _pool(gaps, threshold * rank)
    gaps = gaps[kept]
    first, second = (at[kept] if units is None else units[at[kept]] for at in (one, other))
    left = np.ones(len(gaps), bool)
    for _ in range(threshold):
        found = independent(gaps, left, rank)
        if found is None:
            return False
        used = np.concatenate([first[found], second[found]])
        left &= ~(np.isin(first, used) | np.isin(second, used))
    return True


def _pool(gaps: Numbers, wanted: int) -> NDArray[np.intp]:
    """Comparisons to choose from, common ones first; those that differ in each regressor are in."""
    differ = np.abs(gaps) > 1e-9
    chosen = [np.linspace(0, len(gaps) - 1, min(len(gaps), _POOL)).astype(np.intp)]
    chosen += [np.flatnonzero(column)[: 6 * wanted] for column in differ.T]
    pool = np.unique(np.concatenate(chosen))
    share = np.maximum(differ[pool].mean(axis=0), 1e-9)
    return pool[np.argsort((differ[pool] / share).sum(axis=1), kind="stable")]
