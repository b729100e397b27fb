"""Hidden cells: counts, sums, weights, filters, linked tables, a ledger, figures made of them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import diskret as dk
from snapshots.running import FORMATS, KEYS, LANGUAGES, OUTSIDER, case, dumped, printed, release

RULE = dk.rules.PPercent(10) | dk.rules.MinimumFrequency(3)
FEW = dk.rules.MinimumFrequency(3)
REGISTER = dk.datasets.business_register(1_500, seed=1)
SURVEY = dk.datasets.survey(1_000, seed=1)
BY = {"size": None, "region": None}
SMALL = pa.table({"region": ["N", "S", "W", "E"], "firms": [7, 2, 5, 0]})


def firms(**more: object) -> dk.Table:
    """Turnover by size and region."""
    given = {"by": BY, "value": "turnover", "unit": "firm_id"} | more
    return dk.tabulate(REGISTER.records, **given)  # type: ignore[arg-type]


@case("counts")
def _(folder: Path) -> None:
    release(dk.suppress(firms(value=None), FEW, attacker=OUTSIDER), folder)


@case("counts-of-cells")
def _(folder: Path) -> None:
    table = dk.Table.from_cells(SMALL, by={"region": None}, count="firms")
    release(dk.suppress(table, FEW, keys=KEYS), folder)


@case("counts-intervals")
def _(folder: Path) -> None:
    release(dk.suppress(firms(value=None), FEW, keys=KEYS), folder, intervals=True)


@case("hierarchy")
def _(folder: Path) -> None:
    by = {"nace": REGISTER.nace, "size": None}
    release(dk.suppress(firms(by=by), RULE, attacker=OUTSIDER), folder)


@case("sums-with-holdings")
def _(folder: Path) -> None:
    table = firms(holding="group_id", contributions=True)
    release(dk.suppress(table, RULE, attacker=dk.Attacker(contributor=True)), folder)


@case("sums-coalition")
def _(folder: Path) -> None:
    attacker = dk.Attacker(contributor=True, coalition=2)
    release(dk.suppress(firms(), dk.rules.PPercent(10), attacker=attacker), folder)


@case("sums-intervals")
def _(folder: Path) -> None:
    attacker = dk.Attacker(relative=50, zeros_known=True)
    release(dk.suppress(firms(), RULE, attacker=attacker), folder, intervals=True)


@case("weights")
def _(folder: Path) -> None:
    table = dk.tabulate(
        SURVEY.records,
        by={"sex": None, "marital": None},
        value="income",
        weight="weight",
        weight_decimals=1,
    )
    release(dk.suppress(table, dk.rules.PPercent(10), attacker=OUTSIDER), folder)


@case("filters")
def _(folder: Path) -> None:
    one = firms(where={"size": ["1-9", "10-49"]})
    two = firms(by={"nace": REGISTER.nace}, where={"employees": {"min": 5}})
    release(dk.suppress([one, two], [RULE, RULE], attacker=OUTSIDER, name=["a", "b"]), folder)


@case("linked-and-derived")
def _(folder: Path) -> None:
    one = firms(vintage="2026")
    two = firms(by={"nace": REGISTER.nace, "region": REGISTER.region}, vintage="2026")
    results = dk.suppress(
        [one, two, one["count"]],
        [RULE, RULE, FEW],
        attacker=OUTSIDER,
        name=["sums", "more", "counts"],
    )
    sums, _, counts = results
    before = dk.suppress(firms(vintage="2024"), RULE, attacker=OUTSIDER, name="2024")
    after = dk.suppress(firms(vintage="2025"), RULE, attacker=OUTSIDER, name="2025")
    derived = [
        dk.derive.mean(sums, counts, decimals=1),
        dk.derive.share(sums, "region"),
        dk.derive.growth(after, before),
        dk.derive.index([before, after], "2024"),
    ]
    release(results, folder / "tables", derived=derived[:2])
    release([after, before], folder / "periods", derived=derived[2:], combined="all")


@case("sums-of-measures")
def _(folder: Path) -> None:
    turnover = REGISTER.records["turnover"].to_numpy()
    domestic = pa.array(turnover // 3)
    records = REGISTER.records.append_column("domestic", domestic)
    records = records.append_column("export", pa.array(turnover - turnover // 3))
    names = ["turnover", "domestic", "export"]
    table = dk.tabulate(records, by=BY, value=names, unit="firm_id")
    results = dk.suppress(
        [table[name] for name in names],
        RULE,
        sums=["turnover = domestic + export"],
        attacker=OUTSIDER,
    )
    release(results, folder)


@case("recoded")
def _(folder: Path) -> None:
    table = firms().recode("size", {"small": ["1-9", "10-49"]})
    release(dk.suppress(table, RULE, attacker=OUTSIDER), folder)


@case("rounded-values")
def _(folder: Path) -> None:
    release(dk.suppress(firms().rounded(1000), RULE, attacker=OUTSIDER), folder)


@case("waivers-and-requests")
def _(folder: Path) -> None:
    size = len(REGISTER.records)
    records = REGISTER.records.append_column("agrees", pa.array([i % 3 == 0 for i in range(size)]))
    records = records.append_column("asked", pa.array([i % 50 == 0 for i in range(size)]))
    table = dk.tabulate(
        records,
        by=BY,
        value="turnover",
        unit="firm_id",
        waiver="agrees",
        waiver_note="letters",
        request="asked",
    )
    rule = RULE | dk.rules.Request(70)
    release(dk.suppress(table, rule, attacker=OUTSIDER), folder)


@case("negatives")
def _(folder: Path) -> None:
    records = pa.table(
        {
            "region": ["N", "N", "N", "S", "S", "W", "W", "W", "W"],
            "size": ["a", "b", "b", "a", "b", "a", "a", "b", "b"],
            "profit": [5, -3, 9, 20, -14, 3, 8, 1, -7],
        }
    )
    table = dk.tabulate(records, by={"region": None, "size": None}, value="profit")
    release(dk.suppress(table, dk.rules.PPercent(10), attacker=OUTSIDER), folder)


@case("rules")
def _(folder: Path) -> None:
    by_hand = pa.table(
        {"size": ["1-9"], "region": ["01"], "status": ["unsafe"], "reason": ["x"]}
        | {"who": ["y"], "date": ["2025-12-31"]}
    )
    table, count = firms(), firms(value=None)
    by_hand = by_hand.set_column(1, "region", pa.array([table.dimensions[1].hierarchy.codes[1]]))
    rules = {
        "dominance": (table, dk.rules.Dominance(2, 80)),
        "pq": (table, dk.rules.PQ(10, 50)),
        "marginal": (count, dk.rules.MarginalValue()),
        "group": (count, dk.rules.GroupDisclosure(90)),
        "zeros": (table, RULE | dk.rules.ZeroCells(10)),
        "apriori": (table, dk.rules.Apriori(by_hand)),
    }
    for name, (one, rule) in rules.items():
        result = dk.suppress(one, rule, attacker=OUTSIDER, name=name)
        result.write(folder / name, formats=["csv", "html"], keys=KEYS)


@case("methods")
def _(folder: Path) -> None:
    for method in ("sequential", "modular", "optimal", "hypercube"):
        result = dk.suppress(firms(), RULE, method=method, attacker=OUTSIDER)
        result.write(folder / method, formats=["csv"], keys=KEYS)
    flat = firms(by={"nace": REGISTER.nace, "size": None})
    result = dk.suppress(flat, RULE, method="network", attacker=OUTSIDER)
    result.write(folder / "network", formats=["csv"], keys=KEYS)


@case("symbols")
def _(folder: Path) -> None:
    result = dk.suppress(firms(), RULE, attacker=OUTSIDER)
    for symbols in ("de-letters", "sdmx", "px", "eurostat"):
        result.write(folder / symbols, formats=["csv", "xlsx"], symbols=symbols, keys=KEYS)


# ── remembered ──────────────────────────────────────────────────────────────────────


@case("ledger")
def _(folder: Path) -> None:
    path = folder / "releases.db"
    ledger = dk.Ledger.create(path, keys=KEYS)
    first = dk.suppress(firms(vintage="2024"), RULE, attacker=OUTSIDER)
    ledger.publish(first, folder / "before", formats=["csv"], who="clerk")
    coarse = dk.suppress(firms(by={"size": None}, vintage="2025"), RULE, attacker=OUTSIDER)
    ledger.publish(coarse, folder / "first", formats=["csv", "html"], who="clerk")
    new = firms(vintage="2025")
    fine = dk.suppress(new, RULE, attacker=OUTSIDER, ledger=ledger, previous=first.published)
    options = {"who": "clerk", "language": "de", "intervals": True}
    ledger.publish(fine, folder / "second", formats=FORMATS, **options)  # type: ignore[arg-type]
    table = dk.Table.from_cells(SMALL, by={"region": None}, count="firms")
    rounded = dk.round_table(table, base=5, keys=KEYS, name="rounded")
    ledger.publish(rounded, folder / "third", formats=["csv"], who="clerk")
    ledger.record(coarse.published, "elsewhere", who="clerk", why="a journal")
    ledger.withdraw("elsewhere", "an error", who="clerk")
    assert ledger.verify([folder / "before", folder / "second", folder / "third"])
    on = ("--ledger", str(path))
    for language in LANGUAGES:
        chosen = (*on, "--language", language)
        printed(folder / f"list.{language}.txt", "ledger", "list", *chosen)
        printed(folder / f"show.{language}.txt", "ledger", "show", "first", *chosen)
        second = str(folder / "second")
        printed(folder / f"check.{language}.txt", "ledger", "check", second, *chosen)
        printed(folder / f"verify.{language}.txt", "verify", second, "--language", language)
    printed(folder / "withdraw.txt", "ledger", "withdraw", "first", "--why", "an error", *on)
    dumped(path)


@case("audit")
def _(folder: Path) -> None:
    file = folder / "cells.csv"
    file.write_text(
        "region,size,value\nTotal,Total,30\nTotal,a,12\nTotal,b,18\nN,Total,14\nN,a,.\nN,b,.\n"
        "S,Total,16\nS,a,.\nS,b,.\n",
        encoding="utf-8",
    )
    arguments = (str(file), "--value", "value", "--by", "region=flat", "--by", "size=flat")
    for language in LANGUAGES:
        printed(folder / f"{language}.txt", "audit", *arguments, "--language", language)


@case("rules-by-category")
def _(folder: Path) -> None:
    by_size = {"1-9": dk.rules.MinimumFrequency(5), "10-49": None, "*": dk.rules.PPercent(10)}
    rule = dk.rules.Varying("size", by_size) | FEW
    both = [firms(contributions=True), firms(by={"nace": REGISTER.nace}, contributions=True)]
    release(dk.suppress(both, rule, name=["a", "b"]), folder)
