"""How a file writes its numbers: the decimal mark and the mark between thousands."""

# pyarrow has no type information for its compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import re
import warnings
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from diskret.io.kinds import is_text
from diskret.io.record_errors import RecordError
from diskret.texts.numbers import Count

_BLANKS = "[ \u00a0\u2009\u202f]"  # what stands between thousands where a blank is said
_SAMPLE = 1000


@dataclass(frozen=True)
class Spelling:
    """The marks in numbers of a file, e.g. ``1.234,5``.

    >>> values = pa.chunked_array([["1.234,5", "7", None]])
    >>> Spelling(",", ".").plain(values, "turnover").to_pylist()
    ['1234.5', '7', None]
    """

    decimal: str = "."
    thousands: str = ""

    @property
    def usual(self) -> bool:
        """Whether numbers are written as everywhere in this package."""
        return self.decimal == "." and not self.thousands

    def plain(
        self, values: pa.ChunkedArray, name: str, but: Collection[str] = ()
    ) -> pa.ChunkedArray:
        """Numbers as text in the usual spelling; texts of `but` stay as they are.

        Raises
        ------
        RecordError
            A text is no number in this spelling.
        """
        if self.usual or not is_text(values.type):
            return values
        text = _trimmed(values)
        good = pc.match_substring_regex(text, self._pattern)
        other = pc.or_(pc.equal(text, ""), pc.is_in(text, pa.array([*but], text.type)))
        wrong = np.flatnonzero(pc.fill_null(pc.invert(pc.or_(good, other)), False).to_numpy())
        if len(wrong):
            found = text[int(wrong[0])].as_py()
            number = Count(len(wrong))
            raise RecordError(
                lambda place: (
                    f"{number} {number:value|values} in column {name!r} "
                    f"{number:is no number|are no numbers} as this file is said to write them, "
                    f"{self._example}, the first in {place.named(wrong[0])}: {found!r}; correct "
                    "it, or say otherwise in decimal= and thousands="
                )
            )
        return pc.if_else(good, self._rewritten(text), text)

    def looks_like(self, values: pa.ChunkedArray) -> bool:
        """Whether every value is a number of this spelling, and one of them shows it.

        A number that begins with 0 before the mark of the thousands is a code.
        """
        if self.usual or not is_text(values.type):
            return False
        text = _trimmed(values).drop_null()
        text = text.filter(pc.not_equal(text, ""))
        marks = "[" + re.escape(self.decimal + self.thousands.strip()) + "]"
        for some in (text.slice(0, _SAMPLE), text):  # most columns are told by their first values
            numbers = pc.match_substring_regex(some, self._pattern)
            code = pc.match_substring_regex(some, r"^[+-]?0[0-9]")
            if not pc.all(pc.and_not(numbers, code)).as_py():
                return False
        return bool(pc.any(pc.match_substring_regex(text, marks)).as_py())

    @property
    def _groups(self) -> str:
        """What matches the mark between thousands."""
        if not self.thousands:
            return ""
        return _BLANKS if self.thousands.isspace() else re.escape(self.thousands)

    @property
    def _pattern(self) -> str:
        whole = rf"[0-9]+|[0-9]{{1,3}}(?:{self._groups}[0-9]{{3}})+" if self.thousands else "[0-9]+"
        mark = re.escape(self.decimal)
        return rf"^[+-]?(?:(?:{whole})(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]{{1,3}})?$"

    @property
    def _example(self) -> str:
        return f"1{self.thousands}234{self.decimal}5"

    def _rewritten(self, text: pa.ChunkedArray) -> pa.ChunkedArray:
        if self.thousands:
            text = pc.replace_substring_regex(text, self._groups, "")
        return pc.replace_substring(text, self.decimal, ".")


def warn_of_thousands(values: pa.ChunkedArray, name: str, where: str) -> None:
    """Warn of numbers in which a point seems to stand between thousands, as 1.234 beside 20.

    `where`: what the message begins with, the file.
    """
    if not is_text(values.type):
        return
    text = pc.drop_null(_trimmed(values))
    pointed = pc.match_substring_regex(text, r"^[+-]?[1-9][0-9]{0,2}\.[0-9]{3}$")
    short = pc.match_substring_regex(text, r"^[+-]?[0-9]{1,3}$")
    both = pc.any(pointed).as_py() and pc.any(short).as_py()
    if both and pc.all(pc.or_(pointed, short)).as_py():
        example = text.filter(pointed)[0].as_py()
        warnings.warn(
            f"{where}: the numbers in column {name!r} have at most three digits, or a point and "
            f"three digits behind it, e.g. {example}, which is read as a decimal mark; if it "
            'stands between thousands, say so: thousands="." and decimal="," of the file',
            stacklevel=2,
        )


def _trimmed(values: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.utf8_trim_whitespace(values)
