"""How many records do not keep to a claim, and the risk of being recognised."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations as choices
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.attack.microdata.claims import (
    AboutValues,
    AlphaK,
    BetaLikeness,
    Counted,
    DeltaDisclosure,
    ExpectedBelow,
    KAnonymity,
    KMap,
    LDiversity,
    Missing,
    RiskBelow,
    TCloseness,
)
from diskret.attack.microdata.leaving import (
    Combinations,
    Leaving,
    Numbers,
    Shown,
    agreeing,
    combinations,
    numbers_like,
    values_shown,
)
from diskret.errors import InputError
from diskret.io import to_arrow
from diskret.io.columns import column, numbers
from diskret.io.placed import placed
from diskret.io.record_errors import RecordError
from diskret.texts.numbers import Count

#: Differences of computed shares, distances and risks that come from rounding alone.
_ROUNDING = 1e-9

#: Which entries of `Shown` or their owners break a claim: (shown, distribution in the file) → bool
#: for each owner.
Breaks = Callable[[Shown, NDArray[np.float64]], NDArray[np.bool_]]
#: Points of the quadrature, and the logarithm of what is left out of the integral.
_POINTS, _NEGLIGIBLE = 64, 45.0
#: Pairs of f and F that are integrated together.
_TOGETHER = 20_000
#: With no larger share of the population outside the file, the file is the population.
_CENSUS = 1e-12


@dataclass(frozen=True, eq=False)
class CheckedClaim:
    """What the check of one claim found."""

    #: positions of the records that do not keep to it, ascending; all, if it is a claim about the
    #: file as a whole and fails
    failing: Numbers
    figures: Mapping[str, Any]  # JSON-ready. Confidential.


def check(file: Leaving, claim: Counted) -> CheckedClaim:
    """Count again what a claim says, on the values as they leave.

    It has to hold both to readers who fill in what other columns tell and to those who do not:
    where missing values are a category, filled in ones may make up the numbers of a class.
    """
    counted = _CHECKS.get(type(claim))
    if counted is None:
        raise InputError(
            f"{claim!r} is no claim about records that stand for somebody; claim it alone"
        )
    found = counted(file, claim)
    if len(found.failing) or not file.told_gaps(claim):
        return found
    shown = counted(file.as_shown(), claim)
    return shown if len(shown.failing) else found


# ── who agrees ───────────────────────────────────────────────────────────────────────


def _keys(file: Leaving) -> tuple[str, ...]:
    if not file.keys:
        raise InputError(f"file {file.name!r} has no keys; name those an attacker may know")
    return file.keys


def _alike(
    file: Leaving,
    keys: tuple[str, ...],
    missing: Missing,
    gaps: bool = True,
    as_shown: bool = False,
) -> Numbers:
    """How many records agree with each record, itself included; see `agreeing` for `gaps`."""
    seen = file.combined(keys, missing, as_shown=as_shown)
    (count,) = agreeing(seen.keys, seen.keys, [seen.count.astype(float)], gaps)
    return np.rint(count).astype(np.int64)[seen.of]


def _k_anonymity(file: Leaving, claim: KAnonymity) -> CheckedClaim:
    keys = file.keys_of(claim) or _keys(file)
    size = len(keys) if claim.size is None else int(claim.size)
    if size > len(keys):
        raise InputError(f"KAnonymity asks for {size} of the {len(keys)} keys {', '.join(keys)}")
    least, shown, same = (np.full(file.n, file.n) for _ in range(3))
    for chosen in choices(keys, size):
        least = np.minimum(least, _alike(file, chosen, claim.missing))
        visible = _alike(file, chosen, claim.missing, gaps=False, as_shown=True)
        shown = np.minimum(shown, visible)
        same = np.minimum(same, _alike(file, chosen, "category", as_shown=True))
    return CheckedClaim(
        np.flatnonzero(least < claim.k),
        {
            "fewest_alike": int(least.min(initial=file.n)),
            "lean_on_gaps": int(((shown < claim.k) & (least >= claim.k)).sum()),
            "unlike": int(((same < claim.k) & (least >= claim.k)).sum()),
        },
    )


def _k_map(file: Leaving, claim: KMap) -> CheckedClaim:
    keys = _keys(file)
    with placed(claim.population):
        population, _ = to_arrow(claim.population, (claim.count,))
        given = None
        if claim.count is not None:
            given = _counted(column(population, claim.count), claim.count)
    seen = file.combined(keys, claim.missing)
    # a member of the population is somebody: missing values of the file are the question
    known = [numbers_like(column(population, key), file.numbers(key)[1], key) for key in keys]
    if claim.missing != "conservative":
        codes = dict(zip(keys, known, strict=True))
        known += [np.append(one.of, [-1, -1])[codes[key]] for key, one in file.limits(keys)]
    if claim.missing != "wildcard":
        known = [own + 3 for own in known]
    if claim.missing == "conservative":
        known.append(np.zeros(population.num_rows, dtype=np.int64))
    there = combinations(known)
    number = there.count.astype(float)
    if given is not None:
        number = np.bincount(there.of, weights=given, minlength=len(number)).astype(float)
    (persons,) = agreeing(seen.keys, there.keys, [number])
    least = float(persons.min(initial=np.inf))
    return CheckedClaim(np.flatnonzero((persons < claim.k)[seen.of]), {"fewest_persons": least})


def _counted(values: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    """For how many persons each row of a population stands: somebody is not known to be nobody."""
    found = numbers(values, name)
    wrong = np.flatnonzero(~(found >= 0))
    if len(wrong):
        number = Count(len(wrong))
        raise RecordError(
            lambda place: (
                f"{number} {number:count|counts} of the population {number:is|are} missing or "
                f"below 0 (the first in {place.named(wrong[0])}); each row must say how many "
                "persons it stands for"
            )
        )
    return found


# ── how likely each is recognised ────────────────────────────────────────────────────


def _risks(file: Leaving, missing: Missing) -> NDArray[np.float64]:
    seen = file.combined(_keys(file), missing)
    amount = seen.count.astype(float)
    weight = amount if file.weight is None else np.bincount(seen.of, weights=file.weight)
    draws = amount
    if file.together and file.household is not None:  # a household is one draw
        number = int(file.household.max(initial=0)) + 1
        both = np.unique(seen.of * number + file.household)
        draws = np.bincount(both // number, minlength=len(amount)).astype(float)
    count, population, draws = agreeing(seen.keys, seen.keys, [amount, weight.astype(float), draws])
    # by households, of which each has so many persons with these keys
    return (risk(draws, population * draws / count) * draws / count)[seen.of]


def _risk_below(file: Leaving, claim: RiskBelow) -> CheckedClaim:
    if claim.household and file.household is None:
        raise InputError(
            "RiskBelow(household=True) needs the household of each record; none is named"
        )

    def judged(risks: NDArray[np.float64]) -> NDArray[np.float64]:
        if not claim.household or file.household is None:
            return risks
        with np.errstate(divide="ignore"):
            stays = np.log1p(-np.minimum(risks, 1.0))
        return -np.expm1(np.bincount(file.household, weights=stays)[file.household])

    single = _risks(file, claim.missing)
    found = by_weights = judged(single)
    figures: dict[str, Any] = {}
    model = file.model(claim.missing)
    if file.weight is not None:
        figures["by_weights"] = {"largest_risk": float(by_weights.max(initial=0.0))}
    if model is not None and model.risk is not None:
        found = np.maximum(by_weights, by_model := judged(model.risk))
        figures["by_model"] = {"largest_risk": float(by_model.max(initial=0.0))}
    above = ~(found <= claim.threshold * (1 + _ROUNDING))  # no number is not small enough
    return CheckedClaim(
        np.flatnonzero(above), {"largest_risk": float(found.max(initial=0.0)), **figures}
    )


def _expected_below(file: Leaving, claim: ExpectedBelow) -> CheckedClaim:
    found = _risks(file, claim.missing)
    expected = by_weights = float(found.sum())
    figures: dict[str, Any] = {}
    model = file.model(claim.missing)
    if file.weight is not None:
        alone = _alike(file, _keys(file), claim.missing) == 1
        figures["sample_uniques"] = int(alone.sum())
        figures["by_weights"] = {
            "expected_recognised": by_weights,
            # the chance that nobody else shows its keys is one over the weight
            "population_uniques": float(np.minimum(1 / file.weight[alone], 1.0).sum()),
        }
    if model is not None and model.risk is not None:
        expected = float(np.maximum(by_weights, model.risk.sum()))
        figures["by_model"] = {
            "expected_recognised": float(model.risk.sum()),
            "population_uniques": model.uniques,
        }
    rate = expected / file.n
    fails = not rate <= claim.rate * (1 + _ROUNDING)
    return CheckedClaim(
        np.arange(file.n if fails else 0),
        {"expected_recognised": expected, "rate": rate, **figures},
    )


# ── what they show ───────────────────────────────────────────────────────────────────


def _sensitive(file: Leaving, claim: AboutValues) -> tuple[str, ...]:
    names = file.sensitive_of(claim)
    if not names:
        raise InputError(
            f"a claim of file {file.name!r} is about sensitive variables, and none is named"
        )
    return names


def _broken(file: Leaving, seen: Combinations, value: Numbers, breaks: Breaks) -> NDArray[np.bool_]:
    """For each record, whether the values of those that agree with it break a claim."""
    width = int(value.max(initial=0)) + 1
    overall = np.bincount(value, minlength=width) / file.n
    cell, count = np.unique(seen.of * width + value, return_counts=True)
    wrong = np.zeros(len(seen.keys), dtype=bool)
    for shown in values_shown(seen.keys, seen.keys[cell // width], cell % width, count):
        wrong[shown.rows] = breaks(shown, overall)
    return wrong[seen.of]


def _l_diversity(file: Leaving, claim: LDiversity) -> CheckedClaim:
    names = _sensitive(file, claim)
    wrong = np.zeros(file.n, dtype=bool)
    of_variables: dict[str, Any] = {}
    for name in names:
        others = [other for other in names if other != name] if claim.others_known else []
        seen = file.combined(_keys(file), claim.missing, others)
        own = _broken(file, seen, file.told_apart(name), _DIVERSITY[claim.kind](claim))
        of_variables[name] = {"records_short": int(own.sum())}
        wrong |= own
    return CheckedClaim(np.flatnonzero(wrong), {"variables": of_variables})


def _distinct(claim: LDiversity) -> Breaks:
    return lambda shown, overall: np.bincount(shown.owner) < claim.l


def _entropy(claim: LDiversity) -> Breaks:
    def breaks(shown: Shown, overall: NDArray[np.float64]) -> NDArray[np.bool_]:
        share = _share(shown)
        entropy = -np.bincount(shown.owner, weights=share * np.log(share))
        return np.exp(entropy) < claim.l * (1 - _ROUNDING)

    return breaks


def _recursive(claim: LDiversity) -> Breaks:
    def breaks(shown: Shown, overall: NDArray[np.float64]) -> NDArray[np.bool_]:
        order = np.lexsort((-shown.count, shown.owner))
        owner, count = shown.owner[order], shown.count[order]
        place = np.arange(len(owner)) - np.searchsorted(owner, owner)
        rest = np.bincount(owner, weights=np.where(place >= claim.l - 1, count, 0))
        return ~(count[place == 0] < (claim.c or 0.0) * rest * (1 - _ROUNDING))

    return breaks


_DIVERSITY = {"distinct": _distinct, "entropy": _entropy, "recursive": _recursive}


def _t_closeness(file: Leaving, claim: TCloseness) -> CheckedClaim:
    seen = file.combined(_keys(file), claim.missing)
    order = None if isinstance(claim.ordered, bool) else claim.ordered
    wrong = np.zeros(file.n, dtype=bool)
    of_variables: dict[str, Any] = {}
    for name in _sensitive(file, claim):
        largest, far = [0.0], _far
        if claim.ordered is not False:
            value, beside = file.ranked(name, order)
            far = partial(_far_beside_a_line, beside=beside) if beside else _far_on_a_line
        else:
            value = file.told_apart(name)

        def breaks(
            shown: Shown,
            overall: NDArray[np.float64],
            largest: list[float] = largest,
            far: Callable[[Shown, NDArray[np.float64]], NDArray[np.float64]] = far,
        ) -> NDArray[np.bool_]:
            distance = far(shown, overall)
            largest.append(float(distance.max(initial=0.0)))
            return distance > claim.t + _ROUNDING

        wrong |= _broken(file, seen, value, breaks)
        of_variables[name] = {"largest_distance": max(largest)}
    return CheckedClaim(np.flatnonzero(wrong), {"variables": of_variables})


def _far(shown: Shown, overall: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share that has to be moved, if every move costs 1."""
    expected = overall[shown.value]
    here = np.bincount(shown.owner, weights=np.abs(_share(shown) - expected))
    return (here + 1 - np.bincount(shown.owner, weights=expected)) / 2


def _far_on_a_line(shown: Shown, overall: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares times steps moved, relative to the longest way.

    On a line the records of a combination, ascending, take the parts of the distribution in the
    same order. The value r, which takes its part from a to b, moves from there by the integral of
    |r - quantile(u)| from a to b.
    """
    steps = len(overall) - 1
    if not steps:
        return np.zeros(len(shown.rows))
    share = _share(shown)
    upto = np.cumsum(share)
    upto -= (upto - share)[np.searchsorted(shown.owner, shown.owner)]
    low, high = np.clip(upto - share, 0.0, 1.0), np.clip(upto, 0.0, 1.0)
    ends = np.cumsum(overall)
    ends[-1] = 1.0
    quantile = np.concatenate([[0.0], np.cumsum(np.arange(len(overall)) * overall)])
    knots = np.concatenate([[0.0], ends])
    middle = np.clip(ends[shown.value], low, high)
    below, here, above = (np.interp(at, knots, quantile) for at in (low, middle, high))
    own = shown.value
    moved = own * (middle - low) - (here - below) + (above - here) - own * (high - middle)
    return np.bincount(shown.owner, weights=moved) / steps


def _far_beside_a_line(
    shown: Shown, overall: NDArray[np.float64], beside: int
) -> NDArray[np.float64]:
    """The same where the first values are no points of the line, and 1 from every other value."""
    from diskret.attack.microdata.line_kernels import cheapest_moves

    return cheapest_moves(shown.owner, shown.value, _share(shown), overall, len(shown.rows), beside)


def _shares(file: Leaving, claim: AlphaK | BetaLikeness | DeltaDisclosure) -> CheckedClaim:
    keys = _keys(file)
    seen = file.combined(keys, claim.missing)
    wrong = np.zeros(file.n, dtype=bool)
    figures: dict[str, Any] = {}
    if isinstance(claim, AlphaK):
        alike = _alike(file, keys, claim.missing)
        wrong |= alike < claim.k
        figures["fewest_alike"] = int(alike.min())
    of_variables: dict[str, Any] = {}
    for name in _sensitive(file, claim):
        own = _broken(file, seen, file.told_apart(name), _frequent(claim))
        of_variables[name] = {"records_outside": int(own.sum())}
        wrong |= own
    return CheckedClaim(np.flatnonzero(wrong), {**figures, "variables": of_variables})


def _frequent(claim: AlphaK | BetaLikeness | DeltaDisclosure) -> Breaks:
    def breaks(shown: Shown, overall: NDArray[np.float64]) -> NDArray[np.bool_]:
        share, expected = _share(shown), overall[shown.value]
        if isinstance(claim, AlphaK):
            wrong = share > claim.alpha + _ROUNDING
        elif isinstance(claim, BetaLikeness):
            most = np.minimum(claim.beta, -np.log(expected)) if claim.enhanced else claim.beta
            wrong = share / expected - 1 > most + _ROUNDING
        else:
            wrong = np.abs(np.log(share / expected)) >= claim.delta - _ROUNDING
        found = np.bincount(shown.owner, weights=wrong) > 0
        if isinstance(claim, DeltaDisclosure):
            found |= np.bincount(shown.owner) < np.count_nonzero(overall)
        return found

    return breaks


def _share(shown: Shown) -> NDArray[np.float64]:
    return shown.count / np.bincount(shown.owner, weights=shown.count)[shown.owner]


_CHECKS: Mapping[type, Callable[[Leaving, Any], CheckedClaim]] = {
    KAnonymity: _k_anonymity,
    RiskBelow: _risk_below,
    ExpectedBelow: _expected_below,
    KMap: _k_map,
    LDiversity: _l_diversity,
    TCloseness: _t_closeness,
    AlphaK: _shares,
    BetaLikeness: _shares,
    DeltaDisclosure: _shares,
}


def risk(count: NDArray[np.float64], population: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Expected value of one over the number of persons of the population who share the keys.

    With f records in the file that stand for F persons, and p = f / F, the number is f plus a
    negative binomial one, so that

    $$r = \int_0^1 y^{f-1} \frac{p}{p + (1-p) y} dy,$$

    which is integrated in z = log(p + (1 - p) y), where for f = 1 the integrand is constant.
    Source of the model: Benedetti and Franconi (1998).

    count: f, at least 1, ``(n,)``.
    population: f > 0, ``(n,)``; where it does not exceed f, the risk is 1 / f.

    >>> risk(np.array([1.0, 2.0, 3.0]), np.array([17.0, 110.0, 3.0])).round(8).tolist()
    [0.17707583, 0.01714426, 0.33333333]
    """
    pairs, of = np.unique(count + 1j * population, return_inverse=True)
    parts = np.array_split(pairs, len(pairs) // _TOGETHER + 1)
    return np.concatenate([_integral(part.real[:, None], part.imag[:, None]) for part in parts])[of]


def _integral(f: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    p = np.minimum(f / total, 1.0)
    q = np.maximum((total - f) / total, 0.0)
    point, share = np.polynomial.legendre.leggauss(_POINTS)
    # below this y the power is negligible
    least = np.where(f > 1, np.exp(-_NEGLIGIBLE / np.maximum(f - 1, 1e-9)), 0.0)
    low = np.log1p(-q * (1 - least))
    z = low * (1 - point) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.clip(1 + np.expm1(z) / q, 0.0, 1.0)
        found = (p / q * -low / 2)[:, 0] * ((y ** (f - 1)) @ share)
    return np.where(q[:, 0] < _CENSUS, 1 / f[:, 0], found)
