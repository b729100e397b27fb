"""Microdata with roles and a history; every method returns new ones."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.anonymize.missing_codes import as_values, in_its_order, reasons_of, valued
from diskret.anonymize.roles import Roles, roles, usable
from diskret.anonymize.verb import METHODS, Method, Step
from diskret.errors import InputError
from diskret.io import Coded, FrameKind, Source, coded, renewed, returned, source
from diskret.io.categories import declared_orders, keeps_order
from diskret.io.code_book import CodeBook
from diskret.io.columns import column, numbers
from diskret.io.files import parquet_rows
from diskret.io.frames import NO_RECORDS, in_memory, spelled
from diskret.io.placed import placed
from diskret.io.record_errors import RecordError
from diskret.io.returned import rows_of_frame
from diskret.io.spelling import warn_of_thousands
from diskret.parameters import ByName, Column, Names, reading
from diskret.risk import Keys
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.anonymize.anonymity import anonymity as _anonymity
    from diskret.anonymize.checklist import checklist as _checklist
    from diskret.anonymize.deviations import deviations as _deviations
    from diskret.anonymize.dp_noise import dp_noise as _dp_noise
    from diskret.anonymize.drawn import Drawn
    from diskret.anonymize.explore import explore as _explore
    from diskret.anonymize.generalise import generalise as _generalise
    from diskret.anonymize.history import replay as _replay
    from diskret.anonymize.history import save_job as _save_job
    from diskret.anonymize.microaggregate import microaggregate as _microaggregate
    from diskret.anonymize.noise import add_noise as _add_noise
    from diskret.anonymize.numeric_risk import numeric_risk as _numeric_risk
    from diskret.anonymize.population_uniques import population_uniques as _population_uniques
    from diskret.anonymize.pram import pram as _pram
    from diskret.anonymize.pram import transitions as _transitions
    from diskret.anonymize.rank_swap import rank_swap as _rank_swap
    from diskret.anonymize.recode import drop as _drop
    from diskret.anonymize.recode import recode as _recode
    from diskret.anonymize.recode import remove_identifiers as _remove_identifiers
    from diskret.anonymize.recode_candidates import recode_candidates as _recode_candidates
    from diskret.anonymize.release import release as _release
    from diskret.anonymize.risk import risk as _risk
    from diskret.anonymize.risky_combinations import risky_combinations as _risky_combinations
    from diskret.anonymize.safe import safe as _safe
    from diskret.anonymize.sample import sample as _sample
    from diskret.anonymize.shuffle import shuffle as _shuffle
    from diskret.anonymize.suda import suda as _suda
    from diskret.anonymize.suppress import local_suppression as _local_suppression
    from diskret.anonymize.swap import swap as _swap
    from diskret.anonymize.swap_records import swap_records as _swap_records
    from diskret.anonymize.top_code import top_code as _top_code
    from diskret.anonymize.top_code import top_code_together as _top_code_together
    from diskret.utility import RecordsComparison
    from diskret.utility.compare import Ordered


class Microdata:
    """Records of persons, households or firms, and what each column is for.

    The methods that change values return new microdata and leave these alone.

    Parameters
    ----------
    frame
        Records as any kind of frame, the path of a Parquet or CSV file, or a
        [`DataFile`][diskret.DataFile] that says how a file is to be read: then numbers of other
        columns than codes are spelled as usual, too. They are read into memory, Parquet when values
        are first needed: `safe` counts what it needs where it is.
        null and NaN are missing values. Columns of pandas with values of several types, such as
        Stata variables with some values labelled, are left out with a warning if they have no role.
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
    orders
        Column → its values from the lowest to the highest, or a code tree from top to bottom.
        Ordered categoricals (pandas), Enum columns (Polars, DuckDB) and ordered dictionaries
        (Arrow) bring theirs along; numbers and dates ascend; other text has no order, and is
        refused where one is needed.

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
    kind: FrameKind
    history: tuple[Step, ...]
    original: Microdata
    before: Microdata
    changed: frozenset[str]
    linked: bool
    drawn: Drawn | None
    reasons: Mapping[str, pa.ChunkedArray]

    @reading
    def __init__(
        self,
        frame: Any,
        *,
        keys: str | Iterable[str] = (),
        numeric: str | Iterable[str] = (),
        weight: Column | None = None,
        household: Column | None = None,
        sensitive: str | Iterable[str] = (),
        strata: str | Iterable[str] = (),
        id: Column | None = None,  # noqa: A002
        identifiers: str | Iterable[str] = (),
        followers: Annotated[Mapping[str, str | Iterable[str]], ByName(Names())] | None = None,
        orders: Mapping[str, Any] | None = None,
    ) -> None:
        named = (
            keys,
            numeric,
            sensitive,
            strata,
            identifiers,
            (weight, household, id),
            orders or (),
        )
        frame = usable(frame, [*named, *(followers or {}).values()])
        opened = source(frame)
        self.kind = opened.kind
        with placed(frame):
            self.roles = roles(
                opened.columns,
                keys=keys,
                numeric=numeric,
                weight=weight,
                household=household,
                sensitive=sensitive,
                strata=strata,
                id=id,
                identifiers=identifiers,
                followers=followers or {},
                orders={**declared_orders(frame), **(orders or {})},
            )
        self.reasons = reasons_of(opened, self.roles.numeric)
        with placed(frame):
            self._opened = _spelled(opened, self.roles)
        if self._opened.format != "parquet":
            self.table = in_memory(self._opened)
        if "table" in self.__dict__ and self._opened.spelling is None and opened.paths:
            for name in (*self.roles.numeric, *self.roles.columns("weight")):
                warn_of_thousands(self.table_column(name), name, str(opened.paths[0]))
        if not self.n:
            with placed(frame):
                raise RecordError(lambda _: NO_RECORDS)
        self.history = ()
        self.original = self
        self.before = self
        self.changed = frozenset()
        self.linked = True
        self.drawn = None
        self._frame = frame
        self._coded: dict[str, Coded] = {}

    def __repr__(self) -> str:
        named = "; ".join(
            f"{role}: {', '.join(names)}" for role, names in self.roles.by_role().items()
        )
        return f"Microdata({self.n:,} records; {named or 'no roles'})"

    def _repr_html_(self) -> str:
        from diskret.texts.card import card, named

        roles = {role: named(columns) for role, columns in self.roles.by_role().items()}
        steps = ", ".join(step.verb for step in self.history)
        facts = {"records": self.n, **roles, **({"steps": steps} if steps else {})}
        return card("Microdata", facts, office=True)

    @property
    def _file(self) -> Any:
        """The file whose records these still are, one by one; None: of none."""
        return self._frame if self.linked and self.drawn is None else None

    # ── what they hold ──────────────────────────────────────────────────────────────

    @cached_property
    def table(self) -> pa.Table:
        """The records as they are now, in memory."""
        return in_memory(self._opened)

    @property
    def records(self) -> Source:
        """The records as an engine takes them: in their Parquet files as long as they are there."""
        if "table" not in self.__dict__:
            return self._opened
        there = self.book.with_missing.difference(self.reasons)
        values = {name: as_values(self, name) for name in self.table.column_names if name in there}
        return replace(source(self.table), numbers=values, book=self._opened.book)

    @property
    def whole(self) -> Microdata:
        """The records as they came in, all of them also where some were drawn."""
        return self.original if self.drawn is None else self.drawn.whole

    @property
    def book(self) -> CodeBook:
        """Labels and missing codes of the file of SAS, SPSS or Stata that the records are from."""
        return self._opened.book or CodeBook()

    @property
    def n(self) -> int:
        """Number of records."""
        if "table" in self.__dict__:
            return self.table.num_rows
        return parquet_rows(self._opened.paths)

    @property
    def frame(self) -> Any:
        """The records as they are now, as the kind of frame that came in. Confidential.

        Same columns, types, row order and index; whole numbers of pandas that have gaps now are
        nullable. Records that were `replaced` have an order and index of their own.
        """
        if not self.linked:
            return renewed(self._frame, self.kind, self.table)
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

    def ranked(self, name: str, order: Sequence[Any] | None = None) -> Coded:
        """A categorical variable as small integers that ascend in its order, or in another one.

        Codes that mean missing are no part of it: -1.

        Raises
        ------
        InputError
            It has no order, or a value that does not stand in it; or as for `coded`.
        """
        return in_its_order(self, name, order)

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
        with placed(self._file):
            return None if name is None else _weights(self.table_column(name), name)

    def numbers(self, names: Sequence[str] | None = None) -> NDArray[np.float64]:
        """The numeric variables, or some columns, ``(n, p)``; NaN where a value is missing.

        Codes that mean missing are none, whatever the role of the column.

        Raises
        ------
        InputError
            There is no numeric variable, a column is missing, or its values are not numbers.
        """
        chosen = self.roles.numeric if names is None else tuple(names)
        if not chosen:
            raise InputError(
                "no numeric variable is named; give numeric= when you make the microdata"
            )
        with placed(self._file):
            return np.column_stack([numbers(valued(self, name), name) for name in chosen])

    def read_anew(self, table: pa.Table, reasons: Mapping[str, pa.ChunkedArray]) -> Self:
        """The same after as many steps, with columns that are numbers from now on."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, table=table, reasons=reasons, _coded={})
        return made

    def after(
        self,
        columns: Mapping[str, pa.ChunkedArray],
        step: Step,
        orders: Mapping[str, Sequence[Any] | None] | None = None,
    ) -> Self:
        """The microdata with some columns replaced, and one more step in their history.

        A column with new values keeps its order only if `orders` says where these stand; None there
        says that it has no order any more.

        Raises
        ------
        InputError
            The records were `replaced`: what holds of combinations of their values would be lost.
        """
        if not self.linked:
            raise InputError(
                f"{step.verb}() would change values of a file in which every combination of values "
                "occurs often enough, and its tables with them; do it first, and safe() last"
            )
        table = self.table  # read once, for these microdata and for those that are made
        for name, values in columns.items():
            at = table.schema.get_field_index(name)
            if at < 0:
                table = table.append_column(name, values)
            else:
                table = table.set_column(at, name, values)
        kept = {
            name: order
            for name, order in self.roles.orders.items()
            if name not in (orders or {})
            and (name not in columns or keeps_order(columns[name], order))
        }
        new = {name: tuple(order) for name, order in (orders or {}).items() if order is not None}
        given = tuple(name for name in table.column_names if name in columns)
        return self._with(
            replace(step, columns=given),
            table=table,
            roles=replace(self.roles, orders={**kept, **new}),
            changed=self.changed.union(columns),
            _coded={name: code for name, code in self._coded.items() if name not in columns},
        )

    def replaced(self, table: pa.Table, step: Step) -> Self:
        """Other records in place of these, with the columns of `table`, and one more step.

        They are no longer `linked`: none of them stands for a record of the original. What they
        replace is `before`, the tables of which theirs are to be close to.
        """
        gone = set(self.records.columns).difference(table.column_names)
        return self._with(
            replace(step, columns=tuple(table.column_names)),
            table=table,
            roles=self.roles.without(gone),
            changed=frozenset(table.column_names),
            before=self,
            linked=False,
            _coded={},
        )

    def only(self, keep: NDArray[np.bool_], drawn: Drawn) -> Self:
        """Some of the records, `keep`, in their order; the original ones are now the same."""
        there, frame = pa.array(keep), rows_of_frame(self._frame, self.kind, keep)

        def some(md: Microdata) -> Self:
            made = object.__new__(type(self))
            table = md.table.filter(there)
            reasons = {name: values.filter(there) for name, values in md.reasons.items()}
            new = {"table": table, "reasons": reasons, "drawn": drawn, "_coded": {}}
            made.__dict__.update(md.__dict__, **new, _frame=frame)
            return made

        made, first = some(self), some(self.original)
        made.original = first.original = made.before = first.before = first
        return made

    def without(self, columns: Iterable[str], step: Step) -> Self:
        """The microdata when some columns are gone, and one more step in their history."""
        gone = set(columns)
        return self._with(
            step,
            table=self.table.drop_columns(sorted(gone)),
            roles=self.roles.without(gone),
            changed=self.changed - gone,
            _coded={name: code for name, code in self._coded.items() if name not in gone},
        )

    def _with(self, step: Step, **new: Any) -> Self:
        """A copy in which something is new, after one more step."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, **new, history=(*self.history, step))
        return made

    # ── what they can do: each verb has a module of its own ─────────────────────────

    if TYPE_CHECKING:
        replay = _replay
        save_job = _save_job
        risk = _risk
        suda = _suda
        risky_combinations = _risky_combinations
        population_uniques = _population_uniques
        anonymity = _anonymity
        numeric_risk = _numeric_risk
        recode = _recode
        recode_candidates = _recode_candidates
        generalise = _generalise
        drop = _drop
        remove_identifiers = _remove_identifiers
        local_suppression = _local_suppression
        pram = _pram
        transitions = _transitions
        microaggregate = _microaggregate
        add_noise = _add_noise
        rank_swap = _rank_swap
        shuffle = _shuffle
        top_code = _top_code
        top_code_together = _top_code_together
        dp_noise = _dp_noise
        swap = _swap
        swap_records = _swap_records
        safe = _safe
        sample = _sample
        deviations = _deviations
        explore = _explore
        checklist = _checklist
        release = _release

    def compare(
        self,
        protected: Any = None,
        *,
        numeric: str | Iterable[str] | None = None,
        categorical: str | Iterable[str] | None = None,
        weight: str | None = None,
        ordered: Ordered = (),
        size: int = 2,
    ) -> RecordsComparison:
        """What protection cost so far; or what others that were made of these cost beyond that.

        See [`compare`][diskret.utility.compare].

        Raises
        ------
        InputError
            The records were replaced by others: they are compared by their tables.
        """
        if not (self.linked and (protected is None or getattr(protected, "linked", True))):
            raise InputError(
                "records that were replaced stand for no record of the original, so that the two "
                "files cannot be compared record by record; compare their tables with deviations()"
            )
        from diskret.utility import compare

        return compare(
            self.original if protected is None else self,
            self if protected is None else protected,
            numeric=numeric,
            categorical=categorical,
            weight=weight,
            ordered=ordered,
            size=size,
        )


for _name in METHODS:
    if _name not in vars(Microdata):
        setattr(Microdata, _name, Method(_name))


def _spelled(opened: Source, given: Roles) -> Source:
    """Numbers in the usual spelling: those with such a role, and others that are no codes."""
    spelling, table = opened.spelling, opened.arrow
    told = (given.household, given.id)
    if spelling is None or table is None:
        return spelled(opened, [*given.numeric, given.weight], told=told)
    codes = {*given.keys, *given.strata, *given.identifiers, *given.columns("followers")}
    codes |= {name for name in (given.household, given.id) if name is not None}
    others = [
        name
        for name in table.column_names
        if name not in codes and spelling.looks_like(table.column(name))
    ]
    return spelled(opened, [*given.numeric, given.weight, *others], told=told)


def _weights(values: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    found = numbers(values, name)
    wrong = np.flatnonzero(~(found > 0))
    if len(wrong):
        number = Count(len(wrong))
        raise RecordError(
            lambda place: (
                f"{number} {number:weight|weights} in {name!r} {number:is|are} missing or not "
                f"above 0 (first in {place.named(wrong[0])}); a weight says how many persons of "
                "the population a record stands for"
            )
        )
    return found
