"""What the sections of a job file must not say together."""

from __future__ import annotations

import re
from collections.abc import Mapping

from diskret.jobs.schema import Section
from diskret.jobs.values import DerivedJob, TableJob

FILE_STEM = re.compile(r"\w([\w .-]*[\w-])?")


def check_weight(section: Section) -> None:
    """Weights have a value, and no marks beside them."""
    if "weight_decimals" in section and "weight" not in section:
        raise section.error("'weight_decimals' needs a 'weight'", "weight_decimals")
    if "weight" in section and "value" not in section:
        raise section.error(
            "'weight' needs a 'value'; counts stay those of the sample. For a weighted count sum a "
            "column of ones",
            "weight",
        )
    for key in ("request", "waiver"):
        if "weight" in section and key in section:
            raise section.error(f"'weight' and '{key}' cannot be combined; leave one out", key)


def check_shadow(section: Section, by: Mapping[str, object]) -> None:
    """A shadow variable has a value that it stands for, and is none of the others."""
    shadow = section.text("shadow", None)
    if shadow is None:
        return
    if "value" not in section:
        raise section.error("'shadow' needs a 'value': what is published", "shadow")
    if shadow in (*by, section.text("value", None)):
        raise section.error("'shadow' is a column of 'by', or the 'value' itself", "shadow")


def check_figures(
    sections: tuple[Section, ...], derived: tuple[DerivedJob, ...], tables: tuple[TableJob, ...]
) -> None:
    """Each figure has a name of its own that can be one of a file."""
    taken = [table.name.casefold() for table in tables]
    for section, figure in zip(sections, derived, strict=True):
        if not FILE_STEM.fullmatch(figure.name) or figure.name.casefold() in taken:
            raise section.error(
                f"the name '{figure.name}' is taken, or cannot be that of a file; give the figure "
                "another 'name' of letters, digits, blanks and . _ -",
                "name",
            )
        taken.append(figure.name.casefold())


def check_distinct(sections: tuple[Section, ...], tables: tuple[TableJob, ...]) -> None:
    """Tables have names of their own, and those protected together one kind of search."""
    names: dict[str, Section] = {}
    for i, (section, table) in enumerate(zip(sections, tables, strict=True)):
        for first, earlier in zip(sections[:i], tables[:i], strict=True):
            together = (earlier.measure, earlier.vintage) == (table.measure, table.vintage)
            suppressed = earlier.noise is None and table.noise is None
            if together and suppressed and earlier.search != table.search:
                raise section.error(
                    f"tables of '{table.measure}' are protected together, so they need the same "
                    f"'method', 'time_limit' and 'budget' as the first of them, in line "
                    f"{first.line()}"
                )
        name = table.name.casefold()
        if name in names:
            first = names[name]
            raise section.error(
                f"the name '{table.name}' is taken by the table in line {first.line()}", "name"
            )
        names[name] = section
