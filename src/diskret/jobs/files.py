"""The files of a job: where they are, and how they are to be read."""

from __future__ import annotations

from typing import Any, get_args

from diskret.errors import InputError
from diskret.io import Column, DataFile
from diskret.io.data_file import OPTIONS, OTHER_WORKBOOKS, PACKED, SUFFIXES, FileFormat
from diskret.jobs.schema import Section
from diskret.parameters import parameters

#: How a file is read, in every section that names one.
FILE_KEYS = ("format", *OPTIONS)


def read_file(section: Section, key: str) -> DataFile:
    """The file that a key names, with the options that stand beside it."""
    path = section.existing_file(key, or_folder=section.values.get("format") in (None, "parquet"))
    by_suffix = "parquet" if path.is_dir() else SUFFIXES.get(path.suffix.lower())
    fields = isinstance(section.values.get("columns"), list) and any(
        isinstance(column, dict) for column in section.values["columns"]
    )
    if path.suffix.lower() in OTHER_WORKBOOKS:
        raise section.error(
            f"{path.name} is read as .xlsx only; open it in a spreadsheet program and save it so",
            key,
        )
    if path.suffix.lower() in PACKED:
        raise section.error(f"{path.name} is packed; unpack it, and name what was in it", key)
    known = get_args(FileFormat)
    kind = section.choice("format", "fixed" if fields else by_suffix, known)
    if kind is None:
        raise section.error(
            f"the suffix of {path.name} does not tell the format; add format = one of "
            f"{', '.join(known)}",
            key,
        )
    for option, formats in OPTIONS.items():
        if option in section and kind not in formats:
            asked = " and ".join(f'"{one}"' for one in formats)
            raise section.error(f"'{option}' is for format = {asked} only", option)
    if kind != "fixed" and by_suffix not in (None, kind):
        suffixes = " or ".join(s for s, name in SUFFIXES.items() if name == kind)
        raise section.error(f"a {kind} file must end in {suffixes}, not {path.name}", key)
    if fields and kind != "fixed":
        raise section.error(
            f"'columns' are names for format = \"{kind}\"; places in the line are for format = "
            '"fixed"',
            "columns",
        )
    given: dict[str, Any] = {
        option: section.value(option, parameters(DataFile)[option])
        for option in OPTIONS
        if option in section and option not in ("columns", "delimiter")
    }
    if "delimiter" in section:
        given["delimiter"] = section.values["delimiter"]  # a tab is no blank text here
    given["columns"] = _fields(section) if kind == "fixed" else section.texts("columns")
    try:
        return DataFile(path, format=kind, **given)  # pyright: ignore[reportArgumentType]
    except InputError as error:
        named = str(error).partition("=")[0]
        wrong = named if named in section else "encoding" if "encoding" in str(error) else key
        raise section.error(f"'{wrong}': {error}", wrong) from error


def _fields(section: Section) -> tuple[Column, ...]:
    columns = tuple(_column(column) for column in section.sections("columns"))
    if not columns:
        header = ".".join(part for part in section.path if isinstance(part, str))
        raise section.error(f'format = "fixed" needs [[{header}.columns]]: name, start, width')
    names = [column.name for column in columns]
    for position, name in enumerate(names):
        if name in names[:position]:
            raise section.error(f"the column '{name}' is there twice", "columns", position, "name")
    return columns


def _column(section: Section) -> Column:
    section.check(required=("name", "start", "width"))
    return Column(
        section.text("name", ""), section.whole("start", 1, 1), section.whole("width", 1, 1)
    )
