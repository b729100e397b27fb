"""From the codes in the records to leaf numbers, and from leaf numbers to positions.

A combination of leaves has one number, in mixed radix: the last dimension runs fastest, so
numbers ascend in the lexicographic order of positions.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Sequence
from math import prod

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.engines.columns import INT64, counted
from diskret.engines.contract import Mark
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.codes import as_code, padded, some
from diskret.io.record_errors import CodesError, RecordError
from diskret.texts.numbers import Count

#: A column with more distinct codes than this is no classifying variable.
MOST_CODES = 1_000_000
#: So many cells of a grid are there at most: all of 100 m in a large country.
MOST_CELLS = 50_000_000


def resolve(
    name: str, found: pa.Table, hierarchy: Hierarchy | None, total: str = "Total"
) -> Hierarchy:
    """Check the codes of a column against its tree, or make a flat tree of them.

    `found`: columns ``raw`` (a row for each distinct value, text or whole numbers) and ``records``
    (how many records have it). `hierarchy`: the tree, or None for "flat, from the codes in the
    data". Of cells of a grid ``code`` says the ids beside their numbers.
    """
    refuse_too_many(name, found)
    records: dict[str, int] = {}
    for code, count in zip(_codes(found), found["records"].to_pylist(), strict=True):
        records[code] = records.get(code, 0) + count
    if blank := records.get("", 0):
        raise RecordError(
            lambda _: (
                f"{counted(blank)}: no code in column {name!r}; write it in each row, "
                'give a code of its own, e.g. "unknown", or leave such records out'
            ),
            (name, ()),
        )
    if hierarchy is None:
        return _flat(name, records, total)
    leaves = _leaf_number(hierarchy)
    unknown = [code for code in records if code not in hierarchy.position]
    if unknown:
        hint = padded(unknown, hierarchy.codes)
        raise CodesError(
            lambda _: (
                f"{_told(name, records, unknown)} not in the hierarchy; {hint}add them to it or "
                "correct the records"
            ),
            (name, unknown),
        )
    inner = [code for code in records if code not in leaves]
    if inner:
        raise CodesError(
            lambda _: (
                f"{_told(name, records, inner)} with further codes below them; records belong to "
                'the lowest level, so give these a code of their own there, e.g. "other"'
            ),
            (name, inner),
        )
    return hierarchy


def refuse_too_many(name: str, found: pa.Table) -> None:
    """Refuse a column that has a code for nearly every record."""
    if len(found) > (MOST_CELLS if "code" in found.column_names else MOST_CODES):
        raise InputError(
            f"column {name!r} has more than {MOST_CODES:,} different codes, so it classifies "
            "nothing; is it the right column?"
        )


def mappings(found: Sequence[pa.Table], hierarchies: Sequence[Hierarchy]) -> list[pa.Table]:
    """What each distinct value adds to the number of the combination of leaves.

    Gives for each dimension the columns ``raw`` and ``leaf``, the leaf's number times the weight of
    its dimension; int32 where that suffices.
    """
    sizes = _sizes(hierarchies)
    if prod(sizes) > INT64:
        raise InputError(
            f"the table has {' × '.join(f'{n:,}' for n in sizes)} combinations of codes, more "
            "than can be numbered; take fewer dimensions"
        )
    number_type = np.int32 if prod(sizes) < 2**31 else np.int64
    tables: list[pa.Table] = []
    for axis, (table, hierarchy) in enumerate(zip(found, hierarchies, strict=True)):
        leaves = _leaf_number(hierarchy)
        weight = prod(sizes[axis + 1 :])
        numbers = np.array([leaves[code] * weight for code in _codes(table)], dtype=number_type)
        tables.append(pa.table({"raw": table["raw"], "leaf": pa.array(numbers)}))
    return tables


def positions(leaf: NDArray[np.int64], hierarchies: Sequence[Hierarchy]) -> NDArray[np.int32]:
    """Positions of the leaf codes in their trees, shape ``(len(leaf), d)``."""
    found = np.empty((len(leaf), len(hierarchies)), dtype=np.int32)
    sizes = _sizes(hierarchies)
    for axis, hierarchy in enumerate(hierarchies):
        number = leaf // prod(sizes[axis + 1 :]) % sizes[axis]
        found[:, axis] = hierarchy.leaves[number]
    return found


def _codes(found: pa.Table) -> list[str]:
    if "code" in found.column_names:
        return found["code"].to_pylist()
    return [as_code(value) or "" for value in found["raw"].to_pylist()]


def _leaf_number(hierarchy: Hierarchy) -> dict[str, int]:
    return {hierarchy.codes[p]: i for i, p in enumerate(hierarchy.leaves.tolist())}


def _sizes(hierarchies: Sequence[Hierarchy]) -> list[int]:
    return [len(hierarchy.leaves) for hierarchy in hierarchies]


def _flat(name: str, codes: dict[str, int], total: str) -> Hierarchy:
    if total in codes:
        raise RecordError(
            lambda _: (
                f"column {name!r} holds the code {total!r}, which would be mistaken for the total; "
                "leave these records out if they are totals, or give the total another code: "
                f'total={{{name!r}: "All"}}'
            ),
            (name, [total]),
        )
    return Hierarchy.flat(codes, total)


def _told(name: str, records: dict[str, int], codes: list[str]) -> str:
    number = sum(records[code] for code in codes)
    examples = some([repr(code) for code in sorted(codes)])
    many = Count(len(codes))
    return f"{counted(number)}: {many} {many:code|codes} in column {name!r} ({examples})"


# ── codes that a filter or a mark asks for

_YES, _NO = ("true", "1"), ("false", "0", "")


def spellings_of_codes(name: str, found: pa.Table, codes: tuple[str, ...]) -> pa.Table:
    """The distinct values of a column that are spellings of codes, e.g. with blanks around.

    `found`: column ``raw`` with a row for each distinct value, text or whole numbers. Gives the
    columns ``raw`` and ``leaf``, which is 0.
    """
    read = _codes(found)
    missing = [code for code in codes if code not in read]
    if missing:
        there = sorted({code for code in read if code})
        near = difflib.get_close_matches(missing[0], there, 1, 0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"it holds {some([*map(repr, there)])}"
        problem = (
            f"where=: column {name!r} holds no record with {some([*map(repr, missing)])}; {hint}"
        )
        if len(missing) == len(codes):
            raise InputError(problem)
        warnings.warn(problem, stacklevel=2)
    mask = pa.array([code in codes for code in read], pa.bool_())
    raw = found["raw"].filter(mask)
    return pa.table({"raw": raw, "leaf": pa.array([0] * len(raw), pa.int32())})


def spellings_of_mark(mark: Mark, found: pa.Table) -> pa.Table:
    """The distinct values of a mark's column that are spellings of its codes.

    `found`: columns ``raw`` (a row for each distinct value) and ``records`` (how many have it).
    Gives the columns ``raw`` and ``leaf``, which is 0.
    """
    read = [as_code(value) or "" for value in found["raw"].to_pylist()]
    if mark.codes is None:
        _refuse_neither(mark.column, read, found["records"].to_pylist())
    wanted = [
        code.lower() in _YES if mark.codes is None else code != "" and code in mark.codes
        for code in read
    ]
    raw = found["raw"].filter(pa.array(wanted, pa.bool_()))
    return pa.table({"raw": raw, "leaf": pa.array([0] * len(raw), pa.int32())})


def _refuse_neither(name: str, read: list[str], records: list[int]) -> None:
    strange = {
        code: count
        for code, count in zip(read, records, strict=True)
        if code.lower() not in (*_YES, *_NO)
    }
    if strange:
        examples = some([repr(code) for code in sorted(strange)])
        raise RecordError(
            lambda _: (
                f"{counted(sum(strange.values()))}: neither yes (true, 1) nor no (false, 0, "
                f"nothing) in column {name!r} ({examples}); say which codes mean yes: "
                f"{{{name!r}: [codes]}}"
            ),
            (name, [*strange]),
        )
