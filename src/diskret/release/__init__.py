"""From a proven table to files: staging, digests, what may leave."""

from diskret.release.allowlist import FilledTemplate, check_public
from diskret.release.allowlist_derived import combined_problems, derived_problems
from diskret.release.allowlist_microdata import (
    as_text,
    check_public_microdata,
    read_records_csv,
    read_records_parquet,
)
from diskret.release.derived import (
    COMBINED,
    DERIVED,
    Releases,
    combined_outline,
    derived_outline,
    published_in,
    read_combined,
    read_derived,
)
from diskret.release.digests import check_digests, digest, public_digests
from diskret.release.earlier import Earlier
from diskret.release.staging import Stage, staged
from diskret.release.write import write_json

__all__ = [
    "COMBINED",
    "DERIVED",
    "Earlier",
    "FilledTemplate",
    "Releases",
    "Stage",
    "as_text",
    "check_digests",
    "check_public",
    "check_public_microdata",
    "combined_outline",
    "combined_problems",
    "derived_outline",
    "derived_problems",
    "digest",
    "public_digests",
    "published_in",
    "read_combined",
    "read_derived",
    "read_records_csv",
    "read_records_parquet",
    "staged",
    "write_json",
]
