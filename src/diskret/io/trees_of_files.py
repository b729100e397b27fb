"""Code trees that stand in files for exchange, beside the cells."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

import pyarrow as pa

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io.data_file import DataFile
from diskret.io.json_stat import parse_json_stat
from diskret.io.px import parse_px


def tree_in(file: str | PathLike[str] | DataFile, column: str) -> Hierarchy:
    """The code tree of a column with its labels, as a PX or JSON-stat file tells it.

    Parameters
    ----------
    file
        The file.
    column
        Name of the variable.

    Raises
    ------
    InputError
        The file is of another kind, has no such variable, or tells no tree of it.
    """
    file = file if isinstance(file, DataFile) else DataFile(file)
    if file.format == "px":
        total, parents, labels = _of_px(file, column)
    elif file.format == "jsonstat":
        total, parents, labels = _of_json_stat(file, column)
    else:
        raise InputError(f"{file.path}: code trees stand in PX and JSON-stat files")
    if not parents:
        raise InputError(f"{file.path} tells no code tree of {column!r}; make one of its codes")
    frame = pa.table({"code": list(parents), "parent": list(parents.values())})
    own = {code: label for code, label in labels.items() if label != code}
    return Hierarchy.from_parents(frame, total).with_labels(own)


def _of_px(file: DataFile, column: str) -> tuple[str, dict[str, str], dict[str, str]]:
    """The total, code → parent and code → label, of ``HIERARCHIES``."""
    px = parse_px(file.file, file.encoding)
    if column not in px.variables:
        raise _unknown(file, column, px.variables)
    values = px.texts("HIERARCHIES", column)
    codes = px.codes(column)
    labels = dict(zip(codes, px.texts("VALUES", column), strict=True))
    pairs = zip(values[1::3], values[3::3], strict=True)
    return (values or ("",))[0], {code: parent for parent, code in pairs}, labels


def _of_json_stat(file: DataFile, column: str) -> tuple[str, dict[str, str], dict[str, str]]:
    """The same of ``child``."""
    found = parse_json_stat(file.file)
    if column not in found.content["id"]:
        raise _unknown(file, column, found.content["id"])
    child = found.content["dimension"][column]["category"].get("child", {})
    parents = {code: parent for parent, codes in child.items() for code in codes}
    tops = [code for code in child if code not in parents]
    return (tops or [""])[0], parents, found.labels(column)


def _unknown(file: DataFile, column: str, there: Sequence[str]) -> InputError:
    named = ", ".join(map(repr, there))
    return InputError(f"{file.path}: no variable is called {column!r}; there are {named}")
