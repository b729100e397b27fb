"""A set of tables with noise that keeps the distribution of their values exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from diskret.attack.certify_changed import certify_invariant
from diskret.cellkey import (
    PerturbationTable,
    controlled_noise,
    least_bias_table,
    value_frequencies,
)
from diskret.errors import InputError
from diskret.parameters import Number, Whole, reading
from diskret.protect.arguments import checked_tables
from diskret.protect.linked import default_names, of_each
from diskret.protect.perturbed_result import PerturbedResult, noise_bound
from diskret.system import definitions
from diskret.tables import Noise, Table
from diskret.tables.perturbed import published_with

#: From the frequencies of the values 0, 1, … to the noise.
Construction = Callable[[NDArray[np.int64]], PerturbationTable]


@reading
def perturb_invariant(
    tables: Sequence[Table],
    *,
    largest: Annotated[int, Whole(1)],
    max_noise: Annotated[int, Whole(1)] = 3,
    most_stay: Annotated[float, Number(low=0, below=1)] = 0.5,
    construction: Construction | None = None,
    exact: bool = True,
    name: Sequence[str] | None = None,
) -> list[PerturbedResult]:
    """Perturb the counts of a set of tables so that no value gets rarer or more frequent.

    The invariant method of Shlomo and Young (2008), driven by cell keys, which decide which cells
    change. A cell that stands in several of the tables gets the
    same value in all of them; tables of another set, or of another time, may show another one.

    Parameters
    ----------
    tables
        Frequency tables made with ``tabulate(..., record_key=...)``, from the same records.
    largest
        Values above this are left alone.
    max_noise, most_stay
        See [`least_bias_table`][diskret.cellkey.least_bias_table].
    construction
        Makes the noise from the frequencies instead, e.g.
        ``lambda t: two_step_table(t, max_noise=4)``.
    exact
        Whether each value occurs exactly as often as before: as many cells change from one value
        to another as the table demands, those with the smallest keys. Otherwise each cell looks
        its noise up by its key, and frequencies hold on average.
    name
        Names of the published tables; by default their measures.

    Returns
    -------
    list of PerturbedResult
        One for each table.

    Raises
    ------
    InputError
        A table holds sums, has no cell keys or keys of another modulus, is of other records than
        the rest, or no noise exists for these frequencies.
    ProofError
        A claim does not hold.

    References
    ----------
    See [`two_step_table`][diskret.cellkey.two_step_table].

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret.protect.tabulate import tabulate
    >>> codes, numbers = list("abcdefgh"), np.arange(30)
    >>> records = pa.table({"x": [codes[i % 8] for i in numbers**2 % 29], "key": numbers * 97 % 64})
    >>> table = tabulate(records, by={"x": None}, record_key="key", key_modulus=64)
    >>> (result,) = perturb_invariant([table], largest=9)
    >>> sorted(result.published.value[1:]) == sorted(table.count[1:])
    True
    """
    given = checked_tables(
        tables if isinstance(tables, Table) else list(tables), "perturb_invariant"
    )
    counted = [_counted(table) for table in given]
    names = default_names(counted, name)
    if len({table.key_modulus for table in counted}) > 1:
        raise InputError("the tables have cell keys of different moduli; these cannot be mixed")
    vintages = sorted({table.vintage for table in counted})
    if len(vintages) > 1:
        raise InputError(
            f"the tables are of different vintages: {', '.join(map(repr, vintages))}; the same "
            "noise in two of them would cancel out of their difference; perturb those of each on "
            "their own"
        )
    cell = definitions(counted)
    _, first, same = np.unique(
        np.concatenate([own.ravel() for own in cell]), return_index=True, return_inverse=True
    )
    counts = np.concatenate([table.measure.sum.ravel() for table in counted])
    keys = np.concatenate([_keys(table).ravel() for table in counted])
    count, key = counts[first], keys[first]
    if ((counts != count[same.ravel()]) | (keys != key[same.ravel()])).any():
        raise InputError(
            "a cell that several tables share has another count or key in one of them, so they "
            "are not made from the same records; perturb those of the same records together"
        )
    frequencies = value_frequencies([count], largest)
    if construction is None:
        noise = least_bias_table(frequencies, max_noise, most_stay)
    else:
        noise = construction(frequencies)
    if exact:
        moved = controlled_noise(count, key, noise)[same.ravel()]
    else:
        moved = noise.lookup(counted[0].key_modulus)(count, key)[same.ravel()]
    steps = of_each(moved, counted)
    shown = [
        published_with(
            table,
            Noise.of(table.measure.sum + step),
            name=label,
            changed="invariant",
        )
        for table, step, label in zip(counted, steps, names, strict=True)
    ]
    settings = {
        "method": "invariant",
        "largest": largest,
        "max_noise": noise.max_noise,
        "exact": exact,
        "tables": names,
    }
    certificates = certify_invariant(shown, counted, noise.max_noise, exact)
    return [
        PerturbedResult(table, certificate, settings, noise_bound(table, noise.max_noise))
        for table, certificate in zip(counted, certificates, strict=True)
    ]


def _counted(table: Table) -> Table:
    """The table of how many units are counted: those whose keys are added up."""
    if not table.frequency:
        raise InputError(
            f"invariant noise is for counts, not for sums of {table.measure.name!r}; choose "
            'table["count"]'
        )
    return table.of_units()


def _keys(table: Table) -> NDArray[np.uint64]:
    if table.key_sum is None:
        raise InputError(
            "a table has no cell keys; tabulate with record_key=, the column of the record keys"
        )
    return table.key_sum
