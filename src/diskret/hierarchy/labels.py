"""Labels: what readers see beside or instead of a code, in one language or several."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from diskret.errors import HierarchyError
from diskret.hierarchy.build import file_text, frame_columns
from diskret.hierarchy.codes import as_code, as_codes, some
from diskret.texts.numbers import Count

_LANGUAGE = re.compile("[a-z]{2,3}")
_COLUMNS = ("code", "label", "language")
# language, or "" for labels in no particular one → code → text
_Labels = dict[str, dict[str, str]]


def read_labels(
    labels: Any, language: str | None, encoding: str, tree: Collection[str]
) -> dict[str, dict[str, str]]:
    """Language, or "" for none in particular → code → label; some are of codes of the tree."""
    if isinstance(labels, str | PathLike):
        found = _read(Path(labels), language, encoding)
    elif _is_mapping_of_codes(labels):
        found = _of_mapping(labels, language)
    else:
        found = _of_columns(frame_columns(labels, "codes and labels"), language, "the labels")
    wrong = [repr(name) for name in found if name and not _LANGUAGE.fullmatch(name)]
    if wrong:
        raise HierarchyError(
            f"languages that are none ({len(wrong)}): {some(wrong)}; write two or three small "
            "letters, e.g. 'en' or 'de'"
        )
    _check_codes(tree, found)
    return found


def _is_mapping_of_codes(labels: object) -> bool:
    """Whether this is code → label, and not a mapping of the columns code and label."""
    if not isinstance(labels, Mapping):
        return False
    columns = set(labels) <= set(_COLUMNS) and {"code", "label"} <= set(labels)
    return not (columns and all(not isinstance(v, str | Mapping) for v in labels.values()))


def _of_mapping(labels: Mapping[Any, Any], language: str | None) -> _Labels:
    found: _Labels = {}
    codes = as_codes(labels, "code")
    for code, text in zip(codes, labels.values(), strict=True):
        if isinstance(text, Mapping) and language is not None:
            raise HierarchyError(
                f"the labels of {code!r} name their languages themselves; leave out language="
            )
        texts = text if isinstance(text, Mapping) else {language or "": text}
        for name, one in texts.items():
            if not isinstance(one, str) or not isinstance(name, str):
                raise HierarchyError(
                    f"the label of {code!r} is {one!r}; write text, or a mapping such as "
                    "{'en': 'North', 'de': 'Norden'}"
                )
            if one.strip():
                found.setdefault(name, {})[code] = one.strip()
    return found


def _of_columns(columns: Mapping[str, Iterable[Any]], language: str | None, what: str) -> _Labels:
    missing = [repr(name) for name in ("code", "label") if name not in columns]
    unknown = [repr(name) for name in columns if name not in _COLUMNS]
    if missing or unknown:
        raise HierarchyError(
            f"{what}: the columns must be 'code', 'label' and perhaps 'language' (missing: "
            f"{some(missing) or 'none'}; unknown: {some(unknown) or 'none'}); rename or select them"
        )
    if "language" in columns and language is not None:
        raise HierarchyError(f"{what} have a column 'language' already; leave out language=")
    codes = as_codes(columns["code"], "code")
    names = [as_code(name) or "" for name in columns.get("language", [language or ""] * len(codes))]
    found: _Labels = {}
    twice: list[str] = []
    for code, text, name in zip(codes, columns["label"], names, strict=True):
        label = as_code(text)
        if not label:
            continue
        texts = found.setdefault(name, {})
        if texts.get(code, label) != label:
            twice.append(f"{code!r} is {texts[code]!r} and {label!r}")
        texts[code] = label
    if twice:
        raise HierarchyError(
            f"{what}: codes with two labels in one language ({len(twice)}): {some(twice)}; keep one"
        )
    return found


def _check_codes(tree: Collection[str], found: _Labels) -> None:
    """Labels of codes outside the tree are a list made for another one, if none fits."""
    given = {code for texts in found.values() for code in texts}
    if not given:
        raise HierarchyError("there are no labels; each needs a code and a text")
    if not given & set(tree):
        raise HierarchyError(
            f"none of the {len(given):,} labelled codes ({some([repr(c) for c in sorted(given)])}) "
            f"is a code of the tree ({some([repr(c) for c in tree])}); are leading zeros "
            "missing, or is this the list of another variable?"
        )


# ── files ───────────────────────────────────────────────────────────────────────────


def _read(path: Path, language: str | None, encoding: str) -> _Labels:
    """A ``.csv`` file with a header, or a ``.cdl`` file of τ-ARGUS: code, comma, label."""
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".cdl"):
        raise HierarchyError(f"{path}: a file of labels must end in .csv or .cdl")
    text = file_text(path, encoding)
    if suffix == ".cdl":
        return _of_columns(_cdl_columns(path, text), language, str(path))
    try:  # None: lines may end in any way
        rows = [row for row in csv.reader(io.StringIO(text, newline=None)) if row]
    except csv.Error as error:
        raise HierarchyError(f"{path}: cannot be read as CSV ({error})") from error
    if not rows:
        raise HierarchyError(f"{path}: the file is empty")
    head = [name.strip() for name in rows[0]]
    odd = [str(i) for i, row in enumerate(rows, start=1) if len(row) != len(head)]
    if odd:
        number = Count(len(odd))
        raise HierarchyError(
            f"{path}: {number} {number:row has|rows have} not {len(head)} columns as the first "
            f"has (row {some(odd)}); put labels that hold a comma in quotes"
        )
    columns = {name: [row[i] for row in rows[1:]] for i, name in enumerate(head)}
    return _of_columns(columns, language, str(path))


def _cdl_columns(path: Path, text: str) -> dict[str, list[str]]:
    columns: dict[str, list[str]] = {"code": [], "label": []}
    wrong: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        code, comma, label = line.partition(",")
        if not comma or not code.strip():
            wrong.append(str(number))
            continue
        columns["code"].append(code)
        columns["label"].append(label.strip().strip('"'))
    if wrong:
        many = Count(len(wrong))
        raise HierarchyError(
            f"{path}: {many} {many:line is|lines are} not a code, a comma and a label (line "
            f"{some(wrong)})"
        )
    return columns
