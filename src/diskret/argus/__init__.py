"""Jobs of τ-ARGUS: read, carried out with proof, and written as τ-ARGUS would."""

from diskret.argus.run import ArgusRun, ArgusTable, run
from diskret.argus.to_job import to_job
from diskret.argus.write_job import write_job

__all__ = ["ArgusRun", "ArgusTable", "run", "to_job", "write_job"]
