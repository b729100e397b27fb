"""Records of persons for benchmarks, made by the generator among the reference data."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet

ROOT = Path(__file__).parent.parent
#: The six keys, with 81,000 possible combinations.
KEYS = ("region", "agegrp", "sex", "marital", "educ", "occ")
NUMERIC = ("inc1", "inc2", "inc3", "inc4")


def persons(rows: int) -> pa.Table:
    """`KEYS`, `NUMERIC`, household ``hid`` and weight ``w`` of seeded persons.

    The file is made once and kept in the temporary folder of the system.
    """
    kept = Path(tempfile.gettempdir()) / f"diskret-persons-{rows}.parquet"
    if not kept.is_file():
        shared = ROOT / os.environ.get("DISKRET_REFERENCE_DATA", "../shared")
        script = shared / "bench" / "make_synth.py"
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / "persons.csv"
            subprocess.run([sys.executable, str(script), str(rows), str(made)], check=True)
            table = csv.read_csv(made)
            half = Path(folder) / "persons.parquet"
            parquet.write_table(table, half)
            # a second process may do the same; renaming leaves one complete file
            half.replace(kept)
    return parquet.read_table(kept)
