"""What an engine is asked and what it answers."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from diskret.hierarchy import Hierarchy
from diskret.population import EVERYBODY, Population


@dataclass(frozen=True)
class Mark:
    """Which records bear a mark.

    `column`: column that says so. `codes`: what is written there; None: a yes (``true`` or 1) in a
    column of yes and no, where nothing means no. `listed`: whether the records with one of the
    codes bear the mark, or all others.
    """

    column: str
    codes: tuple[str, ...] | None = None
    listed: bool = True


@dataclass(frozen=True, eq=False)
class LeafQuestion:
    """What to aggregate.

    `by`: column → code tree, or None for "flat, from the codes in the data" (the answer's
        `Leaves.by` then carries the tree that was found).
    `values`: measure column → decimals: values become integers in units of 10**-decimals.
    `round_values`: whether values with more decimals become the nearest, half a unit upwards.
    `unit`, `holding`, `record_key`: column names, or None. Without `unit` every record is a unit of
        its own. A null holding is its own holding.
    `largest`: how many of the largest |contributions| to keep for each leaf combination.
    `key_modulus`: record keys are integers in ``[0, key_modulus)``; key sums are reduced by it.
    `key_digits`: the column holds decimals in [0, 1) with at most so many digits, which become
        integers below the modulus ``10**key_digits``; None: it holds integers.
    `where`: which records count; the others are not looked at, whatever they hold.
    `weight`: column of sampling weights ≥ 1, or None. All sums are then weighted, in units of
        10**-(decimals + weight_decimals). A unit has one weight. Not together with marks.
    `weight_decimals`: weights become integers in units of 10**-weight_decimals.
    `marks`: name → mark on records. A contributor is marked where one of its records there is.
    `contributions`: whether to list who contributes what; only with `unit` or `holding`, and
        without weights.
    `most_listed`: records up to which that is done; None: however many there are.
    `totals`: column → code of the total of a flat tree; left out: "Total".
    """

    by: Mapping[str, Hierarchy | None]
    values: Mapping[str, int] = field(default_factory=dict[str, int])
    unit: str | None = None
    holding: str | None = None
    record_key: str | None = None
    largest: int = 0
    key_modulus: int = 2**32
    key_digits: int | None = None
    where: Population = EVERYBODY
    weight: str | None = None
    weight_decimals: int = 0
    marks: Mapping[str, Mark] = field(default_factory=dict[str, Mark])
    contributions: bool = False
    most_listed: int | None = None
    totals: Mapping[str, str] = field(default_factory=dict[str, str])
    round_values: bool = False

    @property
    def numbers(self) -> tuple[str | None, ...]:
        """The columns that are read as numbers."""
        return (*self.values, self.weight, self.record_key, *self.where.bounded)

    @property
    def told(self) -> tuple[str | None, ...]:
        """The columns that tell who contributes, and who said yes where no codes are named."""
        answers = (mark.column for mark in self.marks.values() if mark.codes is None)
        return (self.unit, self.holding, *answers)


@dataclass(frozen=True, eq=False)
class Straddlers:
    """Contributors (units or holdings) with records in more than one leaf combination.

    They cannot be rolled up by adding, so they are listed one by one, a row for each
    (contributor, leaf combination), sorted by both. ``rows`` below is their number.

    `contributor`: number of the contributor, 0 … , shape ``(rows,)``, int64.
    `leaf`: index into the rows of `Leaves`, shape ``(rows,)``, int64.
    `sums`: measure → exact scaled sum of the contributor there, ``(rows,)``, int64.
    `key`: the contributor's record key, ``(rows,)``, uint64, or None.
    `marked`: mark → number of the contributor's marked records there, ``(rows,)``, int64.
    `weight`: the contributor's weight, scaled, ``(rows,)``, int64; that of a holding is 1. None
        without weights.
    """

    contributor: NDArray[np.int64]
    leaf: NDArray[np.int64]
    sums: Mapping[str, NDArray[np.int64]]
    key: NDArray[np.uint64] | None = None
    marked: Mapping[str, NDArray[np.int64]] = field(default_factory=dict[str, NDArray[np.int64]])
    weight: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class Listed:
    """Who contributes what, a row for each leaf combination, unit and holding.

    `leaf`: index into the rows of `Leaves`, shape ``(rows,)``, int64; rows are sorted by it.
    `unit`, `holding`: who it is, ``(rows,)``, uint64, see `diskret.engines.leaves`; None if the
        column was not given. A null holding is that of the unit alone.
    `records`: number of records, ``(rows,)``, int64.
    `sums`: measure → exact scaled sum, ``(rows,)``, int64.
    `marked`: mark → number of marked records, ``(rows,)``, int64.
    """

    leaf: NDArray[np.int64]
    unit: NDArray[np.uint64] | None
    holding: NDArray[np.uint64] | None
    records: NDArray[np.int64]
    sums: Mapping[str, NDArray[np.int64]]
    marked: Mapping[str, NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Leaves:
    """The non-empty leaf combinations and what was counted there.

    Everything is exact. ``rows`` is the number of non-empty leaf combinations; they are
    sorted by `position`. *Stayers* are contributors that lie in a single leaf combination.

    `by`: column → code tree, all resolved.
    `position`: for each dimension the position of the leaf code in its tree, ``(rows, d)``, int32.
    `count`: number of records, ``(rows,)``, int64.
    `sums`: measure → scaled sum over all records, ``(rows,)``, int64.
    `magnitudes`: measure → Σ|contribution| of the stayers among the largest-relevant contributors
        (holdings if given, else units), ``(rows,)``, int64.
    `largest`: measure → the largest |contributions| of those stayers, descending, padded with 0,
        ``(rows, largest)``, int64. With weights: for a weight of 1, so that a unit's is its
        unweighted sum and a holding's its weighted sum, which stands for itself.
    `units`, `holdings`: number of stayers, ``(rows,)``, int64; None if the column was not given.
    `unit_straddlers`, `holding_straddlers`: the contributors that are not stayers; None if the
        column was not given.
    `key_sum`: sum of the record keys of the stayers among the units, modulo `key_modulus`,
        ``(rows,)``, uint64; None without a record key.
    `marked`: mark → number of marked records, ``(rows,)``, int64.
    `marked_largest`: mark → measure → the largest |contribution| of a marked stayer among the
        largest-relevant contributors, 0 if there is none, ``(rows,)``, int64. Their straddlers say
        which of them are marked.
    `weight_unit`: 10**weight_decimals, or None without weights.
    `largest_weight`: measure → the scaled weights of the contributors in `largest`, same shape;
        empty without weights.
    `listed`: who contributes what; None if that was not asked for, or every record is a contributor
        of its own.
    `sources`: measure → the column that noise of the cell key method is named after: of the columns
        of the records that are proportional to it, itself among them, the first by name. Empty
        without a record key.
    """

    by: Mapping[str, Hierarchy]
    position: NDArray[np.int32]
    count: NDArray[np.int64]
    sums: Mapping[str, NDArray[np.int64]]
    magnitudes: Mapping[str, NDArray[np.int64]]
    largest: Mapping[str, NDArray[np.int64]]
    units: NDArray[np.int64] | None = None
    holdings: NDArray[np.int64] | None = None
    unit_straddlers: Straddlers | None = None
    holding_straddlers: Straddlers | None = None
    key_sum: NDArray[np.uint64] | None = None
    marked: Mapping[str, NDArray[np.int64]] = field(default_factory=dict[str, NDArray[np.int64]])
    marked_largest: Mapping[str, Mapping[str, NDArray[np.int64]]] = field(
        default_factory=dict[str, Mapping[str, NDArray[np.int64]]]
    )
    weight_unit: int | None = None
    largest_weight: Mapping[str, NDArray[np.int64]] = field(
        default_factory=dict[str, NDArray[np.int64]]
    )
    listed: Listed | None = None
    sources: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, eq=False)
class PerturbedCounts:
    """Perturbed counts of all cells, totals included; nothing else has left the engine.

    `by`: column → code tree, all resolved. `position`: for each dimension the position of the code
    in its tree, ``(rows, d)``, int32; in no particular order. `value`: perturbed counts,
    ``(rows,)``, int64. Cells that are not there have 0, or less than the threshold that was asked
    for.
    """

    by: Mapping[str, Hierarchy]
    position: NDArray[np.int32]
    value: NDArray[np.int64]


#: Positions of cells in C order and what they show, both ``(rows,)``, int64.
PlacedValues = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class PerturbedBlocks:
    """The same block by block, while the engine is asked.

    `by`: column → code tree, all resolved. `values`: perturbed counts of all cells in C order,
    int64, so many at a time as were asked for; 0 in cells that are not there.
    """

    by: Mapping[str, Hierarchy]
    values: Iterator[NDArray[np.int64]]
