"""Several ways to protect the same microdata, each with its risk and its loss."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from diskret.anonymize.data import Microdata
from diskret.anonymize.history import carry_out
from diskret.anonymize.verb import Step
from diskret.errors import DiskretError, InputError
from diskret.parameters import Seed, reading
from diskret.progress import Progress, silent
from diskret.risk.linkage import linked
from diskret.risk.neighbours import Seen
from diskret.utility import RecordsComparison, compare
from diskret.utility.risk_utility import AS_IT_IS, RiskUtilityMap

#: One way to protect: a function, a step as a job file has it, or several steps.
Choice = Callable[[Microdata], Microdata] | Mapping[str, Any] | Sequence[Mapping[str, Any]]
RiskFigure = Callable[[Microdata], float]
LossFigure = Callable[[RecordsComparison], float]


@reading
def explore(
    md: Microdata,
    choices: Mapping[str, Choice],
    *,
    risk: Mapping[str, RiskFigure] | None = None,
    loss: Mapping[str, LossFigure] | None = None,
    seed: Seed | None = None,
    progress: Progress = silent,
) -> RiskUtilityMap:
    """Try several ways to protect microdata, and put risk and loss of each beside the others.

    Parameters
    ----------
    md
        Where each choice begins; as they are they make the first row, ``"as it is"``.
    choices
        Name → what to do: a step as in a job file, ``{"do": "pram", "variables": "job"}``, a list
        of such steps, or a function that takes microdata and returns protected ones.
    risk
        Name → function of protected microdata. None: ``"recognised"``, the mean individual risk
        by the keys, and ``"linked"``, the share of records that are nearest to their own
        original in the numeric variables, as far as there are keys and numeric variables.
    loss
        Name → function of a [`RecordsComparison`][diskret.utility.RecordsComparison] with
        `md`. None: ``"pmse"``, how well a model tells the records from those of `md`,
        ``"il1s"`` of the numeric variables and ``"moved"``, the mean share of records that are
        in another cell of a table of one or two keys.
    seed
        For every step that needs a seed and names none.
    progress
        Called with ``("choices", done, total)``.

    Returns
    -------
    RiskUtilityMap
        Confidential.

    Raises
    ------
    InputError
        There is no choice, a step has no method, or there is nothing to measure.
    DiskretError
        As the method of a step; the message says which choice it was.

    Notes
    -----
    The figures of risk do not know how values were changed: who is recognised by keys is counted as
    if published keys were true, which overstates the risk of what was changed at random. The
    map goes back to G. Duncan, S. Keller-McNulty and S. Stokes (2001), *Disclosure risk vs. data
    utility: the R-U confidentiality map*.

    Examples
    --------
    >>> import pyarrow as pa
    >>> jobs = pa.table({"job": ["a"] * 5 + ["b", "c"], "age": ["1", "2"] * 3 + ["2"]})
    >>> md = Microdata(jobs, keys=["job", "age"])
    >>> found = explore(md, {
    ...     "k = 2": {"do": "local_suppression", "k": 2},
    ...     "b or c": {"do": "recode", "variable": "job", "groups": {"b or c": ["b", "c"]}},
    ... })
    >>> found.risk["recognised"].round(3).tolist()
    [0.571, 0.286, 0.429]
    >>> found
    RiskUtilityMap(3 choices; on the frontier: as it is, k = 2)
    """
    if not choices:
        raise InputError("there is nothing to choose from; choices= names what to try")
    if AS_IT_IS in choices:
        raise InputError(f"{AS_IT_IS!r} is the row of the microdata as they are; rename the choice")
    risks = _risks(md) if risk is None else dict(risk)
    losses = _losses(md) if loss is None else dict(loss)
    if not risks or not losses:
        raise InputError(
            "there is nothing to measure: give the microdata keys= or numeric=, or name figures in "
            "risk= and loss="
        )
    clash = [name for name in risks if name in losses or name in _COLUMNS]
    clash += [name for name in losses if name in _COLUMNS]
    if clash:
        raise InputError(f"{clash[0]!r} names two columns of the map; rename one of the figures")
    todo: dict[str, Choice] = {AS_IT_IS: [], **choices}
    found: list[list[float]] = []
    for number, (name, choice) in enumerate(todo.items(), start=1):
        try:
            protected = _carried_out(md, choice, seed)
            comparison = compare(md, protected)
            found.append(
                [
                    *(float(figure(protected)) for figure in risks.values()),
                    *(float(figure(comparison)) for figure in losses.values()),
                ]
            )
        except DiskretError as error:
            raise type(error)(f"choice {name!r}: {error}") from error
        progress("choices", number, len(todo))
    columns = np.array(found).T
    return RiskUtilityMap(
        tuple(todo),
        dict(zip(risks, columns[: len(risks)], strict=True)),
        dict(zip(losses, columns[len(risks) :], strict=True)),
        md.kind,
    )


_COLUMNS = ("choice", "frontier")


def _carried_out(md: Microdata, choice: Choice, seed: int | None) -> Microdata:
    if callable(choice):
        made: Any = choice(md)
        if not isinstance(made, Microdata):
            raise InputError(f"the function returned {type(made).__name__}, not Microdata")
        return made
    steps = choice if isinstance(choice, Sequence) else [choice]
    return carry_out(md, [_step(step, seed) for step in steps])


def _step(given: Mapping[str, Any], seed: int | None) -> Step:
    if "do" not in given:
        raise InputError(f"a step says what to do, as in {{'do': 'pram', …}}; this is {given!r}")
    arguments = {name: value for name, value in given.items() if name != "do"}
    verb = given["do"]
    method = getattr(Microdata, verb, None) if isinstance(verb, str) else None
    if method is None:
        raise InputError(f"there is no method {verb!r}")
    named = inspect.signature(method).parameters
    unknown = [name for name in arguments if name not in named]
    if unknown:
        raise InputError(f"{verb} has no argument {unknown[0]!r}; it has {', '.join(named)}")
    wanted = "seed" in named and named["seed"].default is inspect.Parameter.empty
    if seed is not None and wanted:
        arguments.setdefault("seed", seed)
    return Step(verb, arguments)


def _risks(md: Microdata) -> dict[str, RiskFigure]:
    made: dict[str, RiskFigure] = {}
    if md.roles.keys:
        made["recognised"] = lambda protected: protected.risk().global_risk
    if md.roles.numeric:
        made["linked"] = _linked
    return made


def _linked(protected: Microdata) -> float:
    names = protected.roles.numeric
    if not names:
        return 0.0
    return linked(Seen(protected.original.numbers(names)), Seen(protected.numbers(names))).share


def _losses(md: Microdata) -> dict[str, LossFigure]:
    made: dict[str, LossFigure] = {"pmse": lambda found: found.propensity().pmse}
    if md.roles.numeric:
        made["il1s"] = lambda found: found.il1s
    if md.roles.keys:
        made["moved"] = lambda found: found.figures["moved"]
    return made
