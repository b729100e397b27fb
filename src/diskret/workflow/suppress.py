"""Judge, protect, attack, repair, certify: one table of records becomes a proven result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.attack import (
    Attacker,
    Examination,
    Requirements,
    Targets,
    certify,
    examine,
    targets_of,
    unmet,
)
from diskret.errors import InputError, ProofError, ProtectionError
from diskret.progress import Progress, silent
from diskret.rules import Rule, Sensitivity
from diskret.suppression import Method, Pattern, Problem, sequential
from diskret.tables import Published, Table
from diskret.tables.from_cells import describe
from diskret.workflow.plan import Cost, plan, publish
from diskret.workflow.result import Result

METHODS: dict[str, Method] = {"auto": sequential, "sequential": sequential}

# Requirements of cells that fail the attack are raised by these factors, in turn.
_REPAIRS = (1, 2, 4)
_EXAMPLES = 5


def suppress(
    table: Table,
    rule: Rule | Sensitivity,
    *,
    method: str | Method = "auto",
    cost: Cost = "value",
    attacker: Attacker | None = None,
    frozen: Any = None,
    time_limit: float | None = None,
    name: str | None = None,
    progress: Progress = silent,
) -> Result:
    """Protect a table by cell suppression, and prove the protection by attacking it.

    Parameters
    ----------
    table
        A complete table with one measure to protect (see `Table.__getitem__`).
    rule
        What is unsafe: a rule, several joined with ``|``, or a `Sensitivity`.
    method
        ``"auto"``, ``"sequential"``, or any callable ``Problem → Pattern``. A pattern that
        fails the attack is extended until it holds.
    cost
        What hiding a cell costs: ``"value"``, ``"count"``, ``"cells"`` (each the same), the
        name of a measure, or a callable that takes the table and returns an array.
    attacker
        Against whom to protect; None: the plain outsider, ``Attacker()``.
    frozen
        Cells that must stay published: a frame with the code columns, one row a cell, or a
        bool array of the table's shape.
    time_limit
        Seconds after which the search for a cheaper pattern stops. The result is always
        proven; an impossible limit is an error.
    name
        Name of the published table and its files; by default the measure's name.
    progress
        Called with ``("suppress" | "attack", done, total)``.

    Returns
    -------
    Result
        With the public and the internal table and the certificate.

    Raises
    ------
    InputError
        An option cannot be used with this table.
    ProtectionError
        No pattern satisfies the requirements, or none within the time limit.
    ProofError
        The protection could not be proven.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = pa.table({"region": ["N", "S", "W"], "firms": [7, 2, 5]})
    >>> table = Table.from_cells(cells, by={"region": None}, count="firms")
    >>> from diskret.rules import MinimumFrequency
    >>> suppress(table, MinimumFrequency(3)).public.to_pydict()["count"]
    [14, 7, None, None]
    """
    attacker = attacker or Attacker()
    chosen = _method(method)
    name = table.measure.name if name is None else name
    sensitivity = rule if isinstance(rule, Sensitivity) else rule(table)
    problem = plan(table, sensitivity, cost, frozen, attacker, time_limit, progress)
    pattern = _sound(problem, chosen(problem))
    proven, examination, targets, repaired = _prove(table, problem, pattern, attacker, name)
    certificate = certify(
        proven,
        attacker,
        problem.requirements,
        examination,
        targets,
        sliding_only=_sliding_only(table, sensitivity, problem.requirements),
        repaired=repaired,
        progress=progress,
    )
    settings = {
        "rule": "given" if rule is sensitivity else repr(rule),
        "method": pattern.method,
        "cost": _text(cost),
    }
    return Result(table, sensitivity, certificate, settings)


def _prove(
    table: Table, problem: Problem, pattern: Pattern, attacker: Attacker, name: str
) -> tuple[Published, Examination, Targets, int]:
    """Attack the pattern and extend it until every requirement holds."""
    missed: NDArray[np.bool_] = np.empty(0, dtype=bool)
    unrepaired: ProtectionError | None = None
    published = publish(table, pattern.suppressed, name)
    for repaired, factor in enumerate((*_REPAIRS, 0)):
        published = publish(table, pattern.suppressed, name)
        targets = targets_of(published, problem.system.value, problem.requirements)
        examination = examine(
            published,
            attacker,
            targets,
            original=table.measure.sum,
            progress=problem.progress,
        )
        missed = unmet(examination, targets)
        if not missed.any():
            return published, examination, targets, repaired
        if factor:
            failing = examination.cell[missed]
            stronger = _stronger(problem.requirements, failing, factor)
            extended = replace(problem, requirements=stronger, start=pattern.suppressed)
            try:
                pattern = _sound(problem, sequential(extended))
            except ProtectionError as error:
                if factor == 1:  # even what the rule asks for is impossible
                    raise
                unrepaired = error
                break
    cells = np.flatnonzero(published.suppressed)[missed]
    shown = "; ".join(describe(table.dimensions, int(c)) for c in cells[:_EXAMPLES])
    raise ProofError(
        f"{len(cells):,} cells can still be narrowed down too far after all repairs: "
        f"{shown}. Nothing was published; combine categories or choose another method"
    ) from unrepaired


def _stronger(requirements: Requirements, failing: NDArray[np.int64], factor: int) -> Requirements:
    """Ask for more where the attack got through; failing secondaries get a level of their own."""
    cell = np.union1d(requirements.cell, failing)
    at = np.searchsorted(cell, requirements.cell)

    def spread(levels: NDArray[np.int64]) -> NDArray[np.int64]:
        out = np.zeros(len(cell), dtype=np.int64)
        out[at] = levels
        return np.where(np.isin(cell, failing), out * factor, out)

    sliding = np.maximum(spread(requirements.sliding), np.where(np.isin(cell, failing), factor, 0))
    return Requirements(cell, spread(requirements.lower), spread(requirements.upper), sliding)


def _sound(problem: Problem, pattern: Pattern) -> Pattern:
    """Refuse a pattern that breaks the contract of methods."""
    suppressed = pattern.suppressed
    if suppressed.shape != problem.frozen.shape or suppressed.dtype != bool:
        raise ProofError(f"method {pattern.method!r} returned no pattern for this table")
    if not suppressed[problem.requirements.cell].all():
        raise ProofError(f"method {pattern.method!r} would publish unsafe cells")
    if np.any(suppressed & problem.frozen):
        raise ProofError(f"method {pattern.method!r} suppresses cells that must stay published")
    return pattern


def _method(method: str | Method) -> Method:
    if callable(method):
        return method
    if method not in METHODS:
        raise InputError(
            f"method must be one of {', '.join(METHODS)} or a callable, not {method!r}"
        )
    return METHODS[method]


def _text(option: Any) -> str:
    return getattr(option, "__name__", "callable") if callable(option) else str(option)


def _sliding_only(table: Table, sensitivity: Sensitivity, claimed: Requirements) -> int:
    return int((claimed.lower < sensitivity.lower.ravel()[claimed.cell]).sum())
