"""What certificates of changed values may say: every text that belongs to a method.

Which of these belongs to a release depends in part on what only the office knows, on whether a
rule was given, say. Any other text was put in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from diskret.attack import certify_changed as changed
from diskret.attack.cell_key_certificate import said
from diskret.attack.cell_key_sums_certificate import NO_DIFFERENCE
from diskret.attack.rounding_certificate import ADDITIVE, METHODS, claimed, not_claimed
from diskret.texts import Statement, in_languages

Texts = dict[str, list[str]]
_Pair = tuple[Sequence[Statement], Sequence[Statement]]


def may_say(family: str, shown: Mapping[str, Any]) -> Iterator[tuple[Texts, Texts]]:
    """Each pair of what is claimed and what is not, in all languages.

    Parameters
    ----------
    family
        One of `diskret.tables.CHANGES`.
    shown
        The figures that the certificate shows; none of the pairs belongs to others.

    Examples
    --------
    >>> claimed, not_claimed = next(may_say("adjustment", {"additive": True}))
    >>> len(claimed["en"]), len(not_claimed["de"])
    (2, 4)
    >>> list(may_say("adjustment", {}))
    []
    """
    for claims, others in _PAIRS[family](shown):
        yield in_languages(claims), in_languages(others)


def _rounded(shown: Mapping[str, Any]) -> Iterator[_Pair]:
    method, base = shown.get("method"), shown.get("base")
    of_method = {"method": method, "base": base, "additive": method in ADDITIVE}
    if method not in METHODS or not isinstance(base, int | float) or isinstance(base, bool):
        return
    if dict(shown) != of_method:
        return
    for examined, ruled, groups in product((True, False), repeat=3):
        yield (
            claimed(method, base, examined, ruled),
            not_claimed(method, examined, ruled, groups),
        )


def _adjusted(shown: Mapping[str, Any]) -> Iterator[_Pair]:
    if dict(shown) == {"additive": True}:
        yield changed.ADJUSTED, changed.NOT_OF_ADJUSTED


def _invariant(shown: Mapping[str, Any]) -> Iterator[_Pair]:
    if not shown:
        for first in (changed.SAME_VALUES, changed.SAME_ON_AVERAGE):
            yield (first, changed.SAME_IN_ALL), changed.NOT_OF_INVARIANT


def _with_cell_keys(shown: Mapping[str, Any]) -> Iterator[_Pair]:
    if dict(shown) == {"additive": True}:
        yield changed.MADE_ADDITIVE, changed.NOT_OF_ADDITIVE
    if shown:
        return
    for unseen, unbiased in product((True, False), repeat=2):
        yield said(unseen, unbiased)
    for unbiased in (True, False):
        yield said(False, unbiased, (NO_DIFFERENCE,))


_PAIRS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[_Pair]]] = {
    "rounding": _rounded,
    "adjustment": _adjusted,
    "invariant": _invariant,
    "cell_key": _with_cell_keys,
}
