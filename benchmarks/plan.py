"""Templates of 22,572 cells and more as Eurostat writes them: from the file to the programme.

Run it as ``python benchmarks/plan.py [years …]``; the default is one year and four, 22,572 and
90,288 rows. The template, its tree of activities and 20,000 firms are made from a fixed seed in a
temporary folder. A year has nineteen indicators in three groups that equations tie; each is asked
for by 132 activities and by five classes of size or four legal forms: 6 planned tables in 3
clusters a year. ``python benchmarks/plan.py FOLDER`` leaves the files of one year there.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import diskret as dk

SIZES, FORMS = ("E0", "E1T4", "E5T9", "EGE10"), ("LL", "PA", "SP", "CO")
#: Equations in three groups, whose 7, 6 and 6 indicators have nothing in common.
GROUPS = [
    ("ENT = BIRTHS + SURVIVORS", "ENT = DEATHS + STAYING", "BIRTHS = NEW + AGAIN"),
    ("EMPL = EMPL_BIRTHS + EMPL_SURVIVORS", "EMPL_SURVIVORS = EMPL_1 + EMPL_2 + EMPL_3"),
    ("SAL = SAL_BIRTHS + SAL_SURVIVORS", "SAL_SURVIVORS = SAL_1 + SAL_2 + SAL_3"),
]


def main(sizes: list[int]) -> None:
    """Print a line for each number of years, after one to warm up."""
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name))
        dk.plan.read(Path(name) / "publication.toml")
    for years in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_files(folder, years)
            start = time.process_time(), time.perf_counter()
            plan = dk.plan.read(folder / "publication.toml")
            planned = time.process_time()
            dk.plan.write(plan, folder / "plan")
            cpu, wall = time.process_time() - planned, time.perf_counter() - start[1]
            print(
                f"{plan.asked.rows:>7,} rows: {len(plan.tables)} tables, {len(plan.clusters)} "
                f"clusters, {len(plan.equations)} equations, {len(plan.questions)} questions; "
                f"planned in {planned - start[0]:.2f}, written in {cpu:.2f} CPU s ({wall:.2f} s)"
            )


def _indicators() -> list[str]:
    words = (part for group in GROUPS for one in group for part in one.split())
    return [one for one in dict.fromkeys(words) if one not in "=+"]


def activities() -> list[tuple[str, ...]]:
    """Leaves with the codes above them: 15 sections, 40 divisions, 76 groups, 131 codes in all."""
    sections = [chr(ord("B") + i) for i in range(15)]
    divisions = [f"{sections[i % 15]}{10 + i // 15}" for i in range(40)]
    return [(divisions[i % 40][0], divisions[i % 40], f"{divisions[i % 40]}{1 + i // 40}")
            for i in range(76)]  # fmt: skip


def write_files(folder: Path, years: int = 1) -> None:
    """Template, tree, firms, and a publication file that answers all."""
    leaves = activities()
    codes = ["_T", *sorted({code for leaf in leaves for code in leaf})]
    classes = [("_T", "_T"), *((size, "_T") for size in SIZES), *(("_T", form) for form in FORMS)]
    with (folder / "template.csv").open("w", encoding="utf-8", newline="") as file:
        write = csv.writer(file)
        write.writerow(["TIME_PERIOD", "INDICATOR", "ACTIVITY", "NUMBER_EMPL", "LEGAL_FORM"])
        for year in range(2022, 2022 + years):
            for name in _indicators():
                write.writerows([year, name, code, *one] for code in codes for one in classes)
    with (folder / "activity.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("section", "division", "group"), *leaves])
    _write_firms(folder / "firms.csv", [leaf[-1] for leaf in leaves], years)
    (folder / "publication.toml").write_text(
        'template = "template.csv"\n'
        f"equations = {[one for group in GROUPS for one in group]}\n"
        '[hierarchies]\nactivity = { file = "activity.csv", total = "_T", '
        'levels = ["section", "division", "group"] }\n'
        '[variables]\nACTIVITY.hierarchy = "activity"\nNUMBER_EMPL.flat = true\n'
        'LEGAL_FORM.flat = true\n[records]\npath = "firms.csv"\n'
        "[rules]\np_percent = { p = 10 }\nminimum_frequency = { n = 3 }\n",
        encoding="utf-8",
    )


def _write_firms(path: Path, leaves: list[str], years: int) -> None:
    draw = np.random.default_rng(23)
    with path.open("w", encoding="utf-8", newline="") as file:
        write = csv.writer(file)
        names = _indicators()
        write.writerow(["TIME_PERIOD", "ACTIVITY", "NUMBER_EMPL", "LEGAL_FORM", *names])
        for _ in range(20_000):
            born, staying, new = draw.random(3) < (0.1, 0.9, 0.7)
            value = {"ENT": 1, "BIRTHS": int(born), "DEATHS": int(not staying)}
            value |= {"SURVIVORS": 1 - value["BIRTHS"], "STAYING": int(staying)}
            value |= {"NEW": int(born and new), "AGAIN": int(born and not new)}
            for stem in ("EMPL", "SAL"):
                parts = [int(one) for one in draw.lognormal(1, 1.2, 4)]
                parts = [parts[0], 0, 0, 0] if born else [0, *parts[1:]]
                value |= {f"{stem}_BIRTHS": parts[0], f"{stem}_SURVIVORS": sum(parts[1:])}
                value |= {f"{stem}_{i}": parts[i] for i in (1, 2, 3)} | {stem: sum(parts)}
            codes = draw.choice(leaves), draw.choice(SIZES), draw.choice(FORMS)
            year = 2022 + int(draw.integers(years))
            write.writerow([year, *codes, *(value[name] for name in names)])


if __name__ == "__main__":
    given = sys.argv[1:]
    if given and not given[0].isdigit():
        write_files(Path(given[0]))
    else:
        main([int(one) for one in given] or [1, 4])
