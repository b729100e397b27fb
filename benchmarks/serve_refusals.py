"""What hidden cells and refusals of the tabulation service tell beside the figures that it shows.

Run it from the repository as ``python benchmarks/serve_refusals.py [people …]``; 5 if nothing is
said. Everybody lives in one of three regions and has one of two sexes. The service hides counts of
1 and 2 (`MinimumFrequency(3)`) and answers questions in a row about *every* population of that size
that there can be; how many people there are is the first question. So it is told of each what an
attacker knows at most: the populations that would have been answered in the same way. Three
attackers differ in what they compare: figures alone, as the certificate has it; also which cells
are hidden; and also which questions are refused. All know rules and keys, so they may try the
service as often as they like.

*Exact*: of the counts of 1 and 2 in cells that were asked for, how many are the same in all that
are left. *Unsafe*: how many are 1 or 2 in all of them, so that somebody is known to be there and
to be one of few.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import diskret as dk
from diskret.serve import DataSet, Releases, Suppression, Tabulator, Variable
from diskret.serve.answers import Refused

KEYS = dk.SecretKeys(bytes(range(32)))
CODES = {"region": ("N", "S", "W"), "sex": ("f", "m")}
TOTAL: dict[str, Any] = {"by": []}
#: What is asked in a row; each row of a service of its own.
ROWS: tuple[tuple[dict[str, Any], ...], ...] = (
    (TOTAL, {"by": ["region"]}, {"by": ["sex"]}, {"by": ["region", "sex"]}),
    (
        TOTAL,
        {"by": ["sex"], "where": {"region": ["N", "S"]}},
        {"by": ["region", "sex"]},
        {"by": ["region"], "where": {"sex": ["f"]}},
    ),
    (
        TOTAL,
        {"by": ["sex"], "where": {"region": ["N", "S"]}},
        {"by": ["sex"], "where": {"region": ["N", "W"]}},
        {"by": ["sex"], "where": {"region": ["S", "W"]}},
    ),
)
World = tuple[int, ...]
#: Of each question what its cells show, None where one is hidden; None: it was refused.
Outcome = tuple[tuple[int | None, ...] | None, ...]


def worlds(people: int) -> list[World]:
    """All ways in which they can be in the finest cells."""
    cells = len(CODES["region"]) * len(CODES["sex"])
    return [one for one in product(range(people + 1), repeat=cells) if sum(one) == people]


def outcome(world: World, asked: Sequence[dict[str, Any]], folder: Path) -> Outcome:
    """What the service answers about a population."""
    people = [cell for cell, n in zip(product(*CODES.values()), world, strict=True) if n]
    times = [n for n in world if n]
    columns = {
        name: np.repeat([cell[at] for cell in people], times) for at, name in enumerate(CODES)
    }
    data = DataSet(
        "people",
        pa.table(columns),
        "",
        tuple(Variable(name, codes) for name, codes in CODES.items()),
        None,
        questions=len(asked),
        suppression=Suppression(dk.rules.MinimumFrequency(3), "2025"),
    )
    dk.Ledger.create(folder / "ledger.db", KEYS)
    tables = Tabulator([data], KEYS, releases=Releases(folder / "ledger.db", folder / "r", KEYS))
    found: list[tuple[int | None, ...] | None] = []
    for question in asked:
        try:
            answer = tables.answer({"data": "people", **question}, who="anne")
        except Refused:
            found.append(None)
            continue
        pairs = zip(answer.value.ravel().tolist(), answer.without.ravel().tolist(), strict=True)
        found.append(tuple(None if hidden else value for value, hidden in pairs))
    tables.close()
    return tuple(found)


def cells(asked: Sequence[dict[str, Any]]) -> list[tuple[int, ...]]:
    """Each cell that is asked for, as the places of the finest cells in it; none twice."""
    finest = [*product(*CODES.values())]
    found: dict[tuple[int, ...], None] = {}
    for question in asked:
        kept = {name: question.get("where", {}).get(name, codes) for name, codes in CODES.items()}
        for own in product(*(CODES[name] for name in question["by"])):
            wanted = kept | {name: (code,) for name, code in zip(question["by"], own, strict=True)}
            inside = [
                at
                for at, cell in enumerate(finest)
                if all(code in wanted[name] for name, code in zip(CODES, cell, strict=True))
            ]
            found[tuple(inside)] = None
    return [*found]


def consistent(
    seen: Outcome, asked: Sequence[dict[str, Any]], every: Sequence[World]
) -> tuple[int, ...]:
    """The populations in which every figure that is shown is true."""
    left = np.array(every)
    keep = np.ones(len(left), dtype=bool)
    for question, shown in zip(asked, seen, strict=True):
        for figure, inside in zip(shown or (), cells([question]), strict=bool(shown)):
            if figure is not None:
                keep &= left[:, [*inside]].sum(1) == figure
    return tuple(np.flatnonzero(keep).tolist())


def measured(people: int, asked: Sequence[dict[str, Any]], row: int) -> None:
    """Print what each attacker knows."""
    began, every, own = time.perf_counter(), worlds(people), cells(asked)
    seen: list[Outcome] = []
    for world in every:
        with tempfile.TemporaryDirectory() as folder:
            seen.append(outcome(world, asked, Path(folder)))
    by_figures = [consistent(one, asked, every) for one in seen]
    compared: dict[str, Callable[[int], set[int]]] = {
        "figures": lambda at: {*by_figures[at]},
        "and hidden cells": _alike(seen, ignore_refused=True),
        "and refusals": _alike(seen, ignore_refused=False),
    }
    refused = [sum(one is None for one in outcome) for outcome in seen]
    print(
        f"row {row}, {people} people, {len(every)} populations, {sum(refused)} of "
        f"{len(every) * len(asked)} questions refused, in {sum(map(bool, refused))} of them "
        f"({time.perf_counter() - began:.0f} s)"
    )
    for name, left in compared.items():
        tally = {"all": [0, 0, 0], "refused": [0, 0, 0]}
        for at, world in enumerate(every):
            known = left(at) & {*by_figures[at]}
            assert at in known
            for inside in own:
                if sum(world[i] for i in inside) not in (1, 2):
                    continue
                counts = {sum(every[one][i] for i in inside) for one in known}
                for kind in ("all", "refused")[: 1 + bool(refused[at])]:
                    tally[kind][0] += 1
                    tally[kind][1] += len(counts) == 1
                    tally[kind][2] += counts <= {1, 2}
        said = "; ".join(
            f"{kind}: {number} counts of 1 and 2, exact {exact / max(number, 1):.1%}, unsafe "
            f"{unsafe / max(number, 1):.1%}"
            for kind, (number, exact, unsafe) in tally.items()
        )
        print(f"  {name:<16} {said}", flush=True)


def _alike(seen: Sequence[Outcome], *, ignore_refused: bool) -> Callable[[int], set[int]]:
    """The populations that are answered alike; a refused question may be left out."""
    if not ignore_refused:
        groups: dict[Outcome, set[int]] = defaultdict(set)
        for at, one in enumerate(seen):
            groups[one].add(at)
        return lambda at: groups[seen[at]]
    return lambda at: {
        other
        for other, one in enumerate(seen)
        if all(a is None or a == b for a, b in zip(seen[at], one, strict=True))
    }


def main(arguments: Sequence[str]) -> None:
    """Print what was measured."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    for people in [int(one) for one in arguments] or [5]:
        for row, asked in enumerate(ROWS, 1):
            measured(people, asked, row)


if __name__ == "__main__":
    main(sys.argv[1:])
