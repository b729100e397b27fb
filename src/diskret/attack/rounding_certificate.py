"""The certificate of rounded tables: multiples, deviations, sums, and what can be inferred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.attack.attacker import Attacker
from diskret.attack.equations import cell_name
from diskret.attack.examine import Examination, Targets, examine, narrowed
from diskret.attack.noise_certificate import (
    NoiseCertificate,
    check_adding_up,
    refuse_cells,
    refuse_hidden,
    refuse_impossible,
)
from diskret.attack.proof import unmet
from diskret.attack.statements import GROUP_DISCLOSURE
from diskret.deadline import NEVER, Deadline, OutOfTime
from diskret.errors import ProofError
from diskret.progress import Progress, silent
from diskret.tables import Perturbed, Publication, Published
from diskret.tables.add_up import leaf_mask
from diskret.tables.from_cells import scaled_unit
from diskret.tables.perturbed import stands_for
from diskret.tables.requirements import Requirements
from diskret.texts import Figure, Statement, sentence
from diskret.texts.numbers import Count

_EXAMPLES = 3
#: Share of the time left for witnesses in small windows.
_QUICKLY = 0.4
#: Methods after which totals are the sums of their parts, and all of them.
ADDITIVE = ("controlled", "small_counts")
METHODS = ("deterministic", "random", *ADDITIVE)


def certify_rounding(
    published: Sequence[Published],
    original: Sequence[NDArray[np.int64]],
    perturbed: Perturbed,
    requirements: Sequence[Requirements] | None = None,
    *,
    examined: bool = True,
    groups: bool = False,
    progress: Progress = silent,
    deadline: Deadline = NEVER,
) -> list[NoiseCertificate]:
    """Check rounded tables against the original ones, and attack them with all their equations.

    Parameters
    ----------
    published
        The rounded tables that are read together.
    original
        The true values of each, scaled integers.
    perturbed
        How they were rounded; not ``"noise"``.
    requirements
        How uncertain which cells have to stay, for each table; None: without a rule. A claim that
        values between 0 and the base are not known exactly is then made for additive tables only.
    examined
        Whether the tables are attacked at all; needed for `requirements`.
    groups
        Whether a rule looked for group disclosure.
    progress
        Told about the task ``"attack"``.
    deadline
        After it intervals are what single equations tell, as the figures say. What a rule asks for
        is shown by then, or refused; without a rule nothing is claimed that was not shown.

    Returns
    -------
    list of NoiseCertificate
        One for each table.

    Raises
    ------
    ProofError
        A value is no multiple or too far from the true one, totals are not the sums of their
        parts, small counts are left, or cells can be inferred that must not be; says how many.
    """
    if requirements is not None and len(requirements) != len(published):
        raise ProofError(
            f"{len(requirements)} requirements do not belong to {len(published)} tables"
        )
    for table, value in zip(published, original, strict=True):
        _check_values(table, value, perturbed)
    if perturbed.method in ADDITIVE:
        check_adding_up(published)
    attacked: list[dict[str, Any]] = [{} for _ in published]
    if examined:
        try:
            attacked = _attack(published, original, perturbed, requirements, progress, deadline)
        except OutOfTime:
            if requirements is not None:
                raise
            examined = False
    ruled = requirements is not None
    return [
        NoiseCertificate(
            published=table,
            claimed=claimed(perturbed.method, perturbed.base or 0, examined, ruled),
            not_claimed=not_claimed(perturbed.method, examined, ruled, groups),
            checked=_checked(table, value, found, ruled),
            shown={
                "method": perturbed.method,
                "base": perturbed.base,
                "additive": perturbed.method in ADDITIVE,
            },
            figures={
                "method": perturbed.method,
                "base": perturbed.base,
                **({"steps": perturbed.steps} if perturbed.method == "controlled" else {}),
                **_deviations(table, value),
                **found,
            },
        )
        for table, value, found in zip(published, original, attacked, strict=True)
    ]


# ── values and sums ──────────────────────────────────────────────────────────────────


def _base(table: Published, perturbed: Perturbed) -> int:
    return scaled_unit(perturbed.base or 0, table.decimals, table.measure)


def _check_values(table: Published, original: NDArray[np.int64], perturbed: Perturbed) -> None:
    """Every value is what the method may make of the true one."""
    base = _base(table, perturbed)
    value, off = table.value, table.value - original
    refuse_hidden(table, table.suppressed)
    hidden = table.empty
    refuse_impossible(table, original != 0)
    if perturbed.method == "small_counts":
        small = (np.abs(value) > 0) & (np.abs(value) < base)
        refuse_cells(table, small & ~hidden, f"lie between 0 and the base {perturbed.base:g}")
    else:
        refuse_cells(
            table, (value % base != 0) & ~hidden, f"are no multiples of {perturbed.base:g}"
        )
    if perturbed.method == "deterministic":
        far = (2 * off <= -base) | (2 * off > base)
        refuse_cells(table, far & ~hidden, "are not the multiple nearest to the true value")
    elif perturbed.method == "random":
        refuse_cells(
            table, (np.abs(off) >= base) & ~hidden, "are a base or more from the true value"
        )
    elif perturbed.method == "controlled":
        reach = np.where(original % base == 0, 1, base) + perturbed.steps * base
        refuse_cells(table, (np.abs(off) >= reach) & ~hidden, "are too far from the true value")
    refuse_cells(
        table, (original == 0) & (value != 0) & ~hidden, "stand for a true zero, but are not 0"
    )


def _check_leaves(table: Published, original: NDArray[np.int64], base: int) -> None:
    """Leaf combinations are what `stands_for` takes them for where small counts were rounded."""
    value = table.value
    right = np.where(original < base, (value == 0) | (value == base), value == original)
    wrong = leaf_mask(table.dimensions) & ~table.empty & ~right
    refuse_cells(table, wrong, "are neither true nor small counts that became 0 or the base")


def _named(published: Published | Publication, cells: NDArray[np.int64]) -> str:
    return "; ".join(cell_name(published, int(cell)) for cell in cells[:_EXAMPLES])


def _deviations(table: Published, original: NDArray[np.int64]) -> dict[str, Any]:
    """Figures of published minus true values, in published units."""
    shown = ~(table.suppressed | table.empty)
    off = (table.value - original)[shown] / 10**table.decimals
    return {
        "cells": int(shown.sum()),
        "changed": int(np.count_nonzero(off)),
        "largest_deviation": float(np.abs(off).max(initial=0)),
        "mean_absolute_deviation": float(np.abs(off).mean()) if len(off) else 0.0,
        "sum_of_deviations": float(off.sum()),
    }


# ── what can be inferred ─────────────────────────────────────────────────────────────


def _attack(
    published: Sequence[Published],
    original: Sequence[NDArray[np.int64]],
    perturbed: Perturbed,
    requirements: Sequence[Requirements] | None,
    progress: Progress,
    deadline: Deadline,
) -> list[dict[str, Any]]:
    """Intervals of all true values from all published ones; refuses what falls short."""
    publication = Publication(tuple(stands_for(table, perturbed) for table in published))
    value = np.concatenate([array.ravel() for array in original])
    base = _base(published[0], perturbed)  # tables of other decimals are not attacked together
    if perturbed.method == "small_counts":
        for table, true in zip(published, original, strict=True):
            _check_leaves(table, true, base)
    small = (np.abs(value) > 0) & (np.abs(value) < base)
    targets = _targets(value, small, publication.starts, requirements)
    attack = partial(examine, publication, Attacker(), targets, progress, original=value)
    # under a deadline what is claimed comes first, and then the intervals
    quickly = deadline.share(_QUICKLY)
    examination = attack(quick=deadline.limited, deadline=quickly)
    short = unmet(examination, targets)
    if deadline.limited and short.any():
        # what small windows do not show all equations may
        examination = attack(deadline=deadline)
        short = unmet(examination, targets)
        if short.any():
            deadline.check()
    elif deadline.limited:
        examination = narrowed(
            examination,
            publication,
            Attacker(),
            original=value,
            progress=progress,
            deadline=deadline,
        )
    if short.any() and (requirements is not None or perturbed.method in ADDITIVE):
        asked = "as uncertain as the rule asks" if requirements is not None else "uncertain"
        number = Count(short.sum())
        raise ProofError(
            f"{number} true {number:value is|values are} not {asked} for who reads all rounded "
            f"values together, e.g. {_named(publication, examination.cell[short])}; take a larger "
            "base or, for controlled rounding, more steps"
        )
    return [
        _figures(examination, value, targets.width, short, slice(start, stop))
        for start, stop in pairwise(publication.starts.tolist())
    ]


def _targets(
    value: NDArray[np.int64],
    small: NDArray[np.bool_],
    starts: NDArray[np.int64],
    requirements: Sequence[Requirements] | None,
) -> Targets:
    """What has to be possible: of small values any second one, else what the rule says."""
    unreachable = np.iinfo(np.int64).max
    low = np.full(len(value), unreachable)
    high = np.full(len(value), -unreachable)
    width = small.astype(np.int64)
    if requirements is not None:
        width[:] = 0
        for own, start in zip(requirements, starts.tolist(), strict=False):
            at = own.cell + start
            low[at] = value[at] - own.lower
            high[at] = value[at] + own.upper
            width[at] = np.maximum(own.sliding, 1)
    return Targets(low, high, width)


def _figures(
    examination: Examination,
    value: NDArray[np.int64],
    width: NDArray[np.int64],
    short: NDArray[np.bool_],
    own: slice,
) -> dict[str, Any]:
    """What the attack found about one table."""
    known = (examination.lower == examination.upper) & (value != 0)
    asked = width[own] > 0
    return {
        "intervals": "outer" if examination.outer else "exact",
        "known_exactly": int(known[own].sum()),
        "required": int(asked.sum()),
        "required_and_proven": int((asked & ~short[own]).sum()),
    }


# ── in words ─────────────────────────────────────────────────────────────────────────


def claimed(method: str, of: float, examined: bool, ruled: bool) -> tuple[Statement, ...]:
    """What a certificate claims of tables that were rounded to the base `of`."""
    base = f"{of:g}"
    said: list[Statement] = []
    if method == "small_counts":
        said.append(sentence("rounding.no small values", base=base))
    else:
        said.append(sentence("rounding.multiples", base=base))
    if method == "deterministic":
        said.append(sentence("rounding.nearest multiple"))
    if method == "random":
        said.append(sentence("rounding.less than the base", base=base))
    if method in ADDITIVE:
        said.append(sentence("rounding.additive"))
    said.append(sentence("rounding.zeros"))
    if examined and method in ADDITIVE and not ruled:
        said.append(sentence("rounding.small values uncertain", base=base))
    if examined and ruled:
        said.append(sentence("rounding.sensitive values uncertain"))
    return tuple(said)


def not_claimed(method: str, examined: bool, ruled: bool, groups: bool) -> tuple[Statement, ...]:
    """What a certificate does not claim of rounded tables."""
    said: list[Statement] = []
    if method not in ADDITIVE:
        said.append(sentence("rounding.not additive"))
        if not ruled:
            said.append(sentence("rounding.differences"))
    if method == "small_counts":
        said.append(sentence("rounding.large values unrounded"))
    if method in ADDITIVE:
        said.append(sentence("rounding.repeated choice"))
    if not examined:
        said.append(sentence("rounding.not examined"))
    if not groups:
        said.append(GROUP_DISCLOSURE)
    said.append(sentence("rounding.other publications"))
    return tuple(said)


def _checked(
    table: Published, original: NDArray[np.int64], found: Mapping[str, Any], ruled: bool
) -> tuple[Statement, ...]:
    figures = _deviations(table, original)
    cells, changed = figures["cells"], figures["changed"]
    largest, mean = figures["largest_deviation"], figures["mean_absolute_deviation"]
    said = [
        sentence(
            "rounding.deviations",
            changed=changed,
            cells=cells,
            largest=Figure(f"{largest:g}"),
            mean=Figure(f"{mean:.3g}"),
        )
    ]
    if found:
        known: object = found["known_exactly"]
        if found["intervals"] != "exact":
            known = sentence("rounding.at least", number=known)
        said.append(
            sentence(
                "rounding.sensitive values proven" if ruled else "rounding.small values proven",
                proven=found["required_and_proven"],
                number=found["required"],
                known=known,
            )
        )
    return tuple(said)
