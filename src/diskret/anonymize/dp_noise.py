"""The verb for noise with differential privacy, and what it guarantees."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.anonymize.missing_codes import as_numbers
from diskret.anonymize.variables import chosen
from diskret.anonymize.verb import Step, verb
from diskret.errors import InputError
from diskret.io.columns import some
from diskret.microdata.dp_noise import Mechanism, gaussian, laplace
from diskret.parameters import Number, Positive
from diskret.progress import Progress, silent
from diskret.texts import Figure, Statement, sentence

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata


@verb()
def dp_noise(
    md: Microdata,
    variables: str | Iterable[str],
    *,
    epsilon: Positive | Mapping[str, Positive],
    bounds: Mapping[str, Sequence[float]],
    delta: Annotated[float, Number(above=0, below=1)] | None = None,
    progress: Progress = silent,
) -> Microdata:
    """Add noise to every value of numeric variables so that it is differentially private by itself.

    This is the local model: whatever a reader knows otherwise, the new values of a record are
    at most e^ε times as likely as they would be if its true values were any others within
    the bounds. So much is guaranteed only with much noise: choose it for few variables from
    which averages of many records are published.

    Parameters
    ----------
    md
        The microdata; they are not changed.
    variables
        Columns of numbers. Missing values stay missing; that a value is missing is not protected.
    epsilon
        Privacy budget ε > 0 of a record for all `variables` together, shared equally; or variable →
        its ε, which add up.
    bounds
        Variable → (low, high). Values outside become the bound before noise is added, and the noise
        grows with high - low. Bounds must not be read off the data: they would tell the extreme
        values.
    delta
        None: Laplace noise (pure ε). Else Gaussian noise with the probability δ, above 0 and
        below 1, far below one over the number of records.
    progress
        Called with ``("noise", done, total)``, values of a variable.

    Returns
    -------
    Microdata
        With the variables as floating point numbers, which may lie outside the bounds. Other
        columns are not changed, and nothing is guaranteed for them.

    Raises
    ------
    InputError
        OpenDP is not installed, a budget is not above 0, or bounds are missing or wrong.

    Notes
    -----
    Step of the history: the ``mechanism``, ``epsilon`` and ``delta`` of a record by this step,
    ``epsilon_so_far`` and ``delta_so_far`` with all earlier such steps (basic composition), and for
    each variable its ``epsilon`` (Laplace), the ``deviation`` of its noise and how many values were
    ``clamped``. The certificate for the office says so in words.

    There is no seed: OpenDP draws from the source of chance of the operating system, and who
    could draw the noise again could remove it. Done again, the step gives other values.

    References
    ----------
    C. Dwork and A. Roth (2014), The Algorithmic Foundations of Differential Privacy, sections 3.3,
    3.5 and 12.1; M. Bun and T. Steinke (2016), "Concentrated differential privacy", for Gaussian
    noise; the OpenDP library for both (opendp.org).

    Examples
    --------
    >>> from diskret import Microdata
    >>> md = Microdata(pa.table({"income": [2100, 1800, 3500]}), numeric=["income"])
    >>> made = md.dp_noise("income", epsilon=1, bounds={"income": (0, 10000)})
    >>> made.history[0].found["by_variable"]["income"]["deviation"]
    14142.135623730952
    """
    names = list(chosen(md, variables))
    limits = _limits(names, bounds)
    budget = _budget(names, epsilon, delta)
    md = as_numbers(md, names)
    values = md.numbers(names)
    if delta is None:
        mechanisms = [laplace(budget[name]) for name in names]
        spent = fsum(one.epsilon for one in mechanisms), 0.0
    else:
        mechanisms = [gaussian(fsum(budget.values()), delta, len(names))] * len(names)
        spent = mechanisms[0].epsilon, mechanisms[0].delta
    columns: dict[str, pa.ChunkedArray] = {}
    figures: dict[str, Any] = {}
    for at, (name, one) in enumerate(zip(names, mechanisms, strict=True)):
        columns[name], figures[name] = _noisy(values[:, at], *limits[name], one, progress)
    before = _spent(md.history)
    found = {
        "mechanism": mechanisms[0].name,
        "epsilon": spent[0],
        "delta": spent[1],
        "epsilon_so_far": before[0] + spent[0],
        "delta_so_far": before[1] + spent[1],
        "by_variable": figures,
    }
    told = {"variables": names, "bounds": {name: list(limits[name]) for name in names}}
    return md.after(columns, Step("dp_noise", told, found))


def guarantees(md: Microdata) -> tuple[Statement, ...]:
    """What the steps of the history guarantee, in words for the office."""
    names = dict.fromkeys(
        name for step in md.history if step.verb == "dp_noise" for name in step.found["by_variable"]
    )
    if not names:
        return ()
    epsilon, delta = _spent(md.history)
    budget = sentence("microdata.budget", epsilon=Figure(f"{epsilon:.6g}"))
    if delta:
        budget = sentence(
            "microdata.budget with delta",
            epsilon=Figure(f"{epsilon:.6g}"),
            delta=Figure(f"{delta:.3g}"),
        )
    return (sentence("microdata.locally private", names=", ".join(names), budget=budget),)


def _noisy(
    values: NDArray[np.float64],
    low: float,
    high: float,
    mechanism: Mechanism,
    progress: Progress,
) -> tuple[pa.ChunkedArray, dict[str, Any]]:
    there = ~np.isnan(values)
    # dividing may leave [0, 1] by a rounding error, which would cost more than the budget
    unit = np.clip((values[there] - low) / (high - low), 0, 1)
    made = values.copy()
    made[there] = low + (high - low) * mechanism.added(unit, progress)
    figures = {
        **({"epsilon": mechanism.epsilon} if mechanism.name == "laplace" else {}),
        "deviation": (high - low) * mechanism.deviation,
        "clamped": int(((values < low) | (values > high)).sum()),
        "missing": int((~there).sum()),
    }
    return pa.chunked_array([pa.array(made, mask=~there)]), figures


def _limits(
    names: Sequence[str], bounds: Mapping[str, Sequence[float]]
) -> dict[str, tuple[float, float]]:
    without = [name for name in names if name not in bounds]
    if without:
        raise InputError(
            f"bounds= does not name {some('column', without)}; say what values are possible, not "
            "what occurs in the data, e.g. {'income': (0, 20000)}"
        )
    made: dict[str, tuple[float, float]] = {}
    for name in names:
        pair = tuple(bounds[name])
        if len(pair) != 2 or not np.isfinite(pair).all() or not pair[0] < pair[1]:
            raise InputError(
                f"bounds= of {name!r} must be two numbers, the lower one first, not {pair!r}"
            )
        made[name] = float(pair[0]), float(pair[1])
    return made


def _budget(
    names: Sequence[str], epsilon: float | Mapping[str, float], delta: float | None
) -> dict[str, float]:
    """The ε of each variable."""
    if isinstance(epsilon, Mapping):
        if delta is not None:
            raise InputError(
                "with delta= the variables have one budget together; give epsilon= as a number"
            )
        if set(epsilon) != set(names):
            raise InputError(
                "epsilon= by variable must name exactly those that get noise: "
                f"{', '.join(names)}, not {', '.join(epsilon)}"
            )
        return {name: float(epsilon[name]) for name in names}
    return {name: float(epsilon) / len(names) for name in names}


def _spent(history: Iterable[Step]) -> tuple[float, float]:
    """ε and δ of a record by all steps."""
    steps = [step.found for step in history if step.verb == "dp_noise"]
    return fsum(one["epsilon"] for one in steps), fsum(one["delta"] for one in steps)
