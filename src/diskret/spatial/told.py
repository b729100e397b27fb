"""An unsafe sum that follows from published totals, and all of them with what is claimed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from diskret.spatial.before import NotTaken
from diskret.spatial.jointly import Extent
from diskret.spatial.pieces import REST
from diskret.texts import Words, words_in

_SHOWN = 3


@dataclass(frozen=True)
class Difference:
    """An unsafe sum that follows from published totals. Confidential.

    Parameters
    ----------
    terms
        Geography, area and factor of each total that is used; a negative factor: taken away. An
        area called ``""`` is the rest: everybody without the areas of the geography that are shown.
    pieces
        What is left, as combinations of areas, one for each of `geographies`. Of an earlier
        table with levels: of each the finest published code.
    geographies
        Whose totals are used.
    number
        How many records there are in these pieces; units where these are known.
    counted
        ``"records"`` or ``"units"``.
    rule
        Name of the rule that finds the sum unsafe.
    """

    terms: tuple[tuple[str, str, float], ...]
    pieces: tuple[tuple[str, ...], ...]
    geographies: tuple[str, ...]
    number: int
    counted: str
    rule: str

    def __str__(self) -> str:
        return self.said()

    def said(self, language: str = "en") -> str:
        """How it works, in a sentence, ``"en"`` or ``"de"``."""
        words = words_in(language, "spatial")
        added = named(words, [one for one in self.terms if one[2] > 0])
        taken = named(words, [one for one in self.terms if one[2] < 0])
        areas = words.said("without", added=added, taken=taken) if taken else added
        if self.rule != "minimum_frequency":
            return words.said("shares", areas=areas, number=self.number, rule=self.rule)
        return words.said(self.counted, areas=areas, number=self.number)

    @property
    def areas(self) -> frozenset[tuple[str, str]]:
        """Geography and code of all areas that it needs and that are published themselves."""
        return frozenset((name, code) for name, code, _ in self.terms if code != REST)


@dataclass(frozen=True)
class Differences:
    """Unsafe sums that follow from totals by several geographies. Confidential.

    Parameters
    ----------
    geographies
        Their names.
    found
        The sums, those of the fewest records or units first.
    complete
        Whether all was tried that totals of each two geographies tell.
    extent
        How far all was tried that three and more tell; None: there are two.
    of_sums
        Whether sums of values are published, else counts.
    earlier
        Tables of earlier releases that count as published, as ``release/table``.
    not_taken
        Those that say more than what was looked at, and why.
    """

    geographies: tuple[str, ...]
    found: tuple[Difference, ...]
    complete: bool
    extent: Extent | None
    of_sums: bool
    earlier: tuple[str, ...] = ()
    not_taken: tuple[NotTaken, ...] = ()

    @property
    def joint(self) -> bool | None:
        """Whether all was tried that three and more geographies tell; None: there are two."""
        return None if self.extent is None else self.extent.complete

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Any:
        return iter(self.found)

    def __str__(self) -> str:
        return self.summary()

    @property
    def table(self) -> pa.Table:
        """The sums as rows, with what is added and taken away."""
        return pa.table(
            {
                "number": [one.number for one in self.found],
                "rule": [one.rule for one in self.found],
                "areas": pa.array([len(one.terms) for one in self.found], pa.int64()),
                "added": [_listed(one, 1) for one in self.found],
                "taken": [_listed(one, -1) for one in self.found],
            }
        )

    def claim(self, language: str = "en") -> tuple[str, ...]:
        """What is claimed and what is not, in sentences, ``"en"`` or ``"de"``."""
        words = words_in(language, "spatial")
        said = [("sums" if self.of_sums else "counts") if self.complete else "open"]
        told = [words[f"claims.{one}"] for one in said]
        if self.extent is not None:
            how = "joint" if self.extent.complete else "joint open"
            told.append(words[f"claims.{how}"])
            told.append(words.said("extent.parts", areas=self.extent.areas))
            if self.extent.programmes:
                told.append(words.said("extent.programmes", number=self.extent.programmes))
            if self.extent.left:
                told.append(words.said("extent.left", number=self.extent.left))
        told.append(words["claims.map"])
        if self.earlier:
            told.append(words.said("earlier", tables=_some(words, self.earlier)))
        for why in dict.fromkeys(one.why for one in self.not_taken):
            tables = [one.table for one in self.not_taken if one.why == why]
            told.append(words.said(f"not_taken.{why}", tables=_some(words, tables)))
        return tuple(told)

    def summary(self, language: str = "en") -> str:
        """How many there are, the first ones, and what is claimed, in ``"en"`` or ``"de"``."""
        words = words_in(language, "spatial")
        names = ", ".join(self.geographies)
        lines = [words.said("summary", found=len(self.found), names=names)]
        lines += [f"  {one.said(language)}" for one in self.found[:_SHOWN]]
        if len(self.found) > _SHOWN:
            lines.append("  " + words.said("unlisted", count=len(self.found) - _SHOWN))
        return "\n".join([*lines, *self.claim(language)])


def named(words: Words, terms: Sequence[tuple[str, str, float]]) -> str:
    """Areas in words, those of one geography and factor together, some of many."""
    said = list[str]()
    for name, times in dict.fromkeys((name, abs(times)) for name, _, times in terms):
        codes = [code for own, code, factor in terms if (own, abs(factor)) == (name, times)]
        shown = [code for code in codes if code != REST]
        here = list[str]()
        if shown:
            here.append(words.said("areas", name=name, codes=_some(words, shown)))
        if len(shown) < len(codes):
            here.append(words.said("rest", name=name))
        text = _all(words, here)
        said.append(text if times == 1 else words.said("times", factor=f"{times:g}", areas=text))
    return _all(words, said)


def _some(words: Words, names: Sequence[str]) -> str:
    """The first of some names, and how many more."""
    text = ", ".join(names[:_SHOWN])
    more = len(names) - _SHOWN
    return words.said("more", codes=text, count=more) if more > 0 else text


def _all(words: Words, texts: Iterable[str]) -> str:
    joined = ""
    for text in texts:
        joined = words.said("and", first=joined, second=text) if joined else text
    return joined


def _listed(one: Difference, sign: int) -> list[str]:
    return [f"{name} {code}".strip() for name, code, times in one.terms if times * sign > 0]
