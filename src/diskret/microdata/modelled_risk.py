"""The risk of records by a log-linear model, beside the estimate that rests on weights alone."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.attack.microdata.claims import Claim, ExpectedBelow, Missing, RiskBelow
from diskret.attack.microdata.leaving import Modelled
from diskret.errors import InputError
from diskret.io import coded
from diskret.io.columns import column
from diskret.risk import Keys, frequencies, individual_risk
from diskret.risk.loglinear import cells_of, inverse_mean, search, table_of


def models(
    records: pa.Table,
    names: Sequence[str],
    weight: NDArray[np.float64] | None,
    claims: Sequence[Claim],
) -> dict[Missing, Modelled]:
    """The models that claims rest on, each fitted once."""
    asked: list[Missing] = [c.missing for c in claims if isinstance(c, RiskBelow | ExpectedBelow)]
    found: dict[Missing, Modelled | None] = {
        missing: modelled(records, names, weight, missing) for missing in dict.fromkeys(asked)
    }
    return {missing: model for missing, model in found.items() if model is not None}


def modelled(
    records: pa.Table,
    names: Sequence[str],
    weight: NDArray[np.float64] | None,
    missing: Missing = "wildcard",
) -> Modelled | None:
    """The risk that a log-linear model of the sample counts gives each record.

    The persons of the population beyond the f records that agree with one are taken to be Poisson
    with the mean that the model expects (Skinner and Shlomo 2008). A record with a missing key has
    no cell, and keeps the risk by weights.

    `records`: with the keys among their columns. `weight`: sampling weights, ``(n,)``; None: the
    records are all there are. `missing`: what a missing key stands for. Returns None if the records
    are the population, so that nothing has to be estimated; with the reason, and no figures, if
    there is no model.
    """
    if weight is None or not names or weight.sum() <= len(weight):
        return None
    keys = Keys(tuple(coded(column(records, name), name) for name in names))
    try:
        model, _ = search(table_of(keys), len(weight) / float(weight.sum()))
    except InputError as error:
        return Modelled(None, 0.0, str(error))
    found = frequencies(keys, weight, missing)
    share = np.minimum(found.sample / found.population, 1.0)
    of = keys.classes.of
    rest = model.expected.ravel()[cells_of(keys)][of] * (1 - share) / share
    risk = inverse_mean(found.sample, rest)
    gaps = np.asarray((keys.classes.codes < 0).any(axis=1))[of]
    risk[gaps] = individual_risk(found.sample, found.population)[gaps]
    alone = (found.sample == 1) & ~gaps
    return Modelled(risk, float(np.exp(-rest[alone]).sum()))
