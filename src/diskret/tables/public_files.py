"""The public files of one table: a CSV of its cells and a JSON of its structure.

They are made from `Published` alone and [read back][diskret.tables.read_public] to the same
`Published`. The CSV has the code columns, the measure (exact decimal text, empty where
suppressed) and ``status``.
"""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.tables.cells import NO_BOUND, check_names, public_columns, public_names
from diskret.tables.dimension import Dimension
from diskret.tables.outline import Block, Outline
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.tables.published import Published

#: The schema that structure files name.
SCHEMA = "diskret/structure/1"

#: What the name of a structure file ends with.
STRUCTURE = ".structure.json"

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_NOT_IN_FILE_NAMES = re.compile(r'[<>:"/\\|?*]|^[.\s]|[.\s]$')
_EXAMPLES = 3


def structure(published: Outline) -> dict[str, Any]:
    """What a reader needs beside the CSV: code trees, labels, decimals; JSON-ready."""
    _check(published)
    return {
        "schema": SCHEMA,
        "name": published.name,
        "measure": published.measure,
        "frequency": published.frequency,
        "decimals": published.decimals,
        "nonnegative": published.nonnegative,
        **_circumstances(published),
        "dimensions": [_outline(dimension) for dimension in published.dimensions],
    }


def _circumstances(published: Outline) -> dict[str, Any]:
    """What is said only where it is not as usual."""
    said: dict[str, Any] = {}
    if published.vintage:
        said["vintage"] = published.vintage
    if published.where:
        said["where"] = published.where.to_lists()
    if published.recorded:
        said["recorded"] = True
    if published.rounding > 1:
        said["rounding"] = published.rounding
    if published.sides:
        said["intervals"] = True
    if published.changed:
        said["changed"] = published.changed
    return said


def public_cells(shown: Published | Block) -> pa.Table:
    """The columns of the public CSV as text, one row for each combination of codes."""
    block = shown if isinstance(shown, Block) else shown.block()
    published, hidden = block.table, block.suppressed
    if not block.start:  # of a table in blocks, the first tells
        _check(published)
    cells = public_columns(block)
    value = np.where(hidden | block.empty, 0, block.value)
    columns = {published.measure: (value, hidden)}
    columns |= {
        side: (bound, ~hidden | (np.abs(bound) == NO_BOUND))
        for side, bound in block.intervals.items()
    }
    for name, (scaled, blank) in columns.items():
        exact = decimal_text(np.where(blank, 0, scaled), published.decimals)
        text = pc.if_else(pa.array(blank), "", exact)
        cells = cells.set_column(cells.column_names.index(name), name, text)
    return cells


def exact_cells(shown: Published | Block) -> pa.Table:
    """The same columns with values as integers, or decimals, null if suppressed."""
    published = shown.table if isinstance(shown, Block) else shown
    cells = public_cells(shown)
    kind = pa.int64() if published.decimals == 0 else pa.decimal128(38, published.decimals)
    for name in (published.measure, *published.sides):
        text = cells[name]
        value = pc.if_else(pc.equal(text, ""), None, text).cast(kind)
        cells = cells.set_column(cells.column_names.index(name), name, value)
    return cells


def same_published(one: Published, other: Published) -> bool:
    """Whether two tables have the same public files, but for published intervals."""
    one, other = (replace(table, lower=None, upper=None) for table in (one, other))
    return structure(one) == structure(other) and public_cells(one).equals(public_cells(other))


def content_digest(published: Published) -> str:
    """A SHA-256 digest of all that a table shows, which anyone can compute from its files."""
    digest = hashlib.sha256()
    digest.update(json.dumps(structure(published), sort_keys=True, ensure_ascii=True).encode())
    hidden = published.suppressed.ravel()
    for values in (
        np.where(hidden | published.empty.ravel(), 0, published.value.ravel()),
        hidden,
        published.empty.ravel(),
        *(np.where(hidden, bound, 0) for bound in published.intervals.values()),
    ):
        digest.update(np.ascontiguousarray(values, dtype="<i8").tobytes())
    return digest.hexdigest()


def decimal_text(scaled: NDArray[np.int64], decimals: int) -> pa.StringArray:
    """Scaled integers as exact decimal text with exactly `decimals` decimals.

    >>> decimal_text(np.array([1250, -5, 0]), 2).to_pylist()
    ['12.50', '-0.05', '0.00']
    """
    # the view makes |-2**63|, which int64 cannot hold, right as well
    size = np.abs(scaled).view(np.uint64)
    base = np.uint64(10**decimals)
    sign = pc.if_else(pa.array(scaled < 0), "-", "")
    text = pc.binary_join_element_wise(sign, pa.array(size // base).cast(pa.string()), "")
    if decimals == 0:
        return text
    fraction = pc.utf8_lpad(pa.array(size % base).cast(pa.string()), decimals, "0")
    return pc.binary_join_element_wise(text, fraction, ".")


def check_file_name(name: str) -> None:
    """Refuse table names that cannot begin the name of a file on every system."""
    if not 0 < len(name) <= 100 or _NOT_IN_FILE_NAMES.search(name) or _UNPRINTABLE.search(name):
        raise InputError(
            f"the table's name {name!r} cannot be used for files: it must have 1 to 100 "
            'characters, none of < > : " / \\ | ? *, and must not begin or end with a dot or '
            "a space"
        )


# ── writing ─────────────────────────────────────────────────────────────────────────


def tables_in(public: Path) -> list[str]:
    """The names of the tables in a folder of public files."""
    return sorted(path.name.removesuffix(STRUCTURE) for path in public.glob(f"*{STRUCTURE}"))


def _check(published: Outline) -> None:
    check_file_name(published.name)
    check_names(public_names(published))
    texts = [(published.name, published.measure)]
    texts += [(published.name, one) for one in (published.vintage, str(published.where))]
    for dimension in published.dimensions:
        texts += [(dimension.name, one) for one in _texts_of(dimension)]
    if _UNPRINTABLE.search("".join(one for _, one in texts)):
        bad = [(place, one) for place, one in texts if _UNPRINTABLE.search(one)]
        number = Count(len(bad))
        raise InputError(
            f"{number} {number:name, code or label holds|names, codes or labels hold} line breaks "
            "or other control characters, e.g. "
            f"{', '.join(repr(one) for _, one in bad[:_EXAMPLES])} in {bad[0][0]!r}; remove these "
            "before publishing"
        )


def _texts_of(dimension: Dimension) -> Iterator[str]:
    """All that is published of a dimension in words: its name, codes, labels."""
    tree = dimension.hierarchy
    yield dimension.name
    yield from (*tree.codes, *_labels(tree).values())
    yield from (code for c in tree.codes for code in tree.members.get(c, ()))
    for language, labels in _translations(tree).items():
        yield from (language, *labels.values())


def _outline(dimension: Dimension) -> dict[str, Any]:
    tree = dimension.hierarchy
    parents = [tree.codes[i] if i >= 0 else None for i in tree.parent.tolist()]
    translations = _translations(tree)
    members = {code: list(tree.members[code]) for code in tree.codes if code in tree.members}
    return {
        "name": dimension.name,
        "codes": list(tree.codes),
        "parents": parents,
        "labels": _labels(tree),
        # files without these are as readable as those of before there were any
        **({"translations": translations} if translations else {}),
        **({"members": members} if members else {}),
    }


def _labels(tree: Hierarchy) -> dict[str, str]:
    return {code: tree.labels[code] for code in tree.codes if code in tree.labels}


def _translations(tree: Hierarchy) -> dict[str, dict[str, str]]:
    """Labels of codes of the tree only, in the order of its codes; no empty languages."""
    found = {
        language: {code: labels[code] for code in tree.codes if code in labels}
        for language, labels in sorted(tree.translations.items())
    }
    return {language: labels for language, labels in found.items() if labels}
