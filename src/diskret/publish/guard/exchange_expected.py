"""What a file for exchange may hold, from what is published, and how its cells are compared."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from diskret.hierarchy import Hierarchy
from diskret.publish.in_words import circumstances, how_changed, table_words
from diskret.tables import NO_BOUND, Derived, Published, SideBySide
from diskret.tables.cells import codes_columns
from diskret.tables.public_files import decimal_text
from diskret.texts import LANGUAGES, scaled

_SHORT = 20  # characters of the name that some keywords of PX may have


@dataclass(frozen=True, eq=False)
class Part:
    """One table or figure as it must stand in a file: values as text, and what each cell is."""

    name: str
    measure: str
    period: str
    values: list[str | None]
    kinds: list[str]


@dataclass(frozen=True, eq=False)
class Expected:
    """What a file may hold: its parts, and the texts that are known."""

    name: str
    codes: Mapping[str, pa.StringArray]
    parts: Sequence[Part]
    texts: frozenset[str]
    notes: frozenset[str]
    bounds: Mapping[int, tuple[str | None, str | None]] = field(
        default_factory=dict[int, tuple[str | None, str | None]]
    )
    decimals: frozenset[int] = frozenset()
    #: Variable → code → what it may be called.
    labels: Mapping[str, Mapping[str, set[str]]] = field(
        default_factory=dict[str, Mapping[str, set[str]]]
    )
    #: Variable → code → its parent, of those that have one.
    parents: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])


@dataclass(frozen=True, eq=False)
class Found:
    """What was read: codes of rows, and by period and measure values and status."""

    codes: Mapping[str, pa.Array]
    columns: Mapping[tuple[str, str], tuple[list[str | None], list[str]]]


# ── what must stand there ───────────────────────────────────────────────────────────


def expected_of(shown: Published | Derived | SideBySide) -> Expected:
    """What the files of a table, of a figure or of several side by side may hold."""
    parts = shown.parts if isinstance(shown, SideBySide) else (shown,)
    first = parts[0]
    bounds: dict[int, tuple[str | None, str | None]] = {}
    if isinstance(shown, Published) and shown.intervals:
        hidden = np.flatnonzero(shown.suppressed)
        low, high = (
            [
                None if abs(bound) == NO_BOUND else text
                for bound, text in zip(
                    bounds_of.tolist(),
                    decimal_text(bounds_of, shown.decimals).to_pylist(),
                    strict=True,
                )
            ]
            for bounds_of in (array.ravel()[hidden] for array in shown.intervals.values())
        )
        bounds = dict(zip(hidden.tolist(), zip(low, high, strict=True), strict=True))
    texts = {shown.name, shown.name[:_SHORT], *_fixed()}
    notes: set[str] = set()
    for part in parts:
        texts |= _names(part)
        if isinstance(part, Published):
            before = f"{part.name}: " if isinstance(shown, SideBySide) else ""
            notes |= {before + note for note in _notes(part)}
    return Expected(
        name=shown.name,
        codes=codes_columns(first.dimensions),
        parts=[one for part in parts for one in _parts(part)],
        texts=frozenset(texts),
        notes=frozenset(notes),
        bounds=bounds,
        decimals=frozenset(part.decimals for part in parts),
        labels={d.name: _labels(d.hierarchy) for d in first.dimensions},
        parents={d.name: _parents(d.hierarchy) for d in first.dimensions},
    )


def _labels(tree: Hierarchy) -> dict[str, set[str]]:
    """Code → what it may be called, with itself before it where two would be called the same."""
    found = {code: {code} for code in tree.codes}
    found[tree.codes[0]] |= {table_words(one)["total"] for one in LANGUAGES}
    for labels in (tree.labels, *tree.translations.values()):
        for code in found.keys() & labels.keys():
            found[code].add(labels[code])
    return {code: {*texts, *(f"{code} {text}" for text in texts)} for code, texts in found.items()}


def _parents(tree: Hierarchy) -> dict[str, str]:
    parents = zip(tree.codes, tree.parent.tolist(), strict=True)
    return {code: tree.codes[parent] for code, parent in parents if parent >= 0}


def _parts(part: Published | Derived) -> Iterator[Part]:
    nothing = "none" if isinstance(part, Derived) else "empty"
    kinds = np.where(part.suppressed, "hidden", np.where(part.empty, nothing, "shown"))
    text = decimal_text(part.value.ravel(), part.decimals).to_pylist()
    values = [
        None if kind in ("hidden", "none") else one
        for kind, one in zip(kinds.ravel().tolist(), text, strict=True)
    ]
    if isinstance(part, Published):
        yield Part(part.name, part.measure, part.vintage, values, kinds.ravel().tolist())
        return
    periods = part.periods or (part.inputs[0].vintage,)
    rows = len(values) // len(periods)
    for i, period in enumerate(periods):
        at = slice(i * rows, (i + 1) * rows)
        yield Part(part.name, part.name, period, values[at], kinds.ravel().tolist()[at])


def _names(part: Published | Derived) -> set[str]:
    """Names, codes and labels of a table, in every language."""
    found = {part.name}
    tables = (part,) if isinstance(part, Published) else part.inputs
    for table in tables:
        found |= {table.measure, table.vintage, re.sub(r"-[A-Z]?", "", table.vintage)}
    for dimension in part.dimensions:
        found |= {dimension.name}.union(*_labels(dimension.hierarchy).values())
    return found


def _fixed() -> set[str]:
    """The fixed texts in all languages, and how names look that were taken."""
    words = [table_words(one, "workbook", "exchange") for one in LANGUAGES]
    texts = {text for of in words for text in of.values()}
    names = {of[key] for of in words for key in ("vintage", "contents")}
    return texts | {name + "_" * n for name in names for n in range(5)}


def _notes(published: Published) -> set[str]:
    found: set[str] = set()
    for language in LANGUAGES:
        words = table_words(language)

        def written(value: int, language: str = language) -> str:
            return scaled(value, published.decimals, language)

        told = {**circumstances(published, words, written), **how_changed(published, words)}
        found |= {f"{heading}: {text}" for heading, text in told.items()}
    return found


# ── what all formats have in common ─────────────────────────────────────────────────


def cell_problems(found: Found, expected: Expected) -> Iterator[str]:
    """What is wrong with the values and the status of cells."""
    if list(found.codes.values()) != list(expected.codes.values()):
        yield "does not hold the cells of the table"
        return
    rest = dict(found.columns)
    said: dict[str, set[str]] = {}
    for part in expected.parts:
        keys = [
            (period, name)
            for name in (part.measure, part.name)
            for period in (part.period, "")
            if (period, name) in rest
        ]
        if not keys:
            yield f"does not hold {part.name}"
            return
        values, status = rest.pop(keys[0])
        if not all(map(_same, values, part.values)):
            yield "does not hold the published values"
        for kind, one in zip(part.kinds, status, strict=True):
            said.setdefault(kind, set()).add(one)
    for values, status in rest.values():
        said.setdefault("none", set()).update(status)
        if any(value is not None for value in values):
            yield "holds values of which nothing is published"
    if any(len(codes) > 1 for codes in said.values()):
        yield "tells cells of one kind from each other"
    hidden = said.pop("hidden", set())
    if hidden & set().union(*said.values()):
        yield "does not say which cells are hidden"


def _same(found: str | None, published: str | None) -> bool:
    if found is None or published is None or found == published:
        return found == published
    try:
        return Decimal(found) == Decimal(published)
    except InvalidOperation:
        return False


def by_period(
    cells: pa.Table, names: Sequence[str], period: str, measures: Sequence[str], several: bool
) -> Found:
    """The columns of a table that was read, each period on its own."""
    columns: dict[tuple[str, str], tuple[list[str | None], list[str]]] = {}
    codes: dict[str, pa.Array] = {}
    for one in pc.unique(cells[period]).to_pylist() if period else [""]:
        rows = cells.filter(pc.equal(cells[period], one)) if period else cells
        codes = {name: rows[name].combine_chunks() for name in names}
        for measure in measures:
            status = rows[f"{measure}_status" if several else "status"]
            columns[one, measure] = rows[measure].to_pylist(), status.to_pylist()
    return Found(codes, columns)


def unknown(texts: Iterable[str], expected: Expected, what: str) -> Iterator[str]:
    """Texts that nothing published explains."""
    odd = sorted(set(texts) - expected.texts)
    if odd:
        yield f"holds a text that is no name, code or label, at {what}: {odd[0]!r}"


def misnamed(labels: Iterable[tuple[str, str]], name: str, expected: Expected) -> Iterator[str]:
    """Codes of a variable that have the label of another one."""
    known = expected.labels[name]
    if any(text not in known.get(code, ()) for code, text in labels):
        yield f"calls codes of {name!r} otherwise"


def misplaced(parents: Mapping[str, str], name: str, expected: Expected) -> Iterator[str]:
    """Codes of a variable that stand below another one."""
    if parents != expected.parents[name]:
        yield f"puts codes of {name!r} below others"


def odd_notes(lines: Iterable[str], expected: Expected) -> Iterator[str]:
    """Notes other than what is published of the table."""
    if set(lines) - expected.notes:
        yield "holds a note that says more than the table"
