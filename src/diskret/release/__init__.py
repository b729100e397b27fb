"""From a proven table to files: staging, digests, what may leave."""

from diskret.release.allowlist import FilledTemplate, check_public
from diskret.release.digests import check_digests, digest, public_digests
from diskret.release.staging import Stage, staged
from diskret.release.write import write_json

__all__ = [
    "FilledTemplate",
    "Stage",
    "check_digests",
    "check_public",
    "digest",
    "public_digests",
    "staged",
    "write_json",
]
