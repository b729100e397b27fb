"""Formats for exchange: what they are called, and how the names of their files end."""

from __future__ import annotations

import re

from diskret.errors import InputError

#: Format → what the names of its files end with, after the name of what they show.
EXCHANGE = {
    "px": ".px",
    "jsonstat": ".jsonstat.json",
    "sdmx1": ".sdmx1.csv",
    "sdmx2": ".sdmx2.csv",
}

#: Identifiers of agencies in SDMX; of a part of one, the two are joined by a dot.
AGENCY = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z][A-Za-z0-9_-]*)*")


def check_agency(agency: str) -> None:
    """Refuse what is no identifier of an agency.

    >>> check_agency("Statistical Office")
    Traceback (most recent call last):
    diskret.errors.InputError: agency= must be an identifier of SDMX (letters, digits, _ and -, a \
letter first, parts joined by dots), not 'Statistical Office'
    """
    if not isinstance(agency, str) or not AGENCY.fullmatch(agency):  # pyright: ignore
        raise InputError(
            "agency= must be an identifier of SDMX (letters, digits, _ and -, a letter first, "
            f"parts joined by dots), not {agency!r}"
        )
