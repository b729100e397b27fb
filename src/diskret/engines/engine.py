"""What holds records and answers questions about them: the same answers, however queries are run.

An engine says how it runs a query (`Records`) and what surrounds a question, for example a
transaction; which queries are asked and how their answers are read stands once, below here.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Self

from sqlglot.expressions import Select

from diskret.engines import columns, sql
from diskret.engines.contract import LeafQuestion, Leaves, PerturbedBlocks, PerturbedCounts
from diskret.engines.key_counts import WEIGHT_DECIMALS, KeyCounts, KeyQuestion, in_order
from diskret.engines.leaves import answer
from diskret.engines.perturbed import perturbed, perturbed_blocks
from diskret.engines.perturbed_sql import NoiseIntervals
from diskret.engines.records import Records, check, filtered, reader
from diskret.errors import InputError


class Engine(ABC):
    """Holds records and answers questions about them."""

    #: Which engine this is.
    name: str
    #: Gives back all that the engine holds, once; at the latest when nobody has it any more.
    _close: weakref.finalize[..., Engine]

    @abstractmethod
    def _asked(self) -> AbstractContextManager[Records]:
        """The records while one question is answered; errors become ours."""

    def leaves(self, question: LeafQuestion) -> Leaves:
        """Aggregate the records at leaf level, exactly.

        Parameters
        ----------
        question
            What to aggregate.

        Raises
        ------
        InputError
            A column is missing or of a type that cannot be used; a dimension or unit is
            null; a value is null, not finite or has more decimals than stated; a sum leaves
            the range of 64-bit integers; a unit has two record keys or two weights; a weight
            is null, below 1 or has more decimals than stated; no record satisfies `where` (the
            message says how many records and shows examples). Or the engine is closed, or cannot
            read or compute the records.
        HierarchyError
            A code is not a leaf of its tree; says how many records and shows examples.
        """
        with self._open() as records:
            return answer(question, records)

    def perturbed(
        self, question: LeafQuestion, noise: NoiseIntervals, threshold: int = 1
    ) -> PerturbedCounts:
        """Count records (or units) in all cells, totals included, and add noise to the counts.

        One statement does it where the records lie, and only perturbed counts of at least
        `threshold` come back. Of the question, values, holdings, weights and marks are not
        looked at.

        Parameters
        ----------
        question
            What to count.
        noise
            The noise of each count and cell key.
        threshold
            The least perturbed count that comes back, ≥ 1.

        Raises
        ------
        InputError
            As for `leaves`; or the question names no record keys, or keys of another modulus
            than the noise.
        HierarchyError
            A code is not a leaf of its tree; says how many records and shows examples.
        """
        with self._open() as records:
            return perturbed(question, noise, threshold, records)

    @contextmanager
    def perturbed_blocks(
        self, question: LeafQuestion, noise: NoiseIntervals, threshold: int, rows: int
    ) -> Generator[PerturbedBlocks]:
        """The same block by block: the table may be larger than memory.

        The blocks come while the ``with`` block runs, in which alone they can be asked for.

        Parameters
        ----------
        question, noise, threshold
            As for `perturbed`, with the same errors.
        rows
            Cells of a block, ≥ 1.
        """
        with self._open() as records:
            yield perturbed_blocks(question, noise, threshold, rows, records)

    def frequencies(self, question: KeyQuestion) -> KeyCounts:
        """Count the records of each combination of keys, and add up their weights, exactly.

        Parameters
        ----------
        question
            Keys, weight and filter.

        Raises
        ------
        InputError
            A column is missing or of a type that cannot be used; a key holds numbers with
            decimals; a weight is null, no number or not above 0; a sum of weights is too
            large; no record satisfies `where`. The message says how many records and shows
            examples.
        """
        with self._open() as records:
            keys, weight, where = _keys(question, records)
            found = records.stream(sql.key_counts(keys, weight, where))
            return in_order(question.keys, found, weight is not None)

    @abstractmethod
    def stop(self) -> None:
        """End the question that is being answered, from another thread: its asker gets an error.

        The engine answers further questions. Where none is being answered nothing happens.
        """

    def close(self) -> None:
        """Give back all that the engine holds: connection, session, private files."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _open(self) -> AbstractContextManager[Records]:
        if not self._close.alive:
            raise InputError("the engine is closed; open a new one for another question")
        return self._asked()


def key_values(question: KeyQuestion, records: Records) -> Select:
    """The records with all their columns, and after them what they have in each key, ``g0 …``."""
    keys, _, where = _keys(question, records)
    written = [column.internal for column in records.columns if column.cells is None]
    return sql.key_values(written, keys, where)


def _keys(question: KeyQuestion, records: Records) -> tuple[list[str], str | None, str | None]:
    """The expressions of the keys and of the weight, after their checks, and the filter."""
    where = filtered(question.where, records)
    read, checks = reader(records)
    keys = [read(name, columns.key) for name in question.keys]
    weight = None
    if question.weight is not None:
        weight = read(question.weight, lambda c: columns.sampling_weight(c, WEIGHT_DECIMALS))
    check(records, checks, where)
    return keys, weight, where
