"""Changed values: noise by keys, invariant noise, rounding, adjustment."""

from __future__ import annotations

from pathlib import Path

import diskret as dk
from snapshots.running import KEYS, LANGUAGES, case, printed, release
from snapshots.suppressed import BY, FEW, REGISTER, firms

PTABLE = {"max_noise": 4, "variance": 2, "small_counts": 1}


def keyed(**more: object) -> dk.Table:
    """Firms with record keys."""
    records = dk.record_keys(REGISTER.records, id="firm_id", keys=KEYS)
    given = {"by": BY, "unit": "firm_id", "record_key": "record_key"} | more
    return dk.tabulate(records, **given)  # type: ignore[arg-type]


@case("cell-key-counts")
def _(folder: Path) -> None:
    result = dk.perturb(keyed(), dk.PerturbationTable.maximum_entropy(**PTABLE))
    release(result, folder / "table")
    release(dk.make_additive(result), folder / "additive")


@case("cell-key-threshold")
def _(folder: Path) -> None:
    ptable = dk.PerturbationTable.maximum_entropy(**PTABLE | {"small_counts": 0})
    release(dk.perturb(keyed(), ptable, threshold=3), folder)


@case("cell-key-sums")
def _(folder: Path) -> None:
    ptable = dk.PerturbationTable.maximum_entropy(**PTABLE)
    noise = dk.MagnitudeNoise(
        dk.PerturbationTable.for_magnitudes(max_noise=4, variance=2),
        flex_point=1000,
        counts=ptable,
    )
    sums = dk.perturb(keyed(value="turnover"), noise)
    judged = dk.perturb(keyed(value="turnover"), noise, rule=dk.rules.PPercent(10), name="judged")
    counts = dk.perturb(keyed(), ptable)
    mean = dk.derive.mean(sums, counts, decimals=1)
    release([sums, counts], folder / "both", derived=[mean])
    release(judged, folder / "judged")


@case("cell-key-in-engine")
def _(folder: Path) -> None:
    records = dk.record_keys(REGISTER.records, id="firm_id", keys=KEYS)
    ptable = dk.PerturbationTable.maximum_entropy(**PTABLE)
    result = dk.perturb_records(records, by=BY, ptable=ptable, record_key="record_key")
    (folder / "cells.txt").write_text(f"{result}\n{result.public.to_pylist()}", encoding="utf-8")


@case("invariant")
def _(folder: Path) -> None:
    release(dk.perturb_invariant([keyed(by=BY)], largest=8), folder)


for _method in ("deterministic", "random", "controlled", "small_counts"):

    @case(f"rounding-{_method}")
    def _(folder: Path, method: str = _method) -> None:
        release(dk.round_table(firms(value=None), base=3, method=method, keys=KEYS), folder)  # type: ignore[arg-type]


@case("rounding-linked")
def _(folder: Path) -> None:
    tables = [firms(value=None), firms(by={"size": None}, value=None)]
    names = ["fine", "coarse"]
    release(dk.round_table(tables, base=5, method="controlled", keys=KEYS, name=names), folder)


@case("adjustment")
def _(folder: Path) -> None:
    release(dk.adjust(firms(value=None), FEW), folder / "counts")
    release(dk.adjust(firms(), dk.rules.PPercent(10), name="sums"), folder / "sums")


@case("cellkey-commands")
def _(folder: Path) -> None:
    table = folder / "ptable.csv"
    options = ("--max-noise", "4", "--variance", "2", "--small-counts", "1")
    for language in LANGUAGES:
        chosen = ("--language", language)
        table.unlink(missing_ok=True)
        printed(
            folder / f"design.{language}.txt",
            "cellkey",
            "design",
            "--out",
            str(table),
            *options,
            *chosen,
        )
        printed(folder / f"assess.{language}.txt", "cellkey", "assess", str(table), *chosen)
