"""A case that went wrong made small, and told in full."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from campaign.cases import Case
from campaign.draws import draw
from campaign.noise import Noisy, attack_noise
from campaign.oracle import Finding, attack
from campaign.releases import Refusal, noisy, shown
from campaign.world import Shown

#: Seconds that are spent on making a case small.
PATIENCE = 90


def attacked(case: Case) -> tuple[Sequence[Shown | Noisy], list[Finding]]:
    """What is public of a case, and what is wrong with it."""
    if case.noise:
        changed = noisy(case)
        return changed, attack_noise(case, changed)[0]
    public = shown(case)
    return public, attack(case, public)


def wrong(case: Case) -> set[str]:
    """The kinds of what is claimed and does not hold; or that protection failed, or how it died."""
    if not case.layouts or not case.records["unit"]:
        return set()
    try:
        return {finding.kind for finding in attacked(case)[1] if finding.claimed}
    except Refusal as error:
        name = type(error).__name__
        return {name} if name in ("ProofError", "ProtectionError") else set()
    except Exception as error:
        return {type(error).__name__}


def smaller(case: Case) -> Iterator[Case]:
    """The case without a table, without an option, without a part of the rule, without records."""
    for number, release in enumerate(case.releases):
        for table in range(len(release)):
            left = release[:table] + release[table + 1 :]
            before, after = case.releases[:number], case.releases[number + 1 :]
            yield replace(case, releases=(*before, *([left] if left else []), *after))
    for option in ("intervals", "holdings", "waivers", "weighted", "unlike", "judged"):
        if getattr(case, option):
            yield replace(case, **{option: type(getattr(case, option))()})
    if case.varying is not None:
        yield replace(case, varying=None)
    for part in case.rule if len(case.rule) > 1 else ():
        yield replace(case, rule=tuple(own for own in case.rule if own != part))
    if case.ledger and len(case.releases) == 1:
        yield replace(case, ledger=False)
    for name, records in (("records", case.records), ("later", case.later or {"unit": []})):
        number = len(records["unit"])
        size = number // 2
        while size:
            for start in range(0, number, size):
                left = {n: c[:start] + c[start + size :] for n, c in records.items()}
                yield replace(case, **{name: left})
            size //= 2


def made_small(case: Case) -> Case:
    """A case that goes wrong in the same way, of which nothing can be left out."""
    kinds = wrong(case)
    until = time.monotonic() + PATIENCE
    found = bool(kinds)
    while found and time.monotonic() < until:
        found = False
        for one in smaller(case):
            if kinds & wrong(one):
                case, found = one, True
                break
            if time.monotonic() > until:
                break
    return case


def show(seed: int) -> int:
    """Print a case, small if something is wrong with it, and what that is; 1 if something is."""
    case = made_small(draw(seed))
    print(f"case {seed}: rule {case.rule}, method {case.method}, coalition {case.coalition}")
    if case.varying is not None:
        print(f"  {case.varying}")
    print(f"  holdings {case.holdings}, contributions listed {case.listed}", end=", ")
    print(f"intervals {case.intervals}, ledger {case.ledger}, noise {case.noise}", end="; ")
    print(", ".join(case.further) or "nothing further", case.unlike, case.cells_given)
    for records in (case.records, case.later or {}):
        for name, column in records.items():
            print(f"  {name:9}", " ".join(map(str, column)))
    for release in case.releases:
        for layout in release:
            print(
                f"  table {layout.name} of {layout.measure} {layout.vintage} where {layout.where}"
            )
            for name, axis in layout.axes.items():
                told = {code: " ".join(sorted(own)) for code, own in axis.codes.items()}
                print(f"    {name}: {told}", "(recoded)" if axis.groups else "")
    try:
        tables, findings = attacked(case)
    except Refusal as error:
        print(f"refused: {type(error).__name__}: {error}")
        return 0
    for table in tables:
        print(" ", table.layout.name, {" ".join(k): v for k, v in table.value.items()})
        if isinstance(table, Shown) and table.bounds:
            print("    intervals", {" ".join(k): v for k, v in table.bounds.items()})
    for finding in findings:
        print(" ", finding)
    return int(any(finding.claimed for finding in findings))
