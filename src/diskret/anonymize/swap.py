"""The verb for swapping: records exchange values."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.anonymize.variables import chance, chosen, numbered, profiles_of, with_followers
from diskret.anonymize.verb import Step, verb
from diskret.errors import InputError
from diskret.io.columns import some
from diskret.microdata.categories import texts
from diskret.microdata.swap import partners
from diskret.parameters import Column, Probability, Seed, Whole
from diskret.risk import frequencies
from diskret.risk.keys import Classes, grouped

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

#: So many strata, or rows of records, are listed at most.
_LISTED = 100


@verb()
def swap(
    md: Microdata,
    variables: str | Iterable[str],
    *,
    seed: Seed,
    probability: Probability | Column = 0.05,
    within: str | Iterable[str] | None = None,
    ranges: Mapping[str, Any] | None = None,
    together: bool = True,
    targets: Annotated[int, Whole(2)] | Column | None = None,
    similar: Iterable[str | Sequence[str]] = (),
) -> Microdata:
    """Exchange values between records, in pairs within strata.

    How often each value, or combination of exchanged values, occurs in a stratum stays exactly
    as it was; how it goes together with other variables changes. Equal values are not
    exchanged: a record that has a partner gets other values.

    Parameters
    ----------
    md
        The microdata.
    variables
        Variables of any type that are exchanged. Those that tell the same in more detail
        (`followers`) go with them. A record in which one of them is missing does not take part.
    seed
        Of the draws; secret like a key. Same seed, same file in the same order: same result.
        Draws follow from the values exchanged, too: another edition and a second call draw anew.
    probability
        Of a record to be exchanged, from 0 to 1; or a column with the probability of each record. A
        bit less comes out where more than half of a stratum have the same value. A record with
        probability 0 is exchanged only as partner of a target.
    within
        Variables; records in which all of them agree are a stratum, and nothing is
        exchanged between strata. Missing is a category of its own. None: the strata of the
        microdata; ``[]``: none.
    ranges
        Variable → its values that take part: a list of categories, or ``{"from": low, "to": high}``
        for numbers, both included, one of which may be left out. Records with other values or
        none stay as they are.
    together
        Exchange all values of two records, so that combinations of the variables stay. False:
        variable by variable, with partners of its own for each.
    targets
        Records that are exchanged in any case: those whose combination of keys fewer than so
        many records have (see `Microdata.risk`); or a logical column.
    similar
        Variables in which partners agree as far as possible; who finds no such partner takes
        one from the whole stratum. Several lists of variables are tried one after another.

    Returns
    -------
    Microdata
        With the variables exchanged; their type stays.

    Raises
    ------
    InputError
        A variable is missing or there twice, is exchanged and divides the records, or nobody
        can take part.

    Notes
    -----
    Step of the history, for each variable (or for all together): ``exchanged`` records and their
    ``rate`` among those that take part, and both by stratum (of more than 100 those with the lowest
    rates). ``risky`` records, and of these those ``not_exchanged`` because nobody in their stratum
    has other values, with their first rows. Who exchanged with whom is written nowhere; the
    office can compare with `Microdata.original`.

    Weighted distributions stay only if records with equal weights are exchanged. Regions of single
    persons of a household are no use: the household would live in two places.

    References
    ----------
    T. Dalenius and S. P. Reiss (1982), "Data-swapping: a technique for disclosure control",
    Journal of Statistical Planning and Inference 6; A. Hundepool et al., Statistical Disclosure
    Control (Wiley 2012), section 3.5.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret import Microdata
    >>> persons = pa.table({"area": ["A", "A", "B", "B"] * 50, "sex": ["f", "m"] * 100})
    >>> md = Microdata(persons, keys=["area", "sex"])
    >>> made = md.swap("area", probability=0.1, within="sex", seed=1)
    >>> made.frame["area"].value_counts().to_pylist()
    [{'values': 'A', 'counts': 100}, {'values': 'B', 'counts': 100}]
    >>> made.history[0].found["area"]["exchanged"]
    20
    """
    names = list(chosen(md, variables))
    strata = list(md.roles.strata if within is None else within)
    profiles = profiles_of(similar)
    _check(md, names, strata, profiles)
    allowed, outside = _allowed(md, ranges or {})
    likely = _chance(md, probability)
    risky = _risky(md, targets)
    divided = md.keys(strata).classes if strata else None
    whole = np.zeros(md.n, dtype=np.intp) if divided is None else divided.of
    levels = [_within(md, whole, one) for one in profiles] + [whole]
    columns: dict[str, pa.ChunkedArray] = {}
    found: dict[str, Any] = {"outside": outside} if ranges else {}
    for part_names in [names] if together else [[name] for name in names]:
        carried = with_followers(md, part_names)
        values, there = numbered([md.table_column(name) for name in part_names])
        part = there & allowed
        if not part.any():
            raise InputError(
                f"no record can exchange {some('variable', part_names)}: values are missing or "
                "outside ranges="
            )
        rng = chance(md, "swap", seed, part_names)
        source = partners(values, levels, likely, risky, part, rng)
        moved = source != np.arange(md.n)
        columns |= {name: md.table_column(name).take(pa.array(source)) for name in carried}
        found[" x ".join(part_names)] = {
            "missing": int((~there).sum()),
            **_rates(moved, part, whole),
            "by_stratum": _by_stratum(md, strata, divided, moved, part),
            **({} if targets is None else _left(risky, moved)),
        }
    told: dict[str, Any] = {"similar": profiles}
    if ranges is not None:
        told["ranges"] = {name: _plain(one) for name, one in ranges.items()}
    return md.after(columns, Step("swap", told, found))


# ── what is asked for ───────────────────────────────────────────────────────────────


def _check(
    md: Microdata,
    names: Sequence[str],
    strata: Sequence[str],
    profiles: Sequence[Sequence[str]],
) -> None:
    moving = with_followers(md, names)
    both = [name for name in (*strata, *(n for one in profiles for n in one)) if name in moving]
    if both:
        raise InputError(
            f"{some('column', both)} cannot be exchanged and divide the records at the same time; "
            "leave it out of within= and similar=, or of variables="
        )


def _no_range(name: str, asked: Any) -> InputError:
    return InputError(
        f"ranges= of {name!r} must be a list of categories or {{'from': …, 'to': …}}, not {asked!r}"
    )


def _allowed(md: Microdata, ranges: Mapping[str, Any]) -> tuple[NDArray[np.bool_], dict[str, int]]:
    """The records that `ranges` let take part, and how many each of them excludes."""
    allowed = np.ones(md.n, dtype=bool)
    outside: dict[str, int] = {}
    for name, asked in ranges.items():
        if isinstance(asked, Mapping):
            if not asked or set(asked) - {"from", "to"}:
                raise _no_range(name, asked)
            number = md.numbers([name])[:, 0]
            inside = (number >= asked.get("from", -np.inf)) & (number <= asked.get("to", np.inf))
        elif isinstance(asked, str) or not isinstance(asked, Iterable):
            raise _no_range(name, asked)
        else:
            column = md.coded(name)
            named = set(texts(pa.array(list(asked))))
            takes_part = [text in named for text in texts(column.categories)]
            inside = np.array([*takes_part, False])[column.codes]
        outside[name] = int((~inside).sum())
        allowed &= inside
    return allowed, outside


def _plain(asked: Any) -> Any:
    return dict(asked) if isinstance(asked, Mapping) else list(asked)


def _chance(md: Microdata, probability: float | str) -> NDArray[np.float64]:
    if isinstance(probability, str):
        chance = md.numbers([probability])[:, 0]
        wrong = np.flatnonzero(~((chance >= 0) & (chance <= 1)))
        if len(wrong):
            raise InputError(
                f"{len(wrong):,} probabilities in {probability!r} are missing or not between 0 "
                f"and 1 (first in row {wrong[0] + 1})"
            )
        return chance
    return np.full(md.n, float(probability))


def _risky(md: Microdata, targets: int | str | None) -> NDArray[np.bool_]:
    if targets is None:
        return np.zeros(md.n, dtype=bool)
    if isinstance(targets, str):
        column = md.table_column(targets)
        if not pa.types.is_boolean(column.type) or column.null_count:
            raise InputError(
                f"targets= names {targets!r}, which must be a logical column without missing values"
            )
        return column.to_numpy().astype(bool)
    return frequencies(md.keys()).sample < targets


def _within(md: Microdata, whole: NDArray[np.intp], names: Sequence[str]) -> NDArray[np.intp]:
    """Groups of records of the same stratum that agree in further variables."""
    further = [md.coded(name) for name in names]
    size = int(whole.max()) + 1
    codes = [whole.astype(np.int32), *(one.codes for one in further)]
    return grouped(codes, [size, *(len(one.categories) for one in further)])[0]


# ── what was done ───────────────────────────────────────────────────────────────────


def _rates(
    moved: NDArray[np.bool_], part: NDArray[np.bool_], strata: NDArray[np.intp]
) -> dict[str, Any]:
    still = np.bincount(strata[part]) > 0
    exchanging = np.bincount(strata[moved], minlength=len(still)) > 0
    return {
        "records": int(part.sum()),
        "exchanged": int(moved.sum()),
        "rate": float(moved.sum() / part.sum()),
        "strata": int(still.sum()),
        "strata_without": int((still & ~exchanging).sum()),
    }


def _by_stratum(
    md: Microdata,
    names: Sequence[str],
    strata: Classes | None,
    moved: NDArray[np.bool_],
    part: NDArray[np.bool_],
) -> list[dict[str, Any]]:
    """How many records each stratum exchanged; if there are many, those with the lowest rates."""
    if strata is None:
        return []
    records = np.bincount(strata.of[part], minlength=len(strata.count))
    exchanged = np.bincount(strata.of[moved], minlength=len(strata.count))
    rate = exchanged / np.maximum(records, 1)
    shown = np.flatnonzero(records)
    if len(shown) > _LISTED:
        shown = np.sort(shown[np.argsort(rate[shown], kind="stable")[:_LISTED]])
    categories = [[*texts(md.coded(name).categories), None] for name in names]
    return [
        {
            "stratum": [one[code] for one, code in zip(categories, strata.codes[at], strict=True)],
            "records": int(records[at]),
            "exchanged": int(exchanged[at]),
            "rate": float(rate[at]),
        }
        for at in shown.tolist()
    ]


def _left(risky: NDArray[np.bool_], moved: NDArray[np.bool_]) -> dict[str, Any]:
    left = np.flatnonzero(risky & ~moved)
    return {
        "risky": int(risky.sum()),
        "not_exchanged": len(left),
        "rows_not_exchanged": (left[:_LISTED] + 1).tolist(),
    }
