"""Microdata with roles and a history; every method returns new ones."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import Coded, FrameKind, coded, returned, to_arrow
from diskret.io.columns import column
from diskret.progress import Progress, silent
from diskret.risk import Compat, Keys, Missing
from diskret.workflow.microdata.history import Step
from diskret.workflow.microdata.roles import Roles, roles

if TYPE_CHECKING:
    from diskret.hierarchy import Hierarchy
    from diskret.workflow.microdata.anonymity import Anonymity
    from diskret.workflow.microdata.risk import MicrodataRisk


class Microdata:
    """Records of persons, households or firms, and what each column is for.

    The methods that change values return new microdata and leave these alone.

    Parameters
    ----------
    frame
        Records as any kind of frame, or the path of a Parquet or CSV file. They are read into
        memory. null and NaN are missing values.
    keys
        Categorical variables an attacker may know of a person: age, region, occupation.
    numeric
        Numeric variables an attacker may know.
    weight
        Sampling weight > 0: how many persons of the population a record stands for. None: the
        records are all there are.
    household
        Whose members are recognised together.
    sensitive
        Variables an attacker must not learn.
    strata
        Groups that are protected apart.
    id
        Number of a record; replaced before a release.
    identifiers
        Direct identifiers (names, addresses, insurance numbers); never released.
    followers
        Key → columns that tell the same in more detail, and lose their value where it does.

    Raises
    ------
    InputError
        The records cannot be read, or a column is missing or has two roles.

    Examples
    --------
    >>> persons = pa.table({"sex": ["m", "f", "f"], "job": ["baker", "mayor", "baker"]})
    >>> md = Microdata(persons, keys=["sex", "job"])
    >>> md
    Microdata(3 records; keys: sex, job)
    """

    roles: Roles
    table: pa.Table
    kind: FrameKind
    history: tuple[Step, ...]
    original: Microdata
    changed: frozenset[str]

    def __init__(
        self,
        frame: Any,
        *,
        keys: Iterable[str] = (),
        numeric: Iterable[str] = (),
        weight: str | None = None,
        household: str | None = None,
        sensitive: Iterable[str] = (),
        strata: Iterable[str] = (),
        id: str | None = None,  # noqa: A002
        identifiers: Iterable[str] = (),
        followers: Mapping[str, str | Iterable[str]] | None = None,
    ) -> None:
        self.table, self.kind = to_arrow(frame)
        self.roles = roles(
            self.table.column_names,
            keys=keys,
            numeric=numeric,
            weight=weight,
            household=household,
            sensitive=sensitive,
            strata=strata,
            id=id,
            identifiers=identifiers,
            followers=followers,
        )
        if not self.table.num_rows:
            raise InputError("there are no records; is it the right file?")
        self.history = ()
        self.original = self
        self.changed = frozenset()
        self._frame = frame
        self._coded: dict[str, Coded] = {}

    def __repr__(self) -> str:
        named = "; ".join(
            f"{role}: {', '.join(names)}" for role, names in self.roles.by_role().items()
        )
        return f"Microdata({self.n:,} records; {named or 'no roles'})"

    # ── what they hold ──────────────────────────────────────────────────────────────

    @property
    def n(self) -> int:
        """Number of records."""
        return self.table.num_rows

    @property
    def frame(self) -> Any:
        """The records as they are now, as the kind of frame that came in. Confidential.

        Same columns, types, row order and index; whole numbers of pandas that have gaps now are
        nullable.
        """
        return returned(self._frame, self.kind, self.table, self.changed)

    def table_column(self, name: str) -> pa.ChunkedArray:
        """A column by name.

        Raises
        ------
        InputError
            There is none.
        """
        return column(self.table, name)

    def coded(self, name: str) -> Coded:
        """A categorical variable as small integers.

        Raises
        ------
        InputError
            There is no such column, or it holds numbers with decimals.
        """
        if name not in self._coded:
            self._coded[name] = coded(self.table_column(name), name)
        return self._coded[name]

    def keys(self, names: Sequence[str] | None = None) -> Keys:
        """The key variables, or some columns as if they were keys.

        Raises
        ------
        InputError
            There is no key, or a column is missing or holds numbers with decimals.
        """
        chosen = self.roles.keys if names is None else tuple(names)
        if not chosen:
            raise InputError("no key variable is named; give keys= when you make the microdata")
        return Keys(tuple(self.coded(name) for name in chosen))

    def weights(self) -> NDArray[np.float64] | None:
        """The sampling weights, ``(n,)``, or None.

        Raises
        ------
        InputError
            A weight is missing, not a number, or not above 0.
        """
        name = self.roles.weight
        return None if name is None else _weights(self.table_column(name), name)

    def after(self, columns: Mapping[str, pa.ChunkedArray], step: Step) -> Self:
        """The microdata with some columns replaced, and one more step in their history."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._coded = {name: kept for name, kept in self._coded.items() if name not in columns}
        for name, values in columns.items():
            at = made.table.schema.get_field_index(name)
            if at < 0:
                made.table = made.table.append_column(name, values)
            else:
                made.table = made.table.set_column(at, name, values)
        made.history = (*self.history, step)
        made.changed = self.changed.union(columns)
        return made

    # ── risk ────────────────────────────────────────────────────────────────────────

    def risk(
        self,
        missing: Missing = "wildcard",
        alpha: float = 1.0,
        compat: Compat | None = None,
        population: Any = None,
        count: str | None = None,
        keys: Sequence[str] | None = None,
    ) -> MicrodataRisk:
        """How likely each record is recognised by its keys.

        See [`risk`][diskret.workflow.microdata.risk.risk].
        """
        from diskret.workflow.microdata.risk import risk

        return risk(self, missing, alpha, compat, population, count, keys)

    # ── uniques ─────────────────────────────────────────────────────────────────────

    # ── anonymity ───────────────────────────────────────────────────────────────────

    def anonymity(
        self,
        missing: Missing = "wildcard",
        sensitive: Sequence[str] | None = None,
        ordered: Iterable[str] | Mapping[str, Sequence[Any]] = (),
        trees: Mapping[str, Hierarchy] | None = None,
        keys: Sequence[str] | None = None,
        l: int = 2,  # noqa: E741
    ) -> Anonymity:
        """How many records agree in their keys, and how different their sensitive values are.

        See [`anonymity`][diskret.workflow.microdata.anonymity.anonymity].
        """
        from diskret.workflow.microdata.anonymity import anonymity

        return anonymity(self, missing, sensitive, ordered, trees, keys, l)

    # ── recoding ────────────────────────────────────────────────────────────────────

    # ── suppression ─────────────────────────────────────────────────────────────────

    def local_suppression(
        self,
        k: int | str = 3,
        importance: Sequence[str] | Mapping[str, float] | None = None,
        *,
        subsets: Mapping[tuple[str, ...], int] | Sequence[tuple[Sequence[str], int]] | None = None,
        strata: Sequence[str] | None = None,
        costs: Mapping[str, float] | None = None,
        keep: Sequence[str] = (),
        threshold: float | None = None,
        diversity: int | Mapping[str, int] | None = None,
        closeness: float | Mapping[str, float] | None = None,
        ordered: Sequence[str] = (),
        matches: Literal["wildcard", "visible"] | None = None,
        rounds: int = 100,
        progress: Progress = silent,
    ) -> Microdata:
        """Suppress few values of the keys so that every record agrees with at least k records.

        See [`local_suppression`][diskret.workflow.microdata.suppress.local_suppression].
        """
        from diskret.workflow.microdata.suppress import local_suppression

        return local_suppression(
            self,
            k,
            importance,
            subsets=subsets,
            strata=strata,
            costs=costs,
            keep=keep,
            threshold=threshold,
            diversity=diversity,
            closeness=closeness,
            ordered=ordered,
            matches=matches,
            rounds=rounds,
            progress=progress,
        )

    # ── randomisation ───────────────────────────────────────────────────────────────

    # ── release ─────────────────────────────────────────────────────────────────────


def _weights(values: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    try:
        numbers = values.cast(pa.float64())
    except pa.ArrowInvalid as error:
        raise InputError(f"the weights in {name!r} are not numbers ({error})") from None
    found = numbers.to_numpy().astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(found) & (found > 0)))
    if len(wrong):
        raise InputError(
            f"{len(wrong):,} weights in {name!r} are missing or not above 0 (first in row "
            f"{wrong[0] + 1}); a weight says how many persons of the population a record stands for"
        )
    return found
