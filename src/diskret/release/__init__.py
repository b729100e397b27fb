"""From a proven table to files: staging, digests, what may leave."""

from diskret.release.allowlist import (
    COMBINED_ENDINGS,
    DERIVED_ENDINGS,
    NEEDED,
    PUBLIC_CERTIFICATE,
    PUBLIC_ENDINGS,
    FilledTemplate,
    check_public,
    parquet_problems,
)
from diskret.release.allowlist_derived import combined_problems, derived_problems
from diskret.release.allowlist_html import page_problems
from diskret.release.allowlist_microdata import (
    MICRODATA_CERTIFICATE,
    MICRODATA_ENDINGS,
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
from diskret.release.digests import (
    CERTIFICATE,
    check_content,
    check_digests,
    check_plain,
    digest,
    public_digests,
)
from diskret.release.earlier import Earlier
from diskret.release.staging import Stage, staged
from diskret.release.workbook import cells_of, same_workbook, sheets
from diskret.release.write import write_json

__all__ = [
    "CERTIFICATE",
    "COMBINED",
    "COMBINED_ENDINGS",
    "DERIVED",
    "DERIVED_ENDINGS",
    "Earlier",
    "FilledTemplate",
    "MICRODATA_CERTIFICATE",
    "MICRODATA_ENDINGS",
    "NEEDED",
    "PUBLIC_CERTIFICATE",
    "PUBLIC_ENDINGS",
    "Releases",
    "Stage",
    "as_text",
    "cells_of",
    "check_content",
    "check_digests",
    "check_plain",
    "check_public",
    "check_public_microdata",
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
    "staged",
    "write_json",
]
