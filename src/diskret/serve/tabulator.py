"""Questions in, protected tables out: the service without a network."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from diskret.cellkey import as_lookup
from diskret.engines.engine import Engine
from diskret.engines.spark import SparkEngine, session
from diskret.errors import DiskretError, InputError
from diskret.io import Source, source
from diskret.io.same_records import same_records
from diskret.keys import SecretKeys
from diskret.protect.tabulate import engine_of
from diskret.publish.store.connection import Busy, Full
from diskret.serve.allowance import Allowance
from diskret.serve.answers import Answer, Memory, Refused, Shown, answer_of, is_sparse
from diskret.serve.certainty import Resistance, resistance
from diskret.serve.coarser import as_text, coarser
from diskret.serve.data import DataSet
from diskret.serve.engines import KeptEngine, TooLong, Until
from diskret.serve.journal import Happened, Journal
from diskret.serve.measures import shown_sums
from diskret.serve.noise import MODULUS, Counted, counted, impossible, shown_counts, shown_totals
from diskret.serve.question import Family, Question
from diskret.serve.releases import Releases, tabulated
from diskret.tables import Table

#: Seconds that an engine has to end what it computes when all are closed.
_CLOSING = 0.3


class Tabulator:
    """Answers questions about data sets, always in the same way. Confidential: it opens records.

    Parameters
    ----------
    data
        Data sets.
    keys
        The office's secret keys; noise follows from them, so they must be the same for ever.
    memory
        Bytes of answers that are kept; see `Memory`.
    journal
        Keeps what was answered for good, and what other processes answer; None: nothing outlives
        the process.
    seconds
        How long a question may take, waiting for others included, before the engine is stopped;
        None: as long as it takes.
    engine
        Opens an engine; None: as for `tabulate`.
    releases
        The ledger for data sets whose cells are hidden.

    Raises
    ------
    InputError
        Two data sets of one name, of the same records, or of one vintage; or cells are to be
        hidden, and there is no ledger.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret import PerturbationTable
    >>> from diskret.serve import Variable
    >>> records = pa.table({"region": ["N", "S"] * 50, "key": range(1000, 101000, 1000)})
    >>> data = DataSet(
    ...     "persons", records, "key", (Variable("region", ("N", "S")),),
    ...     PerturbationTable.maximum_entropy(2, 1), questions=10,
    ... )
    >>> tables = Tabulator([data], SecretKeys(bytes(range(32))))
    >>> answer = tables.answer({"data": "persons", "by": ["region"]}, who="anne")
    >>> answer.cells().column_names
    ['region', 'count', 'status']
    >>> bool((abs(answer.value - 50) <= 2).all())
    True
    """

    def __init__(
        self,
        data: Iterable[DataSet],
        keys: SecretKeys,
        *,
        memory: int = 2**28,
        journal: Journal | None = None,
        seconds: float | None = None,
        engine: Callable[[Source], AbstractContextManager[Engine]] | None = None,
        releases: Releases | None = None,
    ):
        given = [*data]
        self.data = {one.name: one for one in given}
        if len(self.data) < len(given):
            raise InputError("two data sets have the same name")
        for one in given:
            if one.noise is None and releases is None:
                raise InputError(
                    f"tables of {one.name!r} become releases in a ledger: give releases="
                )
        for one, other in combinations(given, 2):
            if same_records(one.records, other.records):
                raise _of_one(one, other)
            how, its = one.suppression, other.suppression
            if how is not None and its is not None and how.vintage == its.vintage:
                raise InputError(
                    f"{one.name!r} and {other.name!r} have both vintage={how.vintage!r}, by which "
                    "the ledger would take them for the same records: give each another one"
                )
        self.memory = Memory(memory)
        self.allowance = Allowance(None if journal is None else journal.turn)
        self._journal = journal
        self._keys = keys
        self._releases = releases
        self._lookups = {
            one.name: as_lookup(one.noise, MODULUS) for one in given if one.noise is not None
        }
        self._sources = {name: source(one.records) for name, one in self.data.items()}
        self._seconds = seconds
        #: A session that is held stays for all questions.
        self._spark = session() if any(one.engine == "spark" for one in given) else None
        # one computation of a data set at a time, so that a family is not computed twice
        self._engines: dict[str, KeptEngine] = {}
        for name, one in self.data.items():
            opened = self._sources[name]
            run = engine or (SparkEngine if one.engine == "spark" else engine_of(opened))
            self._engines[name] = KeptEngine(partial(run, opened))

    def __repr__(self) -> str:
        return f"Tabulator({', '.join(self.data)})"

    def resistance(self, name: str, known_empty: bool = True) -> Resistance:
        """What the noise of a data set is worth. Confidential.

        Nothing, where sums are served: they tell who is in a cell, see `DataSet.presence`.

        Raises
        ------
        InputError
            It has no noise: what is claimed of hidden cells, the certificate of each table says.
        """
        data = self._data(name)
        if data.noise is None:
            raise InputError(
                f"{name!r} has no noise; what is claimed of hidden cells stands in the certificate "
                "of each table"
            )
        return Resistance(0.0, 0.0, 0.0) if data.measures else resistance(data.noise, known_empty)

    def check(self) -> None:
        """Read each variable of all data sets once. For the owner: errors name codes of records.

        Raises
        ------
        InputError
            A column is missing, records have no key or codes that are not registered, there are
            records in an impossible combination, or two data sets have the same keys.
        """
        keyed: dict[object, DataSet] = {}
        for data in self.data.values():
            if data.noise is None:
                for family in (
                    Family(data.name, (name,), (), measure=measure)
                    for name in data.variable
                    for measure in ("", *data.measure)
                ):
                    with self._engines[data.name].turn(until := Until()):
                        self._true(family, data, until)
                continue
            for name in data.variable:
                self._read(Family(data.name, (name,), ()), data)
            total = self._read(Family(data.name, (), ()), data)
            mark = data.key_modulus, total.count.tobytes(), total.key_sum.tobytes()
            if keyed.setdefault(mark, data) is not data and total.count.any():
                raise _of_one(keyed[mark], data)
            for name, measure in data.measure.items():
                total = self._read(Family(data.name, (), (), measure=name), data)
                if total.summed is not None:
                    shown_sums(total.summed, total.key_sum, measure, self._keys)
            for combination in data.impossible:
                family = Family(data.name, tuple(sorted(combination)), ())
                nowhere = np.flatnonzero(impossible(family, data))
                if np.isin(self._read(family, data).cell, nowhere).any():
                    raise InputError(
                        f"there are records of {data.name!r} in a combination that is called "
                        f"impossible, of {' and '.join(family.variables)}"
                    )

    def close(self) -> None:
        """Close all engines but one that computes on; another question opens them again."""
        for engine in self._engines.values():
            with suppress(TooLong), engine.turn(Until(_CLOSING)):
                engine.close()
        if self._spark is not None:
            running, ours = self._spark
            if ours:
                running.stop()

    def read(self, asked: Any) -> Question:
        """A question, also as it comes in, checked against its data set.

        Raises
        ------
        InputError
            It is none, or there is no such data set, variable or code, or the table is too large.
        """
        question = Question.of(asked)
        data = self._data(question.data)
        question.check(data)
        question.check_size(data)
        return question

    def answer(self, asked: Any, *, who: str, gone: Callable[[], bool] | None = None) -> Answer:
        """The table of a question.

        Parameters
        ----------
        asked
            ``{"data": name, "by": [variables], "where": {variable: [codes]}}``, or a `Question`;
            for sums also ``"measure"`` and ``"of"``. A sum or mean counts as two tables, for it is
            0 where the count is, a ratio as three.
        who
            Who asks.
        gone
            Says whether nobody waits for the answer any more; then the engine is stopped. It is
            asked by another thread, several times a second.

        Raises
        ------
        InputError
            As of `read`.
        Refused
            The table is sparse, or more tables would count the same record than the data set
            resists. If it is sparse, the error names up to three coarser questions that are not,
            as far as the shown counts tell.
        TooLong
            It took longer than it may, and the engine was stopped. The table is counted: asked for
            again, it costs nothing more.
        """
        until = Until(self._seconds, gone)
        until.check()
        question = self.read(asked)
        data = self._data(question.data)
        families = question.families(data)
        try:
            self.allowance.ask(families, who, data)
            counts, *sums = [self._shown(family, data, until) for family in families]
            if counts.sparse:
                raise _sparse(data, coarser(question, families[0], counts, data))
        except (Refused, TooLong) as error:
            self._gather("refused", who, families[-1], str(error))
            raise
        self._gather("answered", who, families[-1])
        return answer_of(question, families[0], counts, data, *sums)

    def kept(self, question: Question, *, who: str) -> Answer | None:
        """The answer, if this user had it before and it is in memory: opens no engine."""
        data = self._data(question.data)
        families = question.families(data)
        if not all(self.allowance.had(family, who) for family in families):
            return None
        found = [shown for family in families if (shown := self.memory.get(family)) is not None]
        if len(found) < len(families) or found[0].sparse:
            return None
        self._gather("answered", who, families[-1])
        return answer_of(question, families[0], found[0], data, *found[1:])

    def _shown(self, family: Family, data: DataSet, until: Until) -> Shown:
        return self.memory.get(family) or self._computed(family, data, until)

    def remembers(self, question: Question) -> bool:
        """Whether the table is in memory, whoever had it: then it is answered without an engine."""
        families = question.families(self._data(question.data))
        return all(self.memory.get(family) is not None for family in families)

    def _computed(self, family: Family, data: DataSet, until: Until) -> Shown:
        noisy_sums = data.noise is not None and family.measure
        counts = self._shown(replace(family, measure=""), data, until) if noisy_sums else None
        with self._engines[data.name].turn(until):
            if (kept := self.memory.get(family)) is not None:
                return kept
            try:
                if self._releases is not None and data.noise is None:
                    shown = self._releases.shown(
                        family, data, lambda: self._true(family, data, until), until
                    )
                    self.memory.keep(family, shown)
                    return shown
                found = self._counted(family, data, until)
                if counts is None:
                    value = shown_counts(found, family, data, self._lookups[data.name], self._keys)
                else:
                    value = shown_totals(found, family, data, counts.value, self._keys)
            except (TooLong, Refused, Busy, Full):
                raise
            except (DiskretError, OSError, MemoryError) as error:
                if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                    raise Full("there is no space left for the files of a table") from None
                # what is wrong with records or noise may name what nobody may see
                raise Refused(
                    f"the records of {data.name!r} cannot be tabulated as they are registered; "
                    "their owner is told why by Tabulator.check"
                ) from None
            nothing = impossible(family, data)
            few = is_sparse(value, data.small, data.share) if counts is None else counts.sparse
            shown = Shown(value, nothing, few)
            self.memory.keep(family, shown)
            return shown

    def _true(self, family: Family, data: DataSet, until: Until) -> list[Table]:
        records = self._sources[data.name]
        return self._engines[data.name].ask(
            lambda engine: tabulated(family, data, records, engine), until
        )

    def _gather(self, happened: Happened, who: str, family: Family, why: str = "") -> None:
        if self._journal is not None:
            self._journal.gather(happened, who, family, why)

    def _read(self, family: Family, data: DataSet) -> Counted:
        with self._engines[data.name].turn(until := Until()):
            return self._counted(family, data, until)

    def _counted(self, family: Family, data: DataSet, until: Until) -> Counted:
        return self._engines[data.name].ask(lambda engine: counted(family, data, engine), until)

    def _data(self, name: str) -> DataSet:
        if name not in self.data:
            raise InputError(f"there is no data set {name!r}")
        return self.data[name]


def _of_one(one: DataSet, other: DataSet) -> InputError:
    return InputError(
        f"{one.name!r} and {other.name!r} are of the same records, but each is protected and its "
        "tables are counted as if the other were not there: what the one hides the other would "
        "show. Make one data set of them, with the variables and measures of both"
    )


def _sparse(data: DataSet, instead: tuple[Question, ...]) -> Refused:
    if instead:
        return Refused(
            f"the table is sparse: more than {data.share:.0%} of its cells that show somebody show "
            f"{data.small} or less. By its counts, these may be asked for instead: "
            f"{as_text(instead)}",
            instead,
        )
    return Refused(
        f"the table is sparse: more than {data.share:.0%} of its cells that show somebody show "
        f"{data.small} or less. Ask with fewer variables or for coarser codes"
    )
