"""The workbook in the layout of the office, among the files of a release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from diskret.errors import InputError
from diskret.publish.contract import Look
from diskret.publish.formats.template import fill_template, template_texts
from diskret.publish.guard.check import FilledTemplate
from diskret.tables import Published
from diskret.tables.public_files import check_file_name


def fill_into(
    folder: Path,
    tables: Sequence[Published],
    template: Path,
    look: Look,
) -> FilledTemplate:
    """Fill a template into the public folder, under its own name.

    Returns
    -------
    FilledTemplate
        What `check_public` needs to look into it.

    Raises
    ------
    InputError
        There is no such file, a table's own workbook has the same name, or it cannot be filled.
    """
    if not template.is_file():
        raise InputError(f"there is no template {template}; template= names a workbook (.xlsx)")
    check_file_name(template.stem)
    name = f"{template.stem}.xlsx"
    own = {f"{table.name}.xlsx".casefold() for table in tables}
    if name.casefold() in own:
        raise InputError(
            f"the template {template.name} is called like the workbook of a table "
            f"({', '.join(sorted(own))}); rename it, e.g. layout-{name}"
        )
    fill_template(
        tables,
        template,
        folder / name,
        language=look.language,
        symbols=look.symbols,
        titles=look.titles,
    )
    texts = template_texts(tables, look.language, look.symbols, look.titles)
    return FilledTemplate(name, template, texts)
