"""The verb for samples: fewer records leave, and nobody knows whose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from diskret.anonymize.drawn import Drawn
from diskret.anonymize.households import Members, check_alike, members
from diskret.anonymize.variables import Strata, chance, divided, floating
from diskret.anonymize.verb import Step, verb
from diskret.errors import InputError
from diskret.io.columns import some
from diskret.microdata.sampling import by_rate, drawn_of_each, proportional
from diskret.parameters import ByName, Column, Number, Proportion, Seed, Whole
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

#: So many strata are listed at most.
_LISTED = 100

Rate = Annotated[float, Proportion()]
Rates = Annotated[Mapping[str, float], ByName(Number(above=0, high=1))]
Size = Annotated[int, Whole(1)]
Sizes = Annotated[Mapping[str, int], ByName(Whole(1))]


@verb()
def sample(
    md: Microdata,
    rate: Rate | Column | Rates | None = None,
    *,
    seed: Seed,
    size: Size | Sizes | None = None,
    each: Size | None = None,
    within: str | Iterable[str] | None = None,
    weight: Column = "weight",
) -> Microdata:
    """Draw some of the records at random, whole households where there are any.

    Nobody who recognises a combination of keys then knows whether others in the population have
    it, too. Every set of so many units of a stratum is alike likely (simple random sampling
    without replacement); N units of which n are drawn have the inclusion probability n / N exactly,
    and weights are multiplied by N / n. Say one of `rate`, `size` and `each`.

    Parameters
    ----------
    md
        The microdata. If `household` is one of their roles, units are households, else records; a
        record that names no household is one of its own.
    rate
        Share of the units that is drawn, above 0, up to 1: of all, or of each stratum
        (proportional). A mapping from each value of the stratification variable, as text, to
        its rate (``""`` stands for a missing value); or a column with the rates, the same in
        all records of a stratum. The number of units is rounded to the nearest, and is at least 1.
    seed
        Of the draw; secret like a key: it tells who was drawn. Same seed, same file in the same
        order: same sample. The draw follows from all values, too: another edition is drawn anew,
        and a second call draws anew from what is left.
    size
        Number of units in all, at least 1 for each stratum: shared out by the sizes of strata. Or a
        mapping from each value of the stratification variable to its number.
    each
        Number of units of each stratum; a stratum that has fewer is taken whole.
    within
        Variables; units in which all agree are a stratum. Missing is a category of its own.
        Members of a household must agree in them. None: the strata of the microdata; ``[]``: none.
    weight
        Name of the new weights, if the microdata have none. Then the file counts as everybody
        there is.

    Returns
    -------
    Microdata
        The drawn records in the order of the file, with weights. `Microdata.original` holds the
        same records as they were, `Microdata.whole` all of them.

    Raises
    ------
    InputError
        It is not said how many are drawn, or twice; a stratum is not named, has fewer units, or
        divides a household; there is a column of the name of the new weights.

    Notes
    -----
    Step of the history: ``records`` drawn ``of`` how many, ``households`` likewise, the largest
    and smallest weight factor, how many strata and records were ``taken_whole``, and the strata (of
    more than 100 those of which the largest share was drawn). Who was drawn is written nowhere but
    in the office's link of a release.

    What an attacker learns. That somebody is in the sample is what protects least: who knows of a
    person that they were drawn, from the person, say, is back at the file that is released, so
    k-anonymity is claimed of that file alone. Nothing else must tell: a release gives records and
    households new numbers from 1 to their number in the sample, and its order is drawn with the
    office's keys. The order of a file often follows places and dates; kept in a sample, a record's
    position, divided by the sampling fraction, would still tell where in the file it stood. So
    these microdata keep the order, for the office to compare with its file, and a release
    gives it up unless ``shuffle=False`` says otherwise.

    Of a stratum that is taken whole, sampling protects nobody: weights there stay 1, and
    `Microdata.risk` is that of everybody there is. What the keys do not tell of strata, weights do,
    where rates differ: name the variables as keys then. Records with the same keys from strata with
    very different rates are judged by their common share of the population, which is too low for
    those of the largest rate. Members of a household with the same keys
    were drawn together, not one by one; risk counts them as one draw.

    References
    ----------
    W. G. Cochran (1977), Sampling Techniques, chapters 2, 5 and 9; A. Hundepool et al., Statistical
    Disclosure Control (Wiley 2012), section 3.4.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret import Microdata
    >>> persons = pa.table({"area": ["A"] * 80 + ["B"] * 20, "sex": ["f", "m"] * 50})
    >>> md = Microdata(persons, keys=["area", "sex"])
    >>> drawn = md.sample(0.1, within="area", seed=1)
    >>> drawn
    Microdata(10 records; keys: area, sex; weight: weight)
    >>> few = md.sample({"A": 0.05, "B": 0.5}, within="area", seed=1)
    >>> sorted(set(few.frame["weight"].to_pylist()))
    [2.0, 20.0]
    """
    if sum(one is not None for one in (rate, size, each)) != 1:
        raise InputError("say how many are drawn with one of rate=, size= and each=")
    if md.roles.weight is None and weight in md.table.column_names:
        raise InputError(
            f"the new weights cannot be called {weight!r}, because there is such a column; name "
            "another in weight=, or say weight= when you make the microdata if it holds weights"
        )
    strata = divided(md, _names(within), ())
    whole = md.roles.household is not None
    group = members(md) if whole else None
    of = strata.of
    if group is not None:
        for name in strata.names:
            check_alike(md, name, md.coded(name).codes, "within=", group)
        of = of[group.first]
    units = np.bincount(of, minlength=len(strata.values))
    wanted = _wanted(md, strata, units, rate, size, each)
    draw = chance(md, "sample", seed, strata.names, md.table.column_names)
    taken = drawn_of_each(of, wanted, draw)
    keep = taken if group is None else taken[group.of]
    probability = (wanted / units)[strata.of[keep]]
    factor = (units / wanted)[strata.of[keep]]
    before = md.weights()
    made = md.only(keep, _drawn(md, keep, probability, group))
    name = md.roles.weight or weight
    made.roles = replace(made.roles, weight=name)
    weights = factor if before is None else before[keep] * factor
    found = _found(md, strata, units, wanted, keep, group)
    return made.after({name: floating(weights)}, Step("sample", _told(rate, size), found))


def _names(within: str | Iterable[str] | None) -> tuple[str, ...] | None:
    if within is None:
        return None
    return (within,) if isinstance(within, str) else tuple(within)


# ── how many ────────────────────────────────────────────────────────────────────────


def _wanted(
    md: Microdata,
    strata: Strata,
    units: NDArray[np.int64],
    rate: float | str | Mapping[str, float] | None,
    size: int | Mapping[str, int] | None,
    each: int | None,
) -> NDArray[np.int64]:
    """Units that each stratum gives, ``(h,)``."""
    if each is not None:
        if not strata.names:
            raise InputError("each= is a number for each stratum; name the strata in within=")
        return np.minimum(units, each)
    if isinstance(size, Mapping):
        wanted = np.array(_by_value(strata, size, "size"), dtype=np.int64)
        short = np.flatnonzero(wanted > units)
        if len(short):
            at = int(short[0])
            number = Count(units[at])
            raise InputError(
                f"stratum {_shown(strata, at)} has {number} {number:unit|units}, and size= asks "
                f"for {wanted[at]:,}; each= takes such strata whole"
            )
        return wanted
    if size is not None:
        if not len(units) <= size <= units.sum():
            raise InputError(
                f"size= must be from {len(units):,}, one for each stratum, to "
                f"{int(units.sum()):,}, everybody there is, not {size:,}"
            )
        return proportional(units, size)
    if isinstance(rate, Mapping):
        return by_rate(units, np.array(_by_value(strata, rate, "rate"), dtype=np.float64))
    if isinstance(rate, str):
        return by_rate(units, _of_column(md, strata, rate))
    return by_rate(units, np.full(len(units), 1.0 if rate is None else float(rate)))


def _by_value(strata: Strata, given: Mapping[str, Any], parameter: str) -> list[Any]:
    """What a mapping says of each stratum."""
    if len(strata.names) != 1:
        raise InputError(
            f"{parameter}= by value needs one stratification variable in within=; for several, "
            "name a column with the rate of each record in rate="
        )
    there = ["" if value is None else str(value) for (value,) in strata.values]
    odd = sorted({*there} ^ {*given})
    if odd:
        raise InputError(
            f"{parameter}= must name every value of {strata.names[0]!r} in the records, and no "
            f"other; {some('value', odd)} stands in one of them only"
        )
    return [given[value] for value in there]


def _of_column(md: Microdata, strata: Strata, name: str) -> NDArray[np.float64]:
    """The rates of strata in a column."""
    rate = md.numbers([name])[:, 0]
    wrong = np.flatnonzero(~((rate > 0) & (rate <= 1)))
    if len(wrong):
        raise InputError(
            f"{len(wrong):,} rates in {name!r} are missing or not above 0 and at most 1 (first in "
            f"row {wrong[0] + 1})"
        )
    of = np.empty(len(strata.values))
    of[strata.of] = rate
    differs = np.flatnonzero(of[strata.of] != rate)
    if len(differs):
        raise InputError(
            f"the rates in {name!r} differ within a stratum (first in row {differs[0] + 1}); name "
            "the variables by which they differ in within="
        )
    return of


def _shown(strata: Strata, at: int) -> str:
    named = zip(strata.names, strata.values[at], strict=True)
    return ", ".join(f"{name} = {value!r}" for name, value in named)


# ── who was drawn, and what is told ──────────────────────────────────────────────────


def _drawn(
    md: Microdata, keep: NDArray[np.bool_], probability: NDArray[np.float64], group: Members | None
) -> Drawn:
    earlier = md.drawn
    rows = np.flatnonzero(keep)
    together = None if group is None else group.of[keep].astype(np.int64)
    if earlier is None:
        return Drawn(md.whole, rows, probability, together)
    if together is None and earlier.together is not None:
        together = earlier.together[keep]
    return Drawn(earlier.whole, earlier.rows[keep], earlier.chance[keep] * probability, together)


def _told(rate: Any, size: Any) -> dict[str, Any]:
    told = {"rate": rate, "size": size}
    return {name: dict(one) for name, one in told.items() if isinstance(one, Mapping)}


def _found(
    md: Microdata,
    strata: Strata,
    units: NDArray[np.int64],
    wanted: NDArray[np.int64],
    keep: NDArray[np.bool_],
    group: Members | None,
) -> dict[str, Any]:
    certain = wanted == units
    factor = units / wanted
    found: dict[str, Any] = {"records": int(keep.sum()), "of": md.n}
    if group is not None:
        found |= {"households": int(wanted.sum()), "of_households": int(units.sum())}
    found |= {
        "factors": [float(factor.min()), float(factor.max())],
        "taken_whole": {
            "strata": int(certain.sum()),
            "records": int(certain[strata.of[keep]].sum()),
        },
    }
    if strata.names:
        order = np.argsort(factor, kind="stable")[:_LISTED]
        found["by_stratum"] = [
            {
                "stratum": [None if value is None else str(value) for value in strata.values[at]],
                "units": int(units[at]),
                "drawn": int(wanted[at]),
            }
            for at in np.sort(order).tolist()
        ]
    return found
