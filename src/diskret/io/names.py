"""Names and other texts that are one to a reader, however they are spelled."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any

#: Marks that show nothing: soft hyphens, blanks without width, the mark at the start of a file.
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
#: A whole number, however it is written: leading zeros and decimals that are none.
_WHOLE = re.compile(r"0*([0-9]+)(\.0*)?", re.ASCII)


@lru_cache(10_000)
def canonical(text: str) -> str:
    """A text whatever its case, the blanks around it and the way its letters are composed.

    >>> canonical(" Turnover") == canonical("TURNOVER")
    True
    """
    return unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).strip().casefold()


def alike(value: Any) -> str:
    """What a value says, the same in any type and way of writing: a whole number, a day, a name.

    Whoever counts different values, or units, counts one that is written in two ways once.

    >>> alike("007") == alike(" 7.0") == alike(7), alike("Firm A") == alike("firm a")
    (True, True)
    """
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    elif isinstance(value, float | Decimal) and value % 1 == 0:
        value = int(value)
    text = value if isinstance(value, str) else str(value)
    text = text.strip().casefold() if text.isascii() else canonical(text)
    whole = _WHOLE.fullmatch(text) if text[:1].isdigit() else None
    return whole[1] if whole else text
