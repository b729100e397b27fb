"""Answers as files, in the forms that readers ask for: the same answer, the same bytes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow.parquet as pq
from pyarrow import csv as arrow_csv

from diskret.io.formulas import with_marks
from diskret.publish.formats.cube import EMPTY, HIDDEN, NO_FIGURE, SHOWN, Axis, Cube
from diskret.publish.formats.json_stat import write_json_stat
from diskret.publish.formats.px import write_px
from diskret.publish.formats.sdmx_csv import write_sdmx_csv
from diskret.publish.formats.symbols import symbol_set
from diskret.publish.formats.workbooks import write_columns_xlsx
from diskret.serve.answers import Answer
from diskret.serve.data import DataSet
from diskret.texts import words_in

Form = Literal["json", "csv", "parquet", "xlsx", "json-stat", "sdmx-csv", "px"]
Language = Literal["en", "de"]


@dataclass(frozen=True)
class Exported:
    """An answer as a file: its bytes, what they are, and how the file's name ends."""

    content: bytes
    media_type: str
    suffix: str


def exported(answer: Answer, data: DataSet, form: Form, language: Language = "en") -> Exported:
    """The answer in a form; nothing is in it but codes, labels, what is shown, and status.

    Parameters
    ----------
    answer
        To a question of `data`, whose labels are used.
    form
        ``"json"``: codes of each variable and values, the last variable fastest, and the status
        of each cell where some may be hidden; ``"csv"``, ``"parquet"``, ``"xlsx"``: a row for each
        cell; ``"json-stat"`` (2.0), ``"sdmx-csv"`` (2.0) or ``"px"`` for exchange.
    language
        Of titles and notes.

    Raises
    ------
    InputError
        The form has no place for such names or codes, or for so many rows.
    """
    media_type, suffix = _FORMS[form]
    return Exported(_WRITERS[form](answer, data, language), media_type, suffix)


_FORMS: Mapping[Form, tuple[str, str]] = {
    "json": ("application/json", ".json"),
    "csv": ("text/csv; charset=utf-8", ".csv"),
    "parquet": ("application/vnd.apache.parquet", ".parquet"),
    "xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx"),
    "json-stat": ("application/json", ".json"),
    "sdmx-csv": ("application/vnd.sdmx.data+csv; version=2.0.0; labels=both", ".csv"),
    "px": ("text/plain; charset=utf-8", ".px"),
}


def _json(answer: Answer, data: DataSet, language: Language) -> bytes:
    values = answer.cells()[answer.column].to_pylist()
    content: dict[str, Any] = {
        "data": answer.question.data,
        "where": {name: [*codes] for name, codes in answer.question.where},
        "by": [{"variable": name, "codes": [*codes]} for name, codes in answer.codes.items()],
        "measure": answer.question.measure,
        "of": [*answer.question.measures],
        "note": _note(data, language),
        "value": values,
    }
    if answer.hidden is not None:
        content["status"] = answer.status.ravel().tolist()
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def _csv(answer: Answer, data: DataSet, language: Language) -> bytes:
    out = BytesIO()
    # a code that a spreadsheet would run is text to it behind an apostrophe
    options = arrow_csv.WriteOptions(quoting_style="needed")
    arrow_csv.write_csv(with_marks(answer.cells()), out, options)
    return out.getvalue()


def _parquet(answer: Answer, data: DataSet, language: Language) -> bytes:
    out = BytesIO()
    pq.write_table(answer.cells(), out, compression="zstd", store_schema=False)
    return out.getvalue()


def _xlsx(answer: Answer, data: DataSet, language: Language) -> bytes:
    return _written(
        lambda path: write_columns_xlsx(
            answer.cells(), {answer.column: answer.decimals}, path, language
        )
    )


def _json_stat(answer: Answer, data: DataSet, language: Language) -> bytes:
    return _written(lambda path: write_json_stat(cube_of(answer, data, language), path))


def _sdmx_csv(answer: Answer, data: DataSet, language: Language) -> bytes:
    cube = cube_of(answer, data, language)
    return _written(lambda path: write_sdmx_csv(cube, path, "2.0", "diskret"))


def _px(answer: Answer, data: DataSet, language: Language) -> bytes:
    return _written(lambda path: write_px(cube_of(answer, data, language), path))


_WRITERS: Mapping[Form, Callable[[Answer, DataSet, Language], bytes]] = {
    "json": _json,
    "csv": _csv,
    "parquet": _parquet,
    "xlsx": _xlsx,
    "json-stat": _json_stat,
    "sdmx-csv": _sdmx_csv,
    "px": _px,
}


def cube_of(answer: Answer, data: DataSet, language: Language) -> Cube:
    """An answer as files for exchange are written from."""
    axes = tuple(
        Axis(
            name,
            codes,
            tuple(data.variable[name].labels.get(code, "") for code in codes),
            (-1,) * len(codes),
        )
        for name, codes in answer.codes.items()
    )
    number = _figure(answer, data, language)
    state = np.where(answer.without, NO_FIGURE, SHOWN).astype(np.int8)
    state[answer.impossible] = EMPTY
    if answer.hidden is not None:
        state[answer.hidden] = HIDDEN
    return Cube(
        name=data.name,
        title=_title(answer, data, number),
        axes=axes,
        periods=(),
        measures=(number,),
        labels=(number,),
        decimals=(answer.decimals,),
        value=answer.value.ravel(),
        state=state.ravel(),
        notes=(_note(data, language),),
        symbols=symbol_set("de-classic"),
        language=language,
        counts=(answer.question.measure == "count",),
    )


def _note(data: DataSet, language: Language) -> str:
    return words_in(language, "serve")["noise" if data.suppression is None else "suppression"]


def _figure(answer: Answer, data: DataSet, language: Language) -> str:
    """What the figures are, in words."""
    words = words_in(language, "serve")
    asked = answer.question.measure
    if asked == "count":
        return words["number"]
    of = [data.measure[name] for name in answer.question.measures]
    named = " / ".join(one.label or one.name for one in of)
    unit = of[0].unit if asked != "ratio" else ""
    return f"{words[asked]}: {named}" + (f" ({unit})" if unit else "")


def _title(answer: Answer, data: DataSet, number: str) -> str:
    """What the table shows, with the codes that were asked for."""
    named = {name: data.variable[name].label or name for name in data.variable}
    by = ", ".join(named[name] for name in answer.codes)
    where = "; ".join(
        f"{named[name]} = {', '.join(codes)}" for name, codes in answer.question.where
    )
    parts = (f"{data.label or data.name}: {number}", f" ({by})" if by else "")
    return "".join(parts) + (f"; {where}" if where else "")


def _written(write: Callable[[Path], None]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        write(path)
        return path.read_bytes()
