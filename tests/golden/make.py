"""Make the releases and the ledger of one version, once, when their form is about to change:

    PYTHONPATH=src:tests python -m golden.make FOLDER tests/golden/NAME.zip

FOLDER must not be there; its name stands in the ledger, so choose one that says nothing. What is
there already stays as it was written: that is what it is for. All figures are made up.
"""

import contextlib
import shutil
import sqlite3
import sys
import zipfile
from pathlib import Path

import pyarrow as pa
from snapshots.running import KEYS, OUTSIDER, layout, office

import diskret as dk

PLACES = [("N", "a", 4), ("N", "b", 2), ("S", "a", 5), ("S", "b", 1), ("W", "a", 3), ("W", "b", 6)]
RULE = dk.rules.PPercent(10) | dk.rules.MinimumFrequency(3)
FEW = dk.rules.MinimumFrequency(3)
BY = {"region": None, "size": None}
ALL = ("csv", "parquet", "xlsx", "html")


def records() -> pa.Table:
    """21 firms in six places, of which the last two belong together."""
    rows = [(region, size) for region, size, count in PLACES for _ in range(count)]
    region, size = map(list, zip(*rows, strict=True))
    firm = [f"F{i:02}" for i in range(len(rows))]
    return pa.table(
        {
            "region": region,
            "size": size,
            "firm": firm,
            "group": [*firm[:-2], "G", "G"],
            "turnover": [37 * i % 101 + 5 for i in range(len(rows))],
        }
    )


def firms(value: str | None = "turnover", vintage: str = "2025", **more: object) -> dk.Table:
    """The table that all releases are about."""
    given = {"by": BY, "value": value, "unit": "firm", "vintage": vintage} | more
    return dk.tabulate(records(), **given)  # type: ignore[arg-type]


def persons() -> pa.Table:
    """Sixteen persons, four of each kind but for one."""
    return pa.table(
        {
            "age": ["young", "old"] * 8,
            "sex": ["f", "f", "m", "m"] * 4,
            "town": ["A"] * 15 + ["B"],
            "income": list(range(20, 36)),
            "number": [f"p{i}" for i in range(16)],
        }
    )


def publish(home: Path) -> None:
    """Fill a ledger, one entry of each kind, and write the releases that need none."""
    ledger = dk.Ledger.create(home / "releases.db", keys=KEYS)
    options = {"who": "clerk"}

    sums = dk.suppress(firms(holding="group"), RULE, attacker=dk.Attacker(contributor=True))
    template = layout(home / "layout.xlsx", [sums])
    ledger.publish(sums, home / "sums", formats=ALL, template=template, **options)
    template.unlink()
    counts = dk.suppress(firms(None), FEW, attacker=OUTSIDER, ledger=ledger, name="counts")
    ledger.publish(counts, home / "counts", formats=["csv"], intervals=True, **options)
    before = dk.suppress(firms(vintage="2024"), RULE, attacker=OUTSIDER, name="before")
    ledger.publish(before, home / "before", formats=["csv", "html"], language="de", **options)
    rounded = dk.round_table(firms(None, "2023"), base=5, keys=KEYS, name="rounded")
    ledger.publish(rounded, home / "rounded", formats=["csv"], **options)
    adjusted = dk.adjust(firms(None, "2022"), FEW, name="adjusted")
    ledger.publish(adjusted, home / "adjusted", formats=["csv"], **options)
    keyed = dk.tabulate(
        dk.record_keys(records(), id="firm", keys=KEYS), by=BY, record_key="record_key"
    )
    ptable = dk.PerturbationTable.maximum_entropy(max_noise=2, variance=1)
    perturbed = dk.perturb(keyed, ptable, name="perturbed")
    ledger.publish(perturbed, home / "perturbed", formats=["csv"], **options)
    ledger.record(before.published, "elsewhere", why="a journal", **options)
    ledger.withdraw("elsewhere", "an error", **options)

    share = dk.derive.share(sums, "region", name="share")
    dk.write([sums, *linked()], home / "figures", ["csv"], derived=[share], keys=KEYS)
    md = dk.Microdata(persons(), keys=["age", "sex", "town"], numeric=["income"], id="number")
    safe = md.local_suppression(k=3).drop(["income"]).release(dk.claims.KAnonymity(3), keys=KEYS)
    safe.write(home / "microdata", formats=["csv", "parquet", "html"], keys=KEYS)
    replaced = dk.Microdata(persons(), id="number").safe([("age", "sex"), ("town",)], minimum=3)
    replaced.release(dk.claims.Safe(), keys=KEYS).write(home / "safe", formats=["csv"], keys=KEYS)


def linked() -> list[dk.Result]:
    """Two tables of one measure that were protected together."""
    tables = [firms(None, "2021"), firms(None, "2021", by={"region": None})]
    return dk.suppress(tables, FEW, name=["fine", "coarse"], keys=KEYS)  # type: ignore[return-value]


def main(home: Path, archive: Path) -> None:
    """Make everything in a folder, and put it into one file."""
    home.mkdir(mode=0o700)
    with office(home):
        publish(home)
    with contextlib.closing(sqlite3.connect(home / "releases.db")) as database:
        database.execute("VACUUM")
    (home / "releases.db.lock").unlink(missing_ok=True)
    with zipfile.ZipFile(archive, "x", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for path in sorted(path for path in home.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(home).as_posix(), (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(entry, path.read_bytes())
    shutil.rmtree(home)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]))
