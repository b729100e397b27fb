"""The cell key method: values that are changed at random, the same cell always in the same way."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from diskret.attack import NoiseCertificate, Windows, certify_cell_key, certify_cell_key_sums
from diskret.cellkey import (
    Lookup,
    MagnitudeNoise,
    PerturbationTable,
    as_lookup,
    perturbed_counts,
    perturbed_sums,
    weighted_counts,
)
from diskret.errors import InputError
from diskret.parameters import Whole, reading
from diskret.protect.arguments import checked_tables
from diskret.protect.perturbed_result import PerturbedResult, noise_bound
from diskret.rules import Rule, Sensitivity
from diskret.tables import Noise, Published, Table
from diskret.tables.dimension import describe_some
from diskret.tables.named import named_cells, named_keys
from diskret.tables.perturbed import published_with
from diskret.texts.numbers import Count


@reading
def perturb(
    table: Table,
    ptable: PerturbationTable | Lookup | MagnitudeNoise,
    *,
    weighted_count: bool = False,
    rule: Rule | Sensitivity | None = None,
    threshold: Annotated[int, Whole(1)] | None = None,
    structural_zeros: Any = None,
    cell_keys: Any = None,
    measure: str | None = None,
    name: str | None = None,
) -> PerturbedResult:
    """Change counts or sums by the cell key method: the same contributors, the same noise.

    Noise depends on nothing but who is counted in a cell, through the sum of the record keys: a
    cell has the same published value in every table, with any filter that gives the same units,
    and whatever computes it. Totals are changed like all other cells, so tables are not additive.

    Parameters
    ----------
    table
        Made with ``tabulate(..., record_key=...)``. A frequency table counts units if
        ``unit=`` was given, and is then published as ``units``, else records; for sums choose a
        measure, ``table["turnover"]``.
    ptable
        A [`PerturbationTable`][diskret.PerturbationTable] or a [`Lookup`][diskret.Lookup] for
        counts, a [`MagnitudeNoise`][diskret.MagnitudeNoise] for sums.
    weighted_count
        The measure is a sum of weights, one for each counted record or unit, and `ptable` is for
        counts: published is the perturbed count times the mean weight, in whole numbers or in
        the unit of `Table.rounded`. Do not publish the counts beside it.
    rule
        Which sums are sensitive, and how far off the rule's own estimators have to be. Their noise
        is judged by it: each such cell gets as much as the rule asks for, or the constant
        `extra` of the `MagnitudeNoise`, and nothing is published if that is not enough.
    threshold
        Counts that are less than this after they were changed, zeros among them, are withheld.
    structural_zeros
        Cells that cannot hold records, as everybody knows: a frame with the code columns, one
        row a cell, or a bool array of the table's shape. They are shown as "nothing"; all other
        cells without records are shown as 0.
    cell_keys
        For a table that was tabulated elsewhere: a frame with the code columns and one column of
        cell keys, the sums of record keys modulo the modulus of the lookup. Cells without
        records need no key.
    measure
        The source column that keys of a sum are made of; None: the one that was tabulated, or of
        the columns that are proportional to it the first by name. The same name gives the same
        noise: name it where a column has been renamed since, or is another one in other units
        or with a surcharge, rounded. Case and blanks around it don't count.
    name
        Of the published table and its files; None: the measure's name.

    Returns
    -------
    PerturbedResult
        `known` gives a ledger the largest noise of counts. For sums and weighted counts it is
        None: how far they lie from the truth differs from cell to cell. So it is where units
        are in several cells, for their counts satisfy no equation.

    Raises
    ------
    InputError
        The table has no keys, or keys of another modulus; `ptable` is not for such a table; it
        needs more of the contributions than the table knows; a structural zero holds records; a
        cell with records has no key.
    ProofError
        A check of the published values failed, or the noise of a sensitive cell may be too small
        for `rule`; nothing can be published.

    References
    ----------
    Fraser and Wooton (2006), "A proposed method for confidentialising tabular output to protect
    against differencing". Giessing and Tent (2019), "Concepts for generalising tools implementing
    the cell key method to the case of continuous variables".

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret.protect.tabulate import tabulate
    >>> persons = pa.table({"region": ["N", "N", "N", "S"], "key": [9, 3, 6, 4]})
    >>> table = tabulate(persons, by={"region": None}, record_key="key", key_modulus=10)
    >>> one_up_or_down = PerturbationTable(
    ...     np.array([0, 1]), np.array([-1, 0, 1]), np.array([[0, 1, 0], [0.3, 0.4, 0.3]])
    ... )
    >>> perturb(table, one_up_or_down).public.to_pydict()["count"]
    [3, 4, 1]
    """
    checked_tables([table], "perturb")
    _check_kind(table, ptable, weighted_count)
    table = _with_keys(table, ptable, cell_keys)
    label = table.measure.name if name is None else name
    impossible = named_cells(table, structural_zeros, "structural_zeros")
    if measure is not None:
        table = _with_source(table, ptable, measure)
    if isinstance(ptable, MagnitudeNoise):
        if threshold is not None:
            raise InputError("threshold= is for counts, not for sums; leave it out")
        return _sums(table, ptable, _windows(table, ptable, rule), impossible, label)
    if rule is not None:
        raise InputError("rule= is for sums with extra protection; counts need no rule")
    return _counts(table, ptable, weighted_count, threshold, impossible, label)


def _counts(
    table: Table,
    noise: PerturbationTable | Lookup,
    weighted: bool,
    threshold: int | None,
    impossible: NDArray[np.bool_],
    name: str,
) -> PerturbedResult:
    lookup = as_lookup(noise, table.key_modulus)
    counted = _counted(table)
    if counted is None:
        raise InputError("the table does not know its counts; give count=")
    if not weighted:
        table = table.of_units()  # what is published, and what `cells` compares with
    value = perturbed_counts(counted, _keys(table), lookup)
    unit = 1
    if weighted:
        unit = table.rounding if table.rounding > 1 else 10**table.measure.decimals
        value = weighted_counts(counted, value, table.measure.sum, unit)
    least = None if threshold is None else threshold * 10**table.measure.decimals
    withheld = np.zeros(table.shape, dtype=bool) if least is None else value < least
    shown = _published(table, Noise(value, withheld, impossible), unit, name)
    certificate = certify_cell_key(
        table, shown, lookup, counted=counted, weighted=weighted, threshold=least
    )
    largest = int(np.abs(lookup.noise).max())
    settings = {
        "method": "cell_key",
        "changed": "weighted counts" if weighted else "counts",
        "counted": "units" if table.units is not None else "records",
        "threshold": threshold,
        **_described(table, impossible, lookup),
    }
    known = None if weighted else noise_bound(table, largest)
    return PerturbedResult(table, certificate, settings, known)


def _sums(
    table: Table,
    noise: MagnitudeNoise,
    windows: Windows | None,
    impossible: NDArray[np.bool_],
    name: str,
) -> PerturbedResult:
    tables = _Lookups.of(noise, table.key_modulus)
    number = _counted(table)
    judged = Windows.none(table.shape) if windows is None else windows
    value = perturbed_sums(
        table,
        number,
        tables.into(noise),
        judged.sensitive,
        table.rounding,
        above=judged.above,
        below=judged.below,
    )
    nowhere = np.zeros(table.shape, dtype=bool)
    shown = _published(table, Noise(value, nowhere, impossible), table.rounding, name)
    certificate: NoiseCertificate = certify_cell_key_sums(
        table,
        shown,
        noise,
        tables.all,
        number=number,
        windows=windows,
        small=tables.small,
        odd=tables.odd,
        counts=tables.counts,
    )
    settings = {
        "method": "cell_key",
        "changed": "sums",
        "of": noise.of,
        "scale": list(noise.scales),
        "flex_point": noise.flex_point,
        "flex_power": noise.flex_power,
        "shares": list(noise.shares),
        "extra": noise.extra,
        "risk": noise.risk,
        "keys": noise.keys,
        "own_keys": noise.own_keys,
        "source": table.measure.source or table.measure.name,
        "sensitive": int(judged.sensitive.sum()),
        **_described(table, impossible, tables.all),
        **({"small_cells": fingerprint(tables.small)} if tables.small else {}),
        **({"odd_cells": fingerprint(tables.odd)} if tables.odd else {}),
        **({"counts": fingerprint(tables.counts)} if tables.counts else {}),
    }
    return PerturbedResult(table, certificate, settings, None)


@dataclass(frozen=True, eq=False)
class _Lookups:
    """The tables of the noise of sums, for the keys of a table."""

    all: Lookup
    small: Lookup | None
    odd: Lookup | None
    counts: Lookup | None

    @classmethod
    def of(cls, noise: MagnitudeNoise, modulus: int) -> _Lookups:
        small, odd, counts = (
            None if one is None else as_lookup(one, modulus)
            for one in (noise.small, noise.odd, noise.counts)
        )
        return cls(as_lookup(noise.ptable, modulus), small, odd, counts)

    def into(self, noise: MagnitudeNoise) -> MagnitudeNoise:
        return replace(noise, ptable=self.all, small=self.small, odd=self.odd, counts=self.counts)


def fingerprint(lookup: Lookup) -> str:
    """SHA-256 of a lookup, 64 hex digits: the office sees which table was used. Confidential."""
    digest = hashlib.sha256(f"{lookup.modulus} {lookup.step} {lookup.reuse}".encode())
    for array in (lookup.counts, lookup.bounds, lookup.noise):
        digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
    return digest.hexdigest()


def _described(
    table: Table, impossible: NDArray[np.bool_], lookup: Lookup
) -> Mapping[str, int | str]:
    return {
        "structural_zeros": int(impossible.sum()),
        "key_modulus": table.key_modulus,
        "perturbation_table": fingerprint(lookup),
    }


def _published(table: Table, noise: Noise, unit: int, name: str) -> Published:
    shown = published_with(table, noise, name=name, changed="cell_key")
    return replace(shown, rounding=unit)


def _counted(table: Table) -> NDArray[np.int64] | None:
    """How many units a cell counts: that is whose keys are added up."""
    return table.count if table.units is None else table.units


def _keys(table: Table) -> NDArray[np.uint64]:
    if table.key_sum is None:
        raise InputError(
            "the table has no cell keys; tabulate with record_key=, the column of the record keys, "
            "or give cell_keys= for a table that was tabulated elsewhere"
        )
    return table.key_sum


def _with_keys(
    table: Table, noise: PerturbationTable | Lookup | MagnitudeNoise, cell_keys: Any
) -> Table:
    """The table with the keys that are given, or its own."""
    if cell_keys is None:
        _keys(table)
        return table
    if table.key_sum is not None:
        raise InputError("the table has cell keys of its own; leave cell_keys= out")
    ptable = noise.ptable if isinstance(noise, MagnitudeNoise) else noise
    modulus = ptable.modulus if isinstance(ptable, Lookup) else table.key_modulus
    key, there = named_keys(table, cell_keys, modulus)
    missing = np.flatnonzero(~there & ~table.empty)
    if len(missing):
        shown = describe_some(table.dimensions, missing)
        number = Count(len(missing))
        raise InputError(
            f"{number} {number:cell|cells} with records {number:has|have} no key in cell_keys=: "
            f"{shown}. Every cell needs one, totals too: the sum of the record keys of all its "
            "units"
        )
    return replace(table, key_sum=key, key_modulus=modulus)


def _with_source(
    table: Table, noise: PerturbationTable | Lookup | MagnitudeNoise, source: str
) -> Table:
    """The table whose measure has keys of this name."""
    if not isinstance(noise, MagnitudeNoise):
        raise InputError("measure= names what keys of sums are made of; counts need no name")
    if noise.keys == "cell":
        raise InputError(
            "measure= names what keys of a measure are made of, and with keys='cell' they are "
            "those of the cells; leave one of the two out"
        )
    if not source.strip():
        raise InputError("measure= is empty; give the name of the column that was summed")
    chosen = table.measure
    named = tuple(replace(m, source=source) if m is chosen else m for m in table.measures)
    return replace(table, measures=named)


def _windows(
    table: Table, noise: MagnitudeNoise, rule: Rule | Sensitivity | None
) -> Windows | None:
    """Which cells are sensitive, and what their noise must not be."""
    if rule is None:
        if noise.extra:
            raise InputError(
                "extra= is for sensitive cells, and rule= says which these are: give it as well, "
                "or leave extra= out"
            )
        return None
    found = rule if isinstance(rule, Sensitivity) else rule(table)
    return Windows(found.unsafe, found.noise_above, found.noise_below)


def _check_kind(table: Table, noise: Any, weighted: bool) -> None:
    """Refuse noise that is not for what the table publishes."""
    if not isinstance(noise, PerturbationTable | Lookup | MagnitudeNoise):
        raise InputError(
            "the noise is a dk.PerturbationTable or dk.Lookup for counts, or a dk.MagnitudeNoise "
            f"for sums, not an object of type {type(noise).__name__!r}"
        )
    sums = isinstance(noise, MagnitudeNoise)
    if table.frequency and (sums or weighted):
        what = "a MagnitudeNoise is" if sums else "weighted_count= is"
        raise InputError(
            f"the table publishes counts and {what} for sums; choose a measure, table[name]"
        )
    if weighted and (sums or not table.nonnegative):
        raise InputError(
            "weighted_count= is for a measure that adds up weights, all of them positive, with "
            "the perturbation table of counts"
        )
    if not table.frequency and not sums and not weighted:
        raise InputError(
            f"{table.measure.name!r} is a sum, and a perturbation table alone changes counts: give "
            "a dk.MagnitudeNoise, or weighted_count=True if it adds up weights; the counts are "
            'table["count"]'
        )
