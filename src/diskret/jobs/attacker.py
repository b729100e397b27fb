"""The attacker of a job file: ``[attacker]``."""

from __future__ import annotations

from typing import Literal, cast

from diskret.attack import Attacker
from diskret.jobs.schema import Section
from diskret.jobs.values import TableJob


def read_attacker(section: Section, tables: tuple[TableJob, ...]) -> Attacker:
    """What the attacker knows beside the published tables.

    Raises
    ------
    JobError
        A key is unknown or not admissible, or needs another.
    """
    section.check(
        optional=(
            *("contributor", "coalition"),
            *("zeros_known", "relative", "previous_within", "mistaken"),
        )
    )
    if "mistaken" in section and "previous_within" not in section:
        raise section.error("'mistaken' is for bounds, so it needs 'previous_within'", "mistaken")
    if "previous_within" in section and all(table.previous is None for table in tables):
        raise section.error(
            "'previous_within' needs last period's release: 'previous' in [[tables]]",
            "previous_within",
        )
    mistaken = section.choice("mistaken", "refuse", ("refuse", "drop"))
    return Attacker(
        relative=section.number("relative", None, above=0),
        zeros_known=section.flag("zeros_known", False),
        mistaken=cast(Literal["refuse", "drop"], mistaken),
    )


def read_contributor(section: Section, tables: tuple[TableJob, ...]) -> bool | None:
    """Whether contributors attack; None where the file leaves that open.

    Raises
    ------
    JobError
        Nothing can be said of contributors to these tables.
    """
    if "contributor" not in section:
        if "coalition" in section and all(t.value is None or t.weight for t in tables):
            raise section.error(
                "'coalition' is about contributors, and no table sums an unweighted value; add "
                "contributor = true",
                "coalition",
            )
        return None
    contributor = section.flag("contributor", False)
    if "coalition" in section and not contributor:
        raise section.error("'coalition' needs contributor = true", "coalition")
    weighted = [table.name for table in tables if table.weight is not None]
    if contributor and weighted:
        raise section.error(
            f"'contributor' cannot be true: table '{weighted[0]}' is weighted, so what a "
            "contributor to several cells knows of their sum cannot be told; leave 'contributor' "
            "out",
            "contributor",
        )
    return contributor
