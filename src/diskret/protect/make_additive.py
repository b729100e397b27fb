"""Perturbed results made additive, with what that costs of consistency."""

from __future__ import annotations

from dataclasses import replace

from diskret.adjustment.additive import AdditiveMethod
from diskret.adjustment.additive import make_additive as fitted
from diskret.attack.certify_changed import certify_additive
from diskret.errors import InputError
from diskret.parameters import reading
from diskret.protect.perturbed_result import PerturbedResult
from diskret.tables import Perturbed
from diskret.texts.numbers import Count

_FAMILIES = ("cell_key", "invariant")


@reading
def make_additive(result: PerturbedResult, *, method: AdditiveMethod = "least") -> PerturbedResult:
    """The same table with totals that are the sums of their parts.

    Noise by cell keys is the same for a cell in every table, so it cannot add up. This gives up
    the one for the other: values are changed once more, as little as possible, and may then
    differ from those of other tables. Only the perturbed values are used, so nobody learns more
    than from these; zeros stay zeros.

    Parameters
    ----------
    result
        A perturbed table, as `dk.perturb` gives it.
    method
        ``"least"``: the least sum of squared changes. ``"ipf"``: iterative proportional fitting
        from the grand total downwards, which keeps coarse totals best.

    Returns
    -------
    PerturbedResult
        With a certificate of its own: how many cells were changed again, how far, and the
        added variance.

    Raises
    ------
    InputError
        The result is of another family, withholds cells, or the method is unknown.
    ProofError
        A claim does not hold.

    References
    ----------
    See [`make_additive`][diskret.adjustment.make_additive].
    """
    if result.published.changed not in _FAMILIES:
        raise InputError(
            "only tables that were perturbed by cell keys are made additive afterwards; for "
            "additive rounding use method='controlled', and adjusted tables are additive"
        )
    before = result.published
    if before.suppressed.any():
        number = Count(before.suppressed.sum())
        raise InputError(
            f"{number} {number:cell is|cells are} withheld, so totals cannot be the sums of what "
            "is shown; make the table additive without a threshold"
        )
    unit = before.rounding  # weighted counts may be shown in hundreds, say, and stay so
    fit = fitted(before.dimensions, before.value // unit, method, nonnegative=before.nonnegative)
    published = replace(before, value=fit.value * unit)
    certificate = certify_additive(published, before, result.table)
    known = result.known
    if known is not None:
        known = _farther(known, unit * fit.report(before.decimals)["largest"])
    return PerturbedResult(
        result.table, certificate, {**result.settings, "additive": method}, known
    )


def _farther(known: Perturbed, by: float) -> Perturbed | None:
    """How far true values can lie from those changed again."""
    if known.method != "noise" or known.largest is None:
        return None
    return replace(known, largest=known.largest + by)
