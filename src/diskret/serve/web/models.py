"""What is sent and answered, as the OpenAPI document shows it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class LevelBody(BaseModel):
    """A variable by its coarser codes."""

    model_config = ConfigDict(extra="forbid")

    variable: str
    level: int = Field(description="1: the codes right below the total, and so on.")


class QuestionBody(BaseModel):
    """A table that is asked for."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"data": "census", "by": ["sex"], "where": {"region": ["N", "S"]}}]
        },
    )

    data: str = Field(description="Name of a data set.")
    by: list[str | LevelBody] = Field(
        default=[], description="Variables of the table, in their order; none: the total."
    )
    where: dict[str, list[str]] = Field(
        default={}, description="Variable → the codes that count, of any level; left out: all."
    )
    measure: Literal["count", "sum", "mean", "ratio"] = "count"
    of: str | list[str] = Field(
        default=[], description="The measure of a sum or mean; the two of a ratio."
    )


class VariableBody(BaseModel):
    """A variable that tables may be made by."""

    name: str
    label: str
    codes: dict[str, str] = Field(description="Code → what it means.")
    levels: list[dict[str, str]] = Field(
        default=[], description="The same of each coarser level, level 1 first."
    )


class MeasureBody(BaseModel):
    """Numbers whose sums, means and ratios may be asked for."""

    name: str
    label: str
    unit: str


class DataBody(BaseModel):
    """A data set, as its readers may know it."""

    name: str
    label: str
    method: Literal["noise", "suppression"] = Field(
        description="Whether counts are changed a little, or cells are hidden."
    )
    variables: list[VariableBody]
    measures: list[MeasureBody] = []
    most_variables: int = Field(description="Of a table, filters on one code among them.")
    most_cells: int
    left: int = Field(description="Tables that you may still ask for and nobody had before.")


class MeBody(BaseModel):
    """Who you are to the service."""

    name: str
    role: str
    data: list[str]


class ResistanceBody(BaseModel):
    """What all answers together may tell of one record, at most."""

    tables: int = Field(description="That may count the same record, all users together.")
    each: int = Field(description="The same of one user.")
    certainty: float = Field(description="Of a record's presence, after all tables.")
    without_twins: float = Field(
        description="The same where no two cells differ by the record alone."
    )


class ProblemBody(BaseModel):
    """What went wrong (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str = Field(description="In the language that is asked for.")


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model as it can stand anywhere in an OpenAPI document.

    Models inside it stand where they are meant: a reference would point to the top of the document.
    """
    whole = model.model_json_schema()
    inside = whole.pop("$defs", {})

    def resolved(part: Any) -> Any:
        if isinstance(part, list):
            return [*map(resolved, part)]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return resolved(inside[part["$ref"].rpartition("/")[2]])
        return {key: resolved(one) for key, one in part.items()}

    return resolved(whole)
