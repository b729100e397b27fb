"""The counts of a family of cells, with noise that only equal sets of records share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.cellkey import Lookup, perturbed_counts
from diskret.engines import LeafQuestion
from diskret.engines.engine import Engine
from diskret.hierarchy import Hierarchy
from diskret.keys import SecretKeys
from diskret.keys.numbers import keyed_numbers
from diskret.serve.data import DataSet
from diskret.serve.measures import Summed, shown_sums
from diskret.serve.question import Family

#: Of the keys that noise is looked up by.
MODULUS = 2**32
_PURPOSE = "noise of cells that are tabulated in real time"


@dataclass(frozen=True, eq=False)
class Counted:
    """Cells of a family that hold records. Confidential.

    `cell`: their numbers in C order, codes sorted; `count`, `key_sum`: records and the sum of their
    keys; shapes ``(rows,)``. `summed`: of the family's measure, if it has one.
    """

    cell: NDArray[np.int64]
    count: NDArray[np.int64]
    key_sum: NDArray[np.uint64]
    summed: Summed | None = None


def shape_of(family: Family, data: DataSet) -> tuple[int, ...]:
    """How many codes each variable has."""
    return tuple(
        len(data.variable[name].level(family.level(name)).codes) for name in family.variables
    )


def counted(family: Family, data: DataSet, engine: Engine) -> Counted:
    """Ask the engine for the true counts, key sums and sums of a family."""
    measure = data.measure[family.measure] if family.measure else None
    where = dict(family.where)
    names = (*family.variables, *where) or (data.variables[0].name,)
    question = LeafQuestion(
        by={name: flat_tree(data.variable[name].codes) for name in names},
        record_key=data.record_key,
        key_modulus=data.key_modulus,
        values={} if measure is None else {measure.column: measure.decimals},
        largest=0 if measure is None else 1,
    )
    found = engine.leaves(question)
    # the total of a flat tree is its first code, the others are sorted
    place = dict(zip(names, found.position.T.astype(np.int64) - 1, strict=True))
    kept = np.ones(len(found.count), dtype=bool)
    for name, codes in where.items():
        kept &= np.isin(np.array(data.variable[name].codes, dtype=object), codes)[place[name]]
    cell = np.zeros(int(kept.sum()), dtype=np.int64)
    for name in family.variables:
        level = data.variable[name].level(family.level(name))
        cell = cell * len(level.codes) + level.group[place[name][kept]]
    keys = np.zeros(0, dtype=np.uint64) if found.key_sum is None else found.key_sum
    own, at = np.unique(cell, return_inverse=True)

    def added(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        total = np.zeros(len(own), dtype=np.int64)
        np.add.at(total, at, numbers[kept])
        return total

    key_sum = _keys_together(at, len(own), keys[kept], data.key_modulus)
    if measure is None:
        return Counted(own, added(found.count), key_sum)
    largest = np.zeros(len(own), dtype=np.int64)
    np.maximum.at(largest, at, found.largest[measure.column][kept, 0])
    total, size = (added(part[measure.column]) for part in (found.sums, found.magnitudes))
    summed = Summed(total, largest, size, found.sources[measure.column])
    return Counted(own, added(found.count), key_sum, summed)


def _keys_together(
    at: NDArray[np.int64], number: int, keys: NDArray[np.uint64], modulus: int
) -> NDArray[np.uint64]:
    """Add up the keys of what lies in the same cell."""
    # halves of keys, so that no sum leaves 64 bits
    halves = [np.zeros(number, dtype=np.uint64) for _ in range(2)]
    np.add.at(halves[0], at, keys >> np.uint64(32))
    np.add.at(halves[1], at, keys & np.uint64(2**32 - 1))
    sums = (halves[0].astype(object) * 2**32 + halves[1].astype(object)) % modulus
    return sums.astype(np.uint64)


def flat_tree(codes: tuple[str, ...]) -> Hierarchy:
    """Codes below a total that is none of them."""
    total = "Total"
    while total in codes:
        total += "_"
    return Hierarchy.flat(codes, total)


def noise_keys(key_sum: NDArray[np.uint64], keys: SecretKeys) -> NDArray[np.uint64]:
    """Keys of cells that are independent even where one cell is the sum of others.

    The sum of record keys says which records a cell holds, and a keyed function of it chooses the
    noise. So equal sets have equal noise, and of different sets the keys are independent; the sums
    themselves are not, see decision 98.
    """
    return keyed_numbers(keys, _PURPOSE, key_sum) % np.uint64(MODULUS)


def shown_counts(
    found: Counted, family: Family, data: DataSet, lookup: Lookup, keys: SecretKeys
) -> NDArray[np.int64]:
    """What is shown of all cells of a family, in its shape; 0 stays 0."""
    shown = np.zeros(shape_of(family, data), dtype=np.int64)
    key = noise_keys(found.key_sum, keys)
    shown.ravel()[found.cell] = perturbed_counts(found.count, key, lookup)
    return shown


def impossible(family: Family, data: DataSet) -> NDArray[np.bool_]:
    """The cells that no record can be in, in the shape of the family.

    A coarser code is impossible if all codes below it are.
    """
    shape = shape_of(family, data)
    found = np.zeros(shape, dtype=bool)
    where = dict(family.where)
    for combination in data.impossible:
        own = np.ones(shape, dtype=bool)
        for name, codes in combination.items():
            variable = data.variable[name]
            leaves = variable.leaves(codes)
            if name in family.variables:
                axis = family.variables.index(name)
                level = variable.level(family.level(name))
                mask = np.ones(len(level.codes), dtype=bool)
                mask[level.group[~np.isin(np.array(variable.codes, dtype=object), leaves)]] = False
                own &= np.expand_dims(mask, tuple(i for i in range(len(shape)) if i != axis))
            elif not {*where.get(name, variable.codes)} <= {*leaves}:
                own &= False
        found |= own
    return found


def shown_totals(
    found: Counted, family: Family, data: DataSet, counts: NDArray[np.int64], keys: SecretKeys
) -> NDArray[np.int64]:
    """Shown sums of all cells of a family, in its shape; 0 where the shown count is 0."""
    shown = np.zeros(shape_of(family, data), dtype=np.int64)
    if found.summed is not None:
        own = shown_sums(found.summed, found.key_sum, data.measure[family.measure], keys)
        shown.ravel()[found.cell] = own
    return np.where(counts == 0, 0, shown)
