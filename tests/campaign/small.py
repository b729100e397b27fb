"""A failed case made small, and told in full."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from campaign.cases import Case, draw
from campaign.oracle import Finding, attack
from campaign.releases import Refusal, shown

#: Seconds that are spent on making a case small.
PATIENCE = 90


def findings(case: Case) -> list[Finding]:
    """What is claimed and does not hold; nothing if the case cannot be released."""
    if not case.layouts or not case.records["unit"]:
        return []
    try:
        return [finding for finding in attack(case, shown(case)) if finding.claimed]
    except Refusal:
        return []


def smaller(case: Case) -> Iterator[Case]:
    """The case without a table, without an option, without some records."""
    for number, release in enumerate(case.releases):
        for table in range(len(release)):
            left = release[:table] + release[table + 1 :]
            before, after = case.releases[:number], case.releases[number + 1 :]
            yield replace(case, releases=(*before, *([left] if left else []), *after))
    for option in ("intervals", "holdings"):
        if getattr(case, option):
            yield replace(case, **{option: False})
    if case.ledger and len(case.releases) == 1:
        yield replace(case, ledger=False)
    number = len(case.records["unit"])
    size = number // 2
    while size:
        for start in range(0, number, size):
            yield replace(
                case,
                records={n: c[:start] + c[start + size :] for n, c in case.records.items()},
            )
        size //= 2


def made_small(case: Case) -> Case:
    """A case that fails in the same way, of which nothing can be left out."""
    kinds = {finding.kind for finding in findings(case)}
    until = time.monotonic() + PATIENCE
    found = True
    while found and time.monotonic() < until:
        found = False
        for one in smaller(case):
            if kinds & {finding.kind for finding in findings(one)}:
                case, found = one, True
                break
            if time.monotonic() > until:
                break
    return case


def show(seed: int) -> int:
    """Print a case and what is wrong with it; 1 if something is."""
    case = draw(seed)
    wrong = findings(case)
    if wrong:
        case = made_small(case)
    print(f"case {seed}: rule {case.rule}, method {case.method}, coalition {case.coalition}")
    print(f"  holdings {case.holdings}, contributions listed {case.listed}", end=", ")
    print(f"intervals {case.intervals}, ledger {case.ledger}")
    for name, column in case.records.items():
        print(f"  {name:9}", " ".join(map(str, column)))
    for release in case.releases:
        for layout in release:
            print(f"  table {layout.name} where {layout.where}")
            for name, axis in layout.axes.items():
                told = {code: " ".join(sorted(own)) for code, own in axis.codes.items()}
                print(f"    {name}: {told}", "(recoded)" if axis.groups else "")
    try:
        tables = shown(case)
    except Refusal as error:
        print(f"refused: {type(error).__name__}: {error}")
        return 0
    for table in tables:
        print(" ", table.layout.name, {" ".join(k): v for k, v in table.value.items()})
        if table.bounds:
            print("    intervals", {" ".join(k): v for k, v in table.bounds.items()})
    for finding in attack(case, tables):
        print(" ", finding)
    return int(bool(wrong))
