"""What a filled template may hold: what the template showed, and what is published.

The written file is read back with code of its own, which knows nothing of how it was filled:
every part, element, attribute and text of it must be on a list, every number must stand in the
template at the same place or be a published value.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from diskret.publish.guard.workbook import Content, contents, workbook_problems
from diskret.tables import Published
from diskret.texts.lists import first_of

_EXAMPLES = 3
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}", re.DOTALL)


def template_problems(
    path: Path, template: Path, tables: Sequence[Published], texts: Collection[str]
) -> Iterator[str]:
    """What a filled template holds beyond what it may: a problem each, with sheet and cell.

    `texts` may stand in place of a placeholder, or instead of a number: symbols, legends, titles,
    labels.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            problems = list(workbook_problems(path, archive))
            if not problems:
                written, unused = contents(archive)
                problems += unused
                with zipfile.ZipFile(template) as original:
                    given, _ = contents(original)
                problems += _cells(written, given, tables, frozenset(texts))
    except (OSError, zipfile.BadZipFile, ElementTree.ParseError, UnicodeDecodeError) as error:
        problems = [f"content that cannot be read ({error})"]
    except (KeyError, ValueError, IndexError) as error:
        problems = [f"content that does not fit together ({error!r})"]
    for problem in dict.fromkeys(problems):
        yield f"{path.name} has {problem}"


# ── the cells ───────────────────────────────────────────────────────────────────────


def _cells(
    written: Mapping[str, Content],
    given: Mapping[str, Content],
    tables: Sequence[Published],
    texts: frozenset[str],
) -> Iterator[str]:
    if list(written) != list(given):
        yield "other sheets than the template"
        return
    published = [(table.decimals, _published(table)) for table in tables]
    for title, sheet in written.items():
        original = given[title]
        if sheet.headers - original.headers:
            yield f"headers or footers other than the template in {title!r}"
        wrong: dict[str, list[str]] = {}
        for cell, content in sheet.cells.items():
            there = original.cells.get(cell)
            if isinstance(content, str):
                if "{{" in content:
                    wrong.setdefault("a placeholder that was not filled", []).append(cell)
                elif content != there and not _replaced(content, there, texts):
                    wrong.setdefault("a text that is not on the list", []).append(cell)
            elif not (_same(content, there) or _is_published(sheet.exact[cell], published)):
                wrong.setdefault("a number that is not published", []).append(cell)
        for what, cells in wrong.items():
            yield f"{what} in {title!r}, {first_of(cells, _EXAMPLES)}"


def _same(number: float, there: float | str | None) -> bool:
    """Whether two numbers agree in the 15 digits that a spreadsheet keeps."""
    return isinstance(there, float) and f"{number:.15g}" == f"{there:.15g}"


def _replaced(text: str, there: float | str | None, texts: frozenset[str]) -> bool:
    """Whether a text is on the list, or the template's with placeholders replaced by such."""
    if text in texts:
        return True
    if not isinstance(there, str) or "{{" not in there:
        return False
    # the marker of a block is gone, the heading beside it stays
    if text == _PLACEHOLDER.sub("", there).strip():
        return True
    pattern = "(.*)".join(map(re.escape, _PLACEHOLDER.split(there)))
    found = re.fullmatch(pattern, text, re.DOTALL)
    return found is not None and all(part in texts for part in found.groups())


def _published(table: Published) -> frozenset[int]:
    """The scaled values that may be seen; 0 for cells in which there is nothing."""
    shown = np.where(table.empty, 0, table.value)[~table.suppressed]
    return frozenset(shown.tolist())


def _is_published(text: str, tables: Sequence[tuple[int, Collection[int]]]) -> bool:
    try:
        number = Decimal(text)
        return any(number.scaleb(decimals) in values for decimals, values in tables)
    except ArithmeticError:  # beyond all exponents
        return False
