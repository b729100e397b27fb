"""The routes of the workbench: each takes a step of the session, or shows what is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import Body, FastAPI, Request
from fastapi.responses import JSONResponse, Response

from diskret.errors import DiskretError, said_of
from diskret.publish.pages.served import page_parts
from diskret.texts import LANGUAGES, words_in
from diskret.texts.messages import translated
from diskret.workbench.bench import Bench
from diskret.workbench.desks import act, desk_told, result_told
from diskret.workbench.draft import draft_text
from diskret.workbench.forms import forms
from diskret.workbench.places import inside, listed

#: The body of a request, and what is answered.
Given = Annotated[dict[str, Any], Body()]
Told = Any


def application(bench: Bench) -> FastAPI:
    """The application of one workbench; the gate stands before it."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.add_exception_handler(DiskretError, _refused(bench))
    app.add_exception_handler(OSError, _refused(bench))
    app.add_exception_handler(Exception, _failed)
    _add_page(app)
    _add_draft(app, bench)
    _add_tables(app, bench)
    _add_runs(app, bench)
    _add_ways(app, bench)
    _add_ledger(app, bench)
    _add_records(app, bench)
    _add_desk(app, bench)
    return app


def _add_page(app: FastAPI) -> None:
    known = page_parts("diskret.workbench")

    @app.get("/")
    def start() -> Response:
        return part("index.html")

    @app.get("/page/{name}")
    def part(name: str) -> Response:
        if name not in known:
            return Response(status_code=404)
        content, kind = known[name]
        return Response(content.read_bytes(), media_type=kind)

    @app.get("/api/words/{language}")
    def words(language: str) -> Told:
        known = language if language in LANGUAGES else "en"
        found = words_in(known, "workbench")
        return {"language": known, "words": {key: found[key] for key in found}}


def _add_draft(app: FastAPI, bench: Bench) -> None:
    @app.get("/api/state")
    def state() -> Told:
        return bench.state()

    @app.put("/api/language")
    def language(given: Given) -> Told:
        bench.speak(str(given.get("language")))
        return bench.state()

    @app.get("/api/files")
    def folder(below: str = "") -> Told:
        return listed(bench.session.folder, below)

    @app.post("/api/open")
    def opened(given: Given) -> Told:
        bench.open(str(given["path"]), given.get("options") or {})
        return bench.state()

    @app.get("/api/columns")
    def columns() -> Told:
        return bench.columns()

    @app.put("/api/draft")
    def put(given: Given) -> Told:
        bench.session.put(given["draft"], str(given.get("step", "")))
        return bench.state()

    @app.post("/api/undo")
    def undo() -> Told:
        bench.session.undo()
        return bench.state()

    @app.post("/api/redo")
    def redo() -> Told:
        bench.session.redo()
        return bench.state()

    @app.get("/api/job")
    def job() -> Response:
        return Response(draft_text(bench.session.draft), media_type="text/plain")

    @app.post("/api/save")
    def save(given: Given) -> Told:
        return {"path": str(bench.session.save(str(given["name"]))), **bench.state()}


def _add_tables(app: FastAPI, bench: Bench) -> None:
    @app.get("/api/tree")
    def tree(column: str) -> Told:
        return bench.tree(column)

    @app.post("/api/tree")
    def make_tree(given: Given) -> Told:
        bench.make_tree(str(given["column"]), given)
        return {**bench.state(), "tree": bench.tree(str(given["column"]))}

    @app.post("/api/rules")
    def rules(given: Given) -> Told:
        bench.put_rules(int(given.get("table", 0)), given["rules"])
        return bench.unsafe(int(given.get("table", 0)))

    @app.get("/api/forms")
    def takes() -> Told:
        return forms()

    @app.get("/api/unsafe")
    def unsafe(table: int = 0) -> Told:
        return bench.unsafe(table)

    @app.get("/api/table")
    def cells(table: int = 0, released: bool = True) -> Told:
        return JSONResponse(bench.table(table, released))

    @app.get("/api/cell")
    def cell(at: int, table: int = 0) -> Told:
        return bench.cell(table, at)

    @app.get("/api/attack")
    def attack(table: int = 0) -> Told:
        return bench.attack(table)

    @app.post("/api/attack")
    def knowing(given: Given) -> Told:
        return bench.attack(int(given.get("table", 0)), given)


def _add_records(app: FastAPI, bench: Bench) -> None:
    @app.get("/api/risk")
    def risk(k: int = 3) -> Told:
        return bench.risk(k)

    @app.get("/api/compare")
    def compare() -> Told:
        return bench.compare()


def _add_desk(app: FastAPI, bench: Bench) -> None:
    def place(name: str) -> Path:
        return inside(bench.session.folder, name)

    @app.get("/api/desk")
    def desk(place_of: str) -> Told:
        return desk_told(place(place_of), bench.language)

    @app.get("/api/desk/result")
    def result(place_of: str, project: str, result: str) -> Told:
        return result_told(place(place_of), project, result, bench.language)

    @app.post("/api/desk/result")
    def decide(given: Given) -> Told:
        said = {name: str(given.get(name, "")) for name in ("project", "result", "what", "why")}
        at = place(str(given["place_of"]))
        act(at, **said, who=str(given.get("who", "")) or None)
        return result_told(at, said["project"], said["result"], bench.language)


def _add_ledger(app: FastAPI, bench: Bench) -> None:
    @app.get("/api/ledger")
    def told() -> Told:
        return bench.ledger()

    @app.post("/api/ledger")
    def create(given: Given) -> Told:
        bench.create_ledger(str(given["name"]))
        return bench.state()

    @app.post("/api/ledger/check")
    def check() -> Told:
        return bench.check_ledger()

    @app.post("/api/ledger/rehearsal")
    def rehearse() -> Told:
        return bench.rehearse()

    @app.get("/api/ledger/rehearsal")
    def rehearsed() -> Told:
        return bench.rehearsed()

    @app.get("/api/ledger/check")
    def checked() -> Told:
        return bench.ledger_checked()


def _add_runs(app: FastAPI, bench: Bench) -> None:
    @app.post("/api/protect")
    def protect() -> Told:
        return bench.protect()

    @app.get("/api/run")
    def run() -> Told:
        return bench.told()

    @app.get("/api/public/{name}")
    def released(name: str) -> Response:
        content = bench.released_file(name)
        return Response(content, media_type="application/octet-stream")

    @app.post("/api/cancel")
    def cancel() -> Told:
        bench.cancel()
        return bench.told()

    @app.post("/api/whatif")
    def whatif(given: Given) -> Told:
        return bench.what_if(int(given.get("table", 0)), int(given["at"]))

    @app.get("/api/whatif")
    def found(table: int = 0) -> Told:
        return bench.what_if_told(table)


def _add_ways(app: FastAPI, bench: Bench) -> None:
    @app.post("/api/ways")
    def begin(given: Given) -> Told:
        return bench.try_ways(int(given.get("table", 0)), given["ways"])

    @app.get("/api/ways")
    def found(table: int = 0) -> Told:
        return bench.ways_told(table)

    @app.post("/api/ways/take")
    def take(given: Given) -> Told:
        bench.take_way(given["way"])
        return bench.state()


def _refused(bench: Bench) -> Any:
    async def answer(request: Request, error: Exception) -> JSONResponse:
        said = translated(said_of(error), bench.language)
        return JSONResponse({"error": said}, status_code=422)

    return answer


async def _failed(request: Request, error: Exception) -> JSONResponse:
    # the text of any other error may hold a value
    return JSONResponse({"error": type(error).__name__}, status_code=500)
