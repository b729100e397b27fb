"""The cell key method as a job of τ-ARGUS asks for it: record keys, tables of noise, scaling."""

# pyarrow has no type information for its compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pyarrow as pa

from diskret.argus.by_hand import numbers_of
from diskret.argus.commands import Batch, Suppress, TableText
from diskret.argus.data import Made, Opened, coded
from diskret.argus.metadata import Metadata, SumNoise, Variable
from diskret.argus.text import Folders, said_at
from diskret.cellkey import Lookup, MagnitudeNoise
from diskret.errors import InputError, JobError
from diskret.protect.perturb import perturb
from diskret.protect.perturbed_result import PerturbedResult
from diskret.protect.tabulate import tabulate
from diskret.rules import Sensitivity
from diskret.tables import Table

#: Sums of whole files need the contributions that scale their noise, at most so many.
_LARGEST = 6
_OF: dict[str, Literal["largest", "mean", "sum"]] = {"T": "largest", "M": "mean", "V": "sum"}


def check_keys(
    step: Suppress, kind: str, table: TableText, metadata: Metadata, folders: Folders
) -> None:
    """Refuse what the cell key method cannot do with a table, before anything is computed."""
    if kind == "cells":
        raise JobError(
            f"{step.place}: a file of cells has no record keys, from which the cell key method "
            "makes its noise; start from the records"
        )
    if table.rules.weighted:
        raise JobError(
            f"{step.place}: the cell key method changes counts and sums of records without their "
            "weights here; use WGT(0)"
        )
    noise_of(step, table, metadata, folders)


def changed_by_keys(
    part: Batch, step: Suppress, data: Opened, one: Made, says: Sensitivity, name: str
) -> PerturbedResult:
    """The table with the noise that its record keys give, checked."""
    noise = noise_of(step, one.text, data.metadata, data.folders)
    if isinstance(noise, Lookup):
        return perturb(_keyed(data, one, True), noise, name=name)
    rule = says if one.text.rules.rules or says.unsafe.any() else None
    beside = _counts_beside(part, data)
    if beside is not None:
        noise = replace(noise, counts=beside)
    return perturb(_keyed(data, one, beside is not None), noise, rule=rule, name=name)


def _counts_beside(part: Batch, data: Opened) -> Lookup | None:
    """What changes the counts that the job publishes beside sums.

    A sum beside a count that became 0 would tell that somebody is there; it becomes 0 as well.
    """
    for step in part.suppress:
        table = part.tables[step.table - 1]
        if step.method == "CKM" and table.frequency:
            noise = noise_of(step, table, data.metadata, data.folders)
            return noise if isinstance(noise, Lookup) else None
    return None


def key_variable(metadata: Metadata, step: Suppress) -> Variable:
    """The variable of the record keys."""
    found = metadata.of_role("key")
    if len(found) != 1 or found[0].decimals < 1:
        raise JobError(
            f"{step.place}: needs one variable that is marked <RECORDKEY>, with <DECIMALS>, the "
            f"number of digits of the keys, and {metadata.path.name} has {len(found)} of them; "
            "diskret cellkey keys draws keys"
        )
    return found[0]


def noise_of(
    step: Suppress, table: TableText, metadata: Metadata, folders: Folders
) -> Lookup | MagnitudeNoise:
    """The tables of noise that the job or its metadata name, read, with their scaling."""
    key = key_variable(metadata, step)
    if table.frequency:
        name = (*step.files, "")[0] or key.noise.get("counts", "")
        return _lookup(name, "PFILE", step, key, folders, None)
    response = metadata.named(table.response, table.place)
    how = response.changed
    if how is None or how.of == "N":
        raise JobError(
            f"{step.place}: {metadata.path.name} does not say how sums of {response.name!r} are "
            "changed; add <CKM> T(1) and <SCALING> to the variable, or count records (<freq>)"
        )
    if how.of == "D":
        raise JobError(
            f"{step.place}: noise by the range of the contributions (<CKM> D) is not offered, for "
            "the smallest contribution of a cell is not kept; use T, M or V"
        )
    sums, small = (*step.files, "", "")[:2]
    sums = sums or key.noise.get("sums", "")
    small = (small or key.noise.get("small", "")) if how.separation else ""
    if how.separation and not small:
        raise JobError(
            f"{step.place}: {response.name!r} asks for a table of its own for small cells "
            "(<SEPARATION> Y) and none is named; name it in <PFILE_SEP>, or say N"
        )
    even = "even" if how.parity else None
    options = _scaling(step, response, how)
    with said_at(step.place):
        return MagnitudeNoise(
            _lookup(sums, "PFILE_CONT", step, key, folders, even),
            **options,  # type: ignore[arg-type]
            of=_OF[how.of],
            small=_lookup(small, "", step, key, folders, None) if small else None,
            odd=_lookup(sums, "", step, key, folders, "odd") if how.parity else None,
            extra=(*step.options, 0.0)[0] or None,
        )


def _lookup(
    name: str,
    option: str,
    step: Suppress,
    key: Variable,
    folders: Folders,
    kind: str | None,
) -> Lookup:
    """A table of noise for keys with the digits of those in the records."""
    if not name:
        raise JobError(
            f"{step.place}: no perturbation table is named; name its file, CKM("
            f'{step.table}) "ptable.txt", or in <{option}> of {key.name!r}; diskret cellkey design '
            "makes one"
        )
    path = folders.find(name, key.place if name in key.noise.values() else step.place)
    with said_at(step.place):
        return Lookup.read(path, 10**key.decimals, kind)


def _scaling(step: Suppress, response: Variable, how: SumNoise) -> dict[str, object]:
    """Shares of contributions: F: two of them, flex point and power; N: one; then those of ε."""
    fixed = {"F": 4, "N": 1}.get(how.scaling, 0)
    if fixed == 1 and len(how.numbers) != how.largest:
        raise JobError(
            f"{step.place}: {response.name!r} needs <SCALING> N(share, …) with a share for each of "
            f"its {how.largest} largest contributions; it has {len(how.numbers)} numbers"
        )
    if fixed != 1 and len(how.numbers) != 3 + how.largest:
        raise JobError(
            f"{step.place}: {response.name!r} needs <SCALING> F(share of large contributions, of "
            "small ones, flex point, power, …) with a share for each further one of its "
            f"{how.largest} largest contributions; it has {len(how.numbers)} numbers"
        )
    shares = (1.0, *how.numbers[fixed:])
    if how.scaling == "N":
        return {"scale": how.numbers[0], "shares": shares}
    one, other, point, power = how.numbers[:4]
    if power != int(power):
        raise JobError(f"{step.place}: the power of <SCALING> is a whole number, not {power:g}")
    # shares fall with size, so the larger is that of small contributions, in whatever order
    scale = (max(one, other), min(one, other))
    return {"scale": scale, "shares": shares, "flex_point": point, "flex_power": int(power)}


def _keyed(data: Opened, one: Made, everybody: bool) -> Table:
    """The table once more, with the sums of the record keys.

    everybody: of those who contribute 0, too, whatever the metadata say.
    """
    metadata, frame = data.metadata, coded(data.frame, one.axes)
    (key,) = metadata.of_role("key")
    response = None
    if not one.text.frequency:
        response = metadata.named(one.text.response, one.text.place)
        if not everybody and response.changed is not None and not response.changed.zeros:
            frame = frame.filter(pa.array(numbers_of(frame, response.name) != 0))
            if not frame.num_rows:
                raise InputError(f"all values of {response.name!r} are 0; there are no sums")
    table = tabulate(
        frame,
        by={axis.variable.name: axis.tree for axis in one.axes},
        total={axis.variable.name: axis.tree.total for axis in one.axes},
        value=None if response is None else response.name,
        decimals=0 if response is None else response.decimals,
        record_key=key.name,
        key_digits=key.decimals,
        largest=_LARGEST,
    )
    return table if response is None else table[response.name]
