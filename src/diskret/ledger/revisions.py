"""A revision beside the first delivery of the same period: together they must not tell more.

A revised value is another cell than the first one. But who has both deliveries sees where nothing
has changed, and takes that for granted in hidden cells, too: what the one hides and the other shows
is then known in both. So both are attacked together by somebody who knows *which* cells have been
revised: a cell is what it was first plus a correction, which is 0 where nothing changed and unknown
elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Attacker, Requirements
from diskret.attack.earlier_tables import read_beside
from diskret.errors import InputError
from diskret.io.from_json import read_json
from diskret.keys import SecretKeys
from diskret.ledger.check import WORK, CheckReport
from diskret.ledger.narrowed_cells import BrokenCell, JointAttack
from diskret.progress import Progress, silent
from diskret.protect.plan import publish_whole
from diskret.protect.result import Result
from diskret.publish.difference import last_delivery
from diskret.publish.digests import CERTIFICATE
from diskret.publish.read import public_folder
from diskret.publish.verify.internal import OfficeCells, check_fingerprint
from diskret.tables import NO_BOUND, NO_LEVELS, Earlier, MeasureSum, Published, Table
from diskret.tables.add_up import add_up, leaf_mask
from diskret.tables.difference import matched, transposed
from diskret.tables.published import Changed
from diskret.texts.numbers import Count

#: What is joined to the measure for the first values, and for what was corrected of them.
_FIRST, _CORRECTION = " (first delivery)", " (correction)"
_BASE, _BOTH = " (base)", " (with its base)"
#: How many times the largest count a base is, so that it bounds no correction.
_TIMES = 2


@dataclass(frozen=True, eq=False)
class First:
    """A table of the first delivery: what was shown, the true values then, and the levels.

    `original` has the shape of the table, in scaled units. Confidential but for `published`.
    """

    published: Published
    original: NDArray[np.int64]
    requirements: Requirements


@dataclass(frozen=True, eq=False)
class RevisionCheck:
    """What a revision and the first delivery tell together. Confidential.

    Parameters
    ----------
    report
        The cells of either that are known too closely.
    to_hide
        For each table that both deliveries have, in the order of the results, flat positions of
        cells: for each broken cell the cheapest of those of which one has to be hidden.
    hopeless
        Broken cells that nothing in the revision was found to protect.
    """

    report: CheckReport
    to_hide: tuple[NDArray[np.int64], ...]
    hopeless: tuple[BrokenCell, ...]


def first_delivery(
    folder: str | PathLike[str],
    published: Mapping[str, Published],
    keys: SecretKeys | None,
) -> dict[str, First]:
    """The tables of the first delivery with the office's files of them, by name.

    `published` are those tables as they were shown. `keys` confirm the true values; None: not
    confirmed. `InputError`: the office's files are not there; `VerificationError`: they are not
    those that were released.
    """
    public = public_folder(folder)
    internal = public.parent / "internal"
    if public.name != "public" or not internal.is_dir():
        raise InputError(
            f"{folder} does not hold the office's files of the first delivery (internal/); a "
            "revision is attacked together with what was hidden then, so name the whole folder of "
            "that release"
        )
    return {name: _first(public, internal, table, keys) for name, table in published.items()}


def unchanged(table: Table, first: First) -> NDArray[np.bool_]:
    """Cells of a revision that everybody knows from the first delivery, shape of the table.

    Hiding them protects nobody. Confidential.
    """
    shown = publish_whole(table, first.published.name)
    then, original = _tied(shown, first)
    return _still_shown(then, table.measure.sum - original)


def check_revision(
    results: Sequence[Result],
    previous: str | PathLike[str] | Mapping[str, First],
    *,
    keys: SecretKeys | str | PathLike[str] | None = None,
    limit: int | None = WORK,
    progress: Progress = silent,
) -> RevisionCheck:
    """Attack a revision together with the first delivery, as somebody who knows what was revised.

    Each cell that was hidden first must stay as uncertain as was required of it then, and what is
    hidden now as is required now. Attacked as the plain outsider; what contributors know of their
    own in both deliveries is not tried.

    Parameters
    ----------
    results
        The protected tables of the revision, all that were protected together.
    previous
        Folder of the first delivery, with ``public/`` and ``internal/``; tables are found there by
        their names, those that are not there are new.
    keys
        The office's keys, which confirm the true values of then; None: not confirmed.
    limit
        Largest amount of work to find out which cells to hide, see `Ledger.check`.
    progress
        Called with ``("attack", done, total)``.

    Raises
    ------
    InputError
        A table has other codes, another tree or other decimals than in the first delivery, or the
        office's files of it are missing.
    VerificationError
        They are not those that were released.

    Examples
    --------
    >>> import pyarrow as pa, tempfile, diskret as dk
    >>> def protect(vintage, firms):
    ...     cells = pa.table({"region": ["N", "Q", "W"], "firms": firms})
    ...     by, rule = {"region": None}, dk.rules.MinimumFrequency(3)
    ...     table = dk.Table.from_cells(cells, by=by, count="firms", vintage=vintage)
    ...     return dk.suppress(table, rule, name="firms")
    >>> keys = dk.SecretKeys(bytes(range(32)))
    >>> folder = Path(tempfile.mkdtemp()) / "2025"
    >>> _ = protect("2025", [8, 1, 5]).write(folder, ["csv"], keys=keys)
    >>> found = check_revision([protect("2025 revised", [8, 4, 5])], folder, keys=keys)
    >>> found.report.ok, found.report.lines()[1]
    (False, 'region=Q (firms, first delivery) would be known exactly, because of region=W (firms)')
    >>> found.to_hide  # W, the last of the total and three regions
    (array([3]),)
    """
    if isinstance(previous, Mapping):
        first = previous
    else:
        before = last_delivery(previous, [result.name for result in results])
        secret = None if keys is None else SecretKeys.load(keys, create=False)
        first = first_delivery(previous, before, secret)
    own = [result for result in results if result.name in first]
    new = [replace(result.remembered(""), unsafe=None) for result in own]
    earlier: list[Earlier] = []
    sums: dict[MeasureSum, None] = dict.fromkeys(total for one in new for total in one.sums)
    known: list[NDArray[np.bool_]] = []
    for result in own:
        then, original = _tied(result.published, first[result.name])
        change = result.table.measure.sum - original
        beside, totals = _corrected(result, then, original, change)
        earlier += [then, *beside]
        sums |= dict.fromkeys(totals)
        known.append(_still_shown(then, change).ravel())
    shown = [one.published for one in new]
    joint = JointAttack(read_beside(shown, tuple(sums), earlier), new, earlier, Attacker())
    broken = joint.broken(np.inf if limit is None else limit, progress=progress)
    starts = joint.publication.starts[: len(own) + 1]
    told = np.concatenate(known) if known else np.zeros(0, dtype=bool)
    # a secondary that was shown first and has not changed is known: it protects nobody, no more
    broken = [
        one
        for one in broken
        if one.primary or one.release or not (one.cells and told[one.cells[0]])
    ]
    hiding, hopeless = _remedies(broken, joint, told)
    chosen = np.array(sorted(hiding), dtype=np.int64)
    return RevisionCheck(
        CheckReport(tuple(result.name for result in own), joint.publication.beside, tuple(broken)),
        tuple(
            chosen[(chosen >= start) & (chosen < stop)] - start
            for start, stop in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
        ),
        tuple(hopeless),
    )


def _remedies(
    broken: Sequence[BrokenCell], joint: JointAttack, told: NDArray[np.bool_]
) -> tuple[set[int], list[BrokenCell]]:
    """Cells to hide, the cheapest of those to blame for each broken cell; and what cannot be."""
    value = np.abs(joint.original)
    hiding: set[int] = set()
    hopeless: list[BrokenCell] = []
    for one in broken:
        if one.already:
            continue
        blamed = [cell for cell in one.cells[1:] if not told[cell]]
        if not blamed:
            hopeless.append(one)
        elif not hiding & set(blamed):
            hiding.add(min(blamed, key=lambda cell: (value[cell], cell)))
    return hiding, hopeless


# ── the first delivery as tables that are tied to the revision ───────────────────────


def _still_shown(then: Earlier, change: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Cells that the first delivery shows exactly and that have not been revised."""
    exact = then.published.rounding == 1
    return (change == 0) & ~then.published.suppressed & exact


def _tied(now: Published, first: First) -> tuple[Earlier, NDArray[np.int64]]:
    """The first delivery in the order of the revision, as another measure of the same records.

    And its true values.
    """
    before = transposed(first.published, now)
    _check_alike(now, before)
    names = [d.name for d in first.published.dimensions]
    order = [names.index(d.name) for d in now.dimensions]
    number = np.arange(first.original.size).reshape(first.original.shape).transpose(order).ravel()
    then = number[matched(now, before)]  # positions in the first table, for each cell of now
    place = np.empty_like(then)
    place[then] = np.arange(len(then))
    needs = first.requirements
    by = np.argsort(place[needs.cell])
    parts = {
        part: getattr(first.published, part).ravel()[then].reshape(now.shape)
        for part in ("value", "suppressed", "empty")
    }
    shown = replace(
        before,
        name=now.name,
        dimensions=now.dimensions,
        measure=f"{now.measure}{_FIRST}",
        vintage=now.vintage,
        where=now.where,
        recorded=now.recorded,
        **parts,
    )
    levels = (side[by] for side in (place[needs.cell], needs.lower, needs.upper, needs.sliding))
    original = first.original.ravel()[then].reshape(now.shape)
    return Earlier("first delivery", shown, original, Requirements(*levels)), original


def _corrected(
    result: Result, then: Earlier, original: NDArray[np.int64], change: NDArray[np.int64]
) -> tuple[list[Earlier], list[MeasureSum]]:
    """Tables of what was corrected, with the sums that tie them to both deliveries.

    Sums: now = first + correction. A table of counts has no negative cell; there a known base, so
    much for each of the finest cells that no correction reaches it, is added on both sides:
    both = now + base = first + (correction + base).
    """
    measure, first = result.published.measure, then.published.measure
    shape, same = change.shape, change == 0
    if not result.published.frequency:
        bound = np.where(same, 0, NO_BOUND)
        correction = _auxiliary(then, _CORRECTION, measure, change, -bound, bound, signed=True)
        return [correction], [MeasureSum(measure, (first, correction.published.measure))]
    most = int(max(original.max(), result.table.measure.sum.max(), 1))
    dimensions = then.published.dimensions
    leaves = add_up(leaf_mask(dimensions).astype(np.int64), [d.hierarchy for d in dimensions])
    base = leaves * (_TIMES * most)
    everything = np.full(shape, NO_BOUND)
    nothing = np.zeros(shape, dtype=np.int64)
    tables = [
        _auxiliary(
            then, _CORRECTION, measure, change + base,
            np.where(same, base, 0), np.where(same, base, everything),
        ),
        _auxiliary(then, _BASE, measure, base, base, base),
        _auxiliary(then, _BOTH, measure, result.table.measure.sum + base, nothing, everything),
    ]  # fmt: skip
    correction, constant, both = (one.published.measure for one in tables)
    return tables, [MeasureSum(both, (measure, constant)), MeasureSum(both, (first, correction))]


def _auxiliary(
    then: Earlier,
    what: str,
    measure: str,
    value: NDArray[np.int64],
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    signed: bool = False,
) -> Earlier:
    """A table that nobody published, of which bounds are known and nothing is required."""
    nobody = replace(
        then.published.all_hidden(), measure=f"{measure}{what}", nonnegative=not signed, rounding=1
    )
    seen = replace(nobody, lower=lower, upper=upper, of_changed=Changed(nobody, told=True))
    return Earlier(what.strip(" ()"), seen, value, NO_LEVELS)


def _check_alike(now: Published, before: Published) -> None:
    if now.decimals != before.decimals:
        number = Count(now.decimals)
        raise InputError(
            f"table {now.name!r} has {number} {number:decimal|decimals}, in the first delivery it "
            f"had {before.decimals}; publish a revision with the same decimals"
        )
    for one, other in zip(now.dimensions, before.dimensions, strict=True):
        if one.hierarchy.above != other.hierarchy.above:
            raise InputError(
                f"table {now.name!r}: {one.name!r} has other codes or another tree than in the "
                "first delivery; a revision is of the same cells, so give both the same tree in "
                "[hierarchies], or deliver it as a new table"
            )


def _first(public: Path, internal: Path, table: Published, keys: SecretKeys | None) -> First:
    cells = OfficeCells.read(internal, table)
    value = cells.numbers(table.measure, table.decimals)
    counts = cells.counts()
    certificate = read_json(public / f"{table.name}{CERTIFICATE}")
    check_fingerprint(keys, table, counts, value, certificate)
    primary = np.flatnonzero(cells.texts("status") == "primary")
    levels = (
        cells.numbers(f"{side}_level", table.decimals)[primary]
        for side in ("lower", "upper", "sliding")
    )
    return First(table, value.reshape(table.shape), Requirements(primary, *levels))
