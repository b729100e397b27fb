"""Jobs of τ-ARGUS: read, carried out with proof, and written as τ-ARGUS would."""

from diskret.argus.run import ArgusRun, ArgusTable, run

__all__ = ["ArgusRun", "ArgusTable", "run"]
