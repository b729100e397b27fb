"""Templates made by hand, with the records and trees that they are about."""

import csv
import random
from pathlib import Path

import diskret as dk
from diskret.jobs.programme import run_programme
from diskret.jobs.programme_file import read_programme

TEMPLATE = """\
table_name,field,hrc_field,indicator,hrc_indicator,spanning_1,hrc_spanning_1,spanning_2,hrc_spanning_2
S1,firms,,sales,,nuts2,hrc_nuts,size,
S2,firms,,sales,,nuts3,hrc_nuts,size,
S3,firms,,sales,,nuts3,hrc_nuts,,
D1,firms,,domestic,hrc_trade,size,,,
D2,firms,,export,hrc_trade,size,,,
D3,firms,,trade,hrc_trade,size,,,
"""
NUTS = "nuts2,nuts3\nN1,N11\nN1,N12\nN1,N13\nN2,N21\nN2,N22\n"
ANSWERS = """\
template = "template.csv"
equations = ["trade = domestic + export"]

[hierarchies]
hrc_nuts = { file = "trees/hrc_nuts.csv", levels = ["nuts2", "nuts3"] }

[records]
path = "firms.csv"

[every_table]
unit = "firm"

[rules]
p_percent = { p = 10 }
minimum_frequency = { n = 3 }
"""


def written(folder: Path, **files: str) -> Path:
    """Files in a folder; a double underscore in a name stands for a folder."""
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def publication(folder: Path, firms: int = 300, seed: int = 7) -> Path:
    """A folder with a template, a tree, records, and a publication file that answers all."""
    written(folder, **{"template.csv": TEMPLATE, "trees__hrc_nuts.csv": NUTS})
    write_records(folder / "firms.csv", firms, seed)
    return written(folder, **{"publication.toml": ANSWERS}) / "publication.toml"


def write_records(path: Path, firms: int, seed: int) -> None:
    """Firms with sales and trade, most of them small; amounts with two decimals."""
    rng = random.Random(seed)
    with path.open("w", encoding="utf-8", newline="") as file:
        write = csv.writer(file, lineterminator="\n")
        write.writerow(["firm", "nuts2", "nuts3", "size", "sales", "domestic", "export", "trade"])
        for firm in range(firms):
            nuts3 = rng.choice(["N11"] * 8 + ["N12", "N13", "N21", "N22", "N22"])
            size = rng.choice(["small"] * 6 + ["middle"] * 3 + ["large"])
            sales = rng.randrange(100, 100_000)
            export = rng.randrange(sales) if rng.random() < 0.4 else 0
            services = sales * (export % 3) // 10  # sales are more than trade, not times a number
            amounts = [sales + services, sales - export, export, sales]
            shown = [f"{one // 100}.{one % 100:02}" for one in amounts]
            write.writerow([f"F{firm}", nuts3[:2], nuts3, size, *shown])


def released(plan: dk.plan.Plan, folder: Path):
    """The results of the programme of a plan, by the names of the tables."""
    programme, *_ = dk.plan.write(plan, folder / "plan")
    run = run_programme(read_programme(programme))
    (release,) = run.releases
    report = dk.verify(release.folder)
    assert report.checked_internal and report.sealed
    assert set(report.tables) == {result.name for result in release.results}
    return {result.name: result for result in release.results}, release.folder
