"""Tables and templates for the tests of workbooks in an office's own layout."""

import zipfile
from typing import Any

import numpy as np
import openpyxl

from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension, Published

LABELS = {"N": {"en": "North", "de": "Norden"}, "08": {"en": "Mining", "de": "Bergbau"}}


def a_published(name="turnover", decimals=2):
    """4 industries by 3 regions; four cells hidden, one empty; ones that nothing else shows."""
    nace = Hierarchy(("Total", "B", "08", "C"), np.array([-1, 0, 1, 0]))
    nace = nace.with_labels({"08": LABELS["08"]})
    region = Hierarchy.flat(["N", "S"]).with_labels({"N": LABELS["N"]})
    value = np.array(
        [[771125, 331100, 440025], [231111, 0, 0], [231111, 0, 0], [540014, 540014, 0]]
    )
    suppressed = np.zeros((4, 3), dtype=bool)
    suppressed[1:3, 1:] = True
    empty = np.zeros((4, 3), dtype=bool)
    empty[3, 2] = True
    dimensions = (Dimension("nace", nace), Dimension("region", region))
    return Published(name, dimensions, name, False, decimals, value, suppressed, empty)


def a_template(path, cells=None, change=None):
    """A workbook with these cells, on a sheet called Table, after `change(book, sheet)`."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Table"
    for cell, content in (cells or {"A1": "{{nace=C}}", "A2": 2025}).items():
        sheet[cell] = content
    if change is not None:
        change(book, sheet)
    book.save(path)
    return path


def rezipped(path, changes):
    """The same archive with parts replaced, added, or left out where they are None."""
    with zipfile.ZipFile(path) as archive:
        parts: dict[str, Any] = {name: archive.read(name) for name in archive.namelist()}
    for name, change in changes.items():
        if change is None or isinstance(change, bytes):
            parts[name] = change
        else:
            parts[name] = change(parts[name].decode()).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            if content is not None:
                entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, content)
