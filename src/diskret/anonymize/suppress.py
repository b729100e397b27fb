"""`Microdata.local_suppression`: single values disappear so that nobody stands out."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.anonymize.missing_codes import on_a_line, valued
from diskret.anonymize.verb import Step, verb
from diskret.errors import InputError, ProofError, ProtectionError
from diskret.io import Coded
from diskret.microdata.suppression import (
    Condition,
    Matches,
    Order,
    Problem,
    fewest_values,
    hidden_by_record,
    prices,
    too_rare,
    visibly_rare,
)
from diskret.microdata.suppression.problem import LISTED_KEYS
from diskret.microdata.suppression.risk_and_diversity import (
    Sensitive,
    at_most,
    needed,
    spread,
    until_they_hold,
)
from diskret.parameters import Column, Probability, Share, Whole
from diskret.progress import Progress, silent
from diskret.risk import Keys, classes, frequencies
from diskret.risk.sensitive_figures import distinct, nominal
from diskret.risk.sensitive_figures import ordered as earth_mover
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

#: Distances are not exact.
_NEAR = 1e-12
#: Subsets of keys, each with its k.
Subsets = Mapping[tuple[str, ...], int] | Sequence[tuple[Sequence[str], int]]


@verb()
def local_suppression(
    md: Microdata,
    k: Annotated[int, Whole(1)] | Column = 3,
    importance: Sequence[str] | Mapping[str, float] | None = None,
    *,
    subsets: Subsets | None = None,
    strata: str | Sequence[str] | None = None,
    costs: Mapping[str, float] | None = None,
    keep: Sequence[str] = (),
    threshold: Share | None = None,
    diversity: Annotated[int, Whole(1)] | Mapping[str, Annotated[int, Whole(1)]] | None = None,
    closeness: Probability | Mapping[str, Probability] | None = None,
    ordered: Sequence[str] = (),
    matches: Matches = "visible",
    rounds: Annotated[int, Whole(0)] = 100,
    progress: Progress = silent,
) -> Microdata:
    """Suppress few values of the keys so that every record agrees with at least k records.

    Two records agree if in every key their values are equal or at least one of them is missing.
    Nothing depends on the order of the records. Columns that follow a key (`followers`) lose their
    values in the same records.

    Parameters
    ----------
    md
        The microdata.
    k
        How many records each record agrees with at least, itself included; or a column that says
        so for each record.
    importance
        Keys from the most important to the least, or key → rank (1: most important). Of solutions
        with equal cost the one is taken that spares important keys. Keys that are not named come
        after those that are: the fewer distinct values, the more important, and of equal numbers
        the key named first.
    subsets
        Sets of keys an attacker may know, each with its k: ``{("age", "job"): 3}``, or pairs of
        names and k. All hold in the end, together, in place of k for all keys.
    strata
        Columns; records agree within a stratum only. None: the strata of the microdata.
    costs
        Key → cost of a suppressed value; 1 for those that are not named.
    keep
        Keys of which nothing is suppressed.
    threshold
        Largest individual risk (see `Microdata.risk`), above 0; holds together with k.
    diversity
        Least number of different values of each sensitive variable among the records that agree
        with a record (distinct l-diversity, see `Microdata.anonymity`), or variable → number.
    closeness
        Largest distance, from 0 to 1, between the distribution of a sensitive variable among
        these records and in the whole file (t-closeness), or variable → distance.
    ordered
        Sensitive variables whose values lie on a line, in their order (declared, or that of
        numbers and dates); all others are equally far apart. What is missing, and each code for
        that, lies beside the line, as far from all values as its ends from each other.
    matches
        ``"visible"``: what a record still shows is shared by k records of the original file
        ((k, 1)-anonymity), so every rare record hides something itself; with the fewest
        values there are, and k-anonymous in the other sense, too. ``"wildcard"``: whoever
        agrees once values are missing counts, as in `frequencies`. That needs the fewest
        values by far, but a few records with many missing values then stand in for everybody:
        k - 1 that show nothing are enough, and rare records may stay as they are.
    rounds
        Of improvement with ``"wildcard"``, at most.
    progress
        Callback.

    Returns
    -------
    Microdata
        With suppressed values missing. The step in the history has the number of suppressed
        values by key (`suppressed`) and in total (`values`), of records with one
        (`records`), and of records that what they still show does not protect without the missing
        values of others (`too_rare`; 0 with ``"visible"``). Of more than 12 keys the search for
        the fewest values of a record ends after a fixed number of steps; `unproven` is the number
        of records, if there are any, for which fewer values may be enough.

    Raises
    ------
    InputError
        An argument names what is not there, or is out of range; a stratum is missing. There are
        more than 62 keys; or more than 20, and ``"wildcard"``, `threshold`, `diversity` or
        `closeness`.
    ProtectionError
        No suppression is enough: fewer than k records, say.

    References
    ----------
    Meyerson and Williams (2004), On the complexity of optimal k-anonymity; Gionis, Mazza and
    Tassa (2008), k-Anonymization revisited, for (k, 1)-anonymity.

    Examples
    --------
    >>> from diskret import Microdata
    >>> persons = pa.table({"sex": list("mmmffff"), "job": list("aaabbbc")})
    >>> md = Microdata(persons, keys=["sex", "job"])
    >>> made = md.local_suppression(k=3)
    >>> made.frame["job"].to_pylist()
    ['a', 'a', 'a', 'b', 'b', 'b', None]
    >>> made.history[-1].found["values"]
    1
    """
    asked = _sensitive(md, diversity, closeness, ordered)
    if asked and matches == "wildcard":
        raise InputError(
            "diversity= and closeness= need every rare record to hide something itself; leave "
            "matches= out"
        )
    sets = _subsets(md, subsets, k)
    names = [name for name in md.roles.keys if any(name in chosen for chosen, _ in sets)]
    keys = md.keys(names)
    at = {name: q for q, name in enumerate(names)}
    group, labels = _strata(md, strata)
    every = md.keys()
    price = prices(every.names, every.sizes, importance, costs, keep)
    price = price[[every.names.index(name) for name in names]]
    conditions = tuple(
        Condition(tuple(sorted(at[name] for name in chosen)), _least(md, least))
        for chosen, least in sets
    )
    problem = Problem(keys, conditions, price, group)
    _large_enough(problem, labels)
    weights = md.weights()
    weights = np.ones(md.n) if weights is None else weights
    unproven = 0
    if matches == "wildcard":
        if threshold is not None:
            of = tuple(range(len(names)))
            more = Condition(of, needed(problem, of, weights, threshold))
            problem = Problem(keys, (*conditions, more), price, group)
        mask = fewest_values(problem, rounds, _order(md.table), progress)
    else:
        items, of = problem.items, range(len(names))
        criteria = [spread(items, of, one) for one in asked]
        if threshold is not None:
            criteria.append(at_most(items, of, weights, threshold))
        mask, unproven = hidden_by_record(problem, criteria, progress)
        mask = until_they_hold(problem, mask, asked)
    _verify(problem, mask, visible=matches == "visible" and not asked)
    suppressed = {name: int(mask[:, q].sum()) for name, q in at.items() if mask[:, q].any()}
    found = {
        "suppressed": suppressed,
        "values": int(mask.sum()),
        "records": int(mask.any(axis=1).sum()),
        "too_rare": 0 if matches == "visible" else too_rare(problem, mask),
    }
    if unproven:
        found["unproven"] = unproven
    told = {
        "importance": dict(importance) if isinstance(importance, Mapping) else importance,
        "subsets": None if subsets is None else [[list(chosen), least] for chosen, least in sets],
    }
    columns: dict[str, pa.ChunkedArray] = {}
    for name in suppressed:
        hidden = pa.array(mask[:, at[name]])
        for column in (name, *md.roles.followers.get(name, ())):
            before = columns.get(column, md.table_column(column))
            columns[column] = pc.if_else(hidden, pa.scalar(None, before.type), before)
    return md.after(columns, Step("local_suppression", told, found))


def _subsets(
    md: Microdata, subsets: Subsets | None, k: int | str
) -> list[tuple[tuple[str, ...], int | str]]:
    if subsets is None:
        return [(md.keys().names, k)]
    pairs = subsets.items() if isinstance(subsets, Mapping) else subsets
    made: list[tuple[tuple[str, ...], int | str]] = []
    for chosen, least in pairs:
        names = (chosen,) if isinstance(chosen, str) else tuple(chosen)
        unknown = [name for name in names if name not in md.roles.keys]
        if unknown or not names:
            raise InputError(
                f"subsets= names {unknown[0] if unknown else 'nothing'!r}, which is no key; the "
                f"keys are {', '.join(map(repr, md.roles.keys))}"
            )
        made.append((names, least))
    if not made:
        raise InputError("subsets= is empty; name sets of keys, or leave it out")
    return made


def _least(md: Microdata, k: int | str) -> NDArray[np.int64]:
    if isinstance(k, str):
        column = valued(md, k)
        if not pa.types.is_integer(column.type) or column.null_count:
            raise InputError(f"k={k!r} must be a column of whole numbers without missing values")
        least = column.to_numpy().astype(np.int64)
    else:
        least = np.full(md.n, k, dtype=np.int64)
    if least.min() < 1:
        raise InputError(f"k= must be at least 1, not {int(least.min())}")
    return least


def _strata(md: Microdata, names: Sequence[str] | None) -> tuple[NDArray[np.int64], list[str]]:
    """The stratum of each record, and what strata are called."""
    chosen = md.roles.strata if names is None else names
    columns = [md.coded(name) for name in chosen]
    if not columns:
        return np.zeros(md.n, dtype=np.int64), ["the file"]
    for column in columns:
        missing = np.flatnonzero(column.codes < 0)
        if len(missing):
            raise InputError(
                f"records without a stratum in {column.name!r}: {len(missing):,} (first in row "
                f"{missing[0] + 1}); give them one, or leave them out"
            )
    found = classes([c.codes for c in columns], [len(c.categories) for c in columns])
    labels = [
        "stratum "
        + ", ".join(
            f"{c.name}={c.categories[code].as_py()!r}" for c, code in zip(columns, row, strict=True)
        )
        for row in found.codes.tolist()
    ]
    return found.of.astype(np.int64), labels


def _large_enough(problem: Problem, labels: Sequence[str]) -> None:
    size = np.bincount(problem.group)
    for condition in problem.conditions:
        short = np.flatnonzero(condition.least > size[problem.group])
        if len(short):
            stratum = int(problem.group[short[0]])
            number = Count(size[stratum])
            raise ProtectionError(
                f"{labels[stratum]} has {number} {number:record|records}, so none can agree with "
                f"{int(condition.least[short[0]]):,}, itself included; lower k"
                + (" or combine small strata" if len(labels) > 1 else "")
            )


def _sensitive(
    md: Microdata,
    diversity: int | Mapping[str, int] | None,
    closeness: float | Mapping[str, float] | None,
    ordered: Sequence[str],
) -> list[Sensitive]:
    """What is asked of sensitive variables; a missing value is a value of its own, on no line."""
    made: list[Sensitive] = []
    for name, least in _by_variable(md, diversity, "diversity").items():
        values = md.coded(name).codes + np.int32(1)
        there = len(np.unique(values))
        if there < least:
            raise ProtectionError(
                f"{name!r} has {there:,} different {Count(there):value|values} in the whole file, "
                f"so nobody can be among {least:,}; ask for at most {there:,}"
            )
        made.append(Sensitive(name, values, distinct, lambda found, least=least: found >= least))
    distances = _by_variable(md, closeness, "closeness")
    for name in ordered:
        if name not in distances:
            raise InputError(f"ordered= names {name!r}, of which no closeness is asked")
    for name, most in distances.items():
        values, measure = md.coded(name).codes + np.int32(1), nominal
        if name in ordered:
            line = on_a_line(md, name)
            values, measure = line.numbers, partial(earth_mover, beside=line.beside)
        made.append(
            Sensitive(name, values, measure, lambda found, most=most: found <= most + _NEAR)
        )
    return made


def _by_variable(md: Microdata, given: Any, role: str) -> dict[str, Any]:
    """Sensitive variable → what is asked of it."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {str(name): value for name, value in given.items()}
    if not md.roles.sensitive:
        raise InputError(f"{role}= needs sensitive variables; name them in sensitive=")
    return {name: given for name in md.roles.sensitive}


def _verify(problem: Problem, mask: NDArray[np.bool_], visible: bool) -> None:
    """Count all records again before anything is handed out."""
    width = int(problem.group.max()) + 1
    group = Coded("", pa.nulls(width), problem.group.astype(np.int32))
    for rare in _rare(problem, mask, group, visible):
        if len(rare):
            raise ProofError(
                f"records that would still agree with too few others: {len(rare):,} (first in row "
                f"{rare[0] + 1}); nothing was suppressed"
            )


def _rare(
    problem: Problem, mask: NDArray[np.bool_], group: Coded, visible: bool
) -> Iterator[NDArray[np.intp]]:
    """For each condition the records that would agree with too few others."""
    for which, condition in enumerate(problem.conditions):
        if visible and len(condition.of) > LISTED_KEYS:
            # so many keys can be hidden in too many ways to compare these with each other; who
            # shares what is shown with enough original records agrees with as many in the end
            yield visibly_rare(problem, mask, which)
            continue
        shown = [problem.keys.columns[q].without(mask[:, q]) for q in condition.of]
        yield np.flatnonzero(frequencies(Keys((group, *shown))).sample < condition.least)


def _order(table: pa.Table) -> Order:
    """Sort records by all that they hold, equal ones as they come."""
    names = [
        field.name
        for field in table.schema
        if not pa.types.is_nested(field.type) and not pa.types.is_dictionary(field.type)
    ]

    def order(rows: NDArray[np.intp]) -> NDArray[np.intp]:
        if len(rows) < 2:
            return rows
        some = table.select(names).take(pa.array(rows)).append_column("", pa.array(rows))
        keys = [(name, "ascending") for name in [*names, ""]]
        return rows[pc.sort_indices(some, sort_keys=keys).to_numpy()]

    return order
