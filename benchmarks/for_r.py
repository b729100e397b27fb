"""What the package for R costs beside the command line that it calls: CPU seconds of R itself.

python benchmarks/for_r.py

Four tables of rtauargus in one call. Needs R, and the reference data (`DISKRET_REFERENCE_DATA`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: R counts what its children take apart from what it takes itself.
_SCRIPT = """
start <- proc.time()
for (file in list.files("{sources}", full.names = TRUE)) source(file, encoding = "UTF-8")
folder <- "{folder}"
by <- list(act_size = c("ACTIVITY", "SIZE"), act_cj = c("ACTIVITY", "CJ"),
  nuts_size = c("NUTS", "SIZE"), nuts_cj = c("NUTS", "CJ"))
tables <- lapply(names(by), function(name) {{
  texts <- stats::setNames(rep("character", 2), by[[name]])
  read.csv(file.path(folder, paste0("turnover_", name, ".csv")), colClasses = texts)
}})
names(tables) <- names(by)
tree <- function(file) read.csv(file.path(folder, file), colClasses = "character")
found <- tab_multi(tables, by, value = "TOT", freq = "N_OBS", maxscore = "MAX",
  hrc = list(ACTIVITY = tree("activity_corr_table.csv"), NUTS = tree("nuts23_fr_corr_table.csv")),
  safety_rules = "NK(1,85)|FREQ(3,10)", suppress = "optimal", budget = 2000)
took <- proc.time() - start
cat(sprintf("R itself %.1f s CPU, diskret %.1f s CPU, %d secondaries\\n",
  took[["user.self"]] + took[["sys.self"]], took[["user.child"]] + took[["sys.child"]],
  sum(vapply(found, function(one) sum(one$Status == "D"), 0L))))
"""


def main() -> None:
    data = Path(os.environ.get("DISKRET_REFERENCE_DATA", ROOT.parent / "shared"))
    folder = data / "data" / "tauargus" / "rtauargus"
    program = os.environ.get("DISKRET") or str(Path(sys.executable).with_name("diskret"))
    if shutil.which("Rscript") is None or not folder.is_dir():
        print("left out: needs R and the reference data")
        return
    script = _SCRIPT.format(sources=(ROOT / "rdiskret" / "R").as_posix(), folder=folder.as_posix())
    environment = {**os.environ, "DISKRET": program}
    subprocess.run(["Rscript", "-e", script], check=True, env=environment)


if __name__ == "__main__":
    main()
