"""The verb for deviations: tables of protected records beside those of the original ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

from diskret.anonymize.history import carry_out
from diskret.errors import InputError
from diskret.tables.counted import combined, compare_all_counts, counted_all
from diskret.tables.lists import RECORDS, TableLists, table_lists, variables
from diskret.utility.table_deviations import FileDeviations, TableDeviations, table_deviations

if TYPE_CHECKING:
    import pyarrow as pa

    from diskret.anonymize.data import Microdata

#: Steps that say which categories there are, and change no record otherwise.
_COARSER = ("recode", "generalise", "drop", "remove_identifiers")


def deviations(md: Microdata, tables: Any = None, *, uncontrolled: Any = None) -> FileDeviations:
    """Compare tables of the records with tables of the original ones.

    For every method that changes or replaces records: SAFE, swapping, PRAM, … Coarser categories
    are no deviation: the original records are recoded in the same way first. Records that were
    replaced are compared with those that they replace. A missing value is a category of its own;
    weights do not count.

    Parameters
    ----------
    md
        The protected microdata.
    tables
        Tables, each a name or names of variables, ``()`` the total; or a mapping from a
        variable that is counted (1 or 0 building for each dwelling, say) to such a list, with
        ``""`` for records. None: the tables that SAFE controlled, else all with one or two keys.
    uncontrolled
        Further tables, shown beside them.

    Raises
    ------
    InputError
        A variable is missing in one of the files or holds numbers with decimals, or there is no
        table.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret import Microdata
    >>> persons = pa.table({"town": ["N", "N", "S", "S"] * 9, "sex": ["f", "m"] * 18})
    >>> md = Microdata(persons, keys=["town", "sex"]).swap("town", probability=0.5, seed=1)
    >>> found = md.deviations([("town",), ("sex",)], uncontrolled=[("town", "sex")])
    >>> found.controlled
    TableDeviations(2 tables, 4 cells; largest 0, mean 0.00, 100.0% exact)
    >>> found.uncontrolled.overall.cells
    4
    """
    asked = chosen_tables(md, tables)
    further = {} if uncontrolled is None else table_lists(uncontrolled, "uncontrolled")
    names = list(dict.fromkeys([*variables(asked), *variables(further)]))
    before = combined(original_records(md), names)
    after = combined(md.table, names)

    def found(lists: TableLists) -> TableDeviations | None:
        if not lists:
            return None
        return table_deviations(compare_all_counts(counted_all(before, lists), after))

    return FileDeviations(found(asked), found(further), md.kind)


def original_records(md: Microdata) -> pa.Table:
    """The records that were replaced; else the original ones with the categories of now."""
    if not md.linked:
        return md.before.table
    steps = [step for step in md.history if step.verb in _COARSER]
    return (carry_out(md.original, steps) if steps else md.original).table


def controlled_tables(md: Microdata) -> TableLists | None:
    """The tables that SAFE controlled; None if it was not used."""
    steps = [step for step in md.history if step.verb == "safe"]
    if not steps:
        return None
    found = steps[-1].found
    return table_lists({RECORDS: found["tables"], **found.get("counters", {})})


def chosen_tables(md: Microdata, tables: Any) -> TableLists:
    """Tables that are named; else those that were controlled, or of one and two keys."""
    found = controlled_tables(md) if tables is None else table_lists(tables)
    if found is None:
        found = {RECORDS: tuple(_of_keys(md))} if md.roles.keys else {}
    if not found:
        raise InputError(
            "there is no table to count; name some, e.g. tables=[('region', 'age'), ('sex',)]"
        )
    return found


def _of_keys(md: Microdata) -> Iterator[tuple[str, ...]]:
    keys = [key for key in md.roles.keys if key in md.original.table.column_names]
    for size in (1, 2):
        yield from combinations(keys, size)
