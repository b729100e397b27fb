"""Values that are changed: what ``[tables.noise]`` of a job file asks for, and carrying it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from diskret.adjustment.additive import AdditiveMethod
from diskret.cellkey import Lookup, MagnitudeNoise, PerturbationTable
from diskret.cellkey.admissible import count_rows
from diskret.errors import InputError
from diskret.io import to_arrow
from diskret.io.encoded import utf8_text
from diskret.jobs.schema import Section
from diskret.keys import SecretKeys
from diskret.parameters import Parameter, Whole, parameters
from diskret.progress import Progress, silent
from diskret.protect.adjust import adjust
from diskret.protect.make_additive import make_additive
from diskret.protect.perturb import perturb
from diskret.protect.perturb_invariant import perturb_invariant
from diskret.protect.perturbed_result import PerturbedResult
from diskret.protect.round_table import round_table
from diskret.rules import NoRule

if TYPE_CHECKING:
    from diskret.jobs.values import JobTable

#: Methods of rounding, as `round_table` calls them.
ROUNDING = ("deterministic", "random", "controlled", "small_counts")

_VERBS: Mapping[str, Callable[..., Any]] = {
    "cell_key": perturb,
    "invariant": perturb_invariant,
    **dict.fromkeys(ROUNDING, round_table),
    "adjustment": adjust,
}
METHODS = tuple(_VERBS)

#: Method → those parameters of its verb that are keys of the file.
_OPTIONS = {
    "cell_key": ("threshold", "weighted_count", "structural_zeros"),
    "invariant": ("largest", "max_noise", "most_stay", "exact"),
    "deterministic": ("base",),
    "random": ("base",),
    "controlled": ("base", "steps", "time_limit"),
    "small_counts": ("base",),
    "adjustment": ("cost", "largest_change", "time_limit"),
}
_RECORD_KEYS = ("record_key", "key_of", "key_modulus", "key_digits")
_OF_CELL_KEYS = ("layout", "reuse", "additive", "in_engine")
#: Keys that a perturbation table is designed from.
DESIGN = ("max_noise", "variance", "small_counts", "stay", "monotone", "variance_rule")
_BY_ROWS = ("stay", "monotone", "variance_rule")
_FURTHER = {
    "cell_key": (*_RECORD_KEYS, *_OF_CELL_KEYS, *DESIGN, "table", "magnitude"),
    "invariant": _RECORD_KEYS,
}
#: Tables that noise on sums is made with, which are files here.
_LOOKUPS = ("small", "odd", "counts")
#: What may be said of a table, and of its noise, where counts are perturbed in the engine.
_OF_ENGINES = ("name", "by", "unit", "where", "vintage", "noise")
_NOT_IN_ENGINES = ("key_of", "additive", "weighted_count", "structural_zeros")


@dataclass(frozen=True)
class NoiseJob:
    """How the values of a table are changed. Confidential.

    method: one of `METHODS`.
    record_key, key_modulus: column of the record keys, integers from 0 to below the modulus.
    key_digits: of keys that are decimals in [0, 1); None: they are integers.
    key_of: in place of `record_key`: the column that names the counted unit, from which keys are
        derived with the office's secret.
    table: file of the perturbation table; None: it is designed.
    layout, reuse: how the file is laid out; and how many of the last rows larger counts take in
        turn, None: as is usual for the layout.
    design: arguments of `PerturbationTable.maximum_entropy`, or of `for_magnitudes`.
    magnitude: arguments of `MagnitudeNoise` beside its table, which may be files, and the `measure`
        of `perturb`; None: counts.
    additive: how the table is made additive afterwards; None: not at all.
    in_engine: whether counts are perturbed where the records lie, and written block by block.
    options: further arguments of the verb.
    """

    method: str
    record_key: str | None = None
    key_modulus: Annotated[int, Whole(2)] = 2**32
    key_digits: Annotated[int, Whole(1, 18)] | None = None
    key_of: str | None = None
    table: Path | None = None
    layout: Literal["ptable", "abs", "ons"] = "ptable"
    reuse: Annotated[int, Whole(1)] | None = None
    design: Mapping[str, Any] = field(default_factory=dict[str, Any])
    magnitude: Mapping[str, Any] | None = None
    additive: AdditiveMethod | None = None
    in_engine: bool = False
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def largest(self) -> int:
        """How many of the largest contributions are needed."""
        return 0 if self.magnitude is None else len(self.magnitude.get("shares", (1.0,)))

    @property
    def arguments(self) -> dict[str, Any]:
        """What its verb is called with, defaults included, to tell whether two ask for the same."""
        declared = parameters(_VERBS[self.method])
        return {name: one.default for name, one in declared.items()} | dict(self.options)


def noise_parameters(method: str, of_sums: bool) -> dict[str, Parameter]:
    """What may stand below ``[tables.noise]``, and below its ``magnitude`` (``magnitude.scale``).

    Files that hold more than a perturbation table are left out.

    Parameters
    ----------
    method
        One of `METHODS`.
    of_sums
        Whether the table has a value.

    Examples
    --------
    >>> list(noise_parameters("controlled", False))
    ['base', 'steps', 'time_limit']
    """
    verb = parameters(_VERBS[method])
    found = {key: verb[key] for key in _OPTIONS[method] if key != "structural_zeros"}
    if method not in _FURTHER:
        return found
    own = parameters(NoiseJob)
    found = {key: own[key] for key in _RECORD_KEYS} | found
    if method == "cell_key":
        design = parameters(PerturbationTable.maximum_entropy)
        keys = [key for key in DESIGN if not (of_sums and key in ("small_counts", "stay"))]
        found |= {key: design[key] for key in keys}
        found |= {key: own[key] for key in ("table", *_OF_CELL_KEYS) if key != "in_engine"}
    if method == "cell_key" and of_sums:
        of_size = parameters(MagnitudeNoise)
        kept = [key for key in of_size if key not in ("ptable", "own_keys", *_LOOKUPS)]
        found |= {f"magnitude.{key}": of_size[key] for key in kept}
    return found


def read_noise(section: Section, table: Section) -> NoiseJob:
    """How the values of a table are to be changed.

    section: what stands below ``[tables.noise]``; `table` is the table that it is for.
    """
    method = section.choice("method", None, METHODS)
    if method is None:
        raise section.error(f"{section.name} needs a 'method': {', '.join(METHODS)}")
    section.check(required=("method",), optional=(*_OPTIONS[method], *_FURTHER.get(method, ())))
    if method == "adjustment" and "rules" not in table:
        raise table.error("adjustment moves sensitive cells: [tables.rules] is missing")
    for key in ("method", "cost", "time_limit", "budget", "frozen", "previous", "rounding"):
        if key in table:
            raise table.error(f"'{key}' is for suppression, and the table has 'noise'", key)
    if method == "cell_key":
        return _cell_key(section, table)
    if method == "invariant":
        return _invariant(section, table)
    return NoiseJob(method, options=_given(section, _VERBS[method], _OPTIONS[method]))


def _given(section: Section, target: Callable[..., Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """Those of some arguments that the file gives, as they are declared."""
    declared = parameters(target)
    return {key: section.value(key, declared[key]) for key in keys if key in section}


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
    return _given(section, NoiseJob, _RECORD_KEYS)


def _invariant(section: Section, table: Section) -> NoiseJob:
    if "value" in table:
        raise section.error("invariant noise is for counts, and the table has a 'value'")
    if "largest" not in section:
        raise section.error("'largest', the largest value that is changed, is missing")
    options = _given(section, perturb_invariant, _OPTIONS["invariant"])
    return NoiseJob("invariant", **_keys(section, table), options=options)


def _cell_key(section: Section, table: Section) -> NoiseJob:
    keys = _keys(section, table)
    designed = [key for key in DESIGN if key in section]
    if "table" in section and designed:
        raise section.error(f"'{designed[0]}' is that of the 'table' already", designed[0])
    if "table" not in section:
        for key in ("max_noise", "variance"):
            if key not in section:
                raise section.error(f"without a 'table', '{key}' is missing in {section.name}")
    options = _given(section, perturb, _OPTIONS["cell_key"])
    if "structural_zeros" in section:
        options["structural_zeros"] = section.existing_file("structural_zeros")
    own = _given(section, NoiseJob, _OF_CELL_KEYS)
    for key in ("layout", "reuse"):
        if key in section and "table" not in section:
            raise section.error(f"'{key}' is about a 'table', and there is none", key)
    if "reuse" in section and own.get("layout", "ptable") == "ptable":
        raise section.error("'reuse' is for the layouts abs and ons", "reuse")
    if own.get("in_engine"):
        _check_in_engine(section, table)
    of_sums = "value" in table and not options.get("weighted_count", False)
    if of_sums != ("magnitude" in section):
        raise section.error(
            "[tables.noise.magnitude] says how sums are changed: "
            + ("it is missing" if of_sums else "the table has no 'value', or weighted counts")
        )
    return NoiseJob(
        "cell_key",
        **keys,
        **own,
        table=section.existing_file("table") if "table" in section else None,
        design={} if "table" in section else designed_of(section, of_sums),
        magnitude=_magnitude(section.section("magnitude")) if of_sums else None,
        options=options,
    )


def _check_in_engine(section: Section, table: Section) -> None:
    for key in _NOT_IN_ENGINES:
        if key in section:
            raise section.error(f"'{key}' needs true counts, and 'in_engine' fetches none", key)
    for key in table.values:
        if key not in _OF_ENGINES:
            raise table.error(
                f"'{key}' is not for counts that are perturbed in the engine ('in_engine'); "
                f"admissible are {', '.join(_OF_ENGINES)}",
                key,
            )
    for column, tree in table.section("by").values.items():
        if isinstance(tree, dict) and "total" in tree:
            raise table.error(
                f"'by': the total of '{column}' is named by its tree where counts are perturbed in "
                "the engine ('in_engine')",
                "by",
            )


def designed_of(section: Section, of_sums: bool = False) -> dict[str, Any]:
    """What a perturbation table is designed from, which keys of a section say."""
    if of_sums:
        for key in ("small_counts", "stay"):
            if key in section:
                raise section.error(f"'{key}' is for counts, and the table has a 'value'", key)
        keys = ("max_noise", "variance", "variance_rule")
        design = _given(section, PerturbationTable.for_magnitudes, keys)
        return design | {"monotone": section.flag("monotone", True)}
    design = _given(section, PerturbationTable.maximum_entropy, DESIGN)
    _check_rows(section, len(count_rows(design["max_noise"], design.get("small_counts", 0))) - 1)
    return design


def _check_rows(section: Section, rows: int) -> None:
    """Lists have a value for each count from 1 on."""
    for key in _BY_ROWS:
        given = section.values.get(key)
        if isinstance(given, list) and len(given) != rows:
            raise section.unfit(
                key, f"one value for all counts, or a list of {rows}, one for each of 1, …, {rows}"
            )


def _magnitude(section: Section) -> dict[str, Any]:
    if isinstance(section.values.get("shares"), (int, float)):  # of one contribution
        values = {**section.values, "shares": [section.values["shares"]]}
        section = replace(section, values=values)
    further = (*_LOOKUPS, "measure")
    given = section.read(MagnitudeNoise, optional=further, without=("ptable", *_LOOKUPS))
    for key in ("scale", "shares"):
        if key in given:
            numbers = given[key] if isinstance(given[key], list) else [given[key]]
            given[key] = tuple(float(number) for number in numbers)
    if len(given.get("scale", ())) == 1:
        given["scale"] = given["scale"][0]
    for key in _LOOKUPS:
        if key in section:
            given[key] = section.existing_file(key)
    return given | _given(section, perturb, ("measure",))


# ── carried out ─────────────────────────────────────────────────────────────────────


def changed_tables(
    tables: Sequence[JobTable],
    keys: SecretKeys | str | PathLike[str] | None = None,
    progress: Progress = silent,
) -> list[PerturbedResult]:
    """The results of tables that ask for noise; those that have to agree are changed together."""
    groups: dict[Any, list[tuple[JobTable, NoiseJob]]] = {}
    for one in tables:
        noise, table = one.wanted.noise, one.table
        if noise is not None:
            # tables of one variable are made additive by one method, all others are alone
            alone = noise.method in ("cell_key", "deterministic", "random")
            kind = (noise.method, repr(noise.arguments), table.measure.name, table.vintage)
            groups.setdefault(one.name if alone else kind, []).append((one, noise))
    return [result for group in groups.values() for result in _changed(group, keys, progress)]


def _changed(
    asked: Sequence[tuple[JobTable, NoiseJob]],
    keys: SecretKeys | str | PathLike[str] | None,
    progress: Progress,
) -> list[PerturbedResult]:
    first, noise = asked[0]
    tables, names = [one.table for one, _ in asked], [one.name for one, _ in asked]
    if noise.method == "cell_key":
        return [_perturbed(first, noise, keys)]
    if noise.method in ROUNDING:
        rules = [one.wanted.rule for one, _ in asked]
        # the other ways of rounding cannot be led by a rule
        ruled = noise.method == "controlled" and not all(isinstance(r, NoRule) for r in rules)
        return round_table(
            tables,
            method=noise.method,
            rule=rules if ruled else None,
            keys=keys,
            name=names,
            progress=progress,
            **noise.options,
        )
    if noise.method == "invariant":
        return perturb_invariant(tables, name=names, **noise.options)
    rules = [one.wanted.rule for one, _ in asked]
    return adjust(tables, rules, name=names, progress=progress, **noise.options)


def _perturbed(
    one: JobTable, noise: NoiseJob, keys: SecretKeys | str | PathLike[str] | None
) -> PerturbedResult:
    table, rule = one.table, one.wanted.rule
    ptable: PerturbationTable | Lookup | MagnitudeNoise
    if noise.table is None and noise.magnitude is not None:
        ptable = PerturbationTable.for_magnitudes(**noise.design)
    else:
        ptable = lookup_of(noise, table.key_modulus, keys)
    options = dict(noise.options)
    if "structural_zeros" in options:
        options["structural_zeros"] = to_arrow(options["structural_zeros"])[0]
    if noise.magnitude is not None:
        made: dict[str, Any] = {
            key: Lookup.read(value, table.key_modulus) if isinstance(value, Path) else value
            for key, value in noise.magnitude.items()
        }
        options["measure"] = made.pop("measure", None)
        ptable = MagnitudeNoise(ptable, **made)
        if not isinstance(rule, NoRule):
            options["rule"] = rule
    result = perturb(table, ptable, name=one.name, **options)
    return result if noise.additive is None else make_additive(result, method=noise.additive)


def lookup_of(
    noise: NoiseJob, modulus: int, keys: SecretKeys | str | PathLike[str] | None
) -> Lookup:
    """Which noise counts get for which keys."""
    if noise.table is not None:
        return _lookup(noise.table, noise, modulus)
    designed = PerturbationTable.maximum_entropy(**noise.design)
    # keys of a total are sums of keys, which tells less where intervals are in a secret order
    seed = SecretKeys.load(keys).seed("intervals of cell keys")
    return designed.lookup(modulus, order="shuffled", seed=seed)


def _lookup(path: Path, noise: NoiseJob, modulus: int) -> Lookup:
    """The lookup in a file, as its layout says."""
    if noise.layout == "ons":
        return Lookup.from_ons(path, **({} if noise.reuse is None else {"reuse": noise.reuse}))
    if noise.layout == "abs":
        lines = utf8_text(path).splitlines()
        rows = [line.replace(";", " ").replace(",", " ").split() for line in lines]
        try:
            matrix = [[int(entry) for entry in row] for row in rows if row]
        except ValueError as error:
            raise InputError(
                f"{path} holds other things than whole numbers; a lookup has nothing else ({error})"
            ) from None
        if len({len(row) for row in matrix}) != 1:
            raise InputError(f"the rows of {path} are not equally long")
        return Lookup.from_abs(matrix, modulus, noise.reuse or 1)
    return Lookup.read(path, modulus)
