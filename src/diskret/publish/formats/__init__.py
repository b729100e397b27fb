"""Writers: CSV, Parquet and workbooks, public ones from `Published` alone."""

from diskret.publish.formats.csv import write_csv, write_internal_csv
from diskret.publish.formats.parquet import write_internal_parquet, write_parquet
from diskret.publish.formats.records import write_records
from diskret.publish.formats.side_by_side import write_columns
from diskret.publish.formats.symbols import SymbolSet, symbol_set, symbol_sets
from diskret.publish.formats.xlsx import write_internal_xlsx, write_xlsx

__all__ = [
    "symbol_sets",
    "SymbolSet",
    "symbol_set",
    "write_columns",
    "write_csv",
    "write_internal_csv",
    "write_internal_parquet",
    "write_internal_xlsx",
    "write_parquet",
    "write_records",
    "write_xlsx",
]
