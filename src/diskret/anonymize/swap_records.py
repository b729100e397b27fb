"""The verb for record swapping: whole households change places."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.anonymize.households import Members, check_alike, members
from diskret.anonymize.missing_codes import valued
from diskret.anonymize.swap_records_audit import Exposure, audit, exposed
from diskret.anonymize.variables import chance, numbered, profiles_of, with_followers
from diskret.anonymize.verb import Step, verb
from diskret.errors import InputError
from diskret.io import coded
from diskret.io.columns import some
from diskret.microdata.record_swap import Households, exchanged
from diskret.parameters import Probability, Seed, Whole
from diskret.risk.keys import grouped

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

Method = Literal["targeted", "random"]


@verb()
def swap_records(
    md: Microdata,
    geography: str | Iterable[str],
    *,
    seed: Seed,
    rate: Probability = 0.05,
    method: Method = "targeted",
    risk_variables: Iterable[str] | None = None,
    k: Annotated[int, Whole(2)] = 3,
    risk: str | Iterable[str] | None = None,
    threshold: float | None = None,
    similar: Iterable[str | Sequence[str]] = (),
    within: str | Iterable[str] | None = None,
    carry_along: str | Iterable[str] = (),
) -> Microdata:
    """Let whole households change places in pairs, those at risk first (record swapping).

    A household takes over the area of its partner, and everything else stays with it. Every
    area keeps its number of households, every household its members, and what is tabulated
    without geography stays exactly as it was.

    Parameters
    ----------
    md
        The microdata. Records of a `household` move together; without this role each record is
        a household.
    geography
        Variables that say where a household lives, from coarse to fine: state, district,
        municipality. An area is a combination of all levels down to its own. Variables that tell
        the same in more detail (`followers`) go with them. A household without an area takes no
        part.
    seed
        Of the draws; secret like a key. Same seed, same records: same result, in any order of the
        records if they have a `household` (or, without one, an `id`), else in the same order. Draws
        follow from places, household, `id` and risk variables, too: another edition draws anew.
    rate
        Share of the households that change places, from 0 to 1; a swap counts for two. If more are
        at risk, more do. Above 0.1 much is lost.
    method
        ``"targeted"``: households at risk in any case, others until the rate is met, higher risks
        more likely. ``"random"``: all are equally likely; risks are told, and nothing more.
    risk_variables
        Variables that may tell who somebody is; None: the keys that are no geography. A missing
        value is a category of its own.
    k
        From 2: a record is at risk in an area where fewer than k records have its
        combination of risk variables, and a household if one of its members is. The coarsest
        level counts: who is rare in the state has to leave the state.
    risk
        Instead: a column with the risk of each record from 0, or one for each level of geography;
        what is above the `threshold` is at risk.
    threshold
        Of `risk`.
    similar
        Variables in which partners agree, the same for all members of a household: its size, say.
        Several lists are tried one after another, and who finds nobody with any of them stays.
    within
        Variables; nothing is exchanged between households that differ in them. A level of
        geography (not the finest) keeps households inside its areas. None: the strata of the
        microdata; ``[]``: none.
    carry_along
        Further variables of the place that go with the geography: coordinates, a grid cell.

    Returns
    -------
    Microdata
        With geography and `carry_along` exchanged; their type stays.

    Raises
    ------
    InputError
        A variable is missing, plays two parts or differs between members of a household; levels
        are not given from coarse to fine; k is below 2; there is only one area.

    Notes
    -----
    Partners live in different areas of the level at which one of them is at risk; those who share
    the area of the next coarser level come first, so tables of coarser areas change little.
    Households at risk swap with each other before they swap with others.

    Step of the history: number of ``households`` and ``records``, how many ``moved`` and their
    ``rate``; by level (``levels``) those at risk, of these ``swapped`` into another area of that
    level, ``nearer`` (only one of a finer level had a partner) and ``left``, those that ``moved``
    across it and no coarser one, and those at ``risky_after`` in their new areas; why
    households stay at risk (``reasons``) and the first of them (``left``, with the row of a
    member); how many each of the ``profiles`` served; rates by area (``by_area``, of more
    than 100 the lowest and the highest); in how many areas the number of records changed
    (``other_totals``).

    Households at risk do not disappear: somebody who looks for one finds it in the wrong place. If
    partners agree in the size of the household, ``other_totals`` is 0: the population of every
    area is published as it is. What swapping does to tables is told by `Microdata.compare`, and
    table by table by `Microdata.deviations`. Who changed places with whom is written nowhere;
    the office can compare with `Microdata.original`.

    References
    ----------
    Targeted record swapping of the ESSnet on the harmonised protection of census data (2017);
    Hundepool et al., Handbook on Statistical Disclosure Control (2nd ed. 2024); L. Zayatz (2007),
    "Disclosure avoidance practices and research at the U.S. Census Bureau", Journal of
    Official Statistics 23.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret import Microdata
    >>> persons = pa.table(
    ...     {
    ...         "town": ["A"] * 50 + ["B"] * 50,
    ...         "home": [row // 2 for row in range(100)],
    ...         "job": ["baker"] * 49 + ["mayor"] * 2 + ["baker"] * 49,
    ...     }
    ... )
    >>> md = Microdata(persons, keys=["town", "job"], household="home")
    >>> made = md.swap_records(["town"], seed=1, rate=0)
    >>> made.frame["town"].to_pylist()[48:52]
    ['B', 'B', 'A', 'A']
    >>> made.history[0].found["levels"]["town"]["swapped"]
    2
    """
    levels, beside = list(geography), list(carry_along)
    profiles = profiles_of(similar)
    strata = list(md.roles.strata if within is None else within)
    columns = None if risk is None else list(risk)
    chosen = _risk_variables(md, risk_variables, levels, method, columns)
    _check(md, levels, beside, profiles, strata, chosen)
    _check_risk(columns, threshold, len(levels))
    group = members(md)
    moving = with_followers(md, [*levels, *beside])
    areas, part = _areas(md, levels, group)
    for name in moving:
        codes = numbered([md.table_column(name)])[0]
        check_alike(md, name, codes, "carry_along=", group)
    if areas[-1][part].min(initial=2**62) == areas[-1][part].max(initial=-1):
        raise InputError(
            f"all households live in one area of {levels[-1]!r}, so none can change places"
        )
    exposure = exposed(md, areas, group, chosen, k, columns, threshold)
    households = _households(md, areas, exposure, part, (profiles, strata), method, group)
    told_apart = [name for name in (md.roles.household, md.roles.id) if name is not None]
    read = list(dict.fromkeys((*told_apart, *moving, *chosen)))
    rng = chance(md, "swap_records", seed, (), read, ordered=False)
    made = exchanged(households, float(rate), rng)
    source = pa.array(group.first[made.partner][group.of])
    taken = {name: md.table_column(name).take(source) for name in moving}
    found = audit(md, levels, profiles, households, exposure, made, group)
    told = {"similar": profiles}
    return md.after(taken, Step("swap_records", told, found))


# ── what is asked for ───────────────────────────────────────────────────────────────


def _risk_variables(
    md: Microdata,
    asked: Iterable[str] | None,
    levels: Sequence[str],
    method: str,
    columns: Sequence[str] | None,
) -> list[str]:
    """By what risk is counted; nothing where it is given, or random swapping has no keys."""
    if columns is not None:
        if asked is not None:
            raise InputError(
                "risk= says itself who is at risk; leave out either it or risk_variables="
            )
        return []
    chosen = [key for key in md.roles.keys if key not in levels] if asked is None else list(asked)
    if not chosen and method == "targeted":
        raise InputError(
            "there is nothing to count risks by: name risk_variables=, a column of risks (risk=), "
            "or give keys= that are no geography when you make the microdata; or swap at random "
            "(method='random')"
        )
    return chosen


def _check(
    md: Microdata,
    levels: Sequence[str],
    beside: Sequence[str],
    profiles: Sequence[Sequence[str]],
    strata: Sequence[str],
    chosen: Sequence[str],
) -> None:
    if not levels:
        raise InputError("geography= names no column")
    moving = [*levels, *beside]
    twice = [name for at, name in enumerate(moving) if name in moving[:at]]
    if twice:
        raise InputError(f"geography= and carry_along= name {some('column', twice)} twice")
    agree = [name for one in profiles for name in one]
    for where, names, allowed in (
        ("similar=", agree, levels[:-1]),
        ("within=", strata, levels[:-1]),
        ("risk_variables=", chosen, ()),
    ):
        both = [name for name in names if name in with_followers(md, moving)]
        if wrong := [name for name in both if name not in allowed]:
            raise InputError(
                f"{some('column', wrong)} changes with the place of a household and cannot be in "
                f"{where} at the same time; leave it out there"
            )


def _check_risk(columns: Sequence[str] | None, threshold: float | None, levels: int) -> None:
    if (columns is None) != (threshold is None):
        raise InputError("risk= and threshold= belong together: at risk is what is above it")
    if columns is not None and len(columns) not in (1, levels):
        raise InputError(
            f"risk= names one column, or one for each of the {levels} levels of geography=, not "
            f"{len(columns)}"
        )


def _areas(
    md: Microdata, levels: Sequence[str], group: Members
) -> tuple[list[NDArray[np.intp]], NDArray[np.bool_]]:
    """For each level the area of each household; and the households that have one."""
    made: list[NDArray[np.intp]] = []
    part = np.ones(group.number, dtype=bool)
    above, size = np.zeros(group.number, dtype=np.intp), 1
    for at, name in enumerate(levels):
        column = coded(valued(md, name), name)
        check_alike(md, name, column.codes, "geography=", group)
        here = column.codes[group.first]
        part &= here >= 0
        above, number = grouped([above.astype(np.int32), here], [size, len(column.categories)])
        if number == size > len(column.categories):
            raise InputError(
                f"geography= goes from coarse to fine, but {name!r} divides none of the {size:,} "
                f"areas of {levels[at - 1]!r}; turn the order round, or leave one of them out"
            )
        made.append(above)
        size = number
    return made, part


def _households(
    md: Microdata,
    areas: Sequence[NDArray[np.intp]],
    exposure: Exposure,
    part: NDArray[np.bool_],
    agreeing: tuple[Sequence[Sequence[str]], Sequence[str]],
    method: str,
    group: Members,
) -> Households:
    """What the draw needs to know."""
    profiles, strata = agreeing
    for where, listed in (("within=", strata), *(("similar=", one) for one in profiles)):
        for name in listed:
            check_alike(md, name, md.coded(name).codes, where, group)
    made: list[NDArray[np.intp]] = []
    for profile in profiles or [[]]:
        names = list(dict.fromkeys([*strata, *profile]))
        of = md.keys(names).classes.of if names else np.zeros(md.n, dtype=np.intp)
        made.append(of[group.first])
    if method == "random":
        even = [np.ones(group.number)] * len(areas)
        return Households(areas, np.full(group.number, len(areas)), even, made, part)
    return Households(areas, exposure.level, exposure.risk, made, part)
