"""What totals by several geographies tell together: a district without grid cells, and the like."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io.columns import once
from diskret.rules import Rule
from diskret.spatial.before import Before, check_named, with_earlier
from diskret.spatial.closest import closest
from diskret.spatial.cuts import Cut, small_cuts
from diskret.spatial.jointly import Extent, Singled, closest_jointly, fewest_jointly
from diskret.spatial.limits import Share, judging
from diskret.spatial.pieces import Pieces, check_two, cut, read_records
from diskret.spatial.told import Difference, Differences
from diskret.tables import Earlier, KnownBefore, Published


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
    ledger: KnownBefore | Published | Sequence[Published | Earlier] | None = None,
    vintage: str = "",
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
    ledger
        What was published before of the same records: a [`Ledger`][diskret.Ledger], or tables of
        an earlier release, e.g. from [`Published.read`][diskret.Published.read]. Tables of the
        same counts or values by a column of the records are geographies, too, as they were
        published: suppressed areas are hidden. Of codes in levels each is known without the
        published ones below it; of tables by several variables the totals by one are used. Beside
        such a table one column of `by` is enough; a column of `by` that was published counts as
        it was then.
    vintage
        Period and revision of the records, as of [`tabulate`][diskret.tabulate]; earlier tables of
        other ones are not of these records.

    Returns
    -------
    Differences
        What is unsafe, how it is computed, and what is claimed. Areas that are unsafe by
        themselves are among it.

    Raises
    ------
    InputError
        A column is not there or cannot be read, a rule cannot judge what is published, or the
        records are not those of an earlier table.

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
    pieces, before = beside_earlier(
        records, once(by, "by"), ledger, vintage, count, value, unit, decimals, hidden
    )
    return beside(differences_of(pieces, threshold, limits, value is not None), before)


def beside_earlier(
    records: Any,
    names: tuple[str, ...],
    ledger: KnownBefore | Published | Sequence[Published | Earlier] | None,
    vintage: str,
    count: str | None,
    value: str | None,
    unit: str | None,
    decimals: int,
    hidden: Mapping[str, Collection[str]] | None = None,
) -> tuple[Pieces, Before]:
    """What new geographies and those of earlier tables cut each other into."""
    if ledger is None:
        check_two(names)
    read = read_records(records, count, value, unit, decimals)
    geographies, before = with_earlier(
        read, names, ledger, (value, decimals, vintage), (count, value, unit)
    )
    if len(geographies) < 2:
        raise InputError(
            "by must name two columns of areas or more, one for each geography; no earlier table "
            "of the same records by another column was given or is in the ledger"
        )
    check_named(before, tuple(hidden or ()), "hidden=")
    return cut(read, geographies, hidden), before


def beside(found: Differences, before: Before) -> Differences:
    """The same with what it says of earlier releases."""
    return replace(found, earlier=before.taken, not_taken=before.passed)


def differences_of(
    pieces: Pieces, threshold: int, limits: Mapping[str, Share], of_sums: bool
) -> Differences:
    """The same of pieces and limits, see `diskret.spatial.limits`."""
    told, complete, extent = list[Difference](), True, None
    for pair in combinations(range(len(pieces.names)), 2):
        some = pieces.of(pair) if len(pieces.names) > 2 else pieces
        found, finished = _of_two(some, threshold, limits, of_sums)
        told += found
        complete &= finished
    if len(pieces.names) > 2:
        found, extent = _together(pieces, threshold, limits, of_sums)
        told += found
    told = list({(one.terms, one.rule): one for one in told}.values())
    told.sort(key=lambda one: (one.number, len(one.terms), one.terms))
    return Differences(pieces.names, tuple(told), complete, extent, of_sums)


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
) -> tuple[list[Difference], Extent]:
    told, extent = list[Difference](), Extent()
    if threshold:
        few, extent = fewest_jointly(pieces, threshold, of_sums)
        told += [_singled(pieces, one, "minimum_frequency") for one in few]
    for name, limit in limits.items():
        found, reached = closest_jointly(pieces, limit)
        told += [_singled(pieces, one, name) for one in found]
        extent = extent.beside(reached)
    return told, extent


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
    sums = dict[tuple[str, str], float]()
    for at, area, times in zip(which.tolist(), areas.tolist(), factor.tolist(), strict=True):
        name, code = pieces.names[at], pieces.codes[at][area - ends[at]]
        for total, own in pieces.made.get(name, {}).get(code, ((code, 1),)):
            sums[name, total] = sums.get((name, total), 0.0) + own * float(times)
    terms = tuple((*total, times) for total, times in sums.items() if times)
    combined = tuple(
        tuple(codes[at] for codes, at in zip(pieces.codes, place, strict=True))
        for place in pieces.place[those].tolist()
    )
    counted = "units" if len(pieces.unit) else "records"
    used = tuple(dict.fromkeys(name for name, _, _ in terms))
    return Difference(terms, combined, pieces.names if combined else used, number, counted, rule)
