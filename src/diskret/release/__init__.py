"""From a proven table to files: staging, digests, what may leave."""

from diskret.release.allowlist import (
    COMBINED_ENDINGS,
    DERIVED_ENDINGS,
    FilledTemplate,
    check_public,
)
from diskret.release.allowlist_derived import combined_problems, derived_problems
from diskret.release.allowlist_html import page_problems
from diskret.release.allowlist_microdata import (
    MICRODATA_CERTIFICATE,
    MICRODATA_ENDINGS,
    as_text,
    read_records_csv,
    read_records_parquet,
)
from diskret.release.allowlist_tables import (
    PUBLIC_CERTIFICATE,
    PUBLIC_ENDINGS,
    parquet_problems,
)
from diskret.release.certificates import NEEDED
from diskret.release.contract import LANGUAGES, Look, Memory, Protected, Records, Release
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
from diskret.release.digests import (
    CERTIFICATE,
    check_content,
    check_digests,
    check_plain,
    digest,
    public_digests,
)
from diskret.release.software import software
from diskret.release.staging import Stage, staged
from diskret.release.workbook import cells_of, same_workbook, sheets
from diskret.release.write import write_json

__all__ = [
    "CERTIFICATE",
    "COMBINED",
    "COMBINED_ENDINGS",
    "DERIVED",
    "DERIVED_ENDINGS",
    "FilledTemplate",
    "LANGUAGES",
    "Look",
    "MICRODATA_CERTIFICATE",
    "MICRODATA_ENDINGS",
    "Memory",
    "NEEDED",
    "PUBLIC_CERTIFICATE",
    "PUBLIC_ENDINGS",
    "Protected",
    "Records",
    "Release",
    "Releases",
    "Stage",
    "as_text",
    "cells_of",
    "check_content",
    "check_digests",
    "check_plain",
    "check_public",
    "combined_outline",
    "combined_problems",
    "derived_outline",
    "derived_problems",
    "digest",
    "page_problems",
    "parquet_problems",
    "public_digests",
    "published_in",
    "read_combined",
    "read_derived",
    "read_records_csv",
    "read_records_parquet",
    "same_workbook",
    "sheets",
    "software",
    "staged",
    "write_json",
]
