"""`Microdata.microaggregate`: groups of similar records show their means."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.anonymize.missing_codes import as_numbers, in_its_order, with_codes
from diskret.anonymize.variables import chance, check_divide
from diskret.anonymize.verb import Step, verb
from diskret.errors import InputError
from diskret.io import Coded
from diskret.io.columns import some
from diskret.microdata.aggregation import (
    METHODS,
    Groups,
    Measure,
    Method,
    aggregate,
    groups,
    median,
    mode,
)
from diskret.microdata.aggregation.clustered import Clusters, Transform
from diskret.microdata.aggregation.nearby import Gamma, Scale
from diskret.parameters import Choice, Seed, Whole
from diskret.progress import Progress, silent
from diskret.risk import classes
from diskret.risk.robust import following
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata


@verb("k")
def microaggregate(
    md: Microdata,
    variables: str | Iterable[str] | None = None,
    method: Annotated[str, Choice(tuple(METHODS))] = "mdav",
    k: Annotated[int, Whole(2)] = 3,
    *,
    measure: Measure = "mean",
    scale: bool = True,
    nominal: str | Iterable[str] = (),
    ordinal: str | Iterable[str] = (),
    weights: bool = False,
    strata: str | Iterable[str] | None = None,
    gamma: Gamma | None = None,
    clusters: Clusters | None = None,
    transform: Transform | None = None,
    seed: Seed | None = None,
    progress: Progress = silent,
) -> Microdata:
    """Put records into groups of k and more, and give each the mean of its group.

    Parameters
    ----------
    md
        The microdata.
    variables
        Numeric variables; None: all with the role. The result is float64.
    method
        How groups are made:

        - ``"mdav"``: of k records that are near each other, from the outside to the inside;
        - ``"mdav_mixed"``: the same with categories among the variables;
        - ``"gower"``: the same by Gower's distance, in which every variable counts alike;
        - ``"vmdav"``: of k to 2 k - 1 records, where others are near;
        - ``"random_nearest"``: around records that are drawn;
        - ``"random"``: of records that are drawn;
        - ``"rmd"``: of k records that are near each other, around those farthest from the bulk;
        - ``"single"``: of records that follow each other by the first variable;
        - ``"pca"``, ``"pca_robust"``, ``"projection"``: the same along a direction, that of the
          largest variance, also of the bulk of the records, or in which the bulk is widest;
        - ``"clustered_pca"``, ``"clustered_projection"``: the same within clusters;
        - ``"individual"``: for each variable on its own, of records that follow each other by it;
          this keeps most, and hardly protects records (see `alike` below);
        - ``"optimal"``: for each variable on its own, the groups that lose least; protects a record
          only if there is a single variable.
    k
        Least number of records in a group, from 2.
    measure
        What replaces numbers: ``"mean"`` or ``"median"``.
    scale
        Divide numbers by their standard deviation (in each stratum) before records are compared;
        a constant one does not count. False: only where units are comparable.
    nominal, ordinal
        Categorical variables (``"mdav_mixed"`` and ``"gower"``). All of a group get its most
        frequent category (the first of several) or its lower median; an ordinal variable
        needs an order, a declared one or that of numbers and dates.
    weights
        Means, medians and most frequent categories with the sampling weights. Groups are the
        same (k counts records), but for the components of ``"pca"`` and ``"clustered_pca"``.
    strata
        Variables; groups lie within each combination of their values. None: the strata of the
        microdata; ``[]``: none.
    gamma
        ``"vmdav"``: how near others have to be, 0.2 by default.
    clusters
        ``"clustered_…"``: number of clusters, 8 by default.
    transform
        ``"clustered_…"``: in what clusters are looked for, ``"none"`` (the values, the default),
        ``"log"`` or ``"rank"``; the last two if few records are extreme.
    seed
        Of methods that draw; whole number from 0. Same seed, same file: same groups; another
        edition draws anew.
    progress
        Called with ``("groups", done, total)``.

    Returns
    -------
    Microdata
        Missing values stay missing; records that lack the same variables are grouped among
        themselves by the others. Where these are fewer than k, the values they have become
        missing, too. Step of the history: number of `groups` and records of the `smallest` and
        `largest` one; `sse_sst`, the share of the variance within groups (mean over variables,
        0: nothing is lost), and `lost`, the same by variable; values `changed` by categorical
        variable, and `suppressed` by variable; `follow`, variables that follow from those before
        them, which robust methods leave out of distances; `without`, records with nothing to
        group; `alike`, the smallest number of records that are together in all variables.

    Raises
    ------
    InputError
        An argument names what is not there or does not go together; a stratum has fewer than k
        records.

    Notes
    -----
    The groups follow from the values: the order of the records does not matter, except for which of
    several records with equal values (and weights) is in which group.

    Examples
    --------
    >>> from diskret import Microdata
    >>> firms = pa.table({"staff": [1, 9, 2, 8], "sales": [10, 70, 20, 90]})
    >>> made = Microdata(firms, numeric=["staff", "sales"]).microaggregate(k=2)
    >>> made.frame["sales"].to_pylist()
    [15.0, 80.0, 15.0, 80.0]
    >>> round(made.history[0].found["sse_sst"], 3)
    0.038
    """
    how = METHODS[method]
    named = _named(md, variables, ordinal, nominal)
    options = _options(method, how, {"gamma": gamma, "clusters": clusters, "transform": transform})
    _check(method, how, seed, named)
    divided = md.roles.strata if strata is None else tuple(strata)
    check_divide(divided, named)
    codes = [md.coded(name) for name in divided]
    _check_strata(codes, md.n, k)
    weight = md.weights() if weights else None
    if weights and weight is None:
        raise InputError("weights=True needs weight= when you make the microdata")

    numbers = [name for name, one in named.items() if one == "number"]
    md = as_numbers(md, numbers)
    coded = {
        name: in_its_order(md, name) if one == "ordinal" else md.coded(name)
        for name, one in named.items()
        if one != "number"
    }
    values = _values(md, numbers, coded)
    draws = None
    if seed is not None:
        draw = chance(md, "microaggregate", seed, list(named), ordered=False)
        draws = int(draw.integers(2**63))
    sets = [[j] for j in range(len(named))] if how.alone else [list(range(len(named)))]
    scales = list(named.values())
    made = [
        groups(
            values[:, columns],
            k,
            how,
            strata=[one.codes for one in codes],
            scales=[scales[j] for j in columns],
            scale=scale,
            weights=weight,
            seed=draws,
            options=options,
            progress=progress,
        )
        for columns in sets
    ]
    counts = np.ones(md.n) if weight is None else weight
    shown = values.copy()
    for found, columns in zip(made, sets, strict=True):
        for j in columns:
            shown[found.alone, j] = np.nan
            shown[found.rows, j] = _shown(found, values[:, j], counts, scales[j], measure)
    names = list(named)
    figures = _found(names, scales, values, shown, made)
    if how.robust:
        figures |= _follow(names, values)
    step = Step("microaggregate", {"variables": numbers}, figures)
    columns = {name: _column(shown[:, j], coded.get(name)) for j, name in enumerate(names)}
    for name, one in named.items():
        if one == "ordinal":
            columns[name] = with_codes(md, name, columns[name])
    return md.after(columns, step)


# ── what is asked for ───────────────────────────────────────────────────────────────


def _named(
    md: Microdata,
    variables: str | Iterable[str] | None,
    ordinal: str | Iterable[str],
    nominal: str | Iterable[str],
) -> dict[str, Scale]:
    """The variables and how their values are compared."""
    made: dict[str, Scale] = {}
    parts: tuple[tuple[Scale, Iterable[str]], ...] = (
        ("number", md.roles.numeric if variables is None else variables),
        ("ordinal", ordinal),
        ("nominal", nominal),
    )
    for scale, names in parts:
        for name in names:
            if name in made:
                raise InputError(
                    f"column {name!r} is named twice in variables=, ordinal=, nominal="
                )
            made[name] = scale
    if not made:
        raise InputError(
            "no variable is named; give variables=, or numeric= when you make the microdata"
        )
    return made


def _options(method: str, how: Method, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a method that are given."""
    there = {name: value for name, value in asked.items() if value is not None}
    for name in there:
        if name not in how.options:
            belongs = [one for one, other in METHODS.items() if name in other.options]
            raise InputError(f"{name}= belongs to {' and '.join(belongs)}, not to {method}")
    return there


def _check(
    method: str,
    how: Method,
    seed: int | None,
    named: Mapping[str, Scale],
) -> None:
    if how.draws and seed is None:
        raise InputError(f"{method} draws, so it needs seed=, a whole number from 0, not {seed!r}")
    if not how.draws and seed is not None:
        raise InputError(f"{method} draws nothing; leave out seed=")
    categories = [name for name, scale in named.items() if scale != "number"]
    if categories and not how.categories:
        able = [one for one, other in METHODS.items() if other.categories]
        raise InputError(
            f"{method} is for numbers only, not for {some('column', categories)}; take "
            f"{' or '.join(able)}"
        )


def _check_strata(codes: Sequence[Coded], n: int, k: int) -> None:
    if not codes:
        if n < k:
            raise InputError(f"there are {n:,} records, too few for a group of {k}")
        return
    found = classes([one.codes for one in codes], [len(one.categories) for one in codes])
    few = np.flatnonzero(found.count < k)
    if len(few):
        values = ", ".join(
            f"{one.name} {'missing' if code < 0 else one.categories[code].as_py()!r}"
            for one, code in zip(codes, found.codes[few[0]].tolist(), strict=True)
        )
        number = Count(len(few))
        raise InputError(
            f"{number} of {len(found.count):,} strata {number:has|have} fewer than {k} records, "
            f"e.g. {found.count[few[0]]} with {values}; recode the strata, name others, or lower k"
        )


# ── from records and back ───────────────────────────────────────────────────────────


def _values(
    md: Microdata, numbers: Sequence[str], coded: Mapping[str, Coded]
) -> NDArray[np.float64]:
    parts = [md.numbers(numbers)] if numbers else []
    parts += [
        np.where(one.codes < 0, np.nan, one.codes)[:, None].astype(np.float64)
        for one in coded.values()
    ]
    return np.column_stack(parts)


def _shown(
    found: Groups,
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    scale: Scale,
    measure: Measure,
) -> NDArray[np.float64]:
    """What the records with a group show; missing values stay missing."""
    own = values[found.rows]
    there = ~np.isnan(own)
    made = np.full(len(own), np.nan)
    _, of = (None, found.of) if there.all() else np.unique(found.of[there], return_inverse=True)
    own, weights = own[there], weights[found.rows][there]
    if scale == "number":
        made[there] = aggregate(own, of, weights, measure)[of]
    elif scale == "ordinal":
        made[there] = median(own, of, weights)[0][of]
    else:
        made[there] = mode(own.astype(np.int64), of, weights)[of]
    return made


def _column(values: NDArray[np.float64], coded: Coded | None) -> pa.ChunkedArray:
    gaps = np.isnan(values)
    if coded is None:
        return pa.chunked_array([pa.array(values, mask=gaps)])
    codes = np.where(gaps, -1, values).astype(np.int32)
    return Coded(coded.name, coded.categories, codes).column()


def _found(
    names: Sequence[str],
    scales: Sequence[Scale],
    values: NDArray[np.float64],
    shown: NDArray[np.float64],
    made: Sequence[Groups],
) -> dict[str, Any]:
    """Figures for the history."""
    lost = {
        name: _lost(values[:, j], shown[:, j])
        for j, (name, scale) in enumerate(zip(names, scales, strict=True))
        if scale == "number"
    }
    vary = [share for share in lost.values() if share is not None]
    there = ~np.isnan(values)
    gone = (there & np.isnan(shown)).sum(axis=0).tolist()
    sizes = [one.sizes for one in made]
    number = [len(one) for one in sizes]
    figures: dict[str, Any] = {
        "groups": number[0] if len(number) == 1 else dict(zip(names, number, strict=True)),
        "smallest": min(int(one.min()) for one in sizes if len(one)) if any(number) else 0,
        "largest": max(int(one.max(initial=0)) for one in sizes),
        "alike": _alike(made, len(values)),
        "sse_sst": fsum(vary) / len(vary) if vary else None,
        "lost": {name: share for name, share in lost.items() if share is not None},
        "changed": {
            name: int((there[:, j] & (values[:, j] != shown[:, j])).sum())
            for j, (name, scale) in enumerate(zip(names, scales, strict=True))
            if scale != "number"
        },
        "suppressed": {name: count for name, count in zip(names, gone, strict=True) if count},
        "without": int((~there).all(axis=1).sum()),
    }
    return {name: value for name, value in figures.items() if value not in ({}, None)}


def _follow(names: Sequence[str], values: NDArray[np.float64]) -> dict[str, Any]:
    """Variables that follow from others, of records that have them all."""
    complete = values[~np.isnan(values).any(axis=1)]
    found = [names[j] for j in following(complete)] if len(complete) else []
    return {"follow": found} if found else {}


def _lost(values: NDArray[np.float64], shown: NDArray[np.float64]) -> float | None:
    """Share of the variance that groups hide; None for constant values."""
    there = ~np.isnan(shown)
    if not there.any():
        return None
    own = values[there]
    total = float(((own - own.mean()) ** 2).sum())
    if own.min() == own.max():
        return None
    return float(((own - shown[there]) ** 2).sum()) / total


def _alike(made: Sequence[Groups], n: int) -> int:
    """The smallest number of records that are in the same groups."""
    codes = np.full((len(made), n), -1, dtype=np.int32)
    for row, one in zip(codes, made, strict=True):
        row[one.rows] = one.of
    found = classes(list(codes), [int(row.max(initial=0)) + 1 for row in codes])
    grouped = (found.codes >= 0).any(axis=1)
    return int(found.count[grouped].min(initial=n)) if grouped.any() else 0
