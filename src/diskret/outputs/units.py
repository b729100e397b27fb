"""Whom the records of a result belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io.names import alike
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    import pandas as pd


def units_of(unit: Any, rows: Any, number: int) -> NDArray[np.int32] | None:
    """The unit of each record of a result, by number from 0 on; None: each record is one.

    A unit counts once in whatever ways it is spelled: 7 and "007" are one, " Firm A" and "firm a".

    Parameters
    ----------
    unit
        A pandas Series that has each record of the result in its index, as that of a whole
        project has; or one value for each record, in order.
    rows
        What the records of the result are called; None: their numbers.
    number
        How many there are.

    Raises
    ------
    InputError
        A record is missing in `unit`, or there is another number of values.
    """
    import pandas as pd

    if unit is None:
        return None
    if isinstance(unit, pd.Series) and rows is not None and not unit.index.equals(pd.Index(rows)):
        at = unit.index.get_indexer(pd.Index(rows))
        if (at < 0).any():
            raise InputError(f"unit= has no record {np.asarray(rows)[at < 0][0]} of the result")
        unit = unit.iloc[at]
    whose = unit if isinstance(unit, pd.Series) else np.asarray(unit)  # texts may be Arrow's
    whole = isinstance(whose.dtype, np.dtype) and whose.dtype.kind in "iu" and len(whose) > 0
    numbers = _ranks(np.asarray(whose)) if whole else None
    if numbers is None:
        codes, kinds = pd.factorize(whose, use_na_sentinel=False)
        read = _readings(kinds)
        codes = codes if read is None else pd.factorize(read)[0][codes]
        numbers = codes.astype(np.int32)
    if len(numbers) != number:
        many = Count(len(numbers))
        raise InputError(f"unit= has {many} {many:value|values}, the result {number} records")
    return None if int(numbers.max(initial=-1)) + 1 == number else numbers  # each has one record


def as_read(unit: pd.Series[Any]) -> pd.Series[Any]:
    """Units by what their names say, so that a fingerprint of one is the same in any spelling."""
    import pandas as pd

    codes, kinds = pd.factorize(unit, use_na_sentinel=False)
    read = _readings(kinds)
    return unit if read is None else pd.Series(read[codes], unit.index, object)


def _readings(kinds: Any) -> NDArray[np.object_] | None:
    """What some different values say, see `alike`, missing ones the same; None: what they are."""
    import pandas as pd

    if getattr(kinds.dtype, "kind", "O") in "iufbcMm":
        return None
    try:
        texts = pa.array(kinds, pa.string(), from_pandas=True)
    except (TypeError, ValueError, NotImplementedError):  # not only texts
        values = [None if pd.isna(one) else one for one in kinds]
        return np.array([*map(alike, values)], object)
    # what most names are costs no loop: only capitals and zeros are to change
    read = pc.replace_substring_regex(pc.ascii_lower(texts), "^0+([0-9]+)$", r"\1")
    plain = pc.match_substring_regex(read, _PLAIN).fill_null(False).to_numpy(zero_copy_only=False)
    if plain.all() and read.equals(texts):
        return None
    read = read.to_numpy(zero_copy_only=False)
    read[~plain] = [*map(alike, read[~plain])]
    return read


def _ranks(values: NDArray[Any]) -> NDArray[np.int32] | None:
    """Whole numbers that lie close together, numbered in their order; None: they do not."""
    least, most = int(values.min()), int(values.max())
    if most - least >= _CLOSE * len(values):
        return None
    whole = values.astype(np.int64) if values.dtype.kind == "i" else values  # no overflow
    codes = whole - whole.dtype.type(least)
    seen = np.zeros(most - least + 1, bool)
    seen[codes] = True
    if seen.all():
        return codes.astype(np.int32)
    return (np.cumsum(seen, dtype=np.int32) - np.int32(1))[codes]


_CLOSE = 4  # numbers that could be there for each that is
#: Texts in small letters of ASCII that say what they are: no blanks around, no zeros to leave out.
_PLAIN = r"^(0|[1-9][0-9]*|[0-9.]*[!-\-/:-~]([ -~]*[!-~])?)$"
