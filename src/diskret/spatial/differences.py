"""What totals by several geographies tell together: a district without grid cells, and the like."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.rules import Rule
from diskret.spatial.closest import closest
from diskret.spatial.cuts import Cut, small_cuts
from diskret.spatial.jointly import Singled, closest_jointly, fewest_jointly
from diskret.spatial.limits import Share, judging
from diskret.spatial.pieces import REST, Pieces, pieces_of
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
        What is left, as combinations of areas, one for each of `geographies`.
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
    joint
        Whether all was tried that three and more tell; None: there are two.
    of_sums
        Whether sums of values are published, else counts.
    """

    geographies: tuple[str, ...]
    found: tuple[Difference, ...]
    complete: bool
    joint: bool | None
    of_sums: bool

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
        if self.joint is not None:
            said.append("joint" if self.joint else "joint open")
        return tuple(words[f"claims.{one}"] for one in (*said, "map"))

    def summary(self, language: str = "en") -> str:
        """How many there are, the first ones, and what is claimed, in ``"en"`` or ``"de"``."""
        words = words_in(language, "spatial")
        names = ", ".join(self.geographies)
        lines = [words.said("summary", found=len(self.found), names=names)]
        lines += [f"  {one.said(language)}" for one in self.found[:_SHOWN]]
        if len(self.found) > _SHOWN:
            lines.append("  " + words.said("unlisted", count=len(self.found) - _SHOWN))
        return "\n".join([*lines, *self.claim(language)])


def differences(
    records: Any,
    by: Sequence[str],
    rule: Rule,
    *,
    count: str | None = None,
    value: str | None = None,
    unit: str | None = None,
    decimals: int = 0,
    hidden: Mapping[str, Collection[str]] | None = None,
) -> Differences:
    """Find what totals by several geographies tell of few persons or of single firms.

    Each geography is published by itself: persons by municipality, persons by grid cell. A map
    tells how their areas lie in each other, and so what is left of a municipality without the
    cells inside of it, of cells without the municipality that they cover, and of any union of
    areas without others.

    For two geographies all such sums are found, however many areas they take: the areas are
    the nodes of a graph, each inhabited piece joins the two areas in which it lies, and what
    totals tell of few are its small cuts (counts), or the smallest cut through a firm's piece, a
    largest flow (sums). For three and more each two are looked at in this way, and then all
    together, by a search in whole numbers, where there are not too many areas.

    Parameters
    ----------
    records
        Any frame that [`tabulate`][diskret.tabulate] takes into memory, or the path of a file:
        single records, or what was counted by all geographies at once.
    by
        Columns of areas, one for each geography, two or more. A record may be in no area:
        nothing stands there.
    rule
        What is unsafe: [`MinimumFrequency`][diskret.rules.MinimumFrequency], and of sums
        [`PPercent`][diskret.rules.PPercent], [`PQ`][diskret.rules.PQ] or
        [`Dominance`][diskret.rules.Dominance]; several joined with ``|``. Those who contribute
        are counted and ranked by unit.
    count
        Column with numbers of records that were counted before.
    value
        Column whose sums are published; None: counts are.
    unit
        Column of persons, households or firms, each of which counts once, however many records it
        has; None: each record.
    decimals
        How many decimals values have.
    hidden
        Geography → areas that are not published. All those of one geography together
        are taken to be known, as everybody without the others, and so are records in no area.

    Returns
    -------
    Differences
        What is unsafe, how it is computed, and what is claimed. Areas that are unsafe by
        themselves are among it.

    Raises
    ------
    InputError
        A column is not there or cannot be read, or a rule cannot judge what is published.

    References
    ----------
    V. Costemalle (2019), Detecting geographical differencing problems in the context of spatial
    data dissemination, Statistical Journal of the IAOS 35 (on unions of zones and grid cells).

    Examples
    --------
    >>> import diskret as dk
    >>> import pyarrow as pa
    >>> pieces = pa.table(
    ...     {
    ...         "district": ["A"] * 3 + ["B"],
    ...         "cell": ["1", "2", "3", "3"],
    ...         "persons": [50, 47, 3, 60],
    ...     }
    ... )
    >>> few = dk.rules.MinimumFrequency(4)
    >>> found = dk.spatial.differences(pieces, ["district", "cell"], few, count="persons")
    >>> for one in found:
    ...     print(one)
    cell 3 without district B: 3 records
    """
    threshold, limits = judging(rule, value is not None)
    pieces = pieces_of(
        records, by, count=count, value=value, unit=unit, decimals=decimals, hidden=hidden
    )
    return differences_of(pieces, threshold, limits, value is not None)


def differences_of(
    pieces: Pieces, threshold: int, limits: Mapping[str, Share], of_sums: bool
) -> Differences:
    """The same of pieces and limits, see `diskret.spatial.limits`."""
    told, complete, joint = list[Difference](), True, None
    for pair in combinations(range(len(pieces.names)), 2):
        some = pieces.of(pair) if len(pieces.names) > 2 else pieces
        found, finished = _of_two(some, threshold, limits, of_sums)
        told += found
        complete &= finished
    if len(pieces.names) > 2:
        found, joint = _together(pieces, threshold, limits, of_sums)
        told += found
    told = list({(one.terms, one.rule): one for one in told}.values())
    told.sort(key=lambda one: (one.number, len(one.terms), one.terms))
    return Differences(pieces.names, tuple(told), complete, joint, of_sums)


def _of_two(
    pieces: Pieces, threshold: int, limits: Mapping[str, Share], of_sums: bool
) -> tuple[list[Difference], bool]:
    cuts, complete = cuts_of(pieces, threshold, limits, of_sums)
    return [in_words(pieces, cut, rule) for rule, cut in cuts], complete


def cuts_of(
    pieces: Pieces, threshold: int, limits: Mapping[str, Share], of_sums: bool
) -> tuple[list[tuple[str, Cut]], bool]:
    """All that totals of two geographies tell, with the rule that says so; whether it is all."""
    told, complete = list[tuple[str, Cut]](), True
    if threshold:
        cuts, complete = small_cuts(pieces, threshold, of_sums)
        few = [cut for cut in cuts if pieces.units(cut.pieces) < threshold]
        told += [("minimum_frequency", cut) for cut in few]
    for name, limit in limits.items():
        cuts, finished = closest(pieces, limit)
        told += [(name, cut) for cut in cuts]
        complete &= finished
    return told, complete


def _together(
    pieces: Pieces, threshold: int, limits: Mapping[str, Share], of_sums: bool
) -> tuple[list[Difference], bool]:
    told, complete = list[Difference](), True
    if threshold:
        few, complete = fewest_jointly(pieces, threshold, of_sums)
        told += [_singled(pieces, one, "minimum_frequency") for one in few]
    for name, limit in limits.items():
        found, finished = closest_jointly(pieces, limit)
        told += [_singled(pieces, one, name) for one in found]
        complete &= finished
    return told, complete


def in_words(pieces: Pieces, cut: Cut, rule: str) -> Difference:
    """A cut: areas of one geography on its side without those of the other one."""
    first = len(pieces.codes[0])
    own = np.isin(pieces.place[cut.pieces, 0], cut.areas[cut.areas < first])
    factor = np.where(cut.areas < first, 1.0, -1.0) * (1 if own.any() else -1)
    number = pieces.units(cut.pieces)
    return _difference(pieces, cut.pieces, cut.areas, factor, number, rule)


def _singled(pieces: Pieces, one: Singled, rule: str) -> Difference:
    number = pieces.units(one.pieces)
    return _difference(pieces, one.pieces, one.areas, one.factor, number, rule)


def _difference(
    pieces: Pieces,
    those: NDArray[np.int64],
    areas: NDArray[np.int64],
    factor: NDArray[np.float64],
    number: int,
    rule: str,
) -> Difference:
    ends = np.cumsum([0, *(len(codes) for codes in pieces.codes)])
    which = np.searchsorted(ends, areas, side="right") - 1
    terms = tuple(
        (pieces.names[at], pieces.codes[at][area - ends[at]], float(times))
        for at, area, times in zip(which.tolist(), areas.tolist(), factor.tolist(), strict=True)
    )
    combined = tuple(
        tuple(codes[at] for codes, at in zip(pieces.codes, place, strict=True))
        for place in pieces.place[those].tolist()
    )
    counted = "units" if len(pieces.unit) else "records"
    used = tuple(dict.fromkeys(name for name, _, _ in terms))
    return Difference(terms, combined, pieces.names if combined else used, number, counted, rule)


def named(words: Words, terms: Sequence[tuple[str, str, float]]) -> str:
    """Areas in words, those of one geography and factor together, some of many."""
    said = list[str]()
    for name, times in dict.fromkeys((name, abs(times)) for name, _, times in terms):
        codes = [code for own, code, factor in terms if (own, abs(factor)) == (name, times)]
        shown = [code for code in codes if code != REST]
        here = list[str]()
        if shown:
            text = ", ".join(shown[:_SHOWN])
            if len(shown) > _SHOWN:
                text = words.said("more", codes=text, count=len(shown) - _SHOWN)
            here.append(words.said("areas", name=name, codes=text))
        if len(shown) < len(codes):
            here.append(words.said("rest", name=name))
        text = _all(words, here)
        said.append(text if times == 1 else words.said("times", factor=f"{times:g}", areas=text))
    return _all(words, said)


def _all(words: Words, texts: Iterable[str]) -> str:
    joined = ""
    for text in texts:
        joined = words.said("and", first=joined, second=text) if joined else text
    return joined


def _listed(one: Difference, sign: int) -> list[str]:
    return [f"{name} {code}".strip() for name, code, times in one.terms if times * sign > 0]
