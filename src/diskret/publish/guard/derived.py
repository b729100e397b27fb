"""Derived figures and combined tables before they leave: nothing but published values.

The figures are checked in code of its own, by multiplying back what was divided.
"""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io.files import read_plain_parquet
from diskret.io.from_json import read_json
from diskret.publish.derived import COMBINED, DERIVED, combined_outline, derived_outline
from diskret.publish.guard.own_workbook import columns_workbook
from diskret.publish.read import Releases
from diskret.tables import Derived, Published, SideBySide
from diskret.tables.public_files import public_cells
from diskret.tables.read_public import read_text
from diskret.tables.side_by_side import decimals_of, exact_columns
from diskret.texts.numbers import Count


def derived_problems(
    folder: Path, derived: Derived, tables: Sequence[Published], releases: Releases
) -> Iterator[str]:
    """What is wrong with the files of a derived figure.

    Its inputs must be published, in this release or in one of `releases`; every figure must be the
    one that they give, and there must be none where one of them is suppressed. Of `derived` only
    the inputs are used, not what it computed.
    """
    path = folder / f"{derived.name}.csv"
    try:
        outline = derived_outline(derived, tables, releases)
        cells = read_text(path, [*derived.codes, derived.name, "status"])
    except InputError as error:
        yield str(error)
        return
    yield from _outline(folder / f"{derived.name}{DERIVED}", outline)
    if any(cells[name].combine_chunks() != codes for name, codes in derived.codes.items()):
        yield f"{path.name} does not hold the cells of its tables"
        return
    wrong = _wrong(derived, cells[derived.name], cells["status"])
    if number := Count(wrong):
        yield (
            f"{path.name} holds {number} "
            f"{number:figure or status that does|figures or statuses that do} not follow from the "
            "published values"
        )
    yield from _beside(path, cells, decimals_of(derived))


def combined_problems(
    folder: Path, combined: SideBySide, tables: Sequence[Published]
) -> Iterator[str]:
    """What is wrong with the files that show tables side by side.

    They must hold what stands in the files of the tables and figures themselves.
    """
    path = folder / f"{combined.name}.csv"
    yield from _outline(folder / f"{combined.name}{COMBINED}", combined_outline(combined))
    try:
        expected: dict[str, pa.ChunkedArray] = {}
        for part in combined.parts:
            alone = _alone(folder, part, tables)
            codes = alone.column_names[: alone.column_names.index("status") - 1]
            measure = part.measure if isinstance(part, Published) else part.name
            expected |= {} if expected else {name: alone[name] for name in codes}
            expected |= {part.name: alone[measure], f"{part.name}_status": alone["status"]}
        cells = read_text(path, list(expected))
    except InputError as error:
        yield str(error)
        return
    if not cells.equals(pa.table(expected).combine_chunks()):
        yield f"{path.name} does not hold what stands in the files of its tables"
    yield from _beside(path, cells, decimals_of(combined))


def _outline(path: Path, expected: Mapping[str, Any]) -> Iterator[str]:
    try:
        if read_json(path) != expected:
            yield f"{path.name} does not say how the file beside it is made"
    except InputError as error:
        yield str(error)


def _beside(csv: Path, cells: pa.Table, decimals: dict[str, int]) -> Iterator[str]:
    """What is wrong with files of the same columns."""
    yield from columns_workbook(csv.with_suffix(".xlsx"), cells, decimals)
    path = csv.with_suffix(".parquet")
    if not path.exists():
        return
    try:
        if not read_plain_parquet(path).equals(exact_columns(cells, decimals)):
            yield f"{path.name} does not hold what stands in the CSV"
    except (InputError, pa.ArrowException) as error:
        yield str(error)


def _alone(folder: Path, part: Published | Derived, tables: Sequence[Published]) -> pa.Table:
    """A table, or the figures of the file that was checked before."""
    if isinstance(part, Derived):
        return read_text(folder / f"{part.name}.csv", [*part.codes, part.name, "status"])
    if not any(part is table for table in tables):
        raise InputError(f"{part.name} is no table of this release")
    return public_cells(part)


# ── the figures ─────────────────────────────────────────────────────────────────────


def _wrong(derived: Derived, text: pa.ChunkedArray, status: pa.ChunkedArray) -> int:
    """How many rows hold anything but what the inputs give."""
    numerator, divisor, hidden = (
        np.concatenate(parts) for parts in zip(*_divisions(derived), strict=True)
    )
    meaningful = ~hidden & (divisor > 0)
    said = np.where(hidden, "suppressed", np.where(meaningful, "published", "empty"))
    wrong = status.to_numpy() != said
    wrong |= (text.to_numpy() != "") != meaningful

    places = derived.decimals
    whole = 19 - places
    form = rf"\A-?(?:0|[1-9][0-9]{{0,{whole - 1}}})"
    form += (rf"\.[0-9]{{{places}}}" if places else "") + r"\z"
    number = pc.match_substring_regex(text, form).to_numpy()
    number &= ~pc.match_substring_regex(text, r"\A-[0.]+\z").to_numpy()  # its sign would be told
    wrong |= meaningful & ~number
    at = np.flatnonzero(meaningful & number)
    digits = pc.replace_substring_regex(text, "[-.]", "").take(pa.array(at))
    size = digits.cast(pa.uint64()).to_numpy().astype(object)  # 19 digits always fit
    shown = np.where(pc.starts_with(text, "-").to_numpy()[at], -size, size)
    # v = ⌊n/d + 1/2⌋ exactly where 2·v·d ≤ 2·n + d < 2·(v + 1)·d
    twice, by = 2 * numerator[at] + divisor[at], divisor[at]
    wrong[at] |= ~((2 * shown * by <= twice) & (twice < 2 * (shown + 1) * by)).astype(bool)
    return int(wrong.sum())


def _divisions(derived: Derived) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]]:
    """Numerator and divisor in units of the last decimal (Python integers), what is hidden."""
    first, last = derived.inputs[0], derived.inputs[-1]
    pairs = [(first, last)]
    if derived.kind == "index":
        base = next(table for table in derived.inputs if table.vintage == derived.base)
        pairs = [(table, base) for table in derived.inputs]
    hundred = 1 if derived.kind == "mean" else 100
    for one, other in pairs:
        value, hidden = other.value, other.suppressed
        for axis, dimension in enumerate(other.dimensions):
            if dimension.name in derived.of:
                value = np.repeat(value.take([0], axis), len(dimension), axis)
                hidden = np.repeat(hidden.take([0], axis), len(dimension), axis)
        divisor = value.ravel().astype(object) * 10**one.decimals
        numerator = one.value.ravel().astype(object) * 10**other.decimals * hundred
        if derived.kind == "growth":
            numerator = numerator - divisor * hundred
        yield (
            numerator * 10**derived.decimals,
            divisor,
            (one.suppressed | hidden).ravel(),
        )
