"""What the office keeps of released records: which they were, and what was claimed of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Inside:
    """What the office knows of the released records and claims are checked with. Confidential.

    Parameters
    ----------
    row
        For each released record its row in the original file, from 1, ``(n,)``.
    weight
        Its weight, ``(n,)``; None: the records are all there are.
    household
        A number for its household, null where there is none, ``(n,)``; None: none is named.
    """

    row: NDArray[np.int64]
    weight: NDArray[np.float64] | None
    household: pa.ChunkedArray | None

    def columns(self) -> pa.Table:
        """The same as columns ``row``, ``weight`` and ``household``, those that there are."""
        made: dict[str, Any] = {"row": pa.array(self.row)}
        if self.weight is not None:
            made["weight"] = pa.array(self.weight)
        if self.household is not None:
            made["household"] = self.household
        return pa.table(made)

    @classmethod
    def read(cls, columns: pa.Table) -> Inside:
        """From these columns, as they are read back from the office's file."""
        there = columns.column_names
        return cls(
            columns.column("row").to_numpy(),
            columns.column("weight").to_numpy() if "weight" in there else None,
            columns.column("household") if "household" in there else None,
        )


def claim_as_json(claim: Any) -> dict[str, Any]:
    """A claim by its name and arguments; a population is left out."""
    return {
        "claim": type(claim).__name__,
        **{
            field.name: value
            for field in fields(claim)
            if _kept(value := getattr(claim, field.name))
        },
    }


def claim_from_json(content_: Mapping[str, Any]) -> Any:
    """The claim again; None if it needs a population, which is not kept."""
    from diskret.attack.microdata.claims import Claim, Safe

    kinds: dict[str, Any] = {kind.__name__: kind for kind in (*get_args(Claim), Safe)}
    arguments = {name: value for name, value in content_.items() if name != "claim"}
    made = kinds.get(str(content_.get("claim")))
    return None if made is None or made.__name__ == "KMap" else made(**arguments)


def _kept(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, tuple, list, dict))
