"""Tables that were published before, as geographies of the same records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io.columns import code_text, column, some
from diskret.population import EVERYBODY
from diskret.spatial.pieces import REST, Geography, Made, Records, areas_of, numbered
from diskret.tables import Earlier, KnownBefore, Published

#: What a ledger is asked for are tables that say something of one without any variable.
_NONE = np.zeros((), np.int64)
_NOWHERE = np.zeros((), bool)


@dataclass(frozen=True)
class NotTaken:
    """A table of an earlier release that says more than what was looked at.

    Parameters
    ----------
    table
        Release and table, as ``release/table``.
    why
        ``"column"``: none of its variables is a column of areas; ``"variables"``: only its totals
        by one variable were taken; ``"measure"``, ``"period"``, ``"population"``: it is of
        others; ``"values"``: its values are weighted, rounded or changed.
    """

    table: str
    why: str


@dataclass(frozen=True)
class Before:
    """What was published before of the records.

    release: of each geography that was published before, in words. taken, passed: the tables.
    """

    release: Mapping[str, str] = field(default_factory=dict[str, str])
    taken: tuple[str, ...] = ()
    passed: tuple[NotTaken, ...] = ()


@dataclass(frozen=True, eq=False)
class _Shown:
    """One variable of an earlier table, all others at their totals.

    of: release and table. value: shape (codes,), in whole units of 10**-decimals. known: shape
    (codes,), which of them are published.
    """

    of: str
    release: str
    name: str
    tree: Hierarchy
    value: NDArray[np.int64]
    decimals: int
    known: NDArray[np.bool_]


def with_earlier(
    records: Records,
    by: Sequence[str],
    ledger: KnownBefore | Published | Sequence[Published | Earlier] | None,
    about: tuple[str | None, int, str],
    used: Sequence[str | None],
) -> tuple[list[Geography], Before]:
    """The geographies of `by`, and those of earlier tables.

    Parameters
    ----------
    about
        What is published: the column of values (None: counts), its decimals, and the period.
    used
        Columns that are no areas.

    Raises
    ------
    InputError
        An earlier table contradicts the records.
    """
    value, decimals, vintage = about
    asked = Published(
        "new", (), value or "count", value is None, decimals, _NONE, _NOWHERE, _NOWHERE,
        vintage=vintage,
    )  # fmt: skip
    earlier = list[Published | Earlier]()
    if isinstance(ledger, Published):
        earlier.append(ledger)
    elif ledger is not None:
        earlier += ledger if isinstance(ledger, Sequence) else ledger.earlier([asked], ())
    columns = [name for name in records.table.column_names if name not in used]
    shown, passed = list[_Shown](), list[NotTaken]()
    for one in earlier:
        whole = one.published if isinstance(one, Earlier) else one
        of = one.name
        if why := _other(one, asked):
            passed.append(NotTaken(of, why))
            continue
        known = _known(whole)
        own = [at for at, d in enumerate(whole.dimensions) if d.name in columns]
        for at in own:
            index = tuple(slice(None) if i == at else 0 for i in range(len(whole.dimensions)))
            release = one.release if isinstance(one, Earlier) else whole.name
            d = whole.dimensions[at]
            value_of = known.value[index], whole.decimals, ~known.suppressed[index]
            shown.append(_Shown(of, release, d.name, d.hierarchy, *value_of))
        if not own:
            passed.append(NotTaken(of, "column"))
        elif len(whole.dimensions) > 1:
            passed.append(NotTaken(of, "variables"))
    made, release = _geographies(records, shown, decimals, by)
    taken = tuple(dict.fromkeys(one.of for one in shown))
    found = [made.pop(name, None) or areas_of(records.table, name) for name in by]
    return [*found, *made.values()], Before(release, taken, tuple(passed))


def check_named(before: Before, names: Sequence[str], parameter: str) -> None:
    """Refuse geographies that were published before.

    Raises
    ------
    InputError
        One of them is named.
    """
    for name in names:
        if name in before.release:
            raise InputError(
                f"{parameter} names {name!r}, which was published in {before.release[name]!r}: "
                "what is known of it cannot be changed any more; leave it out"
            )


def _other(one: Published | Earlier, asked: Published) -> str:
    """Why a table says nothing exact of the same sums; "" if it does."""
    table = one.published if isinstance(one, Earlier) else one
    changed = isinstance(one, Earlier) and (one.perturbed or one.weight is not None)
    if (table.measure, table.frequency) != (asked.measure, asked.frequency):
        return "measure"
    if table.vintage != asked.vintage:
        return "period"
    if table.where != EVERYBODY:
        return "population"
    return "values" if changed or table.changed or table.rounding != 1 else ""


def _known(table: Published) -> Published:
    """The table where cells whose intervals are single values are published."""
    if table.lower is None or table.upper is None:
        return table
    single = table.suppressed & (table.lower == table.upper)
    value = np.where(single, table.lower, table.value)
    return replace(
        table, value=value, suppressed=table.suppressed & ~single, lower=None, upper=None
    )


def _geographies(
    records: Records, shown: Sequence[_Shown], decimals: int, by: Sequence[str]
) -> tuple[dict[str, Geography], dict[str, str]]:
    """What tables of one variable and tree tell together, by name; the releases of each."""
    alike = dict[object, list[_Shown]]()
    for one in shown:
        members = tuple(sorted(one.tree.members.items()))
        key = one.name, one.tree.codes, one.tree.parent.tobytes(), members
        alike.setdefault(key, []).append(one)
    read = {one.name: _read(records, one.name) for one in shown}
    found, release = dict[str, Geography](), dict[str, str]()
    for group in alike.values():
        name, tree = group[0].name, group[0].tree
        texts, place = read[name]
        leaf = _leaf_of(tree, texts)
        for one in group:
            _check(records, one, leaf[place], decimals)
        at = np.unique(leaf)
        single = len(at) == len(leaf) and at[0] >= 0
        called = name
        if called in found or (called in by and not single):  # coarser than what is new
            called = f"{name} ({group[0].release})"
        if called in found:
            called = f"{name} ({group[0].of})"
        known = np.any([one.known for one in group], axis=0)
        found[called] = _areas(called, tree, known, leaf[place])
        release[called] = ", ".join(dict.fromkeys(one.release for one in group))
    return found, release


def _read(records: Records, name: str) -> tuple[list[str], NDArray[np.int64]]:
    """Different texts of a column, and which one each record has; the last is where none stands."""
    values = column(records.table, name)
    missing = values.is_null().to_numpy()
    texts, at = numbered(code_text(values.drop_null(), name))
    place = np.full(len(missing), len(texts))
    place[~missing] = at
    return [*texts, REST] if missing.any() else texts, place


def _leaf_of(tree: Hierarchy, texts: Sequence[str]) -> NDArray[np.int64]:
    """Position of the finest code of each text; −1: in none."""
    place = dict[str, int]()
    for at in tree.leaves.tolist():
        code = tree.codes[at]
        place |= dict.fromkeys(tree.members.get(code) or (code,), at)
    return np.array([place.get(text, -1) for text in texts], np.int64)


def _check(records: Records, one: _Shown, leaf: NDArray[np.int64], decimals: int) -> None:
    """Refuse records whose totals are not those that were published."""
    amount = records.number if records.amount is None else records.amount
    total = np.zeros(len(one.tree), np.int64)
    np.add.at(total, np.where(leaf < 0, 0, leaf), amount)
    level = one.tree.level
    for depth in range(int(level.max(initial=0)), 0, -1):
        here = np.flatnonzero(level == depth)
        np.add.at(total, one.tree.parent[here], total[here])
    own, records_decimals = one.decimals, 0 if records.amount is None else decimals
    most = max(own, records_decimals)
    differs = one.value * 10 ** (most - own) != total * 10 ** (most - records_decimals)
    wrong = np.flatnonzero(differs & one.known)
    if len(wrong):
        codes = [f"{one.name}={one.tree.codes[at]}" for at in wrong.tolist()]
        raise InputError(
            f"table {one.of!r}, which was published earlier, contradicts the records: "
            f"{some('cell', codes)} has another value there; give the records of that release, "
            "or vintage= of their own period"
        )


def _areas(
    name: str, tree: Hierarchy, known: NDArray[np.bool_], leaf: NDArray[np.int64]
) -> Geography:
    """The records by the finest published code that they are in, without those below it."""
    known = known.copy()
    known[0] = False  # everybody is known in any case, and is no area
    parent = tree.parent.astype(np.int64)
    nearest = _nearest(parent, known, np.arange(len(tree)))
    area = np.where(leaf < 0, -1, nearest[leaf])
    used, place = np.unique(area, return_inverse=True)
    shift = int(len(used) > 0 and used[0] < 0)
    codes = tuple(tree.codes[at] for at in used[shift:].tolist())
    place = np.where(place < shift, len(codes), place - shift)
    below = np.flatnonzero(known)
    above = _nearest(parent, known, parent[below])
    inside = dict[int, list[int]]()
    for at, over in zip(below.tolist(), above.tolist(), strict=True):
        inside.setdefault(over, []).append(at)
    made: Made = {
        tree.codes[at]: ((tree.codes[at], 1), *((tree.codes[i], -1) for i in inside[at]))
        for at in used[shift:].tolist()
        if at in inside
    }
    return Geography(name, (*codes, REST), place.astype(np.int64), made)


def _nearest(
    parent: NDArray[np.int64], known: NDArray[np.bool_], at: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The published code at or above each; −1: none."""
    at = at.copy()
    while (up := (at >= 0) & ~known[at]).any():
        at[up] = parent[at[up]]
    return at
