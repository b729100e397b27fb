"""Records and cells of a job as tables."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.argus.by_hand import apriori_rules, given_status, numbers_of, overruled
from diskret.argus.commands import AprioriText, DataText, Recode, TableText
from diskret.argus.distance import costs_by_distance
from diskret.argus.metadata import Metadata, Variable
from diskret.argus.not_known import refuse_not_known
from diskret.argus.read_data import in_lines, read_data
from diskret.argus.rules import Judged
from diskret.argus.text import Folders, said_at
from diskret.argus.trees import Axis, axis_of, recoded
from diskret.errors import AdditivityError, InputError, JobError
from diskret.protect.tabulate import tabulate
from diskret.rules import Rule
from diskret.tables import Table
from diskret.tables.from_cells import locate

#: <READTABLE> 2: totals need not be the sums of their parts.
_ROUNDED = 2
_BY_DISTANCE = "-3"
#: Costs of -3 are known when the cells have been judged.
_CODES_OF_COST = {"": "value", "-1": "count", "-2": "cells", _BY_DISTANCE: "cells"}
#: From how many codes on it tells something that one is the sum of the others.
_TELLING = 3
_LISTED = 3  # contributions that are kept of every cell at least


@dataclass(frozen=True, eq=False)
class Made:
    """A table of a job with its codes and what it is judged by.

    cost: as `suppress` takes it: a name, or what hiding each cell costs.
    taken: cells that were hidden to protect others before, and stay hidden.
    """

    text: TableText
    axes: tuple[Axis, ...]
    table: Table
    rule: Rule
    cost: str | NDArray[np.float64] = "value"
    shadow: str = ""
    taken: NDArray[np.bool_] | None = None

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Cells of codes that stand for what is not known."""
        found = np.zeros(self.table.shape, dtype=bool)
        for at, axis in enumerate(self.axes):
            codes = [i for i, c in enumerate(axis.tree.codes) if c in axis.variable.missing]
            np.moveaxis(found, at, 0)[codes] = True
        return found


@dataclass(frozen=True, eq=False)
class Opened:
    """The data of some tables, read, with all that was found to be in order before that."""

    text: DataText
    metadata: Metadata
    frame: pa.Table
    folders: Folders
    path: Path
    judged: Mapping[int, Judged] = field(default_factory=dict[int, Judged])


def opened(
    text: DataText, folders: Folders, metadata: Metadata, keyed: Collection[int] = ()
) -> Opened:
    """Check what the tables need of the data, and read it.

    keyed: numbers of the tables whose noise is made of record keys.
    """
    path = folders.find(text.file.name, text.file.place)
    judged = {one.number: _judged(one, text.kind, metadata) for one in text.tables}
    needed: dict[str, Variable] = {}
    for one in text.tables:
        needed |= {v.name: v for v in _needed(one, metadata, judged[one.number], text)}
        if one.number in keyed:
            needed |= {v.name: v for v in metadata.of_role("key")}
    with said_at(text.file.place):
        frame = read_data(path, text.kind, metadata, list(needed.values()))
    asked = "request", "status"
    with said_at(text.file.place):
        codes = {metadata.named(name, one.place).name for one in text.tables for name in one.by}
        numbers = [v for v in needed.values() if v.name not in codes and v.roles.isdisjoint(asked)]
        refuse_not_known(frame, numbers, path)
    return Opened(text, metadata, frame, folders, path, judged)


def made(
    data: Opened, text: TableText, recodes: Sequence[Recode], apriori: Sequence[AprioriText]
) -> Made:
    """Make a table of the data as it is specified and recoded."""
    of_cells = data.text.kind == "cells"
    axes = [_axis(data, name, text, recodes, of_cells) for name in text.by]
    judged = data.judged[text.number]
    with said_at(text.place):
        build = _from_cells if of_cells else _from_records
        table, records, cost, by_hand = build(data, text, axes, judged)
    taken = np.zeros(table.shape, dtype=bool)
    for one in apriori:
        later = apriori_rules(one, data.folders, table, text.rules.by_hand, taken)
        by_hand = [*overruled(by_hand, later, table, taken), *later]
    rule = judged.rule(records, by_hand)
    if text.cost == _BY_DISTANCE:
        with said_at(text.place):
            unsafe = rule(table).unsafe
        steps = [axis.variable.distances for axis in axes]
        cost = costs_by_distance(unsafe, [axis.tree for axis in axes], steps)
        cost = cost if text.power == 1 else _raised(cost, text.power)
    return Made(text, tuple(axes), table, rule, cost, judged.shadow, taken)


def cost_of_cells(one: Made) -> NDArray[np.float64]:
    """What hiding each cell costs, in published units; shape of the table."""
    cost = one.cost
    return _power(one.table, cost, 1) if isinstance(cost, str) else cost


# ── what the tables need ────────────────────────────────────────────────────────────


def _judged(text: TableText, kind: str, metadata: Metadata) -> Judged:
    """The rules of a table, checked."""
    by = [metadata.named(name, text.place) for name in text.by]
    response = "" if text.frequency else metadata.named(text.response, text.place).name
    shadow = metadata.named(text.shadow, text.place).name if text.shadow else ""
    far = [variable.name for variable in by if not variable.distances]
    if text.cost == _BY_DISTANCE and far:
        raise JobError(
            f"{text.place}: costs by distance (-3) need what 1, 2, … steps cost in every variable, "
            f"and {metadata.path.name} has no <DISTANCE> for {far[0]!r}; add e.g. <DISTANCE> 1 2 "
            "3 4 5"
        )
    if text.cost not in _CODES_OF_COST:
        metadata.named(text.cost, text.place)
    missing = {v.name: v.missing for v in by if v.missing}
    same = shadow == response or text.frequency
    counted = ""
    if text.rules.weighted and any(one.kind == "FREQ" for one in text.rules.rules):
        counted = "records"
        while counted in {v.name for v in metadata.variables}:
            counted += "_"
    shadow = "" if same else shadow
    judged = Judged(text.rules, text.frequency, kind == "cells", shadow, missing, counted)
    judged.check()
    if text.rules.weighted and (text.frequency or kind == "cells"):
        raise JobError(
            f"{text.place}: WGT(1) weights sums of records, and this table has none; use WGT(0)"
        )
    return judged


def _needed(text: TableText, metadata: Metadata, judged: Judged, data: DataText) -> list[Variable]:
    """The variables that a table looks at."""
    names = [*text.by, *([] if text.frequency else [text.response])]
    names += [name for name in (text.shadow, text.cost) if name and name not in _CODES_OF_COST]
    found = [metadata.named(name, text.place) for name in names]
    if data.kind == "cells":
        wanted = ("frequency", "largest", "status", "lower", "upper")
        return found + [v for role in wanted for v in metadata.of_role(role)]
    for wanted, role in (
        (judged.rules.weighted, "weight"),
        (judged.holdings, "holding"),
        (any(one.kind == "REQ" for one in judged.rules.rules), "request"),
    ):
        if wanted:
            found.append(_only(role, metadata, text))
    return found


def _only(role: str, metadata: Metadata, text: TableText) -> Variable:
    found = metadata.of_role(role)
    if len(found) != 1:
        raise JobError(
            f"{text.place}: the rules need one variable that is marked <{role.upper()}>, and "
            f"{metadata.path.name} has {len(found)}"
        )
    return found[0]


def _axis(
    data: Opened, name: str, text: TableText, recodes: Sequence[Recode], of_cells: bool
) -> Axis:
    variable = data.metadata.named(name, text.place)
    codes = [c for c in data.frame.column(variable.name).unique().to_pylist() if c is not None]
    axis = axis_of(variable, codes, data.folders, of_cells)
    for recode in recodes:
        if data.metadata.named(recode.variable, recode.place).name != variable.name:
            continue
        if of_cells:
            raise JobError(f"{recode.place}: cells of a file are not recoded; recode the records")
        axis = recoded(axis, recode, data.folders)
    return axis


# ── tables ──────────────────────────────────────────────────────────────────────────

_Built = tuple[Table, Table | None, "str | NDArray[np.float64]", list[Rule]]


def _from_records(data: Opened, text: TableText, axes: Sequence[Axis], judged: Judged) -> _Built:
    metadata, frame = data.metadata, coded(data.frame, axes)
    response = None if text.frequency else metadata.named(text.response, text.place)
    cost = _CODES_OF_COST.get(text.cost) or metadata.named(text.cost, text.place).name
    values = {} if response is None else {response.name: response.decimals}
    for name in (judged.shadow, "" if text.cost in _CODES_OF_COST else cost):
        if name:
            values.setdefault(name, metadata.named(name, text.place).decimals)
    options: dict[str, object] = {}
    if judged.counted:
        frame = frame.append_column(judged.counted, pa.array(np.ones(frame.num_rows, np.int64)))
        values[judged.counted] = 0
    if judged.rules.weighted:
        weight = _only("weight", metadata, text)
        options |= {"weight": weight.name, "weight_decimals": weight.decimals}
    if any(one.kind == "REQ" for one in judged.rules.rules):
        asked = _only("request", metadata, text)
        options["request"] = {asked.name: list(asked.requests or ("1",))}

    def table(holding: str | None) -> Table:
        with in_lines(data.path, data.frame, data.path.name):
            whole = tabulate(
                frame,
                by={axis.variable.name: axis.tree for axis in axes},
                total={axis.variable.name: axis.tree.total for axis in axes},
                value=list(values) or None,
                decimals=values,
                holding=holding,
                largest=max(judged.largest, _LISTED),
                **options,  # type: ignore[arg-type]
            )
        return whole if response is None and not values else whole[_chosen(response)]

    own = table(_only("holding", metadata, text).name if judged.holdings else None)
    price = cost if text.power == 1 else _power(own, cost, text.power)
    return own, table(None) if judged.of_both else None, price, []


def _chosen(response: Variable | None) -> str:
    return "count" if response is None else response.name


def coded(frame: pa.Table, axes: Sequence[Axis]) -> pa.Table:
    """Records with the codes that recoding made."""
    for axis in axes:
        if axis.moved:
            at = frame.column_names.index(axis.variable.name)
            frame = frame.set_column(at, axis.variable.name, _moved(frame.column(at), axis.moved))
    return frame


def _moved(column: pa.ChunkedArray, moved: Mapping[str, str]) -> pa.Array:
    coded = column.combine_chunks().dictionary_encode()
    names = [moved.get(code, code) for code in coded.dictionary.to_pylist()]
    return pa.array(names, pa.string()).take(coded.indices)


def _check_totals(axes: Sequence[Axis], frame: pa.Table, table: Table) -> None:
    """Refuse a total that goes by another name in the file: it would be a part of itself."""
    values = table.count if table.frequency else table.measure.sum
    for at, axis in enumerate(axes):
        tree = axis.tree
        parts = tree.children[0]
        in_file = frame.column(axis.variable.name).unique().to_pylist()
        if values is None or len(parts) < _TELLING or tree.total in in_file:
            continue
        of_axis = np.moveaxis(values, at, 0)
        for part in parts:
            if of_axis[0].any() and np.array_equal(2 * of_axis[part], of_axis[0]):
                raise InputError(
                    f"{axis.variable.name!r} has no total {tree.total!r}, and "
                    f"{tree.codes[part]!r} is the sum of all others; if it is the total, say so "
                    f"in {axis.variable.place.file.name} with <TOTCODE>, else let totals be "
                    "computed (<READTABLE> 1)"
                )


def _power(table: Table, cost: str, power: float) -> NDArray[np.float64]:
    """Costs to a power, or their logarithm."""
    if cost == "cells":
        return np.ones(table.shape)
    base = table.count if cost == "count" else None
    if base is None:
        measure = table.measure if cost == "value" else table[cost].measure
        return _raised(np.abs(measure.sum) / 10**measure.decimals, power)
    return _raised(base.astype(np.float64), power)


def _raised(base: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    if power == 0:
        return np.log(np.maximum(base, 1))
    return np.where(base > 0, np.maximum(base, 1e-300) ** power, 0)


def _from_cells(data: Opened, text: TableText, axes: Sequence[Axis], judged: Judged) -> _Built:
    metadata, frame = data.metadata, data.frame
    response = None if text.frequency else metadata.named(text.response, text.place)
    frequency = metadata.of_role("frequency")
    if response is None and not frequency:
        raise JobError(f"{text.place}: no variable of {metadata.path.name} is a <FREQUENCY>")
    counted = frequency[0].name if frequency else None
    if response is not None and response.name == counted:
        response = None
    largest = [v.name for v in metadata.of_role("largest")]
    if judged.largest > len(largest):
        raise JobError(
            f"{text.place}: the rules look at the {judged.largest} largest contributions and "
            f"{metadata.path.name} has {len(largest)} columns of <MAXSCORE>"
        )
    shadow = judged.shadow or None
    by = {axis.variable.name: axis.tree for axis in axes}

    def made_with(rounding: float | None, largest: Sequence[str]) -> Table:
        return Table.from_cells(
            frame,
            by=by,
            total={name: tree.total for name, tree in by.items()},
            value=None if response is None else response.name,
            count=counted,
            largest=[] if response is None else largest,
            shadow=shadow,
            decimals=0 if response is None else response.decimals,
            rounding=rounding,
            round_values=response is not None,
            additivity="totals" if data.text.additivity == 1 else "check",
        )

    def fitting(rounding: float | None) -> Table:
        try:
            return made_with(rounding, largest)
        except AdditivityError:
            raise
        except InputError:
            if judged.largest or not largest:
                raise
            # they are those of another variable of the file, and no rule looks at them
            return made_with(rounding, [])

    with said_at(data.path.name), in_lines(data.path, frame, ""):
        try:
            table = fitting(None)
        except AdditivityError:
            if data.text.additivity != _ROUNDED or response is None:
                raise
            # values that do not add up because each of them was rounded
            table = fitting(10.0**-response.decimals)
    table = table if response is None or shadow is None else table[response.name]
    if data.text.additivity == 0:
        with said_at(data.path.name):
            _check_totals(axes, frame, table)
    at = locate(frame, by)[1]
    by_hand: list[Rule] = []
    if data.text.status:
        by_hand = given_status(frame, metadata, data.path, axes, table, at, text.rules.by_hand)
    if text.cost in _CODES_OF_COST:
        cost = _CODES_OF_COST[text.cost]
        price = cost if text.power == 1 else _power(table, cost, text.power)
    else:
        price = np.zeros(table.shape)
        price.ravel()[at] = np.abs(numbers_of(frame, metadata.named(text.cost, text.place).name))
        price = price if text.power == 1 else _raised(price, text.power)
    return table, None, price, by_hand
