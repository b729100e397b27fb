"""Tables with changed values for tests that are not about how they were changed."""

import numpy as np
import pyarrow as pa

import diskret as dk
from diskret.attack import NoiseCertificate
from diskret.attack.certify_changed import ADJUSTED, NOT_OF_ADJUSTED
from diskret.attack.rounding_certificate import claimed, not_claimed
from diskret.protect.perturbed_result import PerturbedResult
from diskret.tables import Noise, Perturbed
from diskret.tables.perturbed import published_with
from diskret.texts import sentence

FIRMS = {"N": 7, "O": 9, "S": 2, "W": 5}


def table(vintage="", **firms):
    firms = firms or FIRMS
    cells = pa.table({"region": list(firms), "firms": list(firms.values())})
    return dk.Table.from_cells(cells, by={"region": None}, count="firms", vintage=vintage)


def changed(made, values, *, name="rounded", family="rounding", known=None, shown=None, **masks):
    """A result that shows these values in place of the table's."""
    value = np.asarray(values, dtype=np.int64).reshape(made.shape)
    nowhere = np.zeros(made.shape, dtype=bool)
    noise = Noise(value, masks.get("withheld", nowhere), masks.get("impossible", nowhere))
    published = published_with(made, noise, name=name, changed=family)
    base = (shown or {}).get("base", 5)
    said = (
        (ADJUSTED, NOT_OF_ADJUSTED)
        if family == "adjustment"
        else (
            claimed("deterministic", base, False, False),
            not_claimed("deterministic", False, False, False),
        )
    )
    certificate = NoiseCertificate(
        published,
        *said,
        checked=(sentence("rounding.not examined"),),
        shown=shown or {},
        figures={"largest": 4},
    )
    return PerturbedResult(made, certificate, {"method": "by hand"}, known)


def rounded(made, base=5, **options):
    """Every value rounded to the nearest multiple, half a base upwards."""
    value = (made.count + base // 2) // base * base
    known = Perturbed("deterministic", base=base)
    shown = {"method": "deterministic", "base": base, "additive": False}
    return changed(made, value, known=known, shown=shown, **options)
