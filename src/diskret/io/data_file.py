"""A file of data and how it is to be read: the one value that every reader takes."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal

from diskret.errors import InputError
from diskret.io.columns import check_names
from diskret.io.fixed import Column, check_columns
from diskret.io.spelling import Spelling
from diskret.parameters import Declared, Whole

FileFormat = Literal[
    "parquet", "csv", "fixed", "xlsx", "sas7bdat", "xpt", "sav", "dta", "px", "jsonstat", "sdmx"
]
#: What each suffix means.
SUFFIXES: dict[str, FileFormat] = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "csv",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".sas7bdat": "sas7bdat",
    ".xpt": "xpt",
    ".sav": "sav",
    ".zsav": "sav",
    ".dta": "dta",
    ".px": "px",
    ".json": "jsonstat",
}
#: Suffixes of workbooks that are not read.
OTHER_WORKBOOKS = (".xls", ".xlsb", ".ods")
#: Suffixes of files that hold others, packed.
PACKED = (".gz", ".zip", ".bz2", ".xz", ".zst", ".7z")
#: How the names of SDMX-CSV files end that diskret writes.
_SDMX = (".sdmx1.csv", ".sdmx2.csv")
#: Option → the formats that have it.
OPTIONS: dict[str, tuple[FileFormat, ...]] = {
    "encoding": ("csv", "fixed", "sas7bdat", "xpt", "sav", "dta", "px", "sdmx"),
    "columns": ("csv", "fixed", "xlsx"),
    "delimiter": ("csv",),
    "decimal": ("csv", "fixed", "xlsx"),
    "thousands": ("csv", "fixed", "xlsx"),
    "sheet": ("xlsx",),
    "header": ("csv", "xlsx"),
}


@dataclass(frozen=True)
class DataFile(Declared):
    r"""A file of records or of cells, with what has to be known to read it.

    Stands wherever a path does: in `tabulate`, `Table.from_cells`, `Microdata`, `audit` and others.
    Codes stay text as the file has them; numbers are read by `decimal` and `thousands` where they
    are used as numbers.

    Parameters
    ----------
    path
        The file.
    format
        ``"parquet"``, ``"csv"``, ``"fixed"`` (fixed places in the line), ``"xlsx"`` (a workbook,
        needs the extra ``excel``), ``"sas7bdat"``, ``"xpt"`` (SAS), ``"sav"`` (SPSS) and
        ``"dta"`` (Stata), which need the extra ``stat``, or ``"px"``, ``"jsonstat"`` and ``"sdmx"``
        (SDMX-CSV); None: by the suffix, and fixed if `columns` are
        [`Column`][diskret.io.fixed.Column].
    columns
        Names of the columns of a CSV file or a sheet that has no line with names; or a
        [`Column`][diskret.io.fixed.Column] for each field of fixed format.
    encoding
        Of text, e.g. ``"cp1252"``, ``"latin-1"``, ``"utf-16"``; None: UTF-8, or what the file says.
    delimiter
        Between fields of CSV; None: the one of ``,``, ``;``, tab and ``|`` that is most frequent in
        the first line.
    decimal
        Decimal mark of numbers that are text, ``"."`` or ``","``.
    thousands
        Mark between thousands: one of ``. , ' ’ _`` or a blank; ``""``: none.
    sheet
        Name of the sheet of a workbook; None: the first that is not hidden.
    header
        Row of a sheet, or line of a CSV file, that holds the names, the first is 1; what stands
        above it is left out.

    Raises
    ------
    InputError
        An option is not admissible, or the format does not have it.

    Examples
    --------
    >>> import os, tempfile
    >>> import diskret as dk
    >>> path = os.path.join(tempfile.mkdtemp(), "firms.csv")
    >>> with open(path, "w", encoding="cp1252") as file:
    ...     _ = file.write("Köln;1.200,5\nKöln;300\nBonn;50,25\n")
    >>> firms = dk.DataFile(
    ...     path, columns=["town", "sales"], encoding="cp1252", decimal=",", thousands="."
    ... )
    >>> dk.tabulate(firms, by={"town": None}, value="sales", decimals=2).cells.to_pydict()["sales"]
    [1550.75, 50.25, 1500.5]
    """

    path: str | PathLike[str]
    format: FileFormat | None = None
    columns: Sequence[str | Column] = ()
    encoding: str | None = None
    delimiter: str | None = None
    decimal: Literal[".", ","] = "."
    thousands: Literal["", ".", ",", " ", "'", "’", "_"] = ""
    sheet: str | None = None
    header: Annotated[int, Whole(1)] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.path, (str, PathLike)):
            raise InputError(f"path= must be the path of a file, not {self.path!r}")
        if isinstance(self.columns, str):
            raise InputError(f"columns= must be a list of names, not {self.columns!r}")
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "format", self._format())
        for option, formats in OPTIONS.items():
            given = getattr(self, option) != getattr(DataFile, option)
            if given and self.format not in formats:
                raise InputError(
                    f"{option}= is for {' and '.join(formats)} files; {self.path} is read as "
                    f"{self.format}"
                )
        self._check()

    def _format(self) -> FileFormat | None:
        if self.format is not None:
            return self.format
        if any(isinstance(column, Column) for column in self.columns):
            return "fixed"
        if self.file.name.lower().endswith(_SDMX):
            return "sdmx"
        return SUFFIXES.get(self.file.suffix.lower())

    def _check(self) -> None:
        if self.decimal == self.thousands:
            other = "," if self.decimal == "." else "."
            raise InputError(
                f"decimal= and thousands= cannot both be {self.decimal!r}; say decimal={other!r} "
                "if it stands between thousands"
            )
        if self.delimiter is not None and (
            len(self.delimiter) != 1 or self.delimiter in '"\r\n' or not self.delimiter.isascii()
        ):
            raise InputError(f"delimiter= must be one character, not {self.delimiter!r}")
        if self.encoding is not None:
            check_encoding(self.encoding)
        if self.format == "fixed":
            check_columns(self.columns)
        elif self.columns:
            check_names(self.columns, "columns=: ")
            if self.header > 1:
                raise InputError("header= is the row of the names, which columns= gives already")

    @property
    def names(self) -> list[str]:
        """The names in `columns`."""
        return [one.name if isinstance(one, Column) else one for one in self.columns]

    @property
    def file(self) -> Path:
        """The path as one."""
        return Path(self.path)

    @property
    def spelling(self) -> Spelling | None:
        """How numbers are written; None: as usual."""
        found = Spelling(self.decimal, self.thousands)
        return None if found.usual else found

    @property
    def plain(self) -> bool:
        """Whether nothing was said of how it is read."""
        return all(getattr(self, name) == getattr(DataFile, name) for name in OPTIONS)

    def at(self, path: Any) -> DataFile:
        """Another file that is read in the same way."""
        return replace(self, path=path)


def check_encoding(encoding: Any) -> None:
    """Refuse what is no encoding of text."""
    try:
        if codecs.lookup(encoding)._is_text_encoding:  # pyright: ignore
            return
    except (LookupError, TypeError, ValueError):
        pass
    raise InputError(f"the encoding {encoding!r} is not known; use e.g. 'latin-1'")
