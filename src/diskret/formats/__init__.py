"""Writers: CSV, Parquet and workbooks, public ones from `Published` alone."""

from diskret.formats.csv import write_csv, write_internal_csv
from diskret.formats.parquet import write_internal_parquet, write_parquet
from diskret.formats.records import write_records
from diskret.formats.side_by_side import write_columns
from diskret.formats.symbols import SYMBOL_SETS, SymbolSet, symbol_set
from diskret.formats.xlsx import write_internal_xlsx, write_xlsx

__all__ = [
    "SYMBOL_SETS",
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
