"""Names and other texts that are one to a reader, however they are spelled."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

#: Marks that show nothing: soft hyphens, blanks without width, the mark at the start of a file.
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")


@lru_cache(10_000)
def canonical(text: str) -> str:
    """A text whatever its case, the blanks around it and the way its letters are composed.

    >>> canonical(" Turnover") == canonical("TURNOVER")
    True
    """
    return unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).strip().casefold()
