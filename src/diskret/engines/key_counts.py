"""How the question about combinations of keys is answered, on any engine."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot.expressions import Select

from diskret.engines import columns, sql
from diskret.engines.answer import Records, check, column_named, filtered
from diskret.engines.columns import Check, Column, Reading
from diskret.engines.keys import WEIGHT_DECIMALS, KeyCounts, KeyQuestion, in_order


def key_counts(question: KeyQuestion, records: Records) -> KeyCounts:
    """Count the records of each combination; see `Engine.frequencies`."""
    where = filtered(question.where, records)
    keys, weight = _read(question, records, where)
    found = records.stream(sql.key_counts(keys, weight, where))
    return in_order(question.keys, found, question.weight is not None)


def key_values(question: KeyQuestion, records: Records) -> Select:
    """The records themselves, and what they have in each key, as ``g0 …``.

    Raises
    ------
    InputError
        As for `key_counts`.
    """
    where = filtered(question.where, records)
    keys, _ = _read(question, records, where)
    return sql.key_values([column.internal for column in records.columns], keys, where)


def _read(
    question: KeyQuestion, records: Records, where: str | None
) -> tuple[list[str], str | None]:
    """The expressions of the keys and of the weight, after their checks."""
    checks: list[Check] = []

    def read(name: str, how: Callable[[Column], Reading]) -> str:
        reading = how(column_named(records, name))
        checks.extend(reading.checks)
        return reading.expression

    keys = [read(name, columns.key) for name in question.keys]
    weight = None
    if question.weight is not None:
        weight = read(question.weight, lambda c: columns.sampling_weight(c, WEIGHT_DECIMALS))
    check(records, checks, where)
    return keys, weight
