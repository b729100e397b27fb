"""The written workbook as a file: neutral properties, no theme, always the same bytes."""

from __future__ import annotations

import io
import re
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_CORE = (
    _HEAD + "<cp:coreProperties "
    'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dcterms="http://purl.org/dc/terms/" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
    '<dcterms:created xsi:type="dcterms:W3CDTF">2000-01-01T00:00:00Z</dcterms:created>'
    "</cp:coreProperties>"
)
_APP = (
    _HEAD + "<Properties "
    'xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties">'
    "<Application>Microsoft Excel</Application></Properties>"
)
# openpyxl writes 98.4 with 16 digits, as 98.40000000000001; a spreadsheet keeps 15
_FRACTION = re.compile(r"<v>(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)</v>")
_THEME = "xl/theme/theme1.xml"
_THEME_LINK = re.compile(r"<(?:Override|Relationship)\b[^>]*theme[^>]*/>")


def save(book: Any, path: Path) -> None:
    """Write an openpyxl workbook without author, time or theme."""
    raw = io.BytesIO()
    book.save(raw)
    with (
        zipfile.ZipFile(raw) as source,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for part in sorted(source.namelist()):
            if part == _THEME:
                continue
            content = source.read(part).decode("utf-8")
            if part == "docProps/core.xml":
                content = _CORE
            elif part == "docProps/app.xml":
                content = _APP
            elif part in ("[Content_Types].xml", "xl/_rels/workbook.xml.rels"):
                content = _THEME_LINK.sub("", content)
            elif part.startswith("xl/worksheets/"):
                content = _FRACTION.sub(lambda v: f"<v>{Decimal(v[1]):.15g}</v>", content)
            entry = zipfile.ZipInfo(part, _ZIP_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(entry, content)
