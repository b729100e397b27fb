"""The service as a web application: paths, who may take them, and what they answer."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, get_args

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse

from diskret import __version__
from diskret.errors import InputError, ProofError
from diskret.publish.store.connection import Busy, Full
from diskret.remote.gate import LONGEST
from diskret.remote.gate import answered as answered_by_gate
from diskret.serve.answers import Answer, Refused
from diskret.serve.config import Limits
from diskret.serve.data import DataSet
from diskret.serve.desk import desk_answered
from diskret.serve.engines import TooLong
from diskret.serve.exports import Form, Language, exported
from diskret.serve.question import Question
from diskret.serve.tabulator import Tabulator
from diskret.serve.web.bodies import read_json
from diskret.serve.web.figures import Figures
from diskret.serve.web.gate import Asker, Gate
from diskret.serve.web.models import (
    DataBody,
    MeasureBody,
    MeBody,
    ProblemBody,
    QuestionBody,
    ResistanceBody,
    VariableBody,
    schema_of,
)
from diskret.serve.web.page import add_page
from diskret.serve.web.problems import MEDIA_TYPE, Unanswered, answered, language_of
from diskret.serve.web.waiting import while_waited_for
from diskret.serve.web.watch import Watch

_log = logging.getLogger("diskret.serve")


def application(
    tables: Tabulator,
    gate: Gate,
    title: str,
    limits: Limits,
    *,
    office: Office | None = None,
    desk: Desk | None = None,
) -> FastAPI:
    """The application; what it is made of is opened and closed by who calls it.

    office, desk: remote access and the checker's desk, where they are offered.
    """
    app = FastAPI(
        title=title,
        version=__version__,
        docs_url=None,  # both pages fetch programs from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.tables, app.state.gate, app.state.limits = tables, gate, limits
    app.state.office, app.state.desk, app.state.figures = office, desk, Figures()
    app.state.computing = CapacityLimiter(limits.computed)
    app.state.analysing = CapacityLimiter(limits.computed)  # scripts take minutes; no table waits
    app.state.counting = CapacityLimiter(_COUNTED)
    app.exception_handler(Unanswered)(_problem)
    app.exception_handler(HTTPException)(_http)
    app.exception_handler(RequestValidationError)(_unfit)
    _add_routes(app)
    add_page(app, title)
    app.add_middleware(Watch, app.state.figures, limits.waiting, limits.seconds)
    return app


# ── what goes wrong ──────────────────────────────────────────────────────────────


async def _problem(request: Request, error: Unanswered) -> Response:
    return answered(request, error)


async def _http(request: Request, error: HTTPException) -> Response:
    """What the framework refuses: paths and methods that are not there."""
    match error.status_code:
        case 404:
            problem = Unanswered("there is nothing at this path", 404)
        case 405:
            problem = Unanswered("this path is asked in another way", 405)
        case status:
            problem = Unanswered("this is no request of the service", status)
    response = answered(request, problem)
    response.headers.update(error.headers or {})
    return response


async def _unfit(request: Request, error: RequestValidationError) -> Response:
    """Words of the query that are none of those that are listed."""
    known = ", ".join(get_args(Form))
    return answered(request, Unanswered(f"'form' must be one of {known}", 422))


# ── paths ────────────────────────────────────────────────────────────────────────

_REFUSED: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "The request is not answered.",
        "content": {MEDIA_TYPE: {"schema": schema_of(ProblemBody)}},
    }
}
if TYPE_CHECKING:
    from diskret.outputs.desk import Desk
    from diskret.remote.office import Office

#: Cells of an answer that is written while nothing else is; larger ones take a thread.
_AT_ONCE = 2_000
#: Tables that are counted at the same time for users to whom they are new.
_COUNTED = 32
_TOKEN: dict[str, Any] = {"security": [{"token": []}]}


def _add_routes(app: FastAPI) -> None:
    def get(path: str, does: Callable[..., Any], model: Any, **more: Any) -> None:
        app.add_api_route(
            path, does, methods=["GET"], response_model=model, responses=_REFUSED, **more
        )

    get("/health", health, None)
    get("/metrics", metrics, None, response_class=PlainTextResponse, openapi_extra=_TOKEN)
    get("/v1/me", me, MeBody, openapi_extra=_TOKEN)
    get("/v1/data", all_data, list[DataBody], openapi_extra=_TOKEN)
    get("/v1/data/{name}", one_data, DataBody, openapi_extra=_TOKEN)
    get("/v1/data/{name}/resistance", resistance, ResistanceBody, openapi_extra=_TOKEN)

    def post(path: str, does: Callable[..., Any], body: dict[str, Any]) -> None:
        content = {"application/json": {"schema": body}}
        extra = _TOKEN | {"requestBody": {"required": True, "content": content}}
        app.add_api_route(
            path, does, methods=["POST"], response_model=None, responses=_REFUSED,
            openapi_extra=extra,
        )  # fmt: skip

    post("/v1/tables", table, schema_of(QuestionBody))
    post("/v1/remote", remote, {"type": "object"})
    post("/v1/desk", checked, {"type": "object"})


async def health(request: Request) -> dict[str, str]:
    """Whether the service answers."""
    return {"status": "ok"}


async def metrics(request: Request) -> str:
    """Figures of the service, for whoever runs it."""
    _asker(request, "administer")
    state = request.app.state
    return state.figures.text(memory=state.tables.memory.bytes)


async def me(request: Request) -> MeBody:
    """Who you are to the service."""
    user = _asker(request)
    return MeBody(name=user.name, role=user.role, data=[one.name for one in _seen(request, user)])


async def all_data(request: Request) -> list[DataBody]:
    """The data sets that you may ask of."""
    user = _asker(request, "ask")
    return [_described(request, one, user) for one in _seen(request, user)]


async def one_data(request: Request, name: str) -> DataBody:
    """A data set: variables, codes, limits, and how many tables are left."""
    user = _asker(request, "ask")
    return _described(request, _data(request, name, user), user)


async def resistance(request: Request, name: str) -> ResistanceBody:
    """What all answers together may tell of one record, for the owner."""
    data = _data(request, name, _asker(request, "see_resistance"))
    try:
        worth = request.app.state.tables.resistance(name)
    except InputError as error:
        raise Unanswered(str(error), 404) from None
    return ResistanceBody(
        tables=data.questions,
        each=data.each,
        certainty=worth.certainty(data.questions),
        without_twins=worth.certainty(data.questions, twins=False),
    )


async def table(
    request: Request,
    form: Annotated[Form, Query(description="How the answer is laid out.")] = "json",
) -> Response:
    """A table of a data set, protected: the same question, the same answer, for ever."""
    user = _asker(request, "ask")
    state = request.app.state
    asked = await read_json(request, most=state.limits.body, seconds=state.limits.seconds)
    tables: Tabulator = state.tables
    try:
        question = Question.of(asked)
        data = _data(request, question.data, user)
        tables.read(question)
    except InputError as error:
        raise Unanswered(str(error), 422) from None
    found = tables.kept(question, who=user.name)
    if found is None:
        # to count a table is quick, and many are counted together; few are computed
        limiter = state.counting if tables.remembers(question) else state.computing
        try:
            found = await while_waited_for(
                request, lambda gone: tables.answer(question, who=user.name, gone=gone), limiter
            )
        except TooLong as error:
            raise Unanswered(str(error), 503) from None
        except (Busy, Full) as error:
            # nothing is answered that is not noted; the message names a file of the office
            _log.warning(str(error))
            raise Unanswered(
                "the service cannot note just now what it answers; ask again in a minute", 503, 60
            ) from None
        except Refused as error:
            raise Unanswered(str(error), 403) from None
    return await _exported(found, data, form, language_of(request))


async def remote(request: Request) -> Response:
    """A request of remote access and its answer, as they go through the gate."""
    user = _asker(request, "analyse")
    state = request.app.state
    if state.office is None:
        raise Unanswered("this service offers no remote access", 404)
    asked = await read_json(request, most=LONGEST, seconds=state.limits.seconds)
    text = await to_thread.run_sync(
        answered_by_gate, state.office, user.name, json.dumps(asked), limiter=state.analysing
    )
    return Response(text, 200, None, "application/json")


async def checked(request: Request) -> Response:
    """A request of a checker and its answer: what waits at the desk, and what is decided."""
    user = _asker(request, "check")
    state = request.app.state
    if state.desk is None:
        raise Unanswered("this service has no checker's desk", 404)
    asked = await read_json(request, most=state.limits.body, seconds=state.limits.seconds)
    try:
        said = await to_thread.run_sync(
            desk_answered, state.desk, user.name, asked, language_of(request)
        )
    except InputError as error:
        raise Unanswered(str(error), 422) from None
    except ProofError as error:
        raise Unanswered(str(error), 403) from None
    return JSONResponse(said)


async def _exported(found: Answer, data: DataSet, form: Form, language: Language) -> Response:
    """The answer in a form; what takes longer is made beside the other requests."""
    try:
        if found.value.size <= _AT_ONCE and form == "json":
            made = exported(found, data, form, language)
        else:
            made = await to_thread.run_sync(exported, found, data, form, language)
    except InputError as error:
        raise Unanswered(str(error), 422) from None
    name = f'attachment; filename="table{made.suffix}"'
    headers = {"Content-Disposition": name, "Content-Language": language}
    return Response(made.content, 200, headers, made.media_type)


# ── who may what ─────────────────────────────────────────────────────────────────


def _asker(request: Request, right: str | None = None) -> Asker:
    """The user of a request, who has a right."""
    client = request.client
    given = request.headers.get("authorization", "")
    user = request.app.state.gate.let_in(given, "" if client is None else client.host)
    if right is not None and not user.may(right):
        raise Unanswered("your role does not allow this", 403)
    return user


def _seen(request: Request, user: Asker) -> list[DataSet]:
    return [one for one in request.app.state.tables.data.values() if user.sees(one.name)]


def _data(request: Request, name: str, user: Asker) -> DataSet:
    """A data set that the user may ask of; what he may not see is not there."""
    for one in _seen(request, user):
        if one.name == name:
            return one
    raise Unanswered("there is no data set of this name that you may ask of", 404)


def _described(request: Request, data: DataSet, user: Asker) -> DataBody:
    return DataBody(
        name=data.name,
        label=data.label,
        method="noise" if data.suppression is None else "suppression",
        variables=[
            VariableBody(
                name=one.name,
                label=one.label,
                codes={code: one.labels.get(code, "") for code in one.codes},
                levels=[
                    {code: one.labels.get(code, "") for code in one.level(number).codes}
                    for number in range(1, one.depth)
                ],
            )
            for one in data.variables
        ],
        measures=[
            MeasureBody(name=one.name, label=one.label, unit=one.unit) for one in data.measures
        ],
        most_variables=data.most_variables,
        most_cells=data.most_cells,
        left=request.app.state.tables.allowance.left(user.name, data),
    )
