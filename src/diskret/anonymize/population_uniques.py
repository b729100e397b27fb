"""How many who are alone in the sample are alone in the population."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.anonymize.data import Microdata
from diskret.errors import InputError
from diskret.io import from_arrow
from diskret.parameters import Proportion, reading
from diskret.risk import Keys
from diskret.risk.keys import check_keys
from diskret.risk.loglinear import (
    Criterion,
    Model,
    cells_of,
    chances,
    fit,
    main_effects,
    search,
    table_of,
    two_way,
    with_margins,
)

#: By so much sums of weights may fall short because weights are rounded.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class PopulationUniques:
    """What [`Microdata.population_uniques`][diskret.Microdata.population_uniques] estimates.

    Confidential.

    Parameters
    ----------
    uniques
        τ₁: how many of the sample uniques are expected to be unique in the population.
    uniques_deviation
        Standard deviation of that number, if the model is right.
    correct_matches
        τ₂: how many matches of a sample unique with a person of the population who shows the same
        keys, drawn at random for each, are expected to be correct.
    correct_matches_deviation
        Standard deviation of that number, if the model is right.
    sample_uniques
        Number of records that are alone in all keys.
    records
        For each record, in the order of the rows: probability of ``population_unique`` (0 for a
        record that is not alone in the sample) and of a ``correct_match`` (null for these).
    model
        The margins of the log-linear model, as names of keys.
    criterion
        How well it suits the two estimates: within ±2 it does; above 0 they are too high, as with
        models that are too simple for a sparse file, below 0 too low.
    tried
        Every ``model`` that was looked at, in turn, with its criterion for the number of
        ``uniques`` and of correct ``matches``.
    fraction
        Share of the population that is in the file.
    """

    uniques: float
    uniques_deviation: float
    correct_matches: float
    correct_matches_deviation: float
    sample_uniques: int
    records: Any
    model: tuple[tuple[str, ...], ...]
    criterion: Criterion
    tried: Any
    fraction: float

    def __repr__(self) -> str:
        return (
            f"PopulationUniques({self.uniques:.1f} of {self.sample_uniques:,} sample uniques "
            f"expected in the population, {self.correct_matches:.1f} correct matches)"
        )


@reading
def population_uniques(
    md: Microdata,
    model: str | Sequence[Sequence[str]] = "auto",
    fraction: Annotated[float, Proportion()] | None = None,
) -> PopulationUniques:
    """Estimate how many records that are alone in the sample are alone in the population.

    Sample counts of all cells that the keys allow are taken to be Poisson with a log-linear
    model. A missing value is a category of its own.

    Parameters
    ----------
    md
        Microdata with keys, and with weights unless `fraction` is given.
    model
        ``"main"``: the keys are independent. ``"two-way"``: all pairs depend on each other.
        ``"auto"``: pairs are added to the independent model until the criterion is near 0. Or the
        pairs (or larger sets) of keys that depend on each other.
    fraction
        Share of the population that is in the file, above 0, at most 1. None: number of records
        over sum of weights, for each record within its stratum. For the choice of the model it is
        that of the whole file.

    Raises
    ------
    InputError
        There are no keys, no weights, or weights that sum up to less than the number of
        records; the keys allow more than 20 million combinations; the model is unknown or
        cannot be fitted.

    Notes
    -----
    Skinner and Holmes (1998), J. Official Statistics 14, for the probabilities; Skinner and Shlomo
    (2008), "Assessing identification risk in survey microdata using log-linear models", J.
    American Statistical Association 103, for criterion and choice of the model. The sample is
    taken to be drawn with equal probabilities within a stratum. Where strata differ, name their
    variables as keys, too.

    Examples
    --------
    >>> persons = pa.table(
    ...     {"sex": ["m", "m", "f", "f"], "job": ["baker", "baker", "baker", "mayor"]}
    ... )
    >>> found = population_uniques(Microdata(persons, keys=["sex", "job"]), "main", fraction=0.25)
    >>> found
    PopulationUniques(0.2 of 2 sample uniques expected in the population, 0.7 correct matches)
    >>> found.records["population_unique"].to_pylist()[2]  # exp(-1.5 · 0.75 / 0.25)
    0.011108996538242306
    """
    keys = md.keys()
    margins = _margins(keys, model)
    overall, of_record = _fractions(md, fraction)
    counts = table_of(keys)
    if margins is None:
        found, tried = search(counts, overall)
    else:
        found = fit(counts, margins, overall)
        tried = (found.criterion,)
    of = keys.classes.of
    alone = (keys.classes.count == 1)[of]
    expected = found.expected.ravel()[cells_of(keys)][of[alone]]
    unique, match = chances(expected, of_record[alone])
    records = {name: np.zeros(md.n) for name in ("population_unique", "correct_match")}
    records["population_unique"][alone] = unique
    records["correct_match"][alone] = match
    return PopulationUniques(
        float(unique.sum()),
        float(np.sqrt((unique * (1 - unique)).sum())),
        float(match.sum()),
        float(np.sqrt((match * (1 - match)).sum())),
        int(alone.sum()),
        from_arrow(
            pa.table(
                {
                    "population_unique": records["population_unique"],
                    "correct_match": pa.array(records["correct_match"], mask=~alone),
                }
            ),
            md.kind,
        ),
        _named(keys, found.criterion.model),
        found.criterion,
        from_arrow(_tried(keys, tried), md.kind),
        overall,
    )


def _fractions(md: Microdata, fraction: float | None) -> tuple[float, NDArray[np.float64]]:
    """The share of the population in the file, and in the stratum of each record."""
    if fraction is not None:
        return fraction, np.full(md.n, float(fraction))
    weights = md.weights()
    if weights is None:
        raise InputError(
            "without weights the file is the whole population, and who is alone in it is alone in "
            "the population; name weight= when you make the microdata, or give fraction="
        )
    overall = md.n / float(weights.sum())
    of_record = np.full(md.n, overall)
    if md.roles.strata:
        strata = md.keys(md.roles.strata).classes
        of_record = (strata.count / strata.total(weights))[strata.of]
    most = max(overall, float(of_record.max()))
    if most > 1 + _ROUNDING:
        raise InputError(
            "the weights of the file, or of a stratum, sum up to less than its number of records "
            f"({most:.4g} records for one person of the population); a weight says how many "
            "persons a record stands for"
        )
    return min(overall, 1.0), np.minimum(of_record, 1.0)


def _margins(keys: Keys, model: str | Sequence[Sequence[str]]) -> Model | None:
    """The margins of the model in positions of keys; None if they are to be chosen."""
    m = len(keys.names)
    if model == "auto":
        return None
    if model == "main":
        return main_effects(m)
    if model == "two-way":
        return two_way(m)
    if isinstance(model, str) or any(isinstance(margin, str) for margin in model):
        raise InputError(
            "model= must be 'auto', 'main', 'two-way' or pairs of keys such as "
            f"[('age', 'sex')], not {model!r}"
        )
    check_keys((name for margin in model for name in margin), keys.names, "model")
    return with_margins(m, [[keys.names.index(name) for name in margin] for margin in model])


def _named(keys: Keys, model: Model) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(keys.names[key] for key in margin) for margin in model)


def _tried(keys: Keys, tried: Sequence[Criterion]) -> pa.Table:
    return pa.table(
        {
            "model": [
                ", ".join(" × ".join(margin) for margin in _named(keys, one.model)) for one in tried
            ],
            "uniques": [one.uniques for one in tried],
            "matches": [one.matches for one in tried],
        }
    )
