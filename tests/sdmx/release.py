"""Write a release in SDMX-CSV, and what it should say, for `read.py`: python release.py FOLDER"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

import diskret as dk


def main(folder: Path) -> None:
    """Tables in both sets of flags, and what the CSV file beside them says of each cell."""
    rng = np.random.default_rng(3)
    records = pa.table({
        # leading zeros, a code that is called NA, labels of every kind
        "town": rng.choice(["01", "02", "10", "NA"], 400),
        "branch": rng.choice(["A1", "A2", "B1"], 400, p=[0.6, 0.38, 0.02]),
        "turnover": rng.integers(1, 9_000, 400),
    })  # fmt: skip
    towns = {"01": 'Köln: "old", new', "02": "ü" * 300, "NA": "Nairobi"}
    by = {
        "town": dk.Hierarchy(("Total", "01", "02", "10", "NA"), np.array([-1, 0, 0, 0, 0]), towns),
        "branch": None,
    }
    table = replace(dk.tabulate(records, by=by, value="turnover"), vintage="2025")
    rule = dk.rules.MinimumFrequency(4) | dk.rules.PPercent(10)
    expected: dict[str, object] = {}
    for symbols in ("sdmx", "eurostat"):
        result = dk.suppress(table, rule, name="turnover")
        release = folder / symbols
        result.write(release, formats=["csv", "sdmx1", "sdmx2"], symbols=symbols)
        texts = csv.ConvertOptions(
            column_types=dict.fromkeys(["town", "branch", "turnover"], pa.string())
        )
        cells = csv.read_csv(release / "public" / "turnover.csv", convert_options=texts)
        expected[symbols] = cells.select(["town", "branch", "turnover", "status"]).to_pylist()
        assert {"published", "suppressed"} == set(cells["status"].to_pylist())
    (folder / "expected.json").write_text(json.dumps(expected), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
