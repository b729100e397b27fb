"""What a file is, by its first bytes and its name."""

from __future__ import annotations

from pathlib import Path

#: First bytes → the suffix of such files. Bytes win over names.
_BEGINNINGS: tuple[tuple[bytes, str], ...] = (
    (b"<stata_dta>", ".dta"),
    (b"$FL2", ".sav"),
    (b"$FL3", ".sav"),
    (b"SQLite format 3\0", ".sqlite"),
    (b"PAR1", ".parquet"),
    (b"ARROW1", ".feather"),
    (b"HEADER RECORD*******LIBRARY", ".xpt"),
    (b"RDX", ".rdata"),
    (b"RDA", ".rdata"),
    (b"\x80\x02", ".pkl"),
    (b"\x80\x03", ".pkl"),
    (b"\x80\x04", ".pkl"),
    (b"\x80\x05", ".pkl"),
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"GIF8", ".gif"),
    (b"%PDF", ".pdf"),
    (b"\x1f\x8b", ".gz"),
    (b"7z\xbc\xaf", ".7z"),
    (b"\xd0\xcf\x11\xe0", ".xls"),  # the old files of Office, and new ones with a password
)
_ZIP = b"PK\x03\x04"
#: Files that are zip archives with a form of their own.
_ZIPPED = (".xlsx", ".xlsm", ".docx", ".pptx", ".ods", ".odt", ".npz")
#: Suffixes that say the same; R's files are compressed in several ways.
_SAME = {
    ".jpeg": ".jpg",
    ".pickle": ".pkl",
    ".rda": ".rdata",
    ".db": ".sqlite",
    ".sqlite3": ".sqlite",
    ".tsv": ".csv",
    ".htm": ".html",
}
_COMPRESSED = (".rds", ".rda", ".rdata")

TABLES = (".csv", ".parquet")
WORKBOOKS = (".xlsx", ".xlsm")
IMAGES = (".png", ".jpg", ".gif")
ARCHIVES = (".zip",)
#: Files of text that may hold tables.
TEXTS = (".html", ".tex", ".txt", ".md", ".log", ".ipynb")


def suffix_of(name: str, begin: bytes) -> str:
    """The suffix that says what a file is.

    >>> suffix_of("table.csv", b"region,n"), suffix_of("table.csv", b"PAR1")
    ('.csv', '.parquet')
    """
    said = Path(name).suffix.lower()
    if said in _COMPRESSED:
        return said
    for bytes_, suffix in _BEGINNINGS:
        if begin.startswith(bytes_):
            return suffix
    if begin.startswith(_ZIP):
        return said if said in _ZIPPED else ".zip"
    return _SAME.get(said, said)


def names_of(suffix: str) -> set[str]:
    """All suffixes that say the same as one of `suffix_of`."""
    return {suffix, *(name for name, same in _SAME.items() if same == suffix)}
