"""Tables with hidden cells: each becomes a release in the ledger, once and for all."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from os import PathLike
from pathlib import Path

import numpy as np

from diskret.engines.engine import Engine
from diskret.errors import (
    ContradictionError,
    DiskretError,
    InputError,
    MeasureError,
    ProofError,
    ProtectionError,
)
from diskret.hierarchy import Hierarchy
from diskret.io import Source
from diskret.keys import SecretKeys
from diskret.ledger.ledger import Ledger
from diskret.protect.suppress import suppress
from diskret.protect.tabulate import tabulate
from diskret.serve.answers import Refused, Shown
from diskret.serve.data import DataSet
from diskret.serve.engines import Until
from diskret.serve.noise import flat_tree, impossible
from diskret.serve.question import Family
from diskret.serve.suppression import Suppression
from diskret.serve.variables import Variable
from diskret.tables import Earlier, MeasureSum, Published, Table

#: What is said where a table is not safe beside those before.
_UNSAFE = (ProofError, ProtectionError, ContradictionError, MeasureError)
#: Bytes of what tells the releases of a data set apart.
_DIGEST = 12
#: How often a table is protected anew because another process released something meanwhile.
_TRIES = 3


class Releases:
    """The releases of a service: what a table shows is decided once, and read ever after.

    Parameters
    ----------
    ledger
        A SQLite file, or the url of a PostgreSQL database; see `Ledger.create`.
    folder
        Where the files of releases are written, a folder each.
    keys
        The office's secret keys.
    wait
        Seconds to wait while others release something.

    Raises
    ------
    InputError
        There is no such ledger.
    """

    def __init__(
        self,
        ledger: str | PathLike[str],
        folder: str | PathLike[str],
        keys: SecretKeys,
        *,
        wait: float = 30,
    ):
        self._ledger = Ledger(ledger, keys, wait=wait)
        self._folder = Path(folder)
        # what lies in it is the office's, but for its public parts
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._keys = keys

    def __repr__(self) -> str:
        return f"Releases({self._folder!r})"

    def shown(
        self, family: Family, data: DataSet, true: Callable[[], Sequence[Table]], until: Until
    ) -> Shown:
        """What is shown of a family; it is released if it was not before.

        true: makes the true tables, see `tabulated`.

        Raises
        ------
        Refused
            It cannot be proven safe beside what was released before.
        InputError
            The records do not fit their registration.
        """
        name = name_of(family, data)
        place = together(family, data).index(family.measure)
        for _ in range(_TRIES):
            if (before := self._before(name)) is not None:
                return shown_of(before[place], family, data)
            position = self._ledger.position
            try:
                self._release(name, family, data, true, until)
            except DiskretError as error:
                until.check()
                if self._ledger.position != position:
                    continue  # another process released something meanwhile
                if isinstance(error, _UNSAFE):
                    raise _unproven(data) from None
                raise
        raise _unproven(data)

    def _before(self, name: str) -> list[Published] | None:
        """What the world saw, if it was released."""
        if all(one.name != name for one in self._ledger.releases()):
            return None
        return [table.published for table in self._ledger.tables(name)]

    def _release(
        self,
        name: str,
        family: Family,
        data: DataSet,
        true: Callable[[], Sequence[Table]],
        until: Until,
    ) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they name codes, and whoever runs the service reads
            tables = true()
            until.check()
            alone = len(tables) == 1
            results = suppress(
                tables,
                suppression_of(data).judge(family.measure),
                sums=sums_of(family, data),
                ledger=_SameRecords(self._ledger, tables[0], data),
                keys=self._keys,
                time_limit=until.left,
                progress=lambda *_: until.check(),
                name=["table"] if alone else [table.measure.name for table in tables],
            )
            until.check()
            folder = self._folder / name.rpartition(" ")[2]
            self._ledger.publish(results, folder, ["csv"], name=name, who="diskret serve")


@dataclass(frozen=True, eq=False)
class _SameRecords:
    """The ledger; what it knows of a vintage was made from the records that are still there.

    So they tell how the variables of all its tables lie in each other, whoever released these.
    """

    ledger: Ledger
    table: Table
    data: DataSet

    @property
    def position(self) -> str:
        """As of the ledger."""
        return self.ledger.position

    def earlier(
        self, tables: Sequence[Published], sums: Sequence[MeasureSum] = ()
    ) -> Sequence[Earlier]:
        """As of the ledger, with the records."""
        return [self._asked(one) for one in self.ledger.earlier(tables, sums)]

    def _asked(self, one: Earlier) -> Earlier:
        own, table = self.table.asked, one.published
        if own is None or table.vintage != vintage_of(self.data) or not self._has(table):
            return one
        by = {d.name: _tree(self.data.variable[d.name]) for d in table.dimensions}
        question = replace(own.question, by=by, where=table.where)
        return replace(one, asked=replace(own, question=question))

    def _has(self, table: Published) -> bool:
        """Whether the records can be asked for the variables of a table, and have its codes."""
        variable = self.data.variable
        names = {d.name for d in table.dimensions}
        return names | {*table.where.asked} <= variable.keys() and all(
            {*d.hierarchy.codes[1:]} <= {*_tree(variable[d.name]).codes} for d in table.dimensions
        )


def _unproven(data: DataSet) -> Refused:
    return Refused(
        f"it cannot be proven that this table is safe beside all that was released of "
        f"{data.name!r} before; ask for coarser codes, or for a table that somebody had"
    )


def suppression_of(data: DataSet) -> Suppression:
    """How a data set is protected that has no noise.

    Raises
    ------
    InputError
        It has some.
    """
    if data.suppression is None:
        raise InputError(f"no cells of {data.name!r} are hidden: it has noise")
    return data.suppression


def vintage_of(data: DataSet) -> str:
    """By which the ledger knows tables of the same records."""
    return suppression_of(data).vintage


def together(family: Family, data: DataSet) -> tuple[str, ...]:
    """The measures that are released with that of a family: sums tie them to it."""
    return suppression_of(data).together(family.measure)


def sums_of(family: Family, data: DataSet) -> list[str]:
    """The sums that tie the measures of `together`, by the columns of these."""
    column = {one.name: one.column for one in data.measures}
    own = together(family, data)
    return [
        str(MeasureSum(column[one.total], tuple(column[part] for part in one.parts)))
        for one in suppression_of(data).equations
        if one.total in own
    ]


def name_of(family: Family, data: DataSet) -> str:
    """Of a release: the data set, and a digest of what the tables show of which records."""
    codes = [data.variable[name].level(family.level(name)).codes for name in family.variables]
    measures = together(family, data)
    what = asdict(family) if len(measures) == 1 else asdict(family) | {"measure": measures}
    said = json.dumps([what, vintage_of(data), codes], sort_keys=True)
    return f"{data.name} {blake2b(said.encode(), digest_size=_DIGEST).hexdigest()}"


def tabulated(family: Family, data: DataSet, records: Source, engine: Engine) -> list[Table]:
    """The true tables of a family, with totals of its variables and of coarser codes.

    One for each of `together`, in their order.
    """
    how = suppression_of(data)
    measures = [data.measure[name] for name in together(family, data) if name]
    # a table has a variable: of the total, one that is cut off right below it
    names = family.variables or (data.variables[0].name,)
    trees = {name: data.variable[name] for name in names}
    table = tabulate(
        records,
        by={name: _tree(one) for name, one in trees.items()},
        value=[one.column for one in measures] or None,
        unit=how.unit,
        holding=how.holding,
        where=dict(family.where),
        decimals={one.column: one.decimals for one in measures},
        vintage=vintage_of(data),
        engine=lambda opened: nullcontext(engine),
    )
    for name, level in family.levels:
        table = table.recode(name, level=level)
    table = table if family.variables else table.recode(names[0], level=0)
    return [table[one.column] for one in measures] or [table]


def _tree(variable: Variable) -> Hierarchy:
    return variable.tree or flat_tree(variable.codes)


def shown_of(published: Published, family: Family, data: DataSet) -> Shown:
    """The cells of a family, among totals of what was released."""
    value, hidden = published.value, published.suppressed
    if not family.variables:
        value, hidden = value.reshape(()), hidden.reshape(())
    for axis, name in enumerate(family.variables):
        position = published.dimensions[axis].hierarchy.position
        codes = data.variable[name].level(family.level(name)).codes
        at = np.array([position[code] for code in codes], dtype=np.int64)
        value, hidden = value.take(at, axis), hidden.take(at, axis)
    return Shown(value, impossible(family, data) & ~hidden, sparse=False, hidden=hidden)
