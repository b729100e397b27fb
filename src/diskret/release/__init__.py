"""From a proven table to files: staging, digests, what may leave."""

from diskret.release.allowlist import FilledTemplate, check_public
from diskret.release.allowlist_derived import combined_problems, derived_problems
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
    "check_digests",
    "check_public",
    "combined_outline",
    "combined_problems",
    "derived_outline",
    "derived_problems",
    "digest",
    "public_digests",
    "published_in",
    "read_combined",
    "read_derived",
    "staged",
    "write_json",
]
