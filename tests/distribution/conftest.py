"""The programs that make what is handed out are no part of the package."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "distribution"))
