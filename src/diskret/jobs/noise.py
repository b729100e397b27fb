"""How a job file asks for values to be changed: ``[tables.noise]``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from diskret.cellkey.admissible import count_rows
from diskret.jobs.schema import Section

#: Methods of rounding, as `round_table` calls them.
ROUNDING = ("deterministic", "random", "controlled", "small_counts")
METHODS = ("cell_key", "invariant", *ROUNDING, "adjustment")

_DESIGN = ("max_noise", "variance", "small_counts", "stay", "monotone", "variance_rule")
_KEYS = {
    "cell_key": (
        *(
            "record_key",
            "key_of",
            "key_modulus",
            "key_digits",
            "table",
            "layout",
            "reuse",
            *_DESIGN,
        ),
        *("threshold", "weighted_count", "structural_zeros", "additive", "magnitude"),
    ),
    "invariant": (
        *("record_key", "key_of", "key_modulus", "key_digits"),
        *("largest", "max_noise", "most_stay", "exact"),
    ),
    "deterministic": ("base",),
    "random": ("base",),
    "controlled": ("base", "steps", "time_limit"),
    "small_counts": ("base",),
    "adjustment": ("cost", "largest_change", "time_limit"),
}
_MAGNITUDE = (
    *("scale", "flex_point", "flex_power", "of", "shares", "extra"),
    *("small", "odd", "counts", "risk", "keys", "own_keys", "measure"),
)
#: How files of perturbation tables are laid out.
LAYOUTS = ("ptable", "abs", "ons")


@dataclass(frozen=True)
class NoiseJob:
    """How the values of a table are changed. Confidential.

    method: one of `METHODS`.
    record_key, key_modulus: column of the record keys, integers from 0 to below the modulus.
    key_digits: of keys that are decimals in [0, 1); None: they are integers.
    key_of: in place of `record_key`: the column that names the counted unit, from which keys are
        derived with the office's secret.
    table: file of the perturbation table; None: it is designed.
    layout, reuse: one of `LAYOUTS`; and how many of the last rows larger counts take in turn, None:
        as is usual for the layout.
    design: arguments of `PerturbationTable.maximum_entropy`, or of `for_magnitudes`.
    magnitude: arguments of `MagnitudeNoise` beside its table, which may be files, and the `measure`
        of `perturb`; None: counts.
    additive: how the table is made additive afterwards; None: not at all.
    options: further arguments of the verb.
    """

    method: str
    record_key: str | None = None
    key_modulus: int = 2**32
    key_digits: int | None = None
    key_of: str | None = None
    table: Path | None = None
    layout: str = "ptable"
    reuse: int | None = None
    design: Mapping[str, Any] = field(default_factory=dict[str, Any])
    magnitude: Mapping[str, Any] | None = None
    additive: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def largest(self) -> int:
        """How many of the largest contributions are needed."""
        return 0 if self.magnitude is None else len(self.magnitude.get("shares", (1.0,)))


def read_noise(section: Section, table: Section) -> NoiseJob:
    """How the values of a table are to be changed.

    section: what stands below ``[tables.noise]``; `table` is the table that it is for.
    """
    method = section.choice("method", None, METHODS)
    if method is None:
        raise section.error(f"{section.name} needs a 'method': {', '.join(METHODS)}")
    section.check(required=("method",), optional=_KEYS[method])
    if method == "adjustment" and "rules" not in table:
        raise table.error("adjustment moves sensitive cells: [tables.rules] is missing")
    for key in ("method", "cost", "time_limit", "budget", "frozen", "previous", "rounding"):
        if key in table:
            raise table.error(f"'{key}' is for suppression, and the table has 'noise'", key)
    if method == "cell_key":
        return _cell_key(section, table)
    return _invariant(section, table) if method == "invariant" else _other(method, section)


def _other(method: str, section: Section) -> NoiseJob:
    options: dict[str, Any] = {}
    if "base" in _KEYS[method]:
        options["base"] = section.number("base", 3, above=0)
    if "steps" in section:
        options["steps"] = section.whole("steps", 0, 0)
    if "time_limit" in section:
        options["time_limit"] = section.number("time_limit", None, above=0)
    if "cost" in section:
        options["cost"] = section.choice("cost", "value", ("value", "relative"))
    if "largest_change" in section:
        options["largest_change"] = section.number("largest_change", None, above=0)
    return NoiseJob(method, options=options)


def _keys(section: Section, table: Section) -> dict[str, Any]:
    """Where record keys come from."""
    if ("record_key" in section) == ("key_of" in section):
        raise section.error(
            "noise by cell keys needs either 'record_key', a column of record keys, or 'key_of', "
            "the column that names the counted unit"
        )
    if "cells" in table:
        raise section.error("noise by cell keys needs records, and the table has 'cells'")
    for key in ("key_modulus", "key_digits"):
        if "key_of" in section and key in section:
            raise section.error("derived keys have a modulus of their own", key)
    if "key_modulus" in section and "key_digits" in section:
        raise section.error("keys with digits have the modulus 10^key_digits", "key_modulus")
    return {
        "record_key": section.text("record_key", None),
        "key_modulus": section.whole("key_modulus", 2**32, 2),
        "key_digits": section.whole("key_digits", None, 1, 18),
        "key_of": section.text("key_of", None),
    }


def _invariant(section: Section, table: Section) -> NoiseJob:
    if "value" in table:
        raise section.error("invariant noise is for counts, and the table has a 'value'")
    if "largest" not in section:
        raise section.error("'largest', the largest value that is changed, is missing")
    options = {
        "largest": section.whole("largest", 0, 1),
        "max_noise": section.whole("max_noise", 3, 1),
        "most_stay": section.number("most_stay", 0.5, low=0, high=1),
        "exact": section.flag("exact", True),
    }
    return NoiseJob("invariant", **_keys(section, table), options=options)


def _cell_key(section: Section, table: Section) -> NoiseJob:
    keys = _keys(section, table)
    designed = [key for key in _DESIGN if key in section]
    if "table" in section and designed:
        raise section.error(f"'{designed[0]}' is that of the 'table' already", designed[0])
    if "table" not in section:
        for key in ("max_noise", "variance"):
            if key not in section:
                raise section.error(f"without a 'table', '{key}' is missing in {section.name}")
    options: dict[str, Any] = {}
    if "threshold" in section:
        options["threshold"] = section.whole("threshold", 0, 1)
    if section.flag("weighted_count", False):
        options["weighted_count"] = True
    if "structural_zeros" in section:
        options["structural_zeros"] = section.existing_file("structural_zeros")
    layout = section.choice("layout", "ptable", LAYOUTS)
    for key in ("layout", "reuse"):
        if key in section and "table" not in section:
            raise section.error(f"'{key}' is about a 'table', and there is none", key)
    if "reuse" in section and layout == "ptable":
        raise section.error("'reuse' is for the layouts abs and ons", "reuse")
    of_sums = "value" in table and not options.get("weighted_count", False)
    if of_sums != ("magnitude" in section):
        raise section.error(
            "[tables.noise.magnitude] says how sums are changed: "
            + ("it is missing" if of_sums else "the table has no 'value', or weighted counts")
        )
    return NoiseJob(
        "cell_key",
        **keys,
        table=section.existing_file("table") if "table" in section else None,
        layout=layout,
        reuse=section.whole("reuse", None, 1),
        design=_design(section, of_sums),
        magnitude=_magnitude(section.section("magnitude")) if of_sums else None,
        additive=section.choice("additive", None, ("ipf", "least")),
        options=options,
    )


def _design(section: Section, of_sums: bool) -> dict[str, Any]:
    if "table" in section:
        return {}
    read: dict[str, Callable[[Section], Any]] = {
        "monotone": lambda s: s.flag("monotone", True),
        "variance_rule": lambda s: s.choice("variance_rule", "at_most", ("at_most", "exact")),
        "stay": lambda s: s.number("stay", 0.0, low=0, high=1),
    }
    design: dict[str, Any] = {
        "max_noise": section.whole("max_noise", 0, 1),
        "variance": section.number("variance", 0.0, above=0),
    }
    if of_sums:
        for key in ("small_counts", "stay"):
            if key in section:
                raise section.error(f"'{key}' is for counts, and the table has a 'value'", key)
        return design | {key: read[key](section) for key in ("monotone", "variance_rule")}
    design["small_counts"] = section.whole("small_counts", 0, 0)
    rows = len(count_rows(design["max_noise"], design["small_counts"])) - 1
    for key, of in read.items():
        design[key] = _for_rows(section, key, of, rows)
    return design


def _for_rows(section: Section, key: str, read: Callable[[Section], Any], rows: int) -> Any:
    """One value for all counts, or a list with one for each count from 1 on."""
    given = section.values.get(key)
    if not isinstance(given, list):
        return read(section)
    several = cast(list[Any], given)
    if len(several) != rows:
        raise section.unfit(
            key, f"one value for all counts, or a list of {rows}, one for each of 1, …, {rows}"
        )
    return [read(replace(section, values={**section.values, key: one})) for one in several]


def _magnitude(section: Section) -> dict[str, Any]:
    section.check(optional=_MAGNITUDE)
    found: dict[str, Any] = {}
    for key in ("scale", "shares"):
        if key in section:
            found[key] = _numbers(section, key)
    if isinstance(found.get("scale"), tuple) and len(found["scale"]) == 1:
        found["scale"] = found["scale"][0]
    for key in ("flex_point", "extra"):
        if key in section:
            found[key] = section.number(key, 0.0, low=0)
    if "flex_power" in section:
        found["flex_power"] = section.whole("flex_power", 1, 1)
    if "of" in section:
        found["of"] = section.choice("of", "largest", ("largest", "mean", "sum"))
    for key in ("small", "odd", "counts"):
        if key in section:
            found[key] = section.existing_file(key)
    if "risk" in section:
        found["risk"] = section.number("risk", 0.0, low=0, high=1)
    if "keys" in section:
        found["keys"] = section.choice("keys", "measure", ("measure", "cell"))
    if "measure" in section:
        found["measure"] = section.text("measure", None)
    if "own_keys" in section:
        found["own_keys"] = section.flag("own_keys", False)
    return found


def _numbers(section: Section, key: str) -> tuple[float, ...]:
    """A number or a list of some."""
    value = section.values[key]
    several = value if isinstance(value, list) else [value]
    good = [isinstance(v, (int, float)) and not isinstance(v, bool) and v > 0 for v in several]
    if not several or not all(good):
        raise section.unfit(key, "a number above 0 or a list of such numbers")
    return tuple(float(v) for v in several)
