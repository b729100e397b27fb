"""A data set that is tabulated in real time: variables with codes, noise, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from diskret.cellkey import PerturbationTable
from diskret.errors import InputError
from diskret.serve.measures import Measure
from diskret.serve.suppression import Suppression
from diskret.serve.variables import Variable


@dataclass(frozen=True, eq=False)
class DataSet:
    """Records that stay where they are, and how tables of them are protected. Confidential.

    Parameters
    ----------
    name
        What it is called.
    records
        A file, Parquet or CSV, or whatever `tabulate` takes.
    record_key
        Column of the secret key of each record, see `record_keys`.
    variables
        By what tables can be made; no other column can be asked for.
    noise
        How likely each noise is for each count. Confidential. None: see `suppression`.
    questions
        How many tables may count the same record, all users together. There is no number that is
        safe for all data: what one is worth is measured on the page on tables in real time, and
        `resistance` says what is claimed of a single record. At most 10 where nobody may find out
        a count of 1.
    key_modulus
        Of the record keys. The larger it is, the less likely two sets of records share a key.
    impossible
        Combinations that no record can have, each as variable → codes, of any level: their cells
        show nothing.
    most_variables, most_cells
        The largest table: how many variables, filters on one code among them, and how many cells.
    small, share
        A table is refused if more than this share of its cells that show somebody show a count
        of `small` or less. Shown counts decide, so a refusal tells no more than they would.
    questions_each
        How many tables a user may ask for; None: as many as `questions`.
    label
        What the data are.
    engine
        Where files are computed: ``"duckdb"``, in this process, or ``"spark"``. Tables of a
        database are computed there.
    measures
        Columns of numbers whose sums, means and ratios can be asked for.
    presence
        Whether it may be known that somebody is in the data, and in which cells: ``"public"``, or
        ``"confidential"``. Noise hides how much somebody contributes to a sum, not that he does;
        see decision 102. So measures need ``"public"``, unless cells are hidden.
    suppression
        Rules by which cells are hidden, in place of noise. There are no keys of
        records then, and `small` and `share` say nothing.

    Raises
    ------
    InputError
        No variables, two of one name, an impossible combination of unknown codes, or a limit
        that is not positive; or measures where presence is confidential; or there are both noise
        and suppression, or neither; or sums name what is no measure, or measures of different
        decimals.
    """

    name: str
    records: object
    record_key: str
    variables: tuple[Variable, ...]
    noise: PerturbationTable | None
    questions: int
    key_modulus: int = 2**32
    impossible: tuple[Mapping[str, tuple[str, ...]], ...] = ()
    most_variables: int = 5
    most_cells: int = 100_000
    small: int = 3
    share: float = 0.5
    questions_each: int | None = None
    label: str = ""
    engine: Literal["duckdb", "spark"] = "duckdb"
    measures: tuple[Measure, ...] = ()
    presence: Literal["confidential", "public"] = "confidential"
    suppression: Suppression | None = None

    def __post_init__(self) -> None:
        if (self.noise is None) == (self.suppression is None):
            raise InputError(
                f"{self.name!r} is protected by noise or by suppression: say one of the two"
            )
        if self.measures and self.noise is not None and self.presence != "public":
            raise InputError(
                f"sums of {self.name!r} would tell who is in the data, and in which cell: a large "
                "contribution stands out, whatever the noise. Say presence='public' if that may be "
                "known, or leave measures out"
            )
        if len({one.name for one in self.measures}) < len(self.measures):
            raise InputError(f"two measures of {self.name!r} have the same name")
        if self.suppression is not None:
            self._check_sums(self.suppression)
        names = [variable.name for variable in self.variables]
        if not names or len({*names}) < len(names):
            raise InputError(f"{self.name!r} needs variables, none of them twice")
        for combination in self.impossible:
            for name, codes in combination.items():
                for code in codes:
                    if name not in names or not self.variable[name].below(code):
                        raise InputError(
                            f"an impossible combination of {self.name!r} names {name!r} = "
                            f"{code!r}, which is none of its variables and codes"
                        )
        limits = (self.most_variables, self.most_cells, self.questions, self.each)
        if min(limits) < 1 or not 0 <= self.share <= 1 or self.small < 0:
            raise InputError(
                f"limits of {self.name!r} must be whole numbers from 1 upwards, and share= from 0 "
                "to 1"
            )

    def _check_sums(self, how: Suppression) -> None:
        for one in how.equations:
            named = (one.total, *one.parts)
            if unknown := [name for name in named if name not in self.measure]:
                raise InputError(
                    f"the sum '{one}' of {self.name!r} names {unknown[0]!r}, which is none of its "
                    "measures"
                )
            if len({self.measure[name].decimals for name in named}) > 1:
                raise InputError(
                    f"the measures of '{one}' of {self.name!r} have different decimals=; give all "
                    "of them the same, so that they add up"
                )

    def __repr__(self) -> str:
        return f"DataSet({self.name!r}: {len(self.variables)} variables)"

    @cached_property
    def variable(self) -> Mapping[str, Variable]:
        """Name → variable."""
        return {variable.name: variable for variable in self.variables}

    @cached_property
    def measure(self) -> Mapping[str, Measure]:
        """Name → measure."""
        return {measure.name: measure for measure in self.measures}

    @property
    def each(self) -> int:
        """How many tables a user may ask for."""
        return self.questions if self.questions_each is None else self.questions_each
