"""Which areas to hide, as few as possible, so that totals by several geographies tell of nobody."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import ProofError
from diskret.io.columns import once
from diskret.rules import Rule
from diskret.spatial.before import check_named
from diskret.spatial.choice import Choice
from diskret.spatial.differences import beside, beside_earlier, differences_of
from diskret.spatial.fewest import fewest
from diskret.spatial.limits import Share, judging
from diskret.spatial.pieces import Pieces, hidden_of, no_geography
from diskret.spatial.told import Differences, named
from diskret.tables import Earlier, KnownBefore, Published
from diskret.texts import words_in

_ROUNDS = 100


@dataclass(frozen=True)
class Repair:
    """Areas to hide, and what is told when they are hidden. Confidential.

    Parameters
    ----------
    hidden
        Geography → areas, also those that were hidden before.
    bound
        No fewer areas are enough; 0 if nothing was shown.
    left
        What totals still tell: nothing that is unsafe, and what is claimed of it.
    """

    hidden: Mapping[str, tuple[str, ...]]
    bound: int
    left: Differences

    @property
    def number(self) -> int:
        """How many areas are hidden."""
        return sum(map(len, self.hidden.values()))

    @property
    def fewest(self) -> bool:
        """Whether no fewer areas are enough."""
        return self.number <= self.bound

    def __str__(self) -> str:
        return self.summary()

    def summary(self, language: str = "en") -> str:
        """What to hide, whether it is the least, and what is claimed, in ``"en"`` or ``"de"``."""
        words = words_in(language, "spatial")
        terms = [(name, code, 1.0) for name, own in self.hidden.items() for code in own]
        how = "fewest" if self.fewest else "at least" if self.bound else "no bound"
        hide = words.said("hide", number=self.number, areas=named(words, terms)).rstrip(" :")
        proof = words.said(f"bounds.{how}", bound=self.bound)
        return "\n".join([f"{hide}. {proof}", *self.left.claim(language)])


def repair(
    records: Any,
    by: Sequence[str],
    rule: Rule,
    *,
    new: Collection[str] | None = None,
    count: str | None = None,
    value: str | None = None,
    unit: str | None = None,
    decimals: int = 0,
    hidden: Mapping[str, Collection[str]] | None = None,
    ledger: KnownBefore | Published | Sequence[Published | Earlier] | None = None,
    vintage: str = "",
) -> Repair:
    """Find the fewest areas to hide so that nothing unsafe can be computed from the others.

    For maps of any size. What is found is that no unsafe sum can be *computed*; how far hidden
    values may be estimated is not looked at. [`suppress`][diskret.suppress] does that too, keeps
    the levels that rules ask for, and proves it, for tables of usual size.

    Each unsafe sum has to be taken from those who compute it: a hidden area on either side of it,
    so that the rest that totals tell cannot be divided there. Which areas do so for all sums is a
    programme in whole numbers; what they leave is searched again, until nothing is left.

    Parameters
    ----------
    records, by, rule, count, value, unit, decimals, ledger, vintage
        As for [`differences`][diskret.spatial.differences].
    new
        Geographies whose areas may be hidden; those of others are published already. None: all of
        `by` that no earlier table was published of.
    hidden
        Geography → areas that are hidden in any case.

    Returns
    -------
    Repair
        What to hide, whether it is the least, and the search that found nothing any more.

    Raises
    ------
    InputError
        As of `differences`; `new` names no geography, or one that was published before.
    ProtectionError
        No areas can be hidden that keep an unsafe sum secret; it is named.
    ProofError
        The search was ended before all was tried.

    Examples
    --------
    >>> import diskret as dk
    >>> import pyarrow as pa
    >>> pieces = pa.table(
    ...     {
    ...         "district": ["A"] * 3 + ["B"] * 2,
    ...         "cell": ["1", "2", "3", "3", "4"],
    ...         "persons": [50, 47, 3, 60, 20],
    ...     }
    ... )
    >>> few = dk.rules.MinimumFrequency(4)
    >>> by = ["district", "cell"]
    >>> found = dk.spatial.repair(pieces, by, few, new=["cell"], count="persons")
    >>> found.hidden, found.fewest, len(found.left)
    ({'cell': ('1', '3')}, True, 0)
    """
    names = once(by, "by")
    asked = () if new is None else once(new, "new")
    threshold, limits = judging(rule, value is not None)
    base, before = beside_earlier(records, names, ledger, vintage, count, value, unit, decimals)
    check_named(before, asked, "new=")
    check_named(before, tuple(hidden or ()), "hidden=")
    wrong = [name for name in asked if name not in names]
    if wrong:
        raise no_geography("new=", wrong[0])
    open_ = [name for name in names if name not in before.release] if new is None else asked
    choice = Choice(base, [name in open_ for name in base.names], hidden_of(base, hidden or {}))
    out, bound, (left,) = hidden_together([choice], threshold, limits, value is not None)
    return Repair(named_areas(base, out), bound, beside(left, before))


def hidden_together(
    choices: Sequence[Choice], threshold: int, limits: Mapping[str, Share], of_sums: bool
) -> tuple[list[NDArray[np.bool_]], int, list[Differences]]:
    """The fewest areas to hide in each of some maps with the same areas.

    Returns which areas of each geography, how few there can be, and what is left in each map.
    """
    out, bound = choices[0].fixed, 0
    for _ in range(_ROUNDS):
        asked = [choice.ask(out, threshold, limits, of_sums) for choice in choices]
        if not any(asked):
            seen = [choice.base.hiding(out)[0] for choice in choices]
            left = [differences_of(own, threshold, limits, of_sums) for own in seen]
            if not any(map(len, left)):
                return out, bound, left
            for choice, told in zip(choices, left, strict=True):
                choice.ask_jointly(told.found, out)
        out, bound = fewest(choices)
    raise ProofError("what is to be hidden was not found in the number of rounds allowed")


def named_areas(base: Pieces, out: Sequence[NDArray[np.bool_]]) -> dict[str, tuple[str, ...]]:
    """The codes of areas, by geography."""
    return {
        name: tuple(codes[i] for i in np.flatnonzero(own).tolist())
        for name, codes, own in zip(base.names, base.codes, out, strict=True)
        if own.any()
    }
