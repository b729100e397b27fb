"""PX files of PC-Axis and PxWeb: in UTF-8, without a date, always the same bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path

import numpy as np

from diskret.io.px import px_text
from diskret.publish.formats.cube import (
    EMPTY,
    HIDDEN,
    NO_FIGURE,
    Axis,
    Cube,
    interval_text,
)

#: What stands in the data, by what a cell is.
SYMBOLS = {HIDDEN: "..", EMPTY: "-", NO_FIGURE: "."}
_WIDEST = 256
_MOST_DECIMALS, _MOST_SHOWN = 15, 6
_LONGEST_NAME = 20
_MOST_ACROSS = 50
#: Periods of a year, a half, a quarter, a month, a week, and how PX calls them.
_SCALES = (
    ("A1", re.compile(r"(\d{4})(?:-A1)?")),
    ("H1", re.compile(r"(\d{4})-S([12])")),
    ("Q1", re.compile(r"(\d{4})-Q([1-4])")),
    ("M1", re.compile(r"(\d{4})-M?(0[1-9]|1[0-2])")),
    ("W1", re.compile(r"(\d{4})-W([0-5]\d)")),
)


def write_px(cube: Cube, path: str | PathLike[str]) -> None:
    """Write a cube as a PX file.

    Hidden cells are ``".."`` and cells without any unit ``"-"``; what readers see instead is said
    by ``DATASYMBOL2`` and ``DATASYMBOLNIL``. The internal profile has every value, and a
    ``CELLNOTE`` for each sensitive cell and for each that protects others.
    """
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        for line in (*_head(cube), *_cell_notes(cube), *_data(cube)):
            file.write(line + "\n")


def _head(cube: Cube) -> Iterator[str]:
    words, most = cube.words, max(cube.decimals)
    axes = _axes(cube)
    yield from _said("CHARSET", ["ANSI"])
    yield from _said("AXIS-VERSION", ["2013"])
    yield from _said("CODEPAGE", ["utf-8"])
    yield from _said("LANGUAGE", [cube.language])
    yield f"DECIMALS={min(most, _MOST_DECIMALS)};"
    yield f"SHOWDECIMALS={min(most, _MOST_SHOWN)};"
    yield from _said("MATRIX", [cube.name[:_LONGEST_NAME]])
    yield from _said("TABLEID", [cube.name])
    yield from _said("SUBJECT-CODE", [cube.name[:_LONGEST_NAME]])
    yield from _said("SUBJECT-AREA", [cube.name])
    yield from _said("TITLE", [cube.title])
    yield from _said("DESCRIPTION", [cube.title])
    several = len(cube.measures) > 1
    yield from _said("CONTENTS", [cube.name if several else cube.measures[0]])
    if not several:
        yield from _said("UNITS", [_unit(cube, 0)])
    stub, heading = axes[: len(axes) - _across(axes)], axes[len(axes) - _across(axes) :]
    if stub:
        yield from _said("STUB", [axis.name for axis in stub])
    if heading:
        yield from _said("HEADING", [axis.name for axis in heading])
    if several:
        yield from _said("CONTVARIABLE", [cube.contents])
    for axis in axes:
        yield from _said("VALUES", values_of(axis), [axis.name])
    if timeval := _timeval(cube.periods):
        yield f'TIMEVAL("{px_text(cube.period)}")={timeval};'
    for axis in axes:
        yield from _said("CODES", axis.codes, [axis.name])
    for axis in axes:
        if any(parent >= 0 for parent in axis.parents):
            yield from _hierarchy(axis)
    if several:
        for i, measure in enumerate(values_of(axes[-1])):
            yield from _said("UNITS", [_unit(cube, i)], [measure])
            if cube.decimals[i] < most:
                of = _brackets([cube.contents, measure])
                yield f"PRECISION{of}={min(cube.decimals[i], _MOST_SHOWN)};"
    symbols, legend = cube.symbols, cube.symbols.legend[cube.language]
    if NO_FIGURE in cube.state:
        mark = words["no figure symbol"]
        yield from _said("DATASYMBOL1", [mark if symbols.suppressed != mark else "..."])
    yield from _said("DATASYMBOL2", [symbols.suppressed])
    yield from _said("DATASYMBOLNIL", [symbols.nothing])
    if cube.kept is not None:
        yield from _said("NOTE", [words["internal.notice"]])
    lines = [f"{symbols.suppressed} = {legend[symbols.suppressed]}"]
    lines.append(f"{symbols.nothing} = {legend[symbols.nothing]}")
    yield from _said("NOTE", ["\n".join(lines)])
    if cube.notes:
        yield from _said("NOTE", ["\n".join(cube.notes)])


def _unit(cube: Cube, measure: int) -> str:
    return cube.words["number"] if cube.counts[measure] else cube.labels[measure]


def _axes(cube: Cube) -> tuple[Axis, ...]:
    """All variables in the order of the data; an only period is the first, an only measure none."""
    axes = list(cube.axes)
    if cube.periods:
        # where it stands makes no difference to the data, and across it would be a column alone
        at = 0 if len(cube.periods) == 1 else len(axes)
        axes.insert(at, _flat(cube.period, cube.periods, cube.periods))
    if len(cube.measures) > 1:
        axes.append(_flat(cube.contents, cube.measures, cube.labels))
    return tuple(axes)


def _across(axes: tuple[Axis, ...]) -> int:
    """How many variables run across: the last, if it is not too long for a line."""
    return int(len(axes[-1]) <= _MOST_ACROSS)


def _flat(name: str, codes: tuple[str, ...], labels: tuple[str, ...]) -> Axis:
    return Axis(name, codes, labels, (-1,) * len(codes))


def values_of(axis: Axis) -> list[str]:
    """What each code is called; labels that are there twice have their code before them."""
    texts = [label or code for code, label in zip(axis.codes, axis.labels, strict=True)]
    seen: dict[str, int] = {}
    for text in texts:
        seen[text] = seen.get(text, 0) + 1
    return [
        text if seen[text] == 1 else f"{code} {text}"
        for code, text in zip(axis.codes, texts, strict=True)
    ]


def _hierarchy(axis: Axis) -> Iterator[str]:
    pairs = [
        f'"{px_text(axis.codes[parent])}":"{px_text(code)}"'
        for code, parent in zip(axis.codes, axis.parents, strict=True)
        if parent >= 0
    ]
    yield from _wrapped(f"HIERARCHIES{_brackets([axis.name])}=", [
        f'"{px_text(axis.codes[0])}"', *pairs
    ])  # fmt: skip


def _timeval(periods: tuple[str, ...]) -> str:
    """The scale of the periods with them; empty if they are of none or of several."""
    for scale, form in _SCALES if periods else ():
        found = [form.fullmatch(period) for period in periods]
        if all(found):
            texts = ["".join(one.groups()) for one in found if one is not None]
            return ",".join([f"TLIST({scale})", *(f'"{text}"' for text in texts)])
    return ""


# ── cells ───────────────────────────────────────────────────────────────────────────


def _cell_notes(cube: Cube) -> Iterator[str]:
    """Published ranges of hidden cells; or what the office knows of them."""
    if cube.kept is not None:
        noted = {i: text for i, text in enumerate(cube.kept.reasons) if text}
    elif cube.lower is not None:
        hidden = np.flatnonzero(cube.state == HIDDEN).tolist()
        noted = {i: interval_text(cube, i) for i in hidden}
    else:
        return
    axes = _axes(cube)
    shape = tuple(map(len, axes))
    names = [values_of(axis) for axis in axes]
    for cell, text in noted.items():
        if text:
            at = np.unravel_index(cell, shape)
            where = [of[int(i)] for of, i in zip(names, at, strict=True)]
            yield from _said("CELLNOTE", [text], where)


def _data(cube: Cube) -> Iterator[str]:
    tokens = np.array(cube.texts(), dtype=object)
    for state, symbol in SYMBOLS.items():
        tokens[cube.state == state] = f'"{symbol}"'
    axes = _axes(cube)
    across = len(axes[-1]) if _across(axes) else 1
    rows = tokens.reshape(-1, across).tolist()
    yield "DATA="
    for i, row in enumerate(rows):
        end = ";" if i == len(rows) - 1 else ""
        yield from _filled([*row[:-1], row[-1] + end])


def _filled(tokens: list[str]) -> Iterator[str]:
    """Tokens with blanks between them, in lines that are not too long."""
    line = tokens[0]
    for token in tokens[1:]:
        if len(line) + 1 + len(token) > _WIDEST:
            yield line
            line = token
        else:
            line += " " + token
    yield line


# ── keywords ────────────────────────────────────────────────────────────────────────


def _said(keyword: str, texts: Iterable[str], of: Iterable[str] = ()) -> Iterator[str]:
    pieces = [f'"{px_text(text)}"' for text in texts]
    yield from _wrapped(f"{keyword}{_brackets(of)}=", pieces)


def _brackets(of: Iterable[str]) -> str:
    inside = ",".join(f'"{px_text(text)}"' for text in of)
    return f"({inside})" if inside else ""


def _wrapped(before: str, pieces: list[str]) -> Iterator[str]:
    """A keyword with its texts, in lines of at most 256 characters; long texts go on in the next.

    Texts that touch each other, with nothing but an end of line between them, are one.
    """
    line = before
    for i, piece in enumerate(pieces):
        whole = piece + (";" if i == len(pieces) - 1 else ",")
        if len(line) + len(whole) <= _WIDEST:
            line += whole
            continue
        yield line
        line = ""
        while len(whole) > _WIDEST:
            yield whole[: _WIDEST - 1] + '"'
            whole = '"' + whole[_WIDEST - 1 :]
        line = whole
    yield line
